"""The robots that a node simulates: one, with its topics where the node's are; or those of a scene, each in a namespace of its own.

A part sees its own joints, under its own names; where their numbers stand in a snapshot and in a command is said of the whole.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from mbros.describe.members import ROBOT

from mbros.ros.errors import ParameterError
from mbros.ros.wire.messages import Base, RobotMap, Sensed
from mbros.ros.wire.published import published

if TYPE_CHECKING:
    from mbros.describe.members import Member
    from mbros.describe.robot import RobotDescription

T = TypeVar("T")
ROOT = "world"          # the frame in which a scene stands


@dataclass(frozen=True, eq=False)
class Part:
    """name: of a robot of a scene; "" of a robot by itself. urdf: its URDF text, None where it was not made from one."""

    name: str
    map: RobotMap
    urdf: str | None

    def topic(self, name: str) -> str:
        """The topic of that name, of this robot."""
        return f"{self.name}/{name}" if self.name else name


def parts_of(description: RobotDescription, where: RobotMap, bases: dict[str, Base]) -> list[Part]:
    """Of a robot, or of the robots of a scene. bases: of those that can move, by name."""
    if not description.members:
        return [Part("", where, _urdf(description))]
    return [Part(member.name, part_map(where, member.name, bases.get(member.name)), _urdf(member))
            for member in description.members if member.kind == ROBOT]


def _urdf(of: RobotDescription | Member) -> str | None:
    """With names of meshes that others can resolve."""
    return None if of.text is None else published(of.text, of.file, of.package_dirs)


def part_map(where: RobotMap, name: str, base: Base | None) -> RobotMap:
    """What of the whole is this robot's; its joints stand in one run there."""
    start = f"{name}/"
    mine = [k for k, joint in enumerate(where.joints) if joint.startswith(start)]
    first = mine[0] if mine else 0
    sensed = None if where.sensed is None else _sensed(where.sensed, mine)
    return replace(where, joints=tuple(where.joints[k].removeprefix(start) for k in mine), position=where.position + first,
                   velocity=where.velocity + first, effort=where.effort + first, commandable=_own(where.commandable, start),
                   transforms=(), static=(), objects=(), base=base, takes=None if where.takes is None else _own(where.takes, start),
                   bounds=_own(where.bounds, start), turns=frozenset(_own(dict.fromkeys(where.turns, True), start)), sensed=sensed)


def _own(table: dict[str, T], start: str) -> dict[str, T]:
    return {name.removeprefix(start): value for name, value in table.items() if name.startswith(start)}


def _sensed(whole: Sensed, mine: list[int]) -> Sensed | None:
    """Of these joints; None where none of them has a sensor."""
    columns = [tuple(column[k] for k in mine) for column in (whole.position, whole.velocity, whole.effort)]
    own = {at for column in columns for at in column}
    fallback = {at: row for at, row in whole.fallback.items() if at in own}
    return replace(whole, position=columns[0], velocity=columns[1], effort=columns[2], fallback=fallback) if fallback else None


def part_of_topic(parts: list[Part], topic: str) -> Part:
    """The robot that a command topic is of: by its first word, where there are several."""
    for part in parts:
        if not part.name or topic.startswith(f"{part.name}/"):
            return part
    names = ", ".join(part.topic(topic.rpartition("/")[2]) for part in parts[:4])
    raise ParameterError(f"parameter lockstep: topic '{topic}' is of no robot of this scene; "
                         + (f"expected its name in front, such as {names}" if parts else "it has none, and nothing to command"))
