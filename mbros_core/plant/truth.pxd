"""What sensors see: found from the plant, for those that ask for it (plant/sensors/dispatch.pxd)."""
from mbros_core.constraints.touch cimport FORCE, NORMAL, POINT, TORQUE, TOUCH_COLUMNS, shapes_of, touches_in
from mbros_core.plant.device cimport Cut, Devices
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.plant.sensors.sensor cimport Sensor, Truth


cdef inline void cross(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


cdef inline void place_of(const mbros_inside* p, const Sensor* s, double* R, double* arm) noexcept nogil:
    """Axes of the sensor in the world's, and from the body's origin to the sensor's, world axes."""
    cdef const double* X = p.X_WB + 12 * s.body
    cdef int i, k
    for i in range(3):
        arm[i] = X[3 * i] * s.X_BS[9] + X[3 * i + 1] * s.X_BS[10] + X[3 * i + 2] * s.X_BS[11]
        for k in range(3):
            R[3 * i + k] = X[3 * i] * s.X_BS[k] + X[3 * i + 1] * s.X_BS[3 + k] + X[3 * i + 2] * s.X_BS[6 + k]


cdef inline void along(const double* R, const double* x, double* out) noexcept nogil:
    """R^T x."""
    cdef int i
    for i in range(3):
        out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]


cdef inline void see_frame(const mbros_inside* p, const Sensor* s, Truth* t) noexcept nogil:
    """Pose, velocity, and f = a - g. After kinematics(), with accelerations where f is asked for."""
    cdef const double* V = p.V_WB + 6 * s.body
    cdef const double* A = p.A_WB + 6 * s.body
    cdef double arm[3]
    cdef double turn[3]
    cdef double u[3]
    cdef double f[3]
    cdef int i
    place_of(p, s, t.R, arm)
    cross(V, arm, turn)
    for i in range(3):
        t.p[i] = p.X_WB[12 * s.body + 9 + i] + arm[i]
        u[i] = V[3 + i] + turn[i]
    cross(V, turn, f)
    cross(A, arm, turn)
    for i in range(3):
        f[i] += A[3 + i] + turn[i] - p.gravity[i]
    along(t.R, V, t.w)
    along(t.R, u, t.u)
    along(t.R, f, t.f)


cdef inline void add_at(const double* origin, double sign, const double* torque, const double* force, const double* point,
                        double* F) noexcept nogil:
    """F += sign times a wrench at a point, about the origin."""
    cdef double arm[3]
    cdef double turn[3]
    cdef int i
    for i in range(3):
        arm[i] = point[i] - origin[i]
    cross(arm, force, turn)
    for i in range(3):
        F[i] += sign * (torque[i] + turn[i])
        F[3 + i] += sign * force[i]


cdef inline void turned(const double* R, const double* I, const double* x, double* out) noexcept nogil:
    """R I R^T x."""
    cdef double u[3]
    cdef int i
    along(R, x, u)
    for i in range(3):
        out[i] = 0.0
    for i in range(3):
        x_plus(I[3 * i] * u[0] + I[3 * i + 1] * u[1] + I[3 * i + 2] * u[2], R + i, out)


cdef inline void x_plus(double k, const double* column, double* out) noexcept nogil:
    out[0] += k * column[0]
    out[1] += k * column[3]
    out[2] += k * column[6]


cdef inline void cut_wrench(const mbros_inside* p, int body, const Cut* c, double* F) noexcept nogil:
    """What a weld within a body exerts on the part beyond it, about the body's origin, world axes: Newton and Euler for this part, less what
    contacts do to it, and what the joints exert that stand on it."""
    cdef const double* X = p.X_WB + 12 * body
    cdef const double* w = p.V_WB + 6 * body
    cdef const double* A = p.A_WB + 6 * body
    cdef const double* row = p.contact_memory
    cdef double r[3]
    cdef double at[3]
    cdef double turn[3]
    cdef double spin[3]
    cdef double force[3]
    cdef double torque[3]
    cdef int i, k, a, b, sign
    for i in range(3):
        r[i] = X[3 * i] * c.com[0] + X[3 * i + 1] * c.com[1] + X[3 * i + 2] * c.com[2]
        at[i] = X[9 + i] + r[i]
        F[i] = F[3 + i] = 0.0
    cross(w, r, turn)
    cross(w, turn, spin)
    cross(A, r, turn)
    for i in range(3):
        force[i] = c.mass * (A[3 + i] + turn[i] + spin[i])
    turned(X, c.inertia, w, turn)
    cross(w, turn, spin)
    turned(X, c.inertia, A, torque)
    for i in range(3):
        torque[i] += spin[i]
    add_at(X + 9, 1.0, torque, force, at, F)
    for k in range(p.nb):
        if c.bodies[k]:
            add_at(X + 9, 1.0, p.carried_F + 6 * k, p.carried_F + 6 * k + 3, p.X_WB + 12 * k + 9, F)
    if p.ns:
        for k in range(touches_in(p.contact_memory, 1, p.most_touches)):
            row += TOUCH_COLUMNS
            if not shapes_of(row, 1, p.ns, &a, &b):
                continue
            sign = c.shapes[b] - c.shapes[a]
            if sign:
                add_at(X + 9, -sign, row + TORQUE, row + FORCE, row + POINT, F)


cdef inline void see_wrench(const Devices* d, const mbros_inside* p, const Sensor* s, Truth* t) noexcept nogil:
    """After carried()."""
    cdef const double* F = p.carried_F + 6 * s.body
    cdef double arm[3]
    cdef double torque[3]
    cdef double weld[6]
    cdef int i
    if s.cut >= 0:
        cut_wrench(p, s.body, &d.cuts[s.cut], weld)
        F = weld
    place_of(p, s, t.R, arm)
    cross(arm, F + 3, torque)
    for i in range(3):
        torque[i] = F[i] - torque[i]
    along(t.R, F + 3, t.wrench)
    along(t.R, torque, t.wrench + 3)


cdef inline void see_contacts(const mbros_inside* p, const Sensor* s, Truth* t) noexcept nogil:
    cdef const double* row = p.contact_memory
    cdef int k, a, b
    t.press = 0.0
    for k in range(touches_in(p.contact_memory, 1, p.most_touches)):
        row += TOUCH_COLUMNS
        if shapes_of(row, 1, p.ns, &a, &b) and (s.shape in (a, b) or (s.shape < 0 and s.body in (p.shape_body[a], p.shape_body[b]))):
            t.press += row[FORCE] * row[NORMAL] + row[FORCE + 1] * row[NORMAL + 1] + row[FORCE + 2] * row[NORMAL + 2]
