"""Masses and inertias that no body can have: which of them matter, and which are made up for by what is welded to them."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbros.describe.problems import problem
from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
from mbros.errors import Problem
from mbros.spatial.body_numbers import COLUMN, ROW, lost
from mbros.spatial.inertia import about_point, compose, rotate, why_impossible
from mbros.spatial.placement import Placement

NEAR = 10.0         # m: nobody's centre of mass is lost there, and most robots are not looked at


def check_inertia(description: RobotDescription, inertia: str = "check") -> list[Problem]:
    """Impossible masses and inertias.

    What moves is a welded assembly, so an impossible body inside a possible assembly is a warning (CAD tools
    export such things for sensors and feet), and an impossible assembly is an error. inertia="as_given" makes warnings of
    both; that the equations of motion stay solvable is then still checked when the robot is compiled.
    """
    suspects = [(body, why) for body in _unclear(description.bodies)
                if (why := why_impossible(body.mass, body.com, body.inertia)) is not None]
    found = _far(description.bodies)
    if not suspects:
        return found
    assembly_of, assemblies = _assemblies(description)
    how = "build()" if description.text is None else "load"
    for body, why in suspects:
        members = assemblies[assembly_of[id(body)]]
        static = members[0][0] is description.world
        whole = None if static else why_impossible(*compose(
            (b.mass, X.R @ b.com + X.p, rotate(b.inertia, X.R)) for b, X in members))
        hopeless = body.mass < 0.0 or "not symmetric" in why or "finite" in why
        fatal = hopeless or whole is not None and inertia != "as_given"
        if fatal:
            remedy = ("Compute mass, centre of mass and inertia again from the geometry (is the tensor about the centre of mass, in "
                      "the right axes?)" + ("." if hopeless else f", or {how} with inertia='as_given' to simulate it anyway."))
        else:
            remedy = "It is accepted, since " + ("it does not move." if static else "the bodies welded to it make up for it."
                                                 if whole is None else "inertia='as_given' was asked for.")
        found.append(problem(body, why, remedy, "error" if fatal else "warning", part="inertial"))
    return found


def _far(bodies: Sequence[BodyDescription]) -> list[Problem]:
    """Warnings about centres of mass so far out that the inertia about them is lost: in mm, often, or from the origin of a drawing."""
    found = []
    for body in bodies:
        if body.mass > 0.0 and float(np.abs(body.com).max()) > NEAR and np.isfinite(body.com).all() and np.isfinite(body.inertia).all():
            I_Bo = about_point(body.mass, body.com, body.inertia)
            row = np.concatenate([[body.mass], body.mass * body.com, I_Bo[ROW, COLUMN]])
            wrong = lost(body.inertia[None, ROW, COLUMN], row[None])
            if wrong:
                found.append(problem(body, wrong[1], "It is accepted. Lengths are in m, from the frame of the body.", "warning",
                                     part="inertial"))
    return found


def _unclear(bodies: Sequence[BodyDescription]) -> list[BodyDescription]:
    """The bodies that are not plainly possible; all at once, because most are."""
    if not bodies:
        return []
    mass = np.array([body.mass for body in bodies])
    com = np.array([body.com for body in bodies])
    tensor = np.array([body.inertia for body in bodies])
    finite = np.isfinite(mass) & np.isfinite(com).all(1) & np.isfinite(tensor).all((1, 2))
    low, middle, high = np.linalg.eigvalsh(np.where(finite[:, None, None], tensor, 0.0)).T
    plain = finite & (mass > 0.0) & (tensor == np.swapaxes(tensor, 1, 2)).all((1, 2)) & (low >= 0.0) & (high <= low + middle)
    return [bodies[i] for i in np.flatnonzero(~plain).tolist()]


def _assemblies(description: RobotDescription) -> tuple[dict[int, int], dict[int, list[tuple[BodyDescription, Placement]]]]:
    """Bodies that weld joints hold together: id(body) -> key, and key -> [(body, X_RootBody)], root first."""
    children: dict[int, list[JointDescription]] = {}
    for joint in description.joints:
        children.setdefault(id(joint.parent), []).append(joint)
    key_of, members = {id(description.world): 0}, {0: [(description.world, Placement())]}
    stack = [(description.world, Placement())]
    while stack:
        body, X_RB = stack.pop()
        for joint in children.get(id(body), ()):
            if joint.kind == "weld":
                key, X_RC = key_of[id(body)], X_RB @ joint.X_PF @ joint.X_BM.inverse()
            else:
                key, X_RC = len(members), Placement()
                members[key] = []
            key_of[id(joint.child)] = key
            members[key].append((joint.child, X_RC))
            stack.append((joint.child, X_RC))
    return key_of, members
