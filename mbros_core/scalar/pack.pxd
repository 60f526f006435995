"""Packs: PACK neighbouring numbers of an array. See pack.hpp."""
from mbros_core.scalar.real cimport real

cdef extern from "scalar/pack.hpp" namespace "mbros" nogil:
    const int PACK "MBROS_PACK"

    cdef cppclass pack:
        pack()
        pack operator+(pack)
        pack operator-(pack)
        pack operator*(pack, pack) noexcept
        pack operator-()

    pack spread(real) noexcept
    pack packed(const real*) noexcept
    void unpack(real*, pack) noexcept
    bint matrix_finite(const real*, Py_ssize_t) noexcept
