"""The tables of a hull or a height field in memory of somebody's own: a step touches them, and a real-time loop must know where they are."""
from libc.string cimport memcpy

from mbros_core.geometry.shape cimport CONVEX, HEIGHT_FIELD, Hull, Shape


cdef inline size_t whole(size_t bytes) noexcept nogil:
    return (bytes + 7) // 8 * 8

cdef inline size_t table_bytes(const Shape* s) noexcept nogil:
    """How much memory copy_tables takes."""
    cdef const Hull* h = &s.hull
    if s.kind == HEIGHT_FIELD:
        return <size_t>s.field.nx * s.field.ny * 8
    if s.kind != CONVEX:
        return 0
    return (24 * <size_t>(h.vertices + h.faces) + 2 * whole(4 * (h.vertices + 1)) + whole(4 * (h.faces + 1))
            + whole(4 * h.neighbour_start[h.vertices]) + whole(4 * h.around_start[h.vertices]) + 2 * whole(4 * h.corner_start[h.faces]))

cdef inline const int* moved_numbers(const int* x, size_t count, char** to) noexcept nogil:
    """`count` numbers to `to`, which goes on behind them."""
    cdef int* here = <int*>to[0]
    memcpy(here, x, 4 * count)
    to[0] += whole(4 * count)
    return here

cdef inline const double* moved_doubles(const double* x, size_t count, char** to) noexcept nogil:
    cdef double* here = <double*>to[0]
    memcpy(here, x, 8 * count)
    to[0] += 8 * count
    return here

cdef inline void copy_tables(Shape* s, char* to) noexcept nogil:
    """s has its tables at `to` from now on."""
    cdef Hull* h = &s.hull
    if s.kind == HEIGHT_FIELD:
        s.field.height = moved_doubles(s.field.height, <size_t>s.field.nx * s.field.ny, &to)
    if s.kind != CONVEX:
        return
    h.vertex, h.normal = moved_doubles(h.vertex, 3 * h.vertices, &to), moved_doubles(h.normal, 3 * h.faces, &to)
    h.neighbour = moved_numbers(h.neighbour, h.neighbour_start[h.vertices], &to)
    h.around = moved_numbers(h.around, h.around_start[h.vertices], &to)
    h.corner = moved_numbers(h.corner, h.corner_start[h.faces], &to)
    h.edge = moved_numbers(h.edge, h.corner_start[h.faces], &to)
    h.neighbour_start = moved_numbers(h.neighbour_start, h.vertices + 1, &to)
    h.around_start = moved_numbers(h.around_start, h.vertices + 1, &to)
    h.corner_start = moved_numbers(h.corner_start, h.faces + 1, &to)
