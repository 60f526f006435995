# The algorithms over dual numbers: what comes out are values and their derivatives. Only the dual modules include this file.

cdef class Duals:
    """The algorithms of one model over dual numbers, and the workspace for them.

    `state.field(name)` and `given` are arrays whose last axis holds a value and its derivatives in `partials` directions: write
    them, then `compute`. What is not written there has derivative zero. mbros.diff is what users call.

    given: tau of forward_dynamics and step, vdot of inverse_dynamics and of its derivatives, v of velocity_to_qdot, qdot of
    qdot_to_velocity.
    """
    cdef readonly Model model
    cdef readonly State state
    cdef Memory inputs
    cdef Memory results             # all results share it
    cdef Py_ssize_t n               # numbers in the last result
    cdef str who

    partials = LANES - 1

    def __cinit__(self, model):
        self.model = some_model("Duals", model)
        self.state = State(self.model)
        if self.model.c.shared:
            self.state.need_dense()
        self.who = f"derivatives of model {self.model.name!r}"
        self.inputs = Memory((self.model.c.nq + 1) * LANES)
        self.results = Memory(max(self.model.c.nq + self.model.c.nv, 12) * LANES)

    @property
    def given(self):
        """The vector given (nq, 1 + partials), a view."""
        return self.inputs.view(self.inputs.p, self.model.c.nq, 1)

    @property
    def result(self):
        """The last result and its derivatives (n, 1 + partials), finite or not: a view that the next call overwrites."""
        return self.results.view(self.results.p, self.n, 1)

    @property
    def switches(self):
        """[(shape a, shape b, bits)] of contacts that are about to do something else, of the last result: it holds on this side of that;
        of ropes (-1, constraint, bits). Bits: constraints/touches.py."""
        return switches_of(&self.model.c, &self.state.c)

    def compute(self, what, k=-1, dt=1e-3, integrator=INTEGRATORS[integrators.DEFAULT]):
        """(n, 1 + partials): the result of an algorithm and its derivatives, a view that the next call overwrites. NonFiniteError when
        a number of it is not finite.

        k: frame or force element. A step gives q and v after it and leaves the state as it was, but for time.
        """
        cdef Job job = self.job(what, k, dt, integrator)
        self.run(&job)
        return self.result

    cdef Job job(self, object what, object k, object dt, object integrator) except *:
        """What to compute, when that can be."""
        cdef ModelC* m = &self.model.c
        cdef Job job = job_of(self.who, what, algorithms.OF_DUALS)
        job.dt, job.integrator = step_length(self.who, dt), integrator_number(self.who, integrator)
        if job.what == STEP:
            check_contact(m, self.who, job.integrator)
        if are_derivatives(&job) and not has_slopes(m, False):
            raise MbrosError(f"{self.who}: {what}: its force elements or joints have none that are analytic; take differences of these")
        if job.what in (STEP, POTENTIAL_ENERGY) or (job.what == FORWARD_DYNAMICS and m.nk):
            self.state.need_contacts()
        forget_switches(&self.state.c)
        if algorithms.OF_DUALS[what].of:
            job.k = place_of(self.who, what, k, m.ne if job.what == FORCE_ELEMENT else m.nf)
        if self.results.n < numbers_of(m, &job) * LANES:
            self.results = Memory(numbers_of(m, &job) * LANES)
        return job

    cdef int run(self, const Job* job) except -1:
        cdef Memory results = self.results          # kept: another thread may ask for more of it meanwhile
        cdef Columns* room = &tangents_of(self.state).c if are_derivatives(job) else NULL
        self.state.hold()
        with nogil:
            self.n = compute_dual(&self.model.c, &self.state.c, job, <real*>self.inputs.p, <real*>results.p, room)
        self.state.let_go()
        self.state.stage = STAGE_NONE
        if not all_finite(<real*>results.p, self.n):
            raise NonFiniteError(f"{self.who}: a value or a derivative is not finite")
        return 0

    def body_directions(self, inertia, plan, weights, rows):
        """Directions of parameters of bodies in the field "inertia" (nb, 10), into rows (count, 10 nb).

        plan (k, 3) int64: which row, which body, what of it: 0 the mass, whose moments follow in proportion; 1 the centre of mass, with the
        inertia about it as it is; 2 the inertia about it. weights (k, 6): how the numbers of that, in axes of the engine's body, move.
        """
        cdef Py_ssize_t nb = self.model.c.nb, n = len(plan), k, row, body
        cdef cnp.ndarray given_rows = given_numbers(self.who, "inertia", inertia, (nb, 10))
        cdef cnp.ndarray places = given_room(self.who, "plan", plan, (n, 3), "int64")
        cdef cnp.ndarray mix = given_numbers(self.who, "weights", weights, (n, 6))
        cdef cnp.ndarray to = given_room(self.who, "rows", rows, (len(rows), 10 * nb))
        cdef const double* x = <const double*>cnp.PyArray_DATA(given_rows)
        cdef const int64_t* p = <const int64_t*>cnp.PyArray_DATA(places)
        for k in range(n):
            row, body = p[3 * k], p[3 * k + 1]
            if not (0 <= row < cnp.PyArray_DIM(to, 0) and 0 <= body < nb and 0 <= p[3 * k + 2] <= 2):
                raise CoordinateIndexError(f"{self.who}: plan: row {k} is {plan[k].tolist()}, which is no parameter of a body")
            body_direction(x + 10 * body, <int>p[3 * k + 2], <const double*>cnp.PyArray_DATA(mix) + 6 * k,
                           <double*>cnp.PyArray_DATA(to) + (row * nb + body) * 10)

    def sweep(self, what, directions, count, k=-1, dt=1e-3, integrator=INTEGRATORS[integrators.DEFAULT]):
        """(value (n,), J (n, count)) of compute() in `count` directions, taken as many at a time as there are partials.

        directions: [(array, rows)]: an input (numbers, 1 + partials) of the state, or `given`, and rows (count, numbers) of
        derivatives for it. The values are in the arrays already; their derivatives are left as of the last directions.
        """
        cdef Job job = self.job(what, k, dt, integrator)
        cdef Py_ssize_t start = 0, width, total = given.count(self.who, "count", count, "directions"), i, n
        cdef int l
        cdef double* x
        cdef double* y
        cdef cnp.ndarray value, J
        if not isinstance(directions, (list, tuple)):
            raise WrongTypeError(f"{self.who}: directions: expected a list, got {short(directions)}")
        seeds = [seedable(self.who, pair, total) for pair in directions]
        while True:
            width = min(total - start, <Py_ssize_t>(LANES - 1))
            for array, rows in seeds:
                seed(array, rows, start, width)
            self.run(&job)
            n, x = self.n, self.results.p
            if start == 0:
                value, J = np.empty(n), np.empty((n, total))
                y = <double*>cnp.PyArray_DATA(value)
                for i in range(n):
                    y[i] = x[i * LANES]
                y = <double*>cnp.PyArray_DATA(J)
            for i in range(n):
                for l in range(width):
                    y[i * total + start + l] = x[i * LANES + 1 + l]
            start += width
            PyErr_CheckSignals()
            if start >= total:
                return value, J


cdef inline void body_direction(const double* x, int what, const double* w, double* d) noexcept nogil:
    """How a body's numbers x (10,) = (m, m c, Ixx Iyy Izz Ixy Ixz Iyz about Bo) move with a parameter: d (10,).

    Of the centre of mass, moving with w:  d(m c) = m w,  dI = d(m (c.c 1 - c c^T)) = 2 (h.w) 1 - w h^T - h w^T,  h = m c.
    """
    cdef const double* h = x + 1
    cdef double along
    cdef int i
    memset(d, 0, 10 * sizeof(double))
    if what == 0:
        for i in range(10):
            d[i] = x[i] / x[0]
    elif what == 1:
        along = 2.0 * (h[0] * w[0] + h[1] * w[1] + h[2] * w[2])
        for i in range(3):
            d[1 + i] = x[0] * w[i]
            d[4 + i] = along - 2.0 * w[i] * h[i]
        d[7] = -(w[0] * h[1] + w[1] * h[0])
        d[8] = -(w[0] * h[2] + w[2] * h[0])
        d[9] = -(w[1] * h[2] + w[2] * h[1])
    else:
        for i in range(6):
            d[4 + i] = w[i]


cdef inline void forget_switches(Work* s) noexcept nogil:
    if s.contacts != NULL:
        memset(s.contacts.slopes.switches, 0, (s.contacts.problem.most_blocks + 1) * sizeof(int))


cdef inline bint any_switch(const Work* s) noexcept nogil:
    cdef int k
    if s.contacts != NULL:
        for k in range(s.contacts.problem.nblocks):
            if s.contacts.slopes.switches[k]:
                return True
    return False


cdef list switches_of(const ModelC* m, const Work* s):
    """Of the pairs of shapes, what their contact points are about to do, and of ropes, as (-1, number of the constraint)."""
    cdef dict found = {}
    cdef int k
    if any_switch(s):
        for k in range(s.contacts.touches[0]):
            if s.contacts.slopes.switches[k]:
                pair = s.contacts.touch[k].a, s.contacts.touch[k].b
                found[pair] = found.get(pair, 0) | s.contacts.slopes.switches[k]
        for k in range(m.nk):
            if s.contacts.held[k] >= 0 and s.contacts.slopes.switches[s.contacts.held[k]]:
                found[-1, k] = s.contacts.slopes.switches[s.contacts.held[k]]
    return [(a, b, bits) for (a, b), bits in found.items()]


cdef tuple seedable(str who, object pair, Py_ssize_t count):
    """(array, rows) of a sweep, when the rows fit the array; rows are a copy where they lie in it."""
    array, rows = pair if isinstance(pair, tuple) and len(pair) == 2 else (None, None)
    if not (is_plain(array, (None, LANES)) and cnp.PyArray_ISCARRAY(array) and is_plain(rows, (None, None))
            and rows.shape[0] >= count and rows.shape[1] <= array.shape[0]):
        raise WrongTypeError(f"{who}: directions: expected C-contiguous float64 arrays (numbers, {LANES}), to be written to, and (count, "
                            f"numbers), for a count of {count} and no more numbers than there are, got {short(pair)}")
    return array, rows.copy() if overlap(array, rows) else rows


cdef int seed(cnp.ndarray array, cnp.ndarray rows, Py_ssize_t start, Py_ssize_t width) except -1:
    """Derivatives start .. start + width of `rows` into the lanes of `array`; zero into the others."""
    cdef Py_ssize_t numbers = rows.shape[1], i
    cdef int l
    cdef double* x = <double*>cnp.PyArray_DATA(array)
    cdef const double* d = <const double*>cnp.PyArray_DATA(rows)
    for i in range(numbers):
        for l in range(LANES - 1):
            x[i * LANES + 1 + l] = d[(start + l) * numbers + i] if l < width else 0.0
    return 0


cdef Py_ssize_t compute_dual(ModelC* m, Work* s, const Job* job, real* given, real* out, Columns* room) noexcept nogil:
    """Write the result to `out`; how many numbers it has. room: for derivatives, of which it gives second ones."""
    cdef int what = job.what
    if what == STEP:
        return take_step(m, s, given, out, job.dt, job.integrator)
    if what == VELOCITY_TO_QDOT:
        rates(m, s.q, given, out)
        return m.nq
    if what == QDOT_TO_VELOCITY:
        unrates(m, s.q, given, out)
        return m.nv
    if what == FORCE_ELEMENT:
        return compute_element(m, s, job.k, out)
    if room != NULL:
        inverse_slopes(m, s, given, out, room)
    else:
        compute(m, s, job, given, out)
    return numbers_of(m, job)


cdef int compute_element(ModelC* m, Work* s, int k, real* out) noexcept nogil:
    """What force element k does."""
    cdef Force F_A
    cdef Force F_C
    cdef ForceOut element
    positions(m, s)
    velocities(m, s)
    evaluate(m, s, k, &F_A, &F_C, &element)
    if m.elements[k].iv >= 0:
        out[0], out[1], out[2], out[3] = element.tau, element.energy, element.conservative, element.nonconservative
        return 4
    copy_reals(out, <real*>&element.F, 6)
    out[6], out[7], out[8] = element.energy, element.conservative, element.nonconservative
    return 9


cdef int take_step(ModelC* m, Work* s, real* tau, real* out, double dt, int integrator) noexcept nogil:
    """q and v after a step from s. The acceleration of the step before is held as it is given: it has no derivatives."""
    cdef int i
    cdef real keep
    cdef real* last = s.stage_v + 3 * m.nv              # no step that writes a_prev touches this row
    copy_reals(last, s.a_prev, m.nv)
    copy_reals(out, s.q, m.nq)
    copy_reals(out + m.nq, s.v, m.nv)
    step(m, s, tau, real(dt), integrator)
    for i in range(m.nq + m.nv):
        keep = out[i]
        if i < m.nq:
            out[i] = s.q[i]
            s.q[i] = keep
        else:
            out[i] = s.v[i - m.nq]
            s.v[i - m.nq] = keep
    if integrator == MIDPOINT:
        copy_reals(s.a_prev, last, m.nv)
    return m.nq + m.nv
