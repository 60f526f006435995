"""Contact switch: closes where the contacts of a shape, or of all shapes of a body, press on it with more than a threshold, and opens below
another one. The force is the sum of what they exert along their normals in the last step.

Parameters: threshold, release (N). mem: draws, whether it is closed.
"""
from mbros_core.plant.sensors.sensor cimport Truth


cdef inline void contact_switch_read(const double* par, double* mem, const Truth* truth, double* out) noexcept nogil:
    mem[1] = 1.0 if truth.press > (min(par[0], par[1]) if mem[1] != 0.0 else par[0]) else 0.0
    out[0], out[1] = mem[1], truth.press
