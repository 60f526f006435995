# How far frames of a model are from their targets, and how that changes with the joints. Included before inverse_kinematics.pxi.
#
# Of frame F and its target T, X_TF = X_WT^-1 X_WF has to become the identity. The residual of a target is
#
#     e = weight * [w; p],   exp(w) = R_TF,   p = p_TF                                                    (1)
#     de = weight * [J_l(w)^-1 R_WT^T w_WF; R_WT^T v_WF],   J_l(w)^-1 = 1 - 1/2 [w] + c [w]^2             (2)
#
# so its Jacobian A is exact at any distance.

from libc.math cimport fmax as larger, sqrt as root, tan


cdef struct Targets:
    ModelC* m
    Work* s                     # q, and the poses there, are written
    int n                       # targets
    int na                      # unknowns
    int* frame                  # (n) row of the frame table
    int* active                 # (na) velocity coordinate of each unknown
    double* weight              # (n, 6) of [rotation; position] in the target's axes
    Pose* X_WT                  # (n)
    real* J                     # (6, nv) scratch
    double* e                   # (n, 6)
    double* A                   # (n, 6, na) de = A d, d: velocities of the unknowns
    double E                    # |e|^2 / 2
    double position_error       # m, the largest of those that have a weight
    double rotation_error       # rad


cdef void residual(Targets* t, const double* q) noexcept nogil:
    """Equation (1) at q: e, E and the largest errors, of the axes that have a weight."""
    cdef ModelC* m = t.m
    cdef Work* s = t.s
    cdef Pose X
    cdef double x[6]
    cdef double* e
    cdef double* weight
    cdef int i, k
    memcpy(s.q, q, m.nq * sizeof(double))
    positions(m, s)
    t.E = t.position_error = t.rotation_error = 0.0
    for i in range(t.n):
        X = compose_poses(s.X_WB[m.frame_body[t.frame[i]]], m.X_BF[t.frame[i]])
        X = inverse_times(t.X_WT[i], X)
        rotation_vector(X.R, x)
        x[3], x[4], x[5] = value(X.p.x), value(X.p.y), value(X.p.z)
        e, weight = t.e + 6 * i, t.weight + 6 * i
        for k in range(6):
            e[k] = weight[k] * x[k]
            t.E += 0.5 * e[k] * e[k]
            x[k] = x[k] if weight[k] > 0.0 else 0.0
        t.rotation_error = larger(t.rotation_error, norm_of(x, 3))
        t.position_error = larger(t.position_error, norm_of(x + 3, 3))


cdef void linearize(Targets* t) noexcept nogil:
    """Equation (2): A (6 k, na) at the configuration of the last residual."""
    cdef ModelC* m = t.m
    cdef Work* s = t.s
    cdef real* J = t.J
    cdef Pose X_WF, X_TF
    cdef Vec3 w, a, b
    cdef real c
    cdef double x[3]
    cdef double* A
    cdef double* weight
    cdef int i, j, k, body, n = m.nv, na = t.na
    for i in range(t.n):
        body = m.frame_body[t.frame[i]]
        X_WF = compose_poses(s.X_WB[body], m.X_BF[t.frame[i]])
        X_TF = inverse_times(t.X_WT[i], X_WF)
        rotation_vector(X_TF.R, x)
        w, c = vec3(real(x[0]), real(x[1]), real(x[2])), real(cotangent_term(norm_of(x, 3)))
        jacobian(m, body, rotate(s.X_WB[body].R, m.X_BF[t.frame[i]].p), J, s)
        A, weight = t.A + 6 * i * na, t.weight + 6 * i
        for k in range(na):
            j = t.active[k]
            a = unrotate(t.X_WT[i].R, vec3(J[j], J[n + j], J[2 * n + j]))
            b = cross(w, a)
            a = a + (-0.5 * b + c * cross(w, b))
            b = unrotate(t.X_WT[i].R, vec3(J[3 * n + j], J[4 * n + j], J[5 * n + j]))
            A[k] = weight[0] * value(a.x)
            A[na + k] = weight[1] * value(a.y)
            A[2 * na + k] = weight[2] * value(a.z)
            A[3 * na + k] = weight[3] * value(b.x)
            A[4 * na + k] = weight[4] * value(b.y)
            A[5 * na + k] = weight[5] * value(b.z)


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
