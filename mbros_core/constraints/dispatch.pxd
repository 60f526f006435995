"""The kinds of constraints: the one place that knows them all. In the order of kinds.py."""
from mbros_core.constraints.ball cimport ball
from mbros_core.constraints.columns cimport Columns, relative_columns
from mbros_core.constraints.constraint cimport Constraint, Held, Relative, motion_between, number_of
from mbros_core.constraints.coupler cimport coupler, coupler_columns
from mbros_core.constraints.distance cimport distance
from mbros_core.constraints.hinge cimport hinge
from mbros_core.constraints.problem cimport MOST_ROWS
from mbros_core.constraints.robot cimport Robot, Tree
from mbros_core.constraints.slider cimport cylindrical, planar, prismatic
from mbros_core.constraints.universal cimport universal
from mbros_core.constraints.weld cimport weld

cdef enum ConstraintKind:
    BALL = 0
    WELD = 1
    HINGE = 2
    DISTANCE = 3
    COUPLER = 4
    UNIVERSAL = 5
    PRISMATIC = 6
    CYLINDRICAL = 7
    PLANAR = 8
    NUMBER_OF_CONSTRAINT_KINDS = 9

cdef enum:
    LENGTH = 0                # of a distance, among its numbers


cdef inline int component(const Constraint* c, int row) noexcept nogil:
    """Which of velocity along n, t, s and angular velocity along them, 0 to 5, a row is."""
    if c.kind == PRISMATIC or c.kind == CYLINDRICAL:
        return row if row < 2 else row + 1
    return row + 2 if c.kind == PLANAR else row


cdef inline bint is_rope(const Constraint* c) noexcept nogil:
    return c.kind == DISTANCE and c.flag != 0


cdef inline void evaluate(const Constraint* c, const Tree* m, const Robot* r, Relative* x, Held* h) noexcept nogil:
    """What it holds here. x: where its frames are, where it has some."""
    if c.kind == COUPLER:
        coupler(c, r, h)
        return
    x[0] = motion_between(c, m, r)
    if c.kind == BALL:
        ball(x, h)
    elif c.kind == WELD:
        weld(x, h)
    elif c.kind == HINGE:
        hinge(x, h)
    elif c.kind == UNIVERSAL:
        universal(x, h)
    elif c.kind == PRISMATIC:
        prismatic(x, h)
    elif c.kind == CYLINDRICAL:
        cylindrical(x, h)
    elif c.kind == PLANAR:
        planar(x, h)
    else:
        distance(x, number_of(c, r, LENGTH), c.flag, h)


cdef inline void choose_rows(Columns* columns, const Constraint* c, int rows) noexcept nogil:
    """Of the six numbers of each column those of the rows, first."""
    cdef int i, k
    for i in range(rows):
        for k in range(columns.count):
            columns.x[MOST_ROWS * k + i] = columns.x[MOST_ROWS * k + component(c, i)]
        if columns.given:
            columns.by_given[i] = columns.by_given[component(c, i)]


cdef inline void jacobian(Columns* columns, const Constraint* c, const Tree* m, const Robot* r, const Relative* x,
                          const Held* h) noexcept nogil:
    """J of what evaluate() found; of its columns the first h.rows numbers. Locked coordinates are left out."""
    if c.kind == COUPLER:
        coupler_columns(columns, c, r)
    else:
        relative_columns(columns, m, r, c.body_a, c.body_b, x.B.p, &h.axes, component(c, h.rows - 1) > 2)
        if component(c, h.rows - 1) >= h.rows:
            choose_rows(columns, c, h.rows)
