"""One robot as the engine hands it over: where its numbers are, and how the coordinates move its bodies.

The engine may hold several robots side by side in lanes: number k of an array of this one is x[k * stride].
"""
from mbros_core.geometry.vec cimport Frame, Vec, cross, square, vec

cdef enum:
    HELD_COLUMNS = 4             # numbers of a constraint (kinds.py)

cdef struct Tree:                # of a model: the same for all its robots
    int nb
    int nv
    int nq
    int shared                   # some joints share coordinates
    const int* parent            # (nb) a body's, smaller than its own number
    const int* iv                # (nb) first velocity coordinate of the joint that carries it
    const int* dofs              # (nb) how many that joint has
    const int* column            # (nb) where its motion-subspace columns start in S
    const int* before            # (nv) the coordinate before each on the way to the root, -1: none
    int branch                   # most coordinates that two bodies have on their ways to the root

cdef struct Robot:
    int stride
    const double* X_WB           # (nb, 12) R row-major, then p
    const double* V_WB           # (nb, 6)
    const double* A_WB           # (nb, 6) how they change while the coordinates' velocities stay: A_WB of vdot = 0
    double later                 # s, from where poses and columns are taken to the end of the step
    const double* S              # (nc, 6) columns of H_FM about Bo, W axes: [w; v]
    const double* Ab_WB          # (nb, 6) what is left of each body's acceleration against its parent's at vdot = 0
    const double* q              # (nq)
    const double* held           # (nk, HELD_COLUMNS) numbers of the constraints
    double sag                   # what of h dJ/dt v a step makes up for (hold.pxd)
    const double* lock           # (nv) 1: the coordinate is held; 2: it is prescribed
    const double* given          # (nv) side by side: what prescribed ones get, velocity, acceleration or way
    const double* numbers        # (ns, CONTACT_COLUMNS) of the shapes
    const double* M              # (nv, nv) side by side whatever the stride, with what an implicit step adds to its diagonal, but for what joint
                                 # friction adds that holds (w.sticking)
    const double* v_start        # (nv)
    double* a                    # (nv) in: acceleration without contact; out: with it
    double* memory               # the state's memory of its contacts (touch.pxd); NULL: nothing is kept


cdef extern from *:
    """
    static const double MBROS_CREEP = 1e-12;
    """
    const double CREEP "MBROS_CREEP"          # m/s or rad/s, at which all of a joint's friction would move it where it holds


cdef inline Vec vector_at(const double* x, int stride) noexcept nogil:
    return vec(x[0], x[stride], x[2 * stride])

cdef inline Frame body_frame(const Robot* r, int body) noexcept nogil:
    """X_WB."""
    cdef Frame X
    cdef const double* x = r.X_WB + 12 * body * r.stride
    cdef int n = r.stride
    if n == 1:                   # addresses that are known
        X.R.x, X.R.y, X.R.z, X.p = vec(x[0], x[3], x[6]), vec(x[1], x[4], x[7]), vec(x[2], x[5], x[8]), vec(x[9], x[10], x[11])
        return X
    X.R.x, X.R.y, X.R.z = vec(x[0], x[3 * n], x[6 * n]), vec(x[n], x[4 * n], x[7 * n]), vec(x[2 * n], x[5 * n], x[8 * n])
    X.p = vector_at(x + 9 * n, n)
    return X

cdef inline Vec origin(const Robot* r, int body) noexcept nogil:
    """p_WoBo_W."""
    return vector_at(r.X_WB + (12 * body + 9) * r.stride, r.stride)

cdef inline Vec angular_velocity(const Robot* r, int body) noexcept nogil:
    return vector_at(r.V_WB + 6 * body * r.stride, r.stride)

cdef inline double turning_time(const Robot* r, int body) noexcept nogil:
    """r.later, and less of it where the body turns by a radian in it: what turns on for long comes back."""
    return r.later / (1.0 + r.later * r.later * square(angular_velocity(r, body)) / 6.0)

cdef inline Vec bias_angular(const Robot* r, int body) noexcept nogil:
    """What the angular velocity of a body gains until the end of the step because the columns of H_FM turn."""
    return turning_time(r, body) * vector_at(r.A_WB + 6 * body * r.stride, r.stride)

cdef inline Vec bias_linear(const Robot* r, int body, Vec point) noexcept nogil:
    """The same of the velocity at a point that goes along with the body without turning: of a contact point on a wheel."""
    cdef Vec change = vector_at(r.A_WB + (6 * body + 3) * r.stride, r.stride)
    return turning_time(r, body) * change + cross(bias_angular(r, body), point - origin(r, body))

cdef inline Vec point_velocity(const Robot* r, int body, Vec point) noexcept nogil:
    """Of the point of a body at p_WoQ_W."""
    return vector_at(r.V_WB + (6 * body + 3) * r.stride, r.stride) + cross(angular_velocity(r, body), point - origin(r, body))

cdef inline Vec angular_column(const Robot* r, int column) noexcept nogil:
    return vector_at(r.S + 6 * column * r.stride, r.stride)

cdef inline Vec column_at(const Robot* r, int column, Vec w, Vec from_origin) noexcept nogil:
    """Velocity of the point at p_BoP_W of the body, for a unit velocity of the coordinate; w: its angular part."""
    return vector_at(r.S + (6 * column + 3) * r.stride, r.stride) + cross(w, from_origin)
