# distutils: language = c++
"""Joints, force elements and laws of motion written in Python, as the engine calls them: C functions that take the interpreter lock and call a method.

No exception may pass through C, and none is lost there. What the method raises is kept, with the place at which it was asked, and its
numbers are NaN, which the engine notices; mbros_core.engine.user_code.raised then raises or tells it. All of it, from the first byte
of Python to the exception in its slot, is compiled: no signal handler can run, and raise, between the two.

    interrupts (KeyboardInterrupt, SystemExit)   stay until they are reported; the method is not called meanwhile
    exceptions                                   stay until they are reported, or until the method answers at another place

A method is never asked about numbers that are not finite: NaN goes in, NaN comes out. Nor is one asked that the same thread has not
left yet: user code that calls the engine for what depends on it would go round until the stack ends. That is a BusyError.
"""
import numpy as np
cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetContext
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport isfinite
from libc.string cimport memcmp, memcpy, memset

from mbros_core.forces.user cimport mbros_user_force
from mbros_core.integrators.laws cimport Laws
from mbros_core.integrators.prescribed cimport MOTION_COLUMNS
from mbros_core.joints.user cimport mbros_user_joint

from mbros_core.errors import BusyError

cnp.import_array()

FORCE, JOINT, LAWS = "mbros_core.user_force", "mbros_core.user_joint", "mbros_core.laws"
cdef const char* FORCE_CAPSULE = "mbros_core.user_force"
cdef const char* JOINT_CAPSULE = "mbros_core.user_joint"
cdef const char* LAWS_CAPSULE = "mbros_core.laws"

cdef enum:
    MOST_NQ = 7
    MOST_NV = 6
    PLACE = 18              # numbers that say where a method was asked: X_AC and V_AC, or q


cdef class Callback:
    """A Python object whose methods the engine calls, and the exception of the one that raised."""
    cdef object owner
    cdef readonly object failure
    cdef double place[PLACE]
    cdef set inside         # threads that are in its code now

    def __cinit__(self):
        self.inside = set()

    cdef object ask(self, object method, tuple args):
        """What the method gives; BusyError where this thread has not returned from one yet."""
        cdef object thread = PyThread_get_thread_ident()
        if thread in self.inside:
            raise BusyError(f"{type(self.owner).__name__} was asked again before it had answered: its own code calls the model or the "
                            "simulator for something that depends on its answer. Compute it from the arguments alone")
        self.inside.add(thread)
        try:
            return method(*args)
        finally:
            self.inside.discard(thread)

    cdef bint may_ask(self, const double* x, int n) noexcept:
        """Whether to call Python about these numbers."""
        cdef int i
        for i in range(n):
            if not isfinite(x[i]):
                return False
        return self.failure is None or isinstance(self.failure, Exception)

    cdef void failed(self, object error, const double* x, int n) noexcept:
        """Keep an exception: the first one, but an interrupt before all others."""
        if self.failure is None or (isinstance(self.failure, Exception) and not isinstance(error, Exception)):
            self.failure = error
            memset(self.place, 0, sizeof(self.place))
            memcpy(self.place, x, n * sizeof(double))

    cdef void answered(self, const double* x, int n) noexcept:
        """What was raised elsewhere is over. At the same place it is not: one evaluation is several calls."""
        if self.failure is not None and memcmp(self.place, x, n * sizeof(double)) != 0:
            self.failure = None

    def take_failure(self):
        """The exception that is kept, or None; it is reported once."""
        error, self.failure = self.failure, None
        return error


cdef class ForceCallback(Callback):
    """A mbros_user_force that calls owner.evaluate_numbers(X (12,), V (6,)) -> (wrench (6,), three numbers)."""
    cdef mbros_user_force plug

    def __init__(self, owner):
        self.owner = owner
        self.plug.self, self.plug.needs_gil, self.plug.evaluate = <void*>self, 1, evaluate_force

    @property
    def capsule(self):
        """The plug for the engine; it keeps this object alive."""
        return capsule_of(self, &self.plug, FORCE_CAPSULE)


cdef class JointCallback(Callback):
    """A mbros_user_joint that calls owner.evaluate_numbers(q, v) -> 12 + 6 nv + 6 numbers, and with `maps` owner.qdot(q, v) and the
    other four."""
    cdef mbros_user_joint plug

    def __init__(self, owner, int nq, int nv, bint maps):
        if not (1 <= nv <= MOST_NV and nv <= nq <= MOST_NQ):
            raise ValueError(f"nq {nq}, nv {nv}: expected 1 <= nv <= {MOST_NV} and nv <= nq <= {MOST_NQ}")
        self.owner = owner
        self.plug.self, self.plug.needs_gil, self.plug.nq, self.plug.nv = <void*>self, 1, nq, nv
        self.plug.evaluate = evaluate_joint
        if maps:
            self.plug.qdot, self.plug.velocity = map_qdot, map_velocity
            self.plug.integrate, self.plug.difference, self.plug.normalize = map_integrate, map_difference, map_normalize

    @property
    def capsule(self):
        """The plug for the engine; it keeps this object alive."""
        return capsule_of(self, &self.plug, JOINT_CAPSULE)


cdef class LawsCallback(Callback):
    """Laws of motion (integrators/laws.pxd) that call owner.laws_at(t) -> (q, v, a) of each joint in turn.

    places: (iq, nq, iv, nv) of each joint. Whatever is raised is kept until take_failure(), and the numbers are NaN.
    """
    cdef Laws plug
    cdef tuple places

    def __init__(self, owner, places):
        self.owner = owner
        self.places = tuple((int(iq), int(nq), int(iv), int(nv)) for iq, nq, iv, nv in places)
        self.plug.self, self.plug.at = <void*>self, laws_at

    cdef void unknown(self, double* motion_q, double* motion) noexcept:
        """No joint's law is a number."""
        cdef int iq, nq, iv, nv
        for iq, nq, iv, nv in self.places:
            memset(motion_q + iq, 0xff, nq * sizeof(double))
            memset(motion + iv * MOTION_COLUMNS, 0xff, nv * MOTION_COLUMNS * sizeof(double))

    @property
    def capsule(self):
        """The plug for the engine; it keeps this object alive."""
        return capsule_of(self, &self.plug, LAWS_CAPSULE)


# ---------------------------------------------------------------------------------------------------- the C functions

cdef void evaluate_force(void* self, const double* X, const double* V, double* wrench, double* numbers) noexcept with gil:
    cdef ForceCallback c = <ForceCallback>self
    cdef double place[PLACE]
    memcpy(place, X, 12 * sizeof(double))
    memcpy(place + 12, V, 6 * sizeof(double))
    if not c.may_ask(place, 18):
        return
    try:
        F, rest = c.ask(c.owner.evaluate_numbers, (array(X, 12), array(V, 6)))
        give(F, wrench, 6, "the wrench")
        give(rest, numbers, 3, "energy and powers")
        c.answered(place, 18)
    except BaseException as error:
        memset(wrench, 0xff, 6 * sizeof(double))            # all bits set: NaN
        memset(numbers, 0xff, 3 * sizeof(double))
        c.failed(error, place, 18)


cdef void evaluate_joint(void* self, const double* q, const double* v, double* X, double* H, double* bias) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    cdef int nq = c.plug.nq, nv = c.plug.nv
    cdef double out[12 + 6 * MOST_NV + 6]
    if not (c.may_ask(q, nq) and c.may_ask(v, nv)):
        return
    try:
        give(c.ask(c.owner.evaluate_numbers, (array(q, nq), array(v, nv))), out, 12 + 6 * nv + 6,
             f"pose, subspace and bias for nv {nv}")
        memcpy(X, out, 12 * sizeof(double))
        memcpy(H, out + 12, 6 * nv * sizeof(double))
        memcpy(bias, out + 12 + 6 * nv, 6 * sizeof(double))
        c.answered(q, nq)
    except BaseException as error:
        c.failed(error, q, nq)


cdef void ask_map(JointCallback c, str name, const double* a, int na, const double* b, int nb, double* out, int n) noexcept:
    """One of the maps (a, b) -> out; b of no numbers: a -> out."""
    cdef double given[MOST_NQ]
    cdef double result[MOST_NQ]
    memcpy(given, a, na * sizeof(double))                   # out may be a
    memset(result, 0xff, sizeof(result))
    if c.may_ask(a, na) and c.may_ask(b, nb):
        try:
            method = getattr(c.owner, name)
            give(c.ask(method, (array(a, na),) if nb == 0 else (array(a, na), array(b, nb))), result, n, name)
            c.answered(given, na)
        except BaseException as error:
            memset(result, 0xff, sizeof(result))
            c.failed(error, given, na)
    memcpy(out, result, n * sizeof(double))


cdef void map_qdot(void* self, const double* q, const double* v, double* qdot) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    ask_map(c, "qdot", q, c.plug.nq, v, c.plug.nv, qdot, c.plug.nq)


cdef void map_velocity(void* self, const double* q, const double* qdot, double* v) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    ask_map(c, "velocity", q, c.plug.nq, qdot, c.plug.nq, v, c.plug.nv)


cdef void map_integrate(void* self, const double* q, const double* dv, double* out) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    ask_map(c, "integrate", q, c.plug.nq, dv, c.plug.nv, out, c.plug.nq)


cdef void map_difference(void* self, const double* q0, const double* q1, double* dv) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    ask_map(c, "difference", q0, c.plug.nq, q1, c.plug.nq, dv, c.plug.nv)


cdef void map_normalize(void* self, double* q) noexcept with gil:
    cdef JointCallback c = <JointCallback>self
    ask_map(c, "normalize", q, c.plug.nq, NULL, 0, q, c.plug.nq)


cdef void laws_at(void* self, double t, double* motion_q, double* motion) noexcept with gil:
    cdef LawsCallback c = <LawsCallback>self
    cdef double numbers[MOST_NQ]
    cdef double* row
    cdef int iq, nq, iv, nv, k
    if c.failure is not None:               # it stays so until it is told: the step fails, whatever comes later
        c.unknown(motion_q, motion)
        return
    try:
        for place, law in zip(c.places, c.ask(c.owner.laws_at, (t,)), strict=True):
            iq, nq, iv, nv = place
            row = motion + iv * MOTION_COLUMNS
            for k in range(nv):
                row[k * MOTION_COLUMNS] = t
                row[k * MOTION_COLUMNS + 3] = row[k * MOTION_COLUMNS + 4] = 0.0
            give(law[0], motion_q + iq, nq, "q")
            give(law[1], numbers, nv, "v")
            for k in range(nv):
                row[k * MOTION_COLUMNS + 1] = numbers[k]
            give(law[2], numbers, nv, "a")
            for k in range(nv):
                row[k * MOTION_COLUMNS + 2] = numbers[k]
    except BaseException as error:
        c.failed(error, &t, 1)
        c.unknown(motion_q, motion)


# ------------------------------------------------------------------------------------------------------------- numbers

cdef cnp.ndarray array(const double* x, int n):
    """A new array (n,) of the numbers."""
    cdef cnp.npy_intp size = n
    cdef cnp.ndarray a = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_DOUBLE)
    memcpy(cnp.PyArray_DATA(a), x, n * sizeof(double))
    return a


cdef int give(object values, double* out, int n, str what) except -1:
    """The n numbers that Python gave."""
    cdef cnp.ndarray a = np.ascontiguousarray(values, dtype=np.float64)
    if a.size != n:
        raise ValueError(f"{what}: expected {n} numbers, got {a.size}")
    memcpy(out, cnp.PyArray_DATA(a), n * sizeof(double))
    return 0


# ------------------------------------------------------------------------------------------------------------ capsules

cdef object capsule_of(object owner, void* plug, const char* name):
    """A capsule that owns a reference to `owner`, in whose memory the plug is."""
    capsule = PyCapsule_New(plug, name, let_go)
    PyCapsule_SetContext(capsule, <void*>owner)
    Py_INCREF(owner)
    return capsule


cdef void let_go(object capsule) noexcept:
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


def is_capsule(thing, str name not None):
    """Whether it is a PyCapsule of that name, FORCE or JOINT."""
    return bool(PyCapsule_IsValid(thing, FORCE_CAPSULE if name == FORCE else JOINT_CAPSULE))


def joint_facts(capsule):
    """(nq, nv, whether it has configuration maps) of the struct in a capsule named JOINT."""
    cdef const mbros_user_joint* plug = <const mbros_user_joint*>PyCapsule_GetPointer(capsule, JOINT_CAPSULE)
    return plug.nq, plug.nv, plug.qdot != NULL
