// Who works on a piece of memory now, in one word beside it: 0 nobody, p a real-time loop of process p, -p a call of
// process p that has given up the interpreter lock. Whoever would touch the memory looks at the word first; whoever
// works on it without the interpreter lock takes the word and gives it back.
#pragma once
#include <unistd.h>
#include <cstdint>

namespace mbros_core {

inline int64_t by_a_loop() { return getpid(); }
inline int64_t by_a_call() { return -static_cast<int64_t>(getpid()); }

// Take the word for `who`; false while somebody has it. What a fork has copied is nobody's: that thread is not here.
inline bool seize(int64_t* word, int64_t who) {
    int64_t found = 0;
    if (__atomic_compare_exchange_n(word, &found, who, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
    if (found == who || found == -who) return false;
    return __atomic_compare_exchange_n(word, &found, who, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

inline void let_go(int64_t* word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

// One load: 0 is certain; anything else is for holder() to judge.
inline int64_t is_held(const int64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

// Who has it in this process: 0, by_a_loop() or by_a_call().
inline int64_t holder(const int64_t* word) {
    const int64_t found = is_held(word);
    return found && (found == by_a_loop() || found == by_a_call()) ? found : 0;
}

}
