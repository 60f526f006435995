"""Mass and centre of mass of parts of a robot: of subtrees, and of any choice of them, each body counted once.

    part = model.com_of(state, ["left_hip", "right_hip"]);  part.mass, part.com, part.jacobian

The Jacobian has the columns of every joint that moves the part: those inside it and those that carry it.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.arguments import entries, finite
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Body, Model
    from mbros.names import JointLike
    from mbros_core.engine._engine import State


class CenterOfMass(NamedTuple):
    """mass: kg. com: (3,) m, in the world. jacobian: (3, nv), velocity of com = jacobian v, in world axes."""

    mass: float
    com: np.ndarray
    jacobian: np.ndarray


def subtree_bodies(model: Model, joints: Iterable[JointLike]) -> list[Body]:
    """The bodies carried by these joints and by all joints below them, each once, in model order."""
    chosen: dict[int, Body] = {}
    for joint in joints:
        joint = model.joint(joint)
        chosen.update((other.index, other.child) for other in joint.topology.subtree())
    return [chosen[k] for k in sorted(chosen)]


def subtree_mass(model: Model, state: State, joint: JointLike) -> float:
    """Mass of the joint's body and of everything it carries, kg, in this state."""
    model._check_state(state)
    return sum(_masses(model, state, subtree_bodies(model, [joint])))


def com_of(model: Model, state: State, joints: Any) -> CenterOfMass:
    """Mass, centre of mass and its Jacobian of the union of the joints' subtrees. Raises MbrosError when it has no mass."""
    model._check_state(state)
    several = None if isinstance(joints, str) else entries(joints)
    joints = [joints] if several is None else several
    bodies = subtree_bodies(model, joints)
    masses = _masses(model, state, bodies)
    total = sum(masses)
    if not total > 0.0:
        names = ", ".join(repr(getattr(joint, "name", joint)) for joint in joints)
        raise MbrosError(f"model {model.name!r}: nothing with mass is in the subtrees of {names or 'no joints'}, so they have no centre of "
                         "mass")
    com, J = np.zeros(3), np.zeros((3, model.nv))
    with np.errstate(over="ignore", invalid="ignore"):
        for mass, body in zip(masses, bodies):
            X = model.pose(state, body)
            arm = X.R @ _com(model, state, body)
            J_B = model.jacobian(state, body)
            com += mass * (X.p + arm)
            # v_com = v_Bo + w x arm
            J += mass * (J_B[3:] + np.cross(J_B[:3], arm, axis=0))
        who = f"model {model.name!r}"
        return CenterOfMass(total, finite(who, "centre of mass", com / total), finite(who, "Jacobian of the centre of mass", J / total))


def _com(model: Model, state: State, body: Body) -> np.ndarray:
    """In axes of the body, m: as far from the model's as that of the compiled body is in this state."""
    k, X_CB = model._compiled.bodies[body._frame_index].compiled_index, np.asarray(model.spec.X_BF[body._frame_index])
    given, spec = state.field("inertia")[k], np.asarray(model.spec.inertia)[k]
    if not (given[0] > 0.0 and spec[0] > 0.0) or (given[1:4] * spec[0] == spec[1:4] * given[0]).all():
        return body.com
    return body.com + X_CB[:9].reshape(3, 3).T @ (given[1:4] / given[0] - spec[1:4] / spec[0])


def _masses(model: Model, state: State, bodies: Iterable[Body]) -> list[float]:
    """Of each body; where the state's own inertia differs from the model's, in proportion."""
    given, spec = state.field("inertia"), model.spec.inertia
    out = []
    for body in bodies:
        k = model._compiled.bodies[body._frame_index].compiled_index
        scale = given[k, 0] / spec[k, 0] if spec[k, 0] > 0.0 else 1.0
        out.append(float(body.mass * scale))
    return finite(f"model {model.name!r}", "masses", np.array(out)).tolist()
