"""What the engine knows of a force element, and what every kind must be able to do: always all three of wrench (or
generalized force), stored energy and dissipated power.

A `pair` element acts between frame A fixed on one body and frame C fixed on another, from what C does relative to A:

    KIND_pair(par, r, out)      r: X_AC, V_AC (w_AC, v_ACo in A axes);  out.F: wrench on C about Co in A axes

The generic code adds it to C's body and its opposite, taken about Ao, to A's: action equals reaction for every kind.

A `coordinate` element acts on one velocity coordinate, from its q and v:

    KIND_coordinate(par, q, v, out)      out.tau, and its slopes C = -d tau/d v, K = -d tau/d q (>= 0) for implicit steps

A `body` element acts on one body at frame C, from C's pose and velocity in the world:

    KIND_body(par, r, out)      r: X_WC, V_WC in W axes;  out.F about Co in W axes

Energies: out.energy is what the element stores (J), out.conservative the power -d(energy)/dt it delivers, and
out.nonconservative the power of the rest, never positive for a damper (W).
"""
from mbros_core.real cimport real
from mbros_core.spatial cimport Force, Motion, Pose

cdef enum:
    PARAMETERS = 16          # tunable numbers of an element: the state's field force_parameters

cdef struct ForceElement:
    int kind
    int body_a               # -1 where an element has no such side
    int body_c
    int iq                   # coordinate elements: position and velocity coordinate
    int iv
    const void* user         # mbros_user_force (user.hpp), or NULL
    Pose X_A                 # frame A on its compiled body
    Pose X_C

cdef struct Relative:
    Pose X
    Motion V

cdef struct ForceOut:
    Force F
    real tau
    real C
    real K
    real energy
    real conservative
    real nonconservative
