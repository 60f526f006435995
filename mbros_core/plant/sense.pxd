"""The sensors after a step: each samples on its own grid, from what is then true (truth.pxd)."""
from mbros_core.plant.device cimport STEPS, Devices, JointSignal
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.plant.truth cimport see_contacts, see_frame, see_wrench
from mbros_core.plant.sensors.dispatch cimport A_FRAME, A_WRENCH, CONTACTS, accelerates, follows, read, see, sight
from mbros_core.plant.sensors.end cimport change
from mbros_core.plant.sensors.sensor cimport Sensor, Truth


cdef inline bint due(long long num, long long den, double tick) noexcept nogil:
    """Whether step `tick` is on the grid of num / den samples a step."""
    cdef long long k = <long long>tick
    return num >= den or (k * num) // den != ((k - 1) * num) // den


cdef inline bint due_soon(long long num, long long den, double tick) noexcept nogil:
    """In this step or one of the next two: who reads means over three steps (plant/sensors/end.pxd) sees these."""
    cdef long long k = <long long>tick
    return num >= den or ((k + 2) * num) // den != ((k - 1) * num) // den


cdef inline double since_last(long long num, long long den, double tick) noexcept nogil:
    """Steps since the sample before that of step `tick`, or since the beginning: 3, 3 and 4 by turns of 3 / 10."""
    cdef long long k = <long long>tick
    return 1.0 if num >= den else k - (((k * num) // den - 1) * den + num - 1) // num


cdef inline void sample(Devices* d, const Sensor* s, double dt, const Truth* t) noexcept nogil:
    read(s.kind, d.block + s.par, d.block + s.mem, &s.stream, dt * s.den / s.num, dt * since_last(s.num, s.den, d.block[STEPS]), t,
         d.block + d.given + s.out)


cdef inline void pass_over(Devices* d, const Sensor* s) noexcept nogil:
    cdef int i
    for i in range(s.signals):
        d.block[d.fresh + s.signal + i] = 0.0


cdef inline void feel(Devices* d, double dt) noexcept nogil:
    """Sensors of what joints carry, before kinematics() writes over it. Where it is not known there is no sample."""
    cdef mbros_inside* p = d.plant
    cdef double* b = d.block
    cdef const Sensor* s
    cdef Truth t
    cdef bint now, looks
    cdef int k
    for k in range(d.nsensors):
        s = &d.sensors[k]
        if sight(s.kind) != A_WRENCH:
            continue
        now = due(s.num, s.den, b[STEPS])
        looks = follows(s.kind, b + s.par) or due_soon(s.num, s.den, b[STEPS])
        if looks and not d.carried:
            d.carried = p.wrenches(p.self, d.felt)
        if looks and d.carried:
            see_wrench(d, p, s, &t)
            see(s.kind, b + s.par, b + s.mem, dt, b[STEPS], d.reach, &t)
        if now and d.carried:
            sample(d, s, dt, &t)
        else:
            pass_over(d, s)


cdef inline bint accelerations_due(const Devices* d) noexcept nogil:
    """Whether a sensor of accelerations is due soon."""
    cdef const Sensor* s
    cdef int k
    for k in range(d.nsensors):
        s = &d.sensors[k]
        if accelerates(s.kind) and due_soon(s.num, s.den, d.block[STEPS]):
            return True
    return False


cdef inline void accelerate(Devices* d, double* a, double dt) noexcept nogil:
    """a: the coordinates' accelerations at the end of the step, along axes that do not turn. Of those that follow a law they are means."""
    cdef mbros_inside* p = d.plant
    cdef double* last = d.block + d.recent
    cdef double* before = last + p.nv
    cdef double x
    cdef int i
    p.mean_accelerations(p.self, d.scratch, d.scratch + p.nq, dt, a)
    for i in range(p.nv):
        x = a[i]
        a[i] = x + (0.5 if p.lock[i] != 0.0 else d.reach) * change(x, last[i], before[i])
        before[i], last[i] = last[i], x


cdef inline void sense(Devices* d, double* a, double dt) noexcept nogil:
    """What is true, and the samples of the sensors whose turn it is. a: room for (nv,)."""
    cdef mbros_inside* p = d.plant
    cdef double* b = d.block
    cdef const JointSignal* j
    cdef const Sensor* s
    cdef double* out
    cdef double* fresh = b + d.fresh
    cdef Truth t
    cdef bint seen = False
    cdef bint accelerated = False
    cdef int i, k, what
    for i in range(d.njoints):
        j = &d.joints[i]
        out = b + d.given + d.signals[j.signal].at
        out[0], out[1], out[2] = p.q[j.iq], p.v[j.iv], p.effort[j.iv]
    for i in range(d.ncommands, d.nsignals):
        fresh[i] = 1.0
    if d.nwrenches:
        feel(d, dt)
    if d.recent and accelerations_due(d):
        accelerate(d, a, dt)
        accelerated = True
    for k in range(d.nsensors):
        s = &d.sensors[k]
        what = sight(s.kind)
        if what == A_WRENCH:
            continue
        if not due(s.num, s.den, b[STEPS]):
            pass_over(d, s)
            continue
        if what == A_FRAME:
            if not seen:
                p.kinematics(p.self, a if accelerated else NULL)
                seen = True
            see_frame(p, s, &t)
        elif what == CONTACTS:
            see_contacts(p, s, &t)
        else:
            t.q, t.v, t.effort = p.q[s.iq], p.v[s.iv], p.effort[s.iv]
            if s.drive >= 0:
                t.q, t.v = b[d.given + s.drive], b[d.given + s.drive + 1]
            t.other_q = p.q[s.other_iq] if s.other_iq >= 0 else 0.0
        sample(d, s, dt, &t)
