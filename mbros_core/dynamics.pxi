# The algorithms as Python calls them, one robot at a time: checks and errors on the outside, one C call inside.
# Only the double modules include this file.

cdef class Dynamics(Model):
    """A compiled robot and its algorithms. All arguments and results are float64 arrays in SI units.

    A call costs the algorithm plus a few tens of nanoseconds: arguments are checked by hand, `out=` avoids the new array.
    Generalized forces obey   M vdot + bias = tau + passive + sum J^T F, F of the user and of force elements on bodies.
    """

    # ------------------------------------------------------------------------------------------ arguments

    @cython.final
    cdef inline int own(self, State state) except -1:
        """The state must be one of this model's, and nobody else's at the moment."""
        if state is None or state.model is not self:
            raise foreign_state(self, state)
        return state.refuse_held()

    @cython.final
    cdef inline cnp.ndarray vector(self, object x, int n, str name):
        """x itself when it is a plain float64 vector of n numbers, a converted copy when it can become one."""
        if (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_NDIM(x) == 1
                and cnp.PyArray_DIM(x, 0) == n and cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_ISALIGNED(x)
                and cnp.PyArray_ISNOTSWAPPED(x)):
            return <cnp.ndarray>x
        return converted(self, x, n, name)

    @cython.final
    cdef inline cnp.ndarray result(self, object out, int rows, int columns):
        """`out` when it fits, or a new array of (rows,) or (rows, columns); columns = -1 asks for a vector."""
        cdef cnp.npy_intp shape[2]
        cdef int n = 1 if columns < 0 else 2
        shape[0], shape[1] = rows, columns
        if out is None:
            return cnp.PyArray_EMPTY(n, shape, cnp.NPY_DOUBLE, 0)
        if (cnp.PyArray_CheckExact(out) and cnp.PyArray_TYPE(out) == cnp.NPY_DOUBLE and cnp.PyArray_NDIM(out) == n
                and cnp.PyArray_DIM(out, 0) == rows and (n == 1 or cnp.PyArray_DIM(out, 1) == columns)
                and cnp.PyArray_ISCARRAY(out)):
            return <cnp.ndarray>out
        raise bad_out(self, out, rows, columns)

    # ------------------------------------------------------------------------------------------- dynamics

    def forward_dynamics(self, State state, tau, out=None):
        """Accelerations vdot (nv,) under the generalized forces tau (nv,): the articulated-body algorithm.

        Gravity, damping, friction, stops and external wrenches act; effort limits do not (they act where commands enter).
        Cost O(nb). Raises ValueError when a size is wrong, NonFiniteError when an input is not finite; nothing changes then.
        """
        self.own(state)
        cdef cnp.ndarray t = self.vector(tau, self.c.nv, "tau")
        cdef cnp.ndarray a = self.result(out, self.c.nv, -1)
        passive_torques(&self.c, &state.c)
        add_passive(&self.c, <real*>cnp.PyArray_DATA(t), &state.c)
        forward_dynamics(&self.c, state.c.tau, state.c.vdot, &state.c)
        state.kinematics_done()
        if not all_finite(state.c.vdot, self.c.nv):
            raise not_finite(self, "forward_dynamics", state, "tau", t)
        copy_reals(<real*>cnp.PyArray_DATA(a), state.c.vdot, self.c.nv)
        return a

    def inverse_dynamics(self, State state, vdot, out=None):
        """Generalized forces tau (nv,) that cause the accelerations vdot (nv,): the recursive Newton-Euler algorithm.

        The inverse of forward_dynamics: it includes damping, friction, stops and external wrenches. Cost O(nb).
        """
        self.own(state)
        cdef cnp.ndarray a = self.vector(vdot, self.c.nv, "vdot")
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        cdef int i
        state.need_velocities()
        passive_torques(&self.c, &state.c)
        inverse_dynamics(&self.c, <real*>cnp.PyArray_DATA(a), state.c.tau, &state.c)
        for i in range(self.c.nv):
            state.c.tau[i] = state.c.tau[i] - state.c.passive[i]
        return self.finished(t, state.c.tau, self.c.nv, "inverse_dynamics", state, "vdot", a)

    @cython.final
    cdef cnp.ndarray finished(self, cnp.ndarray out, real* x, int n, str what, State state, str name, object given):
        """Copy x to out, unless a number of it is not finite."""
        if not all_finite(x, n):
            raise not_finite(self, what, state, name, given)
        memcpy(cnp.PyArray_DATA(out), x, n * sizeof(real))
        return out

    def mass_matrix(self, State state, out=None):
        """M(q) (nv, nv), symmetric positive definite, rotors included: the composite-rigid-body algorithm."""
        self.own(state)
        cdef cnp.ndarray M = self.result(out, self.c.nv, self.c.nv)
        state.need_positions()
        mass_matrix(&self.c, state.c.L, state.c.rotor_inertia, &state.c)
        return self.finished(M, state.c.L, self.c.nv * self.c.nv, "mass_matrix", state, "", None)

    def gravity_torques(self, State state, out=None):
        """g(q) (nv,): the generalized forces that hold the robot still."""
        self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        state.need_positions()
        gravity_torques(&self.c, state.c.tau, &state.c)
        return self.finished(t, state.c.tau, self.c.nv, "gravity_torques", state, "", None)

    def bias_torques(self, State state, out=None):
        """C(q, v) v + g(q) (nv,): what inverse dynamics gives at vdot = 0 without damping, friction, stops and wrenches."""
        self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        state.need_velocities()
        bias_torques(&self.c, state.c.tau, &state.c)
        return self.finished(t, state.c.tau, self.c.nv, "bias_torques", state, "", None)

    def coriolis_torques(self, State state, out=None):
        """C(q, v) v (nv,): Coriolis, centrifugal and gyroscopic torques."""
        self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        cdef Vec3 g = state.c.gravity[0]
        state.need_velocities()
        state.c.gravity[0] = zero3()
        bias_torques(&self.c, state.c.tau, &state.c)
        state.c.gravity[0] = g
        return self.finished(t, state.c.tau, self.c.nv, "coriolis_torques", state, "", None)

    def passive_torques(self, State state, out=None):
        """What acts in the joints themselves (nv,): damping, Coulomb friction, stops, force elements on joint coordinates."""
        self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        passive_torques(&self.c, &state.c)
        return self.finished(t, state.c.passive, self.c.nv, "passive_torques", state, "", None)

    # ----------------------------------------------------------------------------------------- kinematics

    @cython.final
    cdef inline int frame(self, int k) except -1:
        if not 0 <= k < self.c.nf:
            raise CoordinateIndexError(f"model {self.name!r}: frame index {k} is outside 0..{self.c.nf - 1}")
        return self.c.frame_body[k]

    def frame_pose(self, State state, int frame, int relative_to=-1, out=None):
        """X_AF of frame F (table index) in frame A, or in the world: (12,) R row-major, then p in m."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 12, -1)
        cdef Pose X
        cdef int body = self.frame(frame)
        cdef int other = 0 if relative_to < 0 else self.frame(relative_to)
        state.need_positions()
        X = compose_poses(state.c.X_WB[body], self.c.X_BF[frame])
        if relative_to >= 0:
            X = inverse_times(compose_poses(state.c.X_WB[other], self.c.X_BF[relative_to]), X)
        return self.finished(x, <real*>&X, 12, "frame_pose", state, "", None)

    def frame_velocity(self, State state, int frame, out=None):
        """V_WF (6,): [angular; linear] velocity of F's origin, in W axes."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int body = self.frame(frame)
        state.need_velocities()
        cdef Vec3 p = rotate(state.c.X_WB[body].R, self.c.X_BF[frame].p)
        cdef Motion V = shift_motion(state.c.V_WB[body], p)
        return self.finished(x, <real*>&V, 6, "frame_velocity", state, "", None)

    def frame_acceleration(self, State state, int frame, vdot, out=None):
        """A_WF (6,): time derivative in W of frame_velocity, for the accelerations vdot (nv,)."""
        self.own(state)
        cdef cnp.ndarray a = self.vector(vdot, self.c.nv, "vdot")
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int body = self.frame(frame)
        state.need_velocities()
        accelerations(&self.c, <real*>cnp.PyArray_DATA(a), &state.c)
        cdef Vec3 p = rotate(state.c.X_WB[body].R, self.c.X_BF[frame].p)
        cdef Vec3 w = state.c.V_WB[body].w
        cdef Motion A = shift_motion(state.c.A_WB[body], p)
        A.v = add(A.v, cross(w, cross(w, p)))
        return self.finished(x, <real*>&A, 6, "frame_acceleration", state, "vdot", a)

    def frame_jacobian(self, State state, int frame, bint in_frame=False, out=None):
        """J (6, nv), rows [angular; linear]: V_WF = J v for F's origin, in W axes, or in F axes with in_frame. Cost O(depth)."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, self.c.nv)
        cdef int body = self.frame(frame)
        cdef real* J = <real*>cnp.PyArray_DATA(x)
        cdef Mat3 R
        state.need_positions()
        jacobian(&self.c, body, rotate(state.c.X_WB[body].R, self.c.X_BF[frame].p), J, &state.c)
        if in_frame:
            R = compose(state.c.X_WB[body].R, self.c.X_BF[frame].R)
            unrotate_rows(R, J, self.c.nv)
            unrotate_rows(R, J + 3 * self.c.nv, self.c.nv)
        if not all_finite(J, 6 * self.c.nv):
            raise not_finite(self, "frame_jacobian", state, "", None)
        return x

    # ---------------------------------------------------------------------------- mass centre and energy

    def total_mass(self, State state):
        """Mass of everything that can move, kg."""
        self.own(state)
        return value(total_mass(&self.c, &state.c))

    def center_of_mass(self, State state, out=None):
        """p_WoScm_W (3,), m: mass centre of everything that is not welded to the world."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, -1)
        state.need_positions()
        self.need_mass(state)
        cdef Vec3 c = center_of_mass(&self.c, &state.c)
        return self.finished(x, <real*>&c, 3, "center_of_mass", state, "", None)

    @cython.final
    cdef need_mass(self, State state):
        if not value(total_mass(&self.c, &state.c)) > 0.0:
            raise MbrosError(f"model {self.name!r} has no mass that can move, so it has no mass centre")

    def com_jacobian(self, State state, out=None):
        """J (3, nv): velocity of the mass centre = J v, in W axes."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, self.c.nv)
        state.need_positions()
        self.need_mass(state)
        center_of_mass_jacobian(&self.c, <real*>cnp.PyArray_DATA(x), &state.c)
        if not all_finite(<real*>cnp.PyArray_DATA(x), 3 * self.c.nv):
            raise not_finite(self, "com_jacobian", state, "", None)
        return x

    def centroidal_momentum(self, State state, out=None):
        """(6,): angular momentum about the mass centre (N m s), then linear momentum (N s), in W axes."""
        self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        state.need_velocities()
        self.need_mass(state)
        cdef Force L = centroidal_momentum(&self.c, &state.c)
        return self.finished(x, <real*>&L, 6, "centroidal_momentum", state, "", None)

    def kinetic_energy(self, State state):
        """Of all bodies and rotors, J."""
        self.own(state)
        state.need_velocities()
        return self.one(kinetic_energy(&self.c, &state.c), "kinetic_energy", state)

    def potential_energy(self, State state):
        """Of gravity (zero with every mass centre at the world's origin), of the stops and of the force elements, J."""
        self.own(state)
        state.need_velocities()
        return self.one(gravity_energy(&self.c, &state.c) + stop_energy(&self.c, &state.c)
                        + elements_energy(&self.c, &state.c), "potential_energy", state)

    def force_element(self, State state, int k):
        """What force element k does: (F_A, F_C, F_own, numbers).

        F_A, F_C (6,): wrenches [torque; force] on its two bodies about the bodies' origins in W axes. F_own (6,): the wrench on
        C about Co in the element's own axes (A's for pairs, W for bodies). numbers (6,): tau, C, K, stored energy (J),
        conservative and nonconservative power (W). NaN where a kind has no such thing, and at a singularity (gimbal lock).
        """
        self.own(state)
        if not 0 <= k < self.c.ne:
            raise CoordinateIndexError(f"model {self.name!r}: force element index {k} is outside 0..{self.c.ne - 1}")
        cdef cnp.ndarray x = np.full(24, np.nan)
        cdef real* p = <real*>cnp.PyArray_DATA(x)
        cdef ForceOut out
        cdef ForceElement* e = &self.c.elements[k]
        state.need_velocities()
        evaluate(&self.c, &state.c, k, <Force*>p, <Force*>(p + 6), &out)
        if e.iv >= 0:
            p[18], p[19], p[20] = out.tau, out.C, out.K
        else:
            copy_reals(p + 12, <real*>&out.F, 6)
            if e.body_a >= 0:
                x[:6] *= -1.0
        p[21], p[22], p[23] = out.energy, out.conservative, out.nonconservative
        return x[:6], x[6:12], x[12:18], x[18:]

    @cython.final
    cdef double one(self, real x, str what, State state) except? -1:
        if not all_finite(&x, 1):
            raise not_finite(self, what, state, "", None)
        return value(x)

    # ------------------------------------------------------------------------------------- configurations

    def integrate(self, q, v, out=None):
        """q (+) v: the configuration reached from q (nq,) in unit time with the constant velocity v (nv,)."""
        cdef cnp.ndarray a = self.vector(q, self.c.nq, "q")
        cdef cnp.ndarray b = self.vector(v, self.c.nv, "v")
        cdef cnp.ndarray x = self.result(out, self.c.nq, -1)
        move(&self.c, <real*>cnp.PyArray_DATA(a), <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return finite_result(self, x, "integrate", "q", a, "v", b)

    def difference(self, q0, q1, out=None):
        """The v (nv,) with integrate(q0, v) = q1; the shortest one."""
        cdef cnp.ndarray a = self.vector(q0, self.c.nq, "q0")
        cdef cnp.ndarray b = self.vector(q1, self.c.nq, "q1")
        cdef cnp.ndarray x = self.result(out, self.c.nv, -1)
        apart(&self.c, <real*>cnp.PyArray_DATA(a), <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return finite_result(self, x, "difference", "q0", a, "q1", b)

    def normalize(self, q, out=None):
        """The nearest valid configuration: unit quaternions."""
        cdef cnp.ndarray a = self.vector(q, self.c.nq, "q")
        cdef cnp.ndarray x = self.result(out, self.c.nq, -1)
        memmove(cnp.PyArray_DATA(x), cnp.PyArray_DATA(a), self.c.nq * sizeof(double))
        bring_back(&self.c, <real*>cnp.PyArray_DATA(x), NULL)
        return finite_result(self, x, "normalize", "q", a, "q", a)

    def velocity_to_qdot(self, State state, v, out=None):
        """qdot = N(q) v (nq,)."""
        self.own(state)
        cdef cnp.ndarray b = self.vector(v, self.c.nv, "v")
        cdef cnp.ndarray x = self.result(out, self.c.nq, -1)
        rates(&self.c, state.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return finite_result(self, x, "velocity_to_qdot", "q", state.q, "v", b)

    def qdot_to_velocity(self, State state, qdot, out=None):
        """v = N+(q) qdot (nv,): the inverse of velocity_to_qdot on the rates that are possible."""
        self.own(state)
        cdef cnp.ndarray b = self.vector(qdot, self.c.nq, "qdot")
        cdef cnp.ndarray x = self.result(out, self.c.nv, -1)
        unrates(&self.c, state.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return finite_result(self, x, "qdot_to_velocity", "q", state.q, "qdot", b)

    def time_kernel(self, str name not None, State state, x, int calls):
        """Nanoseconds per call of the bare C algorithm ("forward_dynamics", "inverse_dynamics" or "mass_matrix"), for benchmarks."""
        self.own(state)
        cdef cnp.ndarray a = self.vector(x, self.c.nv, "x")
        cdef real* p = <real*>cnp.PyArray_DATA(a)
        cdef int which = ("forward_dynamics", "inverse_dynamics", "mass_matrix").index(name)
        cdef timespec start, end
        cdef int i
        with nogil:
            clock_gettime(CLOCK_MONOTONIC, &start)
            for i in range(calls):
                if which == 0:
                    passive_torques(&self.c, &state.c)
                    add_passive(&self.c, p, &state.c)
                    forward_dynamics(&self.c, state.c.tau, state.c.vdot, &state.c)
                elif which == 1:
                    positions(&self.c, &state.c)
                    velocities(&self.c, &state.c)
                    passive_torques(&self.c, &state.c)
                    inverse_dynamics(&self.c, p, state.c.tau, &state.c)
                else:
                    positions(&self.c, &state.c)
                    mass_matrix(&self.c, state.c.L, state.c.rotor_inertia, &state.c)
            clock_gettime(CLOCK_MONOTONIC, &end)
        state.stage = STAGE_NONE
        return ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / calls


# ------------------------------------------------------------------------------- what can go wrong, in words

cdef object foreign_state(Dynamics model, object state):
    return state_error(f"model {model.name!r}", model, state)


cdef cnp.ndarray converted(Dynamics model, object x, int n, str name):
    try:
        a = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MbrosError(f"model {model.name!r}: {name}: expected {n} numbers, got {x!r:.80}") from None
    if a.shape != (n,):
        raise MbrosError(f"model {model.name!r}: {name}: expected {n} numbers, shape ({n},), got shape {a.shape}")
    return a


cdef object bad_out(Dynamics model, object out, int rows, int columns):
    shape = f"({rows}, {columns})" if columns >= 0 else f"({rows},)"
    given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
    return MbrosError(f"model {model.name!r}: out: expected a writable C-contiguous float64 array of shape {shape}, got {given}")


cdef object not_finite(Dynamics model, str what, State state, str name, object given):
    state.stage = STAGE_NONE            # what is kept of it may be as wrong as the result
    return NonFiniteError(explain_not_finite(model, what, inputs_of(state, name, given)))


cdef cnp.ndarray finite_result(Dynamics model, cnp.ndarray x, str what, str name_a, object a, str name_b, object b):
    if not all_finite(<real*>cnp.PyArray_DATA(x), <int>x.size):
        raise NonFiniteError(explain_not_finite(model, what, {name_a: a, name_b: b}))
    return x
