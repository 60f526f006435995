"""J of one block of the convex problem: how the coordinates move one body against another at a point, along axes."""
from libc.string cimport memcpy, memset

from mbros_core.constraints.problem cimport MOST_ROWS, Block, Problem, add_block
from mbros_core.constraints.robot cimport Robot, Tree, angular_column, column_at, origin
from mbros_core.geometry.vec cimport Vec, cross, dot, perpendicular


cdef struct Axes:                # of a contact: the normal and two directions across it
    Vec n
    Vec t
    Vec s

cdef inline Axes axes_of(Vec n) noexcept nogil:
    cdef Axes A
    A.n = n
    A.t = perpendicular(n)
    A.s = cross(n, A.t)
    return A


cdef struct Columns:             # of J of one block, while they are collected: coordinates in descending order
    int count
    int* dof
    double* x                    # MOST_ROWS numbers of each
    int* column                  # of a path between two bodies (find_path): which column of S each is, the body that it moves, and
    int* body                    # whether with the second body's sign
    double* sign
    int given                    # prescribed coordinates, which have no column, and what they do to the rows
    double by_given[6]


cdef inline double* column_of(Columns* c, int dof, bint shared) noexcept nogil:
    """The column of a coordinate, of zeros where it is new. Only joints that share coordinates come back to one, or out of order."""
    cdef int at = c.count
    cdef int i
    if shared:
        while at > 0 and c.dof[at - 1] < dof:
            at -= 1
        if at > 0 and c.dof[at - 1] == dof:
            return c.x + MOST_ROWS * (at - 1)
        for i in range(c.count, at, -1):
            c.dof[i] = c.dof[i - 1]
            memcpy(c.x + MOST_ROWS * i, c.x + MOST_ROWS * (i - 1), MOST_ROWS * sizeof(double))
    c.count += 1
    c.dof[at] = dof
    for i in range(MOST_ROWS):
        c.x[MOST_ROWS * at + i] = 0.0
    return c.x + MOST_ROWS * at


cdef inline double* given_rows(Columns* columns) noexcept nogil:
    """Where to add what one more prescribed coordinate does."""
    if columns.given == 0:
        memset(columns.by_given, 0, sizeof(columns.by_given))
    columns.given += 1
    return columns.by_given


cdef inline void add_given(Columns* columns, const Tree* m, const Robot* r, int body, int k, double sign, Vec arm, const Axes* A,
                           bint turning) noexcept nogil:
    """What prescribed coordinate k of the joint that carries `body` does, with the velocity that it has."""
    cdef double* x = given_rows(columns)
    cdef double u = sign * r.given[m.iv[body] + k]
    cdef Vec w = angular_column(r, m.column[body] + k)
    cdef Vec v = column_at(r, m.column[body] + k, w, arm)
    x[0] += u * dot(A.n, v)
    x[1] += u * dot(A.t, v)
    x[2] += u * dot(A.s, v)
    if turning:
        x[3] += u * dot(A.n, w)
        x[4] += u * dot(A.t, w)
        x[5] += u * dot(A.s, w)


cdef inline void shift_targets(Problem* p, const Block* b, const Columns* columns) noexcept nogil:
    """What prescribed coordinates do to a block's rows leaves its targets."""
    cdef int i
    for i in range(b.rows):
        p.target[b.row + i] -= columns.by_given[i]


cdef inline void add_columns(Columns* columns, const Tree* m, const Robot* r, int body, double sign, Vec point, const Axes* A,
                             bint turning) noexcept nogil:
    """What the joint that carries `body` does to the velocity of a point of it and, where asked, to its angular velocity, along the
    axes."""
    cdef Vec arm = point - origin(r, body)
    cdef double* x
    cdef Vec v
    cdef Vec w
    cdef int k
    for k in range(m.dofs[body] - 1, -1, -1):
        if r.lock[(m.iv[body] + k) * r.stride] != 0.0:
            if r.lock[(m.iv[body] + k) * r.stride] > 1.0:
                add_given(columns, m, r, body, k, sign, arm, A, turning)
            continue
        w = angular_column(r, m.column[body] + k)
        v = column_at(r, m.column[body] + k, w, arm)
        x = column_of(columns, m.iv[body] + k, m.shared)
        x[0] += sign * dot(A.n, v)
        x[1] += sign * dot(A.t, v)
        x[2] += sign * dot(A.s, v)
        if turning:
            x[3] += sign * dot(A.n, w)
            x[4] += sign * dot(A.t, w)
            x[5] += sign * dot(A.s, w)


cdef inline void relative_columns(Columns* columns, const Tree* m, const Robot* r, int a, int b, Vec point, const Axes* A,
                                  bint turning) noexcept nogil:
    """J of b's point against a's: up both branches, from the larger body number to the smaller, until they meet."""
    columns.count = columns.given = 0
    while a != b:
        if b > a:
            add_columns(columns, m, r, b, 1.0, point, A, turning)
            b = m.parent[b]
        else:
            add_columns(columns, m, r, a, -1.0, point, A, turning)
            a = m.parent[a]


cdef inline void find_path(Columns* path, const Tree* m, const Robot* r, int a, int b) noexcept nogil:
    """The coordinates that move body b against body a, without their columns: for every contact point of two bodies the same ones. Not
    where joints share coordinates. Prescribed ones are counted; relative_columns knows what they do."""
    cdef int n = 0
    cdef double held
    cdef int body
    cdef int k
    cdef double sign
    path.given = 0
    while a != b:
        if b > a:
            body, sign = b, 1.0
            b = m.parent[b]
        else:
            body, sign = a, -1.0
            a = m.parent[a]
        for k in range(m.dofs[body] - 1, -1, -1):
            held = r.lock[(m.iv[body] + k) * r.stride]
            path.given += held > 1.0
            if held == 0.0:
                path.dof[n], path.column[n], path.body[n], path.sign[n] = m.iv[body] + k, m.column[body] + k, body, sign
                n += 1
    path.count = n


cdef inline int block_along(Problem* p, const Columns* path, const Robot* r, int rows, Vec point, const Axes* A) noexcept nogil:
    """new_block of what relative_columns would find, by a path that is known."""
    cdef int number = add_block(p, rows, path.count) if path.count else -1
    cdef const Block* b
    cdef double* x
    cdef double sign
    cdef Vec arm
    cdef Vec v
    cdef Vec w
    cdef int body = -1
    cdef int i
    cdef int k
    cdef int n = path.count
    if number < 0:
        return -1
    b = &p.block[number]
    x = p.J + b.first_entry
    memcpy(p.dof + b.first_dof, path.dof, n * sizeof(int))
    for k in range(n):
        if path.body[k] != body:
            body = path.body[k]
            arm = point - origin(r, body)
        sign = path.sign[k]
        w = angular_column(r, path.column[k])
        v = column_at(r, path.column[k], w, arm)
        x[k], x[n + k], x[2 * n + k] = sign * dot(A.n, v), sign * dot(A.t, v), sign * dot(A.s, v)
        if rows > 3:
            x[3 * n + k] = sign * dot(A.n, w)
        if rows > 4:
            x[4 * n + k], x[5 * n + k] = sign * dot(A.t, w), sign * dot(A.s, w)
    for i in range(rows):
        p.target[b.row + i] = 0.0
    return number


cdef inline int new_block(Problem* p, int rows, const Columns* columns) noexcept nogil:
    """A block of these columns, with targets of zero; -1 where there is no room, or no coordinate that could move it."""
    cdef int number = add_block(p, rows, columns.count) if columns.count else -1
    cdef const Block* b
    cdef int i, k
    if number < 0:
        return -1
    b = &p.block[number]
    for k in range(b.dofs):
        p.dof[b.first_dof + k] = columns.dof[k]
        for i in range(rows):
            p.J[b.first_entry + i * b.dofs + k] = columns.x[MOST_ROWS * k + i]
    for i in range(rows):
        p.target[b.row + i] = 0.0
    return number
