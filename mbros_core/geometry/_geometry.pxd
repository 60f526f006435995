"""The narrow phase for other compiled modules: compiled once, called through these functions."""
from mbros_core.geometry.bounds cimport Bounds
from mbros_core.geometry.broad_phase cimport Pair
from mbros_core.geometry.shape cimport Contact, Shape as ShapeC
from mbros_core.geometry.vec cimport Frame

cdef class Shape:
    cdef ShapeC c                # its pointers are into `points` and `held`
    cdef object held
    cdef readonly str kind
    cdef readonly tuple sizes
    cdef readonly object points
    cdef int set_sizes(self) except -1
    cdef int set_hull(self, object kept) except -1
    cdef int set_field(self) except -1

cdef int contact_points(const ShapeC* a, const Frame* X_WA, const ShapeC* b, const Frame* X_WB, double margin, Contact* out) noexcept nogil
cdef void shape_bounds(const ShapeC* s, const Frame* X_WS, double margin, Bounds* out) noexcept nogil
cdef int overlapping_pairs(const Bounds* box, const int* group, int count, int* order, Pair* pairs, int most, long long* found) noexcept nogil
