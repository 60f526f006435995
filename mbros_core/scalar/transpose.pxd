"""Rows of numbers of several robots, and the same side by side in lanes. See transpose.hpp."""
from mbros_core.scalar.real cimport real

cdef extern from "scalar/transpose.hpp" namespace "mbros" nogil:
    void to_lanes(const double*, real*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept
    void from_lanes(const real*, double*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept
    void fetch(const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept
    bint plain_finite(const double*, Py_ssize_t) noexcept
