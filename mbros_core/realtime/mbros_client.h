/* mbros: a controller's door to a simulation on the same machine, without middleware. One file of C99 (gcc, clang), Linux.
 *
 *     mbros_client arm;
 *     if (mbros_open(&arm, "arm7") != 0) return 1;             // `mbros node arm7 --ros-args -p shared_memory:=arm7`
 *     const double* q = mbros_values(&arm);                    // as `arm.header->description` says: {"layout": {"q": [0, 7], ...
 *     while (mbros_wait(&arm, 100 * 1000000) == 0)             // the next state; 100 ms of patience
 *         mbros_command(&arm, my_law(q), arm.state.number);    // efforts, for the next step; which state they answer
 *     mbros_close(&arm);
 *
 * What is shared is one file in /dev/shm, of the user who simulates: a header and the newest states, which only the simulation
 * writes, and the newest commands, which one client at a time writes. Both are rings of numbered slots. A writer never waits;
 * a reader copies the newest slot and looks whether its number is still the same: no lock is held, so a client that is killed at
 * any moment leaves nothing behind that anybody would wait for. Its commands grow old, and the simulation's watchdog acts.
 *
 * Functions return 0, or a negative MBROS_E...; nothing allocates, mbros_read and mbros_command make no system call. mbros_wait sleeps
 * until shortly before the next state is due, and spins for the rest, 0.1 ms at most; arm.spin.longest_ns = 0 has it sleep all
 * the while. A client is of one thread. The simulation uses the same definitions (mbros_core/realtime/_shared.pyx).
 */
#ifndef MBROS_CLIENT_H
#define MBROS_CLIENT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* locks of open files (F_OFD_SETLK), syscall() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if !defined(O_CLOEXEC) || !defined(CLOCK_MONOTONIC)
#error "mbros_client.h: include it before other headers, or compile with -std=gnu99 or -D_GNU_SOURCE: system calls are missing"
#endif
#ifndef F_OFD_SETLK             /* a system header came first, without _GNU_SOURCE: the numbers of Linux, of every architecture */
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#endif
#ifdef __cplusplus
extern "C" {
#elif !defined(__USE_MISC)
long syscall(long number, ...);
#endif

#define MBROS_SHARED_VERSION 1
#define MBROS_SHARED_MAGIC 0x31304d48534f5242ull        /* "BROSHM01" */
#define MBROS_SLOTS 16                                  /* of a ring: a power of two */
#define MBROS_PAGE 4096
#define MBROS_TRIES 4                                   /* looks at a slot that is being written over, before giving up for now */
#define MBROS_SPIN_NS 100000                            /* longest spin, unless another is asked for */
#define MBROS_SELDOM 63                                 /* waits without a spin after a row of spins in vain */
#define MBROS_LATE_NS 20000                             /* so much earlier a client wakes, where a state was there before it */
#define MBROS_EARLY_NS 200                              /* and so much later, where it spun: one in a hundred is there before */
#define MBROS_NAP_NS 100000000                          /* longest sleep without a look whether the simulation lives */

enum {                          /* what functions return */
    MBROS_OK = 0,
    MBROS_EABSENT = -1,         /* there is no simulation of this name, or it has ended */
    MBROS_EFOREIGN = -2,        /* what is there is not of this version */
    MBROS_ETIME = -3,           /* nothing new within the time */
    MBROS_EBUSY = -4,           /* another client commands */
    MBROS_EVALUE = -5,          /* an infinite number; nothing was sent */
    MBROS_ENAME = -6,           /* no name: letters, digits, _ . - , at most 100 */
    MBROS_ESYSTEM = -7          /* the system refused; errno says why */
};

enum {                          /* flags of a state */
    MBROS_IS_PAUSED = 1, MBROS_IS_FAULT = 2, MBROS_IS_STEPPED = 4, MBROS_IS_WATCHDOG = 8, MBROS_IS_RESET = 16, MBROS_IS_REPEATED = 32
};

typedef struct mbros_shared_header {    /* at the beginning of the file; written once, but for the last part */
    uint64_t magic;
    uint32_t version;
    uint32_t ready;             /* 1 when all of it is written */
    uint64_t bytes;             /* of the file */
    int32_t state_size;         /* doubles of a state; the description's `layout` names its parts */
    int32_t command_size;       /* doubles of a command; the description's `command` names its parts */
    int32_t description_bytes;
    int32_t lockstep_n, lockstep_m;     /* a step waits for the answer to the state before it, in n of m steps; 0: it waits for nobody */
    uint64_t description_at, states_at, commands_at;    /* bytes from the beginning */
    double dt;                  /* s, of a step */
    int64_t process;            /* id of the simulation's */
    char pad[40];
    /* as it runs, a cache line of its own */
    uint64_t newest;            /* number of the newest state, from 1 */
    uint32_t bell;              /* counts states; clients sleep on it */
    uint32_t closed;            /* 1: the simulation has ended */
    uint32_t core;              /* on which the simulation ran when it wrote the newest state, from 1; 0: not known */
    char pad2[44];
} mbros_shared_header;

typedef struct mbros_shared_commands {  /* at commands_at; written by clients */
    uint64_t newest;            /* number of the newest command, from 1 */
    uint32_t sleeping;          /* 1: a client sleeps on the bell */
    uint32_t core;              /* on which the client that commands ran when it read the newest state, from 1; 0: not known */
    int64_t process;            /* id of the client that commands */
    char pad[40];
} mbros_shared_commands;

typedef struct mbros_slot {     /* above the numbers of a slot: one cache line */
    uint64_t turn;              /* 2 k + 1 while number k is written, 2 k when it is whole */
    uint64_t number;            /* of this state or command, from 1 */
    uint64_t step;              /* steps since the last reset. Of a command: number of the state that it answers, 0: of none */
    double time;                /* simulated seconds since the last reset */
    int64_t wall_ns;            /* CLOCK_REALTIME at the slot of the step, ns */
    int64_t command_age_ns;     /* age of the command in force, -1: none */
    uint64_t command;           /* number of the newest command that the simulation had taken before this step */
    uint32_t flags;             /* MBROS_IS_... */
    uint32_t taken_ns;          /* from `wall_ns` to the moment at which it looked for commands, ns */
} mbros_slot;

typedef struct mbros_spin {
    int64_t longest_ns;         /* one spin; 0: none */
    int64_t spent_ns;           /* by all of them */
    uint32_t vain, skip;        /* waits without a spin after the last one in vain; of those, still to come */
} mbros_spin;

typedef struct mbros_client {
    const mbros_shared_header* header;
    mbros_shared_commands* commands;
    double* values;             /* of the state that was read last */
    const char* description;    /* JSON text: names, layout, units */
    mbros_slot state;           /* what stands above them */
    int64_t sent;               /* commands */
    int file, commanding;
    mbros_spin spin;            /* of mbros_wait */
    int64_t gap_ns;             /* between the slots of two states, as last seen */
    int64_t lead_ns;            /* how long before the slot of the next state it wakes; below zero: after it */
    uint64_t spun_after;        /* number of the newest state after which it has spun, or decided not to */
} mbros_client;

/* ---- slots: both sides ---- */

static inline uint64_t mbros_slot_bytes(int32_t size) { return (sizeof(mbros_slot) + 8 * (uint64_t)size + 63) / 64 * 64; }

static inline mbros_slot* mbros_slot_of(void* ring, int32_t size, uint64_t number) {
    return (mbros_slot*)((char*)ring + (number & (MBROS_SLOTS - 1)) * mbros_slot_bytes(size));
}

static inline double* mbros_slot_values(mbros_slot* slot) { return (double*)(slot + 1); }

/* Words of a slot are stored and loaded one by one, relaxed: another process may be at them at the same time. */
static inline void mbros_copy_words(void* to, const void* from, uint64_t count) {
    uint64_t k;
    for (k = 0; k < count; ++k)
        __atomic_store_n((uint64_t*)to + k, __atomic_load_n((const uint64_t*)from + k, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* The writer's side: put `head` and `size` numbers into the slot of head->number, which is that of `newest` and one more. */
static inline void mbros_write_slot(void* ring, int32_t size, uint64_t* newest, mbros_slot* head, const double* values) {
    mbros_slot* slot = mbros_slot_of(ring, size, head->number);
    __atomic_store_n(&slot->turn, 2 * head->number + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    mbros_copy_words((uint64_t*)slot + 1, (uint64_t*)head + 1, sizeof(mbros_slot) / 8 - 1);
    mbros_copy_words(slot + 1, values, (uint64_t)size);
    __atomic_store_n(&slot->turn, 2 * head->number, __ATOMIC_RELEASE);
    __atomic_store_n(newest, head->number, __ATOMIC_RELEASE);
}

/* The reader's side: copy the newest. 1: done, 0: there is none yet, or it was written over all the while (look again later). */
static inline int mbros_read_slot(void* ring, int32_t size, const uint64_t* newest, mbros_slot* head, double* values) {
    int tries;
    for (tries = 0; tries < MBROS_TRIES; ++tries) {
        uint64_t number = __atomic_load_n(newest, __ATOMIC_ACQUIRE);
        mbros_slot* slot = mbros_slot_of(ring, size, number);
        if (number == 0) return 0;
        if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != 2 * number) continue;
        mbros_copy_words(head, slot, sizeof(mbros_slot) / 8);
        mbros_copy_words(values, slot + 1, (uint64_t)size);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&slot->turn, __ATOMIC_RELAXED) == 2 * number && head->number == number) return 1;
    }
    return 0;
}

/* What was written before it is there for who sees the word so. */
static inline void mbros_set_word(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

/* Clients that sleep on the bell wake. A client that was killed in its sleep costs one ring. */
static inline void mbros_ring(mbros_shared_header* header, mbros_shared_commands* commands) {
    __atomic_fetch_add(&header->bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&commands->sleeping, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&commands->sleeping, 0, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &header->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

/* ---- spinning: both sides ----
 * Waking a core out of its sleep takes some tens of microseconds. Who expects something of the other side sooner than that looks for it
 * without sleeping: never on the core on which the other side ran last, since there it could not run meanwhile, whatever the priorities;
 * for longest_ns at most; and where it was in vain, not in the next 1, 3, 7 ... 63 waits. */

static inline int64_t mbros_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The core of this thread, from 1; 0: not known. */
static inline uint32_t mbros_this_core(void) {
#ifdef CPU_SETSIZE              /* where sched.h has sched_getcpu(), which is no system call */
    return (uint32_t)(sched_getcpu() + 1);
#else
    unsigned core;
    return syscall(SYS_getcpu, &core, NULL, NULL) == 0 ? core + 1 : 0;
#endif
}

static inline int mbros_apart(const uint32_t* other) {
    uint32_t there = __atomic_load_n(other, __ATOMIC_RELAXED), here = mbros_this_core();
    return there != 0 && here != 0 && there != here;
}

/* May the coming wait spin? Asked once in each. */
static inline int mbros_may_spin(mbros_spin* spin, const uint32_t* other) {
    if (spin->longest_ns <= 0 || !mbros_apart(other)) return 0;
    if (spin->skip == 0) return 1;
    --spin->skip;
    return 0;
}

/* Spin until `count` is above `seen` (1), or for `longest` ns, or where both sides are on one core (0). */
static inline int mbros_spin_until(mbros_spin* spin, const uint64_t* count, uint64_t seen, int64_t longest, const uint32_t* other) {
    const int64_t begun = mbros_clock_ns(CLOCK_MONOTONIC);
    int64_t spent = 0;
    int found = 0, k;
    while (!found && spent < longest && mbros_apart(other)) {
        for (k = 0; k < 16 && !found; ++k) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ __volatile__("yield");
#endif
            found = __atomic_load_n(count, __ATOMIC_ACQUIRE) > seen;
        }
        spent = mbros_clock_ns(CLOCK_MONOTONIC) - begun;
    }
    __atomic_store_n(&spin->spent_ns, spin->spent_ns + spent, __ATOMIC_RELAXED);
    if (found) spin->vain = 0;
    else if (spent >= longest) spin->vain = spin->vain < MBROS_SELDOM ? 2 * spin->vain + 1 : MBROS_SELDOM;
    spin->skip = spin->vain;
    return found;
}

/* ---- the file ---- */

/* Bytes of the file that are locked: by the simulation as long as it lives, and by the client that commands. The system lets go of
 * them when a process ends, however it ends. */
enum { MBROS_LOCK_SIMULATION = 0, MBROS_LOCK_COMMANDS = 1 };

static inline int mbros_lock_call(int file, int byte, int type, int request, struct flock* lock) {
    memset(lock, 0, sizeof *lock);
    lock->l_type = (short)type;
    lock->l_whence = SEEK_SET;
    lock->l_start = byte;
    lock->l_len = 1;
    return fcntl(file, request, lock);
}

static inline int mbros_lock(int file, int byte) {
    struct flock lock;
    return mbros_lock_call(file, byte, F_WRLCK, F_OFD_SETLK, &lock) == 0;
}

static inline int mbros_locked(int file, int byte) {         /* by another open file than this one */
    struct flock lock;
    return mbros_lock_call(file, byte, F_WRLCK, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static inline int mbros_path(char* path, size_t room, const char* name) {
    size_t k, n = name == NULL ? 0 : strlen(name);
    for (k = 0; k < n; ++k)
        if (!((name[k] >= 'a' && name[k] <= 'z') || (name[k] >= 'A' && name[k] <= 'Z') || (name[k] >= '0' && name[k] <= '9') ||
              name[k] == '_' || name[k] == '-' || (name[k] == '.' && k > 0)))
            return MBROS_ENAME;
    if (n == 0 || n > 100) return MBROS_ENAME;
    return snprintf(path, room, "/dev/shm/mbros-%ld-%s", (long)getuid(), name) < (int)room ? MBROS_OK : MBROS_ENAME;
}

/* Does what a header says fit into the file? Nothing else of it is trusted. */
static inline int mbros_sound(const mbros_shared_header* h, uint64_t bytes) {
    uint64_t states, commands;
    if (bytes < MBROS_PAGE || __atomic_load_n(&h->ready, __ATOMIC_ACQUIRE) != 1 || h->magic != MBROS_SHARED_MAGIC ||
        h->version != MBROS_SHARED_VERSION || h->bytes != bytes || h->state_size < 0 || h->command_size < 0 ||
        h->state_size > (1 << 24) || h->command_size > (1 << 24) || h->description_bytes < 0)
        return 0;
    states = MBROS_SLOTS * mbros_slot_bytes(h->state_size);
    commands = sizeof(mbros_shared_commands) + MBROS_SLOTS * mbros_slot_bytes(h->command_size);
    return h->states_at % 64 == 0 && h->commands_at % MBROS_PAGE == 0 && h->description_at <= bytes && h->states_at <= bytes &&
           h->commands_at <= bytes && (uint64_t)h->description_bytes < bytes - h->description_at && states <= bytes - h->states_at &&
           h->states_at + states <= h->commands_at && commands <= bytes - h->commands_at &&
           ((const char*)h)[h->description_at + (uint64_t)h->description_bytes] == 0;
}

/* ---- clients ---- */

static inline void mbros_close(mbros_client* client) {
    if (client->header != NULL) {
        uint64_t bytes = client->header->bytes, at = client->header->commands_at;
        munmap(client->commands, bytes - at);
        munmap((void*)(uintptr_t)client->header, at);
    }
    if (client->file >= 0) close(client->file);
    free(client->values);
    memset(client, 0, sizeof *client);
    client->file = -1;
}

static inline int mbros_give_up(mbros_client* client, int why) {
    int error = errno;
    mbros_close(client);
    errno = error;
    return why;
}

/* Come to the simulation of this name. What was read is zero until mbros_read. */
static inline int mbros_open(mbros_client* client, const char* name) {
    char path[160];
    struct stat about;
    mbros_shared_header first;
    memset(client, 0, sizeof *client);
    client->file = -1;
    if (mbros_path(path, sizeof path, name) != MBROS_OK) return MBROS_ENAME;
    client->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (client->file < 0) return errno == ENOENT ? MBROS_EABSENT : MBROS_ESYSTEM;
    if (fstat(client->file, &about) != 0) return mbros_give_up(client, MBROS_ESYSTEM);
    if (!mbros_locked(client->file, MBROS_LOCK_SIMULATION)) return mbros_give_up(client, MBROS_EABSENT);
    if (pread(client->file, &first, sizeof first, 0) != (ssize_t)sizeof first || first.ready == 0)
        return mbros_give_up(client, MBROS_EABSENT);         /* it is still being made */
    if (first.bytes != (uint64_t)about.st_size || first.commands_at >= first.bytes || first.commands_at % MBROS_PAGE != 0 ||
        first.commands_at == 0)
        return mbros_give_up(client, MBROS_EFOREIGN);
    {
        void* states = mmap(NULL, first.commands_at, PROT_READ, MAP_SHARED, client->file, 0);
        void* commands = mmap(NULL, first.bytes - first.commands_at, PROT_READ | PROT_WRITE, MAP_SHARED, client->file,
                              (off_t)first.commands_at);
        if (states != MAP_FAILED && commands != MAP_FAILED) {
            client->header = (const mbros_shared_header*)states;
            client->commands = (mbros_shared_commands*)commands;
        } else {
            if (states != MAP_FAILED) munmap(states, first.commands_at);
            if (commands != MAP_FAILED) munmap(commands, first.bytes - first.commands_at);
            return mbros_give_up(client, MBROS_ESYSTEM);
        }
    }
    if (!mbros_sound(client->header, first.bytes) || client->header->commands_at != first.commands_at)
        return mbros_give_up(client, MBROS_EFOREIGN);
    client->description = (const char*)client->header + client->header->description_at;
    client->spin.longest_ns = MBROS_SPIN_NS;
    client->values = (double*)calloc((size_t)client->header->state_size + 1, sizeof(double));
    return client->values == NULL ? mbros_give_up(client, MBROS_ESYSTEM) : MBROS_OK;
}

static inline const double* mbros_values(const mbros_client* client) { return client->values; }

/* Read the newest state into client->state and mbros_values(client). MBROS_ETIME: there is none yet. */
static inline int mbros_read(mbros_client* client) {
    const mbros_shared_header* h = client->header;
    mbros_slot head;
    /* a state that is written over while it is read is looked at again: with 16 slots, once in a blue moon */
    for (;;) {
        if (mbros_read_slot((char*)(uintptr_t)h + h->states_at, h->state_size, &h->newest, &head, client->values)) {
            client->gap_ns = client->state.number > 0 && head.number > client->state.number
                ? (head.wall_ns - client->state.wall_ns) / (int64_t)(head.number - client->state.number) : client->gap_ns;
            client->state = head;
            return MBROS_OK;
        }
        if (__atomic_load_n(&h->newest, __ATOMIC_ACQUIRE) == 0)
            return __atomic_load_n(&h->closed, __ATOMIC_ACQUIRE) ? MBROS_EABSENT : MBROS_ETIME;
    }
}

/* Where the next state comes a slot after the last one: ns from now until a spin for it shall begin. INT64_MAX: no spin. */
static inline int64_t mbros_spin_in(mbros_client* client) {
    if (client->spun_after == client->state.number || client->gap_ns <= 0 || !mbros_may_spin(&client->spin, &client->header->core)) {
        client->spun_after = client->state.number;
        return INT64_MAX;
    }
    return client->state.wall_ns + client->gap_ns - client->lead_ns - mbros_clock_ns(CLOCK_REALTIME);
}

/* The lead follows what came of it. Where a state is there before the client wakes, it is rung, as without spins. */
static inline void mbros_shift_lead(mbros_client* client, int64_t by) {
    int64_t lead = client->lead_ns + by;
    if (lead > client->spin.longest_ns) lead = client->spin.longest_ns;
    client->lead_ns = lead < -client->gap_ns ? -client->gap_ns : lead;
}

static inline int mbros_arrived(mbros_client* client) {
    if (client->commanding) __atomic_store_n(&client->commands->core, mbros_this_core(), __ATOMIC_RELAXED);
    return mbros_read(client);
}

/* Sleep until there is a state that is newer than the one read last, for `patience` ns at most (INT64_MAX: for good), and read it; the
 * last client->spin.longest_ns without sleep. MBROS_EABSENT: the simulation has ended, or was killed (noticed every 100 ms). */
static inline int mbros_wait(mbros_client* client, int64_t patience) {
    const mbros_shared_header* h = client->header;
    const int64_t now = mbros_clock_ns(CLOCK_MONOTONIC), end = patience < INT64_MAX - now ? now + patience : INT64_MAX;
    int64_t spin_in = mbros_spin_in(client);
    int early = 0;              /* it sleeps until a spin */
    for (;;) {
        struct timespec nap;
        int64_t left;
        uint32_t bell = __atomic_load_n(&h->bell, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&h->newest, __ATOMIC_ACQUIRE) > client->state.number) {
            if (early) mbros_shift_lead(client, MBROS_LATE_NS);
            return mbros_arrived(client);
        }
        if (__atomic_load_n(&h->closed, __ATOMIC_ACQUIRE)) return MBROS_EABSENT;
        left = end - mbros_clock_ns(CLOCK_MONOTONIC);
        if (left <= 0) return mbros_locked(client->file, MBROS_LOCK_SIMULATION) ? MBROS_ETIME : MBROS_EABSENT;
        if (spin_in <= client->spin.longest_ns / 2) {
            int found = mbros_spin_until(&client->spin, &h->newest, client->state.number,
                                         left < client->spin.longest_ns ? left : client->spin.longest_ns, &h->core);
            if (!found && client->spin.vain) mbros_shift_lead(client, -client->spin.longest_ns / 4);
            if (found && early) mbros_shift_lead(client, -MBROS_EARLY_NS);
            client->spun_after = client->state.number;
            spin_in = INT64_MAX;
            early = 0;
            continue;
        }
        if (left > MBROS_NAP_NS) left = MBROS_NAP_NS;
        early = spin_in < left;
        nap.tv_sec = 0;
        nap.tv_nsec = early ? spin_in : left;
        __atomic_store_n(&client->commands->sleeping, 1, __ATOMIC_SEQ_CST);
        errno = 0;
        if (syscall(SYS_futex, &h->bell, FUTEX_WAIT, bell, &nap, NULL, 0) != 0 && errno == ETIMEDOUT) {
            if (early) spin_in = 0;
            else if (left == MBROS_NAP_NS && !mbros_locked(client->file, MBROS_LOCK_SIMULATION)) return MBROS_EABSENT;
        }
        if (errno == EINTR && __atomic_load_n(&h->newest, __ATOMIC_ACQUIRE) <= client->state.number)
            return MBROS_ETIME;                             /* a signal: who called looks at it, and waits again */
    }
}

/* By its bits: with -ffast-math a compiler takes x - x for zero. */
static inline int mbros_infinite(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}

/* Command `command_size` numbers from the next step on; NaN: that coordinate keeps what it has. `answers` is the number of the state
 * that this answers (lockstep waits for it), or 0. The first command makes this client the one that commands. */
static inline int mbros_command(mbros_client* client, const double* command, uint64_t answers) {
    const mbros_shared_header* h = client->header;
    mbros_shared_commands* c = client->commands;
    mbros_slot head;
    int32_t k;
    for (k = 0; k < h->command_size; ++k)
        if (mbros_infinite(command[k])) return MBROS_EVALUE;
    if (__atomic_load_n(&h->closed, __ATOMIC_ACQUIRE)) return MBROS_EABSENT;
    if (!client->commanding) {
        if (!mbros_lock(client->file, MBROS_LOCK_COMMANDS)) return errno == EAGAIN || errno == EACCES ? MBROS_EBUSY : MBROS_ESYSTEM;
        client->commanding = 1;
        c->process = getpid();
    }
    memset(&head, 0, sizeof head);
    head.number = c->newest + 1;
    head.step = answers;
    mbros_write_slot((char*)c + sizeof *c, h->command_size, &c->newest, &head, command);
    ++client->sent;
    return MBROS_OK;
}

/* Let another client command. */
static inline void mbros_release(mbros_client* client) {
    struct flock lock;
    if (client->commanding && mbros_lock_call(client->file, MBROS_LOCK_COMMANDS, F_UNLCK, F_OFD_SETLK, &lock) == 0) client->commanding = 0;
}

#ifdef __cplusplus
}
#endif
#endif
