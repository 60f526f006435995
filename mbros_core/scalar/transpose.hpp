// Numbers of MBROS_LANES robots: one robot after the other, as users have them, and side by side, as lanes do.
//
// Eight rows of eight numbers are turned in registers (Eklundh 1972: log2(8) exchanges of ever larger blocks), 24 shuffles for 64 numbers;
// a block of fewer columns is read and written under a mask. Where there are no masks, number by number.
#pragma once

#include "real.hpp"

namespace mbros {

#if MBROS_LANES == 8 && defined(__AVX512F__) && !MBROS_OF_DUALS
#define MBROS_BLOCKS 1
typedef double block_row __attribute__((vector_size(64)));
typedef long long block_places __attribute__((vector_size(64)));

// Of rows a and b, `size` apart: a keeps its places whose numbers lack the bit `size`, b the others, and each has the rest of the other's.
template <int size> MBROS_FN void exchange(block_row& a, block_row& b) {
    const block_places i = {0, 1, 2, 3, 4, 5, 6, 7};
    const block_row first = __builtin_shuffle(a, b, (i & size) != 0 ? 8 + i - size : i);
    b = __builtin_shuffle(a, b, (i & size) != 0 ? 8 + i : i + size);
    a = first;
}

MBROS_FN void turn(block_row (&r)[8]) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) exchange<1>(r[i], r[i + 1]);
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) exchange<2>(r[i + (i & 2)], r[i + (i & 2) + 2]);
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) exchange<4>(r[i], r[i + 4]);
}

MBROS_FN unsigned char columns(std::ptrdiff_t n) { return n >= 8 ? 0xff : (1 << n) - 1; }
#endif

// Rows of n numbers, `stride` apart, become n reals; where fewer than MBROS_LANES are left, the last one is repeated.
static inline void to_lanes(const double* x, real* to, std::ptrdiff_t n, std::ptrdiff_t stride, std::ptrdiff_t left) {
    const double* rows[MBROS_LANES];
    for (int l = 0; l < MBROS_LANES; ++l) {
        rows[l] = x;
        if (l + 1 < left) x += stride;
    }
#ifdef MBROS_BLOCKS
    for (std::ptrdiff_t i = 0; i < n; i += 8) {
        block_row r[8];
        const unsigned char some = columns(n - i);
#pragma GCC unroll 8
        for (int l = 0; l < 8; ++l) r[l] = (block_row)__builtin_ia32_loadupd512_mask(rows[l] + i, block_row{}, some);
        turn(r);
#pragma GCC unroll 8
        for (int l = 0; l < 8 && l < n - i; ++l) to[i + l] = real(vreal(r[l]));
    }
#else
    for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = across(rows, i);
#endif
}

// The way back, of the rows that there are.
static inline void from_lanes(const real* x, double* to, std::ptrdiff_t n, std::ptrdiff_t stride, std::ptrdiff_t left) {
#ifdef MBROS_BLOCKS
    for (std::ptrdiff_t i = 0; i < n; i += 8) {
        block_row r[8];
        const unsigned char some = columns(n - i);
#pragma GCC unroll 8
        for (int l = 0; l < 8; ++l) r[l] = l < n - i ? block_row(x[i + l].x) : block_row{};
        turn(r);
#pragma GCC unroll 8
        for (int l = 0; l < 8 && l < left; ++l) __builtin_ia32_storeupd512_mask(to + l * stride + i, r[l], some);
    }
#else
    for (std::ptrdiff_t l = 0; l < MBROS_LANES && l < left; ++l)
        for (std::ptrdiff_t i = 0; i < n; ++i) to[l * stride + i] = lane(x[i], l);
#endif
}

// Rows that are read soon, into the cache.
static inline void fetch(const double* x, std::ptrdiff_t n, std::ptrdiff_t stride, std::ptrdiff_t left) {
    for (std::ptrdiff_t l = 0; l < MBROS_LANES && l < left; ++l)
        for (std::ptrdiff_t i = 0; i < n + 7; i += 8) __builtin_prefetch(x + l * stride + (i < n ? i : n - 1));
}

// Whether all of n plain numbers are finite: their differences from themselves, NaN where one is not, added up side by side.
static inline bool plain_finite(const double* a, std::ptrdiff_t n) {
    typedef double some __attribute__((vector_size(64)));
    some s0 = {}, s1 = {}, x, y;
    std::ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        std::memcpy(&x, a + i, sizeof(x));
        std::memcpy(&y, a + i + 8, sizeof(y));
        s0 += x - x;
        s1 += y - y;
    }
    double sum = 0.0;
    for (; i < n; ++i) sum += a[i] - a[i];
    s0 += s1;
    for (int k = 0; k < 8; ++k) sum += s0[k];
    return sum == 0.0;
}

}  // namespace mbros
