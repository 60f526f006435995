"""Coupler: two coordinates keep a linear relation, as gears, belts and pulleys do:  g = c_a q_a + c_b q_b + c_0. One row, constant: no
bias."""
from mbros_core.constraints.constraint cimport Constraint, Held
from mbros_core.constraints.columns cimport Columns, column_of
from mbros_core.constraints.problem cimport EQUALITY
from mbros_core.constraints.robot cimport Robot


cdef inline void coupler(const Constraint* c, const Robot* r, Held* h) noexcept nogil:
    h.rows, h.lengths, h.potential = 1, <int>c.par[3], EQUALITY
    h.gap[0] = c.par[0] * r.q[c.iq[0] * r.stride] + c.par[1] * r.q[c.iq[1] * r.stride] + c.par[2]
    h.bias[0] = 0.0


cdef inline void coupler_columns(Columns* columns, const Constraint* c, const Robot* r) noexcept nogil:
    cdef int k = 0 if c.iv[0] > c.iv[1] else 1
    cdef int n
    columns.count = 0
    for n in range(2):
        if r.lock[c.iv[k] * r.stride] == 0.0:
            column_of(columns, c.iv[k], False)[0] = c.par[k]
        k = 1 - k
