# Inverse kinematics: many targets on one thread, without the GIL. Only the double modules include this file; mbros.model.inverse_kinematics
# has the words, the checks and the threads.
#
# Of frame F and its target T, X_TF = X_WT^-1 X_WF has to become the identity. The residual of a target is
#
#     e = weight * [w; p],   exp(w) = R_TF,   p = p_TF                                                    (1)
#     de = weight * [J_l(w)^-1 R_WT^T w_WF; R_WT^T v_WF],   J_l(w)^-1 = 1 - 1/2 [w] + c [w]^2             (2)
#
# so its Jacobian A is exact at any distance, and E = |e|^2 / 2 is least by Levenberg-Marquardt steps within the limits:
#
#     (A^T A + mu sqrt(E) 1) d = -A^T e,   q <- q (+) d                                                   (3)
#
# Damping that follows the error (Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, 2011) bounds the
# steps far away and at singular configurations and vanishes at a solution, where convergence is quadratic. In proportion to |e| rather
# than to his E (Fan and Yuan, On the quadratic convergence of the Levenberg-Marquardt method, 2005) it solves more targets at the end of
# the reach (benchmarks/inverse_kinematics.py). mu grows when a step does not lower E.

from libc.math cimport INFINITY, fabs as abs_real, fmax as larger, isfinite, sqrt as root, tan

cdef enum:
    SLOW_STEPS = 10                 # steps in a row that hardly lower E: a minimum that is no solution
    POSTURE_STEPS = 60
    CORRECTIONS = 8

cdef double SLOW = 0.01             # part of E that a step has to take away
cdef double LEAST_DAMPING = 1e-14
cdef double POSTURE_WEIGHT = 1e-8   # of the distance to the posture beside E: what is left of E is far below any tolerance


cdef class InverseKinematics:
    """Reaches targets of some frames of a model with the joints that carry them and are not locked in `state`.

    frames: (k,) table indices. weights (k, 6): of [rotation; position] in the target's axes. lower, upper (nq): limits of the positions;
    those of coordinates that are their own rates bound the steps, the others (a floating base's) are kept by projection.
    """
    cdef readonly Dynamics model
    cdef State state
    cdef Memory memory
    cdef int nt, na, rows
    cdef int* frame
    cdef int* active            # (na) velocity coordinate of each unknown
    cdef int* at                # (na) its position coordinate, -1 where there is none
    cdef int* fixed             # (na) scratch: 1 where a limit holds it
    cdef char* moves            # (nq) whether a position can change
    cdef double* weight
    cdef double* lower
    cdef double* upper
    cdef double* target
    cdef double* jacobian
    cdef double* A
    cdef double* e
    cdef double* H
    cdef double* L
    cdef double* g
    cdef double* d
    cdef double* b
    cdef double* dv
    cdef double* q
    cdef double* best
    cdef double* trial
    cdef double* away
    cdef double E, position_error, rotation_error
    cdef Door door
    cdef int64_t ended          # end() was called
    cdef str who

    def __dealloc__(self):
        free(self.frame)
        free(self.moves)

    def __cinit__(self, Dynamics model not None, State state not None, frames, weights, lower, upper):
        model.own(state)
        self.model, self.state = model, state.copy()
        self.who = f"InverseKinematics of model {model.name!r}"
        cdef int k, nq = model.c.nq, nv = model.c.nv
        self.nt = len(frames)
        cdef cnp.ndarray weight = given_numbers(self.who, "weights", weights, (self.nt, 6))
        cdef cnp.ndarray least = given_numbers(self.who, "lower", lower, (nq,))
        cdef cnp.ndarray most = given_numbers(self.who, "upper", upper, (nq,))
        self.rows = 6 * self.nt
        self.frame = <int*>malloc((self.nt + 3 * nv + 1) * sizeof(int))
        self.moves = <char*>malloc(nq + 1)
        if self.frame == NULL or self.moves == NULL:
            raise NoMemoryError("no memory for inverse kinematics")
        self.active, self.at, self.fixed = self.frame + self.nt, self.frame + self.nt + nv, self.frame + self.nt + 2 * nv
        for k in range(self.nt):
            self.frame[k] = model.index(frames[k], model.c.nf, "frame")
        self.find_active()
        self.lay_out(nq, nv)
        memcpy(self.weight, data(weight), self.rows * sizeof(double))
        memcpy(self.lower, data(least), nq * sizeof(double))
        memcpy(self.upper, data(most), nq * sizeof(double))

    cdef void find_active(self) noexcept:
        """The coordinates of the joints between the frames and the world; a follower's are its leader's."""
        cdef ModelC* m = &self.model.c
        cdef const Joint* j
        cdef int i, k, t
        cdef int* used = self.fixed
        for k in range(m.nv):
            used[k] = 0
        for t in range(self.nt):
            i = m.frame_body[self.frame[t]]
            while i > 0:
                j = &m.joints[i]
                for k in range(j.nv):
                    used[j.iv + k] = value(self.state.c.lock[j.iv + k]) == 0.0
                i = j.parent
        self.na = 0
        for k in range(m.nv):
            if used[k]:
                self.active[self.na], self.at[self.na] = k, m.q_of_v[k]
                self.na += 1
        memset(self.moves, 0, m.nq)
        for i in range(1, m.nb):
            j = &m.joints[i]
            if not j.follows and j.nv and used[j.iv]:
                memset(self.moves + j.iq, 1, j.nq)

    cdef lay_out(self, int nq, int nv):
        cdef int na = self.na, rows = self.rows
        self.memory = Memory(2 * rows + 2 * self.nt * 6 + 6 * nv + rows * na + 2 * na * na + 5 * na + nv + 6 * nq + 8)
        cdef double* p = self.memory.p
        cdef double*** fields = [&self.weight, &self.e, &self.target, &self.jacobian, &self.A, &self.H, &self.L, &self.g, &self.d, &self.b,
                                 &self.away, &self.dv, &self.lower, &self.upper, &self.q, &self.best, &self.trial]
        cdef int* sizes = [rows, rows, 12 * self.nt, 6 * nv, rows * na, na * na, na * na, na, na, na, na, nv, nq, nq, nq, nq, nq]
        cdef int k
        for k in range(17):
            fields[k][0] = p
            p += sizes[k]

    @property
    def coordinates(self):
        """Velocity coordinates that move, as a tuple."""
        return tuple([self.active[k] for k in range(self.na)])

    def solve(self, q, targets, starts, posture, double tolerance, int iterations, errors, solved, steps):
        """Row for row: q (n, nq) from where to start, overwritten with what was found; targets (n, k, 12), R row by row, then p, in W.

        starts (r, nq): where to start again, in order, when a start ends in a minimum that is no solution. posture (n, nq) or None:
        of the solutions, the one nearest to it that can be reached along them. errors (n, 2): the largest position (m) and rotation (rad)
        error of the targets. solved (n), int8: whether both are within the tolerance. steps (n), int32: of all starts.
        """
        cdef int nq = self.model.c.nq
        cdef cnp.ndarray wanted = given_numbers(self.who, "targets", targets, (None, self.nt, 12))
        cdef cnp.ndarray again = given_numbers(self.who, "starts", starts, (None, nq))
        cdef Py_ssize_t i, n = cnp.PyArray_DIM(wanted, 0), restarts = cnp.PyArray_DIM(again, 0)
        cdef cnp.ndarray near = None if posture is None else given_numbers(self.who, "posture", posture, (n, nq))
        cdef double* x = data(given_room(self.who, "q", q, (n, nq)))
        cdef double* error = data(given_room(self.who, "errors", errors, (n, 2)))
        cdef char* reached = <char*>cnp.PyArray_DATA(given_room(self.who, "solved", solved, (n,), "int8"))
        cdef int* count = <int*>cnp.PyArray_DATA(given_room(self.who, "steps", steps, (n,), "int32"))
        cdef const double* target = data(wanted)
        cdef const double* start = data(again)
        cdef const double* preferred = NULL
        if near is not None:
            preferred = data(near)
        approach(&self.door)
        with nogil:
            for i in range(n):
                if load(&self.ended):
                    break
                memcpy(self.target, target + i * 12 * self.nt, 12 * self.nt * sizeof(double))
                count[i] = self.reach(x + i * nq, start, restarts, tolerance, iterations)
                if preferred != NULL and self.done(tolerance):
                    count[i] += self.settle(preferred + i * nq, tolerance)
                reached[i] = self.done(tolerance)
                error[2 * i], error[2 * i + 1] = self.position_error, self.rotation_error
                memcpy(x + i * nq, self.q, nq * sizeof(double))

    def end(self):
        """End a call that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""
        store(&self.ended, 1)

    cdef bint done(self, double tolerance) noexcept nogil:
        return self.position_error <= tolerance and self.rotation_error <= tolerance

    cdef int reach(self, const double* q0, const double* starts, Py_ssize_t restarts, double tolerance, int iterations) except -1 nogil:
        """From q0, then from each of the (restarts, nq) starts until one is solved. The least E stays in self.q. Returns the steps."""
        cdef int nq = self.model.c.nq, k
        cdef Py_ssize_t r
        memcpy(self.q, q0, nq * sizeof(double))
        self.clip(self.q)
        cdef int steps = self.descend(tolerance, iterations)
        cdef double least = self.E
        if self.done(tolerance) or self.na == 0:
            return steps
        memcpy(self.best, self.q, nq * sizeof(double))
        for r in range(restarts):
            for k in range(nq):
                self.q[k] = starts[r * nq + k] if self.moves[k] else q0[k]
            self.clip(self.q)
            steps += self.descend(tolerance, iterations)
            if self.done(tolerance):
                return steps
            if self.E < least:
                least = self.E
                memcpy(self.best, self.q, nq * sizeof(double))
        memcpy(self.q, self.best, nq * sizeof(double))
        self.residual(self.q)
        return steps

    cdef int descend(self, double tolerance, int iterations) except -1 nogil:
        """Steps (3) from self.q until the targets are reached or E hardly falls any more. Returns their number."""
        cdef int step, slow = 0
        cdef double before, mu = 1.0
        self.residual(self.q)
        for step in range(iterations):
            if self.done(tolerance) or self.na == 0 or load(&self.ended):
                return step
            if knock(&self.door):
                with gil:
                    let_in(&self.door, None, 0.0)
            before = self.E
            self.linearize()
            self.normal_equations(mu * root(before) + LEAST_DAMPING)
            self.bounded_step()
            self.moved(1.0)
            self.residual(self.trial)
            if self.E < before:
                mu = larger(0.25 * mu, 1e-2)
                memcpy(self.q, self.trial, self.model.c.nq * sizeof(double))
            else:
                mu *= 4.0
                self.residual(self.q)
            slow = slow + 1 if self.E > (1.0 - SLOW) * before else 0
            if slow == SLOW_STEPS or not isfinite(self.E):
                return step + 1
        return iterations

    cdef int settle(self, const double* posture, double tolerance) except -1 nogil:
        """Along the solutions towards the posture: a step in the null space of A, back to the solutions, and only if that is nearer."""
        cdef int nq = self.model.c.nq, k, step, steps = 0
        cdef double part = 1.0, distance = self.distance(posture), nearer
        memcpy(self.best, self.q, nq * sizeof(double))
        for step in range(POSTURE_STEPS):
            self.residual(self.q)
            self.linearize()
            self.normal_equations(POSTURE_WEIGHT)
            self.distance(posture)
            for k in range(self.na):
                self.g[k] -= POSTURE_WEIGHT * self.away[k]
            self.bounded_step()
            if norm_of(self.d, self.na) < 1e-7:
                break
            self.moved(part)
            memcpy(self.q, self.trial, nq * sizeof(double))
            steps += 1 + self.descend(tolerance, CORRECTIONS)
            nearer = self.distance(posture)
            if self.done(tolerance) and nearer < distance:
                memcpy(self.best, self.q, nq * sizeof(double))
                part = 1.0 if part > 0.4 else 2.0 * part
                if distance - nearer < 1e-12 * distance:
                    break
                distance = nearer
            else:
                memcpy(self.q, self.best, nq * sizeof(double))
                part *= 0.25
                if part < 1e-4:
                    break
        memcpy(self.q, self.best, nq * sizeof(double))
        self.residual(self.q)
        return steps

    cdef double distance(self, const double* posture) noexcept nogil:
        """|posture (-) q| of the active coordinates, which stay in self.away."""
        cdef int k
        apart(&self.model.c, <const real*>self.q, <const real*>posture, <real*>self.dv)
        for k in range(self.na):
            self.away[k] = self.dv[self.active[k]]
        return norm_of(self.away, self.na)

    cdef void clip(self, double* q) noexcept nogil:
        """Into the limits, whatever kind of coordinate."""
        cdef int k
        for k in range(self.model.c.nq):
            if self.moves[k]:
                if q[k] < self.lower[k]:
                    q[k] = self.lower[k]
                elif q[k] > self.upper[k]:
                    q[k] = self.upper[k]

    cdef void moved(self, double part) noexcept nogil:
        """trial = q (+) part * d, within the limits; what does not move keeps every bit."""
        cdef int k
        for k in range(self.model.c.nv):
            self.dv[k] = 0.0
        for k in range(self.na):
            self.dv[self.active[k]] = part * self.d[k]
        move(&self.model.c, <const real*>self.q, <const real*>self.dv, <real*>self.trial)
        for k in range(self.model.c.nq):
            if not self.moves[k]:
                self.trial[k] = self.q[k]
        self.clip(self.trial)

    cdef void residual(self, const double* q) noexcept nogil:
        """Equation (1) at q: e, E and the largest errors, of the axes that have a weight."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Pose X
        cdef double x[6]
        cdef double* e
        cdef double* weight
        cdef int t, k
        memcpy(s.q, q, m.nq * sizeof(double))
        positions(m, s)
        self.E = self.position_error = self.rotation_error = 0.0
        for t in range(self.nt):
            X = compose_poses(s.X_WB[m.frame_body[self.frame[t]]], m.X_BF[self.frame[t]])
            X = inverse_times((<Pose*>(self.target + 12 * t))[0], X)
            rotation_vector(X.R, x)
            x[3], x[4], x[5] = value(X.p.x), value(X.p.y), value(X.p.z)
            e, weight = self.e + 6 * t, self.weight + 6 * t
            for k in range(6):
                e[k] = weight[k] * x[k]
                self.E += 0.5 * e[k] * e[k]
                x[k] = x[k] if weight[k] > 0.0 else 0.0
            self.rotation_error = larger(self.rotation_error, norm_of(x, 3))
            self.position_error = larger(self.position_error, norm_of(x + 3, 3))

    cdef void linearize(self) noexcept nogil:
        """Equation (2): A (6 k, na) at the configuration of the last residual."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef real* J = <real*>self.jacobian
        cdef Pose X_WF, X_TF
        cdef Vec3 w, a, b
        cdef real c
        cdef double x[3]
        cdef double* A
        cdef double* weight
        cdef int t, k, i, body, n = m.nv, na = self.na
        for t in range(self.nt):
            body = m.frame_body[self.frame[t]]
            X_WF = compose_poses(s.X_WB[body], m.X_BF[self.frame[t]])
            X_TF = inverse_times((<Pose*>(self.target + 12 * t))[0], X_WF)
            rotation_vector(X_TF.R, x)
            w, c = vec3(real(x[0]), real(x[1]), real(x[2])), real(cotangent_term(norm_of(x, 3)))
            jacobian(m, body, rotate(s.X_WB[body].R, m.X_BF[self.frame[t]].p), J, s)
            A, weight = self.A + 6 * t * na, self.weight + 6 * t
            for k in range(na):
                i = self.active[k]
                a = unrotate((<Pose*>(self.target + 12 * t)).R, vec3(J[i], J[n + i], J[2 * n + i]))
                b = cross(w, a)
                a = add(a, add(scale(real(-0.5), b), scale(c, cross(w, b))))
                b = unrotate((<Pose*>(self.target + 12 * t)).R, vec3(J[3 * n + i], J[4 * n + i], J[5 * n + i]))
                A[k] = weight[0] * value(a.x)
                A[na + k] = weight[1] * value(a.y)
                A[2 * na + k] = weight[2] * value(a.z)
                A[3 * na + k] = weight[3] * value(b.x)
                A[4 * na + k] = weight[4] * value(b.y)
                A[5 * na + k] = weight[5] * value(b.z)

    cdef void normal_equations(self, double damping) noexcept nogil:
        """H = A^T A + damping 1 and g = A^T e."""
        cdef int i, k, r, na = self.na
        cdef double a
        cdef double* row
        memset(self.H, 0, na * na * sizeof(double))
        memset(self.g, 0, na * sizeof(double))
        for r in range(self.rows):
            row = self.A + r * na
            for i in range(na):
                a = row[i]
                if a != 0.0:
                    self.g[i] += a * self.e[r]
                    for k in range(i + 1):
                        self.H[i * na + k] += a * row[k]
        for i in range(na):
            self.H[i * na + i] += damping
            for k in range(i):
                self.H[k * na + i] = self.H[i * na + k]

    cdef void bounded_step(self) noexcept nogil:
        """d: the minimum of g.d + d.H d / 2, with every coordinate that would pass a limit held there and the others solved again."""
        cdef int i, k, na = self.na
        cdef double room
        cdef bint again = True
        for i in range(na):
            self.fixed[i] = 0
            self.d[i] = 0.0
            if self.at[i] >= 0:         # at a limit and pushed against it
                k = self.at[i]
                self.fixed[i] = (self.q[k] <= self.lower[k] and self.g[i] > 0.0) or (self.q[k] >= self.upper[k] and self.g[i] < 0.0)
        while again:
            again = False
            self.solve_free()
            for i in range(na):
                if self.at[i] >= 0 and not self.fixed[i]:
                    k = self.at[i]
                    room = self.upper[k] - self.q[k] if self.d[i] > 0.0 else self.lower[k] - self.q[k]
                    if abs_real(self.d[i]) > abs_real(room):
                        self.d[i] = room
                        self.fixed[i] = 1
                        again = True

    cdef void solve_free(self) noexcept nogil:
        """H_ff d_f = -(g_f + H_fc d_c) by Cholesky's factors, c: the coordinates held at their d."""
        cdef int i, j, k, na = self.na
        cdef double x
        cdef double* L = self.L
        cdef double* H = self.H
        for i in range(na):
            if self.fixed[i]:
                continue
            x = -self.g[i]
            for k in range(na):
                if self.fixed[k]:
                    x -= H[i * na + k] * self.d[k]
            for j in range(i + 1):
                if self.fixed[j]:
                    continue
                L[i * na + j] = H[i * na + j]
                for k in range(j):
                    if not self.fixed[k]:
                        L[i * na + j] -= L[i * na + k] * L[j * na + k]
                if j < i:
                    L[i * na + j] /= L[j * na + j]
                    x -= L[i * na + j] * self.b[j]
            L[i * na + i] = root(larger(L[i * na + i], 1e-16 * H[i * na + i]))
            self.b[i] = x / L[i * na + i]
        for i in range(na - 1, -1, -1):
            if self.fixed[i]:
                continue
            x = self.b[i]
            for k in range(i + 1, na):
                if not self.fixed[k]:
                    x -= L[k * na + i] * self.d[k]
            self.d[i] = x / L[i * na + i]


cdef inline double norm_of(const double* x, int n) noexcept nogil:
    cdef double sum = 0.0
    cdef int k
    for k in range(n):
        sum += x[k] * x[k]
    return root(sum)


cdef inline void rotation_vector(Mat3 R, double* w) noexcept nogil:
    """w with exp(w) = R and |w| <= pi."""
    cdef real one[4]
    cdef real quat[4]
    cdef real angle
    one[0], one[1], one[2], one[3] = real(1.0), real(0.0), real(0.0), real(0.0)
    quaternion_of(R, quat)
    cdef Vec3 x = quaternion_log(one, quat, &angle)
    w[0], w[1], w[2] = value(x.x), value(x.y), value(x.z)


cdef inline double cotangent_term(double a) noexcept nogil:
    """(1 - a/2 cot a/2) / a^2: c of equation (2)."""
    if a < 1e-2:
        return 1.0 / 12.0 + a * a * (1.0 / 720.0 + a * a / 30240.0)
    return (1.0 - 0.5 * a / tan(0.5 * a)) / (a * a)
