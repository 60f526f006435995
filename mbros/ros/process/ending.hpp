// How a process that is asked to end comes to its end, whatever its threads are doing: a thread that takes the signals and needs neither
// Python nor its lock. An import holds that lock while a library is read from the disk, and rclpy while it closes a node; both may last.
#pragma once
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include "mbros_core/realtime/thread.hpp"
#if defined(__linux__)
#include <dirent.h>
#include <sys/resource.h>
#endif

namespace mbros_ending {

enum { kTick_ms = 100 };

// What the process is doing, for the last sentence. Written by one thread at a time, read at the very end: of two texts the one
// that is not being written is shown.
class Doing {
public:
    static const std::size_t kBytes = 128;
    void say(const char* text) {
        const int next = 1 - shown_.load(std::memory_order_relaxed);
        std::strncpy(texts_[next], text, kBytes - 1);
        shown_.store(next, std::memory_order_release);
    }
    const char* text() const { return texts_[shown_.load(std::memory_order_acquire)]; }

private:
    char texts_[2][kBytes] = {};
    std::atomic<int> shown_{0};
};

// Before all ordinary processes, where that is permitted: what is left is a tenth of a second of work, and on a computer that is far
// too busy the one who asked would wait many seconds for it.
inline void hurry() {
#if defined(__linux__)
    DIR* tasks = opendir("/proc/self/task");
    if (!tasks) return;
    while (const struct dirent* task = readdir(tasks))
        if (const int thread = std::atoi(task->d_name)) setpriority(PRIO_PROCESS, static_cast<id_t>(thread), -15);
    closedir(tasks);
#endif
}

// One for a process, which it outlives: its threads end with the process only.
class Ending {
public:
    Doing doing;

    // NULL without memory. Nothing here needs more than the C library, which Python has loaded already: reading another one first may take
    // the very seconds that this is for.
    static Ending* make() {
        void* memory = std::malloc(sizeof(Ending));
        return memory ? new (memory) Ending : nullptr;
    }

    // signals: blocked in every thread of the process. door: a pipe's end, written to once, when the end is asked for. seconds: how
    // long an orderly end may take. Returns 0 or an errno value.
    int begin(const sigset_t& signals, int door, double seconds) {
        signals_ = signals;
        door_ = door;
        ticks_ = static_cast<long>(seconds * (1000.0 / kTick_ms) + 0.5);
        return start(take_signals);
    }

    // From here on there is something to take down: no signal ends the process at once any more.
    void in_order() {
        int stage = kAtOnce;
        if (!stage_.compare_exchange_strong(stage, kInOrder) && stage == kOver)
            for (;;) pause();
    }

    // What a signal does; also for any other thread. failed: the last resort ends with 1 then.
    void ask(bool failed = false) {
        if (failed) code_.store(1);
        int stage = kAtOnce;
        if (stage_.compare_exchange_strong(stage, kOver)) _exit(0);
        stage = kInOrder;
        if (!stage_.compare_exchange_strong(stage, kAsked)) return;
        start(end_after_ticks);             // without that thread: in order all the same, only with more patience
        hurry();
        while (write(door_, "!", 1) < 0 && errno == EINTR) {}
    }

    bool asked() const { return stage_.load() == kAsked; }

private:
    enum Stage { kAtOnce, kInOrder, kAsked, kOver };

    int start(void* (*body)(void*)) {
        pthread_t thread;
        const int error = mbros_realtime::start_thread(&thread, body, this);
        if (!error) pthread_detach(thread);
        return error;
    }

    static void* take_signals(void* argument) {
        Ending* ending = static_cast<Ending*>(argument);
        mbros_realtime::name_thread("mbros-signals");
        for (;;) {
            int number;
            if (sigwait(&ending->signals_, &number) == 0) ending->ask();
        }
        return nullptr;
    }

    // After so many ticks the process ends. A tick that took longer, because the computer stood still or has no time for us,
    // counts once: for so long nobody in this process could do anything.
    static void* end_after_ticks(void* argument) {
        const Ending* ending = static_cast<Ending*>(argument);
        mbros_realtime::name_thread("mbros-end");
        for (long tick = 0; tick < ending->ticks_; ++tick) {
            struct timespec rest = {0, kTick_ms * 1000000L};
            while (nanosleep(&rest, &rest) && errno == EINTR) {}
        }
        char line[Doing::kBytes + 128];
        const int length = std::snprintf(line, sizeof line, "mbros: ended without leaving in order, %.1f s after it was asked to (it was %s)\n",
                                         1e-3 * kTick_ms * static_cast<double>(ending->ticks_), ending->doing.text());
        struct pollfd error_output = {STDERR_FILENO, POLLOUT, 0};           // a pipe that nobody empties would hold us
        if (length > 0 && poll(&error_output, 1, 0) == 1 && write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) {}
        _exit(ending->code_.load());
    }

    std::atomic<int> stage_{kAtOnce}, code_{0};
    sigset_t signals_;
    int door_ = -1;
    long ticks_ = 0;
};

}  // namespace mbros_ending
