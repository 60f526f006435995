// What a number is. Nothing else in mbros knows.
//
// Every equation of mbros is written once, in Cython, over the opaque type `real`; this header gives
// the type its meaning when a module is compiled:
//
//   MBROS_LANES=1               real is a double: simulation and real time
//   MBROS_LANES=N               real is N doubles side by side (a SIMD vector): N robots, one per lane (lanes.hpp)
//   MBROS_LANES=N, MBROS_DUAL   real is a value and N - 1 of its partial derivatives (dual.hpp)
//   MBROS_TRACED                real is a node of an expression graph, or a constant (traced.hpp)
//
// `mask` is the result of a comparison: a bool, or one all-ones / all-zeros word per lane. Values
// never branch; they go through select(mask, a, b).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef MBROS_LANES
#define MBROS_LANES 1
#endif

#ifdef MBROS_DUAL
#define MBROS_OF_DUALS 1
#else
#define MBROS_OF_DUALS 0
#endif

#ifdef MBROS_TRACED
#define MBROS_OF_NODES 1
#else
#define MBROS_OF_NODES 0
#endif

#define MBROS_NAN __builtin_nan("")
#define MBROS_FN static inline __attribute__((always_inline))

namespace mbros {

// One double: what `real` is in most modules, and what every other meaning is made of.
MBROS_FN double lane(const double& a, int) { return a; }
MBROS_FN void set_lane(double& a, int, double x) { a = x; }
MBROS_FN double select(bool m, double a, double b) { return m ? a : b; }
MBROS_FN bool any(bool m) { return m; }
MBROS_FN double sqrt(double a) { return __builtin_sqrt(a); }
MBROS_FN double round_half_even(double a) { return (a + 6755399441055744.0) - 6755399441055744.0; }
MBROS_FN bool less(double a, double b) { return a < b; }
MBROS_FN bool nonzero(double a) { return a != 0.0; }
MBROS_FN bool odd(double n) { return static_cast<int64_t>(n) & 1; }
MBROS_FN bool second_bit(double n) { return static_cast<int64_t>(n) & 2; }

template <class R> MBROS_FN R fabs(R a) { return select(less(a, R(0.0)), -a, a); }
template <class R> MBROS_FN R fmin(R a, R b) { return select(less(a, b), a, b); }
template <class R> MBROS_FN R fmax(R a, R b) { return select(less(a, b), b, a); }

// Sine and cosine together, good to one unit in the last place.
//
// x = n pi/2 + r with |r| <= pi/4: pi/2 is taken away in three parts (Cody and Waite), so that r keeps full
// precision up to |x| of 1e5 and beyond. The two polynomials are the minimax polynomials of fdlibm
// (Sun Microsystems, kernel_sin and kernel_cos). The quadrant n mod 4 then swaps and negates.
// Angles above 2^19 rad take the C library's exact reduction, lane by lane.
template <class R> MBROS_FN void sincos_of_lanes(R x, R& s, R& c) {
    const R n = round_half_even(x * R(0.63661977236758134308));
    R r = x - n * R(1.57079632673412561417e+00);
    R t = n * R(6.07710050630396597660e-11);
    R y = r - t;
    const R lost = (r - y) - t;
    const R w = n * R(2.02226624879595063154e-21) - lost;
    const R hi = y - w;
    const R lo = (y - hi) - w;
    const R z = hi * hi;
    const R ps = R(-1.66666666666666324348e-01) + z * (R(8.33333333332248946124e-03)
                  + z * (R(-1.98412698298579493134e-04) + z * (R(2.75573137070700676789e-06)
                  + z * (R(-2.50507602534068634195e-08) + z * R(1.58969099521155010221e-10)))));
    const R pc = R(4.16666666666666019037e-02) + z * (R(-1.38888888888741095749e-03)
                  + z * (R(2.48015872894767294178e-05) + z * (R(-2.75573143513906633035e-07)
                  + z * (R(2.08757232129817482790e-09) + z * R(-1.13596475577881948265e-11)))));
    const R sin_r = hi + (lo + z * hi * ps);
    const R half_z = R(0.5) * z;
    const R one_half = R(1.0) - half_z;
    const R cos_r = one_half + (((R(1.0) - one_half) - half_z) + (z * z * pc - hi * lo));
    const auto swap = odd(n);
    const R a = select(swap, cos_r, sin_r);
    const R b = select(swap, sin_r, cos_r);
    s = select(second_bit(n), -a, a);
    c = select(second_bit(n + R(1.0)), -b, b);
    const auto huge = less(R(524288.0), fabs(x));
    if (__builtin_expect(any(huge), 0)) {
        for (int i = 0; i < int(sizeof(R) / sizeof(double)); ++i) {
            if (__builtin_fabs(lane(x, i)) > 524288.0) {
                set_lane(s, i, ::std::sin(lane(x, i)));
                set_lane(c, i, ::std::cos(lane(x, i)));
            }
        }
    }
}

MBROS_FN void sincos(double x, double& s, double& c) { sincos_of_lanes(x, s, c); }

}  // namespace mbros

#if defined(MBROS_DUAL)
#include "dual.hpp"
#elif defined(MBROS_TRACED)
#include "traced.hpp"
#elif MBROS_LANES > 1
#include "lanes.hpp"
#endif

namespace mbros {

#if MBROS_LANES == 1 && !defined(MBROS_TRACED)
typedef double real;
typedef bool mask;
#endif

#if !defined(MBROS_DUAL) && !defined(MBROS_TRACED)
#if MBROS_LANES > 1
MBROS_FN void sincos(real x, real& s, real& c) { sincos_of_lanes(x, s, c); }
#endif

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
#endif

#ifndef MBROS_TRACED
// Asked of traced numbers only (algorithms/own_axes_dynamics.pxd).
MBROS_FN bool known(const real&) { return true; }
MBROS_FN bool through_M() { return false; }
#endif

// The number in the first lane: for messages and for modules where there is only one.
MBROS_FN double value(const real& a) { return lane(a, 0); }

MBROS_FN void copy(real* to, const real* from, std::ptrdiff_t n) { std::memcpy(to, from, n * sizeof(real)); }

// Number i of each of MBROS_LANES rows, side by side.
MBROS_FN real across(const double* const* rows, std::ptrdiff_t i) {
#if MBROS_LANES == 8
    return real(vreal{rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i], rows[6][i], rows[7][i]});
#elif MBROS_LANES == 4
    return real(vreal{rows[0][i], rows[1][i], rows[2][i], rows[3][i]});
#elif MBROS_LANES == 2
    return real(vreal{rows[0][i], rows[1][i]});
#else
    return rows[0][i];
#endif
}

// True when every lane of every number is finite (infinity minus infinity, and anything with NaN, is NaN).
MBROS_FN bool all_finite(const real* a, std::ptrdiff_t n) {
    // Three sums, so that no addition waits for the one before. Not four: these gcc makes one vector, and to load a vector of what
    // was just stored one by one takes longer than all the additions.
    real s0 = real(0.0), s1 = s0, s2 = s0;
    std::ptrdiff_t i = 0;
    for (; i + 3 <= n; i += 3) {
        s0 = s0 + (a[i] - a[i]);
        s1 = s1 + (a[i + 1] - a[i + 1]);
        s2 = s2 + (a[i + 2] - a[i + 2]);
    }
    for (; i < n; ++i) s0 = s0 + (a[i] - a[i]);
    const real sum = s0 + s1 + s2;
#if MBROS_LANES > 1 && !defined(MBROS_DUAL)
    return !any(nonzero(sum));
#else
    bool finite = true;
    for (int k = 0; k < MBROS_LANES; ++k) finite = finite && (lane(sum, k) == 0.0);
    return finite;
#endif
}

// True only when every number is smaller than the bound, which their sum then is: not of NaN, and where the numbers are large it may be
// false although each of them is smaller. Without a branch a number.
MBROS_FN bool surely_below(const double* a, std::ptrdiff_t n, double bound) {
    double sum = 0.0, also = 0.0;
    std::ptrdiff_t i = 0;
    for (; i + 2 <= n; i += 2) {
        sum += std::fabs(a[i]);
        also += std::fabs(a[i + 1]);
    }
    if (i < n) sum += std::fabs(a[i]);
    return sum + also < bound;
}

}  // namespace mbros
