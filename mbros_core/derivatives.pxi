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
    FORCE_ELEMENT
    VELOCITY_TO_QDOT
    QDOT_TO_VELOCITY
    STEP

WHATS = {"forward_dynamics": FORWARD_DYNAMICS, "inverse_dynamics": INVERSE_DYNAMICS, "mass_matrix": MASS_MATRIX,
         "bias_torques": BIAS_TORQUES, "gravity_torques": GRAVITY_TORQUES, "kinetic_energy": KINETIC_ENERGY,
         "potential_energy": POTENTIAL_ENERGY, "center_of_mass": CENTER_OF_MASS, "frame_pose": FRAME_POSE,
         "frame_velocity": FRAME_VELOCITY, "force_element": FORCE_ELEMENT, "velocity_to_qdot": VELOCITY_TO_QDOT,
         "qdot_to_velocity": QDOT_TO_VELOCITY, "step": STEP}


cdef class Duals:
    """The algorithms of one model over dual numbers, and the workspace for them.

    `state.field(name)` and `given` are arrays whose last axis holds a value and its derivatives in `partials` directions: write
    them, then `compute`. What is not written there has derivative zero. mbros.diff is what people use.

    given: tau of forward_dynamics and step, vdot of inverse_dynamics, v of velocity_to_qdot, qdot of qdot_to_velocity.
    """
    cdef readonly Model model
    cdef readonly State state
    cdef readonly object given
    cdef readonly object result     # all results share it; compute() returns the part that it has written
    cdef Memory inputs
    cdef Memory results

    partials = LANES - 1

    def __cinit__(self, Model model not None):
        cdef ModelC* m = &model.c
        self.model, self.state = model, State(model)
        self.inputs = Memory((m.nq + 1) * LANES)
        self.results = Memory(max(m.nv * m.nv, m.nq + m.nv, 12) * LANES)
        self.given = self.inputs.view(0, m.nq, 1)
        self.result = self.results.view(0, max(m.nv * m.nv, m.nq + m.nv, 12), 1)

    def compute(self, str what not None, int k=-1, double dt=1e-3, int integrator=SEMI_IMPLICIT_EULER):
        """(n, 1 + partials): the result of an algorithm and its derivatives, a view that the next call overwrites.

        k: frame or force element. A step gives q and v after it and leaves the state as it was, but for time.
        """
        cdef int code = WHATS[what]
        cdef int limit = self.model.c.ne if code == FORCE_ELEMENT else self.model.c.nf
        if code in (FRAME_POSE, FRAME_VELOCITY, FORCE_ELEMENT) and not 0 <= k < limit:
            raise IndexError(f"{what}: index {k} is outside 0..{limit - 1}")
        cdef int n
        with nogil:
            n = compute(&self.model.c, &self.state.c, code, k, <real*>self.inputs.p, <real*>self.results.p, dt, integrator)
        self.state.stage = STAGE_NONE
        return self.result[:n]


    def sweep(self, str what not None, list directions not None, Py_ssize_t count, int k=-1, double dt=1e-3,
              int integrator=SEMI_IMPLICIT_EULER):
        """(value (n,), J (n, count)) of compute() in `count` directions, taken as many at a time as there are partials.

        directions: [(array, rows)]: an input (numbers, 1 + partials) of the state, or `given`, and rows (count, numbers) of
        derivatives for it. The values are in the arrays already; their derivatives are left as of the last directions.
        """
        cdef Py_ssize_t start = 0, width, i, n
        cdef int l
        cdef double* x = self.results.p
        cdef cnp.ndarray value, J
        while True:
            width = min(count - start, <Py_ssize_t>(LANES - 1))
            for array, rows in directions:
                seed(array, rows, start, width)
            n = self.compute(what, k, dt, integrator).shape[0]
            if start == 0:
                value, J = np.empty(n), np.empty((n, count))
                for i in range(n):
                    (<double*>cnp.PyArray_DATA(value))[i] = x[i * LANES]
            for i in range(n):
                for l in range(width):
                    (<double*>cnp.PyArray_DATA(J))[i * count + start + l] = x[i * LANES + 1 + l]
            start += width
            PyErr_CheckSignals()
            if start >= count:
                return value, J


cdef int seed(cnp.ndarray array, cnp.ndarray rows, Py_ssize_t start, Py_ssize_t width) except -1:
    """Derivatives start .. start + width of `rows` into the lanes of `array`; zero into the others."""
    cdef Py_ssize_t numbers, i
    cdef int l
    if (array is None or cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISCARRAY(array)
            or rows is None or cnp.PyArray_TYPE(rows) != cnp.NPY_DOUBLE or not cnp.PyArray_ISCARRAY_RO(rows)
            or array.ndim != 2 or rows.ndim != 2 or array.shape[1] != LANES
            or array.shape[0] < rows.shape[1] or rows.shape[0] < start + width):
        raise ValueError("directions: expected C-contiguous float64 arrays (numbers, 1 + partials) and (count, numbers)")
    numbers = rows.shape[1]
    cdef double* x = <double*>cnp.PyArray_DATA(array)
    cdef const double* d = <const double*>cnp.PyArray_DATA(rows)
    for i in range(numbers):
        for l in range(LANES - 1):
            x[i * LANES + 1 + l] = d[(start + l) * numbers + i] if l < width else 0.0
    return 0


cdef int compute(ModelC* m, Work* s, int what, int k, real* given, real* out, double dt, int integrator) noexcept nogil:
    """Write the result to `out`; how many numbers it has."""
    cdef int i
    if what == STEP:
        return take_step(m, s, given, out, dt, integrator)
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
        return m.nv * m.nv
    else:
        return compute_small(m, s, what, k, out)
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
