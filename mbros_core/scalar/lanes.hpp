// Lanes: MBROS_LANES doubles side by side in one SIMD vector, each of another robot.
#pragma once

namespace mbros {

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
#if MBROS_LANES == 8 && defined(__AVX512DQ__)
    typedef long long words __attribute__((vector_size(64)));
    return __builtin_ia32_cvtq2mask512((words)m.x) != 0;
#elif MBROS_LANES == 4 && defined(__AVX__)
    return __builtin_ia32_movmskpd256((vreal)m.x) != 0;
#else
    int64_t r = 0;
    for (int i = 0; i < MBROS_LANES; ++i) r |= m.x[i];
    return r != 0;
#endif
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
MBROS_FN mask nonzero(real a) { return mask((vmask)(a.x != vreal{})); }
MBROS_FN vmask bits(real n) {
    // The integer value of n (|n| < 2^51) sits in the low bits of n + 1.5 * 2^52.
    real shifted = n + real(6755399441055744.0);
    vmask b;
    std::memcpy(&b, &shifted.x, sizeof(b));
    return b;
}
MBROS_FN mask odd(real n) { return mask((vmask)((bits(n) & 1) != 0)); }
MBROS_FN mask second_bit(real n) { return mask((vmask)((bits(n) & 2) != 0)); }

}  // namespace mbros
