# Exact linear dynamics at many points in one call. Only the dual modules include this file.

from mbros_core.joints.dispatch cimport first_half, qdot_from_velocity, second_half, velocity_from_qdot
from mbros_core.joints.joint cimport MAX_NQ, MAX_NV
from mbros_core.spatial cimport Inertia

cdef class Linearizer(Duals):
    """A and B of small deviations (dq, dv), dtau, at each of many points: of the accelerations, or of a step.

    dq is along the joints' velocities. At a point (q, v), the directions are those of dq, dv and dtau, one after the other, as many at a
    time as there are partials; what comes out in coordinates is turned into velocities by N+. mbros.diff.linearize is what people use.
    """
    cdef Memory scratch
    cdef real* x                    # (nq)
    cdef real* still                # (nq) a configuration without derivatives
    cdef real* y                    # (nv)
    cdef double* N                  # (nq, nv) qdot = N v
    cdef double* across             # (nq, nv) column k: how N e_k changes along qdot
    cdef bint plain                 # v is qdot: N is the identity
    cdef int64_t ended              # end() was called
    cdef readonly list near         # [(point, shape a, shape b, bits)] of the last call, as Duals.switches

    def __cinit__(self, model):
        cdef Py_ssize_t nq = self.model.c.nq, nv = self.model.c.nv
        cdef int i
        self.scratch = Memory((2 * nq + nv + 1) * LANES + 2 * nq * nv)
        self.x = <real*>self.scratch.p
        self.still, self.y = self.x + nq, self.x + 2 * nq
        self.N = <double*>(self.y + nv + 1)
        self.across = self.N + nq * nv
        self.plain = nq == nv
        for i in range(nv):
            self.plain &= self.model.c.q_of_v[i] >= 0

    def end(self):
        """End what runs in another thread, soon; what it wrote is then not whole. Later calls end at once."""
        store(&self.ended, 1)

    def linearize(self, what, inputs, tau, A, B, dt=1e-3, integrator=INTEGRATORS[integrators.DEFAULT], C=None):
        """A[b] (2 nv, 2 nv), B[b] (2 nv, nv) at point b of n. Returns the first point with a number that is not finite, or -1.

        what: "forward_dynamics", for d/dt (dq, dv), or "step", for (dq, dv) after it. inputs: State._inputs of every point (n, reals).
        C[b] (2 nv, nv): of a step, by a_prev; None: not asked for.
        """
        cdef Job job = self.job(what, -1, dt, integrator)
        cdef Py_ssize_t size = self.model.fields[NUMBER_OF_INPUTS].at, nv = self.model.c.nv, b, n
        cdef cnp.ndarray points = given_numbers(self.who, "inputs", inputs, (None, size))
        n = cnp.PyArray_DIM(points, 0)
        cdef cnp.ndarray efforts = given_numbers(self.who, "tau", tau, (n, nv))
        cdef double* a = <double*>cnp.PyArray_DATA(<cnp.ndarray>given_room(self.who, "A", A, (n, 2 * nv, 2 * nv)))
        cdef double* c = <double*>cnp.PyArray_DATA(<cnp.ndarray>given_room(self.who, "B", B, (n, 2 * nv, nv)))
        cdef double* e = NULL
        cdef Py_ssize_t each = 0 if C is None else 2 * nv * nv
        if C is not None:
            e = <double*>cnp.PyArray_DATA(<cnp.ndarray>given_room(self.who, "C", C, (n, 2 * nv, nv)))
        cdef const double* given = <const double*>cnp.PyArray_DATA(points)
        cdef const double* effort = <const double*>cnp.PyArray_DATA(efforts)
        cdef Memory results = self.results          # kept, as in run()
        cdef Py_ssize_t bad = -1
        cdef Door door
        if job.what != STEP and job.what != FORWARD_DYNAMICS:
            raise MbrosError(f"{self.who}: linearize: expected 'forward_dynamics' or 'step', got {what!r}")
        memset(&door, 0, sizeof(door))
        self.near = []
        self.state.hold()
        try:
            with nogil:
                for b in range(n):
                    if not self.point(&job, given + b * size, size, effort + b * nv, <real*>results.p, a + b * 4 * nv * nv,
                                      c + b * 2 * nv * nv, e + b * each) and bad < 0:
                        bad = b
                    if any_switch(&self.state.c):
                        with gil:
                            self.near += [(b, *switch) for switch in switches_of(&self.model.c, &self.state.c)]
                    if knock(&door):
                        with gil:
                            let_in(&door, None, 0.0)
                    if load(&self.ended):
                        break
        finally:
            self.state.let_go()
            self.state.stage = STAGE_NONE
        return bad

    cdef bint point(self, const Job* job, const double* given, Py_ssize_t size, const double* tau, real* results, double* A,
                    double* B, double* C) noexcept nogil:
        """One point; whether every number is finite."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef real* out
        cdef bint finite = True
        cdef int g, start, i, n = m.nv
        cdef int directions = 3 * n
        cdef Py_ssize_t each = 0
        cdef Py_ssize_t k
        if C != NULL:
            directions, each = 4 * n, n * n
        for k in range(size):
            (<real*>self.state.memory.p)[k] = real(given[k])
        for i in range(n):
            (<real*>self.inputs.p)[i] = real(tau[i])
        if not self.plain:
            self.note_rates()
        forget_switches(s)
        if job.what == FORWARD_DYNAMICS:
            memset(A, 0, 2 * n * n * sizeof(double))
            memset(B, 0, n * n * sizeof(double))
            for i in range(n):
                A[2 * n * i + n + i] = 1.0
            if not self.plain:
                self.turning(A)
        for g in range((directions + LANES - 2) // (LANES - 1)):
            start = g * (LANES - 1)
            self.aim(start, C != NULL)
            out = results
            compute_dual(m, s, job, <real*>self.inputs.p, out, NULL)
            finite &= all_finite(out, n if job.what == FORWARD_DYNAMICS else m.nq + n)
            if job.what == STEP:
                self.put_rows(self.along_joints(out), start, A, B, C)
                out += m.nq
            self.put_rows(out, start, A + 2 * n * n, B + n * n, C + each)
        return finite

    cdef void aim(self, int start, bint last) noexcept nogil:
        """Derivatives of q, v and tau: directions start, start + 1, ... of (dq, dv, dtau, and where asked da_prev), one in each lane."""
        cdef ModelC* m = &self.model.c
        cdef double* q = <double*>self.state.c.q
        cdef double* v = <double*>self.state.c.v
        cdef double* tau = self.inputs.p
        cdef double* a = <double*>self.state.c.a_prev
        cdef int i, l, d, n = m.nv
        for l in range(1, LANES):
            d = start + l - 1
            for i in range(n if last else 0):
                a[i * LANES + l] = 1.0 if d == 3 * n + i else 0.0
            for i in range(m.nq):
                q[i * LANES + l] = (1.0 if i == d else 0.0) if self.plain else self.N[i * n + d] if d < n else 0.0
            for i in range(n):
                v[i * LANES + l] = 1.0 if d == n + i else 0.0
                tau[i * LANES + l] = 1.0 if d == 2 * n + i else 0.0

    cdef real* along_joints(self, real* out) noexcept nogil:
        """Derivatives of q as those along the joints' velocities there: N+(q) dq."""
        cdef int i
        if self.plain:
            return out
        for i in range(self.model.c.nq):
            self.still[i], self.x[i] = real(value(out[i])), out[i]
            (<double*>(self.x + i))[0] = 0.0
        unrates(&self.model.c, self.still, self.x, self.y)
        return self.y

    cdef void put_rows(self, const real* rows, int start, double* A, double* B, double* C) noexcept nogil:
        """Derivatives of nv numbers in the directions from start on, into rows of A, B and, where it is there, C."""
        cdef const double* x = <const double*>rows
        cdef int i, l, d, n = self.model.c.nv
        for l in range(1, LANES):
            d = start + l - 1
            for i in range(n):
                if d < 2 * n:
                    A[2 * n * i + d] = x[i * LANES + l]
                elif d < 3 * n:
                    B[n * i + d - 2 * n] = x[i * LANES + l]
                elif C != NULL and d < 4 * n:
                    C[n * i + d - 3 * n] = x[i * LANES + l]

    cdef void note_rates(self) noexcept nogil:
        """N at the configuration, and how its columns change along qdot = N v."""
        cdef ModelC* m = &self.model.c
        cdef real* q = self.state.c.q
        cdef int i, k, n = m.nv
        copy_reals(self.still, q, m.nq)
        rates(m, q, self.state.c.v, self.x)
        for i in range(m.nq):
            (<double*>(self.still + i))[1] = value(self.x[i])
        for k in range(n):
            for i in range(n):
                self.y[i] = real(1.0 if i == k else 0.0)
            rates(m, self.still, self.y, self.x)
            for i in range(m.nq):
                self.N[i * n + k] = value(self.x[i])
                self.across[i * n + k] = (<double*>(self.x + i))[1]

    cdef void turning(self, double* A) noexcept nogil:
        """d(dq)/dt for dv = 0, the first nv columns of nv rows: N+ (D N[N dq] v - D N[N v] dq), D N[x] the derivative of N(q) in
        direction x. Zero where v is qdot."""
        cdef ModelC* m = &self.model.c
        cdef real* q = self.state.c.q
        cdef int g, start, i, l, d, n = m.nv
        for g in range((n + LANES - 2) // (LANES - 1)):
            start = g * (LANES - 1)
            for i in range(m.nq):
                self.still[i] = real(value(q[i]))
                for l in range(1, LANES):
                    d = start + l - 1
                    (<double*>(self.still + i))[l] = self.N[i * n + d] if d < n else 0.0
            rates(m, self.still, self.state.c.v, self.x)
            for i in range(m.nq):
                self.still[i] = real(value(q[i]))
                (<double*>(self.x + i))[0] = 0.0
                for l in range(1, LANES):
                    d = start + l - 1
                    (<double*>(self.x + i))[l] -= self.across[i * n + d] if d < n else 0.0
            unrates(m, self.still, self.x, self.y)
            for l in range(1, LANES):
                d = start + l - 1
                for i in range(n):
                    if d < n:
                        A[2 * n * i + d] = (<double*>(self.y + i))[l]


cdef void halves_by_duals(const int* sizes, const double* given, double h, double* J) noexcept nogil:
    """What integrators.midpoint_derivatives says of Halving, over dual numbers."""
    cdef Joint j
    cdef real q[MAX_NQ]
    cdef real q_h[MAX_NQ]
    cdef real q_start[MAX_NQ]
    cdef real still[MAX_NQ]
    cdef real rate[MAX_NQ]
    cdef real N[MAX_NQ * MAX_NV]
    cdef real v_start[MAX_NV]
    cdef real v[MAX_NV]
    cdef real a[MAX_NV]
    cdef real M[10]
    cdef int nq = sizes[1], n = sizes[2], start, i, k, l, d
    memset(&j, 0, sizeof(Joint))
    j.kind, j.nq, j.nv = sizes[0], nq, n
    for i in range(nq):
        q[i] = real(given[i])
    for i in range(10):
        M[i] = real(given[25 + i])
    for k in range(n):
        for i in range(n):
            v[i] = real(1.0 if i == k else 0.0)
        qdot_from_velocity(&j, q, v, N + k * MAX_NQ)
    for start in range((3 * n + LANES - 2) // (LANES - 1)):
        for i in range(nq):
            q_start[i] = real(given[i])
        for i in range(n):
            v_start[i], v[i], a[i] = real(given[7 + i]), real(given[13 + i]), real(given[19 + i])
        for l in range(1, LANES):
            d = start * (LANES - 1) + l - 1
            if d < n:
                for i in range(nq):
                    (<double*>(q_start + i))[l] = value(N[d * MAX_NQ + i])
            elif d < 2 * n:
                (<double*>(v_start + d - n))[l] = (<double*>(v + d - n))[l] = 1.0
            elif d < 3 * n:
                (<double*>(a + d - 2 * n))[l] = 1.0
        copy_reals(q, q_start, nq)
        first_half(&j, q, v_start, <const Inertia*>M, real(0.5 * h))
        copy_reals(q_h, q, nq)
        second_half(&j, q_start, q, v_start, v, a, <const Inertia*>M, real(h))
        put_along(&j, q_h, still, rate, a, start, J)
        put_along(&j, q, still, rate, a, start, J + 3 * n * n)
        put_lanes(v, n, start, J + 6 * n * n)


cdef void put_along(const Joint* j, const real* q, real* still, real* rate, real* v, int start, double* J) noexcept nogil:
    """Derivatives of q along the joint's velocities into rows of J."""
    cdef int i
    for i in range(j.nq):
        still[i], rate[i] = real(value(q[i])), q[i]
        (<double*>(rate + i))[0] = 0.0
    velocity_from_qdot(j, still, rate, v)
    put_lanes(v, j.nv, start, J)


cdef void put_lanes(const real* x, int n, int start, double* J) noexcept nogil:
    cdef int i, l, d
    for l in range(1, LANES):
        d = start * (LANES - 1) + l - 1
        for i in range(n):
            if d < 3 * n:
                J[i * 3 * n + d] = (<const double*>(x + i))[l]


halves = PyCapsule_New(<void*>halves_by_duals, "mbros_core.halves", NULL)
