"""Algorithms compiled for one robot (mbros.specialize): where a model has them, and whether they hold for a state.

The constants of a robot are in their code. So they hold for a state whose external wrenches and parameters, but for those chosen to stay
live, are the model's own, to the bit; for any other state the algorithms of this folder are what computes.
"""
from libc.string cimport memcmp
from mbros_core.scalar.real cimport real
from mbros_core.engine.state cimport Kernel, Kernels, ModelC, Work

cdef enum Slot:             # the rows of kernels.py
    FORWARD_DYNAMICS = 0
    INVERSE_DYNAMICS = 1
    MASS_MATRIX = 2
    KINEMATICS = 3
    FIRST_STEP = 4          # midpoint, and so on as in integrators/steps.pxd
    FORWARD_DERIVATIVES = 7
    INVERSE_DERIVATIVES = 8


cdef inline bint as_compiled(const Kernels* k, const Work* s) noexcept nogil:
    """Whether the constants in the code are those of the state."""
    cdef int i
    for i in range(k.npieces):
        if memcmp(s.time + k.pieces[i].at, k.constants + k.pieces[i].at, k.pieces[i].n * sizeof(real)) != 0:
            return False
    return True


cdef inline Kernel kernel_for(const ModelC* m, const Work* s, int slot) noexcept nogil:
    """The compiled function of a slot, NULL where there is none or where it is of another robot than the state."""
    if m.kernels == NULL or m.kernels.of[slot] == NULL or not as_compiled(m.kernels, s):
        return NULL
    return m.kernels.of[slot]
