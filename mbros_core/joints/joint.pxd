"""What the engine knows of a joint, and what every joint kind must be able to do.

A joint carries body B on its parent P. Frame F is fixed on P (X_PF, constant), frame M is the body frame of B itself:

    X_WB = X_WP X_PF X_FM(q),      V_FM = H_FM(q) v,      A_FM = H_FM vdot + Hdot_FM v

A joint kind is one file beside this one with the functions below (KIND is its name), one member and one case in each
switch of dispatch.pxd, and one row of registry.py:

    KIND_place(X_WF, q, X_WM, S)      pose of M in W, and the columns of H_FM expressed in W (motions of M in F, taken at Mo)
    KIND_bias(...) -> Motion          Hdot_FM v in W axes as seen from F; only where it is not zero
    KIND_qdot(q, v, qdot)             qdot = N(q) v
    KIND_velocity(q, qdot, v)         v = N+(q) qdot
    KIND_integrate(q, dv, out)        the configuration reached from q by the unit-time flow of the constant velocity dv
    KIND_advance(q, v, vdot, h)       one semi-implicit Euler step of this joint, in place; only where it is not
                                      v += h vdot, q = q (+) h v
    KIND_difference(q0, q1, dv)       the dv that leads from q0 to q1
    KIND_normalize(q)                 the nearest valid configuration
"""
from mbros_core.real cimport real
from mbros_core.spatial cimport Motion, Pose

cdef enum:
    MAX_NQ = 7
    MAX_NV = 6

ctypedef void (*Placing)(const Joint*, const Pose*, const real*, Pose*, Motion*) noexcept nogil

cdef struct Joint:
    int kind
    int parent          # body index
    int nq
    int nv
    int iq              # where its coordinates start in q; a follower's are its leader's
    int iv              # and in v
    int column          # where its motion-subspace columns start in S
    int follows         # 1: q = ratio * q[iq] + offset, v = ratio * v[iv] (URDF mimic)
    int pure[6]         # of each column: 1 pure rotation, 2 pure translation, 0 neither (from the registry row)
    int grounded        # 1: welded to the world, directly or through other welds
    Placing place       # of the kinds that dispatch.place does not inline
    const void* user    # mbros_user_joint (user.hpp) of a joint written outside mbros, or NULL
    real ratio
    real offset
    real par[4]
    Pose X_PF
