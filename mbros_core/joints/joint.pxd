"""What the engine knows of a joint, and what a joint kind can be asked for.

A joint carries body B on its parent P. Frame F is fixed on P (X_PF, constant), frame M is the body frame of B itself:

    X_WB = X_WP X_PF X_FM(q),      V_FM = H_FM(q) v,      A_FM = H_FM vdot + Hdot_FM v

A kind is one file beside this one with the functions that it needs of those below (KIND is its name), a member of the enum and a case
for each of these functions in dispatch.pxd, a row of registry.py, and the class that people write (mbros/describe/joints/classes.py).
q, qdot, v, vdot and dv are the joint's own coordinates. Some take less than is said here (one coordinate itself, no q), a screw its pitch.

Every kind:
    KIND_place(X_WF, q, X_WM, S)      pose of M, and the columns of H_FM (motions of M in F, taken at Mo): all in W axes, and both poses
                                      with their origin at Po, so that arms stay exact far from the world's origin

Where Hdot_FM v is not zero (floating, universal):
    KIND_bias(...) -> Motion          Hdot_FM v in W axes as seen from F; of S, q, v and V_FM it takes what it needs

Where v is not qdot (the row's group is not R^n), of the kind itself or of its group (mbros_core/groups); else these are those of R^n:
    KIND_qdot(q, v, qdot)             qdot = N(q) v
    KIND_velocity(q, qdot, v)         v = N+(q) qdot
    KIND_integrate(q, dv, out)        q (+) dv: the configuration reached from q by the unit-time flow of the constant velocity dv; in roll,
                                      pitch and yaw q + N(q) dv, its first order
    KIND_difference(q0, q1, dv)       the shortest dv with q0 (+) dv = q1
    KIND_normalize(q)                 the nearest valid configuration, where not every q is valid

Where one semi-implicit Euler step is not v += h vdot, q = q (+) h v (floating):
    KIND_advance(q, v, vdot, h)       that step, in place

Where a midpoint step is not q (+) h/2 v, v += h vdot, q (+) h/2 v: where a body can fly or spin, whose momenta then keep their digits
(floating, planar, ball, and those in roll, pitch and yaw). M: the inertia of the joint's body, half = h/2
    KIND_first_half(q, v, M, half)    to the middle, in place
    KIND_second_half(q_start, q, v_start, v, a, M, h)     q and v from the middle to the end; a: vdot of the middle, then (v - v_start) / h

Where v turns with M (floating), for what is to be told apart from that turning:
    KIND_unturned_mean(q_start, v_start, q, v, h, a)      a = (V - V_start) / h, both in F axes; else (v - v_start) / h
    KIND_turned_vdot(q, v, a, vdot)                       the vdot of an `a` in F axes; else itself

Every kind has exact derivatives, by dual numbers. Models have the analytic ones, which are many times faster, when columns_turn in
dispatch.pxd knows all their kinds: WITH_BODY where H_FM is constant in M, OTHERWISE where it is constant in F, or with (universal)
    KIND_slope(S, by, of) -> Motion           what column `of` changes by with q of column `by`
    KIND_bias_slope(S, v, by) -> Motion       what Hdot_FM v does; without it, it stays
                                      all of it and S in W axes, about a point O that is fixed there, not about Mo, which moves
and, where dq along the joint's velocities does not stay what it is while dv = 0 (v is not qdot), of the kind or its group:
    KIND_turning(v, A, stride)        d(dq)/dt by dq, into the nv rows of A
"""
from mbros_core.scalar.real cimport real
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
    int iq              # where its coordinates start in q; a follower's are its leader's, a weld's 0
    int iv              # and in v
    int column          # where its motion-subspace columns start in S
    int follows         # 1: q = ratio * q[iq] + offset, v = ratio * v[iv] (URDF mimic)
    int pure[6]         # of each column: 1 pure rotation, 2 pure translation, 0 neither (from the registry row)
    int grounded        # 1: welded to the world, directly or through other welds
    Placing place       # dispatch.place_other, called for the kinds that dispatch.place does not inline
    const void* user    # mbros_user_joint (user.hpp) of a joint written outside mbros, or NULL
    real ratio          # 1 and 0 where it follows nobody
    real offset
    real par[4]         # as the registry row names them
    Pose X_PF
