// Faults on purpose: what tests/sanitize must hear of before its silence about our own code means anything.
#include <thread>

extern "C" int past_the_end(int n) {
    volatile int *numbers = new int[n];
    const int found = numbers[n];
    delete[] numbers;
    return found;
}

extern "C" int overflow(int n) {
    volatile int large = 0x7fffffff;
    return large + n;
}

extern "C" int race(int n) {
    static int shared = 0;
    std::thread other([n] { for (int i = 0; i < 1000; ++i) shared += n; });
    for (int i = 0; i < 1000; ++i) shared -= n;
    other.join();
    return shared;
}
