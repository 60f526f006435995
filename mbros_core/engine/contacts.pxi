# Contacts of a state, as Python asks for them. Only the double modules include this file.

from mbros_core.constraints.contact cimport law_of
from mbros_core.constraints.robot cimport Robot, point_velocity
from mbros_core.constraints.touch cimport (DEPTH, EFFORT, FEATURE, FORCE, KNOWN, LAW, NORMAL, PAIR, POINT, SLIP, STAMP, TOUCH_COLUMNS, Touch,
                                           feature_number, record, recorded, shapes_of, touches_in)
from mbros_core.geometry.vec cimport Vec, dot
from mbros_core.forces.apply cimport on_both_bodies
from mbros_core.forces.contact cimport robot_in, stamp_of
from mbros_core.forces.dispatch cimport may_be_stiff
from mbros_core.forces.stiff cimport share_out


cdef cnp.ndarray contact_rows(Checked model, State s):
    """Rows (n, TOUCH_COLUMNS) of constraints/touch.pxd, without the head: those of the step that led here; where none did, what touches
    now, with the normal forces of the law at this velocity and no friction."""
    cdef ModelC* m = &model.c
    cdef double* memory = <double*>s.c.contact_memory
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray rows
    shape[1] = TOUCH_COLUMNS
    if m.ns == 0:
        shape[0] = 0
        return new_array(2, shape)
    if memory[KNOWN] != 0.0 and memory[STAMP] == stamp_of(m, &s.c, 0):
        shape[0] = touches_in(memory, 1, m.scene.most_touches)
        rows = new_array(2, shape)
        memcpy(cnp.PyArray_DATA(rows), memory + TOUCH_COLUMNS, shape[0] * TOUCH_COLUMNS * sizeof(double))
        return rows
    return present_rows(model, s)


cdef cnp.ndarray present_rows(Checked model, State s):
    """The same of what touches now."""
    cdef ModelC* m = &model.c
    cdef Memory nothing = Memory(TOUCH_COLUMNS)
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray rows
    cdef Robot r
    cdef int k
    s.need_velocities()
    s.need_contacts()
    r = robot_in(0, &s.c, s.c.v, s.c.vdot)
    r.memory = nothing.p
    shape[0], shape[1] = m.scene.find(m.scene, s.c.contacts, &r, 0, 0.0), TOUCH_COLUMNS
    rows = new_array(2, shape)
    memset(cnp.PyArray_DATA(rows), 0, cnp.PyArray_NBYTES(rows))
    for k in range(<int>shape[0]):
        write_present(m, &r, &s.c.contacts.touch[k], <double*>cnp.PyArray_DATA(rows) + k * TOUCH_COLUMNS)
    return rows


cdef void write_present(const ModelC* m, const Robot* r, const Touch* t, double* row):
    cdef double k = law_of(r, t.a, t.b).k
    cdef double tau = law_of(r, t.a, t.b).tau
    cdef Vec v = point_velocity(r, m.scene.body[t.b], t.c.p) - point_velocity(r, m.scene.body[t.a], t.c.p)
    cdef double v_n = dot(v, t.c.n)
    row[PAIR], row[FEATURE], row[DEPTH], row[LAW] = <double>t.a * m.ns + t.b, feature_number(t.c.feature), t.c.depth, k
    record(row, POINT, 1, t.c.p)
    record(row, NORMAL, 1, t.c.n)
    record(row, SLIP, 1, v - v_n * t.c.n)
    record(row, FORCE, 1, max(0.0, k * (t.c.depth - tau * v_n)) * t.c.n)


cdef void take_implicit(const ModelC* m, Work* s, int k, Force* F, Force* F_A, Force* F_C):
    """The wrenches of a pair that was implicit in the step that led to this state become those of that step."""
    cdef const double* memory = <const double*>s.contact_memory
    cdef const double* row
    cdef int place = 0
    cdef int i
    for i in range(k):
        place += may_be_stiff(&m.elements[i])
    row = memory + (m.nt - m.nsprings + place) * TOUCH_COLUMNS
    if memory[KNOWN] != 0.0 and row[EFFORT] > 0.0 and memory[STAMP] == stamp_of(m, s, 0):
        copy_reals(<real*>F, <const real*>row, 6)
        on_both_bodies(s, &m.elements[k], F[0], F_A, F_C)
