// What a number is. Nothing else in mbros knows.
//
// Every equation of mbros is written once, in Cython, over the opaque type `real`; this header gives
// the type its meaning when a module is compiled:
//
//   MBROS_LANES=1   real is a double: simulation and real time
//   MBROS_LANES=N   real is N doubles side by side (a SIMD vector): N robots, one per lane
//
// `mask` is the result of a comparison: a bool, or one all-ones / all-zeros word per lane. Values
// never branch; they go through select(mask, a, b).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifndef MBROS_LANES
#define MBROS_LANES 1
#endif

#define MBROS_NAN __builtin_nan("")
#define MBROS_FN static inline __attribute__((always_inline))

namespace mbros {

#if MBROS_LANES == 1

typedef double real;
typedef bool mask;

MBROS_FN double lane(const real& a, int) { return a; }
MBROS_FN void set_lane(real& a, int, double x) { a = x; }
MBROS_FN real select(mask m, real a, real b) { return m ? a : b; }
MBROS_FN bool any(mask m) { return m; }
MBROS_FN real sqrt(real a) { return __builtin_sqrt(a); }
MBROS_FN real round_half_even(real a) { return (a + 6755399441055744.0) - 6755399441055744.0; }
MBROS_FN mask less(real a, real b) { return a < b; }
MBROS_FN mask odd(real n) { return static_cast<int64_t>(n) & 1; }
MBROS_FN mask second_bit(real n) { return static_cast<int64_t>(n) & 2; }

#else

typedef double vreal __attribute__((vector_size(8 * MBROS_LANES)));
typedef int64_t vmask __attribute__((vector_size(8 * MBROS_LANES)));

// A trivial type, so that plain C structs of it may be made, copied and returned like structs of double.
struct real {
    vreal x;
    real() = default;
    MBROS_FN vreal splat(double a) {
        vreal r;
        for (int i = 0; i < MBROS_LANES; ++i) r[i] = a;
        return r;
    }
    inline __attribute__((always_inline)) real(double a) : x(splat(a)) {}
    inline __attribute__((always_inline)) explicit real(vreal a) : x(a) {}
};
struct mask {
    vmask x;
    mask() = default;
    inline __attribute__((always_inline)) explicit mask(vmask a) : x(a) {}
};

MBROS_FN real operator+(real a, real b) { return real(a.x + b.x); }
MBROS_FN real operator-(real a, real b) { return real(a.x - b.x); }
MBROS_FN real operator*(real a, real b) { return real(a.x * b.x); }
MBROS_FN real operator/(real a, real b) { return real(a.x / b.x); }
MBROS_FN real operator+(double a, real b) { return real(real(a).x + b.x); }
MBROS_FN real operator-(double a, real b) { return real(real(a).x - b.x); }
MBROS_FN real operator*(double a, real b) { return real(real(a).x * b.x); }
MBROS_FN real operator/(double a, real b) { return real(real(a).x / b.x); }
MBROS_FN real operator-(real a) { return real(-a.x); }
MBROS_FN real& operator+=(real& a, real b) { a.x += b.x; return a; }
MBROS_FN real& operator-=(real& a, real b) { a.x -= b.x; return a; }
MBROS_FN real& operator*=(real& a, real b) { a.x *= b.x; return a; }

MBROS_FN double lane(const real& a, int i) { return a.x[i]; }
MBROS_FN void set_lane(real& a, int i, double v) { a.x[i] = v; }
MBROS_FN real select(mask m, real a, real b) { return real(m.x ? a.x : b.x); }
MBROS_FN bool any(mask m) {
    int64_t r = 0;
    for (int i = 0; i < MBROS_LANES; ++i) r |= m.x[i];
    return r != 0;
}
MBROS_FN real sqrt(real a) {
    real r;
#if MBROS_LANES == 8 && defined(__AVX512F__)
    r.x = (vreal)__builtin_ia32_sqrtpd512_mask(a.x, a.x, -1, 4);
#elif MBROS_LANES == 4 && defined(__AVX__)
    r.x = __builtin_ia32_sqrtpd256(a.x);
#else
    for (int i = 0; i < MBROS_LANES; ++i) r.x[i] = __builtin_sqrt(a.x[i]);
#endif
    return r;
}
MBROS_FN real round_half_even(real a) { return (a + real(6755399441055744.0)) - real(6755399441055744.0); }
MBROS_FN mask less(real a, real b) { return mask((vmask)(a.x < b.x)); }
MBROS_FN vmask bits(real n) {
    // The integer value of n (|n| < 2^51) sits in the low bits of n + 1.5 * 2^52.
    real shifted = n + real(6755399441055744.0);
    vmask b;
    std::memcpy(&b, &shifted.x, sizeof(b));
    return b;
}
MBROS_FN mask odd(real n) { return mask((vmask)((bits(n) & 1) != 0)); }
MBROS_FN mask second_bit(real n) { return mask((vmask)((bits(n) & 2) != 0)); }

#endif

MBROS_FN real fabs(real a) { return select(less(a, real(0.0)), -a, a); }
MBROS_FN real fmin(real a, real b) { return select(less(a, b), a, b); }
MBROS_FN real fmax(real a, real b) { return select(less(a, b), b, a); }
MBROS_FN void copy(real* to, const real* from, int n) { std::memcpy(to, from, n * sizeof(real)); }

// Sine and cosine together, good to one unit in the last place.
//
// x = n pi/2 + r with |r| <= pi/4: pi/2 is taken away in three parts (Cody and Waite), so that r keeps full
// precision up to |x| of 1e5 and beyond. The two polynomials are the minimax polynomials of fdlibm
// (Sun Microsystems, kernel_sin and kernel_cos). The quadrant n mod 4 then swaps and negates.
// Angles above 2^19 rad take the C library's exact reduction, lane by lane.
MBROS_FN void sincos(real x, real& s, real& c) {
    const real n = round_half_even(x * real(0.63661977236758134308));
    real r = x - n * real(1.57079632673412561417e+00);
    real t = n * real(6.07710050630396597660e-11);
    real y = r - t;
    const real lost = (r - y) - t;
    const real w = n * real(2.02226624879595063154e-21) - lost;
    const real hi = y - w;
    const real lo = (y - hi) - w;
    const real z = hi * hi;
    const real ps = real(-1.66666666666666324348e-01) + z * (real(8.33333333332248946124e-03)
                  + z * (real(-1.98412698298579493134e-04) + z * (real(2.75573137070700676789e-06)
                  + z * (real(-2.50507602534068634195e-08) + z * real(1.58969099521155010221e-10)))));
    const real pc = real(4.16666666666666019037e-02) + z * (real(-1.38888888888741095749e-03)
                  + z * (real(2.48015872894767294178e-05) + z * (real(-2.75573143513906633035e-07)
                  + z * (real(2.08757232129817482790e-09) + z * real(-1.13596475577881948265e-11)))));
    const real sin_r = hi + (lo + z * hi * ps);
    const real half_z = real(0.5) * z;
    const real one_half = real(1.0) - half_z;
    const real cos_r = one_half + (((real(1.0) - one_half) - half_z) + (z * z * pc - hi * lo));
    const mask swap = odd(n);
    const real a = select(swap, cos_r, sin_r);
    const real b = select(swap, sin_r, cos_r);
    s = select(second_bit(n), -a, a);
    c = select(second_bit(n + real(1.0)), -b, b);
    const mask huge = less(real(524288.0), fabs(x));
    if (__builtin_expect(any(huge), 0)) {
        for (int i = 0; i < MBROS_LANES; ++i) {
            if (__builtin_fabs(lane(x, i)) > 524288.0) {
                set_lane(s, i, ::std::sin(lane(x, i)));
                set_lane(c, i, ::std::cos(lane(x, i)));
            }
        }
    }
}

// The number in the first lane: for messages and for modules where there is only one.
MBROS_FN double value(const real& a) { return lane(a, 0); }

// Not on any hot path: lane by lane through the C library.
MBROS_FN real atan2(real y, real x) {
    real r = x;
    for (int i = 0; i < MBROS_LANES; ++i) set_lane(r, i, ::std::atan2(lane(y, i), lane(x, i)));
    return r;
}

MBROS_FN real exp(real x) {
    real r = x;
    for (int i = 0; i < MBROS_LANES; ++i) set_lane(r, i, ::std::exp(lane(x, i)));
    return r;
}
MBROS_FN real tanh(real x) {
    real r = x;
    for (int i = 0; i < MBROS_LANES; ++i) set_lane(r, i, ::std::tanh(lane(x, i)));
    return r;
}

// True when every lane of every number is finite (infinity minus infinity, and anything with NaN, is NaN).
MBROS_FN bool all_finite(const real* a, int n) {
    real s0 = real(0.0), s1 = s0, s2 = s0, s3 = s0;         // four sums, so that no addition waits for the one before
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 = s0 + (a[i] - a[i]);
        s1 = s1 + (a[i + 1] - a[i + 1]);
        s2 = s2 + (a[i + 2] - a[i + 2]);
        s3 = s3 + (a[i + 3] - a[i + 3]);
    }
    for (; i < n; ++i) s0 = s0 + (a[i] - a[i]);
    const real sum = (s0 + s1) + (s2 + s3);
    bool finite = true;
    for (int k = 0; k < MBROS_LANES; ++k) finite = finite && (lane(sum, k) == 0.0);
    return finite;
}

}  // namespace mbros
