// The pages that the loops of this process have locked. Loops share pages (the C library, the middleware), so a page is
// unlocked with the last loop that asked for it; and not at all when somebody else had locked it before, since the kernel
// does not count.
#pragma once
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <list>
#include <vector>

namespace mbros_realtime {

struct Range {
    uintptr_t begin, end;
    bool operator<(const Range& other) const { return begin < other.begin; }
};
typedef std::vector<Range> Ranges;

// Whole pages, in order, without overlap.
inline Ranges whole_pages(Ranges ranges) {
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    for (Range& r : ranges) {
        r.begin = r.begin / page * page;
        r.end = (r.end + page - 1) / page * page;
    }
    std::sort(ranges.begin(), ranges.end());
    Ranges merged;
    for (const Range& r : ranges) {
        if (r.begin >= r.end) continue;
        if (!merged.empty() && r.begin <= merged.back().end) merged.back().end = std::max(merged.back().end, r.end);
        else merged.push_back(r);
    }
    return merged;
}

inline int64_t total_bytes(const Ranges& ranges) {
    int64_t sum = 0;
    for (const Range& r : ranges) sum += static_cast<int64_t>(r.end - r.begin);
    return sum;
}

// What of `a` is not in `b`; both as whole_pages() makes them.
inline Ranges difference(const Ranges& a, const Ranges& b) {
    Ranges rest;
    for (Range r : a) {
        for (const Range& taken : b) {
            if (taken.end <= r.begin || taken.begin >= r.end) continue;
            if (taken.begin > r.begin) rest.push_back(Range{r.begin, taken.begin});
            r.begin = std::min(taken.end, r.end);
        }
        if (r.begin < r.end) rest.push_back(r);
    }
    return rest;
}

class PageLocks {
public:
    static PageLocks& of_this_process() {
        static PageLocks* locks = new PageLocks;        // a loop that hangs may outlive everything else
        return *locks;
    }

    // Bring in and lock all of these pages, or none: 0, or an errno value. What was locked is for unlock().
    int lock(const Ranges& pages) {
        Locked locked(this);
        begin_anew_in_a_fork();
        if (held_.empty()) others_ = locked_now();
        for (std::size_t i = 0; i < pages.size(); ++i) {
            if (mlock(reinterpret_cast<void*>(pages[i].begin), pages[i].end - pages[i].begin) == 0) continue;
            const int error = errno;
            unlock_what_is_not_held(Ranges(pages.begin(), pages.begin() + i + 1));
            return error;
        }
        held_.push_back(pages);
        return 0;
    }
    void unlock(const Ranges& pages) {
        Locked locked(this);
        begin_anew_in_a_fork();
        for (std::list<Ranges>::iterator i = held_.begin(); i != held_.end(); ++i)
            if (same(*i, pages)) {
                held_.erase(i);
                unlock_what_is_not_held(pages);
                return;
            }
    }

private:
    struct Locked {
        explicit Locked(PageLocks* of) : of(of) { pthread_mutex_lock(&of->lock_); }
        ~Locked() { pthread_mutex_unlock(&of->lock_); }
        PageLocks* of;
    };
    PageLocks() { pthread_mutex_init(&lock_, nullptr); }

    void unlock_what_is_not_held(const Ranges& pages) {
        Ranges rest = difference(pages, others_);
        for (const Ranges& held : held_) rest = difference(rest, held);
        for (const Range& r : rest) munlock(reinterpret_cast<void*>(r.begin), r.end - r.begin);
    }
    // A fork inherits no locks.
    void begin_anew_in_a_fork() {
        if (process_ != getpid()) held_.clear();
        process_ = getpid();
    }
    static bool same(const Ranges& a, const Ranges& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const Range& x, const Range& y) {
            return x.begin == y.begin && x.end == y.end; });
    }
    // What is locked in this process, by whomever.
    static Ranges locked_now() {
        Ranges locked;
        if (number_in("/proc/self/status", "VmLck: %lu") == 0) return locked;
        FILE* maps = std::fopen("/proc/self/smaps", "r");
        if (!maps) return locked;
        char line[4400];
        Range mapping = {0, 0};
        while (std::fgets(line, sizeof line, maps)) {
            unsigned long begin, end;
            if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2) mapping = Range{begin, end};
            if (!std::strncmp(line, "VmFlags:", 8) && std::strstr(line, " lo")) locked.push_back(mapping);
        }
        std::fclose(maps);
        return whole_pages(locked);
    }
    static unsigned long number_in(const char* path, const char* pattern) {
        unsigned long number = 0;
        char line[256];
        if (FILE* file = std::fopen(path, "r")) {
            while (std::fgets(line, sizeof line, file) && std::sscanf(line, pattern, &number) != 1) {}
            std::fclose(file);
        }
        return number;
    }

    pthread_mutex_t lock_;
    std::list<Ranges> held_;
    pid_t process_ = getpid();
    Ranges others_;             // locked before the first of held_
};

}
