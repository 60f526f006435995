"""The tree of a model as text for Graphviz: `dot -Tsvg`."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.names import printable

if TYPE_CHECKING:
    from mbros import Body, Joint, Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import ArrayLike


def to_dot(model: Model, state: State | None = None) -> str:
    """One node per body (mass, centre of mass, inertia about it, shapes), one edge per joint (kind, coordinates); with a state, poses in
    the world."""
    lines = [f"digraph {_quoted(model.name)} {{", "  rankdir=TB; node [shape=box, fontname=\"monospace\"]; edge [fontname=\"monospace\"];"]
    described = {body.name: body for body in model.description.bodies}
    for body in model.bodies:
        text = [body.name, *_inertia(body), *_shapes(described.get(body.name))]
        if state is not None:
            X = model.pose(state, body)
            text.append(f"p {_row(X.p)} m, quat_wxyz {_row(X.quat_wxyz)}")
        lines.append(f"  {_quoted(body.name)} [label={_label(text)}];")
    for joint in model.joints:
        lines.append(f"  {_quoted(joint.parent.name)} -> {_quoted(joint.child.name)} [label={_label(_joint(joint))}"
                     + (", style=dashed];" if joint.follows else "];"))
    return "\n".join(lines + ["}"]) + "\n"


def _inertia(body: Body) -> list[str]:
    if not body.mass:
        return []
    I = body.inertia
    return [f"{body.mass:.4g} kg at {_row(body.com)} m",
            f"inertia xx yy zz {_row(np.diag(I))}, xy xz yz {_row([I[0, 1], I[0, 2], I[1, 2]])} kg m^2"]


def _shapes(body: Any) -> list[str]:
    """One line for each visual and collision shape of a described body; the world has none."""
    rows = [] if body is None else [("visual", shape.geometry) for shape in body.visuals]
    rows += [] if body is None else [("collision", shape.geometry) for shape in body.collisions]
    sizes: dict[str, Callable[[Any], str]] = {
        "box": lambda g: _row(g.size), "sphere": lambda g: f"radius {g.radius:.4g}", "mesh": lambda g: g.filename}
    return [f"{use} {g.kind} " + sizes.get(g.kind, lambda g: f"radius {g.radius:.4g} length {g.length:.4g}")(g) for use, g in rows]


def _joint(joint: Joint) -> list[str]:
    text = [joint.name, joint.kind]
    if joint.mimic is not None:
        leader, ratio, offset = joint.mimic
        return [*text, f"= {ratio:g} {leader} + {offset:g}"]
    if joint.nv:
        q, v = joint.q_slice, joint.v_slice
        text.append(f"q[{q.start}:{q.stop}] v[{v.start}:{v.stop}]")
    if joint.axis is not None:
        text.append(f"axis {_row(joint.axis)}")
    return text


def _row(values: ArrayLike) -> str:
    return "(" + " ".join(f"{x:.4g}" for x in np.asarray(values) + 0.0) + ")"


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _label(lines: Iterable[str]) -> str:
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'
