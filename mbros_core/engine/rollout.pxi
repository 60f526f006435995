# Robots of a batch simulated over many steps, a group of lanes after the other. Included by batch.pxi.

from mbros_core.constraints.touch cimport FORCE, LOST, TOUCH_COLUMNS, UNSOLVED, shapes_of, touches_in
from mbros_core.integrators.clock cimport counted_time

cdef enum:                      # what a robot takes from one rollout to the next, in a row:
    TIME_THERE = 1              # time, and since when steps are counted and how many; the number before is the caller's
    STEP_THERE = 4              # the last step's length and scheme
    A_PREV_THERE = 6            # a_prev, then the state's memory of contacts


cdef inline Py_ssize_t memory_columns(const ModelC* m) noexcept nogil:
    return A_PREV_THERE + m.nv + m.nt * TOUCH_COLUMNS


cdef inline void to_lane(const double* x, double* to, int l, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i * LANES + l] = x[i]


cdef inline void from_lane(const double* x, int l, double* to, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] = x[i * LANES + l]


cdef void take_memory(const ModelC* m, Work* s, const double* rows, Py_ssize_t left, double h) noexcept nogil:
    """The robots of a group go on from memories of theirs; of contacts only the rows in use are read."""
    cdef Py_ssize_t rest = m.nt - m.nk - m.nsprings         # where the rows of contacts end
    cdef Py_ssize_t used
    cdef const double* x
    cdef const double* contacts
    cdef double* memory = <double*>s.contact_memory
    cdef double* clock = <double*>s.clock
    cdef int l
    for l in range(LANES):
        x = rows + min(<Py_ssize_t>l, left - 1) * memory_columns(m)
        clock[l], clock[LANES + l] = x[TIME_THERE + 1], x[TIME_THERE + 2]
        if x[TIME_THERE] != counted_time(clock[l], clock[LANES + l], h):
            clock[l], clock[LANES + l] = x[TIME_THERE], 0.0
        to_lane(x + A_PREV_THERE, <double*>s.a_prev, l, m.nv)
        if m.nt:
            contacts = x + A_PREV_THERE + m.nv
            used = (1 + touches_in(contacts, 1, <int>rest - 1)) * TOUCH_COLUMNS
            to_lane(contacts, memory, l, used)
            used = rest * TOUCH_COLUMNS
            to_lane(contacts + used, memory + used * LANES, l, m.nt * TOUCH_COLUMNS - used)


cdef void leave_memory(const ModelC* m, const Work* s, double* rows, Py_ssize_t left, double h, int integrator, const double* clock,
                       Py_ssize_t steps, const int64_t* fault) noexcept nogil:
    """Where the robots of a group end, for take_memory; clock: where they began. Of zeros where a robot was held back: it begins anew."""
    cdef Py_ssize_t rest = m.nt - m.nk - m.nsprings
    cdef Py_ssize_t used
    cdef double* x = rows
    cdef double* contacts
    cdef const double* memory = <const double*>s.contact_memory
    cdef int l
    for l in range(min(<Py_ssize_t>LANES, left)):
        x[TIME_THERE + 1], x[TIME_THERE + 2] = clock[l], clock[LANES + l] + <double>steps
        x[TIME_THERE] = counted_time(x[TIME_THERE + 1], x[TIME_THERE + 2], h)
        x[STEP_THERE], x[STEP_THERE + 1] = (h, 1.0 + integrator) if fault[l] < 0 else (0.0, 0.0)
        memset(x + A_PREV_THERE, 0, m.nv * sizeof(double))
        if fault[l] < 0:
            from_lane(<const double*>s.a_prev, l, x + A_PREV_THERE, m.nv)
        if m.nt and fault[l] < 0:
            contacts = x + A_PREV_THERE + m.nv
            used = (1 + touches_in(memory + l, LANES, <int>rest - 1)) * TOUCH_COLUMNS
            from_lane(memory, l, contacts, used)
            used = rest * TOUCH_COLUMNS
            from_lane(memory + used * LANES, l, contacts + used, m.nt * TOUCH_COLUMNS - used)
        x += memory_columns(m)


cdef inline Py_ssize_t carried_columns(const ModelC* m) noexcept nogil:
    return 1 + 3 * m.ns + 12 * m.nk


cdef void write_carried(const ModelC* m, const Work* s, double* out, Py_ssize_t stride, Py_ssize_t left) noexcept nogil:
    """What the last step left in each robot's memory of contacts (constraints/touch.pxd), added up by shapes."""
    cdef const double* memory
    cdef const double* row
    cdef Py_ssize_t l, k, i
    cdef Py_ssize_t touches = m.scene.most_touches if m.scene != NULL else 0
    cdef int a, b
    for l in range(min(<Py_ssize_t>LANES, left)):
        memory = <const double*>s.contact_memory + l
        memset(out, 0, carried_columns(m) * sizeof(double))
        if m.scene != NULL:
            out[0] = touches_in(memory, LANES, <int>touches)
        for k in range(<Py_ssize_t>out[0]):
            row = memory + (k + 1) * TOUCH_COLUMNS * LANES
            if not shapes_of(row, LANES, m.ns, &a, &b):
                continue
            for i in range(3):
                out[1 + 3 * a + i] -= row[(FORCE + i) * LANES]
                out[1 + 3 * b + i] += row[(FORCE + i) * LANES]
        for k in range(m.nk):
            row = memory + (1 + touches + k) * TOUCH_COLUMNS * LANES
            for i in range(12):
                out[1 + 3 * m.ns + 12 * k + i] = row[i * LANES]
        out += stride


cdef simulate(Batch batch, cnp.ndarray q_start, cnp.ndarray v_start, cnp.ndarray efforts, double dt, int integrator, Py_ssize_t every,
              cnp.ndarray q_end, cnp.ndarray v_end, cnp.ndarray faults, double* carried, const real* bounds,
              const double* begin, double* end):
    """Batch.rollout of C-contiguous arrays of the right shapes. Pointers, because typed memoryviews are a quarter of a module to compile."""
    cdef Py_ssize_t g, b, k, n = cnp.PyArray_DIM(efforts, 0), steps = cnp.PyArray_DIM(efforts, 1)
    cdef Py_ssize_t row, rows = (steps + every - 1) // every
    cdef const double* q0 = data(q_start)
    cdef const double* v0 = data(v_start)
    cdef const double* tau = data(efforts)
    cdef double* q = data(q_end)
    cdef double* v = data(v_end)
    cdef int64_t* fault = <int64_t*>cnp.PyArray_DATA(faults)
    cdef ModelC* m = batch.model_of_call()
    cdef Work* s = &batch.state.c
    cdef real* x = <real*>batch.inputs.p
    cdef Py_ssize_t left
    cdef bint faulty
    cdef double clock[2 * LANES]
    cdef Door door
    memset(&door, 0, sizeof(door))
    copy_reals(<real*>batch.before.p, s.a_prev, m.nv)
    with nogil:
        for b in range(n):
            fault[b] = -1
        for g in range((n + LANES - 1) // LANES):
            b = g * LANES
            left = n - b
            faulty = False
            batch.differ(b, left)
            to_lanes(q0 + b * m.nq, s.q, m.nq, m.nq, left)
            to_lanes(v0 + b * m.nv, s.v, m.nv, m.nv, left)
            copy_reals(s.a_prev, <real*>batch.before.p, m.nv)
            forget_contacts(m, s)
            if m.nt:
                s.contact_memory[LOST] = s.contact_memory[UNSOLVED] = real(0.0)
            s.clock[0], s.clock[1] = s.time[0], real(0.0)
            if begin != NULL:
                take_memory(m, s, begin + b * memory_columns(m), left, dt)
            memcpy(clock, s.clock, sizeof(clock))
            for k in range(steps):
                copy_reals(<real*>batch.good.p, s.q, m.nq)
                copy_reals(<real*>batch.good.p + m.nq, s.v, m.nv)
                to_lanes(tau + (b * steps + k) * m.nv, x, m.nv, steps * m.nv, left)
                if k + 1 < steps:
                    fetch(tau + (b * steps + k + 1) * m.nv, m.nv, steps * m.nv, left)
                if bounds != NULL:
                    clamp(x, bounds, m.nv)
                step(m, s, x, real(dt), integrator)
                if faulty or not (surely_within(s.q, m.nq) and surely_within(s.v, m.nv)):
                    faulty = True           # or nearly so: hold_back() looks at each number
                    hold_back(batch, &fault[b], k, left)
                if (k + 1) % every == 0 or k == steps - 1:
                    row = b * rows + k // every
                    from_lanes(s.q, q + row * m.nq, m.nq, rows * m.nq, left)
                    from_lanes(s.v, v + row * m.nv, m.nv, rows * m.nv, left)
                    if carried != NULL:
                        write_carried(m, s, carried + row * carried_columns(m), rows * carried_columns(m), left)
                if knock(&door):
                    with gil:
                        let_in(&door, None, 0.0)
                if load(&batch.ended):
                    break
            if load(&batch.ended):
                break
            if end != NULL:
                leave_memory(m, s, end + b * memory_columns(m), left, dt, integrator, clock, steps, &fault[b])
    copy_reals(s.a_prev, <real*>batch.before.p, m.nv)


cdef void hold_back(Batch batch, int64_t* fault, Py_ssize_t k, Py_ssize_t left) noexcept nogil:
    """Put lanes that are beyond bounds, or were so in an earlier step, back to their last good state."""
    cdef ModelC* m = &batch.model.c
    cdef double* now = <double*>batch.state.c.q
    cdef double* rates = <double*>batch.state.c.v
    cdef double* good = batch.good.p
    cdef int i, l
    for l in range(LANES):
        if lane_within(now, m.nq, l) and lane_within(rates, m.nv, l) and (l >= left or fault[l] < 0):
            continue
        for i in range(m.nq):
            now[i * LANES + l] = good[i * LANES + l]
        for i in range(m.nv):
            rates[i * LANES + l] = good[(m.nq + i) * LANES + l]
        if l < left and fault[l] < 0:
            fault[l] = k
