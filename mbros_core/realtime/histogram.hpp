// A histogram of durations in nanoseconds: 16 bins per octave (6 % wide), from 1 ns to 36 minutes, in fixed memory.
// One thread adds; any thread may read at any time without disturbing it.
#pragma once
#include <cstdint>
#include <cstring>
#include "atomics.hpp"

namespace mbros_realtime {

const int kSub = 16, kSubBits = 4, kTopOctave = 40;
const int kBins = (kTopOctave - kSubBits + 2) * kSub;

struct Histogram {
    int64_t counts[kBins];
    int64_t count, sum, largest;
};

// Bin of a duration; negative ones count as 0, those of 2^41 ns and more share the last bin.
inline int bin_of(int64_t ns) {
    if (ns < kSub) return ns < 0 ? 0 : static_cast<int>(ns);
    const int octave = 63 - __builtin_clzll(static_cast<unsigned long long>(ns));
    if (octave > kTopOctave) return kBins - 1;
    return (octave - kSubBits + 1) * kSub + static_cast<int>((ns >> (octave - kSubBits)) & (kSub - 1));
}

// Smallest duration of a bin; the bin ends where the next one starts.
inline int64_t bin_start(int bin) {
    if (bin < kSub) return bin;
    const int octave = bin / kSub + kSubBits - 1;
    return static_cast<int64_t>(kSub + bin % kSub) << (octave - kSubBits);
}

inline void add(Histogram* h, int64_t ns) {
    bump(&h->counts[bin_of(ns)], 1);
    bump(&h->sum, ns > 0 ? ns : 0);
    if (ns > load(&h->largest)) store(&h->largest, ns);
    bump(&h->count, 1);
}

inline void clear(Histogram* h) {
    for (int i = 0; i < kBins; ++i) store(&h->counts[i], 0);
    store(&h->sum, 0);
    store(&h->largest, 0);
    store(&h->count, 0);
}

}
