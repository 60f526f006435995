# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""Wrenches on bodies and efforts in joints from outside, for so many steps: of a plant, beside its commands and never clamped.

Every row of the table is one of them. It acts on the mechanics (plant/inside.hpp, `advance`), under whatever devices the plant has, so
that a step which is taken again feels it again. What is due is decided by the counted time of the step, to the step.
"""
import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.string cimport memcpy, memset

from mbros_core.engine.arrays cimport constants_of, doubles_of
from mbros_core.plant.clamp cimport clamp_efforts
from mbros_core.plant.inside cimport mbros_devices, mbros_inside, mbros_piece
from mbros_core.realtime.mailbox cimport Mailbox

from mbros_core.engine._small import is_finite
from mbros_core.errors import MbrosError

cnp.import_array()

cdef enum:
    ROWS = 32
    # columns of a row
    KIND = 0                # 0: free
    NUMBER = 1              # which one it is, from 1; larger ones came later
    STEPS = 2               # it acts in so many; -1: until it is cleared
    BEGAN = 3               # the time at the start of the first of them; -1: the step to come
    BODY = 4                # compiled body, or velocity coordinate of an effort
    AXES = 5                # compiled body whose axes torque and force turn with; 0: the world's
    POINT = 6               # where the wrench acts, from the body's origin in its axes
    TORQUE = 9
    FORCE = 12
    WIDTH = 16
    # kinds; an effort's number stands in TORQUE, a payload's inertia from POINT on, and it does nothing here
    A_WRENCH = 1
    AN_EFFORT = 2
    A_PAYLOAD = 3

# For mbros.bench.disturbances, whose numbers are compared with these when it attaches some.
COLUMNS = dict(KIND=KIND, NUMBER=NUMBER, STEPS=STEPS, BEGAN=BEGAN, BODY=BODY, AXES=AXES, POINT=POINT, TORQUE=TORQUE, FORCE=FORCE, WIDTH=WIDTH,
               MOST=ROWS, WRENCH=A_WRENCH, EFFORT=AN_EFFORT, PAYLOAD=A_PAYLOAD)


cdef struct PushesC:
    mbros_inside* plant
    void* self                  # what its functions take
    int (*advance)(void* self, const double* tau, double dt) noexcept nogil
    void (*mean_accelerations)(void* self, const double* q, const double* v, double dt, double* a) noexcept nogil
    void (*kinematics)(void* self, const double* a) noexcept nogil
    int (*carried)(void* self) noexcept nogil
    int (*wrenches)(void* self, const int* bodies) noexcept nogil
    void (*stop)(void* self) noexcept nogil
    double* table               # (ROWS, WIDTH)
    double* external            # wrenches of the state (nb, 6), [torque; force] about the bodies' origins in world axes
    double* kept                # the same before the step
    double* pushed              # the same in it
    double* efforts             # (nv,) of the rows, in it
    double* tau
    Mailbox* mail
    int active                  # rows that may act
    bint pushing                # some did in the last step
    int nb
    int nv


cdef inline void recount(PushesC* c) noexcept nogil:
    cdef int k
    c.active = 0
    for k in range(ROWS):
        if c.table[k * WIDTH + KIND] == A_WRENCH or c.table[k * WIDTH + KIND] == AN_EFFORT:
            c.active += 1


cdef inline void take_mail(PushesC* c) noexcept nogil:
    """A whole table. A row that is there already goes on."""
    cdef const double* x
    cdef int k, i
    if not c.mail.take():
        return
    x = c.mail.taken_values()
    for k in range(ROWS):
        i = k * WIDTH
        if x[i + NUMBER] != c.table[i + NUMBER] or x[i + KIND] == 0.0:
            memcpy(c.table + i, x + i, WIDTH * sizeof(double))
    recount(c)


cdef inline bint acts(double* row, double now, double dt) noexcept nogil:
    """Whether a row acts in the step that begins now; one that is over is taken out."""
    if row[KIND] != A_WRENCH and row[KIND] != AN_EFFORT:
        return False
    if row[BEGAN] < 0.0:
        row[BEGAN] = now
    if now < row[BEGAN] - 0.5 * dt or (row[STEPS] >= 0.0 and now - row[BEGAN] > (row[STEPS] - 0.5) * dt):
        row[KIND] = 0.0
        return False
    return True


cdef inline void turn(const double* R, const double* x, double* out) noexcept nogil:
    cdef int i
    for i in range(3):
        out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2]


cdef inline void push(PushesC* c, const double* row) noexcept nogil:
    cdef const double* R = c.plant.X_WB + 12 * <int>row[BODY]
    cdef const double* A = c.plant.X_WB + 12 * <int>row[AXES]
    cdef double* to = c.external + 6 * <int>row[BODY]
    cdef double torque[3]
    cdef double force[3]
    cdef double arm[3]
    cdef int i
    turn(R, row + POINT, arm)
    if row[AXES] != 0.0:
        turn(A, row + TORQUE, torque)
        turn(A, row + FORCE, force)
    else:
        memcpy(torque, row + TORQUE, 3 * sizeof(double))
        memcpy(force, row + FORCE, 3 * sizeof(double))
    to[0] += torque[0] + arm[1] * force[2] - arm[2] * force[1]
    to[1] += torque[1] + arm[2] * force[0] - arm[0] * force[2]
    to[2] += torque[2] + arm[0] * force[1] - arm[1] * force[0]
    for i in range(3):
        to[3 + i] += force[i]


cdef int pushed_advance(void* self, const double* tau, double dt) noexcept nogil:
    cdef PushesC* c = <PushesC*>self
    cdef double now = c.plant.time[0]
    cdef double* row
    cdef bint placed = False
    cdef int k, code
    take_mail(c)
    c.pushing = c.active > 0
    if not c.pushing:
        return c.advance(c.self, tau, dt)
    memset(c.efforts, 0, c.nv * sizeof(double))
    memcpy(c.kept, c.external, 6 * c.nb * sizeof(double))
    for k in range(ROWS):
        row = c.table + k * WIDTH
        if not acts(row, now, dt):
            continue
        if row[KIND] == AN_EFFORT:
            c.efforts[<int>row[BODY]] += row[TORQUE]
            continue
        if not placed:                      # X_WB may be of before the last step
            c.kinematics(c.self, NULL)
            placed = True
        push(c, row)
    recount(c)
    for k in range(c.nv):
        c.tau[k] = tau[k] + c.efforts[k]
    memcpy(c.pushed, c.external, 6 * c.nb * sizeof(double))
    code = c.advance(c.self, c.tau, dt)
    memcpy(c.external, c.kept, 6 * c.nb * sizeof(double))
    return code


cdef int pushed_carried(void* self) noexcept nogil:
    """What joints carried under what pushed then; of a coordinate, without the effort from outside."""
    cdef PushesC* c = <PushesC*>self
    cdef double* effort = <double*>c.plant.carried_effort
    cdef int i, known
    if not c.pushing:
        return c.carried(c.self)
    memcpy(c.external, c.pushed, 6 * c.nb * sizeof(double))
    known = c.carried(c.self)
    memcpy(c.external, c.kept, 6 * c.nb * sizeof(double))
    for i in range(c.nv):
        effort[i] -= c.efforts[i]
    return known


cdef int pushed_wrenches(void* self, const int* bodies) noexcept nogil:
    cdef PushesC* c = <PushesC*>self
    cdef int known
    if not c.pushing:
        return c.wrenches(c.self, bodies)
    memcpy(c.external, c.pushed, 6 * c.nb * sizeof(double))
    known = c.wrenches(c.self, bodies)
    memcpy(c.external, c.kept, 6 * c.nb * sizeof(double))
    return known


cdef void pushed_mean_accelerations(void* self, const double* q, const double* v, double dt, double* a) noexcept nogil:
    cdef PushesC* c = <PushesC*>self
    c.mean_accelerations(c.self, q, v, dt, a)


cdef void pushed_kinematics(void* self, const double* a) noexcept nogil:
    cdef PushesC* c = <PushesC*>self
    c.kinematics(c.self, a)


cdef void pushed_stop(void* self) noexcept nogil:
    cdef PushesC* c = <PushesC*>self
    c.stop(c.self)


cdef int pushed_step(void* self, const double* effort, double dt) noexcept nogil:
    """Of a plant without devices: its efforts are clamped as its own step does."""
    cdef PushesC* c = <PushesC*>self
    cdef mbros_inside* p = c.plant
    clamp_efforts(c.nv, effort, p.effort_limit, p.effort, p.clamped)
    return p.advance(p.self, p.effort, dt)


cdef void pushed_reset(void* self) noexcept nogil:
    """Of a plant without devices: nothing pushes any more."""
    cdef PushesC* c = <PushesC*>self
    cdef int k
    for k in range(ROWS):
        if c.table[k * WIDTH + KIND] != A_PAYLOAD:
            c.table[k * WIDTH + KIND] = 0.0
    recount(c)


cdef class Pushes:
    """What pushes a plant from outside. table: (MOST, width), rows as COLUMNS names them.

    Attached for good to the plant that it is made for. While a loop has the plant, post() hands it a table.
    """
    cdef PushesC c
    cdef mbros_devices port
    cdef mbros_piece[2] pieces
    cdef readonly object plant
    cdef readonly object table
    cdef object held

    def __cinit__(self, plant):
        self.plant = plant
        self.c.plant = <mbros_inside*>PyCapsule_GetPointer(plant._inside, "mbros_core.inside")
        self.c.nb, self.c.nv = self.c.plant.nb, self.c.plant.nv
        external, own = plant.state.external_force, np.zeros(12 * self.c.nb + 2 * self.c.nv + 1)
        self.table = np.zeros((ROWS, WIDTH))
        self.held = external, own
        self.c.table, self.c.external, self.c.kept = doubles_of(self.table, 2), doubles_of(external, 2), doubles_of(own, 1)
        self.c.pushed = self.c.kept + 6 * self.c.nb
        self.c.tau = self.c.pushed + 6 * self.c.nb
        self.c.efforts = self.c.tau + self.c.nv
        self.c.mail = new Mailbox(ROWS * WIDTH)
        self.c.self, self.c.advance = self.c.plant.self, self.c.plant.advance
        self.c.mean_accelerations, self.c.kinematics = self.c.plant.mean_accelerations, self.c.plant.kinematics
        self.c.carried, self.c.wrenches, self.c.stop = self.c.plant.carried, self.c.plant.wrenches, self.c.plant.stop
        if self.c.advance == pushed_advance:
            raise MbrosError("disturbances: this plant has some already; it can have one table of them")
        if plant.devices is None:
            self.port.self, self.port.step, self.port.reset = <void*>&self.c, pushed_step, pushed_reset
            self.pieces[0] = mbros_piece(self.c.table, ROWS * WIDTH * sizeof(double))
            self.pieces[1] = mbros_piece(self.c.kept, own.nbytes)
            self.port.pieces, self.port.npieces = self.pieces, 2
            plant._attach(self)
        else:
            plant.devices.kept = self           # who has the plant has its disturbances
        self.c.plant.self, self.c.plant.advance = <void*>&self.c, pushed_advance
        self.c.plant.mean_accelerations, self.c.plant.kinematics = pushed_mean_accelerations, pushed_kinematics
        self.c.plant.carried, self.c.plant.wrenches, self.c.plant.stop = pushed_carried, pushed_wrenches, pushed_stop

    def __dealloc__(self):
        del self.c.mail

    @property
    def capsule(self):
        """The plug for Plant._attach."""
        return PyCapsule_New(&self.port, "mbros_core.plant", NULL)

    def put(self, table):
        """This table from the next step on. The plant must be free."""
        self.plant.state._check_free()
        memcpy(self.c.table, self.checked(table), ROWS * WIDTH * sizeof(double))
        recount(&self.c)

    def post(self, table):
        """The same from another thread than the one that steps; rows with the number that they have now go on as they are."""
        memcpy(self.c.mail.values(), self.checked(table), ROWS * WIDTH * sizeof(double))
        self.c.mail.post()

    def check(self, table):
        """MbrosError where put() and post() would refuse it."""
        self.checked(table)

    cdef const double* checked(self, object table) except NULL:
        cdef const double* row
        cdef int k, most
        x = np.ascontiguousarray(table, np.float64)
        if x.shape != (ROWS, WIDTH) or not is_finite(x):
            raise MbrosError(f"disturbances: expected a table of {ROWS} times {WIDTH} finite numbers, got {x.shape}")
        row = constants_of(x, 2)
        for k in range(ROWS):
            most = self.c.nv if row[KIND] == AN_EFFORT else self.c.nb
            if not (row[KIND] == 0.0 or 0.0 <= row[BODY] < most) or not 0.0 <= row[AXES] < self.c.nb:
                raise MbrosError("disturbances: a row names a body or a coordinate that the plant does not have")
            row += WIDTH
        self.held = (*self.held[:2], x)
        return constants_of(x, 2)
