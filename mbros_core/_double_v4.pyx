# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The engine over doubles: one robot at a time, simulation and real time."""
include "_engine.pxi"
include "model.pxi"
include "dynamics.pxi"
include "batch.pxi"
include "plant.pxi"
