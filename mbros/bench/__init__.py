"""The bench: devices on a robot, their signals, faults and sources."""
