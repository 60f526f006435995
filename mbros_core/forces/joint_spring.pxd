"""Spring on one joint coordinate (Drake's RevoluteSpring and PrismaticSpring; a torsion spring on a revolute joint).

tau = -k (q - q0) - c v.
"""
from mbros_core.scalar.real cimport real
from mbros_core.forces.element cimport ForceOut


cdef struct JointSpringNumbers:
    real position                # q0, rad or m
    real stiffness               # k, N m/rad or N/m
    real damping                 # c, N m s/rad or N s/m


cdef inline void joint_spring_coordinate(const JointSpringNumbers* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real x = q - par.position
    out.tau = -(par.stiffness * x + par.damping * v)
    out.C = par.damping
    out.K = par.stiffness
    out.energy = 0.5 * par.stiffness * x * x
    out.conservative = -(par.stiffness * x * v)
    out.nonconservative = -(par.damping * v * v)


cdef inline void joint_spring_slopes(const JointSpringNumbers* par, real* by_q, real* by_v) noexcept nogil:
    by_q[0], by_v[0] = -par.stiffness, -par.damping
