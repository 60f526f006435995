// Two threads against each other: no letter and no record may ever be seen half written, out of order or twice.
// Arguments: letters to post, doubles per letter. Ends with 0, or with the number of the check that failed.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include "ring.hpp"

using namespace mbros_realtime;

static bool whole(const Letter* h, const double* x, int size) {
    for (int i = 0; i < size; ++i)
        if (x[i] != static_cast<double>(h->step) + i) return false;
    return h->wall_ns == static_cast<int64_t>(h->step) * 3 && h->time == static_cast<double>(h->step);
}

static void fill(Letter* h, double* x, int size, uint64_t k) {
    h->step = k;
    h->wall_ns = static_cast<int64_t>(k) * 3;
    h->time = static_cast<double>(k);
    for (int i = 0; i < size; ++i) x[i] = static_cast<double>(k) + i;
}

static int mailbox(uint64_t letters, int size) {
    Mailbox box(size);
    if (box.take()) return 1;
    std::thread writer([&] {
        for (uint64_t k = 1; k <= letters; ++k) {
            fill(box.header(), box.values(), size, k);
            if (box.post() != k) std::exit(2);
        }
    });
    uint64_t last = 0, taken = 0;
    int failed = 0;
    while (last < letters && !failed) {
        if (!box.take()) {
            std::this_thread::yield();
            continue;
        }
        ++taken;
        if (!whole(box.taken(), box.taken_values(), size)) failed = 3;
        if (box.taken()->step <= last || box.taken()->number != box.taken()->step) failed = 4;
        last = box.taken()->step;
    }
    writer.join();
    if (!failed && box.take()) failed = 5;
    std::printf("mailbox: %llu posted, %llu taken\n", static_cast<unsigned long long>(letters),
                static_cast<unsigned long long>(taken));
    return failed;
}

static int ring(uint64_t records, int size) {
    Ring queue(size, 50);
    if (queue.capacity() != 64) return 6;
    std::thread writer([&] {
        for (uint64_t k = 1; k <= records; ++k) {
            if (!queue.claim()) {
                std::this_thread::yield();
                continue;
            }
            fill(queue.header(), queue.values(), size, k);
            queue.commit();
        }
        while (!queue.claim()) std::this_thread::yield();
        fill(queue.header(), queue.values(), size, records + 1);
        queue.commit();
    });
    uint64_t last = 0, taken = 0;
    int failed = 0;
    while (last <= records && !failed) {
        if (queue.waiting() == 0) {
            std::this_thread::yield();
            continue;
        }
        if (!whole(queue.oldest(), queue.oldest_values(), size)) failed = 7;
        if (queue.oldest()->step <= last) failed = 8;
        last = queue.oldest()->step;
        queue.release();
        ++taken;
    }
    if (failed) std::exit(failed);
    writer.join();
    std::printf("ring: %llu taken, %lld refused\n", static_cast<unsigned long long>(taken),
                static_cast<long long>(queue.dropped()));
    return taken + static_cast<uint64_t>(queue.dropped()) >= records + 1 ? 0 : 9;
}

int main(int, char** arguments) {
    const uint64_t letters = std::strtoull(arguments[1], nullptr, 10);
    const int size = std::atoi(arguments[2]);
    const int failed = mailbox(letters, size);
    return failed ? failed : ring(letters, size);
}
