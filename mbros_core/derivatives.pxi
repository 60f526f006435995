# The algorithms over dual numbers: what comes out are values and their derivatives. Only the dual modules include this file.

cdef enum What:
    FORWARD_DYNAMICS
    INVERSE_DYNAMICS
    MASS_MATRIX
    BIAS_TORQUES
    GRAVITY_TORQUES
    KINETIC_ENERGY
    POTENTIAL_ENERGY
    CENTER_OF_MASS
    FRAME_POSE
    FRAME_VELOCITY
    FRAME_ACCELERATION
    FORCE_ELEMENT
    VELOCITY_TO_QDOT
    QDOT_TO_VELOCITY
    STEP

WHATS = {"forward_dynamics": FORWARD_DYNAMICS, "inverse_dynamics": INVERSE_DYNAMICS, "mass_matrix": MASS_MATRIX,
         "bias_torques": BIAS_TORQUES, "gravity_torques": GRAVITY_TORQUES, "kinetic_energy": KINETIC_ENERGY,
         "potential_energy": POTENTIAL_ENERGY, "center_of_mass": CENTER_OF_MASS, "frame_pose": FRAME_POSE,
         "frame_velocity": FRAME_VELOCITY, "frame_acceleration": FRAME_ACCELERATION, "force_element": FORCE_ELEMENT, "velocity_to_qdot": VELOCITY_TO_QDOT,
         "qdot_to_velocity": QDOT_TO_VELOCITY, "step": STEP}


cdef struct Job:
    int what                        # of What
    int k                           # frame or force element, -1 where none is asked for
    double dt
    int integrator


cdef class Duals:
    """The algorithms of one model over dual numbers, and the workspace for them.

    `state.field(name)` and `given` are arrays whose last axis holds a value and its derivatives in `partials` directions: write
    them, then `compute`. What is not written there has derivative zero. mbros.diff is what people use.

    given: tau of forward_dynamics and step, vdot of inverse_dynamics, v of velocity_to_qdot, qdot of qdot_to_velocity.
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

    def compute(self, what, k=-1, dt=1e-3, integrator=SEMI_IMPLICIT_EULER):
        """(n, 1 + partials): the result of an algorithm and its derivatives, a view that the next call overwrites. NonFiniteError when
        a number of it is not finite.

        k: frame or force element. A step gives q and v after it and leaves the state as it was, but for time.
        """
        cdef Job job = self.job(what, k, dt, integrator)
        self.run(&job)
        return self.result

    cdef Job job(self, object what, object k, object dt, object integrator) except *:
        """What to compute, when that can be."""
        cdef Job job
        cdef ModelC* m = &self.model.c
        if not isinstance(what, str) or what not in WHATS:
            raise UnknownNameError(f"{self.who}: no algorithm {short(what)}; there are {', '.join(WHATS)}")
        job.what, job.k = WHATS[what], -1
        job.dt, job.integrator = step_length(self.who, dt), integrator_number(self.who, integrator)
        if job.what in (FRAME_POSE, FRAME_VELOCITY, FRAME_ACCELERATION, FORCE_ELEMENT):
            n = m.ne if job.what == FORCE_ELEMENT else m.nf
            if not 0 <= whole(k) < n:
                raise CoordinateIndexError(f"{self.who}: {what}: index {short(k)} is outside 0..{n - 1}")
            job.k = k
        if job.what == MASS_MATRIX and self.results.n < <Py_ssize_t>m.nv * m.nv * LANES:
            self.results = Memory(<Py_ssize_t>m.nv * m.nv * LANES)
        return job

    cdef int run(self, const Job* job) except -1:
        cdef Memory results = self.results          # kept: another thread may ask for more of it meanwhile
        self.state.hold()
        with nogil:
            self.n = compute(&self.model.c, &self.state.c, job, <real*>self.inputs.p, <real*>results.p)
        self.state.let_go()
        self.state.stage = STAGE_NONE
        if not all_finite(<real*>results.p, self.n):
            raise NonFiniteError(f"{self.who}: a value or a derivative is not finite")
        return 0

    def sweep(self, what, directions, count, k=-1, dt=1e-3, integrator=SEMI_IMPLICIT_EULER):
        """(value (n,), J (n, count)) of compute() in `count` directions, taken as many at a time as there are partials.

        directions: [(array, rows)]: an input (numbers, 1 + partials) of the state, or `given`, and rows (count, numbers) of
        derivatives for it. The values are in the arrays already; their derivatives are left as of the last directions.
        """
        cdef Job job = self.job(what, k, dt, integrator)
        cdef Py_ssize_t start = 0, width, total = whole(count), i, n
        cdef int l
        cdef double* x
        cdef double* y
        cdef cnp.ndarray value, J
        if total < 0:
            raise MbrosError(f"{self.who}: count: expected a number of directions, got {short(count)}")
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


cdef Py_ssize_t compute(ModelC* m, Work* s, const Job* job, real* given, real* out) noexcept nogil:
    """Write the result to `out`; how many numbers it has."""
    cdef int what = job.what
    cdef int i
    cdef Vec3 p
    cdef Motion V
    cdef Motion A
    if what == STEP:
        return take_step(m, s, given, out, job.dt, job.integrator)
    if what == VELOCITY_TO_QDOT:
        rates(m, s.q, given, out)
        return m.nq
    if what == QDOT_TO_VELOCITY:
        unrates(m, s.q, given, out)
        return m.nv
    if what == FORWARD_DYNAMICS:
        passive_torques(m, s)
        add_passive(m, given, s)
        forward_dynamics(m, s.tau, out, s)
        return m.nv
    positions(m, s)
    velocities(m, s)
    if what == INVERSE_DYNAMICS:
        passive_torques(m, s)
        inverse_dynamics(m, given, out, s)
        for i in range(m.nv):
            out[i] = out[i] - s.passive[i]
    elif what == BIAS_TORQUES:
        bias_torques(m, out, s)
    elif what == GRAVITY_TORQUES:
        gravity_torques(m, out, s)
    elif what == MASS_MATRIX:
        mass_matrix(m, out, s.rotor_inertia, s)
        return <Py_ssize_t>m.nv * m.nv
    elif what == FRAME_ACCELERATION:
        accelerations(m, given, s)
        V = s.V_WB[m.frame_body[job.k]]
        p = rotate(s.X_WB[m.frame_body[job.k]].R, m.X_BF[job.k].p)
        A = shift_motion(s.A_WB[m.frame_body[job.k]], p)
        A.v = add(A.v, cross(V.w, cross(V.w, p)))
        copy_reals(out, <real*>&A, 6)
        return 6
    else:
        return compute_small(m, s, what, job.k, out)
    return m.nv


cdef int compute_small(ModelC* m, Work* s, int what, int k, real* out) noexcept nogil:
    """Energies, mass centre, frames and force elements, at positions and velocities that are in place."""
    cdef Pose X
    cdef Motion V
    cdef Vec3 c
    cdef Force F_A
    cdef Force F_C
    cdef ForceOut element
    if what == KINETIC_ENERGY:
        out[0] = kinetic_energy(m, s)
        return 1
    if what == POTENTIAL_ENERGY:
        out[0] = gravity_energy(m, s) + stop_energy(m, s) + elements_energy(m, s)
        return 1
    if what == CENTER_OF_MASS:
        c = center_of_mass(m, s)
        copy_reals(out, <real*>&c, 3)
        return 3
    if what == FRAME_POSE:
        X = compose_poses(s.X_WB[m.frame_body[k]], m.X_BF[k])
        copy_reals(out, <real*>&X, 12)
        return 12
    if what == FRAME_VELOCITY:
        V = shift_motion(s.V_WB[m.frame_body[k]], rotate(s.X_WB[m.frame_body[k]].R, m.X_BF[k].p))
        copy_reals(out, <real*>&V, 6)
        return 6
    evaluate(m, s, k, &F_A, &F_C, &element)
    if m.elements[k].iv >= 0:
        out[0], out[1], out[2], out[3] = element.tau, element.energy, element.conservative, element.nonconservative
        return 4
    copy_reals(out, <real*>&element.F, 6)
    out[6], out[7], out[8] = element.energy, element.conservative, element.nonconservative
    return 9


cdef int take_step(ModelC* m, Work* s, real* tau, real* out, double dt, int integrator) noexcept nogil:
    """q and v after a step from s."""
    cdef int i
    cdef real keep
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
    return m.nq + m.nv
