// Dual numbers: a value and its partial derivatives in MBROS_LANES - 1 directions, side by side in one SIMD vector.
//
// Lane 0 is the value a, lane k the derivative a_k in direction k. Every operation carries the derivatives along by its own
// differential, d(a b) = a db + b da and so on (forward-mode differentiation; Griewank and Walther 2008), so what comes out of
// an algorithm are its exact derivatives. Comparisons look at values only; at a kink the side that is computed is differentiated.
#pragma once

namespace mbros {

typedef double vreal __attribute__((vector_size(8 * MBROS_LANES)));
typedef int64_t vbits __attribute__((vector_size(8 * MBROS_LANES)));
typedef bool mask;

static const vbits value_lane = {-1};

MBROS_FN vreal with_value(double a, vreal d) { return value_lane ? vreal{} + a : d; }
MBROS_FN vreal derivatives(vreal a) { return (vreal)((vbits)a & ~value_lane); }

// A trivial type, so that plain C structs of it may be made, copied and returned like structs of double.
struct real {
    vreal x;
    real() = default;
    inline __attribute__((always_inline)) real(double a) : x(with_value(a, vreal{})) {}
    inline __attribute__((always_inline)) explicit real(vreal a) : x(a) {}
};

MBROS_FN real operator+(real a, real b) { return real(a.x + b.x); }
MBROS_FN real operator-(real a, real b) { return real(a.x - b.x); }
MBROS_FN real operator-(real a) { return real(-a.x); }
MBROS_FN real operator*(real a, real b) { return real(a.x[0] * b.x + b.x[0] * derivatives(a.x)); }
MBROS_FN real operator/(real a, real b) {
    const double q = a.x[0] / b.x[0];
    return real(with_value(q, (a.x - q * b.x) * (1.0 / b.x[0])));
}
MBROS_FN real operator+(double a, real b) { return real(a) + b; }
MBROS_FN real operator-(double a, real b) { return real(a) - b; }
MBROS_FN real operator*(double a, real b) { return real(a * b.x); }
MBROS_FN real operator/(double a, real b) { return real(a) / b; }
MBROS_FN real& operator+=(real& a, real b) { a.x += b.x; return a; }
MBROS_FN real& operator-=(real& a, real b) { a.x -= b.x; return a; }
MBROS_FN real& operator*=(real& a, real b) { return a = a * b; }

MBROS_FN double lane(const real& a, int i) { return a.x[i]; }
MBROS_FN void set_lane(real& a, int i, double v) { a.x[i] = v; }
MBROS_FN real select(mask m, real a, real b) { return m ? a : b; }
MBROS_FN mask less(real a, real b) { return a.x[0] < b.x[0]; }
MBROS_FN mask nonzero(real a) {                        // of the value or of a derivative: what may not be skipped
    const vbits b = (vbits)(a.x != vreal{});
    int64_t r = 0;
    for (int i = 0; i < MBROS_LANES; ++i) r |= b[i];
    return r != 0;
}

// f(a) with slope f'(a).
MBROS_FN real chain(double f, double slope, real a) { return real(with_value(f, slope * a.x)); }

MBROS_FN real sqrt(real a) {
    const double root = __builtin_sqrt(a.x[0]);
    return chain(root, 0.5 / root, a);
}
MBROS_FN void sincos(real a, real& s, real& c) {
    double sine, cosine;
    sincos(a.x[0], sine, cosine);
    s = chain(sine, cosine, a);
    c = chain(cosine, -sine, a);
}
MBROS_FN real exp(real a) {
    const double e = ::std::exp(a.x[0]);
    return chain(e, e, a);
}
MBROS_FN real tanh(real a) {
    const double t = ::std::tanh(a.x[0]);
    return chain(t, 1.0 - t * t, a);
}
MBROS_FN real atan2(real y, real x) {
    const double r2 = x.x[0] * x.x[0] + y.x[0] * y.x[0];
    return real(with_value(::std::atan2(y.x[0], x.x[0]), (x.x[0] * y.x - y.x[0] * x.x) * (1.0 / r2)));
}

}  // namespace mbros
