// The life of one loop's thread, asked about and changed from any number of threads: who may start it, who joins it, who
// works on the loop's memory while there is none. One owner of all that, so that no caller has to know of another.
//
//     idle  --hold()--> held --release()--> idle       a call works on the loop's memory; there is no thread
//                       held --launch()---> running    there is a thread, and the memory is its own
//     running --the thread says ended()---> ended      it touches nothing any more
//     ended --one of those who wait------> joining --> idle
//
// The lock is held for a few instructions at a time and never while anything else is waited for, so it cannot be part of a
// deadlock. Callers who have Python's interpreter lock give it up before they wait here.
#pragma once
#include "thread.hpp"

namespace mbros_realtime {

class Life {
public:
    // give_back(of): what the thread had beside its own memory. Called by the one that has joined it, before anybody
    // else learns that it has ended.
    Life(void (*give_back)(void*), void* of) : give_back_(give_back), of_(of), process_(getpid()) { make_lock(); }
    ~Life() {
        pthread_cond_destroy(&changed_);
        pthread_mutex_destroy(&lock_);
    }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    // The process whose loop this is. A fork copies the memory but not the thread: a loop that was never started, and
    // that nobody held just then, is the child's from now on; any other stays its parent's.
    int64_t process() {
        if (process_ != getpid() && state_ == kIdle && generation_ == 0) {
            make_lock();
            process_ = getpid();
        }
        return process_;
    }

    // Work on the loop's memory, until release(): 0; EBUSY: a thread runs; ETIMEDOUT: nothing was decided by then.
    int hold(int64_t deadline) {
        Locked locked(this);
        for (;;) {
            if (state_ == kRunning) return EBUSY;
            if (state_ == kEnded) {
                join_it();
            } else if (state_ == kIdle) {
                state_ = kHeld;
                return 0;
            } else if (!wait(deadline)) {
                return ETIMEDOUT;
            }
        }
    }
    void release() {
        Locked locked(this);
        change(kIdle);
    }

    // Of the one that holds: start the thread and wait until it says begun(). 0, or an errno value; it is still held then.
    int launch(void* (*body)(void*), void* argument) {
        int error = stack_.make();
        if (error) return error;
        const int64_t before = generation_;
        error = start_thread(&thread_, body, argument, &stack_);
        if (error) {
            stack_.free();
            return error;
        }
        Locked locked(this);
        while (generation_ == before) pthread_cond_wait(&changed_, &lock_);
        return 0;
    }

    // The thread that runs now, for join(). Waits while one is being started.
    int64_t generation() {
        Locked locked(this);
        return settled();
    }
    // The same, and that thread finds 1 in `word`.
    int64_t tell(int64_t* word) {
        Locked locked(this);
        const int64_t generation = settled();
        if (state_ == kRunning) store(word, 1);
        return generation;
    }
    // Wait until that thread has ended and everything is given back: 0 or ETIMEDOUT. Exactly one of those who wait joins it.
    int join(int64_t generation, int64_t deadline) {
        Locked locked(this);
        while (generation_ == generation && (state_ == kRunning || state_ == kEnded || state_ == kJoining)) {
            if (state_ == kEnded) join_it();
            else if (!wait(deadline)) return ETIMEDOUT;
        }
        return 0;
    }

    // --- what the thread itself says
    void begun() {
        Locked locked(this);
        ++generation_;
        change(kRunning);
    }
    void ended() {
        Locked locked(this);
        change(kEnded);
    }
    const Stack& stack() const { return stack_; }

private:
    enum State { kIdle, kHeld, kRunning, kEnded, kJoining };

    struct Locked {
        explicit Locked(Life* life) : life(life) { pthread_mutex_lock(&life->lock_); }
        ~Locked() { pthread_mutex_unlock(&life->lock_); }
        Life* life;
    };

    void make_lock() {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
#if defined(__linux__)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
        pthread_mutex_init(&lock_, nullptr);
        pthread_cond_init(&changed_, &attributes);
        pthread_condattr_destroy(&attributes);
    }
    void change(State to) {
        state_ = to;
        pthread_cond_broadcast(&changed_);
    }
    bool wait(int64_t deadline) {
        const struct timespec until = on_condition_clock(deadline);
        return pthread_cond_timedwait(&changed_, &lock_, &until) != ETIMEDOUT;
    }
    int64_t settled() {
        while (state_ == kHeld) pthread_cond_wait(&changed_, &lock_);
        return generation_;
    }
    void join_it() {
        state_ = kJoining;
        pthread_mutex_unlock(&lock_);
        pthread_join(thread_, nullptr);
        give_back_(of_);
        stack_.free();
        pthread_mutex_lock(&lock_);
        change(kIdle);
    }

    void (*give_back_)(void*);
    void* of_;
    int64_t process_;
    pthread_mutex_t lock_;
    pthread_cond_t changed_;
    State state_ = kIdle;
    int64_t generation_ = 0;        // threads begun
    pthread_t thread_;
    Stack stack_;
};

}
