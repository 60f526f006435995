# Where a robot is, and how its frames move. Only the double modules include this file.

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
        A.v = add(A.v, cross(w, cross(w, p)))
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
