// Loads and stores of words that two threads share. A value written with `store` makes everything written before it
// visible to whoever reads it with `load` (release / acquire). `bump` is for counters with a single writer.
#pragma once
#include <cstdint>

namespace mbros_realtime {

inline int64_t load(const int64_t* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
inline void store(int64_t* p, int64_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
inline void bump(int64_t* p, int64_t by) {
    __atomic_store_n(p, __atomic_load_n(p, __ATOMIC_RELAXED) + by, __ATOMIC_RELEASE);
}

}
