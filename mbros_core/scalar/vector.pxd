"""The vector algebra, over any number R: see vector.hpp."""

cdef extern from "scalar/vector.hpp" namespace "mbros" nogil:
    cdef cppclass Vector3[R]:
        R x
        R y
        R z
        Vector3[R] operator+(Vector3[R]) noexcept
        Vector3[R] operator-(Vector3[R]) noexcept
        Vector3[R] operator-() noexcept
        Vector3[R] operator*(R, Vector3[R]) noexcept
        Vector3[R] operator*(double, Vector3[R]) noexcept

    R dot[R](const Vector3[R]&, const Vector3[R]&) noexcept
    Vector3[R] cross[R](const Vector3[R]&, const Vector3[R]&) noexcept
