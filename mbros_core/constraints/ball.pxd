"""Ball: Bo stays at Ao. Three rows along A's axes:  g = R_WA^T p_AoBo,  dg/dt = R_WA^T (v_Bo - v_A there)."""
from mbros_core.constraints.constraint cimport Held, Relative, along
from mbros_core.constraints.problem cimport EQUALITY


cdef inline void ball(const Relative* x, Held* h) noexcept nogil:
    h.rows, h.lengths, h.potential = 3, 3, EQUALITY
    h.axes.n, h.axes.t, h.axes.s = x.A.R.x, x.A.R.y, x.A.R.z
    along(&h.axes, x.r, h.gap)
    along(&h.axes, x.a, h.bias)
