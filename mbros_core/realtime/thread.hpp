// What the loop asks of the operating system: its thread, its priority, its memory, its counters. Every function
// returns 0 or an errno value, which Python turns into a plain sentence (privileges.py). Written for Linux; elsewhere
// the thread and the sleep work and the rest answers ENOTSUP.
#pragma once
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>
#include "atomics.hpp"
#if defined(__linux__)
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace mbros_realtime {

// Sleep until CLOCK_MONOTONIC reads `wake`, however many signals come in between.
inline int sleep_until_timespec(const struct timespec* wake) {
#if defined(__linux__)
    int error;
    do error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, wake, nullptr); while (error == EINTR);
    return error;
#else
    for (;;) {
        struct timespec now, rest;
        clock_gettime(CLOCK_MONOTONIC, &now);
        rest.tv_sec = wake->tv_sec - now.tv_sec;
        rest.tv_nsec = wake->tv_nsec - now.tv_nsec;
        if (rest.tv_nsec < 0) { rest.tv_nsec += 1000000000L; rest.tv_sec -= 1; }
        if (rest.tv_sec < 0 || (rest.tv_sec == 0 && rest.tv_nsec == 0)) return 0;
        nanosleep(&rest, nullptr);
    }
#endif
}

// A moment of CLOCK_MONOTONIC (ns) for pthread_cond_timedwait, whose clock cannot be chosen everywhere.
inline struct timespec on_condition_clock(int64_t ns) {
    struct timespec t;
#if !defined(__linux__)
    struct timespec here, there;
    clock_gettime(CLOCK_MONOTONIC, &here);
    clock_gettime(CLOCK_REALTIME, &there);
    ns += (there.tv_sec - here.tv_sec) * 1000000000L + there.tv_nsec - here.tv_nsec;
#endif
    t.tv_sec = ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

// The stack of one thread, mapped by us so that it can be locked by its addresses: 2 MB above a page that traps. The
// uppermost part, which also holds what the C library keeps for the thread, is locked and touched before the loop begins.
class Stack {
public:
    static const std::size_t kBytes = 2u << 20, kLocked = 512u << 10;
    int make() {
        page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* p = mmap(nullptr, kBytes + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return errno;
        if (mprotect(p, page_, PROT_NONE)) {
            const int error = errno;
            munmap(p, kBytes + page_);
            return error;
        }
        begin_ = static_cast<char*>(p) + page_;
        return 0;
    }
    void free() {
        munmap(begin_ - page_, kBytes + page_);
        begin_ = nullptr;
    }
    void* begin() const { return begin_; }
    const void* locked_part() const { return begin_ + kBytes - kLocked; }
    std::size_t locked_bytes() const { return kLocked; }

private:
    char* begin_ = nullptr;
    std::size_t page_ = 0;
};

// A thread with every signal blocked, so that Ctrl-C and friends reach Python's main thread only. On a stack of its own
// choice without `stack`.
inline int start_thread(pthread_t* thread, void* (*body)(void*), void* argument, const Stack* stack = nullptr) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    if (stack) error = pthread_attr_setstack(&attributes, stack->begin(), Stack::kBytes);
    else error = pthread_attr_setstacksize(&attributes, Stack::kBytes);
    if (!error) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(thread, &attributes, body, argument);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

// Of the calling thread, and by nobody else: from outside, the thread may have ended and its memory be gone. A loop's does it before
// it says begun().
inline void name_thread(const char* name) {
#if defined(__linux__)
    pthread_setname_np(pthread_self(), name);
#else
    (void)name;
#endif
}

inline int use_fifo(int priority) {
    struct sched_param parameters;
    std::memset(&parameters, 0, sizeof parameters);
    parameters.sched_priority = priority;
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
}

inline int use_ordinary() {
    struct sched_param parameters;
    std::memset(&parameters, 0, sizeof parameters);
    return pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters);
}

inline int pin_to_cpu(int cpu) {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
#else
    (void)cpu;
    return ENOTSUP;
#endif
}

// Ordinary threads are woken up to 50 us late on purpose (to save power); ask for none of that. Needs no privilege.
inline void want_sharp_timers() {
#if defined(__linux__)
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

// The thread's own stack, as far as a loop goes down it, is there before the loop begins, locked or not.
__attribute__((noinline)) inline void touch_stack() {
    const std::size_t bytes = Stack::kLocked - (128u << 10);      // the rest may be the C library's
    volatile char* stack = static_cast<volatile char*>(alloca(bytes));
    for (std::size_t i = 0; i < bytes; i += 1024) stack[i] = 1;
}

// Page faults of the calling thread since it began.
inline int page_faults(int64_t* minor, int64_t* major) {
#if defined(RUSAGE_THREAD)
    struct rusage use;
    if (getrusage(RUSAGE_THREAD, &use)) return errno;
    *minor = use.ru_minflt;
    *major = use.ru_majflt;
    return 0;
#else
    *minor = *major = 0;
    return ENOTSUP;
#endif
}

// Counts the calls of malloc, calloc, realloc and aligned_alloc made by the calling thread, whoever makes them (plant,
// ports, the C library): a hardware breakpoint counter on the entry of each, read through perf_event_open. It costs
// nothing while nobody allocates, and needs no preloaded library. operator new arrives here through malloc.
//
// A breakpoint that has just been taken off may be hit once more: in a virtual machine under load two of a hundred processes were
// seen to end so. The kernel then knows no counter to which the hit belongs and sends SIGTRAP. It is forgiven here, and counting is
// for proofs and benchmarks: nobody counts unless asked to.
struct AllocationCounter {
    int descriptors[4];
    int opened;
};

inline void close_counter(AllocationCounter* counter) {
    for (int i = 0; i < counter->opened; ++i) close(counter->descriptors[i]);
    counter->opened = 0;
}

#if defined(__linux__)
inline void on_stray_breakpoint(int number, siginfo_t* info, void*) {
    if (info->si_code == TRAP_HWBKPT) return;
    signal(number, SIG_DFL);            // somebody else's: as it would have been
    raise(number);
}

inline void forgive_stray_breakpoints() {
    struct sigaction present;
    if (sigaction(SIGTRAP, nullptr, &present) != 0 || (present.sa_flags & SA_SIGINFO) || present.sa_handler != SIG_DFL) return;
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = on_stray_breakpoint;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGTRAP, &action, nullptr);
}
#endif

inline int open_counter(AllocationCounter* counter) {
    counter->opened = 0;
#if defined(__linux__)
    forgive_stray_breakpoints();
    static const char* const names[4] = {"malloc", "calloc", "realloc", "aligned_alloc"};
    for (int i = 0; i < 4; ++i) {
        struct perf_event_attr attributes;
        std::memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_BREAKPOINT;
        attributes.bp_type = HW_BREAKPOINT_X;
        attributes.bp_addr = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, names[i]));
#if defined(__x86_64__)
        attributes.bp_len = sizeof(long);      // what x86 demands of a breakpoint on an instruction
#else
        attributes.bp_len = HW_BREAKPOINT_LEN_4;
#endif
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (descriptor < 0) {
            const int error = errno;
            close_counter(counter);
            return error;
        }
        counter->descriptors[counter->opened++] = static_cast<int>(descriptor);
    }
    return 0;
#else
    return ENOTSUP;
#endif
}

inline int64_t read_counter(const AllocationCounter* counter) {
    int64_t sum = 0;
    for (int i = 0; i < counter->opened; ++i) {
        uint64_t calls = 0;
        if (read(counter->descriptors[i], &calls, sizeof calls) == sizeof calls) sum += static_cast<int64_t>(calls);
    }
    return sum;
}

}
