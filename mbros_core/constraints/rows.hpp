// Sums of rows that do not overlap, two numbers at a time. Runs are short, some 6 numbers: what a compiler puts around its own vector loops
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

inline void copy_row(double* to, const double* a, int n) {
    int i = 0;
    for (; i + 2 <= n; i += 2) *(Two*)(to + i) = *(const Two*)(a + i);
    if (i < n) to[i] = a[i];
}

}
