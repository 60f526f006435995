"""Vectors and frames in plain doubles: see vec.hpp."""

cdef extern from "geometry/vec.hpp" namespace "mbros_geometry" nogil:
    cdef cppclass Vec:
        double x
        double y
        double z
        Vec operator+(Vec) noexcept
        Vec operator-(Vec) noexcept
        Vec operator-() noexcept
        Vec operator*(double, Vec) noexcept

    cdef cppclass Rotation:
        Vec x
        Vec y
        Vec z

    cdef cppclass Frame:
        Rotation R
        Vec p

    Vec vec(double, double, double) noexcept
    Vec read(const double*) noexcept
    void write(double*, const Vec&) noexcept
    double dot(const Vec&, const Vec&) noexcept
    Vec cross(const Vec&, const Vec&) noexcept
    double square(const Vec&) noexcept
    double norm(const Vec&) noexcept
    double axis(const Vec&, int) noexcept
    Vec rotate(const Rotation&, const Vec&) noexcept
    Vec unrotate(const Rotation&, const Vec&) noexcept
    Vec column(const Rotation&, int) noexcept
    Vec place(const Frame&, const Vec&) noexcept
    Frame between(const Frame&, const Frame&) noexcept
    Vec perpendicular(const Vec&) noexcept
