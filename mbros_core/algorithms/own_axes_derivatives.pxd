"""Derivatives of the dynamics of one robot as they are traced (traced.pxi): equations (1) to (7) of inverse_dynamics_derivatives.pxd in the
axes of own_axes.pxd, about each body's Bo, where most entries of columns are zero.

The rates of all that a joint carries are one matrix beside the momentum l: with p from Bo to a point that moves with u,

    G = 2 integral of p u^T dm,  l = 2 integral of u dm,  K = tr(G) 1 - G,   2 B x = [K^T x_w; x_w x l],  P = 2 B^T S = K S_w + l x S_v   (1)

About the parent's Po, at r from there, G + r l^T. Columns are then carried to the root one after the other, and paired with those that they
pass. Forward dynamics: -M^-1 times these, by M = L^T D L (own_axes_mass_matrix.pxd). Cost: O(nv depth), O(nv^2 depth). Only traces run
this: it may allocate.
"""
from libc.stdlib cimport calloc, free, malloc
from mbros_core.scalar.real cimport copy, real
from mbros_core.forces.passive cimport passive_slopes
from mbros_core.joints.dispatch cimport OTHERWISE, column_slope, columns_turn
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (Force, Inertia, Mat3, Motion, Vec3, add_matrices, cross, cross_motion, dot, force, from_rows, motion,
                                 outer, power, rotate, shift_motion, unrotate, vec3, zero3)
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.inverse_dynamics_derivatives cimport not_turning
from mbros_core.algorithms.own_axes cimport (Axes, column_force, congruent, find_axes, find_inertias, force_to_parent, from_parent, in_axes,
                                             joined, minus, to_parent, turned_mat)
from mbros_core.algorithms.own_axes_dynamics cimport applied_in_axes, forces_in_world, newton_euler
from mbros_core.algorithms.own_axes_mass_matrix cimport carried_to_parent, composite_bodies, factor_from_leaves, solve_factored
from mbros_core.algorithms.turning_columns cimport turn_column


cdef struct Rates:          # of a body and of all that it carries, about Bo
    Mat3 G
    Vec3 l
    Mat3 N                  # of applied wrenches (inverse_dynamics_derivatives.pxd)
    Vec3 f

cdef struct Moved:          # a column: what V and A of the bodies beyond change by, with its q and its v
    Motion eta
    Motion zeta
    Motion xi

cdef struct Carried:        # what a column's own motion asks for, on its way to the root
    Force U
    Vec3 P
    Force by_q
    Force by_v
    Vec3 turn               # applied wrenches, which do not turn with the bodies


cdef inline Mat3 plus_multiple(Mat3 A, real x) noexcept nogil:
    """A + x 1."""
    A.xx = A.xx + x
    A.yy = A.yy + x
    A.zz = A.zz + x
    return A


cdef inline Rates own_rates(const Inertia* M, Motion V, Force applied, Vec3 p) noexcept nogil:
    """Of one body: G = 2 (Sigma [w]^T + h v^T). applied: about Mo, which is at p from Bo."""
    cdef Rates r
    V = 2.0 * V
    r.G = add_matrices(from_rows(cross(V.w, vec3(M.I.xx, M.I.xy, M.I.xz)), cross(V.w, vec3(M.I.xy, M.I.yy, M.I.yz)),
                                 cross(V.w, vec3(M.I.xz, M.I.yz, M.I.zz))), outer(M.h, V.v))
    r.l = M.m * V.v + cross(V.w, M.h)
    r.N = not_turning(applied.t, applied.f, p)
    r.f = applied.f
    return r


cdef inline Mat3 mat_to_parent(const Axes* x, Mat3 A) noexcept nogil:
    return A if x.shared else congruent(x.E, turned_mat(A, x.s_turn, x.c_turn))


cdef inline Rates rates_with(const Axes* x, Rates P, Rates r) noexcept nogil:
    """The parent's with those of what it carries."""
    cdef Vec3 l = to_parent(x, r.l)
    cdef Vec3 f = to_parent(x, r.f)
    P.G = add_matrices(P.G, add_matrices(mat_to_parent(x, r.G), outer(x.p, l)))
    P.N = add_matrices(P.N, add_matrices(mat_to_parent(x, r.N), plus_multiple(outer(minus(f), x.p), dot(x.p, f))))
    P.l, P.f = P.l + l, P.f + f
    return P


cdef inline Mat3 rate_matrix(Mat3 G) noexcept nogil:
    """K of (1)."""
    return from_rows(vec3(G.yy + G.zz, -G.xy, -G.xz), vec3(-G.yx, G.xx + G.zz, -G.yz), vec3(-G.zx, -G.zy, G.xx + G.yy))


cdef inline Force rate_force(const Rates* r, Vec3 w) noexcept nogil:
    """2 B x of (1)."""
    return force(unrotate(rate_matrix(r.G), w), cross(w, r.l))


cdef inline Carried carried(const Inertia* M, const Rates* r, Motion S, const Moved* x, Force F) noexcept nogil:
    """Equations (4) and (5) of inverse_dynamics_derivatives.pxd."""
    cdef Carried c
    c.U = column_force(M[0], S)
    c.P = rotate(rate_matrix(r.G), S.w) + cross(r.l, S.v)
    c.by_v = rate_force(r, S.w) + column_force(M[0], x.xi)
    c.by_q = rate_force(r, x.eta.w) + column_force(M[0], x.zeta)
    c.by_q = c.by_q + force(cross(S.w, F.t) + cross(S.v, F.f), cross(S.w, F.f))
    c.by_q = c.by_q + force(rotate(r.N, S.w), cross(S.w, r.f))
    c.turn = unrotate(r.N, S.w) + cross(r.f, S.v)
    return c


cdef inline void carry(const Axes* x, Carried* c) noexcept nogil:
    c.U, c.by_q, c.by_v = force_to_parent(x, c.U), force_to_parent(x, c.by_q), force_to_parent(x, c.by_v)
    c.P, c.turn = to_parent(x, c.P), to_parent(x, c.turn)


cdef inline void add_to(real* A, Py_ssize_t at, real x) noexcept nogil:
    A[at] = A[at] + x


cdef inline void move_columns_of_body(const Joint* j, const Motion* S, const real* v, const real* vdot, Motion V_P, Motion A_P, Motion V,
                                      Motion A, Moved* to) noexcept nogil:
    """eta, zeta and xi of a joint's columns."""
    cdef int k
    for k in range(j.nv):
        if columns_turn(j.kind) == OTHERWISE:
            turn_column(j, S, S, v, vdot, V_P, V, A, k, &to[k].eta, &to[k].zeta, &to[k].xi)
            continue
        to[k].eta = cross_motion(V_P, S[k])
        to[k].zeta = cross_motion(A_P, S[k]) + cross_motion(V_P, to[k].eta)
        to[k].xi = to[k].eta + cross_motion(V, S[k])


cdef inline void move_all(const ModelC* m, const real* vdot, const Axes* axes, Moved* moved, Rates* rates, Work* s) noexcept nogil:
    """After newton_euler: the columns of all joints, and every body's own rates; accelerations become spatial ones about Bo."""
    cdef int i, k
    cdef const Joint* j
    cdef const Axes* x
    cdef Motion V_P, A_P
    for i in range(1, m.nb):
        j, x = &m.joints[i], &axes[i]
        V_P, A_P = shift_motion(s.V_WB[j.parent], x.p), shift_motion(s.A_WB[j.parent], x.p)
        V_P = motion(from_parent(x, V_P.w), from_parent(x, V_P.v))
        A_P = motion(from_parent(x, A_P.w), from_parent(x, A_P.v))
        s.V_WB[i].v = V_P.v
        for k in range(j.nv):
            s.V_WB[i].v = s.V_WB[i].v + s.v[j.iv + k] * s.S[j.column + k].v
        s.A_WB[i].v = s.A_WB[i].v - cross(s.V_WB[i].w, s.V_WB[i].v)
        move_columns_of_body(j, s.S + j.column, s.v + j.iv, vdot + j.iv, V_P, A_P, s.V_WB[i], s.A_WB[i], moved + j.column)
        rates[i] = own_rates(&s.M_W[i], s.V_WB[i], applied_in_axes(x, i, zero3(), s), in_axes(x, minus(x.slid)))


cdef inline void pair(const ModelC* m, int b, int of, const Moved* moved, const Carried* c, bint beyond, real* by_q, real* by_v, real* M,
                      Work* s) noexcept nogil:
    """Equations (6) and (7): coordinate `of`, whose column is c, with the columns of the joint of body b, which is its own or carries it."""
    cdef Py_ssize_t n = m.nv
    cdef const Joint* a = &m.joints[b]
    cdef Motion S
    cdef const Moved* x
    cdef int k, l
    for k in range(a.nv):
        S, x, l = s.S[a.column + k], &moved[a.column + k], a.iv + k
        add_to(M, of * n + l, power(S, c.U))
        add_to(by_q, of * n + l, power(x.zeta, c.U) + dot(S.w, c.turn) + dot(x.eta.w, c.P))
        add_to(by_v, of * n + l, power(x.xi, c.U) + dot(S.w, c.P))
        if beyond:
            add_to(M, l * n + of, power(S, c.U))
            add_to(by_q, l * n + of, power(S, c.by_q))
            add_to(by_v, l * n + of, power(S, c.by_v))


cdef inline void pair_all(const ModelC* m, const Axes* axes, const Moved* moved, Rates* rates, real* by_q, real* by_v, real* M,
                          Work* s) noexcept nogil:
    """Of every column, with those of its joint and on its way to the root; s.M_W and rates become those of all that is carried."""
    cdef int i, k, l, b
    cdef const Joint* j
    cdef Motion* S
    cdef Carried c
    for i in range(m.nb - 1, 0, -1):
        j, S = &m.joints[i], s.S + m.joints[i].column
        for k in range(j.nv):
            c = carried(&s.M_W[i], &rates[i], S[k], &moved[j.column + k], s.F[i])
            pair(m, i, j.iv + k, moved, &c, False, by_q, by_v, M, s)
            for l in range(j.nv if columns_turn(j.kind) == OTHERWISE else 0):
                add_to(by_q, (j.iv + l) * <Py_ssize_t>m.nv + j.iv + k,
                       power(column_slope(j, S, S, k, l) - cross_motion(S[k], S[l]), s.F[i]))
            b = i
            while m.joints[b].parent > 0:
                carry(&axes[b], &c)
                b = m.joints[b].parent
                pair(m, b, j.iv + k, moved, &c, True, by_q, by_v, M, s)
        if j.parent > 0:
            s.M_W[j.parent] = joined(s.M_W[j.parent], carried_to_parent(&axes[i], s.M_W[i]))
            rates[j.parent] = rates_with(&axes[i], rates[j.parent], rates[i])


cdef inline void differentiate(const ModelC* m, const real* vdot, real* x, const Axes* axes, Work* s) noexcept nogil:
    """tau under vdot into x (nv,), and below it dtau/dq, dtau/dv and dtau/dvdot. Inertias are in s.M_W."""
    cdef Py_ssize_t n = m.nv, i
    cdef real* by_q = x + n
    cdef real* by_v = by_q + n * n
    cdef real* M = by_v + n * n
    cdef real* slopes = <real*>calloc(2 * n + 1, sizeof(real))
    cdef Moved* moved = <Moved*>malloc((m.nc + 1) * sizeof(Moved))
    cdef Rates* rates = <Rates*>calloc(m.nb, sizeof(Rates))
    newton_euler(m, vdot, x, axes, s)
    for i in range(3 * n * n):
        by_q[i] = real(0.0)
    move_all(m, vdot, axes, moved, rates, s)
    pair_all(m, axes, moved, rates, by_q, by_v, M, s)
    passive_slopes(m, s, slopes, slopes + n)
    for i in range(n):
        x[i] = x[i] + s.rotor_inertia[i] * vdot[i] - s.passive[i]
        add_to(by_q, i * (n + 1), -slopes[i])
        add_to(by_v, i * (n + 1), -slopes[n + i])
        add_to(M, i * (n + 1), s.rotor_inertia[i])
    free(rates)
    free(moved)
    free(slopes)


cdef inline void inverse_derivatives_in_own_axes(const ModelC* m, const real* vdot, real* x, Work* s) noexcept nogil:
    """(1 + 3 nv, nv): tau and its derivatives by q, v and vdot, as of inverse_dynamics_derivatives.pxd. Passive torques are in place."""
    cdef Axes* axes = <Axes*>malloc(m.nb * sizeof(Axes))
    forces_in_world(m, s)
    find_axes(m, s.q, s, axes)
    find_inertias(m, axes, s)
    differentiate(m, vdot, x, axes, s)
    free(axes)


cdef inline void forward_derivatives_in_own_axes(const ModelC* m, const real* tau, real* x, Work* s) noexcept nogil:
    """(1 + 3 nv, nv): vdot and its derivatives by q, v and tau, as of forward_dynamics_derivatives.pxd. Passive torques are in place."""
    cdef Py_ssize_t n = m.nv, i, k, b
    cdef Axes* axes = <Axes*>malloc(m.nb * sizeof(Axes))
    cdef real* D = <real*>calloc(3 * n + 1, sizeof(real))
    cdef real* vdot = D + n
    cdef real* column = vdot + n
    forces_in_world(m, s)
    find_axes(m, s.q, s, axes)
    find_inertias(m, axes, s)
    newton_euler(m, NULL, vdot, axes, s)
    for i in range(n):
        vdot[i] = tau[i] + s.passive[i] - vdot[i]
    composite_bodies(m, s.L, axes, s)
    factor_from_leaves(m, s.L, D, s)
    solve_factored(n, s.L, D, vdot, n)
    find_inertias(m, axes, s)
    differentiate(m, vdot, x, axes, s)
    copy(x, vdot, n)
    for k in range(2 * n):
        b = n + (k // n) * n * n + k % n
        for i in range(n):
            column[i] = -x[b + i * n]
        solve_factored(n, s.L, D, column, n)
        for i in range(n):
            x[b + i * n] = column[i]
    for k in range(n):
        for i in range(n):
            column[i] = real(1.0 if i == k else 0.0)
        solve_factored(n, s.L, D, column, k + 1)
        for i in range(k + 1):
            x[n + 2 * n * n + i * n + k] = x[n + 2 * n * n + k * n + i] = column[i]
    free(D)
    free(axes)
