"""Forces on one body, at frame C fixed on it.

body_wrench   a constant wrench, in the axes of the world (in_body = 0) or of C (1). A constant force in the world has the
              potential -f . p; everything else is power brought in.
body_gravity  a gravity field of the body's own, beside the model's: m g at its centre of mass, potential -m g . p_WCcm.
              With g = -(model gravity) the body floats.
"""
from mbros_core.scalar.pack cimport PACK
from mbros_core.scalar.pack3 cimport Vec3s, alike, load3, save3
from mbros_core.scalar.real cimport real
from mbros_core.forces.element cimport ALONG_TURN, BY_Q_F, BY_Q_T, BY_V_F, BY_V_T, ROWS_ALONG, ForceOut, Relative
from mbros_core.spatial cimport Vec3, cross, dot, force, rotate, zero3


cdef struct BodyWrenchNumbers:
    Vec3 torque                  # N m
    Vec3 force                   # N
    real in_body                 # 0 or 1

cdef struct BodyGravityNumbers:
    real mass                    # m, kg
    Vec3 com                     # p_CoCcm_C, m
    Vec3 gravity                 # g, in W, m/s^2


cdef inline void body_wrench_body(const BodyWrenchNumbers* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef Vec3 t_W = par.in_body * rotate(r.X.R, par.torque) + (1.0 - par.in_body) * par.torque
    cdef Vec3 f_W = par.in_body * rotate(r.X.R, par.force) + (1.0 - par.in_body) * par.force
    out.F = force(t_W, f_W)
    out.energy = -((1.0 - par.in_body) * dot(par.force, r.X.p))
    out.conservative = (1.0 - par.in_body) * dot(par.force, r.V.v)
    out.nonconservative = dot(t_W, r.V.w) + par.in_body * dot(f_W, r.V.v)

cdef inline void body_gravity_body(const BodyGravityNumbers* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef Vec3 c = rotate(r.X.R, par.com)
    cdef Vec3 weight = par.mass * par.gravity
    out.F = force(cross(c, weight), weight)
    out.energy = -dot(weight, r.X.p + c)
    out.conservative = dot(weight, r.V.v + cross(r.V.w, c))
    out.nonconservative = real(0.0)


cdef inline void only_by_q(Vec3s t, Vec3s f, real* at) noexcept nogil:
    cdef Vec3s nothing = alike(zero3())
    save3(at, BY_Q_T, t)
    save3(at, BY_Q_F, f)
    save3(at, BY_V_T, nothing)
    save3(at, BY_V_F, nothing)


cdef inline void body_wrench_slopes(const BodyWrenchNumbers* par, const Relative* r, real* along, int blocks) noexcept nogil:
    """What is in C's axes turns with it."""
    cdef Vec3s t = alike(par.in_body * rotate(r.X.R, par.torque))
    cdef Vec3s f = alike(par.in_body * rotate(r.X.R, par.force))
    cdef Vec3s turn
    cdef real* at
    cdef int k
    for k in range(blocks):
        at = along + k * (ROWS_ALONG * PACK)
        turn = load3(at, ALONG_TURN)
        only_by_q(cross(turn, t), cross(turn, f), at)


cdef inline void body_gravity_slopes(const BodyGravityNumbers* par, const Relative* r, real* along, int blocks) noexcept nogil:
    """The centre of mass turns about Co."""
    cdef Vec3s c = alike(rotate(r.X.R, par.com))
    cdef Vec3s weight = alike(par.mass * par.gravity)
    cdef real* at
    cdef int k
    for k in range(blocks):
        at = along + k * (ROWS_ALONG * PACK)
        only_by_q(cross(cross(load3(at, ALONG_TURN), c), weight), alike(zero3()), at)
