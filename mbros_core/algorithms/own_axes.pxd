"""The axes in which the dynamics of one robot are traced (own_axes_dynamics.pxd): the bodies' own, where its constants stay constants.

Each body has the axes of its frame M, in which its inertia, its arms and its joint's columns are constant. Bodies joined by parallel
revolute axes, one after the other, share those of the last of them: nothing is turned between these, and the angles' sums are taken before
their sines. u_P = E Rz(turn) u_B leads from a body's axes to its parent's, E constant where the joint is revolute.             (1)

The origin Bo of a body with a revolute joint slides along its axis to where the arm from Po has a zero more, and all is taken about there.

Inertia is the second moment Sigma, the integral of p p^T dm, with I = trace(Sigma) 1 - Sigma, beside h, that of p dm, and m:

    Sigma_P = Sigma + p h_P^T + h p^T,   h_P = h + m p                                              (2)

What lies on the axis of a revolute joint moves with the parent as well: m, h_z and Sigma_zz of a body are given to its parent (base
parameters; Khalil and Dombre 2002, chapter 9), so that most masses are zero.
"""
from libc.math cimport fabs
from mbros_core.scalar.real cimport known, real, sincos, value
from mbros_core.joints.dispatch cimport REVOLUTE, place, place_other, quaternion_at
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (Force, Inertia, Mat3, Motion, Pose, Sym3, Vec3, column_z, compose, cross, force, from_columns,
                                 identity3, motion, rotate, rotate_sym, shift_force, sym_add, unrotate, vec3, zero3)
from mbros_core.engine.state cimport ModelC, Work


cdef struct Axes:
    int onward              # the body that shares them next, towards the last one; 0: this is the last
    bint shared             # with the parent
    Mat3 K                  # u = Rz(angle) K u_M
    real angle
    real s
    real c
    Mat3 E                  # (1)
    real s_turn
    real c_turn
    Vec3 p                  # from Po to Bo, in the parent's axes
    Vec3 slid               # from Mo to Bo, in M
    Vec3 p_P                # p in the frame M of the parent


cdef inline real angle_of(const Joint* j, const real* q) noexcept nogil:
    return j.ratio * q[j.iq] + j.offset if j.follows else q[j.iq]


cdef inline bint parallel(const Joint* j) noexcept nogil:
    """A revolute joint whose axis is the z axis of its parent."""
    return j.kind == REVOLUTE and value(j.X_PF.R.xz) == 0.0 and value(j.X_PF.R.yz) == 0.0 and value(j.X_PF.R.zz) in (-1.0, 1.0)


cdef inline int only_child(const ModelC* m, int i) noexcept nogil:
    cdef int k
    cdef int child = 0
    for k in range(i + 1, m.nb):
        if m.joints[k].parent == i:
            if child:
                return 0
            child = k
    return child


cdef inline Vec3 minus(Vec3 a) noexcept nogil:
    return vec3(-a.x, -a.y, -a.z)


cdef inline Vec3 turned(Vec3 a, real s, real c) noexcept nogil:
    """Rz a."""
    return vec3(c * a.x - s * a.y, s * a.x + c * a.y, a.z)


cdef inline Sym3 turned_sym(Sym3 A, real s, real c) noexcept nogil:
    """Rz A Rz^T, with one product of double angles."""
    cdef Sym3 T
    cdef real g = s * (A.xx - A.yy) + (c + c) * A.xy
    T.xx = A.xx - s * g
    T.yy = A.yy + s * g
    T.zz = A.zz
    T.xy = c * g - A.xy
    T.xz = c * A.xz - s * A.yz
    T.yz = s * A.xz + c * A.yz
    return T


cdef inline Mat3 turned_mat(Mat3 A, real s, real c) noexcept nogil:
    """The same of any matrix."""
    cdef Mat3 T
    cdef real g = s * (A.xx - A.yy) + c * (A.xy + A.yx)
    T.xx = A.xx - s * g
    T.yy = A.yy + s * g
    T.xy = c * g - A.yx
    T.yx = c * g - A.xy
    T.zz = A.zz
    T.xz = c * A.xz - s * A.yz
    T.yz = s * A.xz + c * A.yz
    T.zx = c * A.zx - s * A.zy
    T.zy = s * A.zx + c * A.zy
    return T


cdef inline Vec3 to_parent(const Axes* x, Vec3 a) noexcept nogil:
    return a if x.shared else rotate(x.E, turned(a, x.s_turn, x.c_turn))


cdef inline Vec3 from_parent(const Axes* x, Vec3 a) noexcept nogil:
    return a if x.shared else turned(unrotate(x.E, a), -x.s_turn, x.c_turn)


cdef inline Force force_to_parent(const Axes* x, Force F) noexcept nogil:
    """Turned, and taken about Po."""
    return shift_force(force(to_parent(x, F.t), to_parent(x, F.f)), x.p)


cdef inline Vec3 in_axes(const Axes* x, Vec3 a) noexcept nogil:
    """A vector of the frame M."""
    return turned(rotate(x.K, a), x.s, x.c)


cdef inline Sym3 moment_in_axes(const Axes* x, Sym3 A) noexcept nogil:
    return turned_sym(rotate_sym(x.K, A), x.s, x.c)


cdef inline Mat3 transposed(Mat3 R) noexcept nogil:
    return from_columns(vec3(R.xx, R.xy, R.xz), vec3(R.yx, R.yy, R.yz), vec3(R.zx, R.zy, R.zz))


cdef inline Mat3 congruent(Mat3 R, Mat3 A) noexcept nogil:
    return compose(compose(R, A), transposed(R))


cdef inline Pose at_identity() noexcept nogil:
    cdef Pose X
    X.R = identity3()
    X.p = zero3()
    return X


cdef inline void columns(const Joint* j, const Axes* x, const real* q, Motion* S) noexcept nogil:
    """H_FM in the body's axes, about Bo."""
    cdef Pose F = at_identity()
    cdef Pose X_FM
    cdef real neutral[7]
    cdef int k, w = quaternion_at(j.kind)
    if w >= 0:                                              # constant in M; R^T R would not fold
        for k in range(7):
            neutral[k] = real(0.0)
        neutral[w] = real(1.0)
        place_other(j, &F, neutral, &X_FM, S)
        return
    place(j, F, q, &X_FM, S)
    for k in range(j.nv):
        S[k] = motion(in_axes(x, unrotate(X_FM.R, S[k].w)), in_axes(x, unrotate(X_FM.R, S[k].v)))


cdef inline void slide(const Joint* j, Vec3 slid_P, Axes* x) noexcept nogil:
    """Where Bo is, and the arm to Mo and on to Bo, in the frame M of the parent."""
    cdef Vec3 axis = column_z(j.X_PF.R)
    cdef bint along_x = fabs(value(axis.x)) == 1.0
    cdef bint along_y = fabs(value(axis.y)) == 1.0
    cdef bint along_z = fabs(value(axis.z)) == 1.0
    x.slid = zero3()
    x.p_P = j.X_PF.p - slid_P
    if j.kind != REVOLUTE or not (along_x or along_y or along_z):
        return
    x.slid.z = -(x.p_P.x / axis.x if along_x else x.p_P.y / axis.y if along_y else x.p_P.z / axis.z)
    x.p_P = x.p_P + x.slid.z * axis         # of an axis that is turned by less than 1e-8 the other two change as well
    if along_x:
        x.p_P.x = real(0.0)
    elif along_y:
        x.p_P.y = real(0.0)
    else:
        x.p_P.z = real(0.0)


cdef inline void find_axes(const ModelC* m, const real* q, Work* s, Axes* axes) noexcept nogil:
    """Of all bodies; and the columns of all joints in them, in s.S."""
    cdef int i
    cdef const Joint* j
    cdef Axes* x
    cdef Pose X_FM
    cdef real sign
    axes[0].onward, axes[0].shared, axes[0].slid = 0, False, zero3()
    for i in range(m.nb - 1, 0, -1):
        x = &axes[i]
        x.onward = only_child(m, i) if m.joints[i].kind == REVOLUTE else 0
        x.K, x.angle = identity3(), real(0.0)
        if x.onward and parallel(&m.joints[x.onward]):
            j = &m.joints[x.onward]
            x.K = compose(axes[x.onward].K, transposed(j.X_PF.R))
            x.angle = axes[x.onward].angle - axes[x.onward].K.zz * angle_of(j, q)
        else:
            x.onward = 0
        sincos(x.angle, x.s, x.c)
    for i in range(1, m.nb):
        x, j = &axes[i], &m.joints[i]
        slide(j, axes[j.parent].slid, x)
        x.shared = axes[j.parent].onward == i
        x.s_turn, x.c_turn = real(0.0), real(1.0)
        if x.shared:
            x.E = identity3()
            x.p = in_axes(&axes[j.parent], x.p_P)
        elif j.kind == REVOLUTE:
            sign = x.K.zz
            x.E = compose(j.X_PF.R, transposed(x.K))
            sincos(sign * angle_of(j, q) - x.angle, x.s_turn, x.c_turn)
            x.p = x.p_P
        else:
            place(j, at_identity(), q, &X_FM, s.S + j.column)
            x.E = compose(j.X_PF.R, X_FM.R)
            x.p = x.p_P + rotate(j.X_PF.R, X_FM.p)
        columns(j, x, q, s.S + j.column)


# ------------------------------------------------------------------------------------------------------ inertia

cdef inline Sym3 moment_of(Sym3 I) noexcept nogil:
    """Sigma = 1/2 trace(I) 1 - I."""
    cdef Sym3 T
    T.xx = 0.5 * (I.yy + I.zz - I.xx)
    T.yy = 0.5 * (I.xx + I.zz - I.yy)
    T.zz = 0.5 * (I.xx + I.yy - I.zz)
    T.xy, T.xz, T.yz = -I.xy, -I.xz, -I.yz
    return T


cdef inline Sym3 inertia_of(Sym3 A) noexcept nogil:
    cdef Sym3 I
    I.xx, I.yy, I.zz = A.yy + A.zz, A.xx + A.zz, A.xx + A.yy
    I.xy, I.xz, I.yz = -A.xy, -A.xz, -A.yz
    return I


cdef inline Inertia shifted(Inertia M, Vec3 p) noexcept nogil:
    """Equation (2); I holds Sigma."""
    cdef Inertia r
    cdef Vec3 a = M.h + M.m * p
    cdef Vec3 b = M.h + a
    r.m = M.m
    r.h = a
    r.I.xx = M.I.xx + p.x * b.x
    r.I.yy = M.I.yy + p.y * b.y
    r.I.zz = M.I.zz + p.z * b.z
    r.I.xy = M.I.xy + (p.x * a.y + M.h.x * p.y)
    r.I.xz = M.I.xz + (p.x * a.z + M.h.x * p.z)
    r.I.yz = M.I.yz + (p.y * a.z + M.h.y * p.z)
    return r


cdef inline Inertia joined(Inertia A, Inertia B) noexcept nogil:
    cdef Inertia r
    r.m, r.h, r.I = A.m + B.m, A.h + B.h, sym_add(A.I, B.I)
    return r


cdef inline Force column_force(Inertia M, Motion S) noexcept nogil:
    """M S, with Sigma for I."""
    cdef Sym3 I = inertia_of(M.I)
    return force(vec3(I.xx * S.w.x + I.xy * S.w.y + I.xz * S.w.z,
                      I.xy * S.w.x + I.yy * S.w.y + I.yz * S.w.z,
                      I.xz * S.w.x + I.yz * S.w.y + I.zz * S.w.z) + cross(M.h, S.v),
                 M.m * S.v + cross(S.w, M.h))


cdef inline bint is_constant(Inertia M) noexcept nogil:
    return (known(M.m) and known(M.h.x) and known(M.h.y) and known(M.h.z) and known(M.I.xx) and known(M.I.yy) and known(M.I.zz)
            and known(M.I.xy) and known(M.I.xz) and known(M.I.yz))


cdef inline void find_inertias(const ModelC* m, const Axes* axes, Work* s) noexcept nogil:
    """Into s.M_W, in the bodies' axes, with Sigma for I. What may move with the parent is given to it."""
    cdef int i
    cdef Inertia on_axis
    cdef Inertia M
    cdef const Joint* j
    for i in range(m.nb):
        s.M_W[i] = s.inertia[i]
        s.M_W[i].I = moment_of(s.inertia[i].I)
        if i:
            s.M_W[i] = shifted(s.M_W[i], minus(axes[i].slid))
    for i in range(m.nb - 1, 0, -1):
        j, M = &m.joints[i], s.M_W[i]
        if j.kind == REVOLUTE and is_constant(M):
            on_axis.m, on_axis.h = M.m, vec3(real(0.0), real(0.0), M.h.z)
            on_axis.I.xx = on_axis.I.yy = on_axis.I.xy = on_axis.I.xz = on_axis.I.yz = real(0.0)
            on_axis.I.zz = M.I.zz
            M.m = M.h.z = M.I.zz = real(0.0)
            if j.parent > 0:
                on_axis.h, on_axis.I = rotate(j.X_PF.R, on_axis.h), rotate_sym(j.X_PF.R, on_axis.I)
                s.M_W[j.parent] = joined(s.M_W[j.parent], shifted(on_axis, axes[i].p_P))
        s.M_W[i].m = M.m
        s.M_W[i].h = in_axes(&axes[i], M.h)
        s.M_W[i].I = moment_in_axes(&axes[i], M.I)
