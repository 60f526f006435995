/* Clients of shared memory in C, for test_shared_memory_processes.py and test_shared_memory_lockstep.py.
 *   shared control NAME STEPS     answers states with -20 q - 2 v until STEPS; prints the last q
 *   shared exchange COUNT         two processes write numbered, summed letters to each other as fast as they can, until each has read
 *                                 COUNT; the exit code is 0 where none was torn
 */
#include "mbros_client.h"
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { SIZE = 45 };

static int control(const char* name, uint64_t steps) {
    mbros_client arm;
    double tau[7];
    int k, answer;
    if ((answer = mbros_open(&arm, name)) != MBROS_OK) return fprintf(stderr, "mbros_open: %d\n", answer), 2;
    while (arm.state.step < steps) {
        const double* x = mbros_values(&arm);
        if ((answer = mbros_wait(&arm, 10 * (int64_t)1000000000)) != MBROS_OK) return fprintf(stderr, "mbros_wait: %d\n", answer), 3;
        for (k = 0; k < 7; ++k) tau[k] = -20.0 * x[k] - 2.0 * x[7 + k];
        if ((answer = mbros_command(&arm, tau, arm.state.number)) != MBROS_OK) return fprintf(stderr, "mbros_command: %d\n", answer), 4;
    }
    for (k = 0; k < 7; ++k) printf("%.17g\n", mbros_values(&arm)[k]);
    mbros_close(&arm);
    return 0;
}

/* Numbers whose last one is a sum of the bits of all others and of the number of the letter. */
static uint64_t sum_of(const double* x, uint64_t number) {
    uint64_t sum = number * 0x9e3779b97f4a7c15u, word;
    int k;
    for (k = 0; k < SIZE - 1; ++k) {
        memcpy(&word, x + k, 8);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

static void fill(double* x, uint64_t number) {
    uint64_t sum;
    int k;
    for (k = 0; k < SIZE - 1; ++k) x[k] = (double)(number * 31 + (uint64_t)k) * 0.1;
    sum = sum_of(x, number);
    memcpy(x + SIZE - 1, &sum, 8);
}

static int is_whole(const double* x, uint64_t number) {
    uint64_t sum;
    memcpy(&sum, x + SIZE - 1, 8);
    return sum == sum_of(x, number);
}

/* One of two processes: writes letters to `mine` and reads what stands in `theirs`, until both have read so many. */
static int side(char* mine, uint64_t* my_newest, char* theirs, const uint64_t* their_newest, uint64_t count, uint64_t* read,
                const uint64_t* other_read) {
    double x[SIZE], y[SIZE];
    mbros_slot head, seen;
    uint64_t last = 0, torn = 0;
    memset(&head, 0, sizeof head);
    while (*read < count || __atomic_load_n(other_read, __ATOMIC_RELAXED) < count) {
        fill(x, ++head.number);
        mbros_write_slot(mine, SIZE, my_newest, &head, x);
        if (mbros_read_slot(theirs, SIZE, their_newest, &seen, y) && seen.number != last) {
            torn += !is_whole(y, seen.number) || seen.number < last;
            last = seen.number;
            __atomic_store_n(read, *read + 1, __ATOMIC_RELAXED);
        }
    }
    return torn != 0;
}

static int exchange(uint64_t count) {
    const size_t ring = MBROS_SLOTS * mbros_slot_bytes(SIZE);
    char* shared = (char*)mmap(NULL, 2 * ring + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t* words = (uint64_t*)(shared + 2 * ring);
    int status = 1, torn;
    pid_t child = fork();
    if (child == 0) _exit(side(shared, words, shared + ring, words + 16, count, words + 32, words + 48));
    torn = side(shared + ring, words + 16, shared, words, count, words + 48, words + 32);
    waitpid(child, &status, 0);
    printf("%" PRIu64 " and %" PRIu64 " were read\n", words[32], words[48]);
    return torn || status != 0;
}

int main(int argc, char** argv) {
    if (argc == 4 && strcmp(argv[1], "control") == 0) return control(argv[2], strtoull(argv[3], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "exchange") == 0) return exchange(strtoull(argv[2], NULL, 10));
    return 1;
}
