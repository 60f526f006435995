"""Recordings: what is written of a simulation, and how files say it."""
