"""What the engine knows of a force element, and what every kind must be able to do: always all three of wrench (or
generalized force), stored energy and power.

A kind has one of these functions, by what its registry row says that it acts on; par are its tunable numbers, a struct whose fields
are those of the row, in their order.

A `pair` acts between frame A fixed on one body and frame C fixed on another, from what C does relative to A:

    KIND_pair(par, r, out)      r: X_AC; V_AC: w_AC and the velocity of Co as seen from A, in A axes;
                                out.F: wrench on C about Co in A axes
    KIND_springs(par, r, out)   the same wrench as springs and dampers, for steps that are implicit in them (stiff.pxd)

    KIND_slopes(par, r, along, blocks)
                                how out.F changes with what C does relative to A along the columns of blocks (of ROWS_ALONG rows, as
                                in pack3.pxd): with a turn of C, a move of Co, and changes of w_AC and v_AC (BY_Q_T, BY_Q_F), and with
                                changes of w_AC and v_AC by the same turn and move alone (BY_V_T, BY_V_F). With its case in
                                has_wrench_slopes; without, derivatives of its models are taken over dual numbers

The generic code (apply.pxd) adds it to C's body and its opposite to A's, each taken about its body's origin: action equals reaction for
every kind. A bushing's function also takes its law, a user's its struct in the place of par.

A `coordinate` element acts on one velocity coordinate, from its q and v:

    KIND_coordinate(par, q, v, out)      out.tau, and its slopes C = -d tau/d v, K = -d tau/d q for implicit steps: never negative, so
                                         that a part of tau that grows with v or q has no slope here
    KIND_slopes(par, q, v, by_q, by_v)   d tau/d q and d tau/d v as they are (of q and v what it needs); without them, and its case in
                                         has_coordinate_slopes, derivatives of its models are taken over dual numbers

A `body` element acts on one body at frame C, from C's pose and velocity in the world:

    KIND_body(par, r, out)      r: X_WC, V_WC in W axes;  out.F about Co in W axes
    KIND_slopes                 as of a pair, A being the world

All of them: out.energy is what the element stores (J); out.conservative the power that what is stored delivers (W), which is -d(energy)/dt
but under Drake's law of a bushing; out.nonconservative the power of the rest (W), which is never positive for dampers and friction and of
either sign for a wrench from outside.
"""
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport Force, Motion, Pose

cdef enum:
    PARAMETERS = 16          # tunable numbers of an element: the state's field force_parameters

cdef enum Along:             # rows of a column along which a wrench changes, three numbers each
    ALONG_TURN = 0           # of C against A, in A axes
    ALONG_MOVE = 3           # of Co
    ALONG_W = 6              # of w_AC
    ALONG_V = 9              # of v_AC
    BY_Q_T = 12              # the change of the wrench about Co with all four: torque,
    BY_Q_F = 15              # force,
    BY_V_T = 18              # and with w_AC and v_AC, by the first two
    BY_V_F = 21
    TURNED_T = 24            # and if it turned and moved with C (algorithms/element_derivatives.pxd)
    TURNED_F = 27
    ROWS_ALONG = 30

cdef struct ForceElement:
    int kind
    int body_a               # -1 where an element has no such side
    int body_c
    int iq                   # position and velocity coordinate of a coordinate element; iv is -1 for the others
    int iv
    const void* user         # mbros_user_force (user.hpp), or NULL
    Pose X_A                 # frames A and C on their compiled bodies
    Pose X_C

cdef struct Relative:
    Pose X
    Motion V

cdef struct Springs:         # a pair as springs and dampers: its wrench is the sum of -(k x + d rate) axis
    int n
    Motion axis[6]           # the rate of each is axis.w . w_AC + axis.v . v_AC, in A axes: dx/dt, but under Drake's law of a bushing
    real x[6]
    real k[6]
    real d[6]

cdef struct ForceOut:
    Force F                  # of pair and body elements; the next three of coordinate elements
    real tau
    real C
    real K
    real energy
    real conservative
    real nonconservative
