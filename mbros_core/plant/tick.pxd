"""One step of a robot with devices:

    commands -> channels -> actuators -> step (forces, contact, constraints) -> sensors -> channels -> readings

Actuators give the step efforts and inertias (plant/actuators/actuator.pxd). When one finds afterwards that it was in the wrong mode, at a limit
that it did not expect, the step is taken again from the same start: what acted is then within its limits, exactly.
"""
from libc.math cimport NAN
from libc.string cimport memcpy, memset

from mbros_core.plant.actuators.actuator cimport CLAMPING, TOGETHER, Actuator, Effect, End, Given
from mbros_core.plant.actuators.dispatch cimport LIMITS, commit, effect, judge
from mbros_core.plant.actuators.limits cimport limit_commands
from mbros_core.plant.channels.channel cimport WIDEST, Channel
from mbros_core.plant.channels.dispatch cimport passed
from mbros_core.plant.ahead cimport look_ahead
from mbros_core.plant.clamp cimport clamp_efforts
from mbros_core.plant.device cimport REPEATED, STEPS, Devices, Signal
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.plant.letter cimport done, take
from mbros_core.plant.sense cimport due, sense
from mbros_core.plant.source cimport lead_all, say_efforts
from mbros_core.plant.faults.fault cimport ACTIVE, SINCE, SignalFault
from mbros_core.plant.faults.on_joint cimport harm, heal
from mbros_core.plant.faults.on_signal cimport worsened
from mbros_core.plant.faults.trigger cimport watch_one


cdef inline void copy_numbers(int n, const double* x, double* out) noexcept nogil:
    """Most signals are one number."""
    if n == 1:
        out[0] = x[0]
    else:
        memcpy(out, x, n * sizeof(double))


cdef inline void take_numbers(Devices* d) noexcept nogil:
    """Numbers of the devices that came since the last step."""
    if take(d.word):
        memcpy(d.block + d.numbers, d.letter, d.nnumbers * sizeof(double))
        done(d.word)


cdef inline void watch(Devices* d) noexcept nogil:
    """Which faults act in this step."""
    cdef double* b = d.block
    cdef const double* seen
    cdef int k
    for k in range(d.nfaults):
        seen = NULL
        if d.faults[k].place >= 0:
            seen = b + d.value + d.faults[k].place
        watch_one(b + d.faults[k].par, b + d.faults[k].mem, seen, b[STEPS])


cdef inline bint through_faults(Devices* d, int first, int count, int n, double* x, bint fresh) noexcept nogil:
    """Through the faults of a signal that act. One that has just begun remembers nothing."""
    cdef double* b = d.block
    cdef const double* trigger
    cdef SignalFault* f
    cdef int k
    for k in range(first, first + count):
        f = &d.signal_faults[k]
        trigger = b + d.faults[f.fault].mem
        if trigger[ACTIVE] != 0.0:
            if trigger[SINCE] == b[STEPS]:
                memset(b + f.mem + 1, 0, (f.memory - 1) * sizeof(double))
            fresh = worsened(f, b + f.par, b + f.mem, b[STEPS], trigger[SINCE], n, x, fresh)
    return fresh


cdef inline void transmit(Devices* d, int first, int last) noexcept nogil:
    """Through the channels: value of each of these signals where a message comes out."""
    cdef double* b = d.block
    cdef double* given = b + d.given        # places by themselves: what is written could be d, as far as a compiler knows
    cdef double* came = b + d.value
    cdef double* fresh_of = b + d.fresh
    cdef double* sampled = b + d.sampled
    cdef const Signal* signals = d.signals
    cdef double x[WIDEST]
    cdef double tick = b[STEPS]
    cdef const Signal* s
    cdef const double* sent
    cdef Channel* c
    cdef bint fresh
    cdef int i, k
    for i in range(first, last):
        s = &signals[i]
        fresh = fresh_of[i] != 0.0
        sent = given + s.at
        if s.channels | s.earlies | s.lates:
            copy_numbers(s.size, sent, x)
            sent = x
            if s.earlies:
                fresh = through_faults(d, s.early, s.earlies, s.size, x, fresh)
            for k in range(s.channels):
                c = &d.channels[s.channel + k]
                fresh = passed(c, b + c.par, b + c.mem, tick, due(c.num, c.den, tick), s.size, x, fresh)
            if s.lates:
                fresh = through_faults(d, s.late, s.lates, s.size, x, fresh)
        fresh_of[i] = 0.0
        if fresh:
            copy_numbers(s.size, sent, came + s.at)
            sampled[i] = tick


cdef inline double command(const Devices* d, const Actuator* a, int k) noexcept nogil:
    return d.block[d.value + a.command[k]] if a.command[k] >= 0 else NAN


cdef inline void give(Devices* d, double dt) noexcept nogil:
    """What each actuator is given in this step."""
    cdef mbros_inside* p = d.plant
    cdef Actuator* a
    cdef Given* g
    cdef int k
    for k in range(d.nactuators):
        a = &d.actuators[k]
        g = &d.given_to[k]
        g.q, g.v, g.h, g.ahead, g.reach = p.q[a.iq], p.v[a.iv], dt, d.ahead * dt, d.reach
        g.position, g.velocity, g.effort = command(d, a, 0), command(d, a, 1), command(d, a, 2)
        g.stiffness, g.damping, g.brake, g.voltage = command(d, a, 3), command(d, a, 4), command(d, a, 5), command(d, a, 6)
        if a.kind == LIMITS:
            limit_commands(d.block + a.par, d.block + a.mem, g)
        elif a.limiter >= 0:
            g.position, g.velocity, g.effort = (d.given_to[a.limiter].position, d.given_to[a.limiter].velocity,
                                                d.given_to[a.limiter].effort)


cdef inline double* parts(const Devices* d, int k) noexcept nogil:
    """Of the scratch, behind q, v, a_prev and the contacts: 0 efforts from outside, 1 inertias, 2 vdot, 3 share, 4 of sensors; (nv,)
    each."""
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


cdef inline void act(Devices* d) noexcept nogil:
    """What the actuators do in their present modes, into plant.effort and inertias."""
    cdef mbros_inside* p = d.plant
    cdef double* G = parts(d, 1)
    cdef const Actuator* a
    cdef Effect* e
    cdef int i, k
    memcpy(p.effort, parts(d, 0), p.nv * sizeof(double))
    for i in range(p.nv):
        G[i] = 0.0
    for k in range(d.nactuators):
        a = &d.actuators[k]
        e = &d.effects[k]
        effect(a.kind, d.block + a.par, d.block + a.mem, &d.given_to[k], e)
        p.effort[a.iv] += e.tau
        G[a.iv] += e.inertia


cdef inline bint stand(const Devices* d) noexcept nogil:
    """Coordinates that an actuator holds still are locked for the step, as far as they are free and it reaches them. Whether there are any."""
    cdef mbros_inside* p = d.plant
    cdef const double* share = parts(d, 3)
    cdef const Actuator* a
    cdef bint some = False
    cdef bint moving = False
    cdef int k
    for k in range(d.nactuators):
        a = &d.actuators[k]
        if d.effects[k].stands:
            if p.lock[a.iv] == 0.0 and share[a.iv] > 0.0:
                p.lock[a.iv], p.a_prev[a.iv] = 1.0, 0.0
                some, moving = True, moving or p.v[a.iv] != 0.0
            else:
                d.effects[k].stands = False
    if moving:
        p.stop(p.self)
    return some


cdef inline void stood(Devices* d, bint good) noexcept nogil:
    """After it they are free again, and, of a good step, what it took of the actuator is what the coordinate carried beyond what others did."""
    cdef mbros_inside* p = d.plant
    cdef int k, i
    for k in range(d.nactuators):
        if d.effects[k].stands:
            p.lock[d.actuators[k].iv] = 0.0
    d.carried = p.carried(p.self) if good else 0
    for k in range(d.nactuators):
        i = d.actuators[k].iv
        if d.effects[k].stands and d.carried:
            d.effects[k].tau = p.carried_effort[i] - p.effort[i]
            p.effort[i] += d.effects[k].tau


cdef inline int attempt(Devices* d, double dt) noexcept nogil:
    """The step under what the actuators do in their present modes; vdot, and in plant.effort what acted."""
    cdef mbros_inside* p = d.plant
    cdef double* G = parts(d, 1)
    cdef double* vdot = parts(d, 2)
    cdef const double* share = parts(d, 3)
    cdef double rotor
    cdef bint still
    cdef int i, code
    act(d)
    still = stand(d)
    d.carried = 0
    for i in range(p.nv):                   # vdot is of later: its place holds the rotors for as long
        vdot[i] = p.rotor_inertia[i]
        p.rotor_inertia[i] += share[i] * G[i]
        p.effort[i] *= share[i]
    code = p.advance(p.self, p.effort, dt)
    for i in range(p.nv):
        rotor = vdot[i]
        p.rotor_inertia[i] = rotor
        vdot[i] = (p.v[i] - d.scratch[p.nq + i]) / dt
        if code == 0:
            p.effort[i] -= share[i] * G[i] * vdot[i]
    if still:
        stood(d, code == 0)
    return code


cdef inline void end_of(const Devices* d, int k, End* e) noexcept nogil:
    cdef const Actuator* a = &d.actuators[k]
    e.q, e.v, e.vdot = d.plant.q[a.iq], d.plant.v[a.iv], parts(d, 2)[a.iv]
    e.effective, e.stood = d.effects[k].tau - d.effects[k].inertia * e.vdot, d.effects[k].stands


cdef inline bint wrong_mode(Devices* d, bint together, bint releases) noexcept nogil:
    """Every actuator is asked, so that all that were wrong are right in the next pass; not together, up to the first that was wrong."""
    cdef const Actuator* a
    cdef End e
    cdef bint wrong = False
    cdef int k
    for k in range(d.nactuators):
        a = &d.actuators[k]
        end_of(d, k, &e)
        d.given_to[k].releases = releases
        if judge(a.kind, d.block + a.par, d.block + a.mem, &d.given_to[k], &e):
            wrong = True
            if not together:
                break
    return wrong


cdef inline int actuate(Devices* d, double dt) noexcept nogil:
    """The step, taken again while some actuator was in a wrong mode; then the actuators' own memories and readings."""
    cdef double* b = d.block
    cdef double clock[3]
    cdef const Actuator* a
    cdef End e
    cdef int k, code, again = 0
    clock[0], clock[1], clock[2] = d.plant.time[0], d.plant.clock[0], d.plant.clock[1]
    keep(d)
    give(d, dt)
    for k in range(d.nactuators):
        a = &d.actuators[k]
        b[a.mem] = b[a.mem + 1] = 0.0
    code = attempt(d, dt)
    while code == 0 and again < d.most_passes - 1 and wrong_mode(d, again < TOGETHER, again < d.most_passes - CLAMPING):
        go_back(d, clock)
        code = attempt(d, dt)
        again += 1
    if code != 0:
        go_back(d, clock)       # an actuator that holds still has stopped its coordinate
        return code
    b[REPEATED] += again
    for k in range(d.nactuators):
        a = &d.actuators[k]
        end_of(d, k, &e)
        commit(a.kind, b + a.par, b + a.mem, &d.given_to[k], &e, b + d.given + d.signals[a.signal].at)
    return 0


cdef inline int harmed(Devices* d, double dt) noexcept nogil:
    """The step, and what sensors see of it, under the faults of joints and bodies that act."""
    cdef double* b = d.block
    cdef double* share = parts(d, 3)
    cdef int k, code
    for k in range(d.njoint_faults):
        if b[d.faults[d.joint_faults[k].fault].mem + ACTIVE] != 0.0:
            harm(&d.joint_faults[k], b + d.joint_faults[k].par, d.plant, share)
    code = actuate(d, dt)
    if code == 0:
        sense(d, parts(d, 4), dt)
    for k in range(d.njoint_faults - 1, -1, -1):
        if b[d.faults[d.joint_faults[k].fault].mem + ACTIVE] != 0.0:
            heal(&d.joint_faults[k], d.plant, share)
    return code


cdef inline int tick(Devices* d, const double* effort, double dt) noexcept nogil:
    """One step. Returns 0, or the fault of the plant, whose state is then the last good one."""
    cdef int i, code
    take_numbers(d)
    d.block[STEPS] += 1.0
    look_ahead(d.aheads, d.naheads, d.blocks)
    if d.nsources:
        lead_all(d, dt)
    watch(d)
    for i in range(d.ncommands):
        d.block[d.fresh + i] = 1.0
    transmit(d, 0, d.ncommands)
    clamp_efforts(d.plant.nv, effort, d.plant.effort_limit, parts(d, 0), d.plant.clamped)
    code = harmed(d, dt)
    if code == 0:
        transmit(d, d.ncommands, d.nsignals)
        if d.nsources:
            say_efforts(d)
    return code
