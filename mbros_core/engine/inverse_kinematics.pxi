# Inverse kinematics: many targets on one thread, without the GIL. Only the double modules include this file; mbros.model.inverse_kinematics
# has the words, the checks and the threads.
#
# With e the residual of all targets and A its Jacobian (target_error.pxi), E = |e|^2 / 2 is least by Levenberg-Marquardt steps within the
# limits (bounded_quadratic.pxi):
#
#     (A^T A + mu sqrt(E) 1) d = -A^T e,   q <- q (+) d                                                   (1)
#
# Damping that follows the error (Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, 2011) bounds the
# steps far away and at singular configurations and vanishes at a solution, where convergence is quadratic. In proportion to |e| rather
# than to his E (Fan and Yuan, On the quadratic convergence of the Levenberg-Marquardt method, 2005) it solves more targets at the end of
# the reach (benchmarks/inverse_kinematics.py). mu grows when a step does not lower E.

from libc.math cimport INFINITY, fmax as larger, isfinite, sqrt as root

include "target_error.pxi"
include "bounded_quadratic.pxi"

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
    cdef Targets t
    cdef Quadratic p            # of a step
    cdef int nt, na
    cdef int* at                # (na) position coordinate of each unknown, -1 where there is none
    cdef char* moves            # (nq) whether a position can change
    cdef double* lower          # (nq)
    cdef double* upper
    cdef double* q
    cdef double* best
    cdef double* trial
    cdef double* dv             # (nv)
    cdef double* away           # (na)
    cdef Door door
    cdef int64_t ended          # end() was called
    cdef str who

    def __dealloc__(self):
        free(self.t.frame)
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
        self.t.frame = <int*>malloc((self.nt + 3 * nv + 1) * sizeof(int))
        self.moves = <char*>malloc(nq + 1)
        if self.t.frame == NULL or self.moves == NULL:
            raise NoMemoryError("no memory for inverse kinematics")
        self.t.m, self.t.s, self.t.n, self.t.active = &model.c, &self.state.c, self.nt, self.t.frame + self.nt
        self.at, self.p.fixed = self.t.active + nv, self.t.active + 2 * nv
        for k in range(self.nt):
            self.t.frame[k] = model.index(frames[k], model.c.nf, "frame")
        self.find_active()
        self.t.na = self.p.n = self.na
        self.lay_out(nq, nv)
        memcpy(self.t.weight, data(weight), 6 * self.nt * sizeof(double))
        memcpy(self.lower, data(least), nq * sizeof(double))
        memcpy(self.upper, data(most), nq * sizeof(double))

    cdef void find_active(self) noexcept:
        """The coordinates of the joints between the frames and the world; a follower's are its leader's."""
        cdef ModelC* m = &self.model.c
        cdef const Joint* j
        cdef int i, k, t
        cdef int* used = self.p.fixed
        for k in range(m.nv):
            used[k] = 0
        for t in range(self.nt):
            i = m.frame_body[self.t.frame[t]]
            while i > 0:
                j = &m.joints[i]
                for k in range(j.nv):
                    used[j.iv + k] = value(self.state.c.lock[j.iv + k]) == 0.0
                i = j.parent
        self.na = 0
        for k in range(m.nv):
            if used[k]:
                self.t.active[self.na], self.at[self.na] = k, m.q_of_v[k]
                self.na += 1
        memset(self.moves, 0, m.nq)
        for i in range(1, m.nb):
            j = &m.joints[i]
            if not j.follows and j.nv and used[j.iv]:
                memset(self.moves + j.iq, 1, j.nq)

    cdef lay_out(self, int nq, int nv):
        cdef int na = self.na, rows = 6 * self.nt
        cdef double*** fields = [&self.t.weight, &self.t.e, <double**>&self.t.X_WT, <double**>&self.t.J, &self.t.A, &self.p.H, &self.p.L,
                                 &self.p.g, &self.p.d, &self.p.b, &self.p.least, &self.p.most, &self.away, &self.dv, &self.lower,
                                 &self.upper, &self.q, &self.best, &self.trial]
        cdef int* sizes = [rows, rows, 12 * self.nt, 6 * nv, rows * na, na * na, na * na, na, na, na, na, na, na, nv, nq, nq, nq, nq, nq]
        cdef Py_ssize_t at = 0
        cdef int k
        for k in range(19):
            at += sizes[k]
        self.memory = Memory(at + 8)
        at = 0
        for k in range(19):
            fields[k][0] = self.memory.p + at
            at += sizes[k]

    @property
    def coordinates(self):
        """Velocity coordinates that move, as a tuple."""
        return tuple([self.t.active[k] for k in range(self.na)])

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
                memcpy(self.t.X_WT, target + i * 12 * self.nt, 12 * self.nt * sizeof(double))
                count[i] = self.reach(x + i * nq, start, restarts, tolerance, iterations)
                if preferred != NULL and self.done(tolerance):
                    count[i] += self.settle(preferred + i * nq, tolerance)
                reached[i] = self.done(tolerance)
                error[2 * i], error[2 * i + 1] = self.t.position_error, self.t.rotation_error
                memcpy(x + i * nq, self.q, nq * sizeof(double))

    def end(self):
        """End a call that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""
        store(&self.ended, 1)

    cdef bint done(self, double tolerance) noexcept nogil:
        return self.t.position_error <= tolerance and self.t.rotation_error <= tolerance

    cdef int reach(self, const double* q0, const double* starts, Py_ssize_t restarts, double tolerance, int iterations) except -1 nogil:
        """From q0, then from each of the (restarts, nq) starts until one is solved. The least E stays in self.q. Returns the steps."""
        cdef int nq = self.model.c.nq, k
        cdef Py_ssize_t r
        memcpy(self.q, q0, nq * sizeof(double))
        self.clip(self.q)
        cdef int steps = self.descend(tolerance, iterations)
        cdef double least = self.t.E
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
            if self.t.E < least:
                least = self.t.E
                memcpy(self.best, self.q, nq * sizeof(double))
        memcpy(self.q, self.best, nq * sizeof(double))
        residual(&self.t, self.q)
        return steps

    cdef int descend(self, double tolerance, int iterations) except -1 nogil:
        """Steps (1) from self.q until the targets are reached or E hardly falls any more. Returns their number."""
        cdef int step, slow = 0
        cdef double before, mu = 1.0
        residual(&self.t, self.q)
        for step in range(iterations):
            if self.done(tolerance) or self.na == 0 or load(&self.ended):
                return step
            if knock(&self.door):
                with gil:
                    let_in(&self.door, None, 0.0)
            before = self.t.E
            linearize(&self.t)
            normal_equations(&self.p, self.t.A, self.t.e, 6 * self.nt, mu * root(before) + LEAST_DAMPING)
            self.bounded_step()
            self.moved(1.0)
            residual(&self.t, self.trial)
            if self.t.E < before:
                mu = larger(0.25 * mu, 1e-2)
                memcpy(self.q, self.trial, self.model.c.nq * sizeof(double))
            else:
                mu *= 4.0
                residual(&self.t, self.q)
            slow = slow + 1 if self.t.E > (1.0 - SLOW) * before else 0
            if slow == SLOW_STEPS or not isfinite(self.t.E):
                return step + 1
        return iterations

    cdef int settle(self, const double* posture, double tolerance) except -1 nogil:
        """Along the solutions towards the posture: a step in the null space of A, back to the solutions, and only if that is nearer."""
        cdef int nq = self.model.c.nq, k, step, steps = 0
        cdef double part = 1.0, distance = self.distance(posture), nearer
        memcpy(self.best, self.q, nq * sizeof(double))
        for step in range(POSTURE_STEPS):
            residual(&self.t, self.q)
            linearize(&self.t)
            normal_equations(&self.p, self.t.A, self.t.e, 6 * self.nt, POSTURE_WEIGHT)
            self.distance(posture)
            for k in range(self.na):
                self.p.g[k] -= POSTURE_WEIGHT * self.away[k]
            self.bounded_step()
            if norm_of(self.p.d, self.na) < 1e-7:
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
        residual(&self.t, self.q)
        return steps

    cdef double distance(self, const double* posture) noexcept nogil:
        """|posture (-) q| of the active coordinates, which stay in self.away."""
        cdef int k
        apart(&self.model.c, <const real*>self.q, <const real*>posture, <real*>self.dv)
        for k in range(self.na):
            self.away[k] = self.dv[self.t.active[k]]
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
            self.dv[self.t.active[k]] = part * self.p.d[k]
        move(&self.model.c, <const real*>self.q, <const real*>self.dv, <real*>self.trial)
        for k in range(self.model.c.nq):
            if not self.moves[k]:
                self.trial[k] = self.q[k]
        self.clip(self.trial)

    cdef void bounded_step(self) noexcept nogil:
        """The minimum of the quadratic within the limits."""
        cdef int i, k
        for i in range(self.na):
            k = self.at[i]
            self.p.least[i] = self.lower[k] - self.q[k] if k >= 0 else -INFINITY
            self.p.most[i] = self.upper[k] - self.q[k] if k >= 0 else INFINITY
        bounded_minimum(&self.p)
