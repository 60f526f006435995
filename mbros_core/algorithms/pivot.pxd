"""What a coordinate is moved by in a midpoint step: its inertia J, with what damping, friction and springs add to it over the step.

J is what the coordinate moves with everything that was eliminated before it free, the pivot of the elimination: nothing has it cheaper, and
no number of the last step is needed. With it, damping is trapezoidal where soft and implicit where stiff
(forces/passive.pxd):

    D = J + max(h/2 C, h C_sec - J/2)                                                   (rotors are in J)
    a spring of stiffness K:   D += (1/4 + 3/4 s) h^2 K,  u -= s h K v,   s = h^2 K / (4 J) - 1  within [0, 1]

So a damper is trapezoidal, of second order, while h C <= J, and from there on approaches implicit Euler without ever turning v round. A
spring is trapezoidal and keeps its energy up to h sqrt(K / J) = 2, where its oscillation has pi samples, and implicit, without ringing,
from 2 sqrt(2) on.
"""
from mbros_core.scalar.real cimport any, fmax, fmin, nonzero, real
from mbros_core.engine.state cimport ModelC, Work


cdef inline real pivot(const ModelC* m, const Work* s, int i, real J, real* u) noexcept nogil:
    """D of coordinate i; J without its rotor."""
    cdef real D = fmax(J + s.D0[i], 0.5 * J + s.stiff[i].C)
    cdef real K
    cdef real share
    if m.ncoordinate == 0:
        return D
    K = s.stiff[i].K
    if any(nonzero(K)):
        share = fmin(real(1.0), fmax(real(0.0), K / (4.0 * (J + s.rotor_inertia[i])) - real(1.0)))
        u[0] = u[0] - share * s.stiff[i].Kv
        D = D + share * real(0.75) * K
    return D
