"""Mass centre, momentum and energy."""
from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (Force, Inertia, Vec3, add_inertia, cross, dot, force, inertia_times, power, rotate, rotate_inertia,
                                 shift_force, shift_inertia, zero3, zero_force)
from mbros_core.engine.state cimport ModelC, Work


cdef inline real total_mass(const ModelC* m, const Work* s) noexcept nogil:
    cdef real mass = real(0.0)
    cdef int i
    for i in range(1, m.nb):
        if not m.joints[i].grounded:
            mass = mass + s.inertia[i].m
    return mass


cdef inline Vec3 center_of_mass(const ModelC* m, const Work* s) noexcept nogil:
    """p_WoScm_W = sum(m p_WBcm) / sum(m). Bodies welded to the world do not count."""
    cdef Vec3 mp = zero3()
    cdef int i
    for i in range(1, m.nb):
        if m.joints[i].grounded:
            continue
        mp = mp + (s.inertia[i].m * s.X_WB[i].p + rotate(s.X_WB[i].R, s.inertia[i].h))
    return (1.0 / total_mass(m, s)) * mp


cdef inline void center_of_mass_jacobian(const ModelC* m, real* J, Work* s) noexcept nogil:
    """J (3, nv): v_WScm = J v. A joint moves its whole subtree: column = (m v + w x h) / total, with the composite m, h."""
    cdef const Joint* j
    cdef Vec3 c
    cdef real per_mass = 1.0 / total_mass(m, s)
    cdef int n = m.nv
    cdef int i, k
    for k in range(3 * n):
        J[k] = real(0.0)
    for i in range(1, m.nb):
        s.M_W[i].m = s.inertia[i].m
        s.M_W[i].h = rotate(s.X_WB[i].R, s.inertia[i].h)
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        for k in range(j.nv):
            c = per_mass * (s.M_W[i].m * s.S[j.column + k].v + cross(s.S[j.column + k].w, s.M_W[i].h))
            J[j.iv + k] = J[j.iv + k] + c.x
            J[n + j.iv + k] = J[n + j.iv + k] + c.y
            J[2 * n + j.iv + k] = J[2 * n + j.iv + k] + c.z
        if j.parent > 0:
            s.M_W[j.parent].h = s.M_W[j.parent].h + (s.M_W[i].h + s.M_W[i].m * s.p_PB_W[i])
            s.M_W[j.parent].m = s.M_W[j.parent].m + s.M_W[i].m


cdef inline Force centroidal_momentum(const ModelC* m, const Work* s) noexcept nogil:
    """L_SScm_W: angular momentum about the system's centre of mass, then linear momentum, in W axes."""
    cdef Force L = zero_force()
    cdef Vec3 c = center_of_mass(m, s)
    cdef Inertia M
    cdef int i
    for i in range(1, m.nb):
        M = rotate_inertia(s.X_WB[i].R, s.inertia[i])
        L = L + shift_force(inertia_times(M, s.V_WB[i]), s.X_WB[i].p - c)
    return L


cdef inline real kinetic_energy(const ModelC* m, const Work* s) noexcept nogil:
    """Sum of 1/2 V . M V over the bodies, and 1/2 J v^2 of the rotors."""
    cdef real E = real(0.0)
    cdef Inertia M
    cdef int i
    for i in range(1, m.nb):
        M = rotate_inertia(s.X_WB[i].R, s.inertia[i])
        E = E + power(s.V_WB[i], inertia_times(M, s.V_WB[i]))
    for i in range(m.nv):
        E = E + s.rotor_inertia[i] * s.v[i] * s.v[i]
    return 0.5 * E


cdef inline real gravity_energy(const ModelC* m, const Work* s) noexcept nogil:
    """-sum(m g . p_WBcm) over what can move: zero when every centre of mass is at the world's origin."""
    cdef real E = real(0.0)
    cdef Vec3 mp
    cdef int i
    for i in range(1, m.nb):
        if m.joints[i].grounded:
            continue
        mp = s.inertia[i].m * s.X_WB[i].p + rotate(s.X_WB[i].R, s.inertia[i].h)
        E = E - dot(s.gravity[0], mp)
    return E
