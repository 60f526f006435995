"""Screw: rotation by q about Fz = Mz with a translation of pitch * q along it; the pitch is in metres per radian.

X_FM = (Rz(q), [0 0 pitch q]),  H_FM = [Fz; pitch Fz],  Hdot = 0.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.spatial cimport Motion, Pose, Vec3, column_z, motion, rotate_about_z


cdef inline void screw_place(real pitch_m_per_rad, Pose X_WF, real q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef Vec3 z = column_z(X_WF.R)
    cdef real s
    cdef real c
    sincos(q, s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = X_WF.p + pitch_m_per_rad * q * z
    S[0] = motion(z, pitch_m_per_rad * z)
