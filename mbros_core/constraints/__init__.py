"""What holds bodies apart and together: contact and closed loops, as one convex problem in the velocities (docs/contact.md)."""
