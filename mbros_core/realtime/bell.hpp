// Bells: a thread sleeps until somebody rings, or until a moment; no ring between a look and the sleep is lost. A bell is a
// word that counts its rings. Ringing is one system call, without a lock and without an allocation.
#pragma once
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <climits>
#include <cstdint>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

namespace mbros_realtime {

inline uint32_t rings(const uint32_t* bell) { return __atomic_load_n(bell, __ATOMIC_ACQUIRE); }

// What was written before it is visible to who hears it.
inline void ring(uint32_t* bell) {
    __atomic_fetch_add(bell, 1, __ATOMIC_SEQ_CST);
#if defined(__linux__)
    syscall(SYS_futex, bell, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#endif
}

// Who listens, counted before the look after which the sleep follows: either that look sees what was done, or the one who did it
// sees the listener.
inline void count_listener(int64_t* listeners, int64_t by) { __atomic_fetch_add(listeners, by, __ATOMIC_SEQ_CST); }
inline bool somebody_listens(const int64_t* listeners) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(listeners, __ATOMIC_ACQUIRE) != 0;
}

// Sleep until it has rung since it was at `before`, or CLOCK_MONOTONIC reads `until` (ns); signals may end it sooner.
inline void listen(const uint32_t* bell, uint32_t before, int64_t until) {
    struct timespec end;
    end.tv_sec = until / 1000000000;
    end.tv_nsec = until % 1000000000;
#if defined(__linux__)
    syscall(SYS_futex, bell, FUTEX_WAIT_BITSET_PRIVATE, before, &end, nullptr, FUTEX_BITSET_MATCH_ANY);
#else
    for (;;) {
        struct timespec now, nap = {0, 100000};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (rings(bell) != before || now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec)) return;
        nanosleep(&nap, nullptr);
    }
#endif
}

// The same for an answer that is a matter of microseconds: to be woken takes longer than that, so it looks for SPIN_NS before it
// sleeps. The caller's lock of Python is not held, and another core has to be there for whoever answers.
constexpr int64_t SPIN_NS = 50000;
inline void listen_for_answer(const uint32_t* bell, uint32_t before, int64_t until) {
    static const bool others = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t begun = now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t spun = others && begun < until ? 0 : SPIN_NS;
    while (spun < SPIN_NS) {
        for (int k = 0; k < 16; ++k) {
            if (rings(bell) != before) return;
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        spun = now.tv_sec * 1000000000 + now.tv_nsec - begun;
    }
    listen(bell, before, until);
}

}
