"""What every kind of constraint says, at one configuration and velocity: the contract of ball.pxd, weld.pxd, hinge.pxd,
distance.pxd, universal.pxd, slider.pxd.

A kind is a function of the motion of frame B against frame A (Relative) that fills in what is held (Held):

    gap         residual g of each row, m or rad: zero where the constraint is kept
    axes, rows  the Jacobian: row k is the velocity of Bo against A's point there along n, t, s (k < 3), or the angular velocity of B in A
                along them (k >= 3); its rows are the first ones, unless dispatch.pxd says which. Impulses act at Bo, so that they cancel
                to rounding
    bias        dJ/dt v: what is left of the second derivative of g at vdot = 0
    potential   EQUALITY, or ONE_SIDED where g may be positive (potentials.pxd)

A coupler acts on two coordinates and has no frames (coupler.pxd). Which kinds there are: dispatch.pxd, kinds.py.
"""
from mbros_core.constraints.columns cimport Axes
from mbros_core.constraints.robot cimport HELD_COLUMNS, Robot, Tree, body_frame, vector_at
from mbros_core.geometry.vec cimport Frame, Vec, cross, place, rotate, vec

cdef struct Constraint:
    int kind
    int index                 # its row among the numbers of constraints
    int flag                  # of a distance: 1 where it is a rope; of a coupler: 1 where its residual is a length
    int body_a                # compiled bodies; 0: the world
    int body_b
    Frame X_A                 # of the frames on them
    Frame X_B
    int iq[2]                 # coordinates in q and v, where it acts on coordinates; else -1
    int iv[2]

cdef struct Relative:
    Frame A                   # X_WA
    Frame B
    Vec r                     # p_AoBo_W
    Vec w_A                   # angular velocity of A in W
    Vec w                     # of B against A
    Vec v                     # velocity of Bo against the point of A there
    Vec alpha                 # their derivatives seen in A, at vdot = 0
    Vec a

cdef struct Held:
    int rows
    int lengths               # how many of the rows are lengths; the others are angles
    int potential
    Axes axes
    double gap[6]
    double bias[6]


cdef inline double number_of(const Constraint* c, const Robot* r, int column) noexcept nogil:
    """One of its numbers, as kinds.py has them."""
    return r.held[(HELD_COLUMNS * c.index + column) * r.stride]


cdef inline Frame on_body(const Robot* r, int body, const Frame* X) noexcept nogil:
    """X_WF of a frame on a body."""
    cdef Frame B = body_frame(r, body)
    cdef Frame out
    out.R.x, out.R.y, out.R.z = rotate(B.R, X.R.x), rotate(B.R, X.R.y), rotate(B.R, X.R.z)
    out.p = place(B, X.p)
    return out


cdef struct PointMotion:      # of a point of a body, with the body's own turning; accelerations at vdot = 0
    Vec w
    Vec v
    Vec alpha
    Vec a

cdef inline PointMotion motion_at(const Tree* m, const Robot* r, int body, Vec p) noexcept nogil:
    """Of the body's point at p. The acceleration is what the joints on the way to the root leave of it (algorithms/kinematics.pxd)."""
    cdef PointMotion x
    cdef const double* V = r.V_WB + 6 * body * r.stride
    cdef const double* Ab
    cdef Vec origin = body_frame(r, body).p
    cdef Vec alpha
    x.w = x.v = x.alpha = x.a = vec(0.0, 0.0, 0.0)
    if body == 0:
        return x
    x.w = vector_at(V, r.stride)
    x.v = vector_at(V + 3 * r.stride, r.stride) + cross(x.w, p - origin)
    x.a = cross(x.w, cross(x.w, p - origin))
    while body > 0:
        Ab = r.Ab_WB + 6 * body * r.stride
        alpha = vector_at(Ab, r.stride)
        x.alpha = x.alpha + alpha
        x.a = x.a + vector_at(Ab + 3 * r.stride, r.stride) + cross(alpha, p - body_frame(r, body).p)
        body = m.parent[body]
    return x


cdef inline Relative motion_between(const Constraint* c, const Tree* m, const Robot* r) noexcept nogil:
    """Of frame B against frame A."""
    cdef Relative x
    cdef PointMotion of_a
    cdef PointMotion of_b
    x.A, x.B = on_body(r, c.body_a, &c.X_A), on_body(r, c.body_b, &c.X_B)
    x.r = x.B.p - x.A.p
    of_a, of_b = motion_at(m, r, c.body_a, x.B.p), motion_at(m, r, c.body_b, x.B.p)
    x.w_A = of_a.w
    x.w, x.v = of_b.w - of_a.w, of_b.v - of_a.v
    x.alpha = of_b.alpha - of_a.alpha - cross(of_a.w, x.w)
    x.a = of_b.a - of_a.a - 2.0 * cross(of_a.w, x.v)
    return x


cdef inline void along(const Axes* A, Vec x, double* out) noexcept nogil:
    """The three components of a vector in W along the axes."""
    out[0] = A.n.x * x.x + A.n.y * x.y + A.n.z * x.z
    out[1] = A.t.x * x.x + A.t.y * x.y + A.t.z * x.z
    out[2] = A.s.x * x.x + A.s.y * x.y + A.s.z * x.z
