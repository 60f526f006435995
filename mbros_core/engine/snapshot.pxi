# What a plant says of itself: the numbers of a snapshot, as describe_snapshot() of plant_layout.pxi lays them out. Included by plug.pxi.

from libc.math cimport atan2, isfinite, sqrt as sqrt_double

from mbros_core.constraints.touch cimport TOUCH_COLUMNS, touches_in


cdef inline void write_transform(const Pose* X, double* out) noexcept nogil:
    """x y z qx qy qz qw of a pose; the quaternion from the largest of its four components (Shepperd 1978)."""
    cdef const double* R = <const double*>&X.R
    cdef double t[4]
    cdef int i, k = 0
    memcpy(out, &X.p, 3 * sizeof(double))
    t[0] = 1.0 + R[0] - R[4] - R[8]
    t[1] = 1.0 - R[0] + R[4] - R[8]
    t[2] = 1.0 - R[0] - R[4] + R[8]
    t[3] = 1.0 + R[0] + R[4] + R[8]
    for i in range(1, 4):
        if t[i] > t[k]:
            k = i
    cdef double a = 0.5 * sqrt_double(t[k])
    cdef double b = 0.25 / a
    if k == 0:
        out[3], out[4], out[5], out[6] = a, b * (R[1] + R[3]), b * (R[2] + R[6]), b * (R[7] - R[5])
    elif k == 1:
        out[3], out[4], out[5], out[6] = b * (R[1] + R[3]), a, b * (R[5] + R[7]), b * (R[2] - R[6])
    elif k == 2:
        out[3], out[4], out[5], out[6] = b * (R[2] + R[6]), b * (R[5] + R[7]), a, b * (R[3] - R[1])
    else:
        out[3], out[4], out[5], out[6] = b * (R[7] - R[5]), b * (R[2] - R[6]), b * (R[3] - R[1]), a


cdef inline void write_seen_touches(const PlantC* c, double* x) noexcept nogil:
    """The head of the state's contacts and the first of them, rows of constraints/touch.pxd; zeros after them."""
    cdef const double* memory = <const double*>c.s.contact_memory
    cdef int rows = 1 + touches_in(memory, 1, c.seen_touches)
    memcpy(x, memory, rows * TOUCH_COLUMNS * sizeof(double))
    memset(x + rows * TOUCH_COLUMNS, 0, (1 + c.seen_touches - rows) * TOUCH_COLUMNS * sizeof(double))


cdef void write_snapshot(PlantC* c, double* x) noexcept nogil:
    """The present snapshot, finite or not."""
    cdef Work* s = c.s
    cdef ModelC* m = c.m
    cdef int nq = m.nq, nv = m.nv, nj = c.nj
    cdef const JointRow* row
    cdef Pose X
    cdef int i
    positions(m, s)
    velocities(m, s)
    c.stage[0] = STAGE_NONE
    memcpy(x, s.q, nq * sizeof(double))
    memcpy(x + nq, s.v, nv * sizeof(double))
    memcpy(x + nq + nv, c.effort, nv * sizeof(double))
    x += nq + 2 * nv
    for i in range(nj):
        row = &c.joints[i]
        x[i] = row.ratio * (atan2(value(s.q[row.iq + 1]), value(s.q[row.iq])) if row.pair else value(s.q[row.iq])) + row.offset
        x[nj + i] = row.ratio * value(s.v[row.iv])
        x[2 * nj + i] = c.effort[row.iv] if row.drives else 0.0
    x += 3 * nj
    for i in range(c.npairs):
        X = inverse_times(compose_poses(s.X_WB[m.frame_body[c.pairs[i].a]], m.X_BF[c.pairs[i].a]),
                          compose_poses(s.X_WB[m.frame_body[c.pairs[i].b]], m.X_BF[c.pairs[i].b]))
        write_transform(&X, x)
        x += 7
    x[0] = value(kinetic_energy(m, s))
    x[1] = value(gravity_energy(m, s) + stop_energy(m, s) + elements_energy(m, s) + energy_in_touch(m, s))
    x[2] = c.clamped
    x[3] = c.fault
    x[4] = c.fault_index
    if c.m.ns or c.m.nk:
        write_seen_touches(c, x + 5)


cdef int plant_observe(void* self, double* x) noexcept nogil:
    """Write the snapshot and return 0; or k + 1 where its entry k is not finite, and then nothing is written."""
    cdef PlantC* c = <PlantC*>self
    cdef int k
    write_snapshot(c, c.seen)
    if not all_finite(<real*>c.seen, c.snapshot_size):
        for k in range(c.snapshot_size):
            if not isfinite(c.seen[k]):
                return k + 1
    memcpy(x, c.seen, c.snapshot_size * sizeof(double))
    return 0
