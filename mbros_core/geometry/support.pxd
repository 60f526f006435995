"""The one switch over convex kinds: farthest points, and the features that face a direction."""
from mbros_core.geometry.box cimport box_feature, box_support
from mbros_core.geometry.capsule cimport capsule_feature, capsule_support
from mbros_core.geometry.convex cimport convex_face, convex_facing, convex_support
from mbros_core.geometry.cylinder cimport cylinder_feature, cylinder_support
from mbros_core.geometry.shape cimport BOX, CAPSULE, CONVEX, CYLINDER, SPHERE, Feature, Shape
from mbros_core.geometry.sphere cimport sphere_feature, sphere_support
from mbros_core.geometry.vec cimport Vec, read


cdef inline Vec support(const Shape* s, Vec d, int* start) noexcept nogil:
    """A point of the core farthest along d. start: of a polyhedron the vertex to begin at, and then the one found."""
    if s.kind == CONVEX:
        return convex_support(s, d, start)
    if s.kind == BOX:
        return box_support(s, d)
    if s.kind == CYLINDER:
        return cylinder_support(s, d)
    if s.kind == CAPSULE:
        return capsule_support(s, d)
    return sphere_support(s, d)

cdef inline void feature(const Shape* s, Vec n, int start, Feature* f) noexcept nogil:
    """The vertex, edge or face of the core that faces the unit vector n. start: of a polyhedron a vertex near there."""
    if s.kind == CONVEX:
        convex_face(s, convex_facing(s, n, start), f)
    elif s.kind == BOX:
        box_feature(s, n, f)
    elif s.kind == CYLINDER:
        cylinder_feature(s, n, f)
    elif s.kind == CAPSULE:
        capsule_feature(s, n, f)
    else:
        sphere_feature(s, n, f)

cdef inline bint facing(const Shape* s, Vec n, int start, Vec* normal) noexcept nogil:
    """The normal of the flat face that faces n; False where there is none."""
    cdef Feature f
    if s.kind == CONVEX:
        normal[0] = read(s.hull.normal + 3 * convex_facing(s, n, start))
        return True
    if s.kind == CAPSULE or s.kind == SPHERE:
        return False
    feature(s, n, 0, &f)
    normal[0] = f.normal
    return f.count > 2
