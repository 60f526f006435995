/* mbros: a controller's door to a simulation on the same machine, without middleware. One file of C99 (gcc, clang), Linux.
 *
 *     mbros_client arm;
 *     if (mbros_open(&arm, "arm7") != 0) return 1;             // `mbros node arm7 --ros-args -p shared_memory:=arm7`
 *     const double* q = mbros_values(&arm);                    // as `arm.description` says: {"layout": {"q": [0, 7], ...
 *     while (mbros_wait(&arm, 100 * 1000000) == 0)             // the next state; 100 ms of patience
 *         mbros_command(&arm, my_law(q), arm.state.number);    // efforts, for the next step; which state they answer
 *     mbros_close(&arm);
 *
 * A file in /dev/shm, of the user who simulates and of nobody else, says where and how large the two pieces of memory are (System V
 * segments, which no process can cut short): the newest states, which only the simulation writes, and the newest commands, which one
 * client at a time writes. Both are rings of numbered slots. A writer never waits; a reader copies the newest slot and looks whether
 * its number is still the same: no lock is held, so a client that is killed at any moment leaves nothing behind that anybody would wait
 * for. Its commands grow old, and the simulation's watchdog acts. mbros_open checks the file once and copies what it says; no size or
 * place is read again from what others can write (docs/decisions/038-shared-memory.md).
 *
 * Functions return 0, or a negative MBROS_E..., which mbros_why() says in words; mbros_read and mbros_command make no system call. mbros_wait sleeps
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
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcpp"                  /* of glibc, where a header came first with _POSIX_C_SOURCE alone */
#include <sys/shm.h>
#pragma GCC diagnostic pop
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

#define MBROS_SHARED_VERSION 2
#define MBROS_SHARED_MAGIC 0x31304d48534f5242ull        /* "BROSHM01" */
#define MBROS_SLOTS 16                                  /* of a ring: a power of two */
#define MBROS_MOST_NUMBERS (1 << 24)                    /* of a state or a command */
#define MBROS_MOST_TEXT (1 << 26)                       /* bytes of a description */
#define MBROS_TRIES 4                                   /* looks at a slot that is being written over, before giving up for now */
#define MBROS_LOOKS 64                                  /* rows of them in one mbros_read */
#define MBROS_SPIN_NS 100000                            /* longest spin, unless another is asked for */
#define MBROS_SELDOM 63                                 /* waits without a spin after a row of spins in vain */
#define MBROS_LATE_NS 20000                             /* so much earlier a client wakes, where a state was there before it */
#define MBROS_EARLY_NS 200                              /* and so much later, where it spun: one in a hundred is there before */
#define MBROS_LAST_NS ((int64_t)1 << 62)                /* times of states beyond it, in 2116, are none */
#define MBROS_NAP_NS 100000000                          /* longest sleep without a look whether the simulation lives */

enum {                          /* what functions return */
    MBROS_OK = 0,
    MBROS_EABSENT = -1,         /* there is no simulation of this name, or it has ended */
    MBROS_EFOREIGN = -2,        /* what is there is of another version */
    MBROS_ETIME = -3,           /* nothing new within the time */
    MBROS_EBUSY = -4,           /* another client commands */
    MBROS_EVALUE = -5,          /* an infinite number; nothing was sent */
    MBROS_ENAME = -6,           /* no name: letters, digits, _ . - , at most 100 */
    MBROS_ESYSTEM = -7,         /* the system refused; errno says why */
    MBROS_EUNSAFE = -8,         /* what is there is no file of this user alone: foreign, a link, open to others ... */
    MBROS_EDAMAGED = -9,        /* the file was cut short or written over */
    MBROS_EAWAY = -10           /* its memory is not here: the simulation runs in a container with IPC of its own */
};

static inline const char* mbros_why(int answer) {
    switch (answer) {
    case MBROS_OK: return "done";
    case MBROS_EABSENT: return "no simulation shares its memory under this name, or it has ended";
    case MBROS_EFOREIGN: return "the simulation is of another version of mbros, which shares its memory otherwise";
    case MBROS_ETIME: return "no new state within the time";
    case MBROS_EBUSY: return "another client commands; one at a time does";
    case MBROS_EVALUE: return "a command has an infinite number; nothing was sent";
    case MBROS_ENAME: return "no name of a simulation; expected 1 to 100 letters, digits, or one of _ - .";
    case MBROS_ESYSTEM: return "the system refused; errno says why";
    case MBROS_EUNSAFE: return "what is in /dev/shm under this name is not a file of this user alone; remove it, or choose another name";
    case MBROS_EDAMAGED: return "the simulation's file in /dev/shm is damaged; start the simulation again";
    case MBROS_EAWAY: return "the simulation's memory is not in this IPC namespace; start its container, or this one, with --ipc=host";
    default: return "not an answer of mbros_client.h";
    }
}

enum {                          /* flags of a state */
    MBROS_IS_PAUSED = 1, MBROS_IS_FAULT = 2, MBROS_IS_STEPPED = 4, MBROS_IS_WATCHDOG = 8, MBROS_IS_RESET = 16, MBROS_IS_REPEATED = 32
};

typedef struct mbros_shared_header {    /* the file: this, then the description. Written once; clients copy and check it once */
    uint64_t magic;
    uint32_t version;
    uint32_t ready;             /* 1 when all of it is written */
    uint64_t bytes;             /* of the file */
    uint64_t token;             /* stands at the beginning of both segments, too */
    int32_t states_id, commands_id;     /* of System V shared memory */
    int32_t state_size;         /* doubles of a state; the description's `layout` names its parts */
    int32_t command_size;       /* doubles of a command; the description's `command` names its parts */
    int32_t description_bytes;
    int32_t lockstep_n, lockstep_m;     /* a step waits for the answer to the state before it, in n of m steps; 0: it waits for nobody */
    int32_t pad;
    double dt;                  /* s, of a step */
    int64_t process;            /* id of the simulation's */
} mbros_shared_header;

typedef struct mbros_shared_states {    /* a segment: this, then the ring; clients read it only */
    uint64_t token;
    uint64_t newest;            /* number of the newest state, from 1 */
    uint32_t bell;              /* counts states; clients sleep on it */
    uint32_t closed;            /* 1: the simulation has ended */
    uint32_t core;              /* on which the simulation ran when it wrote the newest state, from 1; 0: not known */
    char pad[36];
} mbros_shared_states;

typedef struct mbros_shared_commands {  /* a segment: this, then the ring; written by clients */
    uint64_t token;             /* the simulation's */
    uint64_t newest;            /* number of the newest command, from 1 */
    uint32_t sleeping;          /* 1: a client sleeps on the bell */
    uint32_t core;              /* on which the client that commands ran when it read the newest state, from 1; 0: not known */
    int64_t process;            /* id of the client that commands */
    char pad[32];
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
    mbros_shared_header header; /* a copy of its own, checked */
    const mbros_shared_states* states;
    mbros_shared_commands* commands;
    double* values;             /* of the state that was read last */
    char* description;          /* JSON text: names, layout, units; a copy of its own */
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

static inline uint64_t mbros_segment_bytes(int32_t size) {
    return sizeof(mbros_shared_states) + MBROS_SLOTS * mbros_slot_bytes(size);
}

static inline mbros_slot* mbros_slot_of(void* ring, int32_t size, uint64_t number) {
    return (mbros_slot*)((char*)ring + (number & (MBROS_SLOTS - 1)) * mbros_slot_bytes(size));
}

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
static inline void mbros_ring(mbros_shared_states* states, mbros_shared_commands* commands) {
    __atomic_fetch_add(&states->bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&commands->sleeping, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&commands->sleeping, 0, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &states->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
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
    return snprintf(path, room, "/dev/shm/mbros-%ld-%s", (long)geteuid(), name) < (int)room ? MBROS_OK : MBROS_ENAME;
}

/* Is it a file of this user alone? Nobody else can write, lock or replace it then (/dev/shm is sticky). */
static inline int mbros_own(const struct stat* about) {
    return S_ISREG(about->st_mode) && about->st_uid == geteuid() && (about->st_mode & 07777) == 0600 && about->st_nlink <= 1;
}

/* Does what a header says make sense? It is the client's own copy, and `bytes` is the size of the file. */
static inline int mbros_sound(const mbros_shared_header* h, uint64_t bytes) {
    return h->magic == MBROS_SHARED_MAGIC && h->bytes == bytes && h->token != 0 && h->state_size >= 0 && h->command_size >= 0 &&
           h->state_size <= MBROS_MOST_NUMBERS && h->command_size <= MBROS_MOST_NUMBERS && h->description_bytes >= 0 &&
           h->description_bytes <= MBROS_MOST_TEXT && bytes == sizeof *h + (uint64_t)h->description_bytes &&
           ((h->lockstep_m == 0 && h->lockstep_n == 0) || (h->lockstep_n >= 1 && h->lockstep_n <= h->lockstep_m));
}

/* ---- clients ---- */

static inline void mbros_close(mbros_client* client) {
    if (client->states != NULL) shmdt(client->states);
    if (client->commands != NULL) shmdt(client->commands);
    if (client->file >= 0) close(client->file);
    free(client->values);
    free(client->description);
    memset(client, 0, sizeof *client);
    client->file = -1;
}

static inline int mbros_give_up(mbros_client* client, int why) {
    int error = errno;
    mbros_close(client);
    errno = error;
    return why;
}

/* A segment of that size, of this user alone, with that token. The size of a segment never changes; it is looked at once it is attached,
 * when its number can no longer become another's. */
static inline int mbros_attach(void** where, int id, uint64_t bytes, uint64_t token, int flags) {
    struct shmid_ds about;
    void* at = shmat(id, NULL, flags);
    if (at == (void*)-1) return errno == ENOMEM || errno == EMFILE ? MBROS_ESYSTEM : MBROS_EAWAY;
    *where = at;
    if (shmctl(id, IPC_STAT, &about) != 0 || about.shm_perm.uid != geteuid() || about.shm_perm.cuid != geteuid() ||
        (about.shm_perm.mode & 0777) != 0600 || about.shm_segsz < sizeof(uint64_t))
        return MBROS_EAWAY;
    if (__atomic_load_n((const uint64_t*)at, __ATOMIC_ACQUIRE) != token) return MBROS_EAWAY;
    return about.shm_segsz == bytes ? MBROS_OK : MBROS_EDAMAGED;
}

/* The file's header and description, copied and checked. */
static inline int mbros_read_file(mbros_client* client) {
    mbros_shared_header* h = &client->header;
    struct stat about;
    ssize_t got;
    if (fstat(client->file, &about) != 0) return MBROS_ESYSTEM;
    if (!mbros_own(&about)) return MBROS_EUNSAFE;
    if (about.st_nlink == 0 || !mbros_locked(client->file, MBROS_LOCK_SIMULATION)) return MBROS_EABSENT;
    got = pread(client->file, h, sizeof *h, 0);
    if (got < 0) return MBROS_ESYSTEM;
    if (got < (ssize_t)sizeof *h) return got == 0 ? MBROS_EABSENT : MBROS_EDAMAGED;
    if (h->ready == 0) return MBROS_EABSENT;                 /* it is still being made */
    if (h->magic == MBROS_SHARED_MAGIC && h->version != MBROS_SHARED_VERSION) return MBROS_EFOREIGN;
    if (fstat(client->file, &about) != 0) return MBROS_ESYSTEM;                          /* whole by now */
    if (!mbros_sound(h, (uint64_t)about.st_size)) return MBROS_EDAMAGED;
    client->description = (char*)calloc((size_t)h->description_bytes + 1, 1);
    if (client->description == NULL) return MBROS_ESYSTEM;
    got = pread(client->file, client->description, (size_t)h->description_bytes, sizeof *h);
    return got == h->description_bytes ? MBROS_OK : MBROS_EDAMAGED;
}

/* Come to the simulation of this name. What was read is zero until mbros_read. */
static inline int mbros_open(mbros_client* client, const char* name) {
    char path[160];
    void *states = NULL, *commands = NULL;
    int answer;
    memset(client, 0, sizeof *client);
    client->file = -1;
    if (mbros_path(path, sizeof path, name) != MBROS_OK) return MBROS_ENAME;
    client->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (client->file < 0)
        return errno == ENOENT ? MBROS_EABSENT
            : errno == EACCES || errno == EPERM || errno == ELOOP || errno == EISDIR || errno == ENXIO ? MBROS_EUNSAFE : MBROS_ESYSTEM;
    answer = mbros_read_file(client);
    if (answer != MBROS_OK) return mbros_give_up(client, answer);
    answer = mbros_attach(&states, client->header.states_id, mbros_segment_bytes(client->header.state_size), client->header.token,
                          SHM_RDONLY);
    client->states = (const mbros_shared_states*)states;
    if (answer == MBROS_OK) {
        answer = mbros_attach(&commands, client->header.commands_id, mbros_segment_bytes(client->header.command_size),
                              client->header.token, 0);
        client->commands = (mbros_shared_commands*)commands;
    }
    if (answer != MBROS_OK)             /* a simulation that ends takes its memory with it */
        return mbros_give_up(client, mbros_locked(client->file, MBROS_LOCK_SIMULATION) ? answer : MBROS_EABSENT);
    client->spin.longest_ns = MBROS_SPIN_NS;
    client->values = (double*)calloc((size_t)client->header.state_size + 1, sizeof(double));
    return client->values == NULL ? mbros_give_up(client, MBROS_ESYSTEM) : MBROS_OK;
}

static inline const double* mbros_values(const mbros_client* client) { return client->values; }

/* ns between the slots of two states, `last` and one `count` numbers later; 0: they are no times. */
static inline int64_t mbros_gap(int64_t last, int64_t later, uint64_t count) {
    int64_t gap;
    if (last < 0 || later < last || later > MBROS_LAST_NS || count - 1 >= (uint64_t)MBROS_LAST_NS) return 0;
    gap = (later - last) / (int64_t)count;
    return gap < MBROS_LAST_NS / 4 ? gap : 0;
}

/* Read the newest state into client->state and mbros_values(client). MBROS_ETIME: there is none yet; or, of a simulation that is damaged,
 * none was whole in some hundred looks, and the values are NaN then (of 16 slots one is written over while it is read once in a blue moon). */
static inline int mbros_read(mbros_client* client) {
    const mbros_shared_states* s = client->states;
    mbros_slot head;
    int looks;
    for (looks = 0; looks < MBROS_LOOKS; ++looks) {
        if (mbros_read_slot((char*)(uintptr_t)s + sizeof *s, client->header.state_size, &s->newest, &head, client->values)) {
            if (client->state.number > 0 && head.number > client->state.number)
                client->gap_ns = mbros_gap(client->state.wall_ns, head.wall_ns, head.number - client->state.number);
            client->state = head;
            return MBROS_OK;
        }
        if (__atomic_load_n(&s->newest, __ATOMIC_ACQUIRE) == 0) break;
    }
    if (looks == MBROS_LOOKS) {
        memset(&client->state, 0, sizeof client->state);
        memset(client->values, 0xff, (size_t)client->header.state_size * sizeof(double));
    }
    return __atomic_load_n(&s->closed, __ATOMIC_ACQUIRE) ? MBROS_EABSENT : MBROS_ETIME;
}

/* Where the next state comes a slot after the last one: ns from now until a spin for it shall begin. INT64_MAX: no spin. */
static inline int64_t mbros_spin_in(mbros_client* client) {
    if (client->spun_after == client->state.number || client->gap_ns <= 0 || client->state.wall_ns < 0 ||
        client->state.wall_ns > MBROS_LAST_NS || !mbros_may_spin(&client->spin, &client->states->core)) {
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
    const mbros_shared_states* s = client->states;
    const int64_t now = mbros_clock_ns(CLOCK_MONOTONIC), end = patience < INT64_MAX - now ? now + patience : INT64_MAX;
    int64_t spin_in = mbros_spin_in(client);
    int early = 0;              /* it sleeps until a spin */
    for (;;) {
        struct timespec nap;
        int64_t left;
        uint32_t bell = __atomic_load_n(&s->bell, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&s->newest, __ATOMIC_ACQUIRE) > client->state.number) {
            const int answer = mbros_arrived(client);
            if (answer == MBROS_OK && early) mbros_shift_lead(client, MBROS_LATE_NS);
            if (answer != MBROS_ETIME) return answer;       /* else it could not be read whole: look again */
        }
        if (__atomic_load_n(&s->closed, __ATOMIC_ACQUIRE)) return MBROS_EABSENT;
        left = end - mbros_clock_ns(CLOCK_MONOTONIC);
        if (left <= 0) return mbros_locked(client->file, MBROS_LOCK_SIMULATION) ? MBROS_ETIME : MBROS_EABSENT;
        if (spin_in <= client->spin.longest_ns / 2) {
            int found = mbros_spin_until(&client->spin, &s->newest, client->state.number,
                                         left < client->spin.longest_ns ? left : client->spin.longest_ns, &s->core);
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
        if (syscall(SYS_futex, &s->bell, FUTEX_WAIT, bell, &nap, NULL, 0) != 0 && errno == ETIMEDOUT) {
            if (early) spin_in = 0;
            else if (left == MBROS_NAP_NS && !mbros_locked(client->file, MBROS_LOCK_SIMULATION)) return MBROS_EABSENT;
        }
        if (errno == EINTR && __atomic_load_n(&s->newest, __ATOMIC_ACQUIRE) <= client->state.number)
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
    const int32_t size = client->header.command_size;
    mbros_shared_commands* c = client->commands;
    mbros_slot head;
    int32_t k;
    for (k = 0; k < size; ++k)
        if (mbros_infinite(command[k])) return MBROS_EVALUE;
    if (__atomic_load_n(&client->states->closed, __ATOMIC_ACQUIRE)) return MBROS_EABSENT;
    if (!client->commanding) {
        if (!mbros_lock(client->file, MBROS_LOCK_COMMANDS)) return errno == EAGAIN || errno == EACCES ? MBROS_EBUSY : MBROS_ESYSTEM;
        client->commanding = 1;
        c->process = getpid();
    }
    memset(&head, 0, sizeof head);
    head.number = __atomic_load_n(&c->newest, __ATOMIC_RELAXED) + 1;
    head.step = answers;
    mbros_write_slot((char*)c + sizeof *c, size, &c->newest, &head, command);
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
