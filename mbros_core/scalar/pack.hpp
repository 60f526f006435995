// Packs: neighbouring numbers of an array, for loops over the columns of a matrix.
//
// Where real is a double, a pack is as many doubles as the widest vectors of this build have; elsewhere, where a real is a vector or a node,
// it is one real. Arrays that are read by packs are aligned and padded to whole packs.
#pragma once

#include "real.hpp"

namespace mbros {

#if MBROS_LANES > 1 || defined(MBROS_TRACED)
#define MBROS_PACK 1
typedef real pack;
MBROS_FN pack spread(real a) { return a; }
MBROS_FN pack packed(const real* a) { return *a; }
MBROS_FN void unpack(real* to, pack a) { *to = a; }
#else
#if defined(__AVX512F__)
#define MBROS_PACK 8
#elif defined(__AVX__)
#define MBROS_PACK 4
#else
#define MBROS_PACK 2
#endif
typedef double vpack __attribute__((vector_size(8 * MBROS_PACK)));
typedef double vpack_anywhere __attribute__((vector_size(8 * MBROS_PACK), aligned(8), may_alias));

struct pack {
    vpack x;
    pack() = default;
    inline __attribute__((always_inline)) explicit pack(vpack a) : x(a) {}
};
MBROS_FN pack operator+(pack a, pack b) { return pack(a.x + b.x); }
MBROS_FN pack operator-(pack a, pack b) { return pack(a.x - b.x); }
MBROS_FN pack operator*(pack a, pack b) { return pack(a.x * b.x); }
MBROS_FN pack operator-(pack a) { return pack(-a.x); }
MBROS_FN pack spread(double a) { return pack(vpack{} + a); }
MBROS_FN pack packed(const double* a) { return pack(*(const vpack_anywhere*)a); }
MBROS_FN void unpack(double* to, pack a) { *(vpack_anywhere*)to = a.x; }
#endif

// all_finite, by packs: for matrices.
MBROS_FN bool matrix_finite(const real* a, std::ptrdiff_t n) {
    pack s0 = spread(real(0.0)), s1 = s0, s2 = s0, s3 = s0;
    const std::ptrdiff_t step = 4 * MBROS_PACK;
    std::ptrdiff_t i = 0;
    for (; i + step <= n; i += step) {
        const pack x0 = packed(a + i), x1 = packed(a + i + MBROS_PACK);
        const pack x2 = packed(a + i + 2 * MBROS_PACK), x3 = packed(a + i + 3 * MBROS_PACK);
        s0 = s0 + (x0 - x0);
        s1 = s1 + (x1 - x1);
        s2 = s2 + (x2 - x2);
        s3 = s3 + (x3 - x3);
    }
    alignas(64) real sums[MBROS_PACK];
    unpack(sums, (s0 + s1) + (s2 + s3));
    return all_finite(sums, MBROS_PACK) && all_finite(a + i, n - i);
}

}  // namespace mbros
