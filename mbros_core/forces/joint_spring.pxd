"""Spring on one joint coordinate (Drake's RevoluteSpring and PrismaticSpring; a torsion spring on a revolute joint).

tau = -k (q - q0) - c v.  Parameters: q0 (rad or m), k (N m/rad or N/m), c (N m s/rad or N s/m).
"""
from mbros_core.scalar.real cimport real
from mbros_core.forces.element cimport ForceOut


cdef inline void joint_spring_coordinate(const real* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real x = q - par[0]
    out.tau = -(par[1] * x + par[2] * v)
    out.C = par[2]
    out.K = par[1]
    out.energy = 0.5 * par[1] * x * x
    out.conservative = -(par[1] * x * v)
    out.nonconservative = -(par[2] * v * v)


cdef inline void joint_spring_slopes(const real* par, real* by_q, real* by_v) noexcept nogil:
    by_q[0], by_v[0] = -par[1], -par[2]
