"""What lets B slide, with rows of the weld and the hinge (weld.pxd, hinge.pxd), of which the sliding ones are left out (dispatch.pxd):

    prismatic     along A's z, without turning            x, y; all three angles
    cylindrical   along A's z and about it                x, y; angles about A's x and y
    planar        across A's z and about it               z; angles about A's x and y

Bo's way is seen in A, so that its rates are exact wherever Bo has slid to.
"""
from mbros_core.constraints.constraint cimport Held, Relative
from mbros_core.constraints.hinge cimport hinge
from mbros_core.constraints.weld cimport weld


cdef inline void leave_out(Held* h, int first, int count) noexcept nogil:
    """Rows `first` to first + count - 1, all lengths."""
    cdef int i
    h.rows, h.lengths = h.rows - count, h.lengths - count
    for i in range(first, h.rows):
        h.gap[i], h.bias[i] = h.gap[i + count], h.bias[i + count]


cdef inline void prismatic(const Relative* x, Held* h) noexcept nogil:
    weld(x, h)
    leave_out(h, 2, 1)


cdef inline void cylindrical(const Relative* x, Held* h) noexcept nogil:
    hinge(x, h)
    leave_out(h, 2, 1)


cdef inline void planar(const Relative* x, Held* h) noexcept nogil:
    hinge(x, h)
    leave_out(h, 0, 2)
