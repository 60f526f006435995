"""Weld: M is fixed in F. No coordinates."""
from mbros_core.spatial cimport Pose


cdef inline void weld_place(Pose X_WF, Pose* X_WM) noexcept nogil:
    X_WM[0] = X_WF
