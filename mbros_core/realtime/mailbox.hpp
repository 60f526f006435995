// The newest value, from one writing thread to one reading thread, without waiting on either side.
//
// Three buffers: the writer owns one, the reader owns one, the third lies in between with a mark saying whether
// it holds something unread. Posting and taking are each one atomic exchange, so neither side can ever be kept
// waiting, and since a buffer has one owner at any time a value can never be read half written.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace mbros_realtime {

// What stands above the numbers of one letter. `number` counts the letters posted to this box, from 1.
struct Letter {
    uint64_t number;
    uint64_t step;           // steps since the last reset
    double time;             // simulated seconds since the last reset
    int64_t wall_ns;         // CLOCK_REALTIME at the slot of the step
    int64_t command_age_ns;  // age of the command in force, -1: none
    uint32_t flags;
    uint32_t parameters;     // parameter blocks applied so far
};

class Mailbox {
public:
    explicit Mailbox(int size) : size_(size), stride_(stride(size)), middle_(1), back_(0), posted_(0), front_(2) {
        void* memory = nullptr;
        if (posix_memalign(&memory, kLine, 3 * stride_)) throw std::bad_alloc();
        memory_ = static_cast<char*>(memory);
        std::memset(memory_, 0, 3 * stride_);      // touches every page
    }
    ~Mailbox() { std::free(memory_); }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    // --- the writer's side: fill header() and values(), then post()
    Letter* header() { return letter(back_); }
    double* values() { return numbers(back_); }
    uint64_t post() {
        letter(back_)->number = ++posted_;
        back_ = middle_.exchange(back_ | kFresh, std::memory_order_acq_rel) & kIndex;
        return posted_;
    }
    uint64_t posted() const { return posted_; }

    // --- the reader's side: true when something new has come; what was taken stays readable until the next take()
    bool take() {
        if (!(middle_.load(std::memory_order_relaxed) & kFresh)) return false;
        front_ = middle_.exchange(front_, std::memory_order_acq_rel) & kIndex;
        return true;
    }
    const Letter* taken() const { return letter(front_); }
    const double* taken_values() const { return numbers(front_); }
    int size() const { return size_; }

    const void* memory() const { return memory_; }
    std::size_t bytes() const { return 3 * stride_; }

private:
    static const std::size_t kLine = 64;
    static const uint32_t kFresh = 4, kIndex = 3;
    static std::size_t stride(int size) {
        return (kLine + static_cast<std::size_t>(size) * sizeof(double) + kLine - 1) / kLine * kLine;
    }
    Letter* letter(uint32_t i) const { return reinterpret_cast<Letter*>(memory_ + i * stride_); }
    double* numbers(uint32_t i) const { return reinterpret_cast<double*>(memory_ + i * stride_ + kLine); }

    int size_;
    std::size_t stride_;
    char* memory_;
    alignas(kLine) std::atomic<uint32_t> middle_;
    alignas(kLine) uint32_t back_;      // the writer's, like the next
    uint64_t posted_;
    alignas(kLine) uint32_t front_;     // the reader's
};

static_assert(sizeof(Letter) <= 64, "a letter's header is one cache line");

}
