"""Contact switch: closes where the contacts of a shape, or of all shapes of a body, press on it with more than a threshold, and opens below
another one. The force is the sum of what they exert along their normals in the last step.
"""
from mbros_core.plant.sensors.sensor cimport Truth


cdef struct ContactSwitchNumbers:
    double threshold             # N
    double release               # N

cdef struct ContactSwitchMemory:
    double draws
    double closed                # 0 or 1


cdef inline void contact_switch_read(const ContactSwitchNumbers* par, ContactSwitchMemory* mem, const Truth* truth,
                                     double* out) noexcept nogil:
    mem.closed = 1.0 if truth.press > (min(par.threshold, par.release) if mem.closed != 0.0 else par.threshold) else 0.0
    out[0], out[1] = mem.closed, truth.press
