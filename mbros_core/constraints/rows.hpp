// Sums of rows that do not overlap, and gaps between balls, two numbers at a time. Runs are short, some 6 numbers: what a compiler puts around its own vector loops
// for overlap and for remainders costs more than such a sum.
#pragma once

namespace mbros_core {

typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));

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

// gap[b] > 0 where balls a and b > a are apart; balls: x, y, z and radius, n numbers each. gap[a] may change.
inline void ball_gaps(const double* balls, int n, int a, double* gap) {
    const double *x = balls, *y = x + n, *z = y + n, *r = z + n;
    for (int i = a + (n - a) % 2; i < n; i += 2) {
        const Two dx = *(const Two*)(x + i) - x[a], dy = *(const Two*)(y + i) - y[a], dz = *(const Two*)(z + i) - z[a];
        const Two reach = *(const Two*)(r + i) + r[a];
        *(Two*)(gap + i) = dx * dx + dy * dy + dz * dz - reach * reach;
    }
}

inline void copy_row(double* to, const double* a, int n) {
    int i = 0;
    for (; i + 2 <= n; i += 2) *(Two*)(to + i) = *(const Two*)(a + i);
    if (i < n) to[i] = a[i];
}

}
