"""The engine over dual numbers: values with their derivatives in 1 direction."""
include "_engine.pxi"
include "model.pxi"
include "derivatives.pxi"
