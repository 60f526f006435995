"""Coupler: two coordinates keep a linear relation, as gears, belts and pulleys do:  g = c_a (q_a - ratio q_b - offset). One row, constant:
no bias. c_a is 1 unless a is a follower: then of its leader's coordinate."""
from mbros_core.constraints.columns cimport Columns, column_of, given_rows
from mbros_core.constraints.constraint cimport Constraint, Held, number_of
from mbros_core.constraints.problem cimport EQUALITY
from mbros_core.constraints.robot cimport Robot

cdef enum:
    RATIO = 0
    OFFSET = 1
    OF_A = 2


cdef inline void coupler(const Constraint* c, const Robot* r, Held* h) noexcept nogil:
    cdef double of_b = number_of(c, r, RATIO) * r.q[c.iq[1] * r.stride]
    h.rows, h.lengths, h.potential = 1, c.flag, EQUALITY
    h.gap[0] = number_of(c, r, OF_A) * (r.q[c.iq[0] * r.stride] - of_b - number_of(c, r, OFFSET))
    h.bias[0] = 0.0


cdef inline void coupler_columns(Columns* columns, const Constraint* c, const Robot* r) noexcept nogil:
    cdef int k = 0 if c.iv[0] > c.iv[1] else 1
    cdef int n
    cdef double of_a = number_of(c, r, OF_A)
    cdef double of_k
    columns.count = columns.given = 0
    for n in range(2):
        of_k = of_a if k == 0 else -of_a * number_of(c, r, RATIO)
        if r.lock[c.iv[k] * r.stride] == 0.0:
            column_of(columns, c.iv[k], False)[0] = of_k
        elif r.lock[c.iv[k] * r.stride] > 1.0:
            given_rows(columns)[0] += of_k * r.given[c.iv[k]]
        k = 1 - k
