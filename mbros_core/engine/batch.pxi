# Many robots at once: LANES of them side by side, the same C code as for one. Included by every module but the dual ones.

from mbros_core.scalar.transpose cimport fetch, from_lanes, plain_finite, to_lanes

cdef int64_t MOST_ROBOTS = 1 << 60          # before one that vary() counts from: no memory holds as many


cdef class Batch:
    """Batched algorithms of one model on one thread. Arrays are (batch, n), float64; the GIL is released.

    Used through model.batch and mbros.rollout, which say in words what goes wrong, choose the module for this CPU and share the batch
    between threads (each with a Batch of its own: the workspace is not shared). All arrays must fit the model and each other before the
    first is touched; those that results go to are C-contiguous and do not overlap each other. What is read may overlap them.

    `state` has the parameters of all robots, which take() sets, and vary() what they have of their own.
    """
    cdef readonly Model model
    cdef readonly State state
    cdef Memory inputs          # tau or vdot of one group
    cdef Memory bounds          # of tau
    cdef Memory good            # last good q, v of one group
    cdef Memory before          # a_prev of the state at the start
    cdef Memory results         # of one group
    cdef Tangents room          # for derivatives, once they are asked for
    cdef Py_ssize_t differing   # how many of the state's inputs differ from robot to robot
    cdef int64_t* places        # which, and
    cdef double* own            # their values (own_rows, differing)
    cdef Py_ssize_t own_rows
    cdef tuple kept             # the arrays of these
    cdef Py_ssize_t first       # robot b has row (first + b) // each
    cdef Py_ssize_t each
    cdef ModelC m               # of the model; its kernels only where they hold for all robots of a call
    cdef Kernels sure           # these, with nothing left to compare
    cdef int64_t ended          # end() was called
    cdef str who

    lanes = LANES

    def __cinit__(self, model, gravity=None):
        self.model = some_model("Batch", model)
        self.who = f"Batch of model {self.model.name!r}"
        self.state = State(self.model)
        if self.model.c.shared:
            self.state.need_dense()
        self.state.need_contacts()
        self.inputs = Memory((self.model.c.nv + 1) * LANES)
        self.bounds = Memory((self.model.c.nv + 1) * LANES)
        self.good = Memory((self.model.c.nq + self.model.c.nv + 1) * LANES)
        self.before = Memory((self.model.c.nv + 1) * LANES)
        self.results = Memory((self.model.c.nv + 12) * LANES)
        if gravity is not None:
            given = given_numbers(self.who, "gravity", gravity, (3,))
            check_all_finite(self.who, "gravity", given)
            fill(<real*>self.state.c.gravity, 3, given)

    def vary(self, places, values, first=0, each=1):
        """From now on robot b has numbers of its own: values[(first + b) // each] (rows, p) at `places` (p,) int64 of State._inputs."""
        cdef cnp.ndarray rows = given_numbers(self.who, "values", values, (None, len(places)))
        at = given_room(self.who, "places", places, (rows.shape[1],), "int64")
        if ((at < 0) | (at >= self.model.fields[NUMBER_OF_INPUTS].at)).any() or not 0 <= whole(first) < MOST_ROBOTS or whole(each) < 1:
            raise MbrosError(f"{self.who}: places: expected numbers below {self.model.fields[NUMBER_OF_INPUTS].at}, first 0 or more (and "
                             f"below {MOST_ROBOTS}), each 1 or more")
        check_all_finite(self.who, "values", rows)
        at, rows = at.copy(), rows.copy()
        self.state.refuse_held()
        self.kept = at, rows
        self.places, self.own = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>at), data(rows)
        self.own_rows, self.differing, self.first, self.each = rows.shape[0], rows.shape[1], first, each

    def take(self, inputs):
        """From now on all robots have the parameters of one State, its _inputs (reals,), and none of them a number of its own."""
        cdef Py_ssize_t n = self.model.fields[NUMBER_OF_INPUTS].at
        inputs = given_numbers(self.who, "inputs", inputs, (n,))
        self.state.refuse_held()
        fill(<real*>self.state.memory.p, n, inputs)
        self.differing, self.kept = 0, None

    @staticmethod
    def finite(array):
        """Whether all numbers of a C-contiguous float64 array are finite: a tenth of the time of numpy.isfinite(array).all()."""
        if not (cnp.PyArray_CheckExact(array) and cnp.PyArray_TYPE(<cnp.ndarray>array) == cnp.NPY_DOUBLE
                and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>array)):
            return bool(np.isfinite(given.reals("Batch.finite", "array", array)).all())
        return plain_finite(data(<cnp.ndarray>array), cnp.PyArray_SIZE(<cnp.ndarray>array))

    def forward_dynamics(self, q, v, tau, out):
        """out[b] = vdot of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
        return self.compute("forward_dynamics", q, v, tau, out)

    def inverse_dynamics(self, q, v, vdot, out):
        """out[b] = tau of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
        return self.compute("inverse_dynamics", q, v, vdot, out)

    def compute(self, what, q, v, x, out, k=-1, relative_to=-1, local=False):
        """out[b] = the result of an algorithm for robot b, its numbers row by row. Returns the index of the first robot whose result is not
        finite, or -1; the rows of such robots are left as they were.

        what: a row of mbros_core.algorithms.registry. v: None where only positions matter. x: what that row is given, tau or vdot, else
        None. k: frame. relative_to: of frame_pose, a frame; -1: the world. local: frame_jacobian in the frame's own axes.
        """
        cdef Job job = self.job(what, k, relative_to, local)
        cdef cnp.ndarray a = given_numbers(self.who, "q", q, (None, self.model.c.nq))
        cdef Py_ssize_t n = cnp.PyArray_DIM(a, 0)
        cdef cnp.ndarray to = given_room(self.who, "out", out, (n, numbers_of(&self.model.c, &job)))
        cdef const double* arrays[3]
        memset(arrays, 0, sizeof(arrays))
        kept = [self.apart(a, (to,))]
        arrays[0] = data(kept[0])
        if job.moving:
            kept.append(self.apart(given_numbers(self.who, "v", v, (n, self.model.c.nv)), (to,)))
            arrays[1] = data(kept[1])
        if job.given:
            kept.append(self.apart(given_numbers(self.who, algorithms.OF_LANES[what].given, x, (n, self.model.c.nv)), (to,)))
            arrays[2] = data(kept[2])
        self.check_rows(n)
        if are_derivatives(&job) and self.room is None:
            self.room = Tangents(self.model)
        self.state.hold()
        try:
            return self.run(&job, arrays, data(to), n)
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE

    cdef Job job(self, object what, object k, object relative_to, object local) except *:
        cdef Job job = job_of(self.who, what, algorithms.OF_LANES)
        if algorithms.OF_LANES[what].of == "frame":
            job.k = place_of(self.who, what, k, self.model.c.nf)
            job.local = truth(f"{self.who}: {what}: local", local)
            if not is_minus_one(relative_to):
                job.relative_to = place_of(self.who, what, relative_to, self.model.c.nf)
        if are_derivatives(&job) and not has_slopes(&self.model.c, job.what == FORWARD_DYNAMICS_DERIVATIVES):
            raise MbrosError(f"{self.who}: {what}: its constraints, force elements or joints have none that are analytic; take those of "
                             "one robot at a time, by dual numbers")
        return job

    cdef Py_ssize_t run(self, const Job* job, const double** arrays, double* out, Py_ssize_t n) except -2:
        cdef ModelC* m = self.model_of_call()
        cdef Work* s = &self.state.c
        cdef real* x = <real*>self.inputs.p
        cdef Py_ssize_t g, b, bad = -1, numbers = numbers_of(m, job)
        cdef Columns* room = NULL
        cdef real* result
        cdef Door door
        if self.results.n < numbers * LANES:
            self.results = Memory(numbers * LANES)
        result = <real*>self.results.p
        if self.room is not None:
            room = &self.room.c
        memset(&door, 0, sizeof(door))
        with nogil:
            for g in range((n + LANES - 1) // LANES):
                b = g * LANES
                self.differ(b, n - b)
                to_lanes(arrays[0] + b * m.nq, s.q, m.nq, m.nq, n - b)
                if arrays[1] != NULL:
                    to_lanes(arrays[1] + b * m.nv, s.v, m.nv, m.nv, n - b)
                if arrays[2] != NULL:
                    to_lanes(arrays[2] + b * m.nv, x, m.nv, m.nv, n - b)
                if n - b > LANES:                       # while these are computed, the next come nearer
                    fetch(arrays[0] + (b + LANES) * m.nq, m.nq, m.nq, n - b - LANES)
                    if arrays[1] != NULL:
                        fetch(arrays[1] + (b + LANES) * m.nv, m.nv, m.nv, n - b - LANES)
                    if arrays[2] != NULL:
                        fetch(arrays[2] + (b + LANES) * m.nv, m.nv, m.nv, n - b - LANES)
                if job.what == FORWARD_DYNAMICS_DERIVATIVES:
                    forward_slopes(m, s, x, result, room)
                elif job.what == INVERSE_DYNAMICS_DERIVATIVES:
                    inverse_slopes(m, s, x, result, room)
                else:
                    compute(m, s, job, x, result)
                scatter(result, out + b * numbers, numbers, b, n - b, &bad)
                if knock(&door):
                    with gil:
                        let_in(&door, None, 0.0)
                if load(&self.ended):
                    break
        return bad

    def rollout(self, q0, v0, tau, dt, integrator, q, v, fault, every=1, carried=None, limit=None, begin=None, end=None):
        """Simulate every robot over tau.shape[1] steps: q[b, k], v[b, k] after (k + 1) `every` steps, and in the last row after the last.

        A robot of which a number would leave the finite ones, or 1e10, keeps its last good state to the end, and fault[b] becomes
        the step at which that happened (-1: never). Ctrl-C in the main thread, and end() from any other, end it between two steps.
        integrator: a number of INTEGRATORS. The acceleration of the step before is that of the state, for all.
        carried: (n, rows, 1 + 3 shapes + 12 constraints) or None, what touched and was held in the step before each row: how many contact
        points, the force on each shape, N, of each constraint the wrench on B and the efforts along its rows (constraints/touches.py).
        limit: (nv,) or None, magnitudes to which tau is clamped, infinite ones too.
        begin, end: (n, 6 + nv + numbers of contact_memory) or None, what each robot takes from the step before, where None has the state's
        acceleration and contacts that are new; and what it leaves after the last step, in an array of zeros. A row is a number of the
        caller's, then a state's time, clock, last_step, a_prev and contact_memory.
        """
        cdef double h = step_length(self.who, dt)
        cdef int scheme = integrator_number(self.who, integrator)
        check_contact(&self.model.c, self.who, scheme)
        cdef cnp.ndarray efforts = given_numbers(self.who, "tau", tau, (None, None, self.model.c.nv))
        cdef Py_ssize_t n = cnp.PyArray_DIM(efforts, 0), steps = cnp.PyArray_DIM(efforts, 1)
        cdef Py_ssize_t rows, stride = 1 if type(every) is int and every == 1 else given.step_interval(self.who, every)
        stride = min(stride, max(steps, 1))         # the same rows, and sums with it that stay small
        rows = (steps + stride - 1) // stride
        results = self.rooms(q, v, fault, n, rows)
        self.check_rows(n)
        cdef double* carry = NULL
        if carried is not None:
            carry = data(<cnp.ndarray>given_room(self.who, "carried", carried, (n, rows, carried_columns(&self.model.c))))
        cdef cnp.ndarray q_start = given_numbers(self.who, "q0", q0, (n, self.model.c.nq))
        cdef cnp.ndarray v_start = given_numbers(self.who, "v0", v0, (n, self.model.c.nv))
        cdef real* bounds = NULL
        if limit is not None:
            bounds = <real*>self.bounds.p
            fill(bounds, self.model.c.nv, given_numbers(self.who, "limit", limit, (self.model.c.nv,)))
        check_all_finite(self.who, "q0", q_start)
        check_all_finite(self.who, "v0", v_start)
        cdef const double* start = NULL
        cdef double* last = NULL
        if end is not None:
            last = data(<cnp.ndarray>given_room(self.who, "end", end, (n, memory_columns(&self.model.c))))
        if begin is not None:
            begin = given_numbers(self.who, "begin", begin, (n, memory_columns(&self.model.c)))
            begin = self.apart(begin, results if end is None else (*results, end))
            start = data(<cnp.ndarray>begin)
        self.state.hold()
        try:
            simulate(self, self.apart(q_start, results), self.apart(v_start, results), self.apart(efforts, results), h, scheme,
                          stride, q, v, fault, carry, bounds, start, last)
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE

    def end(self):
        """End a call that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""
        store(&self.ended, 1)

    # ---------------------------------------------------------------------------------------------- arguments

    cdef cnp.ndarray apart(self, cnp.ndarray given, tuple results):
        """What is read; a copy of it where a result or the workspace is written into it meanwhile."""
        cdef bint shared = self.state.memory.holds(given)
        for result in results:
            shared = shared or overlap(given, result)
        return given.copy() if shared else given

    cdef int check_rows(self, Py_ssize_t n) except -1:
        """Whether every one of n robots has numbers of its own, where some have."""
        if self.differing and n > 0 and (self.first + n - 1) // self.each >= self.own_rows:
            raise MbrosError(f"{self.who}: {n} robots from number {self.first} on, and {self.own_rows} rows of values of their own, for "
                             f"{self.each} robots each")
        return 0

    cdef tuple rooms(self, object q, object v, object fault, Py_ssize_t n, Py_ssize_t rows):
        """The results of a rollout, each in memory of its own."""
        found = (given_room(self.who, "q", q, (n, rows, self.model.c.nq)), given_room(self.who, "v", v, (n, rows, self.model.c.nv)),
                 given_room(self.who, "fault", fault, (n,), "int64"))
        if overlap(found[0], found[1]) or overlap(found[0], found[2]) or overlap(found[1], found[2]):
            raise MbrosError(f"{self.who}: two of the results q, v and fault share memory; expected an array of its own for each")
        return found

    # ------------------------------------------------------------------------------------------------- lanes

    cdef ModelC* model_of_call(self) noexcept:
        """The model, with its compiled code where that holds for all robots of this call: compared here, once."""
        cdef Specialised compiled = self.model.specialised
        cdef Py_ssize_t i
        self.m = self.model.c
        if self.m.kernels == NULL:
            return &self.m
        self.sure = self.m.kernels[0]
        self.sure.npieces = 0
        self.m.kernels = &self.sure if as_compiled(&compiled.c, &self.state.c) else NULL
        for i in range(self.differing):
            if compiled.fixes(self.places[i]):
                self.m.kernels = NULL
        return &self.m

    cdef void differ(self, Py_ssize_t b, Py_ssize_t left) noexcept nogil:
        """Robots from b on: what they have of their own, into the state."""
        cdef Py_ssize_t i, row
        cdef int l
        if self.differing == 0:
            return
        for l in range(LANES):
            row = (self.first + b + (l if l < left else left - 1)) // self.each
            for i in range(self.differing):
                (<double*>self.state.c.time)[self.places[i] * LANES + l] = self.own[row * self.differing + i]


include "lanes_of_group.pxi"
include "rollout.pxi"
