/* A client before files and memory that an attacker wrote, for test_shared_memory_hostile.py; compiled with sanitizers.
 *   hostile NAME COUNT SEED       COUNT times the file NAME is damaged somewhere, opened, read, commanded and restored
 *   hostile NAME                  opens once, and prints what came of it
 * It ends with 0 where nothing broke and no call took more than two seconds.
 */
#include "mbros_client.h"

static uint64_t draw(uint64_t* seed, uint64_t below) {                /* xorshift */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

static int visit(const char* name) {
    mbros_client arm;
    double none[64];
    int k, answer = mbros_open(&arm, name);
    if (answer != MBROS_OK) return answer;
    for (k = 0; k < 64; ++k) none[k] = 0.0;
    for (k = 0; k < 4; ++k) {
        if (k % 2 ? mbros_wait(&arm, 2000000) : mbros_read(&arm)) continue;
        if (arm.header.command_size <= 64) mbros_command(&arm, none, arm.state.number);
    }
    if (strlen(arm.description) > (size_t)arm.header.description_bytes) abort();
    mbros_close(&arm);
    return MBROS_OK;
}

/* Something that is written over in the memory behind a simulation, which a client may do as the same user. */
static void scribble(const char* name, uint64_t* seed) {
    mbros_client arm;
    uint64_t k, bytes;
    char* at;
    if (mbros_open(&arm, name) != MBROS_OK) return;
    at = (char*)shmat(arm.header.states_id, NULL, 0);
    bytes = mbros_segment_bytes(arm.header.state_size);
    for (k = 0; k < 8; ++k) at[8 + draw(seed, draw(seed, 2) ? 56 : bytes - 8)] = (char)draw(seed, 256);
    if (draw(seed, 4)) ((mbros_shared_states*)at)->closed = 0;          /* or no client would go on */
    shmdt(at);
    at = (char*)arm.commands;
    bytes = mbros_segment_bytes(arm.header.command_size);
    for (k = 0; k < 8; ++k) at[8 + draw(seed, draw(seed, 2) ? 56 : bytes - 8)] = (char)draw(seed, 256);
    mbros_close(&arm);
}

int main(int argc, char** argv) {
    static char whole[1 << 16], bad[1 << 16];
    char path[160];
    uint64_t seed, k, j, count, opened = 0;
    ssize_t bytes;
    int file;
    if (argc == 2) {
        printf("%s\n", mbros_why(visit(argv[1])));
        return 0;
    }
    if (argc != 4 || mbros_path(path, sizeof path, argv[1]) != MBROS_OK || (file = open(path, O_RDWR)) < 0) return 2;
    count = strtoull(argv[2], NULL, 10);
    seed = strtoull(argv[3], NULL, 10);
    bytes = pread(file, whole, sizeof whole, 0);
    if (bytes < (ssize_t)sizeof(mbros_shared_header)) return 3;
    for (k = 0; k < count; ++k) {
        const int64_t begun = mbros_clock_ns(CLOCK_MONOTONIC);
        size_t left = (size_t)bytes;
        memcpy(bad, whole, left);
        if (k % 3 == 0) scribble(argv[1], &seed);
        else if (k % 10 == 1) left = (size_t)draw(&seed, left);
        else if (k % 10 == 2) left += (size_t)draw(&seed, 5000) % (sizeof bad - left);
        else for (j = 0; j <= draw(&seed, 4); ++j) bad[draw(&seed, sizeof(mbros_shared_header))] = (char)draw(&seed, 256);
        if (pwrite(file, bad, left, 0) != (ssize_t)left || ftruncate(file, (off_t)left) != 0) return 4;
        opened += visit(argv[1]) == MBROS_OK;
        if (mbros_clock_ns(CLOCK_MONOTONIC) - begun > 2000000000) return 5;
        if (pwrite(file, whole, (size_t)bytes, 0) != bytes || ftruncate(file, bytes) != 0) return 6;
    }
    printf("%llu of %llu were opened\n", (unsigned long long)opened, (unsigned long long)count);
    return 0;
}
