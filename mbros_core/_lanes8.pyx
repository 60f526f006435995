# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The engine over SIMD lanes: many robots side by side."""
include "_engine.pxi"
include "model.pxi"
include "batch.pxi"
