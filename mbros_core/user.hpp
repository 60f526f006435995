// Joints and force elements written by users: plain C function pointers handed over in PyCapsules, called without the
// interpreter lock, in the real-time loop too. Doubles only; the lanes modules call once per lane.
//
// A model copies the struct when it is built: what is written into it later changes nothing. It keeps the object that has the
// capsule and the capsule, so `self` and the code of the functions must live as long as these.
#pragma once

extern "C" {

// Capsule name "mbros_core.user_joint". A joint kind of one's own between frame F on the parent and M on the child.
typedef struct mbros_user_joint {
    void* self;
    int needs_gil;   // 1: the functions enter Python; simulation works, the real-time loop refuses
    int nq, nv;      // at most 7 and 6
    // X_FM: R row-major (9), then p (3). H: nv columns of 6, [w; v] of M in F about Mo in F axes. Hdot_v: 6.
    void (*evaluate)(void* self, const double* q, const double* v, double* X_FM, double* H, double* Hdot_v);
    // All five NULL where v = qdot and q is a vector (nq = nv).
    void (*qdot)(void* self, const double* q, const double* v, double* qdot);
    void (*velocity)(void* self, const double* q, const double* qdot, double* v);
    void (*integrate)(void* self, const double* q, const double* dv, double* out);
    void (*difference)(void* self, const double* q0, const double* q1, double* dv);
    void (*normalize)(void* self, double* q);
} mbros_user_joint;

// Capsule name "mbros_core.user_force". A force element between frame A and frame C.
typedef struct mbros_user_force {
    void* self;
    int needs_gil;
    // X_AC: R row-major (9), p_AoCo_A (3). V_AC: w_AC, v_ACo, in A axes. wrench: [torque; force] on C about Co in A axes.
    // numbers: stored energy (J), conservative power -d(energy)/dt (W), nonconservative power (W).
    void (*evaluate)(void* self, const double* X_AC, const double* V_AC, double* wrench, double* numbers);
} mbros_user_force;

}
