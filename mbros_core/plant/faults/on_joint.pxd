"""What faults do to joints and bodies in a step. They change the plant's own parameters at its start and put them back at its end, so that
these are the user's again, to the bit, whatever happens in between.

    lost_effort    (1 - fraction) of the efforts of the actuator and from outside reaches the joint, and of the actuator's inertia
    free           none of it does
    stuck          the joint stands still at once, as if it were locked; one that is locked or prescribed already stays so
    jammed_brake   Coulomb friction of `effort` more
    friction       Coulomb friction and damping more
    load           a point mass on a body
"""
from libc.string cimport memcpy

from mbros_core.plant.inside cimport mbros_inside
from mbros_core.plant.faults.fault cimport JointFault

# The numbers of mbros_core.plant.faults.registry (tests/engine/test_numbers_by_name.py).
cdef enum JointFaultKind:
    LOST_EFFORT = 0
    FREE = 1
    STUCK = 2
    JAMMED_BRAKE = 3
    FRICTION = 4
    LOAD = 5


cdef struct LostEffortNumbers:
    double fraction

cdef struct JammedBrakeNumbers:
    double effort

cdef struct FrictionNumbers:
    double coulomb
    double viscous

cdef struct LoadNumbers:
    double mass                  # kg
    double place[3]              # in the frame, m
    double on_body[3]            # the same on the body


cdef inline void add_point_mass(double* inertia, double m, const double* p) noexcept nogil:
    """inertia: m, m c, Ixx Iyy Izz Ixy Ixz Iyz about the body's origin."""
    inertia[0] += m
    inertia[1] += m * p[0]
    inertia[2] += m * p[1]
    inertia[3] += m * p[2]
    inertia[4] += m * (p[1] * p[1] + p[2] * p[2])
    inertia[5] += m * (p[0] * p[0] + p[2] * p[2])
    inertia[6] += m * (p[0] * p[0] + p[1] * p[1])
    inertia[7] -= m * p[0] * p[1]
    inertia[8] -= m * p[0] * p[2]
    inertia[9] -= m * p[1] * p[2]


cdef inline void harm(JointFault* f, const double* par, mbros_inside* p, double* share) noexcept nogil:
    """At the start of a step. share (nv,): of the efforts, what reaches the joint."""
    if f.kind == LOST_EFFORT:
        share[f.iv] *= 1.0 - (<const LostEffortNumbers*>par).fraction
    elif f.kind == FREE:
        share[f.iv] = 0.0
    elif f.kind == STUCK:
        f.kept[0] = p.lock[f.iv]
        if p.lock[f.iv] == 0.0:
            p.lock[f.iv], p.a_prev[f.iv] = 1.0, 0.0
            if p.v[f.iv] != 0.0:
                p.stop(p.self)
    elif f.kind == LOAD:
        memcpy(f.kept, p.inertia + 10 * f.body, 10 * sizeof(double))
        add_point_mass(p.inertia + 10 * f.body, (<const LoadNumbers*>par).mass, (<const LoadNumbers*>par).on_body)
    else:
        f.kept[0], f.kept[1] = p.friction[f.iv], p.damping[f.iv]
        if f.kind == FRICTION:
            p.friction[f.iv] += (<const FrictionNumbers*>par).coulomb
            p.damping[f.iv] += (<const FrictionNumbers*>par).viscous
        else:
            p.friction[f.iv] += (<const JammedBrakeNumbers*>par).effort


cdef inline void heal(JointFault* f, mbros_inside* p, double* share) noexcept nogil:
    """At its end, in the opposite order."""
    if f.kind == LOST_EFFORT or f.kind == FREE:
        share[f.iv] = 1.0
    elif f.kind == STUCK:
        p.lock[f.iv] = f.kept[0]
    elif f.kind == LOAD:
        memcpy(p.inertia + 10 * f.body, f.kept, 10 * sizeof(double))
    else:
        p.friction[f.iv], p.damping[f.iv] = f.kept[0], f.kept[1]
