"""Contact and constraints: the engine's side. What touches, what is held, and what comes of it, is decided for one robot at a time in plain
doubles (mbros_core/constraints): lanes are gone through one by one, where something is near in them. Of dual numbers, the first is the
robot and the others are directions (constraints/slopes.pxd).
"""
from libc.string cimport memcpy, memset

from mbros_core.scalar.real cimport LANES, OF_DUALS, fmax, real, set_lane, value
from mbros_core.algorithms.kinematics cimport bias_accelerations
from mbros_core.algorithms.mass_matrix cimport hold, lower_mass_matrix, mass_matrix
from mbros_core.constraints.contact cimport Law, law_of
from mbros_core.constraints.displaced cimport gather, keep_robot
from mbros_core.constraints.hold cimport AN_ACCELERATION
from mbros_core.constraints.robot cimport Robot
from mbros_core.constraints.touch cimport (COUNT_OF_HEAD, DEPTH, FORCE, KNOWN, NORMAL, STAMP, TOUCH_COLUMNS, Touch, recorded, shapes_of,
                                           touches_in)
from mbros_core.forces.stiff cimport fill_springs, forget_implicit, note_explicit, share_out
from mbros_core.geometry.vec cimport dot
from mbros_core.forces.stiff_slopes cimport add_spring_slopes
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport power
from mbros_core.engine.state cimport ModelC, Work


cdef inline Robot robot_in(int lane, const Work* s, const real* v_start, real* a) noexcept nogil:
    """The robot in a lane, as constraints/ sees it."""
    cdef Robot r
    r.stride = LANES
    r.X_WB, r.V_WB, r.S = <const double*>s.X_WB + lane, <const double*>s.V_WB + lane, <const double*>s.S + lane
    r.A_WB, r.later = <const double*>s.A_WB + lane, 0.0
    r.lock, r.numbers = <const double*>s.lock + lane, <const double*>s.contact_parameters + lane
    r.Ab_WB, r.q, r.sag = <const double*>s.Ab_WB + lane, <const double*>s.q + lane, 0.0
    r.held = <const double*>s.constraint_parameters + lane
    r.v_start, r.a, r.memory = <const double*>v_start + lane, <double*>a + lane, <double*>s.contact_memory + lane
    r.M = <const double*>s.L
    r.given = s.contacts.given if s.contacts != NULL else NULL
    return r


cdef inline unsigned long long hashed(unsigned long long hash, const unsigned long long* x, int count) noexcept nogil:
    """Four chains side by side, each waiting for its own products only."""
    cdef unsigned long long prime = <unsigned long long>1099511628211
    cdef unsigned long long b = hash + 1
    cdef unsigned long long c = hash + 2
    cdef unsigned long long d = hash + 3
    cdef int k = 0
    while k + 4 <= count:
        hash, b = (hash ^ x[k * LANES]) * prime, (b ^ x[(k + 1) * LANES]) * prime
        c, d = (c ^ x[(k + 2) * LANES]) * prime, (d ^ x[(k + 3) * LANES]) * prime
        k += 4
    while k < count:
        hash = (hash ^ x[k * LANES]) * prime
        k += 1
    return (((hash * prime ^ b) * prime ^ c) * prime ^ d) * prime


cdef inline double stamp_of(const ModelC* m, const Work* s, int lane) noexcept nogil:
    """Of q and v, to the bit: a number by which contacts know the state that they belong to (Fowler, Noll and Vo's hash, 52 bits of it)."""
    cdef unsigned long long start = <unsigned long long>14695981039346656037
    cdef unsigned long long a = hashed(start, <const unsigned long long*>s.q + lane, m.nq)
    return <double>(hashed(a, <const unsigned long long*>s.v + lane, m.nv) >> 12)


cdef inline void stamp_contacts(const ModelC* m, Work* s) noexcept nogil:
    """After a step: its contacts belong to where it led."""
    cdef int lane
    if OF_DUALS:
        return
    for lane in range(LANES):
        if (<double*>s.contact_memory)[KNOWN * LANES + lane] != 0.0:
            (<double*>s.contact_memory)[STAMP * LANES + lane] = stamp_of(m, s, lane)


cdef inline real contact_energy_and_slopes(const ModelC* m, Work* s) noexcept nogil:
    """The same over dual numbers."""
    cdef Robot r = robot_in(0, s, s.v, s.vdot)
    cdef Robot d
    cdef real E = real(0.0)
    cdef double sum_of = 0.0
    cdef const Touch* t
    cdef int k
    keep_robot(m.scene, s.contacts, &r)
    for k in range(m.scene.find(m.scene, s.contacts, &s.contacts.slopes.still, 0, 0.0)):
        t = &s.contacts.touch[k]
        if t.c.depth > 0.0:
            sum_of += 0.5 * law_of(&r, t.a, t.b).k * t.c.depth * t.c.depth
    set_lane(E, 0, sum_of)
    for k in range(1, LANES):
        d = robot_in(k, s, s.v, s.vdot)
        set_lane(E, k, m.scene.energy_slope(m.scene, s.contacts, &d))
    return E


cdef inline real contact_energy(const ModelC* m, Work* s) noexcept nogil:
    """Energy stored in what touches now, J: 1/2 k depth^2 of every point. Positions are in place."""
    cdef double head[TOUCH_COLUMNS * LANES]
    cdef real E = real(0.0)
    cdef double sum_of
    cdef const Touch* t
    cdef Robot r
    cdef int lane, k
    if m.ns == 0:
        return E
    if OF_DUALS:
        return contact_energy_and_slopes(m, s)
    memset(head, 0, sizeof(head))
    for lane in range(LANES):
        r = robot_in(lane, s, s.v, s.vdot)
        r.memory = head + lane
        sum_of = 0.0
        for k in range(m.scene.find(m.scene, s.contacts, &r, lane, 0.0)):
            t = &s.contacts.touch[lane * m.scene.most_touches + k]
            if t.c.depth > 0.0:
                sum_of += 0.5 * law_of(&r, t.a, t.b).k * t.c.depth * t.c.depth
        set_lane(E, lane, sum_of)
    return E


cdef inline double spring_left(const Law* law, double depth, double force, double h, double later) noexcept nogil:
    """The depth by which a spring would push at the end of a step as its contact does, whose depth was seen `later` before that end. v:
    the separating velocity that the step found. While it leaves, the damper holds the spring back by tau v; what is seen beyond the
    spring's own depth is the damper's, too."""
    cdef double v = (depth / h if depth < 0.0 else depth / (h + law.tau)) - force / (law.k * (h + law.tau))
    return max(0.0, depth - later * v - law.tau * max(0.0, v)) if force > 0.0 else 0.0


cdef inline double energy_of_touches(const ModelC* m, const Work* s) noexcept nogil:
    """Energy that contacts can give back, J, of the step that led here: of every point 1/2 k d^2, d of spring_left(). At rest that is the
    depth. A point that comes and goes deep, as on a rim that rolls by, has as little of it as it has force."""
    cdef Robot r = robot_in(0, s, s.v, s.vdot)
    cdef double h = (<const double*>s.last_step)[0]
    cdef double later = h if <int>(<const double*>s.last_step)[1] == 2 else 0.5 * h           # semi-implicit Euler sees depths at its start
    cdef double sum_of = 0.0
    cdef double d
    cdef const double* row
    cdef Law law
    cdef int a, b, k
    for k in range(touches_in(r.memory, 1, m.scene.most_touches)):
        row = r.memory + (k + 1) * TOUCH_COLUMNS
        if shapes_of(row, 1, m.ns, &a, &b):
            law = law_of(&r, a, b)
            d = spring_left(&law, row[DEPTH], dot(recorded(row, FORCE, 1), recorded(row, NORMAL, 1)), h, later)
            sum_of += 0.5 * law.k * d * d
    return sum_of


cdef inline real energy_in_touch(const ModelC* m, Work* s) noexcept nogil:
    """Of the step that led to this state; of a state to which none did by its positions, 1/2 k depth^2."""
    cdef const double* memory = <const double*>s.contact_memory
    if m.ns and memory[KNOWN] != 0.0 and memory[STAMP] == stamp_of(m, s, 0) and value(s.last_step[0]) > 0.0:
        return real(energy_of_touches(m, s))
    return contact_energy(m, s)


cdef inline void put_together(const real* factor, int n, real* M) noexcept nogil:
    """M of its factor L D L^T, which has 1 / D on the diagonal, in place or not: rows from the last to the first."""
    cdef real x
    cdef int i, j, k
    for i in range(n - 1, -1, -1):
        for j in range(i, -1, -1):
            x = (real(1.0) if i == j else factor[i * n + j]) / factor[j * n + j]
            for k in range(j):
                x = x + factor[i * n + k] * factor[j * n + k] / factor[k * n + k]
            M[j * n + i] = x
        for j in range(i + 1):
            M[i * n + j] = M[j * n + i]


cdef inline void implicit_mass_matrix(const ModelC* m, Work* s) noexcept nogil:
    """s.L = M(q) with what the last forward dynamics had on its diagonal: rotors, and what an implicit step adds, less what holds joints; only
    what the convex problem reads of it. Locked coordinates have rows and columns of their own. Uses s.tau."""
    cdef const Joint* j
    cdef int i, k
    if m.shared:
        put_together(s.L, m.nv, s.L)
        return
    for i in range(1, m.nb):
        j = &m.joints[i]
        for k in range(j.nv):
            s.tau[j.iv + k] = 1.0 / s.D_inverse[j.column + k] - power(s.S[j.column + k], s.U[j.column + k])
            if s.contacts.some_stick:
                s.tau[j.iv + k] = fmax(real(0.0), s.tau[j.iv + k] - s.sticking[j.iv + k])
            if value(s.lock[j.iv]) != 0.0:
                s.tau[j.iv + k] = real(0.0)
    if OF_DUALS:
        mass_matrix(m, s.L, s.tau, s)                   # its products are taken whole
    else:
        lower_mass_matrix(m, s.L, s.tau, s)
    for i in range(m.nv):
        if value(s.lock[i]) != 0.0:
            hold(s.L, m.nv, i, s.tau)


cdef inline void note_sticking(const ModelC* m, Work* s, int lane) noexcept nogil:
    """What friction holds in a lane, for the convex problem."""
    cdef int i
    if s.contacts.some_stick:
        for i in range(m.nv):
            s.contacts.sticking[i] = (<const double*>s.sticking)[i * LANES + lane]


cdef inline const double* gathered(const double* M, int lane, Py_ssize_t n, double* room) noexcept nogil:
    """The matrix of one lane, side by side."""
    cdef Py_ssize_t k
    if LANES == 1:
        return M
    for k in range(n):
        room[k] = M[k * LANES + lane]
    return room


cdef inline bint are_stiff(const ModelC* m, Work* s, real h, real later) noexcept nogil:
    """Whether force elements are implicit in this step: only a midpoint step has such, whose forces are taken before its end. Where none
    is, the state's memory says so."""
    cdef bint stiff = value(later) < value(h) and share_out(m, s, h, <real*>s.contacts.share)
    cdef int k
    if not (stiff or m.ns or m.nk):
        forget_implicit(m, s)
        return False
    note_explicit(m, s)
    for k in range(0 if stiff else m.nsprings * (1 if OF_DUALS else LANES)):
        s.contacts.spring[k].n = 0
    return stiff


cdef inline void with_contact(const ModelC* m, Work* s, const real* v_start, real* a, real h, real later, double sag) noexcept nogil:
    """a, the acceleration over a step h without contact and constraints, becomes that with them. The kinematics and the last forward
    dynamics are in place; the former are of `later` before the end of the step. sag: of constraints/hold.pxd."""
    cdef Robot r
    cdef int lane
    cdef int count = 0
    cdef bint stiff = m.nsprings and are_stiff(m, s, h, later)
    for lane in range(LANES if m.ns or m.nk or stiff else 0):
        if not s.contacts.again:
            r = robot_in(lane, s, v_start, a)
            m.scene.find(m.scene, s.contacts, &r, lane, value(h))
        count += s.contacts.touches[lane]
    if count == 0 and m.nk == 0 and not stiff:
        return
    implicit_mass_matrix(m, s)
    bias_accelerations(m, s)
    if stiff:
        fill_springs(m, s)
    for lane in range(LANES):
        if s.contacts.touches[lane] or m.nk or stiff:
            note_sticking(m, s, lane)
            r = robot_in(lane, s, v_start, a)
            r.later, r.sag = value(later), sag
            r.M = gathered(<const double*>s.L, lane, <Py_ssize_t>m.nv * m.nv, s.contacts.M)
            m.scene.solve(m.scene, s.contacts, &r, lane, value(h))


cdef inline void keep_contacts(const ModelC* m, Work* s) noexcept nogil:
    """Before a step of one robot: of its memory of contacts what every step writes, the head and the rows of constraints. The others are
    kept where they are written: those of contacts by constraints/contact_step.pxd, of force elements by note_explicit()."""
    cdef double* before = s.contacts.before
    cdef const double* memory = <const double*>s.contact_memory
    cdef Py_ssize_t rest = (1 + m.scene.most_touches) * TOUCH_COLUMNS
    memcpy(before, memory, COUNT_OF_HEAD * sizeof(double))
    if m.nk:
        memcpy(before + rest, memory + rest, m.nk * TOUCH_COLUMNS * sizeof(double))
    s.contacts.overwritten = s.contacts.springs_kept = 0


cdef inline void put_contacts_back(const ModelC* m, Work* s) noexcept nogil:
    """After a step that led nowhere: the memory as it was."""
    cdef const double* before = s.contacts.before
    cdef double* memory = <double*>s.contact_memory
    cdef Py_ssize_t rest = (1 + m.scene.most_touches) * TOUCH_COLUMNS
    memcpy(memory, before, COUNT_OF_HEAD * sizeof(double))
    memcpy(memory + TOUCH_COLUMNS, before + TOUCH_COLUMNS, s.contacts.overwritten * TOUCH_COLUMNS * sizeof(double))
    memcpy(memory + rest, before + rest, (m.nk + (m.nsprings if s.contacts.springs_kept else 0)) * TOUCH_COLUMNS * sizeof(double))


cdef inline void holding_mass_matrix(const ModelC* m, Work* s, int what) noexcept nogil:
    """s.L, in whose metric constraints are kept. Uses s.tau."""
    cdef int i
    if what == AN_ACCELERATION:
        implicit_mass_matrix(m, s)
        return
    mass_matrix(m, s.L, s.rotor_inertia, s)
    for i in range(m.nv):
        if value(s.lock[i]) != 0.0:
            hold(s.L, m.nv, i, s.tau)


cdef inline void with_constraints(const ModelC* m, Work* s, real* x, int what, bint kept) noexcept nogil:
    """x, accelerations under the last forward dynamics, displacements or velocities (the What of constraints/hold.pxd), becomes the
    nearest to it that keeps the constraints. The kinematics are in place. kept: what they carry goes into the state's memory."""
    cdef Robot r
    cdef int lane
    holding_mass_matrix(m, s, what)
    for lane in range(LANES):
        r = robot_in(lane, s, s.v, x)
        r.M = gathered(<const double*>s.L, lane, <Py_ssize_t>m.nv * m.nv, s.contacts.M)
        if not kept:
            r.memory = NULL
        m.scene.hold(m.scene, s.contacts, &r, what)


cdef inline void mass_times_change(const ModelC* m, Work* s) noexcept nogil:
    """s.tau = M (v* - v), v and v* of the problem that was solved."""
    cdef Py_ssize_t i, k
    for i in range(m.nv):
        s.tau[i] = real(0.0)
        for k in range(m.nv):
            s.tau[i] = s.tau[i] + (s.contacts.v_star[k] - s.contacts.problem.v[k]) * s.L[i * m.nv + k]


cdef inline void with_constraints_and_slopes(const ModelC* m, Work* s, real* x, int what, bint kept) noexcept nogil:
    """with_constraints over dual numbers. Nothing is kept in the state's memory."""
    cdef Robot r = robot_in(0, s, s.v, x)
    cdef Robot d
    cdef Robot still
    cdef int lane, i
    keep_robot(m.scene, s.contacts, &r)
    holding_mass_matrix(m, s, what)
    s.contacts.slopes.still.M = gathered(<const double*>s.L, 0, <Py_ssize_t>m.nv * m.nv, s.contacts.M)
    still = s.contacts.slopes.still
    still.memory = NULL
    m.scene.hold(m.scene, s.contacts, &still, what)
    mass_times_change(m, s)
    for lane in range(1, LANES):
        d = robot_in(lane, s, s.v, x)
        m.scene.differentiate_held(m.scene, s.contacts, &d, <const double*>s.tau + lane, what)
    for i in range(m.nv):
        r.a[i * r.stride] = still.a[i]


cdef inline void with_contact_and_slopes(const ModelC* m, Work* s, const real* v_start, real* a, real h, real later,
                                         double sag) noexcept nogil:
    """The same over dual numbers: the value, then one direction after the other. The state's memory of contacts stays as it is."""
    cdef Robot r = robot_in(0, s, v_start, a)
    cdef Robot d
    cdef Robot* still = &s.contacts.slopes.still
    cdef Py_ssize_t i
    cdef int lane
    cdef bint stiff = m.nsprings and are_stiff(m, s, h, later)
    keep_robot(m.scene, s.contacts, &r)
    if m.scene.find(m.scene, s.contacts, still, 0, value(h)) == 0 and m.nk == 0 and not stiff:
        return
    implicit_mass_matrix(m, s)
    bias_accelerations(m, s)
    if stiff:
        fill_springs(m, s)
    note_sticking(m, s, 0)
    gather(still.A_WB, r.A_WB, r.stride, 6 * m.nb)
    still.later, still.sag = value(later), sag
    still.M = gathered(<const double*>s.L, 0, <Py_ssize_t>m.nv * m.nv, s.contacts.M)
    m.scene.solve(m.scene, s.contacts, still, 0, value(h))
    mass_times_change(m, s)
    if stiff:
        add_spring_slopes(m, s, v_start, a, h, sag, s.tau)
    for lane in range(1, LANES):
        d = robot_in(lane, s, v_start, a)
        d.later, d.M = value(later), <const double*>s.L + lane
        m.scene.differentiate(m.scene, s.contacts, &d, <const double*>s.tau + lane, value(h))
    for i in range(m.nv):
        r.a[i * r.stride] = still.a[i]
