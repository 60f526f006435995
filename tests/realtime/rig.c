/* A plant, an input and an output for the tests of the real-time loop, compiled by them: n masses on springs, driven by
   a script of commands, watched by a log. It is deliberately plain C with no allocation unless asked for one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAXN 8

typedef struct {
    void* self;
    int command_size, snapshot_size, parameter_size, state_size, velocity_offset;
    int (*step)(void*, const double*, double);
    int (*observe)(void*, double*);
    void (*set_parameters)(void*, const double*);
    void (*reset)(void*, const double*);
    void (*set_state)(void*, const double*);
} plant_plug;

typedef struct {
    uint64_t step;
    double time;
    int64_t wall_ns, command_age_ns;
    uint32_t flags;
    int size;
    const double* x;
} snapshot;

typedef struct { void* self; int (*take)(void*, double*, int64_t); } input_plug;
typedef struct { void* self; void (*publish)(void*, const snapshot*); } output_plug;

/* --- plant: unit masses, parameters [stiffness n, damping n];
   snapshot q n, v n, effort n, calls 1, allocations 1, mixed 1, fault 2 */
typedef struct {
    plant_plug plug;
    int n;
    double q[MAXN], v[MAXN], effort[MAXN], stiffness[MAXN], damping[MAXN];
    double largest_speed;      /* beyond it: fault 7 */
    int fault, fault_index;
    volatile int64_t calls;
    volatile int64_t allocate_each, not_finite_at, hang, hanging;
    int64_t (*allocations)(void);
} rig;

static int rig_step(void* self, const double* tau, double dt) {
    rig* r = self;
    double q[MAXN], v[MAXN];
    while (r->hang) {
        r->hanging = 1;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    r->hanging = 0;
    if (r->allocate_each) {
        void* volatile p = malloc(64);
        free(p);
    }
    for (int i = 0; i < r->n; ++i) {
        v[i] = r->v[i] + dt * (tau[i] - r->stiffness[i] * r->q[i] - r->damping[i] * r->v[i]);
        q[i] = r->q[i] + dt * v[i];
        if (!(fabs(v[i]) <= r->largest_speed)) {
            r->fault = 7;
            r->fault_index = i;
            return 7;
        }
    }
    memcpy(r->q, q, sizeof q);
    memcpy(r->v, v, sizeof v);
    memcpy(r->effort, tau, r->n * sizeof *tau);
    r->calls++;
    return 0;
}

static int rig_observe(void* self, double* x) {
    rig* r = self;
    int n = r->n, i, mixed = 0;
    for (i = 1; i < n; ++i) mixed |= r->stiffness[i] != r->stiffness[0] || r->damping[i] != r->damping[0];
    memcpy(x, r->q, n * sizeof *x);
    memcpy(x + n, r->v, n * sizeof *x);
    memcpy(x + 2 * n, r->effort, n * sizeof *x);
    x[3 * n] = (double)r->calls;
    x[3 * n + 1] = r->allocations ? (double)r->allocations() : 0.0;
    x[3 * n + 2] = mixed;
    x[3 * n + 3] = r->fault;
    x[3 * n + 4] = r->fault_index;
    if (r->not_finite_at && r->calls == r->not_finite_at) x[n] = NAN;      /* against its word: the loop notices */
    return 0;
}

static void rig_set_parameters(void* self, const double* block) {
    rig* r = self;
    memcpy(r->stiffness, block, r->n * sizeof *block);
    memcpy(r->damping, block + r->n, r->n * sizeof *block);
}

static void rig_reset(void* self, const double* state) {
    rig* r = self;
    memcpy(r->q, state, r->n * sizeof *state);
    memcpy(r->v, state + r->n, r->n * sizeof *state);
    memset(r->effort, 0, sizeof r->effort);
    r->fault = r->fault_index = 0;
}

/* The memory behind a plug (zeros) belongs to Python, which frees it only after the loop's thread has ended, also when
   loop and plug are collected together; a __del__ that freed it could come too early. */
int64_t bytes_needed(void) { return sizeof(rig) > 256 ? sizeof(rig) : 256; }

plant_plug* rig_new(void* memory, int n, const double* q, const double* v) {
    rig* r = memory;
    r->n = n;
    r->largest_speed = 1e6;
    r->allocations = (int64_t (*)(void))dlsym(RTLD_DEFAULT, "thread_allocations");
    memcpy(r->q, q, n * sizeof *q);
    memcpy(r->v, v, n * sizeof *v);
    r->plug = (plant_plug){r, n, 3 * n + 5, 2 * n, 2 * n, n, rig_step, rig_observe, rig_set_parameters, rig_reset};
    return &r->plug;
}

void rig_tune(plant_plug* p, double largest_speed, int64_t allocate_each, int64_t not_finite_at, int64_t hang) {
    rig* r = p->self;
    r->largest_speed = largest_speed;
    r->allocate_each = allocate_each;
    r->not_finite_at = not_finite_at;
    r->hang = hang;
}

/* Busy until `steps` more plant steps were taken; called with the interpreter lock held. Returns what was seen. */
int64_t rig_watch(plant_plug* p, int64_t steps, double seconds) {
    rig* r = p->self;
    int64_t begun = r->calls;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double end = t.tv_sec + 1e-9 * t.tv_nsec + seconds;
    do clock_gettime(CLOCK_MONOTONIC, &t);
    while (r->calls - begun < steps && t.tv_sec + 1e-9 * t.tv_nsec < end);
    return r->calls - begun;
}

int64_t rig_hanging(plant_plug* p) { return ((rig*)p->self)->hanging; }

/* --- input: at poll number at[k] (counting from 0) it delivers commands[k] */
typedef struct {
    input_plug plug;
    int n;
    int64_t polls, next, count;
    const int64_t* at;
    const double* commands;
} script;

static int script_take(void* self, double* command, int64_t now_ns) {
    script* s = self;
    int64_t poll = s->polls++;
    (void)now_ns;
    if (s->next >= s->count || s->at[s->next] != poll) return 0;
    memcpy(command, s->commands + s->next * s->n, s->n * sizeof *command);
    s->next++;
    return 1;
}

input_plug* script_new(void* memory, int n, int64_t count, const int64_t* at, const double* commands) {
    script* s = memory;
    s->n = n;
    s->count = count;
    s->at = at;
    s->commands = commands;
    s->plug = (input_plug){s, script_take};
    return &s->plug;
}

/* --- output: rows [step, time, wall_ns, command_age_ns, flags, x...] of everything but idle slots of a pause */
typedef struct {
    output_plug plug;
    int64_t room, width;
    volatile int64_t rows, idle;
    double* table;
    int64_t slow_ns;
} logger;

static void log_publish(void* self, const snapshot* s) {
    logger* l = self;
    if (l->slow_ns) nanosleep(&(struct timespec){0, l->slow_ns}, NULL);
    if ((s->flags & 1) && !(s->flags & (4 | 16))) {      /* a pause: nothing new, only counted */
        l->idle++;
        return;
    }
    if (l->rows >= l->room) return;
    double* row = l->table + l->rows * l->width;
    row[0] = (double)s->step;
    row[1] = s->time;
    row[2] = (double)s->wall_ns;
    row[3] = (double)s->command_age_ns;
    row[4] = (double)s->flags;
    memcpy(row + 5, s->x, s->size * sizeof *row);
    l->rows++;
}

output_plug* log_new(void* memory, int64_t room, int64_t width, double* table) {
    logger* l = memory;
    l->room = room;
    l->width = width;
    l->table = table;
    l->plug = (output_plug){l, log_publish};
    return &l->plug;
}

int64_t log_idle(output_plug* p) { return ((logger*)p->self)->idle; }
int64_t log_rows(output_plug* p) { return ((logger*)p->self)->rows; }
void log_slow(output_plug* p, int64_t ns) { ((logger*)p->self)->slow_ns = ns; }
