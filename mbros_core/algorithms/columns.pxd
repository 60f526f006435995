"""The columns of a tree's derivatives: what they are computed from, numbered along the tree, PACK of them side by side.

A column is one degree of freedom of one joint. Columns are numbered depth first: those of a joint one after the other, then those of all
the joints that it carries, so that "everything beyond joint j" is one range. Numbers of columns stand in blocks of PACK columns, row after
row of PACK numbers: what is done to one column is done to PACK of them at once.

Within a step of these algorithms every spatial quantity is taken about one point O that does not move, at which the first body between the
world and the body in question has its origin now: sums over the tree are then plain sums.
"""
from mbros_core.scalar.pack cimport PACK
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport Force, Inertia, Mat3, Motion, Sym3, Vec3, motion, vec3

cdef enum Row:              # of a column, 3 or 6 numbers [rotational; translational] but where it is said
    AT_S = 0                # motion subspace
    AT_ETA = 6              # what V of the bodies beyond changes by, with its joint's q, beside turning with them
    AT_ZETA = 12            # and their accelerations
    AT_XI = 18              # what accelerations change by, with its v
    AT_U = 24               # I S, the force that its acceleration takes
    AT_P = 30               # 2 B^T S, the torque alone: it has no force
    AT_FQ = 33              # what the force through its joint changes by, with its q
    AT_FV = 39              # and with its v
    AT_TURN = 45            # external wrenches, which do not turn with the bodies: 3
    AT_V_P = 48             # V of the parent
    AT_A_P = 54             # spatial acceleration of the parent, gravity less
    AT_V = 60               # V of its body
    AT_REST = 66            # CARRIED of all that its joint carries
    ROWS_OF_COLUMN = 106

cdef enum:
    CARRIED = 40            # numbers in a Composite

cdef struct Composite:      # of a body and of all that it carries
    Inertia I
    Sym3 I_dot              # d/dt of the rotational inertia
    Force momentum
    Force F                 # what the motion asks for, less what is applied
    Mat3 N                  # of applied wrenches: -[t_Bo] - f p^T + (p . f) 1
    Vec3 f                  # and their force

cdef struct Carried:
    Composite rest
    Vec3 r                  # from O to the body's origin
    Motion V                # about O
    Motion A                # spatial acceleration about O, gravity less

cdef struct Columns:
    int n                   # columns
    int rows                # coordinates
    int padded              # columns, in whole packs
    bint same               # column k is coordinate k
    bint irregular          # a joint's columns turn otherwise than with its body
    bint applied            # wrenches are applied
    bint crossed            # a force element between two branches fills right-hand sides outside the pattern of the tree
    int* first              # (nb) first column of a body's joint
    int* own_end            # (nb) after its last
    int* end                # (nb) after the last column beyond
    int* body               # (n)
    int* at                 # (n) coordinate of a column
    int* row                # (n) where the column stands in systems of equations: where coordinates are shared, its coordinate
    int* out                # (rows) coordinate of a row of such a system
    int* up                 # (rows) the row before, towards the root; -1: none
    int* stop               # (rows) after the last row beyond
    int* filled             # (padded / PACK) whether such an element is among these columns
    int* path               # (n) columns between the two bodies of a force element
    int* joint_at           # (n) where in `path` the joint of each begins
    Carried* bodies         # (nb)
    real* blocks            # (ROWS_OF_COLUMN, padded) in blocks
    real* below_q           # (n, padded) [column, column beyond]: tau of that beyond by q of this,
    real* below_v           # by v,
    real* M                 # by vdot;
    real* above_q           # tau of this by q of that beyond,
    real* above_v           # by v
    real* passive_q         # (rows) d passive / d q and d passive / d v of coordinates
    real* passive_v
    real* L                 # (rows, padded) M = L^T D L, lower
    real* D_inverse         # (rows)
    real* R                 # (rows, 3 padded) right-hand sides
    real* along             # (ROWS_ALONG, padded) in blocks: what force elements do along `path`; NULL where none is on bodies


cdef inline real* column(const Columns* c, int k) noexcept nogil:
    """Number 0 of column k; row r of it is at [r * PACK]."""
    return c.blocks + (k // PACK) * (ROWS_OF_COLUMN * PACK) + k % PACK

cdef inline real* block(const Columns* c, int k) noexcept nogil:
    """Columns k PACK, k PACK + 1, ..."""
    return c.blocks + k * (ROWS_OF_COLUMN * PACK)

cdef inline void put3(real* at, int row, Vec3 a) noexcept nogil:
    at[row * PACK] = a.x
    at[(row + 1) * PACK] = a.y
    at[(row + 2) * PACK] = a.z

cdef inline void put_motion(real* at, int row, Motion A) noexcept nogil:
    put3(at, row, A.w)
    put3(at, row + 3, A.v)

cdef inline Vec3 take3(const real* at, int row) noexcept nogil:
    return vec3(at[row * PACK], at[(row + 1) * PACK], at[(row + 2) * PACK])

cdef inline Motion take_motion(const real* at, int row) noexcept nogil:
    return motion(take3(at, row), take3(at, row + 3))
