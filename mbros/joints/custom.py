"""Joints of one's own: in Python, or in C or Cython.

Python, for trying things out (each evaluation takes the interpreter, some tens of microseconds; no real-time loop):

    class Slope(mbros.JointLaw):
        nq = nv = 1
        position_names, velocity_names = ("s",), ("sdot",)

        def pose(self, q):                  # X_FM: R (3, 3) and p (3,), m
            return np.eye(3), np.array([q[0], 0, 0.5 * q[0] ** 2])

        def subspace(self, q):              # H (6, nv): V_FM = H v, [angular; linear] about Mo in F axes
            return np.array([[0, 0, 0, 1, 0, q[0]]]).T

        def bias(self, q, v):               # Hdot v (6,)
            return np.array([0, 0, 0, 0, 0, v[0] ** 2])

    b.add_joint(mbros.CustomJoint("slope", b.world, cart, Slope()))

Where v is not qdot, a law also has qdot(q, v), velocity(q, qdot), integrate(q, dv), difference(q0, q1), normalize(q), and `neutral`.

C or Cython, at full speed and in the real-time loop: fill a `mbros_user_joint` (mbros_core/user.hpp), put it into a PyCapsule named
"mbros_core.user_joint", and give an object that has it as `.capsule`, and nq and nv.

What no function of q tells is stated by attributes, of a JointLaw or of the object with the capsule; each may be left out:

    position_names, velocity_names     suffixes of the coordinates' names: q0, q1, ... and v0, v1, ...
    position_units, velocity_units     "rad", "m", ...; "" for the parts of a unit quaternion or (cos, sin) pair
    neutral                            zeros; where v is not qdot, the q of no motion
    velocities_are_rates               whether v = qdot: nq == nv and, of a JointLaw, no maps of its own. Set it to False for a
                                       capsule with maps and nq == nv
    space                              a mbros.spaces.Space: derivatives of integrate and difference, and sampling, where v is not qdot
    subspace_gradient(q), ...          exact derivatives: mbros.joints.law_gradients, which has differences for the others
    velocity_bounds                    (linear, angular): the least numbers with |v_Mo| <= linear |v|, |w| <= angular |v|; inf
    reach(start, lower, upper)         the largest |p_FoMo_F(q) - start| for lower <= q <= upper, m; inf
"""
from __future__ import annotations

import ctypes

import numpy as np

from mbros_core.joints.registry import user_row

from mbros.checking import is_whole, refuse
from mbros.joints.kinds import UserKind
from mbros.joints.user import UserJoint

CAPSULE_NAME = b"mbros_core.user_joint"
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_EVALUATE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[_DOUBLES] * 5)
_MAP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[_DOUBLES] * 3)
_NORMALIZE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _DOUBLES)
MAPS = ("qdot", "velocity", "integrate", "difference")


class _Plug(ctypes.Structure):
    """struct mbros_user_joint of user.hpp."""

    _fields_ = [("self", ctypes.c_void_p), ("needs_gil", ctypes.c_int), ("nq", ctypes.c_int), ("nv", ctypes.c_int),
                ("evaluate", _EVALUATE), *((name, _MAP) for name in MAPS), ("normalize", _NORMALIZE)]


class JointLaw:
    """A joint kind written in Python. Subclasses give nq, nv, pose(q), subspace(q) and bias(q, v)."""

    nq = nv = 0
    failure = None              # the exception of the last evaluation

    def pose(self, q):
        """(R_FM (3, 3), p_FoMo_F (3,)) at q (nq,)."""
        raise NotImplementedError(f"{type(self).__name__} has no pose(q)")

    def subspace(self, q):
        """H_FM (6, nv) in F axes: V_FM = H v."""
        raise NotImplementedError(f"{type(self).__name__} has no subspace(q)")

    def bias(self, q, v):
        """Hdot_FM v (6,) in F axes."""
        raise NotImplementedError(f"{type(self).__name__} has no bias(q, v)")

    @property
    def velocities_are_rates(self) -> bool:
        """Whether v = qdot: no map is defined."""
        return not any(hasattr(self, name) for name in MAPS)

    @property
    def capsule(self):
        """The plug for the engine."""
        if "_plug" not in self.__dict__:
            sizes = {"qdot": (self.nq, self.nv, self.nq), "velocity": (self.nq, self.nq, self.nv),
                     "integrate": (self.nq, self.nv, self.nq), "difference": (self.nq, self.nq, self.nv)}
            own = [name for name in (*MAPS, "normalize") if hasattr(self, name)]
            if own and len(own) < 5 or not own and self.nq != self.nv:
                missing = ", ".join(name for name in (*MAPS, "normalize") if name not in own)
                refuse(f"joint law {type(self).__name__}", f"it has no {missing}",
                       "Laws whose v is not qdot have qdot, velocity, integrate, difference and normalize; others have none of them.")
            plug = _Plug(None, 1, self.nq, self.nv, _EVALUATE(self._evaluation(self.nq, self.nv)))
            for name in own:
                setattr(plug, name, _NORMALIZE(self._normalization(self.nq)) if name == "normalize" else _MAP(self._map(name, *sizes[name])))
            make = ctypes.pythonapi.PyCapsule_New
            make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
            self._plug = plug, make(ctypes.addressof(plug), CAPSULE_NAME, None)
        return self._plug[1]

    # What the engine calls reads and writes as many numbers as the struct says, whatever nq and nv have become since.

    def _evaluation(self, nq, nv):
        def evaluate(_, q, v, X, H, bias):
            def values():
                x, u = np.array(q[:nq]), np.array(v[:nv])
                R, p = self.pose(x)
                columns = np.asarray(self.subspace(x), float).reshape(6, nv)
                return (*np.asarray(R, float).reshape(9), *np.asarray(p, float).reshape(3), *columns.T.ravel(),
                        *np.asarray(self.bias(x, u), float).reshape(6))

            got = self._guarded(values, 12 + 6 * nv + 6)
            self._write(X, got[:12])
            self._write(H, got[12:12 + 6 * nv])
            self._write(bias, got[12 + 6 * nv:])

        return evaluate

    def _map(self, name, na, nb, n):
        def call(_, a, b, out):
            function = getattr(self, name)
            self._write(out, self._guarded(lambda: np.asarray(function(np.array(a[:na]), np.array(b[:nb])), float).reshape(n), n))

        return call

    def _normalization(self, nq):
        def normalize(_, q):
            self._write(q, self._guarded(lambda: np.asarray(self.normalize(np.array(q[:nq])), float).reshape(nq), nq))

        return normalize

    def _guarded(self, function, n):
        """Its n numbers; NaN when it raises: an exception must not pass through C. The engine notices the NaN."""
        try:
            values = [float(x) for x in function()]
            self.failure = None
            return values
        except BaseException as error:      # Ctrl-C too: the engine's caller raises it (mbros_core.user_code)
            self.failure = error
            return [np.nan] * n

    @staticmethod
    def _write(out, values):
        for i, value in enumerate(values):
            out[i] = value

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in ("_plug", "failure")}


class CustomJoint(UserJoint):
    """A joint with a law of its own: a JointLaw, or an object with `.capsule` ("mbros_core.user_joint"), nq and nv."""

    __slots__ = ()
    TYPE = "user"

    def __init__(self, name, parent, child, law, **options):
        self._setup(UserKind(checked(f"joint {name!r}", law)), name, parent, child, None, options)


def checked(element, law):
    """`law`, when it can be one."""
    nq, nv = getattr(law, "nq", None), getattr(law, "nv", None)
    if not (is_whole(nq) and is_whole(nv) and 1 <= nv <= 6 and nv <= nq <= 7):
        refuse(element, f"its law {law!r:.80} has nq {nq!r} and nv {nv!r}", "1 <= nv <= 6 and nv <= nq <= 7.")
    same_as_plug(element, law)
    for what, n in (("position_names", nq), ("velocity_names", nv), ("position_units", nq), ("velocity_units", nv), ("neutral", nq),
                    ("velocity_bounds", 2)):
        given = getattr(law, what, None)
        if given is not None and len(given) != n:
            refuse(element, f"its law's {what} has {len(given)} entries, expected {n}", "See mbros.joints.custom.")
    if isinstance(law, JointLaw):
        first_evaluation(element, law)
    return law


def same_as_plug(element, law):
    """Refuses an object that has no capsule, or says other things than the struct in it, by which the engine goes."""
    valid, pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    valid.restype, valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = getattr(law, "capsule", None)
    if not valid(capsule, CAPSULE_NAME):
        refuse(element, f"its law {law!r:.80} has no capsule {CAPSULE_NAME.decode()!r}",
               "Give a mbros.JointLaw, or an object with such a PyCapsule as .capsule.")
    plug = _Plug.from_address(pointer(capsule, CAPSULE_NAME))
    if (plug.nq, plug.nv) != (law.nq, law.nv):
        refuse(element, f"its law {law!r:.80} has nq {law.nq} and nv {law.nv}, and its capsule nq {plug.nq} and nv {plug.nv}",
               "Make them the same.")
    rates, maps = user_row(law).velocities_are_rates, bool(plug.qdot)
    if rates == maps:
        refuse(element, f"its law {law!r:.80} has velocities_are_rates {rates}, and its capsule has {'' if maps else 'no '}maps of its own",
               "Laws whose v is not qdot have velocities_are_rates = False and qdot, velocity, integrate, difference and normalize.")


def first_evaluation(element, law):
    """Refuses a law whose functions raise, give wrong shapes or no rotation at the neutral position."""
    q, v = np.array(getattr(law, "neutral", (0.0,) * law.nq), float), np.zeros(law.nv)
    try:
        R, p = law.pose(q)
        R, p, H, c = (np.asarray(x, float) for x in (R, p, law.subspace(q), law.bias(q, v)))
    except Exception as error:
        refuse(element, f"its law {type(law).__name__} raised {type(error).__name__}: {error}", "See JointLaw.")
    for what, x, shape in (("pose's R", R, (3, 3)), ("pose's p", p, (3,)), ("subspace", H, (6, law.nv)), ("bias", c, (6,))):
        if x.shape != shape or not np.isfinite(x).all():
            refuse(element, f"its law's {what} at the neutral position is {x.tolist()}", f"Give finite numbers of shape {shape}.")
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0:
        refuse(element, f"its law's R at the neutral position, {R.tolist()}, is not a rotation matrix", "See JointLaw.")
