"""Stops in smooth pieces. A stop pushes from one moment to the next: its damping acts at once where a limit is passed, and it lets go where
it would pull. Error-controlled steps want laws without jumps, so each coordinate goes on by the law of its piece, also a little beyond its
end, until a step is cut there (dormand_prince.pxd). Of a coordinate with limits, x being the depth beyond one, push = k x + c xdot:

    FREE      no stop            until x > 0
    PUSHED    tau = -side push   until push < 0
    LOOSE     no stop, x > 0     until x < 0, or push > 0
"""
from mbros_core.scalar.real cimport real, value
from mbros_core.forces.passive cimport coordinate_elements, damping_and_friction
from mbros_core.engine.state cimport ModelC, Work

cdef enum Piece:                # and the side beside it: +1 the upper limit, -1 the lower one
    FREE = 0
    PUSHED = 1
    LOOSE = 2

cdef struct Stop:               # of one velocity coordinate
    int piece
    int side


cdef inline bint has_stops(const ModelC* m, const Work* s, int i) noexcept nogil:
    return (m.q_of_v[i] >= 0 and value(s.lock[i]) == 0.0
            and (value(s.stop_stiffness[i]) > 0.0 or value(s.stop_damping[i]) > 0.0))


cdef inline double beyond(const ModelC* m, int i, int side, double q) noexcept nogil:
    cdef int iq = m.q_of_v[i]
    return q - value(m.q_upper[iq]) if side > 0 else value(m.q_lower[iq]) - q


cdef inline double push(const ModelC* m, const Work* s, int i, int side, double q, double v) noexcept nogil:
    return value(s.stop_stiffness[i]) * beyond(m, i, side, q) + side * value(s.stop_damping[i]) * v


cdef inline Stop piece_of(const ModelC* m, const Work* s, int i) noexcept nogil:
    """Where coordinate i is now."""
    cdef Stop at
    cdef double q
    at.piece, at.side = FREE, 1
    if has_stops(m, s, i):
        q = value(s.q[m.q_of_v[i]])
        at.side = -1 if beyond(m, i, -1, q) > 0.0 else 1
        if beyond(m, i, at.side, q) > 0.0:
            at.piece = PUSHED if push(m, s, i, at.side, q, value(s.v[i])) > 0.0 else LOOSE
    return at


cdef inline Stop piece_after(const ModelC* m, const Work* s, Stop at, int i, double q, double v) noexcept nogil:
    """The piece that begins where `at` has ended, with q and v at its end; `at` itself where it has not."""
    cdef Stop then = at
    cdef int side
    if at.piece == FREE:
        for side in range(1, -2, -2):
            if beyond(m, i, side, q) > 0.0:
                then.piece, then.side = PUSHED, side
    elif at.piece == PUSHED:
        if push(m, s, i, at.side, q, v) < 0.0:
            then.piece = LOOSE if beyond(m, i, at.side, q) > 0.0 else FREE
    elif beyond(m, i, at.side, q) < 0.0:
        then.piece = FREE
    elif push(m, s, i, at.side, q, v) > 0.0:
        then.piece = PUSHED
    return then


cdef inline double time_to_end(const ModelC* m, const Work* s, Stop at, Stop then, int i, double q, double v, double a) noexcept nogil:
    """To first order, s: how far from here `at` ends and `then` begins (negative: it is past); v and a: of coordinate i."""
    cdef double g
    cdef double rate
    if at.piece == PUSHED and then.piece == LOOSE or at.piece == LOOSE and then.piece == PUSHED:
        g = push(m, s, i, at.side, q, v)
        rate = at.side * (value(s.stop_stiffness[i]) * v + value(s.stop_damping[i]) * a)
    else:
        g = beyond(m, i, then.side, q)
        rate = then.side * v
    return -g / rate if rate != 0.0 else 0.0


cdef inline void smooth_torques(const ModelC* m, Work* s, const Stop* stops) noexcept nogil:
    """s.passive and s.D0 as passive_torques leaves them, each stop by the law of its piece."""
    cdef real C
    cdef int i
    for i in range(m.nv):
        damping_and_friction(s, i, s.v[i], &s.passive[i], &C)
        if stops[i].piece == PUSHED:
            s.passive[i] = s.passive[i] - real(stops[i].side * push(m, s, i, stops[i].side, value(s.q[m.q_of_v[i]]), value(s.v[i])))
        s.D0[i] = s.rotor_inertia[i]
    if m.ncoordinate:
        coordinate_elements(m, s, real(0.0))
