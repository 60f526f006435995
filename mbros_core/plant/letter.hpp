// A letter of numbers from any thread to the one that steps, taken between two steps. Whoever steps never waits: a letter that is just
// being written is taken in the next step. One thread writes at a time (the interpreter lock sees to that).
#pragma once
#include <cstdint>

namespace mbros_letter {

enum { EMPTY = 0, FULL = 1, BUSY = 2 };         // busy: being written, or being taken

inline bool seize(int64_t* word, int64_t from) {
    return __atomic_compare_exchange_n(word, &from, static_cast<int64_t>(BUSY), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// Whether there is one to take; then `done` has to follow.
inline bool take(int64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED) == FULL && seize(word, FULL); }

// Waits for the few nanoseconds that a taking lasts; then `send` has to follow.
inline void begin(int64_t* word) {
    while (!seize(word, EMPTY) && !seize(word, FULL)) {}
}

inline void done(int64_t* word) { __atomic_store_n(word, static_cast<int64_t>(EMPTY), __ATOMIC_RELEASE); }
inline void send(int64_t* word) { __atomic_store_n(word, static_cast<int64_t>(FULL), __ATOMIC_RELEASE); }

}
