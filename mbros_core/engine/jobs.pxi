# What is computed of many points in one call, over lanes or over dual numbers: an algorithm by name, and its result as plain numbers.
# Their names, what each reads and what it is given are in algorithms/registry.py.

cdef enum What:
    MASS_MATRIX
    GRAVITY_TORQUES
    CENTER_OF_MASS
    COM_JACOBIAN
    FRAME_POSE
    FRAME_JACOBIAN
    BIAS_TORQUES
    CORIOLIS_TORQUES
    PASSIVE_TORQUES
    KINETIC_ENERGY
    POTENTIAL_ENERGY
    CENTROIDAL_MOMENTUM
    FRAME_VELOCITY
    FORWARD_DYNAMICS
    INVERSE_DYNAMICS
    FRAME_ACCELERATION
    FORCE_ELEMENT
    VELOCITY_TO_QDOT
    QDOT_TO_VELOCITY
    STEP
    FORWARD_DYNAMICS_DERIVATIVES
    INVERSE_DYNAMICS_DERIVATIVES

agree("algorithms/registry.py", [row.name for row in algorithms.ROWS], "the enum of jobs.pxi", dict(
    mass_matrix=MASS_MATRIX, gravity_torques=GRAVITY_TORQUES, center_of_mass=CENTER_OF_MASS, com_jacobian=COM_JACOBIAN,
    frame_pose=FRAME_POSE, frame_jacobian=FRAME_JACOBIAN, bias_torques=BIAS_TORQUES, coriolis_torques=CORIOLIS_TORQUES,
    passive_torques=PASSIVE_TORQUES, kinetic_energy=KINETIC_ENERGY, potential_energy=POTENTIAL_ENERGY,
    centroidal_momentum=CENTROIDAL_MOMENTUM, frame_velocity=FRAME_VELOCITY, forward_dynamics=FORWARD_DYNAMICS,
    inverse_dynamics=INVERSE_DYNAMICS, frame_acceleration=FRAME_ACCELERATION, force_element=FORCE_ELEMENT,
    velocity_to_qdot=VELOCITY_TO_QDOT, qdot_to_velocity=QDOT_TO_VELOCITY, step=STEP,
    forward_dynamics_derivatives=FORWARD_DYNAMICS_DERIVATIVES, inverse_dynamics_derivatives=INVERSE_DYNAMICS_DERIVATIVES))


cdef struct Job:
    int what                        # of What
    bint moving                     # the result depends on velocities
    bint given                      # a vector is given with it
    int k                           # frame or force element, -1 where none is asked for
    int relative_to                 # of a pose: a frame, -1 for the world
    bint local                      # of a Jacobian: in the frame's own axes
    double dt
    int integrator


cdef Job job_of(str who, object what, dict among) except *:
    """An algorithm, one of `among` (rows by name), of nothing in particular."""
    cdef Job job
    if not isinstance(what, str) or what not in among:
        raise UnknownNameError(f"{who}: no algorithm {short(what)}; there are {', '.join(among)}")
    row = among[what]
    memset(&job, 0, sizeof(job))
    job.what, job.moving, job.given = algorithms.NUMBER[what], row.reads == "v", row.given != ""
    job.k = job.relative_to = -1
    return job


cdef int place_of(str who, str what, object k, int n) except -1:
    """k, the number of a frame or force element, when there are n."""
    if not 0 <= whole(k) < n:
        raise CoordinateIndexError(f"{who}: {what}: index {short(k)} is outside 0..{n - 1}")
    return k


cdef inline bint are_derivatives(const Job* job) noexcept nogil:
    """The analytic ones of tangents.pxi."""
    return job.what == FORWARD_DYNAMICS_DERIVATIVES or job.what == INVERSE_DYNAMICS_DERIVATIVES


cdef Py_ssize_t numbers_of(const ModelC* m, const Job* job) noexcept nogil:
    """How many numbers the result has."""
    cdef int what = job.what
    if what == MASS_MATRIX:
        return <Py_ssize_t>m.nv * m.nv
    if are_derivatives(job):
        return (1 + 3 * <Py_ssize_t>m.nv) * m.nv
    if what == FRAME_JACOBIAN:
        return 6 * <Py_ssize_t>m.nv
    if what == FRAME_POSE:
        return 12
    if what == FRAME_VELOCITY or what == FRAME_ACCELERATION or what == CENTROIDAL_MOMENTUM:
        return 6
    if what == COM_JACOBIAN:
        return 3 * <Py_ssize_t>m.nv
    if what == CENTER_OF_MASS:
        return 3
    if what == KINETIC_ENERGY or what == POTENTIAL_ENERGY:
        return 1
    return m.nv


cdef void compute(ModelC* m, Work* s, const Job* job, const real* given, real* out) noexcept nogil:
    """Write the result of an algorithm that batches have to `out`. given: tau or vdot, where its row says so."""
    cdef int what = job.what
    cdef Force L
    cdef Kernel kernel = NULL
    if m.kernels != NULL and (what == FORWARD_DYNAMICS or what == INVERSE_DYNAMICS or what == MASS_MATRIX):
        kernel = kernel_for(m, s, FORWARD_SLOT if what == FORWARD_DYNAMICS else INVERSE_SLOT if what == INVERSE_DYNAMICS else MASS_SLOT)
    if kernel != NULL:
        kernel(s, given, out, 0.0)
        return
    if what == FORWARD_DYNAMICS:
        vdot_under(m, given, out, s)
        if m.scene != NULL and m.nk:
            m.hold(m, s, out, AN_ACCELERATION, False)
        return
    if what == PASSIVE_TORQUES:
        passive_torques(m, s)
        copy_reals(out, s.passive, m.nv)
        return
    positions(m, s)
    if not job.moving:
        compute_at_rest(m, s, job, out)
        return
    velocities(m, s)
    if what == INVERSE_DYNAMICS:
        tau_for(m, given, out, s)
    elif what == BIAS_TORQUES or what == CORIOLIS_TORQUES:
        compute_bias(m, s, what == BIAS_TORQUES, out)
    elif what == KINETIC_ENERGY:
        out[0] = kinetic_energy(m, s)
    elif what == POTENTIAL_ENERGY:
        out[0] = gravity_energy(m, s) + stop_energy(m, s) + elements_energy(m, s) + contact_energy(m, s)
    elif what == CENTROIDAL_MOMENTUM:
        L = centroidal_momentum(m, s)
        copy_reals(out, <real*>&L, 6)
    else:
        compute_motion(m, s, job, given, out)


cdef void compute_at_rest(ModelC* m, Work* s, const Job* job, real* out) noexcept nogil:
    """What depends on positions alone; they are in place."""
    cdef Pose X
    cdef Vec3 c
    cdef int body
    if job.what == MASS_MATRIX:
        mass_matrix(m, out, s.rotor_inertia, s)
    elif job.what == GRAVITY_TORQUES:
        gravity_torques(m, out, s)
    elif job.what == CENTER_OF_MASS:
        c = center_of_mass(m, s)
        copy_reals(out, <real*>&c, 3)
    elif job.what == COM_JACOBIAN:
        center_of_mass_jacobian(m, out, s)
    else:
        body = m.frame_body[job.k]
        X = compose_poses(s.X_WB[body], m.X_BF[job.k])
        if job.what == FRAME_POSE:
            if job.relative_to >= 0:
                X = inverse_times(compose_poses(s.X_WB[m.frame_body[job.relative_to]], m.X_BF[job.relative_to]), X)
            copy_reals(out, <real*>&X, 12)
            return
        jacobian(m, body, rotate(s.X_WB[body].R, m.X_BF[job.k].p), out, s)
        if job.local:
            unrotate_rows(X.R, out, m.nv)
            unrotate_rows(X.R, out + 3 * m.nv, m.nv)


cdef void compute_bias(ModelC* m, Work* s, bint gravity, real* out) noexcept nogil:
    cdef Vec3 g = s.gravity[0]
    if not gravity:
        s.gravity[0] = zero3()
    bias_torques(m, out, s)
    s.gravity[0] = g


cdef void compute_motion(ModelC* m, Work* s, const Job* job, const real* vdot, real* out) noexcept nogil:
    """Velocity or acceleration of a frame's origin."""
    cdef int body = m.frame_body[job.k]
    cdef Vec3 p = rotate(s.X_WB[body].R, m.X_BF[job.k].p)
    cdef Motion V = shift_motion(s.V_WB[body], p)
    if job.what == FRAME_ACCELERATION:
        accelerations(m, vdot, s)
        V = shift_motion(s.A_WB[body], p)
        V.v = V.v + cross(s.V_WB[body].w, cross(s.V_WB[body].w, p))
    copy_reals(out, <real*>&V, 6)
