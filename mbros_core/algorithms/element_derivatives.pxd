"""What force elements on bodies add to the derivatives of inverse dynamics.

An element's wrench F = (t, f) acts on C at Co, and its opposite on A, so that of the columns between the two, about Co and with sigma = 1
on the way to C and -1 on the way to A, those on both ways have none of it:

    T_i = sigma_i S_i,   tau_i = ... - T_i . F                                                                                   (1)

q of column j moves C against A by T_j, and the relative velocity, as A sees it, changes by

    W_j = sigma_j (S_j x V_C + eta_j),  and at Co, which moves, by w_AC x T_jv more;  by v: T_j                                  (2)

What the element makes of these, in A axes, says its kind (forces/element.pxd): dF. With E_j = dF + [T_jv x f; 0], the change of F about
where Co is now and in A axes, and X_j = T_j x* F, it changes in the world by E_j on the way to C; on the way to A, whose turning carries
F along, by E_j - X_j. S_i turns with q_j as well where i is of joint j or beyond it, on the same way. Together

    dtau_i/dq_j -= T_i . (E_j - X_j)     i to C: j to A, or of i's joint or nearer to the world than it; i to A: j to A beyond i's joint
    dtau_i/dq_j -= T_i . E_j             else                                                                                      (3)
    dtau_i/dv_j -= T_i . dF^v_j

Two bodies on different branches have entries between these, where M has none. Cost: O(depth^2) of the two ways, PACK columns at a time.
"""
from libc.string cimport memset

from mbros_core.scalar.pack cimport PACK, pack, unpack
from mbros_core.scalar.pack3 cimport Vec3s, alike, load3, save3, spread3
from mbros_core.scalar.real cimport real
from mbros_core.forces.apply cimport frame_on_body, relative_motion
from mbros_core.forces.dispatch cimport evaluate_body, evaluate_pair, wrench_slopes
from mbros_core.forces.element cimport (ALONG_MOVE, ALONG_TURN, ALONG_W, BY_Q_F, BY_Q_T, BY_V_F, BY_V_T, PARAMETERS, ROWS_ALONG, TURNED_F,
                                        TURNED_T, ForceElement, ForceOut, Relative)
from mbros_core.joints.dispatch cimport OTHERWISE, column_slope, columns_turn
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport (Force, Mat3, Motion, Pose, Vec3, cross, cross_motion, dot, force, identity3, motion, power, rotate,
                                 shift_motion, unrotate)
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport AT_ETA, AT_S, Columns, column, put_motion, take_motion

cdef struct Way:            # from a body of an element to where both ways meet
    int body
    Vec3 p                  # from O to Co
    real sign


cdef inline int meeting(const ModelC* m, int a, int c) noexcept nogil:
    """The last body that carries both; a < 0: the world."""
    if a < 0:
        return 0
    while a != c:
        if c > a:
            c = m.joints[c].parent
        else:
            a = m.joints[a].parent
    return a


cdef inline void see(const ModelC* m, const Work* s, const Columns* c, int k, Relative* r, Force* F, Mat3* R_WA, Motion* V_C, Way* to_a,
                     Way* to_c) noexcept nogil:
    """Element k as it is now: F about Co in A axes, V_C at Co in the world's."""
    cdef const ForceElement* e = &m.elements[k]
    cdef const real* par = s.force_parameters + k * PARAMETERS
    cdef Pose X_A
    cdef Pose X_C
    cdef Motion V
    cdef ForceOut out
    frame_on_body(s, e.body_c, &e.X_C, &X_C, V_C)
    to_c.body, to_c.p, to_c.sign = e.body_c, c.bodies[e.body_c].r + X_C.p, real(1.0)
    to_a.body, to_a.p, to_a.sign = 0, to_c.p, real(-1.0)
    if e.body_a < 0:
        r.X, r.V = X_C, V_C[0]
        r.X.p = s.X_WB[e.body_c].p + X_C.p
        R_WA[0] = identity3()
        evaluate_body(e.kind, par, r, &out)
    else:
        relative_motion(s, e, &X_A, &X_C, r)
        R_WA[0] = X_A.R
        evaluate_pair(e, par, r, &out)
        to_a.body, to_a.p = e.body_a, c.bodies[e.body_a].r + (X_A.p + rotate(X_A.R, r.X.p))
    F[0] = out.F


cdef inline Motion seen_from(const Mat3* R, Motion V) noexcept nogil:
    return motion(unrotate(R[0], V.w), unrotate(R[0], V.v))


cdef inline real* along_column(const Columns* c, int i) noexcept nogil:
    return c.along + (i // PACK) * (ROWS_ALONG * PACK) + i % PACK


cdef inline int walk(const ModelC* m, const Columns* c, const Way* way, int end, const Mat3* R_WA, Motion V_C, Vec3 w_AC,
                     int n) noexcept nogil:
    """T and W of the columns of a way, after the n of another; how many there are then."""
    cdef Motion S, W
    cdef real* to
    cdef int body = way.body
    cdef int k, first
    while body != end:
        first = n
        for k in range(c.first[body], c.own_end[body]):
            S = way.sign * shift_motion(take_motion(column(c, k), AT_S), way.p)
            W = way.sign * shift_motion(take_motion(column(c, k), AT_ETA), way.p)
            W = seen_from(R_WA, W + cross_motion(S, V_C))
            S = seen_from(R_WA, S)
            W.v = W.v + cross(w_AC, S.v)
            to = along_column(c, n)
            if n % PACK == 0:
                memset(to, 0, ROWS_ALONG * PACK * sizeof(real))
            put_motion(to, ALONG_TURN, S)
            put_motion(to, ALONG_W, W)
            c.path[n], c.joint_at[n] = k, first
            n += 1
        body = m.joints[body].parent
    return n


cdef inline void turn_and_move(Force F, real* along, int blocks) noexcept nogil:
    """E and X of (3)."""
    cdef Vec3s t = alike(F.t), f = alike(F.f), turn, away
    cdef real* at
    cdef int k
    for k in range(blocks):
        at = along + k * (ROWS_ALONG * PACK)
        turn, away = load3(at, ALONG_TURN), cross(load3(at, ALONG_MOVE), f)
        save3(at, BY_Q_T, load3(at, BY_Q_T) + away)
        save3(at, TURNED_T, cross(turn, t) + away)
        save3(at, TURNED_F, cross(turn, f))


cdef inline void pair_ways(const Columns* c, int n_c, int n, real* by_q, real* by_v, Py_ssize_t wide, bint spaced) noexcept nogil:
    """(3), where add_element_slopes() says. The first n_c columns are on the way to C."""
    cdef Vec3s turn, move
    cdef const real* own
    cdef const real* at
    cdef real y[PACK]
    cdef real x[PACK]
    cdef real z[PACK]
    cdef Py_ssize_t row, to
    cdef int i, j, k, l, from_, end
    for i in range(n):
        own = along_column(c, i)
        turn, move = spread3(own, ALONG_TURN), spread3(own, ALONG_MOVE)
        from_, end = (c.joint_at[i], n) if i < n_c else (n_c, c.joint_at[i])
        row = wide * (c.row[c.path[i]] if spaced else c.at[c.path[i]])
        for k in range((n + PACK - 1) // PACK):
            at = c.along + k * (ROWS_ALONG * PACK)
            unpack(y, dot(turn, load3(at, BY_Q_T)) + dot(move, load3(at, BY_Q_F)))
            unpack(x, dot(turn, load3(at, TURNED_T)) + dot(move, load3(at, TURNED_F)))
            unpack(z, dot(turn, load3(at, BY_V_T)) + dot(move, load3(at, BY_V_F)))
            for l in range(min(PACK, n - k * PACK)):
                j = c.path[k * PACK + l]
                to = row + (c.row[j] // PACK * (3 * PACK) + c.row[j] % PACK if spaced else c.at[j])
                by_q[to] = by_q[to] - (y[l] - x[l] if from_ <= k * PACK + l < end else y[l])
                by_v[to] = by_v[to] - z[l]


cdef inline void turn_otherwise(const ModelC* m, const Work* s, const Columns* c, const Way* way, int end, Force F, real* by_q,
                                Py_ssize_t wide, bint spaced) noexcept nogil:
    """(D_j S_i - S_j x S_i) . F in the joints that turn otherwise than with their bodies. F: about Co in the world's axes."""
    cdef const Joint* j
    cdef Motion S[MAX_NV]
    cdef Motion D
    cdef int body = way.body
    cdef int k, l, a, b
    cdef Py_ssize_t to
    while body != end:
        j = &m.joints[body]
        if columns_turn(j.kind) == OTHERWISE:
            for k in range(j.nv):
                S[k] = shift_motion(take_motion(column(c, c.first[body] + k), AT_S), way.p)
            for k in range(j.nv):
                for l in range(j.nv):
                    D = column_slope(j, s.S + j.column, S, k, l) - cross_motion(S[k], S[l])
                    a, b = c.first[body] + k, c.first[body] + l
                    to = wide * c.row[b] + c.row[a] // PACK * (3 * PACK) + c.row[a] % PACK if spaced else wide * c.at[b] + c.at[a]
                    by_q[to] = by_q[to] - way.sign * power(D, F)
        body = j.parent


cdef inline void add_element_slopes(const ModelC* m, const Work* s, const Columns* c, real* by_q, real* by_v, Py_ssize_t wide,
                                    bint spaced) noexcept nogil:
    """(3) of all elements on bodies into dtau/dq and dtau/dv, rows `wide` apart: by coordinates, or spaced as the rows of c.R. Columns have
    moved, positions and velocities are in place."""
    cdef const ForceElement* e
    cdef Relative r
    cdef Force F
    cdef Mat3 R_WA
    cdef Motion V_C
    cdef Way to_a, to_c
    cdef int k, n, n_c, end, blocks
    for k in range(m.ne):
        e = &m.elements[k]
        if e.iv >= 0:
            continue
        see(m, s, c, k, &r, &F, &R_WA, &V_C, &to_a, &to_c)
        end = meeting(m, e.body_a, e.body_c)
        n_c = walk(m, c, &to_c, end, &R_WA, V_C, r.V.w, 0)
        n = walk(m, c, &to_a, end, &R_WA, V_C, r.V.w, n_c)
        blocks = (n + PACK - 1) // PACK
        wrench_slopes(e.kind, s.force_parameters + k * PARAMETERS, &r, c.along, blocks)
        turn_and_move(F, c.along, blocks)
        pair_ways(c, n_c, n, by_q, by_v, wide, spaced)
        if c.irregular:
            F = force(rotate(R_WA, F.t), rotate(R_WA, F.f))
            turn_otherwise(m, s, c, &to_c, end, F, by_q, wide, spaced)
            turn_otherwise(m, s, c, &to_a, end, F, by_q, wide, spaced)
