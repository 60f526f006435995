// The next draws of many streams at once: Philox4x32-10 of (key, k), as stream.pxd has it of one. The same bits on every processor: whole
// numbers, and doubles that are exact.
#pragma once
#include <cstdint>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace mbros_ahead {

enum { ABREAST = 8 };               // streams of a group

struct Group {
    uint64_t key[2][ABREAST];       // 32 bits each, as the words of k, the number of the draw
    uint64_t k[2][ABREAST];
    uint64_t x[4][ABREAST];         // the block
};

const uint32_t M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;

inline void blocks_plain(Group* g) {
    for (int i = 0; i < ABREAST; i++) {
        uint32_t x0 = g->k[0][i], x1 = g->k[1][i], x2 = 0, x3 = 0, k0 = g->key[0][i], k1 = g->key[1][i];
        for (int r = 0; r < 10; r++, k0 += W0, k1 += W1) {
            const uint64_t a = static_cast<uint64_t>(M0) * x0, b = static_cast<uint64_t>(M1) * x2;
            x0 = static_cast<uint32_t>(b >> 32) ^ x1 ^ k0;
            x1 = static_cast<uint32_t>(b);
            x2 = static_cast<uint32_t>(a >> 32) ^ x3 ^ k1;
            x3 = static_cast<uint32_t>(a);
        }
        g->x[0][i] = x0, g->x[1][i] = x1, g->x[2][i] = x2, g->x[3][i] = x3;
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
// Four streams in a register, two registers beside each other; of each 64 bits the lower half counts, which is what mul_epu32 reads.
__attribute__((target("avx2"))) inline void blocks_avx2(Group* g) {
    enum { W = 4, N = ABREAST / W };
    const __m256i m0 = _mm256_set1_epi64x(M0), m1 = _mm256_set1_epi64x(M1), low = _mm256_set1_epi64x(0xFFFFFFFF);
    __m256i x[4][N], k[2][N], a[N], b[N];
#pragma GCC unroll 2
    for (int j = 0; j < N; j++) {
        x[2][j] = x[3][j] = _mm256_setzero_si256();
#pragma GCC unroll 2
        for (int w = 0; w < 2; w++) {
            x[w][j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(g->k[w]) + j);
            k[w][j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(g->key[w]) + j);
        }
    }
    for (int r = 0; r < 10; r++) {
#pragma GCC unroll 2
        for (int j = 0; j < N; j++) {
            a[j] = _mm256_mul_epu32(m0, x[0][j]), b[j] = _mm256_mul_epu32(m1, x[2][j]);
            x[0][j] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(b[j], 32), x[1][j]), k[0][j]);
            x[1][j] = b[j];
            x[2][j] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a[j], 32), x[3][j]), k[1][j]);
            x[3][j] = a[j];
            k[0][j] = _mm256_add_epi32(k[0][j], _mm256_set1_epi64x(W0)), k[1][j] = _mm256_add_epi32(k[1][j], _mm256_set1_epi64x(W1));
        }
    }
#pragma GCC unroll 2
    for (int j = 0; j < N; j++)
#pragma GCC unroll 4
        for (int w = 0; w < 4; w++) _mm256_storeu_si256(reinterpret_cast<__m256i*>(g->x[w]) + j, _mm256_and_si256(x[w][j], low));
}
#endif

typedef void (*Blocks)(Group*);

inline Blocks widest() {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) return blocks_avx2;
#endif
    return blocks_plain;
}

}
