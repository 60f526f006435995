"""Which force elements between two bodies are stiff in a midpoint step, and what they are then to the convex problem (constraints/springs.pxd).

A body that is free moves more easily than one on joints: 1 / its inertia bounds what any of its points gives way. So for every body the sum
over the elements on it

    z_b = sum of (h^2 k / 4 + h d) w,     w = 1/m + r^2 / I  of forces,  1/I of moments

(k and d: the largest of their axes; r: of the element's frame from the centre of mass; I: a lower bound of the principal moments of
inertia about that) bounds the modes of all of them: explicit at the middle, they are stable while h^2 k w / 4 + h d w < 1, which is sure to
hold for z_b < 1/2. The share of an element that is implicit is z_b / (1/4) - 1 within [0, 1], z_b of the body of its two that has more: below
1/4 a step is as without all this, to the bit, at 1/2 and above implicit. It depends on parameters alone, not on where the robot is.
"""
from libc.string cimport memcpy, memset

from mbros_core.scalar.real cimport LANES, OF_DUALS, OF_NODES, any, fmax, fmin, less, real, select, value
from mbros_core.constraints.springs cimport Spring
from mbros_core.constraints.touch cimport EFFORT, KNOWN, TOUCH_COLUMNS
from mbros_core.forces.apply cimport relative_motion
from mbros_core.forces.dispatch cimport evaluate_springs, largest_constants, may_be_stiff
from mbros_core.forces.element cimport ForceElement, PARAMETERS, Relative, Springs
from mbros_core.geometry.vec cimport Vec, vec
from mbros_core.spatial cimport Force, Inertia, Mat3, Motion, Pose, Vec3, column_x, column_y, column_z, cross, dot, rotate
from mbros_core.engine.state cimport ModelC, Work

cdef extern from *:
    """
    static const double MBROS_FREELY = 1e30;
    """
    const double FREELY "MBROS_FREELY"          # 1/kg or 1/(kg m^2): of what has no inertia

cdef struct Rows:                # of an element, in W axes: as in springs.pxd
    Springs of
    Mat3 A
    Vec3 at
    Vec3 turn[6]
    Vec3 move[6]
    real rate[6]
    real bias[6]


cdef inline real turns(const Inertia* M) noexcept nogil:
    """1 / I about the centre of mass: trace^2 / (4 det) is no less than 1 over the least principal moment."""
    cdef real per_m = select(less(real(0.0), M.m), 1.0 / M.m, real(0.0))
    cdef real x = M.h.x, y = M.h.y, z = M.h.z
    cdef real xx = M.I.xx - per_m * (y * y + z * z), yy = M.I.yy - per_m * (x * x + z * z), zz = M.I.zz - per_m * (x * x + y * y)
    cdef real xy = M.I.xy + per_m * x * y, xz = M.I.xz + per_m * x * z, yz = M.I.yz + per_m * y * z
    cdef real det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    cdef real trace = xx + yy + zz
    return fmin(real(FREELY), select(less(real(0.0), det), 0.25 * trace * trace / det, real(FREELY)))


cdef inline void begin_loads(const ModelC* m, Work* s) noexcept nogil:
    """Of every body that has elements: z in s.F[body].t.x, and its 1 / I, which is found once, in t.y."""
    cdef const ForceElement* e
    cdef int i
    for i in range(m.ne):
        e = &m.elements[i]
        if may_be_stiff(e):
            s.F[e.body_a].t.x, s.F[e.body_a].t.y = real(0.0), real(-1.0)
            s.F[e.body_c].t.x, s.F[e.body_c].t.y = real(0.0), real(-1.0)


cdef inline void load(Work* s, int body, Vec3 p, real turning, real moving) noexcept nogil:
    """One more element, at p of the body: turning, moving are h^2 k / 4 + h d."""
    cdef const Inertia* M = &s.inertia[body]
    cdef real heavy = select(less(real(0.0), M.m), 1.0 / M.m, real(FREELY))
    cdef Vec3 arm = p - select(less(real(0.0), M.m), 1.0 / M.m, real(0.0)) * M.h
    if any(less(s.F[body].t.y, real(0.0))):
        s.F[body].t.y = turns(M)
    s.F[body].t.x = s.F[body].t.x + (turning * s.F[body].t.y + moving * (heavy + dot(arm, arm) * s.F[body].t.y))


cdef inline void loads_of(const ForceElement* e, const real* par, real h, real* turning, real* moving) noexcept nogil:
    """h^2 k / 4 + h d."""
    cdef real k[2]
    cdef real d[2]
    largest_constants(e, par, k, d)
    turning[0], moving[0] = 0.25 * h * h * k[0] + h * d[0], 0.25 * h * h * k[1] + h * d[1]


cdef inline void load_bodies(const ModelC* m, Work* s, real h) noexcept nogil:
    """z of every body that has elements."""
    cdef const ForceElement* e
    cdef real turning, moving
    cdef int i
    begin_loads(m, s)
    for i in range(m.ne):
        e = &m.elements[i]
        if may_be_stiff(e):
            loads_of(e, s.force_parameters + i * PARAMETERS, h, &turning, &moving)
            if e.body_a > 0:
                load(s, e.body_a, e.X_A.p, turning, moving)
            if e.body_c > 0:
                load(s, e.body_c, e.X_C.p, turning, moving)


cdef inline void weigh(const Inertia* M, Force* F) noexcept nogil:
    """What stays_soft() needs of a body: with J, m times the inertia about the centre of mass, m det J in F.t.y, (trace J)^2 / 4 in F.t.z
    and m^2 times it in F.f.x, det J in F.f.y. All of them zero where J is so thin, or so small beside m I, that it may be rounding."""
    cdef real x = M.h.x, y = M.h.y, z = M.h.z
    cdef real xx = M.m * M.I.xx - (y * y + z * z), yy = M.m * M.I.yy - (x * x + z * z), zz = M.m * M.I.zz - (x * x + y * y)
    cdef real xy = M.m * M.I.xy + x * y, xz = M.m * M.I.xz + x * z, yz = M.m * M.I.yz + y * z
    cdef real det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    cdef real trace = xx + yy + zz
    cdef bint sound = (value(M.m) > 0.0 and value(det) > 1e-6 * value(trace) * value(trace) * value(trace)
                       and value(trace) > 1e-6 * value(M.m) * value(M.I.xx + M.I.yy + M.I.zz))
    F.t.y, F.t.z, F.f.x, F.f.y = M.m * det, 0.25 * trace * trace, 0.25 * M.m * M.m * trace * trace, det
    if not sound:
        F.t.y = F.t.z = F.f.x = F.f.y = real(0.0)


cdef inline bint stays_soft(Work* s, int body, Vec3 p, real turning, real moving) noexcept nogil:
    """load() without a division, of z m det J in the place of z: whether z is below 1/4, by more than rounding. False also of doubt."""
    cdef Force* F = &s.F[body]
    cdef Vec3 arm = s.inertia[body].m * p - s.inertia[body].h
    if value(F.t.y) < 0.0:
        weigh(&s.inertia[body], F)
    F.t.x = F.t.x + (turning * F.f.x + moving * (F.f.y + dot(arm, arm) * F.t.z))
    return value(F.t.x) < 0.24 * value(F.t.y)


cdef inline bint all_soft(const ModelC* m, Work* s, real h) noexcept nogil:
    """Of one robot: whether it is sure that no share is above 0, as in most steps."""
    cdef const ForceElement* e
    cdef real turning, moving
    cdef int i
    begin_loads(m, s)
    for i in range(m.ne):
        e = &m.elements[i]
        if may_be_stiff(e):
            loads_of(e, s.force_parameters + i * PARAMETERS, h, &turning, &moving)
            if e.body_a > 0 and not stays_soft(s, e.body_a, e.X_A.p, turning, moving):
                return False
            if e.body_c > 0 and not stays_soft(s, e.body_c, e.X_C.p, turning, moving):
                return False
    return True


cdef inline bint share_out(const ModelC* m, Work* s, real h, real* share) noexcept nogil:
    """The share of every element that may be stiff; whether one of them is not zero. Uses s.F."""
    cdef const ForceElement* e
    cdef bint found = False
    cdef int lane
    cdef int i
    cdef int k = 0
    if LANES == 1 and not OF_NODES and all_soft(m, s, h):
        for i in range(m.nsprings):
            share[i] = real(0.0)
        return False
    load_bodies(m, s, h)
    for i in range(m.ne):
        e = &m.elements[i]
        if may_be_stiff(e):
            share[k] = fmin(real(1.0), fmax(real(0.0), 4.0 * fmax(s.F[e.body_a].t.x, s.F[e.body_c].t.x) - real(1.0)))
            for lane in range(1 if OF_DUALS else LANES):
                found |= (<const double*>&share[k])[lane] > 0.0
            k += 1
    return found


cdef inline void note_explicit(const ModelC* m, Work* s) noexcept nogil:
    """No element is implicit in this step, as far as the state's memory knows. What it had of one robot is kept for a step that leads
    nowhere (put_contacts_back() of contact.pxd)."""
    cdef Py_ssize_t at = (m.nt - m.nsprings) * TOUCH_COLUMNS * LANES
    cdef double* row = <double*>s.contact_memory + at
    cdef int k
    if LANES == 1 and s.contacts != NULL and s.contacts.before != NULL and not s.contacts.springs_kept:
        memcpy(s.contacts.before + at, row, m.nsprings * TOUCH_COLUMNS * sizeof(double))
        s.contacts.springs_kept = 1
    for k in range(m.nsprings):
        memset(row + (k * TOUCH_COLUMNS + EFFORT) * LANES, 0, LANES * sizeof(double))


cdef inline void forget_implicit(const ModelC* m, Work* s) noexcept nogil:
    """The same of a model without shapes and constraints: what is not known is not asked for."""
    cdef double* known = <double*>s.contact_memory + KNOWN * LANES
    cdef bint some = False
    cdef int lane
    for lane in range(LANES):
        some |= known[lane] != 0.0
    if some:
        note_explicit(m, s)
        memset(known, 0, LANES * sizeof(double))


cdef inline Vec vec_in(int lane, Vec3 x) noexcept nogil:
    return vec((<const double*>&x.x)[lane], (<const double*>&x.y)[lane], (<const double*>&x.z)[lane])


cdef inline void bias_of(const Work* s, const ForceElement* e, const Pose* X_A, const Pose* X_C, const Relative* r, Vec3* alpha,
                         Vec3* a) noexcept nogil:
    """How C moves away from A at vdot = 0, in W axes as A sees it: its turning, and that of Co against A's point there."""
    cdef Motion A_A = s.A_WB[e.body_a]
    cdef Motion A_C = s.A_WB[e.body_c]
    cdef Vec3 w_A = s.V_WB[e.body_a].w
    cdef Vec3 w_C = s.V_WB[e.body_c].w
    cdef Vec3 p = X_A.p + rotate(X_A.R, r.X.p)                     # from A's body to Co
    cdef Vec3 of_a = A_A.v + (cross(A_A.w, p) + cross(w_A, cross(w_A, p)))
    cdef Vec3 of_c = A_C.v + (cross(A_C.w, X_C.p) + cross(w_C, cross(w_C, X_C.p)))
    alpha[0] = A_C.w - A_A.w - cross(w_A, w_C - w_A)
    a[0] = of_c - of_a - 2.0 * cross(w_A, rotate(X_A.R, r.V.v))


cdef inline void rows_in_world(const Work* s, const ForceElement* e, const real* par, Rows* x) noexcept nogil:
    """The rows of one element. Accelerations at vdot = 0 are in place."""
    cdef Pose X_A
    cdef Pose X_C
    cdef Relative r
    cdef Vec3 alpha
    cdef Vec3 a
    cdef int i
    relative_motion(s, e, &X_A, &X_C, &r)
    evaluate_springs(e, par, &r, &x.of)
    bias_of(s, e, &X_A, &X_C, &r, &alpha, &a)
    x.A = X_A.R
    x.at = X_C.p + s.X_WB[e.body_c].p
    for i in range(x.of.n):
        x.turn[i], x.move[i] = rotate(X_A.R, x.of.axis[i].w), rotate(X_A.R, x.of.axis[i].v)
        x.rate[i] = dot(x.of.axis[i].w, r.V.w) + dot(x.of.axis[i].v, r.V.v)
        x.bias[i] = dot(x.turn[i], alpha) + dot(x.move[i], a)


cdef inline void write_rows(const Rows* x, int lane, double share, Spring* to) noexcept nogil:
    """Those that do something, of the robot in a lane."""
    cdef double k, d
    cdef int i
    to.n, to.share = 0, share
    to.at = vec_in(lane, x.at)
    to.A.x, to.A.y, to.A.z = vec_in(lane, column_x(x.A)), vec_in(lane, column_y(x.A)), vec_in(lane, column_z(x.A))
    for i in range(x.of.n if share > 0.0 else 0):
        k, d = (<const double*>&x.of.k[i])[lane], (<const double*>&x.of.d[i])[lane]
        if k > 0.0 or d > 0.0:
            to.turn[to.n], to.move[to.n] = vec_in(lane, x.turn[i]), vec_in(lane, x.move[i])
            to.k[to.n], to.d[to.n], to.x[to.n] = k, d, (<const double*>&x.of.x[i])[lane]
            to.rate[to.n], to.bias[to.n] = (<const double*>&x.rate[i])[lane], (<const double*>&x.bias[i])[lane]
            to.n += 1


cdef inline void fill_springs(const ModelC* m, Work* s) noexcept nogil:
    """The rows of all elements that may be stiff, whose shares are there."""
    cdef Rows x
    cdef int lane, i
    cdef int k = 0
    for i in range(m.ne):
        if may_be_stiff(&m.elements[i]):
            rows_in_world(s, &m.elements[i], s.force_parameters + i * PARAMETERS, &x)
            for lane in range(1 if OF_DUALS else LANES):
                write_rows(&x, lane, s.contacts.share[k * LANES + lane], &s.contacts.spring[lane * m.nsprings + k])
            k += 1
