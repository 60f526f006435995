"""One step of a robot with devices:

    commands -> channels -> actuators -> step (forces, contact, constraints) -> sensors -> channels -> readings

Actuators give the step efforts and inertias (actuators/actuator.pxd). When one finds afterwards that it was in the wrong mode, at a limit
that it did not expect, the step is taken again from the same start: what acted is then within its limits, exactly.
"""
from libc.string cimport memcpy

from mbros_core.actuators.actuator cimport MOST_PASSES, Actuator, Effect, End, Given
from mbros_core.actuators.dispatch cimport commit, effect, judge
from mbros_core.channels.channel cimport WIDEST, Channel
from mbros_core.channels.dispatch cimport passed
from mbros_core.devices.device cimport REPEATED, STEPS, Devices, JointSignal, Signal
from mbros_core.devices.inside cimport mbros_inside
from mbros_core.sensors.dispatch cimport read
from mbros_core.sensors.sensor cimport Sensor, Truth


cdef inline bint due(long long num, long long den, double tick) noexcept nogil:
    """Whether step `tick` is on the grid of num / den samples a step."""
    cdef long long k = <long long>tick
    return num >= den or (k * num) // den != ((k - 1) * num) // den


cdef inline void transmit(Devices* d, int first, int last) noexcept nogil:
    """Through the channels: value of each of these signals where a message comes out."""
    cdef double* b = d.block
    cdef double x[WIDEST]
    cdef double tick = b[STEPS]
    cdef const Signal* s
    cdef Channel* c
    cdef bint fresh
    cdef int i, k
    for i in range(first, last):
        s = &d.signals[i]
        fresh = b[d.fresh + i] != 0.0
        memcpy(x, b + d.given + s.at, s.size * sizeof(double))
        for k in range(s.channels):
            c = &d.channels[s.channel + k]
            fresh = passed(c, b + c.par, b + c.mem, tick, due(c.num, c.den, tick), s.size, x, fresh)
        b[d.fresh + i] = 0.0
        if fresh:
            memcpy(b + d.value + s.at, x, s.size * sizeof(double))
            b[d.sampled + i] = tick


cdef inline void given_to(const Devices* d, const Actuator* a, double dt, Given* g) noexcept nogil:
    cdef const double* value = d.block + d.value
    g.q, g.v, g.h, g.ahead = d.scratch[a.iq], d.scratch[d.plant.nq + a.iv], dt, d.ahead * dt
    g.position, g.velocity, g.effort = value[a.command[0]], value[a.command[1]], value[a.command[2]]


cdef inline double* parts(const Devices* d, int k) noexcept nogil:
    """Of the scratch, behind q, v, a_prev and the contacts: 0 efforts from outside, 1 effects, 2 inertias, 3 vdot; (nv,) each."""
    return d.scratch + d.plant.nq + 2 * d.plant.nv + d.plant.contact_size + k * d.plant.nv


cdef inline void keep(const Devices* d) noexcept nogil:
    cdef mbros_inside* p = d.plant
    memcpy(d.scratch, p.q, p.nq * sizeof(double))
    memcpy(d.scratch + p.nq, p.v, p.nv * sizeof(double))
    memcpy(d.scratch + p.nq + p.nv, p.a_prev, p.nv * sizeof(double))
    memcpy(d.scratch + p.nq + 2 * p.nv, p.contact_memory, p.contact_size * sizeof(double))


cdef inline void go_back(const Devices* d, const double* clock) noexcept nogil:
    cdef mbros_inside* p = d.plant
    memcpy(p.q, d.scratch, p.nq * sizeof(double))
    memcpy(p.v, d.scratch + p.nq, p.nv * sizeof(double))
    memcpy(p.a_prev, d.scratch + p.nq + p.nv, p.nv * sizeof(double))
    memcpy(p.contact_memory, d.scratch + p.nq + 2 * p.nv, p.contact_size * sizeof(double))
    p.time[0], p.clock[0], p.clock[1] = clock[0], clock[1], clock[2]


cdef inline void clamp(const Devices* d, const double* effort) noexcept nogil:
    """The efforts from outside, within the joints' limits."""
    cdef mbros_inside* p = d.plant
    cdef double* x = parts(d, 0)
    cdef int i
    for i in range(p.nv):
        x[i] = effort[i]
        if x[i] > p.effort_limit[i]:
            x[i] = p.effort_limit[i]
            p.clamped[0] += 1.0
        elif x[i] < -p.effort_limit[i]:
            x[i] = -p.effort_limit[i]
            p.clamped[0] += 1.0


cdef inline int attempt(Devices* d, double dt) noexcept nogil:
    """The step under what the actuators do in their present modes; vdot, and in plant.effort what acted."""
    cdef mbros_inside* p = d.plant
    cdef double* b = d.block
    cdef double* G = parts(d, 2)
    cdef double* vdot = parts(d, 3)
    cdef Actuator* a
    cdef Given g
    cdef Effect e
    cdef double rotor
    cdef int i, k, code
    memcpy(p.effort, parts(d, 0), p.nv * sizeof(double))
    for i in range(p.nv):
        G[i] = 0.0
    for k in range(d.nactuators):
        a = &d.actuators[k]
        given_to(d, a, dt, &g)
        effect(a.kind, b + a.par, b + a.mem, &g, &e)
        parts(d, 1)[a.iv] = e.tau
        p.effort[a.iv] += e.tau
        G[a.iv] = e.inertia
    for i in range(p.nv):                   # vdot is of later: its place holds the rotors for as long
        vdot[i] = p.rotor_inertia[i]
        p.rotor_inertia[i] += G[i]
    code = p.advance(p.self, p.effort, dt)
    for i in range(p.nv):
        rotor = vdot[i]
        p.rotor_inertia[i] = rotor
        vdot[i] = (p.v[i] - d.scratch[p.nq + i]) / dt
        if code == 0:
            p.effort[i] -= G[i] * vdot[i]
    return code


cdef inline void end_of(const Devices* d, const Actuator* a, End* e) noexcept nogil:
    e.v, e.vdot = d.plant.v[a.iv], parts(d, 3)[a.iv]
    e.effective = parts(d, 1)[a.iv] - parts(d, 2)[a.iv] * e.vdot


cdef inline bint wrong_mode(Devices* d, double dt) noexcept nogil:
    """Every actuator is asked, so that all that were wrong are right in the next pass."""
    cdef double* b = d.block
    cdef Actuator* a
    cdef Given g
    cdef End e
    cdef bint wrong = False
    cdef int k
    for k in range(d.nactuators):
        a = &d.actuators[k]
        given_to(d, a, dt, &g)
        end_of(d, a, &e)
        if judge(a.kind, b + a.par, b + a.mem, &g, &e):
            wrong = True
    return wrong


cdef inline int actuate(Devices* d, double dt) noexcept nogil:
    """The step, taken again while some actuator was in a wrong mode; then the actuators' own memories and readings."""
    cdef double* b = d.block
    cdef double clock[3]
    cdef Actuator* a
    cdef Given g
    cdef End e
    cdef int k, code, again = 0
    clock[0], clock[1], clock[2] = d.plant.time[0], d.plant.clock[0], d.plant.clock[1]
    keep(d)
    for k in range(d.nactuators):
        a = &d.actuators[k]
        b[a.mem] = b[a.mem + 1] = 0.0
    code = attempt(d, dt)
    while code == 0 and again < MOST_PASSES - 1 and wrong_mode(d, dt):
        go_back(d, clock)
        code = attempt(d, dt)
        again += 1
    if code != 0:
        return code
    b[REPEATED] += again
    for k in range(d.nactuators):
        a = &d.actuators[k]
        given_to(d, a, dt, &g)
        end_of(d, a, &e)
        commit(a.kind, b + a.par, b + a.mem, &g, &e, b + d.given + d.signals[a.signal].at)
    return 0


cdef inline void frame_truth(const mbros_inside* p, const Sensor* s, Truth* t) noexcept nogil:
    """w and f = a - g of a frame, in its own axes. Its origin is R p from the body's."""
    cdef const double* R = p.X_WB + 12 * s.body
    cdef const double* V = p.V_WB + 6 * s.body
    cdef const double* A = p.A_WB + 6 * s.body
    cdef double arm[3]
    cdef double turn[3]
    cdef double f[3]
    cdef double w[3]
    cdef double u[3]
    cdef int i, k
    for i in range(3):
        arm[i] = R[3 * i] * s.X_BS[9] + R[3 * i + 1] * s.X_BS[10] + R[3 * i + 2] * s.X_BS[11]
    cross(V, arm, turn)
    cross(V, turn, f)
    cross(A, arm, turn)
    for i in range(3):
        f[i] += A[3 + i] + turn[i] - p.gravity[i]
    for i in range(3):                      # body axes, then the sensor's
        w[i] = R[i] * V[0] + R[3 + i] * V[1] + R[6 + i] * V[2]
        u[i] = R[i] * f[0] + R[3 + i] * f[1] + R[6 + i] * f[2]
    for i in range(3):
        t.w[i] = t.f[i] = 0.0
        for k in range(3):
            t.w[i] += s.X_BS[3 * k + i] * w[k]
            t.f[i] += s.X_BS[3 * k + i] * u[k]


cdef inline void cross(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


cdef inline void sense(Devices* d, double dt) noexcept nogil:
    """What is true, and the samples of the sensors whose turn it is."""
    cdef mbros_inside* p = d.plant
    cdef double* b = d.block
    cdef const JointSignal* j
    cdef const Sensor* s
    cdef double* out
    cdef Truth t
    cdef bint seen = False
    cdef int i, k
    for i in range(d.njoints):
        j = &d.joints[i]
        out = b + d.given + d.signals[j.signal].at
        out[0], out[1], out[2] = p.q[j.iq], p.v[j.iv], p.effort[j.iv]
    for i in range(d.ncommands, d.nsignals):
        b[d.fresh + i] = 1.0
    for k in range(d.nsensors):
        s = &d.sensors[k]
        if due(s.num, s.den, b[STEPS]):
            if s.body >= 0:
                if not seen:
                    p.kinematics(p.self, parts(d, 3))
                    seen = True
                frame_truth(p, s, &t)
            else:
                t.q, t.v, t.effort = p.q[s.iq], p.v[s.iv], p.effort[s.iv]
            read(s.kind, b + s.par, b + s.mem, &s.stream, dt * s.den / s.num, &t, b + d.given + s.out)
        else:
            for i in range(s.signals):
                b[d.fresh + s.signal + i] = 0.0


cdef inline int tick(Devices* d, const double* effort, double dt) noexcept nogil:
    """One step. Returns 0, or the fault of the plant, whose state is then the last good one."""
    cdef int i, code
    d.block[STEPS] += 1.0
    for i in range(d.ncommands):
        d.block[d.fresh + i] = 1.0
    transmit(d, 0, d.ncommands)
    clamp(d, effort)
    code = actuate(d, dt)
    if code == 0:
        sense(d, dt)
        transmit(d, d.ncommands, d.nsignals)
    return code
