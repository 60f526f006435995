# Constraints of a state, as Python asks for them. Only the double modules include this file.

from mbros_core.constraints.constraint cimport Held, Relative
from mbros_core.constraints.dispatch cimport evaluate as evaluate_constraint, jacobian as jacobian_of_constraint
from mbros_core.constraints.problem cimport MOST_ROWS, ONE_SIDED

cdef double GAP_ALLOWED = 1e-5  # m or rad: a start may be so far from what its constraints hold


cdef Robot placed_robot(Checked model, State s):
    """The robot of a state as constraints/ sees it, its kinematics done; nothing is kept of it."""
    cdef Robot r
    s.need_velocities()
    s.need_contacts()
    r = robot_in(0, &s.c, s.c.v, s.c.vdot)
    r.memory = NULL
    return r


cdef cnp.ndarray constraint_gaps(Checked model, State s, object numbers=None):
    """Of each row, m or rad; of a rope by how much it is too long, or zero. numbers: of the constraints, where not those of the state."""
    cdef ModelC* m = &model.c
    cdef Robot r = placed_robot(model, s)
    cdef Relative x
    cdef Held held
    cdef cnp.npy_intp n = row_count(model.spec)
    cdef cnp.ndarray gaps = new_array(1, &n)
    cdef cnp.ndarray other
    cdef double* to = <double*>cnp.PyArray_DATA(gaps)
    cdef int i, k
    if numbers is not None:
        other = np.ascontiguousarray(numbers, dtype=np.float64)
        r.held = <const double*>cnp.PyArray_DATA(other)
    for k in range(m.nk):
        evaluate_constraint(&m.scene.constraint[k], &m.scene.tree, &r, &x, &held)
        for i in range(held.rows):
            to[i] = held.gap[i]
        if held.potential == ONE_SIDED:
            to[0] = max(0.0, -held.gap[0])
        to += held.rows
    return gaps


cdef cnp.ndarray constraint_jacobian(Checked model, State s):
    """J (rows, nv), gaps = J v; of a rope, of its length."""
    cdef ModelC* m = &model.c
    cdef Robot r = placed_robot(model, s)
    cdef Memory lock = Memory(m.nv)                     # prescribed coordinates have columns, too
    cdef Relative x
    cdef Held held
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray J
    cdef double* to
    cdef int c, i, k
    shape[0], shape[1] = row_count(model.spec), m.nv
    J = new_array(2, shape)
    memset(cnp.PyArray_DATA(J), 0, cnp.PyArray_NBYTES(J))
    to = <double*>cnp.PyArray_DATA(J)
    for k in range(m.nv):
        lock.p[k] = r.lock[k] == 1.0
    r.lock = lock.p
    for k in range(m.nk):
        evaluate_constraint(&m.scene.constraint[k], &m.scene.tree, &r, &x, &held)
        jacobian_of_constraint(&s.c.contacts.columns, &m.scene.constraint[k], &m.scene.tree, &r, &x, &held)
        for c in range(s.c.contacts.columns.count):
            for i in range(held.rows):
                to[i * m.nv + s.c.contacts.columns.dof[c]] = s.c.contacts.columns.x[MOST_ROWS * c + i] * (
                    -1.0 if held.potential == ONE_SIDED else 1.0)
        to += held.rows * m.nv
    return J


cdef cnp.ndarray constraint_efforts(Checked model, State s):
    """(nk, TOUCH_COLUMNS) of constraints/touch.pxd: of the step that led here. None where none did."""
    cdef ModelC* m = &model.c
    cdef double* memory = <double*>s.c.contact_memory
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray rows
    if memory[KNOWN] == 0.0 or memory[STAMP] != stamp_of(m, &s.c, 0):
        return None
    shape[0], shape[1] = m.nk, TOUCH_COLUMNS
    rows = new_array(2, shape)
    memcpy(cnp.PyArray_DATA(rows), memory + (1 + m.scene.most_touches) * TOUCH_COLUMNS, cnp.PyArray_NBYTES(rows))
    return rows


cdef int check_closed(Checked model, State s) except -1:
    """MbrosError naming a constraint that a start violates. A state to which a step led is no start. What a live number, as a winch's, has
    been moved by since the model was built is no violation: the first step closes it, as any other would."""
    cdef ModelC* m = &model.c
    cdef double* memory
    if m.nk == 0 or m.scene == NULL:
        return 0
    memory = <double*>s.c.contact_memory
    if memory[KNOWN] != 0.0 and memory[STAMP] == stamp_of(m, &s.c, 0):
        return 0
    gaps = constraint_gaps(model, s)
    if not np.abs(gaps).max(initial=0.0) <= GAP_ALLOWED:
        gaps = np.where(np.abs(gaps) <= GAP_ALLOWED, gaps, constraint_gaps(model, s, model.spec.constraint_parameters))
    if not np.abs(gaps).max(initial=0.0) <= GAP_ALLOWED and np.isfinite(gaps).all():
        raise MbrosError(open_text(model.spec, gaps, GAP_ALLOWED))
    return 0
