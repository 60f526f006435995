"""q, v, accelerations, efforts, Jacobians, twists and wrenches as other libraries have them: exact, both ways, batches in front.

mbros (and Drake's QuaternionFloatingJoint of 2018, "drake_2018"): floating q = [p; quat wxyz], v = [w; v] in the child frame;
planar q = (x, y, theta), v = qdot; continuous joints are angles; joints depth first, siblings in the file's order; spatial
vectors and Jacobian rows [angular; linear]. What the others have: `print(mbros.convention("pinocchio").describe())`.

There and back gives the same motion, and the same numbers but for whole turns where the other library has no place for them: an
angle of 7 rad of a continuous joint comes back from Pinocchio's and HPP's (cos, sin) as 0.717 rad, and roll, pitch, yaw come back
from a quaternion (hpp, ros) with roll and yaw in (-pi, pi] and pitch in [-pi/2, pi/2]. Then `model.space().is_same` says
False for the angle, which counts turns, though every body is where it was.

    c = mbros.convention("pinocchio")
    q, v = c.to(model, state.q, state.v);     q, v = c.back(model, q, v)
    J = c.to_jacobian(model, state.q, model.jacobian(state, "tool"))
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import check_model, finite, reals
from mbros.conventions.maps import MAPS, map_of
from mbros.conventions.plans import Plan, plan_of
from mbros.describe.joints.kinds import unit_parts
from mbros.errors import MbrosError, NonFiniteError
from mbros.names import hint, with_article
from mbros.spaces.batches import together
from mbros.spatial import lie
from mbros.spatial.given import quaternion
from mbros.spatial.rows import REFERENCES, ROWS, move_twist, move_wrench, poses, swap
from mbros.spatial.vectors import SpatialForce, SpatialVelocity, in_axes_of

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.conventions.maps import Map
    from mbros.names import PoseLike
    from mbros_core.typing import Array, ArrayLike

__all__ = ["CONVENTIONS", "Convention", "REFERENCES", "convention", "from_convention", "quaternion", "to_convention"]

CONVENTIONS = tuple(ROWS)
WORLD_ALIGNED = "local_world_aligned"


def convention(name: str) -> Convention:
    """A library's conventions: "drake_2018", "drake", "pinocchio", "mujoco", "hpp" or "ros"."""
    return Convention(name)


def to_convention(model: Model, q: ArrayLike, v: ArrayLike, convention: str) -> tuple[Array, Array]:
    """(q, v) in the other library's order and frames, from mbros' q (..., nq) and v (..., nv)."""
    return Convention(convention).to(model, q, v)


def from_convention(model: Model, convention: str, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """mbros' (q, v) from the other library's."""
    return Convention(convention).back(model, q, v)


class Convention:
    """How a library orders and expresses things. q and v in arguments are mbros' own, unless said otherwise."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or name not in ROWS:
            raise MbrosError(f"no convention {short(name)}{hint(name, CONVENTIONS)}")
        self.name, self.rows = name, ROWS[name]

    # ------------------------------------------------------------------------------------------ positions, velocities

    def nq(self, model: Model) -> int:
        """How many position coordinates the model has there."""
        return sum(self._size(joint) for joint in self.joints(model))

    # Single vectors go through the engine, where there is a plan and nothing is wrong with them; all else, and refusals, through NumPy.

    def _plan(self, model: Model) -> Plan | None:
        """Kept with the model."""
        if not isinstance(model, mbros_core.Model):
            return None
        plans: dict[str, Plan | None] | None = model.__dict__.get("_plans")
        if plans is None:
            plans = model.__dict__["_plans"] = {}
        if self.name not in plans:
            plans[self.name] = plan_of(self.name, self.joints(model))
        return plans[self.name]

    def to(self, model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Their (q, v). Where theirs are (cos, sin) or a quaternion and ours are angles, whole turns are lost: see this module."""
        plan = self._plan(model)
        if plan is not None and type(v) is np.ndarray and v.ndim == 1:
            there, along = model._positions_there(q, plan.positions, plan.size), model._velocities_there(q, v, plan.velocities)
            if there is not None and along is not None:
                return there, along
        q, v = _arrays(model, q=q, v=v)
        positions, velocities = [], []
        with np.errstate(over="ignore", invalid="ignore"):
            for joint, row, x in self._joints_at(model, q):
                positions.append(x if row is None else row.to(x))
                velocities.append(_times(row, x, v[..., joint.v_slice]))
        return _sound(model, _join(positions, q)), _sound(model, _join(velocities, v))

    def back(self, model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """mbros' (q, v) from theirs; quaternions keep their length, which must not be zero. Angles that they have as (cos, sin) or
        as a quaternion come in (-pi, pi], pitch in [-pi/2, pi/2]."""
        found = self._planned_back(model, q, v)
        if found is not None:
            return found
        q, v = _arrays(model, self.nq(model), q=q, v=v)
        with np.errstate(over="ignore", invalid="ignore"):
            own_q = _sound(model, self._positions_back(model, q))
            return own_q, _sound(model, self._velocities_back(model, own_q, v))

    def _planned_back(self, model: Model, q: object, v: object) -> tuple[Array, Array] | None:
        """The same of single vectors, where there is a plan and nothing is wrong with them."""
        plan = self._plan(model)
        if plan is None or type(v) is not np.ndarray or v.ndim != 1:
            return None
        own = model._positions_back(q, plan.positions, plan.size)
        along = None if own is None else model._velocities_there(own, v, plan.velocities, True)
        return None if own is None or along is None else (own, along)

    def _positions_back(self, model: Model, q: Array) -> Array:
        own, at = np.empty(q.shape[:-1] + (model.nq,)), 0
        for joint in self.joints(model):
            row, size = map_of(self.name, joint.kind), self._size(joint)
            x = q[..., at:at + size]
            _refuse_zeros(joint, x, self._unit_parts(joint))
            own[..., joint.q_slice] = x if row is None else row.back(x)
            at += size
        return own

    def _velocities_back(self, model: Model, q: Array, v: Array, drift_of: Array | None = None) -> Array:
        own, at = np.empty(v.shape), 0
        for joint, row, x in self._joints_at(model, q):
            theirs = v[..., at:at + joint.nv]
            if drift_of is not None and row is not None and row.drift is not None:
                theirs = theirs - row.drift(x, drift_of[..., joint.v_slice])
            own[..., joint.v_slice] = _times(row, x, theirs, inverse=True)
            at += joint.nv
        return own

    def to_acceleration(self, model: Model, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """Their vdot: T vdot + Tdot v."""
        q, v, vdot = _arrays(model, q=q, v=v, vdot=vdot)
        out = []
        with np.errstate(over="ignore", invalid="ignore"):
            for joint, row, x in self._joints_at(model, q):
                a = _times(row, x, vdot[..., joint.v_slice])
                out.append(a if row is None or row.drift is None else a + row.drift(x, v[..., joint.v_slice]))
        return _sound(model, _join(out, vdot))

    def from_acceleration(self, model: Model, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """mbros' vdot from theirs."""
        q, v, vdot = _arrays(model, q=q, v=v, vdot=vdot)
        with np.errstate(over="ignore", invalid="ignore"):
            return _sound(model, self._velocities_back(model, q, vdot, drift_of=v))

    def velocity_matrix(self, model: Model, q: ArrayLike) -> np.ndarray:
        """T (..., nv, nv): v_theirs = T v."""
        return self._matrix(model, q, inverse=False)

    # ------------------------------------------------------------------------------------------ efforts and Jacobians

    def to_efforts(self, model: Model, q: ArrayLike, tau: ArrayLike) -> Array:
        """Their generalized forces, of the same power: T^-T tau."""
        plan = self._plan(model)                                        # T is orthogonal then: they go as velocities do
        if plan is not None and type(tau) is np.ndarray and tau.ndim == 1:
            found: Array | None = model._velocities_there(q, tau, plan.velocities)
            if found is not None:
                return found
        q, tau = _arrays(model, q=q, tau=tau)
        return lie.apply(np.swapaxes(self._matrix(model, q, inverse=True), -1, -2), tau)

    def from_efforts(self, model: Model, q: ArrayLike, tau: ArrayLike) -> Array:
        """mbros' generalized forces from theirs: T^T tau."""
        plan = self._plan(model)
        if plan is not None and type(tau) is np.ndarray and tau.ndim == 1:
            found: Array | None = model._velocities_there(q, tau, plan.velocities, True)
            if found is not None:
                return found
        q, tau = _arrays(model, q=q, tau=tau)
        return lie.apply(np.swapaxes(self._matrix(model, q, inverse=False), -1, -2), tau)

    def to_jacobian(self, model: Model, q: ArrayLike, J: ArrayLike, reference: str = WORLD_ALIGNED,
                    X_WF: PoseLike | None = None) -> np.ndarray:
        """Their Jacobian (..., 6, nv), rows and columns, of J = model.jacobian(state, frame); reference, X_WF: see `to_twist`."""
        plan = self._plan(model)
        if plan is not None and X_WF is None and reference is WORLD_ALIGNED and type(J) is np.ndarray and J.ndim == 2:
            found: np.ndarray | None = model._velocities_there(q, J, plan.velocities, False, self.rows.jacobian != "angular")
            if found is not None:
                return found
        J = _jacobian(model, J)
        moved = np.swapaxes(move_twist(np.swapaxes(J, -1, -2), reference, _rows_of(X_WF)), -1, -2)
        return swap(moved, self.rows.jacobian, axis=-2) @ self._matrix(model, q, inverse=True)

    def from_jacobian(self, model: Model, q: ArrayLike, J: ArrayLike, reference: str = "local_world_aligned",
                      X_WF: PoseLike | None = None) -> np.ndarray:
        """mbros' Jacobian (at the frame's origin, world axes) from theirs."""
        J = swap(_jacobian(model, J) @ self._matrix(model, q, inverse=False), self.rows.jacobian, axis=-2)
        return np.swapaxes(move_twist(np.swapaxes(J, -1, -2), reference, _rows_of(X_WF), back=True), -1, -2)

    def _matrix(self, model: Model, q: ArrayLike, inverse: bool) -> Array:
        (q,) = _arrays(model, q=q)
        out, at = np.zeros(q.shape[:-1] + (model.nv, model.nv)), 0
        for joint, row, x in self._joints_at(model, q):
            theirs = slice(at, at + joint.nv)
            rows, columns = (joint.v_slice, theirs) if inverse else (theirs, joint.v_slice)
            out[..., rows, columns] = np.eye(joint.nv) if row is None or row.T is None else _velocity_map(row, x, inverse)
            at += joint.nv
        return out

    # ------------------------------------------------------------------------------------------- twists and wrenches

    def to_twist(self, V: ArrayLike, reference: str = "local_world_aligned", X_WF: PoseLike | None = None) -> np.ndarray:
        """Their six numbers of a frame's velocity V = [angular; linear] (..., 6), at its origin and in world axes.

        reference: "local_world_aligned" (the same point and axes), "local" (the frame's axes) or "world" (about the world's
        origin); the last two need X_WF, the frame's Pose.
        """
        return swap(move_twist(_six("twist", V, SpatialVelocity), reference, X_WF), self.rows.twist)

    def from_twist(self, V: ArrayLike, reference: str = "local_world_aligned", X_WF: PoseLike | None = None) -> np.ndarray:
        """[angular; linear] at the frame's origin and in world axes, from theirs."""
        return move_twist(swap(_six("twist", V), self.rows.twist), reference, X_WF, back=True)

    def to_wrench(self, F: ArrayLike, reference: str = "local_world_aligned", X_WF: PoseLike | None = None) -> np.ndarray:
        """Their six numbers of a wrench F = [torque; force] (..., 6) about a frame's origin, in world axes; see `to_twist`."""
        return swap(move_wrench(_six("wrench", F, SpatialForce), reference, X_WF), self.rows.wrench)

    def from_wrench(self, F: ArrayLike, reference: str = "local_world_aligned", X_WF: PoseLike | None = None) -> np.ndarray:
        """[torque; force] about the frame's origin, in world axes, from theirs."""
        return move_wrench(swap(_six("wrench", F), self.rows.wrench), reference, X_WF, back=True)

    # --------------------------------------------------------------------------------------------------- structure

    def joints(self, model: Model) -> list[Joint]:
        """The joints with coordinates of their own, in their order."""
        check_model("conventions", model)
        own = [joint for joint in model.joints if joint.nv and not joint.follows]
        if self.name != "pinocchio":
            return own
        children: dict[str, list[Joint]] = {}
        for joint in model.joints:
            children.setdefault(joint.parent.name, []).append(joint)
        order, stack = [], sorted(children.get("world", ()), key=lambda j: j.name, reverse=True)
        while stack:
            joint = stack.pop()
            order.append(joint)
            stack.extend(sorted(children.get(joint.child.name, ()), key=lambda j: j.name, reverse=True))
        return [joint for joint in order if joint.nv and not joint.follows]

    def _size(self, joint: Joint) -> int:
        row = map_of(self.name, joint.kind)
        return joint.nq if row is None else row.size

    def _unit_parts(self, joint: Joint) -> Sequence[slice]:
        """Runs of their coordinates of the joint that are a quaternion or (cos, sin)."""
        row = map_of(self.name, joint.kind)
        if row is None:
            return unit_parts(getattr(joint, "_exact_kind", joint.kind))
        return () if row.unit is None else (row.unit,)

    def _joints_at(self, model: Model, q: Array) -> Iterator[tuple[Joint, Map | None, Array]]:
        for joint in self.joints(model):
            x = q[..., joint.q_slice]
            _refuse_zeros(joint, x, unit_parts(getattr(joint, "_exact_kind", joint.kind)))
            yield joint, map_of(self.name, joint.kind), x

    def describe(self) -> str:
        """Everything that differs from mbros, in words."""
        lines = [f"{self.name}: {self.rows.text}"]
        lines += [f"  {kind:<13}{rows[self.name].text}" for kind, rows in MAPS.items() if self.name in rows]
        same = [kind for kind, rows in MAPS.items() if self.name not in rows]
        lines.append(f"  {', '.join(same) + ' and all' if same else 'all'} other kinds: as mbros")
        lines.append("  joints: " + ("depth first, siblings by name" if self.name == "pinocchio" else "depth first, in the file's order"))
        for what in ("jacobian", "twist", "wrench"):
            order = ("[force; torque]", "[torque; force]") if what == "wrench" else ("[linear; angular]", "[angular; linear]")
            lines.append(f"  {what + ' rows' if what == 'jacobian' else what}: {order[getattr(self.rows, what) == 'angular']}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Convention {self.name!r}>"


def _velocity_map(row: Map, x: Array, inverse: bool) -> Array:
    assert row.T is not None
    if not inverse:
        return row.T(x)
    return np.swapaxes(row.T(x), -1, -2) if row.inverse is None else row.inverse(x)


def _times(row: Map | None, x: Array, v: Array, inverse: bool = False) -> Array:
    return v if row is None or row.T is None else lie.apply(_velocity_map(row, x, inverse), v)


def _arrays(model: Model, nq: int | None = None, /, **given: ArrayLike) -> list[Array]:
    """The finite arrays given: q (..., nq), the model's own size unless said, and others (..., nv)."""
    check_model("conventions", model)
    who, size = f"model {model.name!r}", {"q": model.nq if nq is None else nq}
    sized = {what: (array, size.get(what, model.nv)) for what, array in given.items()}
    return [finite(who, what, array) for what, array in zip(given, together(who, **sized))]


def _refuse_zeros(joint: Joint, x: Array, parts: Iterable[slice]) -> None:
    for part in parts:
        if not x[..., part].any(-1).all():
            what = "quaternion" if part.stop - part.start == 4 else "(cos, sin) pair"
            raise MbrosError(f"joint {joint.name!r} ({joint.kind}): its {what} q[{part.start}:{part.stop}] is all zeros, which is no "
                             "rotation")


def _sound(model: Model, converted: Array) -> Array:
    """What was converted, if it is finite; NonFiniteError where finite numbers were too large for it."""
    if not np.isfinite(converted).all():
        raise NonFiniteError(f"model {model.name!r}: a number is too large to be converted; expected positions and velocities below 1e100")
    return converted


def _join(parts: Sequence[Array], like: Array) -> Array:
    return np.concatenate(parts, axis=-1) if parts else like.copy()


def _six(what: str, values: Any, kind: type[SpatialForce] | type[SpatialVelocity] | None = None) -> Array:
    """(..., 6) finite numbers. kind: the class of spatial vectors that is meant, in world axes; None: of theirs, none is."""
    if isinstance(values, SpatialForce | SpatialVelocity):
        if kind is None or not isinstance(values, kind):
            need = "the other library's six numbers" if kind is None else f"a {kind.__name__} or six numbers"
            raise MbrosError(f"{what}: expected {need}, got {with_article(type(values).__name__)} of mbros")
        in_axes_of(what, values, "world")
    array = reals(what, "values", values, "6 numbers in the last axis")
    if array.ndim == 0 or array.shape[-1] != 6:
        raise MbrosError(f"{what}: expected 6 numbers in the last axis, got shape {array.shape}")
    return finite(what, "values", array)


def _jacobian(model: Model, J: ArrayLike) -> Array:
    check_model("conventions", model)
    who = f"model {model.name!r}"
    array = reals(who, "J", J, f"6 rows and {model.nv} columns")
    if array.ndim < 2 or array.shape[-2:] != (6, model.nv):
        raise MbrosError(f"{who}: J: expected 6 rows and {model.nv} columns, got shape {array.shape}")
    return finite(who, "J", array)


def _rows_of(X_WF: PoseLike | None) -> Array | None:
    """X_WF for the columns of a Jacobian: a batch of poses gets an axis for them."""
    return None if X_WF is None else poses(X_WF)[..., None, :, :]
