// A queue of records from the loop's thread to a reader: fixed memory, no waiting. When it is full the new record is
// dropped and counted; what is already stored is never overwritten, so a log has a visible gap and no torn record.
#pragma once
#include "mailbox.hpp"

namespace mbros_realtime {

class Ring {
public:
    // `size` doubles a record; room for at least `capacity` records.
    Ring(int size, int64_t capacity) : size_(size), capacity_(1), head_(0), dropped_(0), tail_(0) {
        while (capacity_ < static_cast<uint64_t>(capacity)) capacity_ *= 2;
        stride_ = (sizeof(Letter) + static_cast<std::size_t>(size) * sizeof(double) + 63) / 64 * 64;
        void* memory = nullptr;
        if (posix_memalign(&memory, 64, stride_ * capacity_)) throw std::bad_alloc();
        memory_ = static_cast<char*>(memory);
        std::memset(memory_, 0, stride_ * capacity_);
    }
    ~Ring() { std::free(memory_); }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    // --- the writer's side: claim(), fill, commit(). False: no room, the record is dropped.
    bool claim() {
        const uint64_t head = head_.load(std::memory_order_relaxed);
        if (head - tail_.load(std::memory_order_acquire) < capacity_) return true;
        dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return false;
    }
    Letter* header() { return letter(head_.load(std::memory_order_relaxed)); }
    double* values() { return numbers(head_.load(std::memory_order_relaxed)); }
    void commit() { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

    // --- the reader's side: while waiting() records are stored, oldest() is the next one; release() frees it
    int64_t waiting() const {
        return static_cast<int64_t>(head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_relaxed));
    }
    const Letter* oldest() const { return letter(tail_.load(std::memory_order_relaxed)); }
    const double* oldest_values() const { return numbers(tail_.load(std::memory_order_relaxed)); }
    void release() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

    int64_t dropped() const { return static_cast<int64_t>(dropped_.load(std::memory_order_relaxed)); }
    int64_t capacity() const { return static_cast<int64_t>(capacity_); }
    int size() const { return size_; }

    const void* memory() const { return memory_; }
    std::size_t bytes() const { return stride_ * capacity_; }

private:
    Letter* letter(uint64_t i) const { return reinterpret_cast<Letter*>(memory_ + (i & (capacity_ - 1)) * stride_); }
    double* numbers(uint64_t i) const { return reinterpret_cast<double*>(letter(i) + 1); }

    int size_;
    uint64_t capacity_;
    std::size_t stride_;
    char* memory_;
    alignas(64) std::atomic<uint64_t> head_;
    std::atomic<uint64_t> dropped_;
    alignas(64) std::atomic<uint64_t> tail_;
};

}
