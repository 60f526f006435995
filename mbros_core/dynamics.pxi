# The algorithms as Python calls them, one robot at a time: checks and errors on the outside, one C call inside.
# Only the double modules include this file.

cdef enum:
    KEPT = 64               # velocities up to which a state keeps the room in which a mass matrix for `out=` is formed


cdef class Dynamics(Checked):
    """A compiled robot and its algorithms. All arguments and results are float64 arrays in SI units.

    A call costs the algorithm plus a few tens of nanoseconds: arguments are checked by hand, `out=` avoids the new array. It may overlap
    the arguments; what it holds is left alone by a call that raises.
    Generalized forces obey   M vdot + bias = tau + passive + sum J^T F, F of the user and of force elements on bodies.
    """

    # ------------------------------------------------------------------------------------------- dynamics

    def forward_dynamics(self, state, tau, out=None):
        """Accelerations vdot (nv,) under the generalized forces tau (nv,): the articulated-body algorithm.

        Gravity, damping, friction, stops and external wrenches act; effort limits do not (they act where commands enter).
        Constraints hold, to rounding; contact does not act. Cost O(nb) without constraints. MbrosError when a size is wrong,
        NonFiniteError when an input is not finite; nothing changes then.
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.vector_beside(s, tau, self.c.nv, "tau")
        cdef cnp.ndarray a = self.result(out, self.c.nv, -1)
        cdef Kernel kernel = kernel_for(&self.c, &s.c, FORWARD_SLOT)
        if kernel != NULL:
            kernel(&s.c, <real*>cnp.PyArray_DATA(t), s.c.vdot, 0.0)
            return self.finished(a, s.c.vdot, self.c.nv, "forward_dynamics", s, "tau", t)
        if self.c.shared:
            s.need_dense()
        if self.c.nk:
            s.need_contacts()
        vdot_under(&self.c, <real*>cnp.PyArray_DATA(t), s.c.vdot, &s.c)
        if self.c.scene != NULL and self.c.nk:
            with_constraints(&self.c, &s.c, s.c.vdot, AN_ACCELERATION, False)
        s.kinematics_done()
        return self.finished(a, s.c.vdot, self.c.nv, "forward_dynamics", s, "tau", t)

    def inverse_dynamics(self, state, vdot, out=None):
        """Generalized forces tau (nv,) that cause the accelerations vdot (nv,): the recursive Newton-Euler algorithm.

        The inverse of forward_dynamics: it includes damping, friction, stops and external wrenches. Constraints carry nothing then: for
        accelerations that they allow, forward_dynamics gives these back. Cost O(nb).
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        cdef Kernel kernel = kernel_for(&self.c, &s.c, INVERSE_SLOT)
        if kernel != NULL:
            kernel(&s.c, <real*>cnp.PyArray_DATA(a), s.c.tau, 0.0)
            return self.finished(t, s.c.tau, self.c.nv, "inverse_dynamics", s, "vdot", a)
        s.need_velocities()
        tau_for(&self.c, <real*>cnp.PyArray_DATA(a), s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "inverse_dynamics", s, "vdot", a)

    def _has_slopes(self, forward):
        """Whether derivatives of forward (or inverse) dynamics are analytic."""
        return has_slopes(&self.c, truth("_has_slopes: forward", forward))

    def _forward_dynamics_slopes(self, state, tau, out=None):
        """(1 + 3 nv, nv): vdot, and below it dvdot/dq, dvdot/dv and dvdot/dtau; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
        cdef State s = self.own(state)
        if not has_slopes(&self.c, True):
            return None
        cdef cnp.ndarray t = self.vector_beside(s, tau, self.c.nv, "tau")
        cdef Tangents room = tangents_of(s)
        cdef Py_ssize_t n = self.c.nv
        cdef cnp.ndarray x
        if kernel_for(&self.c, &s.c, FORWARD_DERIVATIVES) != NULL:
            x = self.compiled_slopes(FORWARD_DERIVATIVES, s, t, out, "derivatives of forward_dynamics", "tau")
            copy_reals(s.c.vdot, <real*>cnp.PyArray_DATA(x), n)
            return x
        if self.c.shared:
            s.need_dense()
        vdot_and_slopes(&self.c, &s.c, <real*>cnp.PyArray_DATA(t), &room.c)
        s.kinematics_done()
        if not all_finite(s.c.vdot, n) or not matrix_finite(room.c.R, n * 3 * room.c.padded):
            if room.c.along != NULL and all_finite(s.c.vdot, n):
                return None                                 # dual numbers say why
            raise not_finite(self, "derivatives of forward_dynamics", s, "tau", t)
        x = self.result(out, <int>(1 + 3 * n), <int>n)
        put_slopes(&room.c, s.c.vdot, <real*>cnp.PyArray_DATA(x), n)
        return x

    def _inverse_dynamics_slopes(self, state, vdot, out=None):
        """(1 + 3 nv, nv): tau, and below it dtau/dq, dtau/dv and dtau/dvdot; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
        cdef State s = self.own(state)
        if not has_slopes(&self.c, False):
            return None
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray x
        cdef Py_ssize_t n = self.c.nv
        if kernel_for(&self.c, &s.c, INVERSE_DERIVATIVES) != NULL:
            x = self.compiled_slopes(INVERSE_DERIVATIVES, s, a, out, "derivatives of inverse_dynamics", "vdot")
            copy_reals(s.c.tau, <real*>cnp.PyArray_DATA(x), n)
            return x
        cdef Tangents room = tangents_of(s)
        x = self.result(out, <int>(1 + 3 * n), <int>n)
        cdef real* draft = <real*>cnp.PyArray_DATA(x) + n if out is None else room.c.R
        s.need_velocities()
        tau_for(&self.c, <real*>cnp.PyArray_DATA(a), s.c.tau, &s.c)
        passive_slopes(&self.c, &s.c, room.c.passive_q, room.c.passive_v)
        inverse_dynamics_derivatives(&self.c, &s.c, <real*>cnp.PyArray_DATA(a), draft, draft + n * n, draft + 2 * n * n, &room.c)
        if not (all_finite(s.c.tau, n) and matrix_finite(draft, 3 * n * n)):
            if room.c.along != NULL and all_finite(s.c.tau, n):
                return None
            raise not_finite(self, "derivatives of inverse_dynamics", s, "vdot", a)
        copy_reals(<real*>cnp.PyArray_DATA(x), s.c.tau, n)
        if out is not None:
            copy_reals(<real*>cnp.PyArray_DATA(x) + n, draft, 3 * n * n)
        return x

    cdef cnp.ndarray compiled_slopes(self, int slot, State s, cnp.ndarray given, object out, str who, str name):
        """(1 + 3 nv, nv) of the compiled function of a slot, in `out` where there is such an array."""
        cdef Py_ssize_t n = (1 + 3 * <Py_ssize_t>self.c.nv) * self.c.nv
        cdef cnp.ndarray x = self.result(out, 1 + 3 * self.c.nv, self.c.nv)
        cdef Tangents room = tangents_of(s)
        cdef real* draft = <real*>cnp.PyArray_DATA(x) if out is None else room.c.L
        self.c.kernels.of[slot](&s.c, <const real*>cnp.PyArray_DATA(given), draft, 0.0)
        if not matrix_finite(draft, n):
            raise not_finite(self, who, s, name, given)
        if out is not None:
            copy_reals(<real*>cnp.PyArray_DATA(x), draft, n)
        return x

    def _inverse_dynamics_second_slopes(self, state, vdot, out=None):
        """(4 nv^2, nv): d2tau/dq dq, /dq dv, /dv dv and /dq dvdot, (nv, nv, nv) each; None where they have no equations and are left to
        SecondSlopes of the dual modules. out: such an array, written over even where there is no result."""
        cdef State s = self.own(state)
        if not has_second_slopes(&self.c):
            return None
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef Tangents room = tangents_of(s)
        cdef Py_ssize_t n = self.c.nv
        cdef cnp.ndarray x = self.result(out, <int>(4 * n * n), <int>n)
        if room.pairs is None:
            room.pairs = Memory(KINDS * PACK + (ROWS_OF_PAIR + LOADS) * room.c.padded + LOADS * self.c.nb)
        s.need_velocities()
        accelerations_less_gravity(&self.c, &s.c, <real*>cnp.PyArray_DATA(a))
        second_derivatives(&self.c, &s.c, <real*>cnp.PyArray_DATA(a), &room.c, <real*>room.pairs.p, <real*>cnp.PyArray_DATA(x))
        if not matrix_finite(<real*>cnp.PyArray_DATA(x), 4 * n * n * n):
            raise not_finite(self, "second derivatives of inverse_dynamics", s, "vdot", a)
        return x

    def mass_matrix(self, state, out=None):
        """M(q) (nv, nv), symmetric positive definite, rotors included: the composite-rigid-body algorithm."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, self.c.nv, self.c.nv)
        cdef cnp.ndarray draft = x
        cdef real* M
        if out is not None and self.c.nv <= KEPT:
            s.need_dense()
            M = s.c.L
        else:
            draft = self.draft(x, out)
            M = <real*>cnp.PyArray_DATA(draft)
        cdef Kernel kernel = kernel_for(&self.c, &s.c, MASS_SLOT)
        if kernel != NULL:
            kernel(&s.c, NULL, M, 0.0)
            return self.delivered(x, M, "mass_matrix", s)
        s.need_positions()
        mass_matrix(&self.c, M, s.c.rotor_inertia, &s.c)
        return self.delivered(x, M, "mass_matrix", s)

    def gravity_torques(self, state, out=None):
        """g(q) (nv,): the generalized forces that hold the robot still."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        s.need_positions()
        gravity_torques(&self.c, s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "gravity_torques", s, "", None)

    def bias_torques(self, state, out=None):
        """C(q, v) v + g(q) (nv,): what inverse dynamics gives at vdot = 0 without damping, friction, stops and wrenches."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        s.need_velocities()
        bias_torques(&self.c, s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "bias_torques", s, "", None)

    def coriolis_torques(self, state, out=None):
        """C(q, v) v (nv,): Coriolis, centrifugal and gyroscopic torques."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        cdef Vec3 g = s.c.gravity[0]
        s.need_velocities()
        s.c.gravity[0] = zero3()
        bias_torques(&self.c, s.c.tau, &s.c)
        s.c.gravity[0] = g
        return self.finished(t, s.c.tau, self.c.nv, "coriolis_torques", s, "", None)

    def passive_torques(self, state, out=None):
        """What acts in the joints themselves (nv,): damping, Coulomb friction, stops, force elements on joint coordinates."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        passive_torques(&self.c, &s.c)
        return self.finished(t, s.c.passive, self.c.nv, "passive_torques", s, "", None)

    def _contact_rows(self, state):
        """What touches, (n, 21), in the columns of mbros_core.constraints.touches: of the step that led to this state; where none did, of
        now, with normal forces alone."""
        cdef State s = self.own(state)
        cdef cnp.ndarray rows = contact_rows(self, s)
        if not all_finite(<real*>cnp.PyArray_DATA(rows), cnp.PyArray_SIZE(rows)):
            raise not_finite(self, "contacts", s, "", None)
        return rows

    def _constraint_gaps(self, state):
        """The gaps of all constraints, row by row (rows,), m or rad: mbros_core.constraints.opening.row_slices says whose."""
        cdef State s = self.own(state)
        return self.checked_gaps(s, constraint_gaps(self, s) if self.c.nk else np.zeros(0))

    def _constraint_jacobian(self, state):
        """J (rows, nv): the gaps' rates are J v, where the gaps are zero; columns of locked coordinates are zero."""
        cdef State s = self.own(state)
        return self.checked_gaps(s, constraint_jacobian(self, s) if self.c.nk else np.zeros((0, self.c.nv)))

    def _constraint_efforts(self, state):
        """(constraints, 21): what each carried in the step that led to this state, in the columns of mbros_core.constraints.touches; None
        where no step did."""
        cdef State s = self.own(state)
        return constraint_efforts(self, s) if self.c.nk else None

    def _reactions(self, state):
        """(F (nb, 6), effort (nv,), X_WB (nb, 12), V_WB (nb, 6), A_WB (nb, 6)) of the step that led to this state, at where it took its
        forces: what the joint of each compiled body exerts on it about its origin, in W axes; what each coordinate was given, and took
        where it is locked or prescribed; the motion of the bodies, accelerations less gravity. None where no step led here."""
        cdef State s = self.own(state)
        return reactions(self, s)

    def _check_closed(self, state):
        """MbrosError naming the constraints that a state violates, unless a step led to it."""
        check_closed(self, self.own(state))

    @cython.final
    cdef cnp.ndarray checked_gaps(self, State s, cnp.ndarray x):
        if not all_finite(<real*>cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)):
            raise not_finite(self, "constraints", s, "", None)
        return x

    # ----------------------------------------------------------------------------------------- kinematics

    def _frame_pose(self, state, frame, relative_to=-1, out=None):
        """X_AF of frame F (table index) in frame A, or in the world: (12,) R row-major, then p in m."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 12, -1)
        cdef Pose X
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int a = -1 if is_minus_one(relative_to) else self.index(relative_to, self.c.nf, "frame")
        s.need_positions()
        X = compose_poses(s.c.X_WB[self.c.frame_body[f]], self.c.X_BF[f])
        if a >= 0:
            X = inverse_times(compose_poses(s.c.X_WB[self.c.frame_body[a]], self.c.X_BF[a]), X)
        return self.finished(x, <real*>&X, 12, "frame_pose", s, "", None)

    def _frame_velocity(self, state, frame, out=None):
        """V_WF (6,): [angular; linear] velocity of F's origin, in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        s.need_velocities()
        cdef Vec3 p = rotate(s.c.X_WB[body].R, self.c.X_BF[f].p)
        cdef Motion V = shift_motion(s.c.V_WB[body], p)
        return self.finished(x, <real*>&V, 6, "frame_velocity", s, "", None)

    def _frame_acceleration(self, state, frame, vdot, out=None):
        """A_WF (6,): time derivative in W of the frame's velocity, for the accelerations vdot (nv,)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        s.need_velocities()
        accelerations(&self.c, <real*>cnp.PyArray_DATA(a), &s.c)
        cdef Vec3 p = rotate(s.c.X_WB[body].R, self.c.X_BF[f].p)
        cdef Vec3 w = s.c.V_WB[body].w
        cdef Motion A = shift_motion(s.c.A_WB[body], p)
        A.v = add(A.v, cross(w, cross(w, p)))
        return self.finished(x, <real*>&A, 6, "frame_acceleration", s, "vdot", a)

    def _frame_jacobian(self, state, frame, in_frame=False, out=None):
        """J (6, nv), rows [angular; linear]: V_WF = J v for F's origin, in W axes, or in F axes with in_frame. Cost O(depth)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, self.c.nv)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        cdef real* J = <real*>cnp.PyArray_DATA(x) if out is None else <real*>s.c.U         # scratch of 6 reals a column
        cdef bint local = truth("frame_jacobian: in_frame", in_frame)
        cdef Mat3 R
        s.need_positions()
        jacobian(&self.c, body, rotate(s.c.X_WB[body].R, self.c.X_BF[f].p), J, &s.c)
        if local:
            R = compose(s.c.X_WB[body].R, self.c.X_BF[f].R)
            unrotate_rows(R, J, self.c.nv)
            unrotate_rows(R, J + 3 * self.c.nv, self.c.nv)
        return self.delivered(x, J, "frame_jacobian", s)

    def _frame_slopes(self, state, vdot, frames, wrenches=None):
        """(a (n, 6), x (24 n, nv), R) of n frames (table indices): accelerations; of each J, d(J v)/dq, da/dq, da/dv, rows
        [angular; linear] of its origin in W axes; R (nv, nv) = -d(J^T wrenches)/dq where there are any, (n, 6). None where they are
        not analytic."""
        cdef State s = self.own(state)
        if not columns_known(&self.c):
            return None
        cdef cnp.ndarray given = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray f = None if wrenches is None else given_numbers(f"model {self.name!r}", "wrenches", wrenches, (len(frames), 6))
        cdef int n = len(frames), frame, k
        cdef cnp.ndarray a = self.result(None, n, 6), x = self.result(None, 24 * n, self.c.nv)
        cdef cnp.ndarray R = None if f is None else self.result(None, self.c.nv, self.c.nv)
        cdef Tangents room = tangents_of(s)
        cdef Py_ssize_t size = 24 * <Py_ssize_t>self.c.nv
        if R is not None:
            memset(cnp.PyArray_DATA(R), 0, self.c.nv * self.c.nv * sizeof(real))
        s.need_velocities()
        accelerations_less_gravity(&self.c, &s.c, <real*>cnp.PyArray_DATA(given))
        room.c.applied = False
        columns_in_motion(&self.c, &s.c, <real*>cnp.PyArray_DATA(given), &room.c, False)
        for k in range(n):
            frame = self.index(frames[k], self.c.nf, "frame")
            frame_derivatives(&self.c, &s.c, &room.c, frame, <real*>cnp.PyArray_DATA(a) + 6 * k, <real*>cnp.PyArray_DATA(x) + size * k)
            if f is not None:
                turn_wrench(&self.c, &s.c, &room.c, frame, <real*>cnp.PyArray_DATA(f) + 6 * k, <real*>cnp.PyArray_DATA(R))
        if not (all_finite(<real*>cnp.PyArray_DATA(a), 6 * n) and matrix_finite(<real*>cnp.PyArray_DATA(x), size * n)):
            raise not_finite(self, "derivatives of frame_acceleration", s, "vdot", given)
        return a, x, R

    # ---------------------------------------------------------------------------- centre of mass and energy

    def total_mass(self, state):
        """Mass of everything that can move, kg."""
        cdef State s = self.own(state)
        return self.one(total_mass(&self.c, &s.c), "total_mass", s)

    def center_of_mass(self, state, out=None):
        """p_WoScm_W (3,), m: centre of mass of everything that is not welded to the world."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, -1)
        s.need_positions()
        self.need_mass(s)
        cdef Vec3 c = center_of_mass(&self.c, &s.c)
        return self.finished(x, <real*>&c, 3, "center_of_mass", s, "", None)

    @cython.final
    cdef need_mass(self, State s):
        if not self.one(total_mass(&self.c, &s.c), "total_mass", s) > 0.0:
            raise MbrosError(f"model {self.name!r} has no mass that can move, so it has no centre of mass")

    def com_jacobian(self, state, out=None):
        """J (3, nv): velocity of the centre of mass = J v, in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, self.c.nv)
        cdef real* J = <real*>cnp.PyArray_DATA(x) if out is None else <real*>s.c.U
        s.need_positions()
        self.need_mass(s)
        center_of_mass_jacobian(&self.c, J, &s.c)
        return self.delivered(x, J, "com_jacobian", s)

    def centroidal_momentum(self, state, out=None):
        """(6,): angular momentum about the centre of mass (N m s), then linear momentum (N s), in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        s.need_velocities()
        self.need_mass(s)
        cdef Force L = centroidal_momentum(&self.c, &s.c)
        return self.finished(x, <real*>&L, 6, "centroidal_momentum", s, "", None)

    def _centroidal_map(self, state):
        """(12, nv): A with h = A v, and its rate; None where that is not analytic."""
        cdef State s = self.own(state)
        if not columns_known(&self.c):
            return None
        cdef Tangents room = tangents_of(s)
        cdef cnp.ndarray x = self.result(None, 12, self.c.nv)
        s.need_velocities()
        self.need_mass(s)
        centroidal_map(&self.c, &s.c, &room.c, <real*>cnp.PyArray_DATA(x))
        if not matrix_finite(<real*>cnp.PyArray_DATA(x), 12 * self.c.nv):
            raise not_finite(self, "centroidal_map", s, "", None)
        return x

    def kinetic_energy(self, state):
        """Of all bodies and rotors, J."""
        cdef State s = self.own(state)
        s.need_velocities()
        return self.one(kinetic_energy(&self.c, &s.c), "kinetic_energy", s)

    def potential_energy(self, state):
        """Of gravity (zero with every centre of mass at the world's origin), of the stops, of the force elements and of contacts, J."""
        cdef State s = self.own(state)
        s.need_contacts()
        s.need_velocities()
        return self.one(gravity_energy(&self.c, &s.c) + stop_energy(&self.c, &s.c) + elements_energy(&self.c, &s.c)
                        + contact_energy(&self.c, &s.c), "potential_energy", s)

    def _force_element(self, state, k):
        """What force element k does: (F_A, F_C, F_own, numbers).

        F_A, F_C (6,): wrenches [torque; force] on its two bodies about the bodies' origins in W axes. F_own (6,): the wrench on
        C about Co in the element's own axes (A's for pairs, W for bodies). numbers (6,): tau, C, K, stored energy (J),
        conservative and nonconservative power (W). Zero where a kind has no such thing. Raises GimbalLockError for a bushing at lock.
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.element_numbers(s, self.index(k, self.c.ne, "force element"))
        if not all_finite(<real*>cnp.PyArray_DATA(x), 24):
            raise not_finite(self, "force_element", s, "", None)
        return x[:6], x[6:12], x[12:18], x[18:]

    def _implicit_shares(self, state, dt):
        """(elements,): how far each is implicit in a midpoint step of dt (forces/stiff.pxd): 0 where it is explicit, 1 where implicit."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = np.zeros(self.c.ne + 1)
        cdef double h = step_length("implicit_shares", dt)
        if self.c.nsprings:
            s.need_contacts()
            share_out(&self.c, &s.c, real(h), <real*>s.c.contacts.share)
            shares = [s.c.contacts.share[k] for k in range(self.c.nsprings)]
            x[spring_numbers(self.spec)] = shares
        return x[:self.c.ne]

    def _force_element_or_nan(self, state, k):
        """The same, with NaN where _force_element raises: for those who look for the reason."""
        cdef cnp.ndarray x = self.element_numbers(self.own(state), self.index(k, self.c.ne, "force element"))
        return x[:6], x[6:12], x[12:18], x[18:]

    @cython.final
    cdef cnp.ndarray element_numbers(self, State s, int k):
        cdef cnp.ndarray x = np.zeros(24)
        cdef real* p = <real*>cnp.PyArray_DATA(x)
        cdef ForceOut out
        cdef ForceElement* e = &self.c.elements[k]
        s.need_velocities()
        evaluate(&self.c, &s.c, k, <Force*>p, <Force*>(p + 6), &out)
        if e.iv >= 0:
            p[18], p[19], p[20] = out.tau, out.C, out.K
        else:
            if may_be_stiff(e):
                take_implicit(&self.c, &s.c, k, &out.F, <Force*>p, <Force*>(p + 6))
            copy_reals(p + 12, <real*>&out.F, 6)
            if e.body_a >= 0:
                x[:6] *= -1.0
        p[21], p[22], p[23] = out.energy, out.conservative, out.nonconservative
        return x

    # ------------------------------------------------------------------------------------- configurations

    def integrate(self, q, v, out=None):
        """q (+) v: the configuration reached from q (nq,) in unit time with the constant velocity v (nv,)."""
        cdef cnp.ndarray a = self.vector(q, self.c.nq, "q")
        cdef cnp.ndarray b = self.vector(v, self.c.nv, "v")
        cdef cnp.ndarray result = self.result(out, self.c.nq, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        move(&self.c, <real*>cnp.PyArray_DATA(a), <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "integrate", "q", a, "v", b)

    def difference(self, q0, q1, out=None):
        """The v (nv,) with integrate(q0, v) = q1; the shortest one."""
        cdef cnp.ndarray a = self.vector(q0, self.c.nq, "q0")
        cdef cnp.ndarray b = self.vector(q1, self.c.nq, "q1")
        cdef cnp.ndarray result = self.result(out, self.c.nv, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        apart(&self.c, <real*>cnp.PyArray_DATA(a), <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "difference", "q0", a, "q1", b)

    def normalize(self, q, out=None):
        """The nearest valid configuration: unit quaternions."""
        cdef cnp.ndarray a = self.vector(q, self.c.nq, "q")
        cdef cnp.ndarray result = self.result(out, self.c.nq, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        memcpy(cnp.PyArray_DATA(x), cnp.PyArray_DATA(a), self.c.nq * sizeof(double))
        bring_back(&self.c, <real*>cnp.PyArray_DATA(x), NULL)
        return self.configured(result, x, "normalize", "q", a, "q", a)

    def velocity_to_qdot(self, state, v, out=None):
        """qdot = N(q) v (nq,)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray b = self.vector(v, self.c.nv, "v")
        cdef cnp.ndarray result = self.result(out, self.c.nq, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        rates(&self.c, s.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "velocity_to_qdot", "q", s, "v", b)

    def qdot_to_velocity(self, state, qdot, out=None):
        """v = N+(q) qdot (nv,): the inverse of velocity_to_qdot on the rates that are possible."""
        cdef State s = self.own(state)
        cdef cnp.ndarray b = self.vector(qdot, self.c.nq, "qdot")
        cdef cnp.ndarray result = self.result(out, self.c.nv, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        unrates(&self.c, s.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "qdot_to_velocity", "q", s, "qdot", b)

    def _time_kernel(self, name, state, x, calls):
        """Nanoseconds per call of the bare C algorithm ("forward_dynamics", "inverse_dynamics" or "mass_matrix"), for benchmarks."""
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, x, self.c.nv, "x")
        cdef real* p = <real*>cnp.PyArray_DATA(a)
        cdef int which = TIMED.index(name) if isinstance(name, str) and name in TIMED else -1
        cdef Py_ssize_t i, n = whole(calls)
        cdef Kernel kernel
        cdef timespec start, end
        if which < 0 or n < 1:
            raise MbrosError(f"time_kernel: expected one of {', '.join(TIMED)} and 1 or more calls, got {short(name)} and {short(calls)}")
        s.need_dense()
        with nogil:
            clock_gettime(CLOCK_MONOTONIC, &start)
            for i in range(n):
                kernel = kernel_for(&self.c, &s.c, which)
                if kernel != NULL:
                    kernel(&s.c, p, s.c.L if which == MASS_SLOT else s.c.tau, 0.0)
                elif which == 0:
                    vdot_under(&self.c, p, s.c.vdot, &s.c)
                elif which == 1:
                    positions(&self.c, &s.c)
                    velocities(&self.c, &s.c)
                    tau_for(&self.c, p, s.c.tau, &s.c)
                else:
                    positions(&self.c, &s.c)
                    mass_matrix(&self.c, s.c.L, s.c.rotor_inertia, &s.c)
            clock_gettime(CLOCK_MONOTONIC, &end)
        s.stage = STAGE_NONE
        return ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / n


TIMED = ("forward_dynamics", "inverse_dynamics", "mass_matrix")
