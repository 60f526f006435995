"""Vectors of three, PACK of them side by side: what is done to one is done to all. In memory they stand in blocks, row after row of PACK
numbers. See pack.pxd."""
from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport Mat3, Vec3
from mbros_core.scalar.vector cimport Vector3

ctypedef Vector3[pack] Vec3s

cdef extern from "scalar/vector.hpp" nogil:
    Vec3s vec3s "mbros::vector3<mbros::pack>"(pack, pack, pack) noexcept


cdef inline Vec3s load3(const real* at, int row) noexcept nogil:
    at = at + row * PACK
    return vec3s(packed(at), packed(at + PACK), packed(at + 2 * PACK))

cdef inline void save3(real* at, int row, Vec3s a) noexcept nogil:
    at = at + row * PACK
    unpack(at, a.x)
    unpack(at + PACK, a.y)
    unpack(at + 2 * PACK, a.z)

cdef inline Vec3s spread3(const real* at, int row) noexcept nogil:
    """Of one column, for all columns of a pack."""
    at = at + row * PACK
    return vec3s(spread(at[0]), spread(at[PACK]), spread(at[2 * PACK]))

cdef inline Vec3s alike(Vec3 a) noexcept nogil:
    """The same vector throughout."""
    return vec3s(spread(a.x), spread(a.y), spread(a.z))

cdef inline Vec3s times3(Mat3 A, Vec3s a) noexcept nogil:
    """A a."""
    return vec3s(spread(A.xx) * a.x + spread(A.xy) * a.y + spread(A.xz) * a.z,
                 spread(A.yx) * a.x + spread(A.yy) * a.y + spread(A.yz) * a.z,
                 spread(A.zx) * a.x + spread(A.zy) * a.y + spread(A.zz) * a.z)
