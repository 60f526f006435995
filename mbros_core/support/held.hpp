// Who works on a piece of memory now, in one word beside it: 0 nobody, p a real-time loop of process p, -p a call of
// process p that has given up the interpreter lock. Whoever would touch the memory looks at the word first; whoever
// works on it without the interpreter lock takes the word and gives it back.
//
// A call that keeps the lock takes no word. While it waits for the code of a joint or force element that a user wrote, and that code comes
// back, the thread knows what it was called for.
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

// One user's code that was asked and has not answered; `for_whom` only says which memory is worked on, and is not looked into. The
// variables are found without a call and without a first use that would allocate: loops come by here, too.
struct Question { const void* for_whom; const Question* before; };
static __thread const void* at_work __attribute__((tls_model("initial-exec")));
static __thread const Question* open_question __attribute__((tls_model("initial-exec")));

static inline void work_on(const void* memory) { at_work = memory; }

static inline void asked(Question* q) {
    *q = {at_work, open_question};
    open_question = q;
}

static inline void answered(const Question* q) {
    at_work = q->for_whom;
    open_question = q->before;
}

// Whether this thread is in code of a user that was asked for this memory.
static inline bool waits(const void* memory) {
    for (const Question* q = open_question; q != nullptr; q = q->before)
        if (q->for_whom == memory) return true;
    return false;
}

}
