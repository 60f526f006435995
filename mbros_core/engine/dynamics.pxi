# The algorithms as Python calls them, one robot at a time: checks and errors on the outside, one C call inside.
# Only the double modules include this file.

from mbros_core.algorithms.contact_dynamics cimport (Contact, Contacts, add_accelerations, add_velocities, delassus, invert,
                                                     place_contacts, spread_forces)
from mbros_core.spatial cimport dot, transpose

cdef enum:
    KEPT = 64               # velocities up to which a state keeps the room in which a mass matrix for `out=` is formed

cdef double WELL_POSED = 1e7    # largest number of J M^-1 J^T times the largest of its inverse, below which it is inverted as it is


cdef class Dynamics(AnalyticDerivatives):
    """A compiled robot and its algorithms. All arguments and results are float64 arrays in SI units.

    A call costs the algorithm plus a few tens of nanoseconds: arguments are checked by hand, `out=` avoids the new array. It may overlap
    the arguments; what it holds is left alone by a call that raises. q= (nq,) and v= (nv,) set the state first, as State.set does, and stay
    in it; a call that raises leaves the state as it was.
    Generalized forces obey   M vdot + bias = tau + passive + sum J^T F, F of the user and of force elements on bodies.
    """

    def forward_dynamics(self, state, tau, out=None, *, q=None, v=None):
        """Accelerations vdot (nv,) under the generalized forces tau (nv,): the articulated-body algorithm.

        Gravity, damping, friction, stops and external wrenches act; effort limits do not (they act where commands enter).
        Constraints hold, to rounding; contact does not act. Cost O(nb) without constraints. MbrosError when a size is wrong,
        NonFiniteError when an input is not finite; nothing changes then.
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.vector_beside(s, tau, self.c.nv, "tau")
        cdef cnp.ndarray a = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
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
            if s.c.contacts.rigid.unresolved:
                s.take_back()
                raise MbrosError(unresolved_text(self.spec, s.c.contacts.rigid.unresolved - 1))
        s.kinematics_done()
        return self.finished(a, s.c.vdot, self.c.nv, "forward_dynamics", s, "tau", t)

    def inverse_dynamics(self, state, vdot, out=None, *, q=None, v=None):
        """Generalized forces tau (nv,) that cause the accelerations vdot (nv,): the recursive Newton-Euler algorithm.

        The inverse of forward_dynamics: it includes damping, friction, stops and external wrenches. Constraints carry nothing then: for
        accelerations that they allow, forward_dynamics gives these back. Cost O(nb).
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
        cdef Kernel kernel = kernel_for(&self.c, &s.c, INVERSE_SLOT)
        if kernel != NULL:
            kernel(&s.c, <real*>cnp.PyArray_DATA(a), s.c.tau, 0.0)
            return self.finished(t, s.c.tau, self.c.nv, "inverse_dynamics", s, "vdot", a)
        s.need_velocities()
        tau_for(&self.c, <real*>cnp.PyArray_DATA(a), s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "inverse_dynamics", s, "vdot", a)

    def mass_matrix(self, state, out=None, *, q=None, v=None):
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
        self.place(s, q, v)
        cdef Kernel kernel = kernel_for(&self.c, &s.c, MASS_SLOT)
        if kernel != NULL:
            kernel(&s.c, NULL, M, 0.0)
            return self.delivered(x, M, "mass_matrix", s)
        s.need_positions()
        mass_matrix(&self.c, M, s.c.rotor_inertia, &s.c)
        return self.delivered(x, M, "mass_matrix", s)

    def inverse_mass_matrix(self, state, out=None, *, q=None, v=None):
        """M(q)^-1 (nv, nv), by the factor L D L^T of M. To solve M x = b, forward_dynamics is quicker. Cost: O(nv^3)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, self.c.nv, self.c.nv)
        cdef cnp.ndarray draft = self.draft(x, out)
        cdef Memory factored = Memory(self.c.nv * <Py_ssize_t>self.c.nv + 1)
        cdef real* M = <real*>factored.p
        cdef real* y = <real*>cnp.PyArray_DATA(draft)
        cdef Py_ssize_t i, k, n = self.c.nv
        self.place(s, q, v)
        s.need_positions()
        mass_matrix(&self.c, M, s.c.rotor_inertia, &s.c)
        factor(&self.c, M, NULL, NULL)
        for i in range(n):
            for k in range(n):
                y[i * n + k] = real(1.0 if i == k else 0.0)
            solve_factored(M, n, y + i * n)
        for i in range(n):
            for k in range(i):
                y[i * n + k] = y[k * n + i]             # symmetric to the bit
        return self.delivered(x, y, "inverse_mass_matrix", s)

    def coriolis_matrix(self, state, out=None, *, q=None, v=None):
        """C(q, v) (nv, nv): C v is coriolis_torques, and dM/dt - 2 C is skew-symmetric, as controllers and observers need it. Where joints'
        axes turn with bodies, C is that of the Christoffel symbols of M. Cost: O(bodies depth^2). MbrosError for joints written outside
        mbros, of whose axes nobody knows the rates."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, self.c.nv, self.c.nv)
        cdef cnp.ndarray draft = self.draft(x, out)
        if not columns_known(&self.c):
            raise MbrosError(f"coriolis_matrix of model {self.name!r}: it has a joint written outside mbros, which does not say how its axes "
                             "turn; coriolis_torques needs no more than it says")
        self.place(s, q, v)
        s.need_velocities()
        coriolis_matrix(&self.c, <real*>cnp.PyArray_DATA(draft), &s.c)
        return self.delivered(x, <real*>cnp.PyArray_DATA(draft), "coriolis_matrix", s)

    def gravity_torques(self, state, out=None, *, q=None, v=None):
        """g(q) (nv,): the generalized forces that hold the robot still."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
        s.need_positions()
        gravity_torques(&self.c, s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "gravity_torques", s, "", None)

    def bias_torques(self, state, out=None, *, q=None, v=None):
        """C(q, v) v + g(q) (nv,): what inverse dynamics gives at vdot = 0 without damping, friction, stops and wrenches."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
        s.need_velocities()
        bias_torques(&self.c, s.c.tau, &s.c)
        return self.finished(t, s.c.tau, self.c.nv, "bias_torques", s, "", None)

    def coriolis_torques(self, state, out=None, *, q=None, v=None):
        """C(q, v) v (nv,): Coriolis, centrifugal and gyroscopic torques."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
        cdef Vec3 g = s.c.gravity[0]
        s.need_velocities()
        s.c.gravity[0] = zero3()
        bias_torques(&self.c, s.c.tau, &s.c)
        s.c.gravity[0] = g
        return self.finished(t, s.c.tau, self.c.nv, "coriolis_torques", s, "", None)

    def passive_torques(self, state, out=None, *, q=None, v=None):
        """What acts in the joints themselves (nv,): damping, Coulomb friction, stops, force elements on joint coordinates."""
        cdef State s = self.own(state)
        cdef cnp.ndarray t = self.result(out, self.c.nv, -1)
        self.place(s, q, v)
        passive_torques(&self.c, &s.c)
        return self.finished(t, s.c.passive, self.c.nv, "passive_torques", s, "", None)

    def _contact_motion(self, state, tau, contacts, mu, frames=None, kind=None, bounce=None, S=None, within=None):
        """(x (nv,), f (n,), J (n, nv), S (n, n)) of contacts, tuples (frame, rows, kp, kd, pose) of which 3 rows (the frame's origin) or 6
        are held: vdot with M vdot + b = tau + J^T f and J vdot + Jdot v + kd J v + kp e = -mu f; with bounce and no tau, velocities with
        M (x - v) = J^T f and J x = -bounce J v - mu f. S = (J M^-1 J^T + mu)^-1, or as it is given.

        x and f are None where J M^-1 J^T + mu, then in the place of S, has no good inverse; where a number is not finite S is, too.
        within: free accelerations (nv,) and M^-1 (nv, nv) of a model with constraints; None is what comes without. kind: the class of
        contacts that nobody has looked at yet, and frames the indices of names; None comes for whatever needs another look."""
        if kind is not None and not self.is_plain_contact(state, tau, contacts, mu) or self.c.nk and within is None:
            return None
        cdef State s = self.own(state)
        cdef Py_ssize_t count = len(<list>contacts), n, nv = self.c.nv, width = max(self.c.nc, self.c.nv)
        cdef Py_ssize_t most = count * (6 + PACK)                   # rows in whole packs
        cdef cnp.npy_intp size = most * (width + 2 * most) + PACK + most + 6 * nv + count * sizeof(Contact) // sizeof(real)
        cdef cnp.ndarray room = new_array(1, &size), x = self.result(None, self.c.nv, -1), t = x, free = x, M_inverse, J, f, inverse
        cdef Contacts c
        c.contact, c.count = <Contact*>cnp.PyArray_DATA(room), <int>count
        n = self.read_contacts(&c, tuple(<list>contacts), frames, kind)
        if n < 0:
            return None
        c.n, c.wide = <int>n, <int>((n + PACK - 1) // PACK * PACK)
        J, f, inverse = self.result(None, c.n, self.c.nv), self.result(None, c.n, -1), self.result(None, c.n, c.n)
        c.J, c.S, c.f = <real*>cnp.PyArray_DATA(J), <real*>cnp.PyArray_DATA(inverse), <real*>cnp.PyArray_DATA(f)
        c.W = <real*>(c.contact + count)
        c.D = c.W + most * width
        c.X = c.D + n * c.wide + PACK
        c.r = c.X + n * c.wide
        c.M_inverse = NULL
        c.dense = self.c.shared or self.c.nk
        if tau is None:
            memset(cnp.PyArray_DATA(x), 0, nv * sizeof(real))
        else:
            t = self.vector_beside(s, tau, self.c.nv, "tau")
        if self.c.nk:
            free = given_numbers(self.name, "within[0]", within[0], (nv,))
            M_inverse = given_numbers(self.name, "within[1]", within[1], (nv, nv))
            c.M_inverse = <const real*>cnp.PyArray_DATA(M_inverse)
            s.need_velocities()
        else:
            if self.c.shared:
                s.need_dense()
            vdot_under(&self.c, <real*>cnp.PyArray_DATA(t), s.c.vdot, &s.c)
            s.kinematics_done()
            copy_reals(<real*>cnp.PyArray_DATA(x), s.c.vdot, nv)
        place_contacts(&self.c, &s.c, &c, c.r + n)
        delassus(&self.c, &s.c, &c, real(<double>mu))
        if S is not None:
            memcpy(c.S, cnp.PyArray_DATA(given_numbers(self.name, "S", S, (n, n))), n * n * sizeof(real))
        elif not invert(&c, WELL_POSED):
            return None if kind is not None else (None, None, J, inverse)
        memset(c.r, 0, n * sizeof(real))
        if bounce is None:
            if c.dense:
                accelerations_less_gravity(&self.c, &s.c, <real*>cnp.PyArray_DATA(free))
            copy_reals(<real*>cnp.PyArray_DATA(x), <real*>cnp.PyArray_DATA(free), nv)
            add_accelerations(&self.c, &s.c, &c)
        else:
            copy_reals(<real*>cnp.PyArray_DATA(x), s.c.v, nv)
            add_velocities(&s.c, &c, real(1.0 + <double>bounce))
        spread_forces(&self.c, &s.c, &c, <real*>cnp.PyArray_DATA(x))
        if (all_finite(<real*>cnp.PyArray_DATA(x), nv) and all_finite(<real*>cnp.PyArray_DATA(t), nv) and all_finite(c.f, n)
                and matrix_finite(c.J, n * nv) and (self.c.nk or all_finite(s.c.vdot, nv))):
            return x, f, J, inverse
        s.stage = STAGE_NONE
        return None if kind is not None else (None, None, J, None)

    @cython.final
    cdef bint is_plain_contact(self, object state, object tau, object contacts, object mu):
        """Whether these are what nearly always comes: nothing to convert, nothing to refuse."""
        return (type(state) is State and (<State>state).model is self and not is_held(&(<State>state).held) and not self._needs_gil
                and type(contacts) is list and is_gain(mu) and (tau is None or is_vector(tau, self.c.nv)))

    @cython.final
    cdef Py_ssize_t read_contacts(self, Contacts* c, tuple contacts, dict frames, object kind) except -2:
        """Into c.contact all but where they are; how many rows there are. -1 where one needs another look."""
        cdef Contact* one = c.contact
        cdef Py_ssize_t at = 0, W = 0
        cdef tuple contact
        cdef object frame, rows
        for x in contacts:
            if kind is not None and not (type(x) is kind and len(<tuple>x) == 5):
                return -1
            contact = <tuple>x
            frame, rows = contact[0], contact[1]
            if kind is not None:
                frame = frames.get(frame) if type(frame) is str else None
                if frame is None or not (type(rows) is int and (rows == 3 or rows == 6) and is_gain(contact[2]) and is_gain(contact[3])):
                    return -1
            one.frame, one.at, one.rows = self.index(frame, self.c.nf, "frame"), <int>at, 6 if rows == 6 else 3
            one.width, one.from_ = (one.rows + PACK - 1) // PACK * PACK, W
            one.kp, one.kd = real(<double>contact[2]), real(<double>contact[3])
            if value(one.kp) > 0.0 and not read_pose(contact[4], kind is not None, &one.X_W):
                return -1
            at += one.rows
            W += one.width * <Py_ssize_t>self.c.nc
            one += 1
        return at

    def _time_kernel(self, name, state, x, calls):
        """Nanoseconds per call of the bare C algorithm, one of TIMED, for benchmarks."""
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
                kernel = kernel_for(&self.c, &s.c, which) if which < 3 else NULL
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
                    if which == 2:
                        mass_matrix(&self.c, s.c.L, s.c.rotor_inertia, &s.c)
                    elif which == 4:
                        velocities(&self.c, &s.c)
            clock_gettime(CLOCK_MONOTONIC, &end)
        s.stage = STAGE_NONE
        return ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / n


cdef bint is_gain(object x):
    """Whether x is a plain number, 0 or more."""
    return 0.0 <= <double>x < INFINITY if type(x) is float else type(x) is int and 0 <= x < 1 << 30


cdef bint read_pose(object pose, bint checked, Pose* X):
    """X of a pose with R and p; False where these are, `checked`, no rotation and no point."""
    cdef int k
    R, p = getattr(pose, "R", None), getattr(pose, "p", None)
    if not (is_plain(R, (3, 3)) and is_plain(p, (3,))):
        return False
    memcpy(&X.R, cnp.PyArray_DATA(R), sizeof(Mat3))
    memcpy(&X.p, cnp.PyArray_DATA(p), sizeof(Vec3))
    cdef Mat3 one = compose(X.R, transpose(X.R))
    cdef Vec3 z = cross(vec3(X.R.xx, X.R.yx, X.R.zx), vec3(X.R.xy, X.R.yy, X.R.zy))
    cdef real off[6]
    off[0], off[1], off[2] = one.xx - real(1.0), one.yy - real(1.0), one.zz - real(1.0)
    off[3], off[4], off[5] = one.xy, one.xz, one.yz
    for k in range(6 if checked else 0):
        if not value(magnitude(off[k])) <= 1e-9:
            return False
    return not checked or value(dot(z, vec3(X.R.xz, X.R.yz, X.R.zz))) > 0.0 and all_finite(<real*>&X.p, 3)


TIMED = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "positions", "velocities")
