// The end of a process that does not come to its end: a thread that needs neither Python nor its lock, which a library may hold
// for as long as it waits for something.
#pragma once
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstring>
#include "thread.hpp"

namespace mbros_realtime {

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

inline Doing& doing() {
    static Doing it;
    return it;
}

enum { kTick_ms = 100 };

// After so many ticks the process ends with 0. A tick that took longer, because the computer stood still or has no time for us,
// counts once: for so long nobody in this process could do anything.
inline void* end_after_ticks(void* argument) {
    const long ticks = reinterpret_cast<long>(argument);
    name_thread("mbros-end");
    for (long tick = 0; tick < ticks; ++tick) {
        struct timespec rest = {0, kTick_ms * 1000000L};
        while (nanosleep(&rest, &rest) && errno == EINTR) {}
    }
    char line[Doing::kBytes + 128];
    const int length = std::snprintf(line, sizeof line, "mbros: ended without leaving in order, %.1f s after it was asked to (it was %s)\n",
                                     1e-3 * kTick_ms * static_cast<double>(ticks), doing().text());
    struct pollfd error_output = {STDERR_FILENO, POLLOUT, 0};           // a pipe that nobody empties would hold us
    if (length > 0 && poll(&error_output, 1, 0) == 1 && write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) {}
    _exit(0);
}

inline int end_process_after(double seconds) {
    pthread_t thread;
    const long ticks = static_cast<long>(seconds * (1000.0 / kTick_ms) + 0.5);
    const int error = start_thread(&thread, end_after_ticks, reinterpret_cast<void*>(ticks));
    if (!error) pthread_detach(thread);
    return error;
}

}  // namespace mbros_realtime
