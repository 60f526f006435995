"""The tree of a model as text for Graphviz: `dot -Tsvg`."""
from __future__ import annotations

import numpy as np


def to_dot(model, state=None) -> str:
    """One node per body (mass, mass centre), one edge per joint (kind, coordinates); with a state, poses in the world."""
    lines = [f"digraph {_quoted(model.name)} {{", "  rankdir=TB; node [shape=box, fontname=\"monospace\"]; edge [fontname=\"monospace\"];"]
    for body in model.bodies:
        text = [body.name]
        if body.mass:
            text.append(f"{body.mass:.4g} kg at {_row(body.com)}")
        if state is not None:
            text.append(f"p {_row(model.pose(state, body).p)} m")
        lines.append(f"  {_quoted(body.name)} [label={_label(text)}];")
    for joint in model.joints:
        lines.append(f"  {_quoted(joint.parent_body)} -> {_quoted(joint.child_body)} [label={_label(_joint(joint))}"
                     + (", style=dashed];" if joint.follows else "];"))
    return "\n".join(lines + ["}"]) + "\n"


def _joint(joint):
    text = [joint.name, joint.kind]
    if joint.follows:
        leader, ratio, offset = joint.mimic
        return [*text, f"= {ratio:g} {leader} + {offset:g}"]
    if joint.nv:
        q, v = joint.q_slice, joint.v_slice
        text.append(f"q[{q.start}:{q.stop}] v[{v.start}:{v.stop}]")
    if joint.axis is not None:
        text.append(f"axis {_row(joint.axis)}")
    return text


def _row(values):
    return "(" + " ".join(f"{x:.4g}" for x in np.asarray(values) + 0.0) + ")"


def _escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _quoted(text):
    return f'"{_escaped(text)}"'


def _label(lines):
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'
