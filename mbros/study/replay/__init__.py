"""Recordings made again, and compared."""
