# Exact linear dynamics at many points in one call, by analytic derivatives. Only the double modules include this file.

from mbros_core.integrators.midpoint_derivatives cimport (HALVED, Halving, add_rows, ends_held, ends_of_coordinate, ends_of_joint,
                                                          has_step_slopes,
                                                          through_the_middle)
from mbros_core.joints.dispatch cimport halves_of_coordinates, turning


cdef bint some_friction(const Work* s, int iv, int n) noexcept nogil:
    cdef int k
    for k in range(iv, iv + n):
        if value(s.friction[k]) != 0.0 and value(s.lock[k]) == 0.0:
            return True
    return False


cdef class LinearDynamics:
    """A and B of small deviations (dq, dv), dtau, at each of many points: of the accelerations, or of a midpoint step.

    What Linearizer of the dual modules does, without dual numbers but for single joints that can turn: halves, that of a dual module.
    Some points it leaves to Linearizer: `linearize` returns which.
    """
    cdef readonly Dynamics model
    cdef readonly State state
    cdef Tangents room
    cdef Memory scratch
    cdef real* by_q                 # (nv, nv) each
    cdef real* by_v
    cdef real* by_tau
    cdef double* J                  # (nb, HALVED, HALVED)
    cdef Halving halves
    cdef bint stepping
    cdef object kept
    cdef int64_t ended              # end() was called

    def __cinit__(self, Dynamics model not None, halves):
        cdef Py_ssize_t n = model.c.nv
        self.model, self.state, self.room, self.kept = model, State(model), Tangents(model), halves
        self.halves = <Halving>PyCapsule_GetPointer(halves, "mbros_core.halves")
        if model.c.shared:
            self.state.need_dense()
        self.scratch = Memory(3 * n * n + model.c.nb * HALVED * HALVED + 1)
        self.by_q = <real*>self.scratch.p
        self.by_v, self.by_tau = self.by_q + n * n, self.by_q + 2 * n * n
        self.J = <double*>(self.by_q + 3 * n * n)
        self.stepping = has_step_slopes(&model.c)

    def end(self):
        """End what runs in another thread, soon; what it wrote is then not whole. Later calls end at once."""
        store(&self.ended, 1)

    def of_state(self, state, tau, h):
        """(A, B) at one state, of a step of h s, or where h is 0 of its motion; None where that is left to Linearizer. tau: (nv,)."""
        cdef ModelC* m = &self.model.c
        cdef State s = self.model.own(state)
        cdef cnp.ndarray t = self.model.vector(tau, m.nv, "tau")
        cdef double dt = h
        cdef cnp.npy_intp[2] shape
        cdef cnp.ndarray A, B
        if not has_slopes(m, True) or (dt != 0.0 and not self.stepping):
            return None
        shape[0], shape[1] = 2 * m.nv, 2 * m.nv
        A = new_array(2, shape)
        shape[1] = m.nv
        B = new_array(2, shape)
        self.state.hold()
        memcpy(self.state.memory.p, s.memory.p, self.model.fields[NUMBER_OF_INPUTS].at * sizeof(double))
        if dt != 0.0:
            done = self.of_step(<const real*>cnp.PyArray_DATA(t), real(dt), <real*>cnp.PyArray_DATA(A), <real*>cnp.PyArray_DATA(B))
        else:
            done = self.of_motion(<const real*>cnp.PyArray_DATA(t), <real*>cnp.PyArray_DATA(A), <real*>cnp.PyArray_DATA(B))
        self.state.let_go()
        self.state.stage = STAGE_NONE
        return (A, B) if done else None

    def linearize(self, what, inputs, tau, A, B, dt=1e-3, integrator=INTEGRATORS[integrators.DEFAULT]):
        """A[b] (2 nv, 2 nv), B[b] (2 nv, nv) at point b of n: what, inputs and tau as of Linearizer. Returns the points that it leaves to
        that: where the step is stiff, a joint is prescribed or a number is not finite; all of what has no analytic derivatives."""
        cdef ModelC* m = &self.model.c
        cdef str who = f"linear dynamics of model {self.model.name!r}"
        cdef Py_ssize_t size = self.model.fields[NUMBER_OF_INPUTS].at, nv = m.nv, b, n
        cdef cnp.ndarray points = given_numbers(who, "inputs", inputs, (None, size))
        n = cnp.PyArray_DIM(points, 0)
        cdef cnp.ndarray efforts = given_numbers(who, "tau", tau, (n, nv))
        cdef double* a = <double*>cnp.PyArray_DATA(<cnp.ndarray>given_room(who, "A", A, (n, 2 * nv, 2 * nv)))
        cdef double* c = <double*>cnp.PyArray_DATA(<cnp.ndarray>given_room(who, "B", B, (n, 2 * nv, nv)))
        cdef const double* given = <const double*>cnp.PyArray_DATA(points)
        cdef const double* effort = <const double*>cnp.PyArray_DATA(efforts)
        cdef double h = step_length(who, dt)
        cdef bint step = what == "step"
        cdef bint done
        cdef Door door
        if what != "step" and what != "forward_dynamics":
            raise MbrosError(f"{who}: expected 'forward_dynamics' or 'step', got {what!r}")
        if not has_slopes(m, True) or (step and not (self.stepping and integrator_number(who, integrator) == MIDPOINT)):
            return list(range(n))
        memset(&door, 0, sizeof(door))
        left = []
        self.state.hold()
        try:
            with nogil:
                for b in range(n):
                    memcpy(self.state.memory.p, given + b * size, size * sizeof(double))
                    if step:
                        done = self.of_step(<const real*>effort + b * nv, real(h), <real*>a + b * 4 * nv * nv, <real*>c + b * 2 * nv * nv)
                    else:
                        done = self.of_motion(<const real*>effort + b * nv, <real*>a + b * 4 * nv * nv, <real*>c + b * 2 * nv * nv)
                    if not done:
                        with gil:
                            left.append(b)
                    if knock(&door):
                        with gil:
                            let_in(&door, None, 0.0)
                    if load(&self.ended):
                        break
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE
        return left

    cdef bint of_motion(self, const real* tau, real* A, real* B) noexcept nogil:
        """One point; False where a number is not finite."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Py_ssize_t n = m.nv, i
        cdef Kernel kernel = kernel_for(m, s, FORWARD_DERIVATIVES)
        cdef real* compiled = self.room.c.L
        if kernel != NULL:
            kernel(s, tau, compiled, 0.0)
        else:
            vdot_and_slopes(m, s, tau, &self.room.c)
        if not (matrix_finite(compiled, n * (1 + 3 * n)) if kernel != NULL else matrix_finite(self.room.c.R, n * 3 * self.room.c.padded)):
            return False
        memset(A, 0, 2 * n * n * sizeof(real))
        memset(B, 0, n * n * sizeof(real))
        for i in range(n):
            A[2 * n * i + n + i] = real(1.0)
        for i in range(1, m.nb):
            if not m.joints[i].follows:
                turning(&m.joints[i], s.v + m.joints[i].iv, A + m.joints[i].iv * (2 * n + 1), 2 * n)
        if kernel == NULL:
            hand_out(&self.room.c, A + 2 * n * n, A + 2 * n * n + n, 2 * n, B + n * n, n)
            return True
        copy_reals(B + n * n, compiled + n + 2 * n * n, n * n)
        for i in range(n):
            copy_reals(A + (n + i) * 2 * n, compiled + n + i * n, n)
            copy_reals(A + (n + i) * 2 * n + n, compiled + n + (n + i) * n, n)
        return True

    cdef bint of_step(self, const real* tau, real h, real* A, real* B) noexcept nogil:
        """One point; False where this is not for it."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef const Joint* j
        cdef int n = m.nv, i, k
        if hold_locked(m, s) or not middle_slopes(m, s, tau, h, &self.room.c):
            return False
        if m.shared:
            accelerations_less_gravity(m, s, s.vdot)
        forward_dynamics_derivatives(m, s, s.vdot, &self.room.c)
        if not matrix_finite(self.room.c.R, n * 3 * <Py_ssize_t>self.room.c.padded):
            return False
        hand_out(&self.room.c, self.by_q, self.by_v, n, self.by_tau, n)
        for i in range(1, m.nb):
            j = &m.joints[i]
            if not j.follows:
                self.halve(j, i, h)
        for i in range(1, m.nb):
            j = &m.joints[i]
            if j.follows:
                continue
            if not halves_of_coordinates(j.kind) or (j.nv and value(s.lock[j.iv]) != 0.0):
                if some_friction(s, j.iv, j.nv):
                    return False
                ends_of_joint(j.iv, j.nv, <const real*>(self.J + i * HALVED * HALVED), self.by_q, self.by_v, self.by_tau, A, B, n)
            else:
                for k in range(j.iv, j.iv + j.nv):
                    if value(s.friction[k]) != 0.0 and value(s.sticking[k]) != 0.0:
                        ends_held(k, h, A, B, n)
                    else:
                        ends_of_coordinate(k, h, self.by_q, self.by_v, self.by_tau, A, B, n)
        return bool(matrix_finite(A, 4 * n * <Py_ssize_t>n) and matrix_finite(B, 2 * n * <Py_ssize_t>n))

    cdef void halve(self, const Joint* j, int i, real h) noexcept nogil:
        """Derivatives of a by q and v of the start, for what joint i is of them; its J where it needs one."""
        cdef Work* s = &self.state.c
        cdef double* J = self.J + i * HALVED * HALVED
        cdef double given[35]
        cdef int* sizes = [j.kind, j.nq, j.nv]
        cdef int k, n = j.nv, nv = self.model.c.nv
        if n and value(s.lock[j.iv]) != 0.0:                # it stands: q_h = q+ = q, v+ = 0
            memset(J, 0, 9 * n * n * sizeof(double))
            for k in range(n):
                J[k * 3 * n + k] = J[(n + k) * 3 * n + k] = 1.0
            for k in range(nv):
                memset(self.by_v + k * <Py_ssize_t>nv + j.iv, 0, n * sizeof(real))
        elif not halves_of_coordinates(j.kind):
            memcpy(given, s.stage_q + j.iq, j.nq * sizeof(double))
            memcpy(given + 7, s.stage_v + j.iv, n * sizeof(double))
            memcpy(given + 13, s.v + j.iv, n * sizeof(double))
            memcpy(given + 19, s.vdot + j.iv, n * sizeof(double))
            memcpy(given + 25, s.inertia + i, 10 * sizeof(double))
            self.halves(sizes, given, value(h), J)
            through_the_middle(j.iv, n, <const real*>J, self.by_q, self.by_v, nv)
        else:
            for k in range(nv):
                add_rows(self.by_v + k * <Py_ssize_t>nv + j.iv, 0.5 * h, self.by_q + k * <Py_ssize_t>nv + j.iv, n)
