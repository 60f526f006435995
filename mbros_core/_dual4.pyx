"""The engine over dual numbers: values with their derivatives in 3 directions."""
include "_engine.pxi"
include "model.pxi"
include "derivatives.pxi"
