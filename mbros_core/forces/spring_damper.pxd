"""Linear spring and damper between two points, Ao and Co (Drake's LinearSpringDamper).

f = k (l - l0) + c ldot along the line, pulling the points together when positive. Energy 1/2 k (l - l0)^2.
Parameters: free length l0 (m), stiffness k (N/m), damping c (N s/m). No direction, hence no force, at zero length.
"""
from mbros_core.real cimport less, real, select, sqrt
from mbros_core.forces.element cimport ForceOut, Relative, Springs
from mbros_core.spatial cimport Vec3, dot, force, motion, scale, zero3


cdef inline void spring_damper_pair(const real* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef Vec3 p = r.X.p
    cdef real length = sqrt(dot(p, p))
    cdef real per_length = select(less(length, real(1e-12)), real(0.0), 1.0 / (length + real(1e-300)))
    cdef Vec3 direction = scale(per_length, p)
    cdef real stretch = length - par[0]
    cdef real rate = dot(direction, r.V.v)
    cdef real pull = par[1] * stretch
    cdef real drag = par[2] * rate
    out.F = force(zero3(), scale(-(pull + drag), direction))
    out.energy = 0.5 * pull * stretch
    out.conservative = -(pull * rate)
    out.nonconservative = -(drag * rate)


cdef inline void spring_damper_springs(const real* par, const Relative* r, Springs* out) noexcept nogil:
    cdef real length = sqrt(dot(r.X.p, r.X.p))
    cdef real per_length = select(less(length, real(1e-12)), real(0.0), 1.0 / (length + real(1e-300)))
    out.n = 1
    out.axis[0] = motion(zero3(), scale(per_length, r.X.p))
    out.x[0], out.k[0], out.d[0] = length - par[0], par[1], par[2]
