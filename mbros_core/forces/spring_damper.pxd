"""Linear spring and damper between two points, Ao and Co (Drake's LinearSpringDamper).

f = k (l - l0) + c ldot along the line, pulling the points together when positive. Energy 1/2 k (l - l0)^2.
No direction, hence no force, at zero length.
"""
from mbros_core.scalar.pack cimport PACK, pack, spread
from mbros_core.scalar.pack3 cimport Vec3s, alike, load3, save3
from mbros_core.scalar.real cimport NAN, less, real, select, sqrt
from mbros_core.forces.element cimport (ALONG_MOVE, ALONG_V, BY_Q_F, BY_Q_T, BY_V_F, BY_V_T, ROWS_ALONG, ForceOut, Relative, Springs)
from mbros_core.spatial cimport Vec3, dot, force, motion, zero3


cdef struct SpringDamperNumbers:
    real free_length             # l0, m
    real stiffness               # k, N/m
    real damping                 # c, N s/m


cdef inline void spring_damper_pair(const SpringDamperNumbers* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef Vec3 p = r.X.p
    cdef real length = sqrt(dot(p, p))
    cdef real per_length = select(less(length, real(1e-12)), real(0.0), 1.0 / (length + real(1e-300)))
    cdef Vec3 direction = per_length * p
    cdef real stretch = length - par.free_length
    cdef real rate = dot(direction, r.V.v)
    cdef real pull = par.stiffness * stretch
    cdef real drag = par.damping * rate
    out.F = force(zero3(), -(pull + drag) * direction)
    out.energy = 0.5 * pull * stretch
    out.conservative = -(pull * rate)
    out.nonconservative = -(drag * rate)


cdef inline void spring_damper_springs(const SpringDamperNumbers* par, const Relative* r, Springs* out) noexcept nogil:
    cdef real length = sqrt(dot(r.X.p, r.X.p))
    cdef real per_length = select(less(length, real(1e-12)), real(0.0), 1.0 / (length + real(1e-300)))
    out.n = 1
    out.axis[0] = motion(zero3(), per_length * r.X.p)
    out.x[0], out.k[0], out.d[0] = length - par.free_length, par.stiffness, par.damping


cdef inline void spring_damper_slopes(const SpringDamperNumbers* par, const Relative* r, real* along, int blocks) noexcept nogil:
    """With n the direction, df = -(k dl + c dldot) n - f dn, dl = n . dp, dn = (dp - n dl) / l, dldot = dn . v + n . dv. No number at
    zero length."""
    cdef real length = sqrt(dot(r.X.p, r.X.p))
    cdef real per_length = select(less(length, real(1e-12)), real(NAN), 1.0 / length)
    cdef Vec3 direction = per_length * r.X.p
    cdef Vec3s n = alike(direction), v = alike(r.V.v), move, dn
    cdef pack per_l = spread(per_length), k = spread(-par.stiffness), c = spread(-par.damping), dl
    cdef pack pull = spread(-(par.stiffness * (length - par.free_length) + par.damping * dot(direction, r.V.v)))
    cdef Vec3s nothing = alike(zero3())
    cdef real* at
    cdef int i
    for i in range(blocks):
        at = along + i * (ROWS_ALONG * PACK)
        move = load3(at, ALONG_MOVE)
        dl = dot(n, move)
        dn = per_l * (move - dl * n)
        save3(at, BY_Q_T, nothing)
        save3(at, BY_Q_F, (k * dl + c * (dot(dn, v) + dot(n, load3(at, ALONG_V)))) * n + pull * dn)
        save3(at, BY_V_T, nothing)
        save3(at, BY_V_F, c * dl * n)
