"""Is a ModelSpec well formed? Shapes, indices, finite numbers; named errors. (Physics is checked by the builder.)"""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.constraints.kinds import BY_NAME as CONSTRAINTS
from mbros_core.constraints.registry import CONTACT_COLUMNS, CONTACT_NUMBERS, unfit
from mbros_core.errors import MbrosError, NonFiniteError, WrongTypeError, called, rotations, zero_rotation
from mbros_core.forces.registry import BY_NAME as FORCES, PARAMETERS, row_of as force_row_of
from mbros_core.joints.registry import BY_NAME, row_of
from mbros_core.support.numbers import short
from mbros_core.spec import ModelSpec

if TYPE_CHECKING:
    from mbros_core.engine._engine import Model
    from mbros_core.typing import Array

LARGEST = 1e10      # beyond it (in SI units) a coordinate of a moving plant counts as blown up: the bound MuJoCo uses (mjMAXVAL)

SHAPES = ("shape_body", "shape_X", "shape_parameters", "shape_excluded")
ROTATION = 1e-6     # how far R R^T of a shape's pose may be from the identity

MOST_STEPS = 2**53  # steps are counted in a double, which is exact up to here


def step_count(who: str, n: object) -> int:
    """n as a number of steps; MbrosError, beginning with `who`, for what is none or more than can be counted."""
    if isinstance(n, (int, np.integer)) and not isinstance(n, bool) and 0 <= n <= MOST_STEPS:
        return int(n)
    raise MbrosError(f"{who}: expected a whole number of steps, 0 to {MOST_STEPS} (2^53, as many as can be counted), got {short(n)}")


def check_spec(spec: object) -> ModelSpec:
    """The spec, frozen, when a model can be built of it; else MbrosError naming the element, what was expected and what was given."""
    if not isinstance(spec, ModelSpec):
        raise WrongTypeError(f"Model: expected a mbros_core.spec.ModelSpec, got {short(spec)}")
    spec = spec.frozen()
    nb = len(spec.parent) if spec.parent.ndim == 1 else 0
    if nb < 1:
        raise MbrosError(f"model {spec.name!r}: expected at least the world body in ModelSpec.parent, got shape {spec.parent.shape}")
    for name in ("body_names", "joint_names", "joint_kind"):
        _expect_words(spec, name, nb)
    _expect_array(spec, "leader", (nb,))
    nq = nv = 0
    for i in range(nb):
        kind = spec.joint_kind[i]
        if kind == "user":
            _check_user_joint(spec, i)
        elif kind not in BY_NAME:
            raise MbrosError(f"joint {spec.joint_names[i]!r}: unknown kind {kind!r}; expected one of {', '.join(BY_NAME)}")
        if spec.leader[i] < 0:
            nq += row_of(spec, i).nq
            nv += row_of(spec, i).nv
    _check_tree(spec, nb)
    nf = spec.frame_body.size
    shapes = {
        "gravity": (3,), "X_PF": (nb, 12), "joint_parameters": (nb, 4), "ratio": (nb,), "offset": (nb,),
        "inertia": (nb, 10), "q_default": (nq,), "damping": (nv,), "friction": (nv,), "rotor_inertia": (nv,),
        "stop_stiffness": (nv,), "stop_damping": (nv,), "frame_body": (nf,), "X_BF": (nf, 12), "lock": (nv,),
    }
    for name, shape in shapes.items():
        _expect_array(spec, name, shape)
    for name, n in (("q_lower", nq), ("q_upper", nq), ("velocity_limit", nv), ("effort_limit", nv)):
        _expect_array(spec, name, (n,), finite=False)
    _check_force_elements(spec, nb, nq, nv)
    if spec.shape_names or spec.shape_geometry or any(getattr(spec, name).size for name in SHAPES):
        _check_shapes(spec, nb)
    _check_constraints(spec, nb, nq, nv)
    _expect_words(spec, "frame_names", nf)
    for k in np.flatnonzero((spec.frame_body < 0) | (spec.frame_body >= nb)):
        raise MbrosError(f"frame {spec.frame_names[k]!r}: body index {spec.frame_body[k]} is outside 0..{nb - 1}")
    return spec


def _check_user_joint(spec: ModelSpec, i: int) -> None:
    joint = spec.user_joints.get(i)
    if spec.user_rows.get(i) is None or not hasattr(joint, "capsule"):
        raise MbrosError(f"joint {spec.joint_names[i]!r} of kind 'user': expected ModelSpec.user_joints[{i}] with a capsule, "
                         f"1 <= nv <= 6, nv <= nq <= 7, and as many names and units as coordinates, got {short(joint)}")


def _check_force_elements(spec: ModelSpec, nb: int, nq: int, nv: int) -> None:
    n = spec.force_parameters.shape[0] if spec.force_parameters.ndim == 2 else 0
    for name in ("force_names", "force_kind"):
        _expect_words(spec, name, n)
    for name, shape in (("force_body", (n, 2)), ("force_X", (n, 2, 12)), ("force_coordinate", (n, 2)),
                        ("force_parameters", (n, PARAMETERS))):
        _expect_array(spec, name, shape)
    for k, kind in enumerate(spec.force_kind):
        name = spec.force_names[k]
        if kind == "user" and hasattr(spec.user_forces.get(k), "capsule"):
            pass
        elif kind not in FORCES:
            raise MbrosError(f"force element {name!r}: unknown kind {kind!r}; expected one of {', '.join(FORCES)}")
        (a, c), (iq, iv) = spec.force_body[k], spec.force_coordinate[k]
        fits = {"pair": 0 <= a < nb and 0 <= c < nb and iv == -1, "body": a == -1 and 0 <= c < nb and iv == -1,
                "coordinate": 0 <= iq < nq and 0 <= iv < nv}[force_row_of(spec, k).acts_on]
        if not fits:
            raise MbrosError(f"force element {name!r} ({kind}): bodies ({a}, {c}) and coordinates ({iq}, {iv}) do not fit an "
                             f"element that acts on a {force_row_of(spec, k).acts_on}; the model has {nb} bodies, nq {nq}, nv {nv}")
    _check_force_parameters(spec, spec.force_parameters)


def _check_shapes(spec: ModelSpec, nb: int) -> None:
    from mbros_core.geometry import Shape      # start-up time: who has no shapes does not pay

    n = len(spec.shape_names)
    _expect_words(spec, "shape_names", n)
    for name, times in Counter(spec.shape_names).items():
        if times > 1:
            raise MbrosError(f"ModelSpec.shape_names of {spec.name!r}: {times} shapes are called {name!r}; every shape needs a name of its "
                             "own")
    if not isinstance(spec.shape_geometry, (list, tuple)) or len(spec.shape_geometry) != n:
        raise MbrosError(f"ModelSpec.shape_geometry of {spec.name!r}: expected a list of {n} shapes, got {short(spec.shape_geometry)}")
    pairs = len(spec.shape_excluded) if spec.shape_excluded.ndim == 2 else 0
    for name, shape in (("shape_body", (n,)), ("shape_X", (n, 12)), ("shape_parameters", (n, CONTACT_COLUMNS)),
                        ("shape_excluded", (pairs, 2))):
        _expect_array(spec, name, shape)
    for k, name in enumerate(spec.shape_names):
        if not isinstance(spec.shape_geometry[k], Shape):
            raise MbrosError(f"shape {name!r}: expected a mbros_core.geometry.Shape, got {short(spec.shape_geometry[k])}")
        if not 0 <= spec.shape_body[k] < nb:
            raise MbrosError(f"shape {name!r}: body index {spec.shape_body[k]} is outside 0..{nb - 1}")
        R = spec.shape_X[k, :9].reshape(3, 3)
        if np.abs(R @ R.T - np.eye(3)).max() > ROTATION or np.linalg.det(R) < 0.0:
            raise MbrosError(f"shape {name!r}: its R {R.tolist()} is no rotation; expected orthogonal unit vectors, right-handed, to "
                             f"{ROTATION:g}")
    for a, b in spec.shape_excluded.tolist():
        if not 0 <= a < b < n:
            raise MbrosError(f"ModelSpec.shape_excluded of {spec.name!r}: the pair ({a}, {b}) is none of 0 <= a < b < {n}")
    check_contact_parameters(spec.shape_names, spec.shape_parameters)


def check_contact_parameters(names: Sequence[str], rows: Array) -> None:
    """MbrosError for numbers of shapes in contact, (ns, 6), that cannot be."""
    for column, number in enumerate(CONTACT_NUMBERS):
        for k, value in enumerate(rows[:, column].tolist()):
            wrong = unfit(number, value)
            if wrong:
                raise MbrosError(f"{number.name} of shape {names[k]!r} is {value:g}{number.unit and ' ' + number.unit}; expected {wrong}")


def _check_constraints(spec: ModelSpec, nb: int, nq: int, nv: int) -> None:
    n = spec.constraint_parameters.shape[0] if spec.constraint_parameters.ndim == 2 else 0
    for name in ("constraint_names", "constraint_kind"):
        _expect_words(spec, name, n)
    for name, shape in (("constraint_body", (n, 2)), ("constraint_X", (n, 2, 12)), ("constraint_coordinate", (n, 2, 2)),
                        ("constraint_parameters", (n, 4))):
        _expect_array(spec, name, shape)
    for k, kind in enumerate(spec.constraint_kind):
        who = f"constraint {spec.constraint_names[k]!r}"
        if kind not in CONSTRAINTS:
            raise MbrosError(f"{who}: unknown kind {kind!r}; expected one of {', '.join(CONSTRAINTS)}")
        (a, b), (of_a, of_b) = spec.constraint_body[k].tolist(), spec.constraint_coordinate[k].tolist()
        if CONSTRAINTS[kind].acts_on == "frames" and not (0 <= a < nb and 0 <= b < nb and a != b):
            raise MbrosError(f"{who} ({kind}): bodies ({a}, {b}): expected two different ones of 0..{nb - 1}")
        if CONSTRAINTS[kind].acts_on == "coordinates" and not (all(0 <= iq < nq and 0 <= iv < nv for iq, iv in (of_a, of_b))
                                                               and of_a[1] != of_b[1]):
            raise MbrosError(f"{who} ({kind}): coordinates {of_a} and {of_b}: expected two different ones of nq {nq}, nv {nv}")
    _check_constraint_parameters(spec, spec.constraint_parameters)


def _check_constraint_parameters(spec: ModelSpec, rows: Array) -> None:
    """MbrosError for numbers of constraints, (nk, 4), that cannot be."""
    for name, kind, row in zip(spec.constraint_names, spec.constraint_kind, rows):
        if kind == "distance" and not (row[0] > 0.0 and row[1] in (0.0, 1.0)):
            raise MbrosError(f"constraint {name!r} ({kind}): length {row[0]:g} m, rope {row[1]:g}: expected a length above zero, and 0 or "
                             "1")


def _check_tree(spec: ModelSpec, nb: int) -> None:
    if spec.parent[0] != -1 or spec.joint_kind[0] != "weld" or spec.leader[0] >= 0:
        raise MbrosError(f"body 0 must be the world (parent -1, kind 'weld', no leader), got parent {spec.parent[0]}, "
                         f"kind {spec.joint_kind[0]!r}, leader {spec.leader[0]}")
    for i in range(1, nb):
        if not 0 <= spec.parent[i] < i:
            raise MbrosError(f"body {spec.body_names[i]!r} (index {i}): parent index {spec.parent[i]} is outside 0..{i - 1}")
        leader = spec.leader[i]
        if leader >= 0:
            if not 0 < leader < nb or leader == i or spec.leader[leader] >= 0 \
                    or row_of(spec, leader).nq != 1 or row_of(spec, i).nq != 1:
                raise MbrosError(f"joint {spec.joint_names[i]!r} follows joint index {leader}, which must be another "
                                 "one-axis joint with coordinates of its own")


def _expect_words(spec: ModelSpec, name: str, n: int) -> None:
    words = getattr(spec, name)
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise MbrosError(f"ModelSpec.{name} of {spec.name!r}: expected a list of {n} names, got {short(words)}")
    if len(words) != n:
        raise MbrosError(f"ModelSpec.{name} of {spec.name!r}: expected {n} entries, got {len(words)}")


def _expect_array(spec: ModelSpec, name: str, shape: tuple[int, ...], finite: bool = True) -> None:
    if name == "lock" and spec.lock is None:
        return
    array: np.ndarray = getattr(spec, name)
    if array.shape != shape:
        raise MbrosError(f"ModelSpec.{name} of {spec.name!r}: expected shape {shape}, got {array.shape}")
    bad = ~np.isfinite(array) if finite else np.isnan(array)
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        raise NonFiniteError(f"ModelSpec.{name}{list(where)} of {spec.name!r}: expected a finite number, got {array[where]}")


def check_parameters(spec: ModelSpec, names: Sequence[str], values: Mapping[str, Array]) -> None:
    """MbrosError for a parameter of a moving plant that cannot be. values: field -> array of finite numbers; names: of
    the velocity coordinates."""
    for field in ("damping", "friction", "rotor_inertia", "stop_stiffness", "stop_damping"):
        for k in np.flatnonzero(values[field].ravel() < 0.0).tolist():
            raise MbrosError(f"{field} of {names[k]!r} is {values[field].ravel()[k]:g}; expected zero or more")
    check_locks(names, values["lock"].ravel())
    for k in np.flatnonzero(values["inertia"].reshape(-1, 10)[:, 0] < 0.0).tolist():
        raise MbrosError(f"mass of body {spec.body_names[k]!r} is {values['inertia'].reshape(-1, 10)[k, 0]:g} kg; expected zero or more")
    _check_force_parameters(spec, values["force_parameters"].reshape(-1, PARAMETERS))
    check_contact_parameters(spec.shape_names, values["contact_parameters"].reshape(-1, CONTACT_COLUMNS))
    _check_constraint_parameters(spec, values["constraint_parameters"].reshape(-1, 4))


def check_locks(names: Sequence[str], lock: Array) -> None:
    """MbrosError for a lock that is none. lock (nv,); names: of the velocity coordinates."""
    for k in np.flatnonzero(~np.isin(lock, (0.0, 1.0, 2.0))).tolist():
        raise MbrosError(f"lock of {names[k]!r} is {lock[k]:g}; expected 0 or 1, or 2 where it is prescribed")


def check_state(model: Model, q: Array, v: Array) -> None:
    """MbrosError for a state that a moving plant cannot be put at. NaN: that coordinate stays as it is."""
    for what, values, names in (("q", q, model.position_names), ("v", v, model.velocity_names)):
        for k in np.flatnonzero(np.abs(values) >= LARGEST):
            raise MbrosError(f"{what}[{k}] ({names[k]!r}) is {values[k]:g}; expected less than {LARGEST:g}")
    for joint, part in rotations(model):
        if np.isnan(q[part]).any() and not np.isnan(q[part]).all():
            raise MbrosError(f"the {called(part)} of joint {joint!r}, q[{part.start}:{part.stop}] = {q[part].tolist()}, is given in "
                             "part; expected all of it, or NaN for all of it")
    problem = zero_rotation(model, {"q": q})
    if problem:
        raise MbrosError(problem)


def _check_force_parameters(spec: ModelSpec, rows: Array) -> None:
    for k, row in enumerate(rows):
        problem = force_row_of(spec, k).refused(row)
        if problem is not None:
            raise MbrosError(f"force element {spec.force_names[k]!r}: {problem}")
