"""The scalar `real`: a double, or SIMD lanes. See real.hpp; nothing else knows what it is."""

cdef extern from "scalar/real.hpp" namespace "mbros" nogil:
    const int LANES "MBROS_LANES"
    const bint OF_DUALS "MBROS_OF_DUALS"         # what is in the lanes after the first are derivatives, no robots

    const bint OF_NODES "MBROS_OF_NODES"         # it is what is traced: expressions of one robot, whose constants are known

    cdef cppclass real:
        real()
        real(double)
        real operator+(real)
        real operator-(real)
        real operator/(real)
        real operator-()
        real operator+(double, real) noexcept
        real operator-(double, real) noexcept
        real operator/(double, real) noexcept
        # Not as the member real * real: Cython would take it for real * vector, too.
        real operator*(double, real) noexcept
        real operator*(real, real) noexcept
        real operator*(real, double) noexcept

    cdef cppclass mask:
        pass

    double lane(const real&, int) noexcept
    void set_lane(real&, int, double) noexcept
    double value(const real&) noexcept
    bint known(const real&) noexcept
    bint through_M() noexcept
    real select(mask, real, real) noexcept
    bint any(mask) noexcept
    mask less(real, real) noexcept
    mask nonzero(real) noexcept
    real sqrt(real) noexcept
    real fabs(real) noexcept
    real fmin(real, real) noexcept
    real fmax(real, real) noexcept
    void sincos(real, real&, real&) noexcept
    real atan2(real, real) noexcept
    real exp(real) noexcept
    real tanh(real) noexcept
    const double NAN "MBROS_NAN"
    void copy(real*, const real*, Py_ssize_t) noexcept
    bint all_finite(const real*, Py_ssize_t) noexcept
    bint surely_below(const double*, Py_ssize_t, double) noexcept
