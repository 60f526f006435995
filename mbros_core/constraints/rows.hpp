// Sums of rows that do not overlap, and gaps between balls, two numbers at a time. Runs are short, some 6 numbers: what a compiler puts
// around its own vector loops for overlap and for remainders costs more than such a sum.
#pragma once

#include <cstdint>

namespace mbros_core {

typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t TwoBits __attribute__((vector_size(16)));

// to += x a
inline void add_row(double* to, const double* a, double x, int n) {
    int i = 0;
    for (; i + 2 <= n; i += 2) *(Two*)(to + i) += x * *(const Two*)(a + i);
    if (i < n) to[i] += x * a[i];
}

// to += x a + y b + z c
inline void add_three(double* to, const double* a, const double* b, const double* c, double x, double y, double z, int n) {
    int i = 0;
    for (; i + 2 <= n; i += 2) *(Two*)(to + i) += x * *(const Two*)(a + i) + y * *(const Two*)(b + i) + z * *(const Two*)(c + i);
    if (i < n) to[i] += x * a[i] + y * b[i] + z * c[i];
}

// Of the balls from `first`, an even number, up to stop: which are not apart from ball a, as bits from `first` on. balls: x, y, z and
// radius, n numbers each. At most 64.
inline uint64_t near_balls(const double* balls, int n, int a, int first, int stop) {
    const double *x = balls, *y = x + n, *z = y + n, *r = z + n;
    TwoBits near = {0, 0}, bit = {1, 2};
    int i = first;
    for (; i + 2 <= stop; i += 2, bit <<= 2) {
        const Two dx = *(const Two*)(x + i) - x[a], dy = *(const Two*)(y + i) - y[a], dz = *(const Two*)(z + i) - z[a];
        const Two reach = *(const Two*)(r + i) + r[a];
        near |= ~(TwoBits)(dx * dx + dy * dy + dz * dz - reach * reach > 0.0) & bit;
    }
    if (i < stop) {
        const double dx = x[i] - x[a], dy = y[i] - y[a], dz = z[i] - z[a], reach = r[i] + r[a];
        if (!(dx * dx + dy * dy + dz * dz - reach * reach > 0.0)) near[0] |= bit[0];
    }
    return (uint64_t)near[0] | (uint64_t)near[1];
}

inline int lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); }

// The lower triangle of a matrix of 6 columns, whose rows are `stride` apart: to += K^T G K, K (rows, 6), G diagonal with 7 numbers from one
// of its elements to the next. Each sum is taken in the order of the rows.
inline void add_six(double* to, int64_t stride, const double* K, const double* G, int rows) {
    for (int a = 0; a < 6; ++a) {
        Two x = {0.0, 0.0}, y = x, z = x;
        double* row = to + a * stride;
        double old[6] = {};
        for (int c = 0; c <= a; ++c) old[c] = row[c];
        x = *(Two*)old, y = *(Two*)(old + 2), z = *(Two*)(old + 4);
        for (int i = 0; i < rows; ++i) {
            const double* k = K + 6 * i;
            const double w = G[7 * i] * k[a];
            x += w * *(const Two*)k, y += w * *(const Two*)(k + 2), z += w * *(const Two*)(k + 4);
        }
        *(Two*)old = x, *(Two*)(old + 2) = y, *(Two*)(old + 4) = z;
        for (int c = 0; c <= a; ++c) row[c] = old[c];
    }
}

inline void copy_row(double* to, const double* a, int n) {
    int i = 0;
    for (; i + 2 <= n; i += 2) *(Two*)(to + i) = *(const Two*)(a + i);
    if (i < n) to[i] = a[i];
}

}
