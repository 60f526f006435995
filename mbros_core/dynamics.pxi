# The algorithms as Python calls them, one robot at a time: checks and errors on the outside, one C call inside.
# Only the double modules include this file.

cdef enum:
    KEPT = 64               # velocities up to which a state keeps the room in which a mass matrix for `out=` is formed


cdef class Dynamics(AnalyticDerivatives):
    """A compiled robot and its algorithms. All arguments and results are float64 arrays in SI units.

    A call costs the algorithm plus a few tens of nanoseconds: arguments are checked by hand, `out=` avoids the new array. It may overlap
    the arguments; what it holds is left alone by a call that raises.
    Generalized forces obey   M vdot + bias = tau + passive + sum J^T F, F of the user and of force elements on bodies.
    """

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
