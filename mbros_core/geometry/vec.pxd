"""Vectors and frames in plain doubles: see vec.hpp."""
from mbros_core.scalar.vector cimport Vector3, cross, dot

ctypedef Vector3[double] Vec

cdef extern from "geometry/vec.hpp" namespace "mbros_geometry" nogil:
    cdef cppclass Rotation:
        Vec x
        Vec y
        Vec z

    cdef cppclass Frame:
        Rotation R
        Vec p

    Vec vec "mbros::vector3<double>"(double, double, double) noexcept
    Vec read(const double*) noexcept
    void write(double*, const Vec&) noexcept
    double square(const Vec&) noexcept
    double norm(const Vec&) noexcept
    double axis(const Vec&, int) noexcept
    Vec rotate(const Rotation&, const Vec&) noexcept
    Vec unrotate(const Rotation&, const Vec&) noexcept
    Vec column(const Rotation&, int) noexcept
    Vec place(const Frame&, const Vec&) noexcept
    Frame between(const Frame&, const Frame&) noexcept
    Vec perpendicular(const Vec&) noexcept
