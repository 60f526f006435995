// The plugs of the real-time loop: what is simulated (plant), where commands come from (input), where results go (output),
// and what a step waits for (gate, in lockstep only). All of it is plain C called without the interpreter lock, on the loop's own thread.
// Producers hand these structs to mbros_core.realtime.Loop inside PyCapsules with the names given below. The loop keeps
// the capsules; a capsule keeps what is behind it, by its destructor (capsule.pxd makes such capsules in Cython).
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

// A piece of memory; `to` is whatever came with the function.
typedef void (*mbros_range)(void* to, const void* begin, size_t bytes);

// What a plug may say of the memory it works on, as the context of its capsule (PyCapsule_SetContext). NULL: nothing.
typedef struct mbros_memory {
    void* owner;           // the producer's own, for the capsule's destructor
    // The word that says who works on this memory now (held.hpp), or NULL. The loop takes it while its thread runs, and
    // does not start while somebody else has it.
    int64_t* held;
    // Names all memory that the plug's functions touch, by calling range(to, begin, bytes) for each piece, so that the
    // loop can lock it; or NULL. With 0 bytes, `begin` is the address of a function or constant, and stands for the
    // shared object that holds it with all it is linked against. `self` is the plug's. Called on the loop's thread,
    // before its first slot.
    void (*tell)(void* self, mbros_range range, void* to);
} mbros_memory;

// What is simulated. Capsule name "mbros_core.plant".
// A snapshot is `snapshot_size` doubles; Plant.layout (Python) names its parts: q, v, effort, joint positions ...
typedef struct mbros_plant {
    void* self;
    int command_size;      // doubles of one command: efforts, one per velocity coordinate (nv), and what else the plant takes; 0: nothing
    int snapshot_size;     // doubles of one snapshot
    int parameter_size;    // doubles of the block of live parameters
    int state_size;        // doubles of a state for reset: q then v (nq + nv)
    int velocity_offset;   // where v stands in a snapshot (nv doubles); the watchdog's `damp` reads it
    // Advance by dt seconds under `command`, clamped to the effort limits (clamps are counted inside).
    // Returns 0, or a fault code > 0; after a fault the state is still the last good one.
    int (*step)(void* self, const double* command, double dt);
    // Write what is now true into `snapshot` (snapshot_size doubles) and return 0. Never a number that is not finite: where entry k
    // would be one, write nothing and return k + 1.
    int (*observe)(void* self, double* snapshot);
    void (*set_parameters)(void* self, const double* block);
    // Put the plant at state (q, v), time 0; clears a fault.
    void (*reset)(void* self, const double* state);
    // Those coordinates of (q, v) that are not NaN; time and everything else go on. Does nothing while in fault.
    // NULL: this plant cannot be put anywhere while it runs.
    void (*set_state)(void* self, const double* state);
} mbros_plant;

// One snapshot as the outputs see it.
typedef struct mbros_snapshot {
    uint64_t step;          // steps since the last reset
    double time;            // simulated seconds since the last reset
    int64_t wall_ns;        // CLOCK_REALTIME at the slot of this step, nanoseconds
    int64_t command_age_ns; // age of the command in force; -1: none yet
    uint32_t flags;         // MBROS_PAUSED ...
    int size;
    const double* x;        // the plant's snapshot
} mbros_snapshot;

enum {
    MBROS_PAUSED = 1, MBROS_FAULT = 2, MBROS_STEPPED = 4 /* this step was asked for one by one */,
    MBROS_WATCHDOG = 8, MBROS_RESET = 16 /* first snapshot after a reset */,
    MBROS_REPEATED = 32 /* one that was published already, for those who have not heard it */
};

// Where commands come from. Capsule name "mbros_core.input". Polled once before each step.
typedef struct mbros_input {
    void* self;
    // Newest wins. Returns 1 after writing a complete, valid, finite command (command_size doubles, NaN where a
    // coordinate is not commanded), 0 when nothing new has come. `now_ns` is CLOCK_MONOTONIC.
    int (*take)(void* self, double* command, int64_t now_ns);
} mbros_input;

// Where results go. Capsule name "mbros_core.output". Called after each step (and while paused, at the loop's rate).
typedef struct mbros_output {
    void* self;
    void (*publish)(void* self, const mbros_snapshot* snapshot);
} mbros_output;

enum {
    MBROS_WAIT = 0,     // not yet: ask again when the bell has rung, and at *until_ns (CLOCK_MONOTONIC) at the latest
    MBROS_GO = 1,       // the step may be taken
    MBROS_HALT = 2,     // give up: pause
    MBROS_AGAIN = 3     // not yet; and publish the same snapshot once more, for those who have not heard it
};

// What a step waits for, in lockstep. Capsule name "mbros_core.gate".
typedef struct mbros_gate {
    void* self;
    // Asked before each step, about the newest snapshot that was published; returns one of the above.
    int (*open)(void* self, const mbros_snapshot* shown, int64_t now_ns, int64_t* until_ns);
    // The bell that wakes a loop which waits (bell.hpp), for whoever brings what it waits for; NULL: it is gone.
    void (*give_bell)(void* self, uint32_t* bell);
} mbros_gate;

}
