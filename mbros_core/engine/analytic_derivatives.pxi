# Analytic derivatives at one state, as mbros.diff asks for them: checks and errors around tangents.pxi. Only the double modules include
# this file.

from mbros_core.algorithms.task_space cimport task_space

cdef double MOST_SINGULAR = 1e9     # condition number up to which a task is inverted without another look


cdef class AnalyticDerivatives(Loads):
    """Derivatives of dynamics and of the motion of frames; None where they are not analytic."""

    # ------------------------------------------------------------------------------------------- dynamics

    def _has_slopes(self, forward):
        """Whether derivatives of forward (or inverse) dynamics are analytic."""
        return has_slopes(&self.c, truth("_has_slopes: forward", forward))

    def _forward_dynamics_slopes(self, state, tau, out=None, *, q=None, v=None):
        """(1 + 3 nv, nv): vdot, and below it dvdot/dq, dvdot/dv and dvdot/dtau; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.vector_beside(s, tau, self.c.nv, "tau")
        cdef Py_ssize_t n = self.c.nv
        cdef cnp.ndarray x = self.result(out, <int>(1 + 3 * n), <int>n)
        self.place(s, q, v)
        if not has_slopes(&self.c, True):
            return None
        cdef Tangents room = tangents_of(s)
        if kernel_for(&self.c, &s.c, FORWARD_DERIVATIVES) != NULL:
            self.compiled_slopes(FORWARD_DERIVATIVES, s, t, x, out is None, "derivatives of forward_dynamics", "tau")
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
        put_slopes(&room.c, s.c.vdot, <real*>cnp.PyArray_DATA(x), n)
        return x

    def _inverse_dynamics_slopes(self, state, vdot, out=None, *, q=None, v=None):
        """(1 + 3 nv, nv): tau, and below it dtau/dq, dtau/dv and dtau/dvdot; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef Py_ssize_t n = self.c.nv
        cdef cnp.ndarray x = self.result(out, <int>(1 + 3 * n), <int>n)
        self.place(s, q, v)
        if not has_slopes(&self.c, False):
            return None
        if kernel_for(&self.c, &s.c, INVERSE_DERIVATIVES) != NULL:
            self.compiled_slopes(INVERSE_DERIVATIVES, s, a, x, out is None, "derivatives of inverse_dynamics", "vdot")
            copy_reals(s.c.tau, <real*>cnp.PyArray_DATA(x), n)
            return x
        cdef Tangents room = tangents_of(s)
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

    cdef int compiled_slopes(self, int slot, State s, cnp.ndarray given, cnp.ndarray x, bint is_new, str who, str name) except -1:
        """Into x (1 + 3 nv, nv) what the compiled function of a slot gives; x of a user's keeps what it holds where that is not finite."""
        cdef Py_ssize_t n = (1 + 3 * <Py_ssize_t>self.c.nv) * self.c.nv
        cdef Tangents room = tangents_of(s)
        cdef real* draft = <real*>cnp.PyArray_DATA(x) if is_new else room.c.L
        self.c.kernels.of[slot](&s.c, <const real*>cnp.PyArray_DATA(given), draft, 0.0)
        if not matrix_finite(draft, n):
            raise not_finite(self, who, s, name, given)
        if not is_new:
            copy_reals(<real*>cnp.PyArray_DATA(x), draft, n)
        return 0

    def _inverse_dynamics_second_slopes(self, state, vdot, out=None, *, q=None, v=None):
        """(4 nv^2, nv): d2tau/dq dq, /dq dv, /dv dv and /dq dvdot, (nv, nv, nv) each; None where they have no equations and are left to
        SecondSlopes of the dual modules. out: such an array, written over even where there is no result."""
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        if not has_second_slopes(&self.c):
            self.place(s, q, v)
            return None
        cdef Tangents room = tangents_of(s)
        cdef Py_ssize_t n = self.c.nv
        cdef cnp.ndarray x = self.result(out, <int>(4 * n * n), <int>n)
        if room.pairs is None:
            room.pairs = Memory(KINDS * PACK + (ROWS_OF_PAIR + LOADS) * room.c.padded + LOADS * self.c.nb)
        self.place(s, q, v)
        s.need_velocities()
        accelerations_less_gravity(&self.c, &s.c, <real*>cnp.PyArray_DATA(a))
        second_derivatives(&self.c, &s.c, <real*>cnp.PyArray_DATA(a), &room.c, <real*>room.pairs.p, <real*>cnp.PyArray_DATA(x))
        if not matrix_finite(<real*>cnp.PyArray_DATA(x), 4 * n * n * n):
            raise not_finite(self, "second derivatives of inverse_dynamics", s, "vdot", a)
        return x

    # ------------------------------------------------------------------------------- frames and momentum

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

    def _task_space(self, state, J, damping):
        """(J M^-1 J^T, Lambda, Jbar, N) of a task with rows J (n, nv), as mbros.diff.operational_space has them; None for whatever needs
        another look: constraints, other than plain arrays, tasks that may be singular, numbers that are not finite."""
        cdef State s = self.own(state)
        cdef Py_ssize_t n, nv = self.c.nv
        cdef cnp.npy_intp size
        cdef cnp.ndarray slopes, room, D, inertia, Jbar, N
        if not (cnp.PyArray_CheckExact(J) and cnp.PyArray_NDIM(<cnp.ndarray>J) == 2 and is_plain(J, (None, nv))
                and type(damping) is float and 0.0 <= damping < INFINITY):
            return None
        slopes = self._forward_dynamics_slopes(s, self.result_of_zeros())
        if slopes is None:
            return None
        n = cnp.PyArray_DIM(<cnp.ndarray>J, 0)
        size = n * nv + n * n
        room = new_array(1, &size)
        D, inertia = self.result(None, <int>n, <int>n), self.result(None, <int>n, <int>n)
        Jbar, N = self.result(None, <int>nv, <int>n), self.result(None, <int>nv, <int>nv)
        if not task_space(<const double*>cnp.PyArray_DATA(<cnp.ndarray>J), <const double*>cnp.PyArray_DATA(slopes) + (1 + 2 * nv) * nv, n, nv,
                          damping, INFINITY if damping > 0.0 else MOST_SINGULAR, <double*>cnp.PyArray_DATA(room),
                          <double*>cnp.PyArray_DATA(D), <double*>cnp.PyArray_DATA(inertia), <double*>cnp.PyArray_DATA(Jbar),
                          <double*>cnp.PyArray_DATA(N)):
            return None
        if not (matrix_finite(<real*>cnp.PyArray_DATA(inertia), n * n) and matrix_finite(<real*>cnp.PyArray_DATA(N), nv * nv)):
            return None
        return D, inertia, Jbar, N

    @cython.final
    cdef cnp.ndarray result_of_zeros(self):
        cdef cnp.ndarray x = self.result(None, self.c.nv, -1)
        memset(cnp.PyArray_DATA(x), 0, cnp.PyArray_NBYTES(x))
        return x

    def _jacobian_rate(self, state, frame, in_frame=False, *, q=None, v=None):
        """(6, nv): the time derivative of _frame_jacobian(state, frame, in_frame); None where that is not analytic."""
        cdef State s = self.own(state)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef bint local = truth("jacobian_rate: in_frame", in_frame)
        cdef cnp.ndarray x = self.result(None, 6, self.c.nv)
        cdef real* rate = <real*>cnp.PyArray_DATA(x)
        if not columns_known(&self.c):
            return None
        self.place(s, q, v)
        s.need_velocities()
        jacobian_rate(&self.c, &s.c, f, local, rate)
        if not all_finite(rate, 6 * self.c.nv):
            raise not_finite(self, "rate of frame_jacobian", s, "", None)
        return x

    def _centroidal_map(self, state, *, q=None, v=None):
        """(12, nv): A with h = A v, and its rate; None where that is not analytic."""
        cdef State s = self.own(state)
        if not columns_known(&self.c):
            return None
        self.need_mass(s)
        cdef Tangents room = tangents_of(s)
        cdef cnp.ndarray x = self.result(None, 12, self.c.nv)
        self.place(s, q, v)
        s.need_velocities()
        centroidal_map(&self.c, &s.c, &room.c, <real*>cnp.PyArray_DATA(x))
        if not matrix_finite(<real*>cnp.PyArray_DATA(x), 12 * self.c.nv):
            raise not_finite(self, "centroidal_map", s, "", None)
        return x
