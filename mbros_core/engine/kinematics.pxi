# Where a robot is, and how its frames move. Only the double modules include this file.

from mbros_core.groups.slopes cimport (se3_adjoint_inverse, se3_right, se3_right_inverse, so3_right, so3_right_inverse, turned_back)
from mbros_core.joints.dispatch cimport has_known_increments, quaternion_at, written_by_user
from mbros_core.engine.arrays cimport constants_of, long_longs_of
from mbros_core.spatial cimport rotation_from_quaternion
from libc.math cimport INFINITY, cos, pi as PI, sin, sqrt
from numpy.random cimport bitgen_t


cdef class Kinematics(Checked):
    """Configurations, and the motion of frames. The words of Dynamics hold for arguments, results and cost."""

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

    def velocity_to_qdot(self, state, v, out=None, *, q=None):
        """qdot = N(q) v (nq,)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray b = self.vector_beside(s, v, self.c.nv, "v")
        cdef cnp.ndarray result = self.result(out, self.c.nq, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        self.place(s, q, None)
        rates(&self.c, s.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "velocity_to_qdot", "q", s, "v", b)

    def qdot_to_velocity(self, state, qdot, out=None, *, q=None):
        """v = N+(q) qdot (nv,): the inverse of velocity_to_qdot on the rates that are possible."""
        cdef State s = self.own(state)
        cdef cnp.ndarray b = self.vector_beside(s, qdot, self.c.nq, "qdot")
        cdef cnp.ndarray result = self.result(out, self.c.nv, -1)
        cdef cnp.ndarray x = self.draft(result, out)
        self.place(s, q, None)
        unrates(&self.c, s.c.q, <real*>cnp.PyArray_DATA(b), <real*>cnp.PyArray_DATA(x))
        return self.configured(result, x, "qdot_to_velocity", "q", s, "qdot", b)

    # Of single vectors, what a space does in a call (mbros.spaces); None for whatever needs another look: other arrays, results that are
    # not finite, joints whose equations are not here.

    def _distance(self, q0, q1):
        """|difference(q0, q1)|."""
        cdef cnp.ndarray d = self.plain_difference(q0, q1)
        cdef const double* x
        cdef double sum = 0.0
        cdef int k
        if d is None:
            return None
        x = <const double*>cnp.PyArray_DATA(d)
        for k in range(self.c.nv):
            sum += x[k] * x[k]
        return sqrt(sum) if sum < INFINITY else None

    def _is_same(self, q0, q1, tol):
        """Whether every coordinate of difference(q0, q1) is within tol."""
        cdef cnp.ndarray d = self.plain_difference(q0, q1) if type(tol) is float and 0.0 <= tol < INFINITY else None
        cdef const double* x
        cdef double most = tol if d is not None else 0.0
        cdef bint same = True
        cdef int k
        if d is None:
            return None
        x = <const double*>cnp.PyArray_DATA(d)
        for k in range(self.c.nv):
            same = same and -most <= x[k] <= most
        return same

    def _d_integrate(self, q, v):
        """(J_q, J_v), (nv, nv) each: integrate(q (+) a, v + b) = integrate(q, v) (+) (J_q a + J_v b)."""
        cdef cnp.ndarray A, B
        if not (self.slopes_known() and is_vector(q, self.c.nq) and is_vector(v, self.c.nv)
                and all_finite(<const real*>cnp.PyArray_DATA(<cnp.ndarray>q), self.c.nq)):
            return None
        A, B = self.result(None, self.c.nv, self.c.nv), self.result(None, self.c.nv, self.c.nv)
        integrate_slopes(&self.c, <const double*>cnp.PyArray_DATA(<cnp.ndarray>v), <double*>cnp.PyArray_DATA(A),
                         <double*>cnp.PyArray_DATA(B))
        return self.two_finite(A, B)

    def _d_difference(self, q0, q1):
        """(J_0, J_1), (nv, nv) each: difference(q0 (+) a, q1 (+) b) = difference(q0, q1) + J_0 a + J_1 b."""
        cdef cnp.ndarray d = self.plain_difference(q0, q1) if self.slopes_known() else None
        cdef cnp.ndarray A, B
        if d is None:
            return None
        A, B = self.result(None, self.c.nv, self.c.nv), self.result(None, self.c.nv, self.c.nv)
        difference_slopes(&self.c, <const double*>cnp.PyArray_DATA(d), <double*>cnp.PyArray_DATA(A), <double*>cnp.PyArray_DATA(B))
        return self.two_finite(A, B)

    def _sample(self, rng, low, span):
        """A configuration of low + span * (as many uniform numbers of a numpy.random.Generator), three of which stand for a quaternion."""
        cdef int n = numbers_of_a_sample(&self.c)
        cdef cnp.ndarray x = self.uniform("_sample", rng, low, span, n)
        cdef cnp.ndarray q = x
        if n != self.c.nq:
            q = self.result(None, self.c.nq, -1)
            turn_samples(&self.c, <const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(q))
        return q

    def _draw(self, state, rng, low, span):
        """The same into a state, and as many numbers more as it has velocities: of these, the velocities."""
        cdef State s = self.own(state)
        cdef int n = numbers_of_a_sample(&self.c)
        cdef cnp.ndarray u = self.uniform("_draw", rng, low, span, n + self.c.nv)
        cdef const double* x = <const double*>cnp.PyArray_DATA(u)
        turn_samples(&self.c, x, <double*>s.c.q)
        memcpy(s.c.v, x + n, self.c.nv * sizeof(double))

    @cython.final
    cdef cnp.ndarray uniform(self, str who, object rng, object low, object span, cnp.npy_intp n):
        """low + span * (n uniform numbers of a numpy.random.Generator), (n,)."""
        cdef const double* a = constants_of(low, 1)
        cdef const double* b = constants_of(span, 1)
        cdef cnp.ndarray x = new_array(1, &n)
        cdef double* u = <double*>cnp.PyArray_DATA(x)
        cdef bitgen_t* bits
        cdef cnp.npy_intp k
        if cnp.PyArray_SIZE(low) != n or cnp.PyArray_SIZE(span) != n:
            raise MbrosError(f"model {self.name!r}: {who}: expected {n} bounds, got {cnp.PyArray_SIZE(low)}")
        source = rng.bit_generator
        with source.lock:
            bits = <bitgen_t*>PyCapsule_GetPointer(source.capsule, "BitGenerator")
            for k in range(n):
                u[k] = b[k] * bits.next_double(bits.state)
        for k in range(n):                      # apart, so that it is rounded as NumPy's uniform rounds it
            u[k] += a[k]
        return x

    @cython.final
    cdef cnp.ndarray plain_difference(self, object q0, object q1):
        cdef cnp.ndarray d
        if not (is_vector(q0, self.c.nq) and is_vector(q1, self.c.nq)):
            return None
        d = self.result(None, self.c.nv, -1)
        apart(&self.c, <const real*>cnp.PyArray_DATA(<cnp.ndarray>q0), <const real*>cnp.PyArray_DATA(<cnp.ndarray>q1),
              <real*>cnp.PyArray_DATA(d))
        return d if all_finite(<real*>cnp.PyArray_DATA(d), self.c.nv) else None

    @cython.final
    cdef bint slopes_known(self) noexcept:
        cdef int i
        for i in range(1, self.c.nb):
            if not has_known_increments(&self.c.joints[i]):
                return False
        return True

    @cython.final
    cdef tuple two_finite(self, cnp.ndarray A, cnp.ndarray B):
        cdef Py_ssize_t n = <Py_ssize_t>self.c.nv * self.c.nv
        return (A, B) if matrix_finite(<real*>cnp.PyArray_DATA(A), n) and matrix_finite(<real*>cnp.PyArray_DATA(B), n) else None

    # --------------------------------------------------------------------------------------------- frames

    def _frame_pose(self, state, frame, relative_to=-1, out=None, *, q=None, v=None):
        """X_AF of frame F (table index) in frame A, or in the world: (12,) R row-major, then p in m."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 12, -1)
        cdef Pose X
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int a = -1 if is_minus_one(relative_to) else self.index(relative_to, self.c.nf, "frame")
        self.place(s, q, v)
        s.need_positions()
        X = compose_poses(s.c.X_WB[self.c.frame_body[f]], self.c.X_BF[f])
        if a >= 0:
            X = inverse_times(compose_poses(s.c.X_WB[self.c.frame_body[a]], self.c.X_BF[a]), X)
        return self.finished(x, <real*>&X, 12, "frame_pose", s, "", None)

    def _frame_velocity(self, state, frame, out=None, *, q=None, v=None):
        """V_WF (6,): [angular; linear] velocity of F's origin, in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        self.place(s, q, v)
        s.need_velocities()
        cdef Vec3 p = rotate(s.c.X_WB[body].R, self.c.X_BF[f].p)
        cdef Motion V = shift_motion(s.c.V_WB[body], p)
        return self.finished(x, <real*>&V, 6, "frame_velocity", s, "", None)

    def _frame_acceleration(self, state, frame, vdot, out=None, *, q=None, v=None):
        """A_WF (6,): time derivative in W of the frame's velocity, for the accelerations vdot (nv,)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray a = self.vector_beside(s, vdot, self.c.nv, "vdot")
        cdef cnp.ndarray x = self.result(out, 6, -1)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        self.place(s, q, v)
        s.need_velocities()
        accelerations(&self.c, <real*>cnp.PyArray_DATA(a), &s.c)
        cdef Vec3 p = rotate(s.c.X_WB[body].R, self.c.X_BF[f].p)
        cdef Vec3 w = s.c.V_WB[body].w
        cdef Motion A = shift_motion(s.c.A_WB[body], p)
        A.v = A.v + cross(w, cross(w, p))
        return self.finished(x, <real*>&A, 6, "frame_acceleration", s, "vdot", a)

    def _frame_jacobian(self, state, frame, in_frame=False, out=None, *, q=None, v=None):
        """J (6, nv), rows [angular; linear]: V_WF = J v for F's origin, in W axes, or in F axes with in_frame. Cost O(depth)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, self.c.nv)
        cdef int f = self.index(frame, self.c.nf, "frame")
        cdef int body = self.c.frame_body[f]
        cdef real* J = <real*>cnp.PyArray_DATA(x) if out is None else <real*>s.c.U         # scratch of 6 reals a column
        cdef bint local = truth("frame_jacobian: in_frame", in_frame)
        cdef Mat3 R
        self.place(s, q, v)
        s.need_positions()
        jacobian(&self.c, body, rotate(s.c.X_WB[body].R, self.c.X_BF[f].p), J, &s.c)
        if local:
            R = compose(s.c.X_WB[body].R, self.c.X_BF[f].R)
            unrotate_rows(R, J, self.c.nv)
            unrotate_rows(R, J + 3 * self.c.nv, self.c.nv)
        return self.delivered(x, J, "frame_jacobian", s)


cdef void identity(int n, double* A, double one) noexcept:
    """A (n, n) = one 1."""
    cdef int k
    memset(A, 0, <Py_ssize_t>n * n * sizeof(double))
    for k in range(n):
        A[k * (n + 1)] = one


cdef void integrate_slopes(const ModelC* m, const double* v, double* A, double* B) noexcept:
    """J_q and J_v, joint by joint on the diagonal."""
    cdef const Joint* j
    cdef Py_ssize_t n = m.nv, at
    cdef int i
    identity(m.nv, A, 1.0)
    identity(m.nv, B, 1.0)
    for i in range(1, m.nb):
        j = &m.joints[i]
        at = j.iv * (n + 1)
        if quaternion_at(j.kind) == 3:
            se3_adjoint_inverse(v + j.iv, A + at, n)
            se3_right(v + j.iv, B + at, n)
        elif quaternion_at(j.kind) == 0:
            turned_back(v + j.iv, A + at, n)
            so3_right(v + j.iv, B + at, n)


cdef void difference_slopes(const ModelC* m, const double* d, double* A, double* B) noexcept:
    """J_0 and J_1, likewise."""
    cdef const Joint* j
    cdef Py_ssize_t n = m.nv, at, k, l
    cdef int i
    identity(m.nv, A, -1.0)
    identity(m.nv, B, 1.0)
    for i in range(1, m.nb):
        j = &m.joints[i]
        at = j.iv * (n + 1)
        if quaternion_at(j.kind) == 3:
            se3_right_inverse(d + j.iv, -1.0, A + at, n)
            se3_right_inverse(d + j.iv, 1.0, B + at, n)
        elif quaternion_at(j.kind) == 0:
            so3_right_inverse(d + j.iv, -1.0, A + at, n)
            so3_right_inverse(d + j.iv, 1.0, B + at, n)
        else:
            continue
        for k in range(j.nv):
            for l in range(j.nv):
                A[at + k * n + l] = -A[at + k * n + l]


cdef int numbers_of_a_sample(const ModelC* m) noexcept:
    cdef int i, n = m.nq
    for i in range(1, m.nb):
        n -= quaternion_at(m.joints[i].kind) >= 0
    return n


cdef void turn_samples(const ModelC* m, const double* u, double* q) noexcept:
    """Uniform numbers as a configuration: three of a quaternion as Shoemake has it (lie.shoemake)."""
    cdef const Joint* j
    cdef double a, b
    cdef int i, k, plain
    for i in range(1, m.nb):
        j = &m.joints[i]
        if j.follows:
            continue
        plain = quaternion_at(j.kind) if quaternion_at(j.kind) >= 0 else j.nq
        for k in range(plain):
            q[j.iq + k] = u[k]
        u += plain
        if plain < j.nq:
            a, b = sqrt(1.0 - u[0]), sqrt(u[0])
            q[j.iq + plain], q[j.iq + plain + 1] = a * sin(2.0 * PI * u[1]), a * cos(2.0 * PI * u[1])
            q[j.iq + plain + 2], q[j.iq + plain + 3] = b * sin(2.0 * PI * u[2]), b * cos(2.0 * PI * u[2])
            u += 3
