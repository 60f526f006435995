"""docs/joints.md, made from the registry and from the kinds' own files: python -m docs.generate.joints > docs/joints.md

The equations are those at the head of each file in mbros_core/joints, word for word: they have no second home here.
"""
from __future__ import annotations

import re
from pathlib import Path

import mbros_core
from mbros_core.joints.registry import ROWS

# kind: (what users write, in URDF)
WRITTEN = {
    "weld": ("mbros.WeldJoint(name, parent, child)", '`type="fixed"`'),
    "revolute": ("mbros.RevoluteJoint(name, parent, child, axis=...); mbros.ContinuousJoint without limits",
                 '`type="revolute"`, `"continuous"`'),
    "prismatic": ("mbros.PrismaticJoint(name, parent, child, axis=...)", '`type="prismatic"`'),
    "planar": ("mbros.PlanarJoint(name, parent, child)", '`type="planar"` (Fz along its axis)'),
    "floating": ("mbros.FloatingJoint(name, parent, child)", '`type="floating"`'),
    "ball": ("mbros.BallJoint(name, parent, child)", "`<mbros:joint>`"),
    "universal": ("mbros.UniversalJoint(name, parent, child)", "`<mbros:joint>`, `<drake:joint>`"),
    "screw": ("mbros.ScrewJoint(name, parent, child, pitch_m_per_rad=...)", "`<mbros:joint>`, `<drake:joint>`"),
    "cylindrical": ("mbros.CylindricalJoint(name, parent, child)", "`<mbros:joint>`"),
    "translation2": ("mbros.TranslationJoint(name, parent, child, dim=2)", "`<mbros:joint>`"),
    "translation3": ("mbros.TranslationJoint(name, parent, child, dim=3)", "`<mbros:joint>`"),
    "circular": ('mbros.ContinuousJoint(name, parent, child, representation="cos_sin")', "`<mbros:joint>`"),
    "ball_rpy": ("mbros.BallRpyJoint(name, parent, child)", "`<mbros:joint>`, `<drake:joint>`"),
    "floating_rpy": ("mbros.FloatingRpyJoint(name, parent, child)", "`<mbros:joint>`"),
}
HEAD = """# Joints

Made by `python -m docs.generate.joints` from the registry and from the head of each kind's file in `mbros_core/joints`.

A joint carries body B on its parent P. Frame F is fixed on P, frame M on B:
X_PB = X_PF X_FM(q) X_MB, V_FM = H_FM v, A_FM = H_FM vdot + Hdot_FM v, qdot = N(q) v.
In the engine one-axis joints act along z of F; whatever axis was given, F and M are turned there when the robot is compiled.
Every kind has default position, limits of position, velocity and effort, damping, friction, rotor inertia with gear ratio, stops
and a lock; one-axis kinds can follow another (mimic). URDF tags: [urdf.md](urdf.md). Joints of one's own: `examples/`.

The pictures are drawn by `docs/pictures/joint_pictures.py` from what the engine computes: body B on its way from the neutral
position (pale) to some q, frame F in thin lines, M in thick ones. Brown is the motion: what each position coordinate does, one
after the other, where velocities are rates of positions; else what each velocity does at that q, about and along which axes.
"""


def equations(kind: str) -> str:
    """The text at the head of the kind's file."""
    path = Path(mbros_core.__file__).parent / "joints" / f"{kind.rstrip('0123456789')}.pxd"
    return re.match(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL).group(1).strip()


def coordinates(names, units) -> str:
    return ", ".join(f"{name} ({unit})" if unit else name for name, unit in zip(names, units)) or "none"


def section(row) -> str:
    written, urdf = WRITTEN[row.name]
    return "\n".join([
        f"## {row.name}", "", f"`{written}`; in URDF {urdf}.", "", f"![{row.name}: {row.doc}](pictures/joint_{row.name}.svg)", "",
        "```text", equations(row.name), "```", "",
        f"* q ({row.nq}): {coordinates(row.position_names, row.position_units)}",
        f"* v ({row.nv}): {coordinates(row.velocity_names, row.velocity_units)}",
        f"* configuration space: {row.group if row.nq else 'a point'}", ""])


def page() -> str:
    return HEAD + "\n" + "\n".join(section(row) for row in ROWS)


if __name__ == "__main__":
    print(page(), end="")
