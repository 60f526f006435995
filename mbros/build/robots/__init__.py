"""The robots shipped with mbros: small, offline, without meshes. `mbros.load(name)` loads them; `chain(n)` makes chains.

Lengths, masses and limits are realistic, but those of no particular product; inertias are those of the shapes shown.
"""
from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mbros.build.robots.chain import chain

__all__ = ["BUILT_IN", "chain", "path"]


class BuiltIn(NamedTuple):
    """base: how it stands in the world unless `load` is given another."""

    base: str
    doc: str


BUILT_IN = {
    "pendulum": BuiltIn("fixed", "one rod on a hinge"),
    "double_pendulum": BuiltIn("fixed", "two rods, no friction: chaotic"),
    "cartpole": BuiltIn("fixed", "a pole hinged on a cart"),
    "four_bar": BuiltIn("fixed", "a crank-rocker: four links in a closed loop, one coordinate free"),
    "gripper": BuiltIn("fixed", "two four-bar fingers and the gears between them, one coordinate free"),
    "scara": BuiltIn("fixed", "four axes: two arms, quill and wrist"),
    "arm6": BuiltIn("fixed", "six-axis industrial arm"),
    "arm7": BuiltIn("fixed", "seven-axis collaborative arm"),
    "quadruped": BuiltIn("floating", "four legs of three joints"),
    "humanoid": BuiltIn("floating", "31 joints: waist 3, neck 2, arms 7 each, legs 6 each"),
    "diff_drive": BuiltIn("floating", "two driven wheels and a caster"),
    "mobile_arm": BuiltIn("planar", "a six-axis arm on a base that drives in the plane"),
}


def path(name: str) -> Path:
    """The URDF file of a robot shipped with mbros."""
    return Path(__file__).with_name(name + ".urdf")
