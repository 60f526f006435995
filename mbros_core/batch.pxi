# Many robots at once: LANES of them side by side, the same C code as for one. Included by every module but the dual ones.

cdef class Batch:
    """Batched algorithms of one model on one thread. Arrays are (batch, n), float64; the GIL is released.

    Used through mbros.rollout, which says in words what goes wrong, chooses the module for this CPU and shares the batch between threads
    (each with a Batch of its own: the workspace is not shared). All arrays must fit the model and each other before the first is touched;
    those that results go to are C-contiguous and do not overlap each other. What is read may overlap them.
    """
    cdef readonly Model model
    cdef readonly State state
    cdef Memory inputs          # tau or vdot of one group
    cdef Memory good            # last good q, v of one group
    cdef int64_t ended          # end() was called
    cdef str who

    lanes = LANES

    def __cinit__(self, model, gravity=None):
        self.model = some_model("Batch", model)
        self.who = f"Batch of model {self.model.name!r}"
        self.state = State(self.model)
        if self.model.c.shared:
            self.state.need_dense()
        self.inputs = Memory((self.model.c.nv + 1) * LANES)
        self.good = Memory((self.model.c.nq + self.model.c.nv + 1) * LANES)
        if gravity is not None:
            given = given_numbers(self.who, "gravity", gravity, (3,))
            check_all_finite(self.who, "gravity", given)
            fill(<real*>self.state.c.gravity, 3, given)

    def forward_dynamics(self, q, v, tau, out):
        """out[b] = vdot of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
        return self.compute(q, v, "tau", tau, out, True)

    def inverse_dynamics(self, q, v, vdot, out):
        """out[b] = tau of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
        return self.compute(q, v, "vdot", vdot, out, False)

    cdef Py_ssize_t compute(self, object q, object v, str name, object x, object out, bint forward) except -2:
        cdef cnp.ndarray a = given_numbers(self.who, "q", q, (None, self.model.c.nq))
        cdef Py_ssize_t g, b, n = cnp.PyArray_DIM(a, 0)
        cdef cnp.ndarray to = given_room(self.who, "out", out, (n, self.model.c.nv))
        a = self.apart(a, (to,))
        cdef cnp.ndarray rates = self.apart(given_numbers(self.who, "v", v, (n, self.model.c.nv)), (to,))
        cdef cnp.ndarray given = self.apart(given_numbers(self.who, name, x, (n, self.model.c.nv)), (to,))
        cdef const double* arrays[3]
        arrays[0], arrays[1], arrays[2] = data(a), data(rates), data(given)
        cdef double* p = data(to)
        cdef Py_ssize_t bad = -1
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Door door
        memset(&door, 0, sizeof(door))
        self.state.hold()
        try:
            with nogil:
                for g in range((n + LANES - 1) // LANES):
                    b = g * LANES
                    self.gather(arrays, b, n - b)
                    if forward:
                        forward_dynamics_of(m, <real*>self.inputs.p, s)
                    else:
                        inverse_dynamics_of(m, <real*>self.inputs.p, s)
                    scatter(s.vdot if forward else s.tau, p + b * m.nv, m.nv, b, n - b, &bad)
                    if knock(&door):
                        with gil:
                            let_in(&door, None, 0.0)
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE
        return bad

    def rollout(self, q0, v0, tau, dt, integrator, q, v, fault):
        """Simulate every robot over tau.shape[1] steps: q[b, k], v[b, k] after step k + 1, with the parameters in `state`.

        A robot of which a number would leave the finite ones, or 1e10, keeps its last good state to the end, and fault[b] becomes
        the step at which that happened (-1: never). Ctrl-C in the main thread, and end() from any other, end it between two steps.
        integrator: a number of INTEGRATORS.
        """
        cdef double h = step_length(self.who, dt)
        cdef int scheme = integrator_number(self.who, integrator)
        cdef cnp.ndarray efforts = given_numbers(self.who, "tau", tau, (None, None, self.model.c.nv))
        n, steps = efforts.shape[0], efforts.shape[1]
        results = self.rooms(q, v, fault, n, steps)
        cdef cnp.ndarray q_start = given_numbers(self.who, "q0", q0, (n, self.model.c.nq))
        cdef cnp.ndarray v_start = given_numbers(self.who, "v0", v0, (n, self.model.c.nv))
        check_all_finite(self.who, "q0", q_start)
        check_all_finite(self.who, "v0", v_start)
        self.state.hold()
        try:
            self.simulate(self.apart(q_start, results), self.apart(v_start, results), self.apart(efforts, results), h, scheme,
                          q, v, fault)
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE

    cdef simulate(self, cnp.ndarray q_start, cnp.ndarray v_start, cnp.ndarray efforts, double dt, int integrator, cnp.ndarray q_end,
                  cnp.ndarray v_end, cnp.ndarray faults):
        """C-contiguous arrays of the right shapes. Pointers, because typed memoryviews are a quarter of a module to compile."""
        cdef Py_ssize_t g, b, k, n = cnp.PyArray_DIM(efforts, 0), steps = cnp.PyArray_DIM(efforts, 1)
        cdef const double* q0 = data(q_start)
        cdef const double* v0 = data(v_start)
        cdef const double* tau = data(efforts)
        cdef double* q = data(q_end)
        cdef double* v = data(v_end)
        cdef int64_t* fault = <int64_t*>cnp.PyArray_DATA(faults)
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
                pack(q0 + b * m.nq, s.q, m.nq, m.nq, left)
                pack(v0 + b * m.nv, s.v, m.nv, m.nv, left)
                for k in range(steps):
                    copy_reals(<real*>self.good.p, s.q, m.nq)
                    copy_reals(<real*>self.good.p + m.nq, s.v, m.nv)
                    pack(tau + (b * steps + k) * m.nv, x, m.nv, steps * m.nv, left)
                    step(m, s, x, real(dt), integrator)
                    if faulty or not (surely_within(s.q, m.nq) and surely_within(s.v, m.nv)):
                        faulty = True           # or nearly so: hold() looks at each number
                        self.hold(&fault[b], k, left)
                    unpack(s.q, q + (b * steps + k) * m.nq, m.nq, steps * m.nq, left)
                    unpack(s.v, v + (b * steps + k) * m.nv, m.nv, steps * m.nv, left)
                    if knock(&door):
                        with gil:
                            let_in(&door, None, 0.0)
                    if load(&self.ended):
                        break
                if load(&self.ended):
                    break

    def end(self):
        """End a rollout that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""
        store(&self.ended, 1)

    # ---------------------------------------------------------------------------------------------- arguments

    cdef cnp.ndarray apart(self, cnp.ndarray given, tuple results):
        """What is read; a copy of it where a result or the workspace is written into it meanwhile."""
        return given.copy() if self.state.memory.holds(given) or any([overlap(given, result) for result in results]) else given

    cdef tuple rooms(self, object q, object v, object fault, n, steps):
        """The results of a rollout, each in memory of its own."""
        found = (given_room(self.who, "q", q, (n, steps, self.model.c.nq)), given_room(self.who, "v", v, (n, steps, self.model.c.nv)),
                 given_room(self.who, "fault", fault, (n,), "int64"))
        for a, b in ((0, 1), (0, 2), (1, 2)):
            if overlap(found[a], found[b]):
                raise MbrosError(f"{self.who}: two of the results q, v and fault share memory; expected an array of its own for each")
        return found

    # ------------------------------------------------------------------------------------------------- lanes

    cdef void gather(self, const double** arrays, Py_ssize_t b, Py_ssize_t left) noexcept nogil:
        """Robots from b on: q, v and the vector given with them."""
        cdef ModelC* m = &self.model.c
        pack(arrays[0] + b * m.nq, self.state.c.q, m.nq, m.nq, left)
        pack(arrays[1] + b * m.nv, self.state.c.v, m.nv, m.nv, left)
        pack(arrays[2] + b * m.nv, <real*>self.inputs.p, m.nv, m.nv, left)

    cdef void hold(self, int64_t* fault, Py_ssize_t k, Py_ssize_t left) noexcept nogil:
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


cdef inline bint surely_within(const real* x, int n) noexcept nogil:
    """Whether the squares of the numbers sum to less than the square of the bound, in every lane; then each is within it. Not so with NaN."""
    cdef real sum = real(0.0)
    cdef int i
    for i in range(n):
        sum = sum + x[i] * x[i]
    return not any_lane(nonzero(select(less(sum, real(LARGEST * LARGEST)), real(0.0), real(1.0))))


cdef inline bint lane_within(const double* x, int n, int l) noexcept nogil:
    cdef int i
    for i in range(n):
        if not -LARGEST < x[i * LANES + l] < LARGEST:
            return False
    return True


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


cdef inline double* data(cnp.ndarray a) noexcept:
    return <double*>cnp.PyArray_DATA(a)


cdef inline void forward_dynamics_of(ModelC* m, const real* tau, Work* s) noexcept nogil:
    passive_torques(m, s)
    add_passive(m, tau, s)
    forward_dynamics(m, s.tau, s.vdot, s)


cdef inline void inverse_dynamics_of(ModelC* m, const real* vdot, Work* s) noexcept nogil:
    cdef int i
    positions(m, s)
    velocities(m, s)
    passive_torques(m, s)
    inverse_dynamics(m, vdot, s.tau, s)
    for i in range(m.nv):
        s.tau[i] = s.tau[i] - s.passive[i]


cdef inline bint lane_finite(const real* x, int n, int l) noexcept nogil:
    cdef const double* p = <const double*>x
    cdef double sum = 0.0
    cdef int i
    for i in range(n):
        sum += p[i * LANES + l] - p[i * LANES + l]
    return sum == 0.0


cdef inline void scatter(const real* x, double* to, int n, Py_ssize_t first, Py_ssize_t left, Py_ssize_t* bad) noexcept nogil:
    """The rows of a group that begins with robot `first`, but those that are not finite; `bad` becomes the first of these ever."""
    cdef const double* p = <const double*>x
    cdef int i, l
    if all_finite(x, n):
        unpack(x, to, n, n, left)
        return
    for l in range(LANES):
        if l >= left:
            break
        if lane_finite(x, n, l):
            for i in range(n):
                to[l * n + i] = p[i * LANES + l]
        elif bad[0] < 0:
            bad[0] = first + l
