# Many robots at once: LANES of them side by side, the same C code as for one. Included by every module.

cdef class Batch:
    """Batched algorithms of one model on one thread. Arrays are (batch, n), float64, C-contiguous; the GIL is released.

    Used through mbros.rollout, which checks arguments, chooses the module for this CPU and shares the batch
    between threads (each with a Batch of its own: the workspace is not shared).
    """
    cdef readonly Model model
    cdef readonly State state
    cdef Memory inputs          # tau or vdot of one group
    cdef Memory good            # last good q, v of one group
    cdef int64_t ended          # end() was called

    lanes = LANES

    def __init__(self, Model model not None, const double[::1] gravity=None):
        self.model = model
        self.state = State(model)
        self.inputs = Memory((model.c.nv + 1) * LANES)
        self.good = Memory((model.c.nq + model.c.nv + 1) * LANES)
        if gravity is not None:
            fill(<real*>self.state.c.gravity, gravity)

    def forward_dynamics(self, const double[:, ::1] q not None, const double[:, ::1] v not None, const double[:, ::1] tau not None,
                         double[:, ::1] out not None):
        """out[b] = vdot of robot b. Returns the index of the first robot whose result is not finite, or -1."""
        cdef Py_ssize_t g, b, n = q.shape[0]
        cdef Py_ssize_t bad = -1
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef real* x = <real*>self.inputs.p
        cdef Door door
        memset(&door, 0, sizeof(door))
        with nogil:
            for g in range((n + LANES - 1) // LANES):
                b = g * LANES
                self.gather(&q[b, 0], &v[b, 0], &tau[b, 0], n - b)
                passive_torques(m, s)
                add_passive(m, x, s)
                forward_dynamics(m, s.tau, s.vdot, s)
                if bad < 0 and not all_finite(s.vdot, m.nv):
                    bad = b + first_bad_lane(s.vdot, m.nv)
                scatter(s.vdot, &out[b, 0], m.nv, n - b)
                if knock(&door):
                    with gil:
                        let_in(&door, None, 0.0)
        return bad

    def inverse_dynamics(self, const double[:, ::1] q not None, const double[:, ::1] v not None, const double[:, ::1] vdot not None,
                         double[:, ::1] out not None):
        """out[b] = tau of robot b. Returns the index of the first robot whose result is not finite, or -1."""
        cdef Py_ssize_t g, b, n = q.shape[0]
        cdef Py_ssize_t bad = -1
        cdef int i
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef real* x = <real*>self.inputs.p
        cdef Door door
        memset(&door, 0, sizeof(door))
        with nogil:
            for g in range((n + LANES - 1) // LANES):
                b = g * LANES
                self.gather(&q[b, 0], &v[b, 0], &vdot[b, 0], n - b)
                positions(m, s)
                velocities(m, s)
                passive_torques(m, s)
                inverse_dynamics(m, x, s.tau, s)
                for i in range(m.nv):
                    s.tau[i] = s.tau[i] - s.passive[i]
                if bad < 0 and not all_finite(s.tau, m.nv):
                    bad = b + first_bad_lane(s.tau, m.nv)
                scatter(s.tau, &out[b, 0], m.nv, n - b)
                if knock(&door):
                    with gil:
                        let_in(&door, None, 0.0)
        return bad

    def rollout(self, const double[:, ::1] q0 not None, const double[:, ::1] v0 not None, const double[:, :, ::1] tau not None,
                double dt, int integrator, double[:, :, ::1] q not None, double[:, :, ::1] v not None,
                long long[::1] fault not None):
        """Simulate every robot over tau.shape[1] steps: q[b, k], v[b, k] after step k + 1, with the parameters in `state`.

        A robot of which a number would leave the finite ones, or 1e10, keeps its last good state to the end, and fault[b] becomes
        the step at which that happened (-1: never). Ctrl-C in the main thread, and end() from any other, end it between two steps.
        """
        cdef Py_ssize_t g, b, k, n = q0.shape[0], steps = tau.shape[1]
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef real* x = <real*>self.inputs.p
        cdef Py_ssize_t left
        cdef bint faulty
        cdef Door door
        memset(&door, 0, sizeof(door))
        with nogil:
            for b in range(n):
                fault[b] = -1
            for g in range((n + LANES - 1) // LANES):
                b = g * LANES
                left = n - b
                faulty = False
                pack(&q0[b, 0], s.q, m.nq, m.nq, left)
                pack(&v0[b, 0], s.v, m.nv, m.nv, left)
                for k in range(steps):
                    copy_reals(<real*>self.good.p, s.q, m.nq)
                    copy_reals(<real*>self.good.p + m.nq, s.v, m.nv)
                    pack(&tau[b, k, 0], x, m.nv, steps * m.nv, left)
                    step(m, s, x, real(dt), integrator)
                    if faulty or not (within(s.q, m.nq) and within(s.v, m.nv)):
                        faulty = True
                        self.hold(&fault[b], k, left)
                    unpack(s.q, &q[b, k, 0], m.nq, steps * m.nq, left)
                    unpack(s.v, &v[b, k, 0], m.nv, steps * m.nv, left)
                    if knock(&door):
                        with gil:
                            let_in(&door, None, 0.0)
                    if load(&self.ended):
                        break
                if load(&self.ended):
                    break
        self.state.stage = STAGE_NONE

    def end(self):
        """End a rollout that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""
        store(&self.ended, 1)

    cdef void gather(self, const double* q, const double* v, const double* x, Py_ssize_t left) noexcept nogil:
        cdef ModelC* m = &self.model.c
        pack(q, self.state.c.q, m.nq, m.nq, left)
        pack(v, self.state.c.v, m.nv, m.nv, left)
        pack(x, <real*>self.inputs.p, m.nv, m.nv, left)

    cdef void hold(self, long long* fault, Py_ssize_t k, Py_ssize_t left) noexcept nogil:
        """Put lanes that are beyond bounds, or were so in an earlier step, back to their last good state."""
        cdef ModelC* m = &self.model.c
        cdef double* now = <double*>self.state.c.q
        cdef double* rates = <double*>self.state.c.v
        cdef double* good = self.good.p
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


cdef inline bint within(const real* x, int n) noexcept nogil:
    """Whether every number, in every lane, is within the bounds of a moving plant."""
    cdef real beyond = real(0.0)
    cdef int i
    for i in range(n):
        beyond = select(less(magnitude(x[i]), real(LARGEST)), beyond, real(1.0))
    return not any_lane(nonzero(beyond))


cdef inline bint lane_within(const double* x, int n, int l) noexcept nogil:
    cdef int i
    for i in range(n):
        if not -LARGEST < x[i * LANES + l] < LARGEST:
            return False
    return True


cdef int first_bad_lane(const real* x, int n) noexcept nogil:
    """The first lane in which some number is not finite; one must be."""
    cdef const double* p = <const double*>x
    cdef int i, l
    for l in range(LANES):
        for i in range(n):
            if not p[i * LANES + l] - p[i * LANES + l] == 0.0:
                return l
    return 0


cdef inline void pack(const double* x, real* to, int n, Py_ssize_t stride, Py_ssize_t left) noexcept nogil:
    """LANES rows of n numbers, `stride` apart, become n reals; where fewer are left the last row is repeated."""
    cdef double* p = <double*>to
    cdef Py_ssize_t row
    cdef int i, l
    for l in range(LANES):
        row = (l if l < left else left - 1) * stride
        for i in range(n):
            p[i * LANES + l] = x[row + i]


cdef inline void unpack(const real* x, double* to, int n, Py_ssize_t stride, Py_ssize_t left) noexcept nogil:
    cdef const double* p = <const double*>x
    cdef int i, l
    for l in range(LANES):
        if l < left:
            for i in range(n):
                to[l * stride + i] = p[i * LANES + l]


cdef inline void scatter(const real* x, double* to, int n, Py_ssize_t left) noexcept nogil:
    unpack(x, to, n, n, left)
