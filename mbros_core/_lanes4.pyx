"""The engine over SIMD lanes: many robots side by side."""
include "_engine.pxi"
include "model.pxi"
include "batch.pxi"
