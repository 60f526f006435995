"""What a robot's numbers are, from recordings: linear in the torques (identify), or through the simulated motion (fit)."""
