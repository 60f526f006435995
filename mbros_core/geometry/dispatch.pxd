"""The one switch over pairs of kinds."""
from mbros_core.geometry.box_box cimport box_box_contacts
from mbros_core.geometry.box_rounds cimport capsule_box_contacts, sphere_box_contacts
from mbros_core.geometry.convex_pairs cimport convex_convex_contacts
from mbros_core.geometry.half_space cimport (half_space_box_contacts, half_space_capsule_contacts, half_space_convex_contacts,
                                             half_space_cylinder_contacts, half_space_sphere_contacts)
from mbros_core.geometry.height_field_rounds cimport height_field_round_contacts
from mbros_core.geometry.height_field_solids cimport height_field_solid_contacts
from mbros_core.geometry.parted cimport parted
from mbros_core.geometry.rounds cimport capsule_capsule_contacts, sphere_capsule_contacts, sphere_sphere_contacts
from mbros_core.geometry.shape cimport BOX, CAPSULE, CONVEX, CYLINDER, HALF_SPACE, HEIGHT_FIELD, SPHERE, Contact, Shape
from mbros_core.geometry.sphere_cylinder cimport sphere_cylinder_contacts
from mbros_core.geometry.vec cimport Frame, place, square


cdef inline bint far_apart(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin) noexcept nogil:
    """Whether the balls around two shapes are farther apart than the margin."""
    cdef double reach = a.reach + b.reach + margin
    return square(place(A[0], a.centre) - place(B[0], b.centre)) > reach * reach

cdef inline int half_space_pair(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    if b.kind == SPHERE:
        return half_space_sphere_contacts(a, A, b, B, margin, out)
    if b.kind == BOX:
        return half_space_box_contacts(a, A, b, B, margin, out)
    if b.kind == CAPSULE:
        return half_space_capsule_contacts(a, A, b, B, margin, out)
    if b.kind == CYLINDER:
        return half_space_cylinder_contacts(a, A, b, B, margin, out)
    if b.kind == CONVEX:
        return half_space_convex_contacts(a, A, b, B, margin, out)
    return 0

cdef inline int ordered_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Of two kinds of which the first has the smaller number, or the same."""
    if a.kind == HALF_SPACE:
        return half_space_pair(a, A, b, B, margin, out)
    if a.kind == SPHERE and b.kind == SPHERE:
        return sphere_sphere_contacts(a, A, b, B, margin, out)
    if a.kind == HEIGHT_FIELD:
        if b.kind == SPHERE or b.kind == CAPSULE:
            return height_field_round_contacts(a, A, b, B, margin, out)
        return height_field_solid_contacts(a, A, b, B, margin, out) if b.kind > CAPSULE else 0
    if far_apart(a, A, b, B, margin):
        return 0
    if b.kind == CONVEX:
        return convex_convex_contacts(a, A, b, B, margin, out)
    if a.kind == BOX and b.kind == BOX:
        return box_box_contacts(a, A, b, B, margin, out)
    if b.kind == BOX:
        if a.kind == SPHERE:
            return sphere_box_contacts(a, A, b, B, margin, out)
        return capsule_box_contacts(a, A, b, B, margin, out)
    if b.kind == CAPSULE:
        if a.kind == SPHERE:
            return sphere_capsule_contacts(a, A, b, B, margin, out)
        return capsule_capsule_contacts(a, A, b, B, margin, out)
    if a.kind == SPHERE:
        return sphere_cylinder_contacts(a, A, b, B, margin, out)
    if parted(a, A, b, B, margin):
        return 0
    return convex_convex_contacts(a, A, b, B, margin, out)

cdef inline int contacts_of(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """The contact points of two shapes, at most MOST_CONTACTS; normals from a to b. Pairs of half-spaces and height fields have none."""
    cdef int count
    cdef int i
    if a.kind <= b.kind:
        return ordered_contacts(a, A, b, B, margin, out)
    count = ordered_contacts(b, B, a, A, margin, out)
    for i in range(count):
        out[i].n = -out[i].n
    return count
