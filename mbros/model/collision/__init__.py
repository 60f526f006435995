"""Collision and distance between shapes of bodies, through the library coal."""
