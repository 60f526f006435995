"""Frame Jacobians: V_WQ = J v for the point Q, one column per velocity coordinate, expressed in W.

The column of a joint is its motion-subspace column shifted from the body's origin to Q; only the joints between Q and the
root have one. Coordinates shared by several joints add up. Cost: O(depth).
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Mat3, Motion, Vec3, shift_motion, unrotate, vec3
from mbros_core.engine.state cimport ModelC, Work


cdef inline void jacobian(const ModelC* m, int body, Vec3 p_BQ_W, real* J, const Work* s) noexcept nogil:
    """J (6, nv) row-major, rows [angular; linear], overwritten. Positions are in place."""
    cdef const Joint* j
    cdef Motion c
    cdef Vec3 p = p_BQ_W
    cdef int n = m.nv
    cdef int i = body
    cdef int k
    for k in range(6 * n):
        J[k] = real(0.0)
    while i > 0:
        j = &m.joints[i]
        for k in range(j.nv):
            c = shift_motion(s.S[j.column + k], p)
            J[j.iv + k] = J[j.iv + k] + c.w.x
            J[n + j.iv + k] = J[n + j.iv + k] + c.w.y
            J[2 * n + j.iv + k] = J[2 * n + j.iv + k] + c.w.z
            J[3 * n + j.iv + k] = J[3 * n + j.iv + k] + c.v.x
            J[4 * n + j.iv + k] = J[4 * n + j.iv + k] + c.v.y
            J[5 * n + j.iv + k] = J[5 * n + j.iv + k] + c.v.z
        p = p + s.p_PB_W[i]
        i = j.parent


cdef inline void unrotate_rows(Mat3 R_WF, real* J, int n) noexcept nogil:
    """Three rows of n columns re-expressed from W in F."""
    cdef Vec3 c
    cdef int k
    for k in range(n):
        c = unrotate(R_WF, vec3(J[k], J[n + k], J[2 * n + k]))
        J[k] = c.x
        J[n + k] = c.y
        J[2 * n + k] = c.z
