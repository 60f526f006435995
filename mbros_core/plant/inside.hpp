// What devices (actuators, sensors, channels) see of a plant, and what a plant sees of its devices. All of it is plain C, called without
// the interpreter lock; the pointers live as long as the plant.
#pragma once
#include <cstddef>

extern "C" {

struct mbros_devices;

typedef struct mbros_inside {
    void* self;
    int nb, nq, nv;
    int contact_size;       // doubles of contact_memory
    double *time, *clock, *q, *v, *a_prev, *contact_memory, *rotor_inertia;
    double *lock, *damping, *friction;      // (nv,)
    double* inertia;        // (nb, 10)
    double* effort;         // applied in the last step, (nv,)
    double* effort_limit;
    double* clamped;        // count of efforts clamped
    const double* gravity;
    const double *X_WB, *V_WB, *A_WB;       // as kinematics() left them: (nb, 12), (nb, 6), (nb, 6)
    // A step of dt under efforts that nothing clamps. Returns 0, or a fault code > 0; the state is then the last good one.
    int (*advance)(void* self, const double* tau, double dt);
    // Mean accelerations (nv,) of the coordinates over a step of dt from q and v to the present ones, which jumps are part of: of a free
    // body, whose v are along axes that turn with it, along the axes in which it moves, so that they are 0 where it goes straight on.
    void (*mean_accelerations)(void* self, const double* q, const double* v, double dt, double* a);
    // X_WB, V_WB and, for such accelerations, A_WB of the present q and v. a NULL: not A_WB.
    void (*kinematics)(void* self, const double* a);
    // What the joints carried in the last step: carried_F, what the joint of each body exerts on it about its origin, (nb, 6), world axes,
    // where X_WB is then; carried_effort, what each coordinate took, (nv,). 0 where that is not known. Before kinematics(), which overwrites it.
    int (*carried)(void* self);
    // The same of these bodies alone, bodies[k] != 0, (nb,), with which all that are beyond them must be: no efforts, and of the others no
    // carried_F. Where it is known X_WB, V_WB and A_WB, less gravity, are those with which the step took its forces. Right after advance().
    int (*wrenches)(void* self, const int* bodies);
    const double *carried_F, *carried_effort;
    // Coordinates that are locked by now come to rest, by impulses that the rest of the robot feels.
    void (*stop)(void* self);
    int ns, most_touches;   // shapes; contact points that contact_memory has room for
    const int* shape_body;
    const struct mbros_devices* const* devices;     // those that its steps go through now, which may become others
} mbros_inside;

typedef struct mbros_piece {
    const void* begin;
    size_t bytes;
} mbros_piece;

typedef struct mbros_devices {
    void* self;
    int (*step)(void* self, const double* effort, double dt);      // effort: from outside, beside the actuators'
    void (*reset)(void* self);
    const mbros_piece* pieces;      // of memory: all that a step touches
    int npieces;
} mbros_devices;

}
