"""Height field: the surface z = height(x, y) over a grid, of two triangles in each cell, and everything below it.

Grid point (i, j) is at x = (i - (nx - 1) / 2) dx, y = (j - (ny - 1) / 2) dy. A cell's diagonal runs from (i, j) to (i + 1, j + 1); its first triangle
is below it in y, its second above.
"""
from libc.math cimport sqrt

from mbros_core.geometry.bounds cimport Bounds
from mbros_core.geometry.shape cimport Field
from mbros_core.geometry.vec cimport Vec, cross, vec

cdef struct Cells:               # i from i0 to before i1
    int i0
    int i1
    int j0
    int j1

cdef struct Triangle:
    Vec a
    Vec b
    Vec c
    Vec n                        # upward


cdef inline Vec grid_point(const Field* f, int i, int j) noexcept nogil:
    return vec((i - 0.5 * (f.nx - 1)) * f.dx, (j - 0.5 * (f.ny - 1)) * f.dy, f.height[<long long>i * f.ny + j])

cdef inline double top_of(const Field* f, int i, int j) noexcept nogil:
    """The highest corner of a cell."""
    cdef const double* h = f.height + <long long>i * f.ny + j
    return max(max(h[0], h[1]), max(h[f.ny], h[f.ny + 1]))

cdef inline bint on_grid(const Field* f, int i, int j) noexcept nogil:
    return 0 <= i < f.nx and 0 <= j < f.ny

cdef inline int cell_at(double x, int cells) noexcept nogil:
    """x in cells from the middle of the grid, as the number of a cell; -1 before the first and `cells` behind the last."""
    cdef double k = x + 0.5 * cells
    if not k >= 0.0:
        return -1
    return <int>k if k < cells else cells

cdef inline bint cells_under(const Field* f, const Bounds* box, Cells* out) noexcept nogil:
    """The cells under a box in the field's frame; False: none."""
    out.i0, out.i1 = cell_at(box.low.x / f.dx, f.nx - 1), cell_at(box.high.x / f.dx, f.nx - 1)
    out.j0, out.j1 = cell_at(box.low.y / f.dy, f.ny - 1), cell_at(box.high.y / f.dy, f.ny - 1)
    if out.i0 == f.nx - 1 or out.i1 < 0 or out.j0 == f.ny - 1 or out.j1 < 0:
        return False
    out.i0, out.j0 = max(0, out.i0), max(0, out.j0)
    out.i1, out.j1 = min(f.nx - 1, out.i1 + 1), min(f.ny - 1, out.j1 + 1)
    return True

cdef inline Triangle triangle_of(const Field* f, int i, int j, int second) noexcept nogil:
    """Counter-clockwise seen from above."""
    cdef Triangle t
    t.a = grid_point(f, i, j)
    t.b = grid_point(f, i + 1, j + 1) if second else grid_point(f, i + 1, j)
    t.c = grid_point(f, i, j + 1) if second else grid_point(f, i + 1, j + 1)
    t.n = cross(t.b - t.a, t.c - t.a)
    t.n = (1.0 / sqrt(t.n.x * t.n.x + t.n.y * t.n.y + t.n.z * t.n.z)) * t.n
    return t

cdef inline double height_over(const Triangle* t, double x, double y) noexcept nogil:
    """z of the triangle's plane."""
    return t.a.z - (t.n.x * (x - t.a.x) + t.n.y * (y - t.a.y)) / t.n.z

cdef inline bint surface_at(const Field* f, double x, double y, double* z) noexcept nogil:
    """The height at x, y; False off the grid."""
    cdef double u = x / f.dx + 0.5 * (f.nx - 1)
    cdef double v = y / f.dy + 0.5 * (f.ny - 1)
    cdef Triangle t
    cdef int i
    cdef int j
    if not (0.0 <= u <= f.nx - 1 and 0.0 <= v <= f.ny - 1):
        return False
    i, j = min(<int>u, f.nx - 2), min(<int>v, f.ny - 2)
    t = triangle_of(f, i, j, v - j > u - i)
    z[0] = height_over(&t, x, y)
    return True
