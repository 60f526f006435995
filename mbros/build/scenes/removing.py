"""Taking a robot or an object out of a scene: everything that came in with it goes."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.arguments import refuse

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription


def take_out(description: RobotDescription, name: str) -> None:
    """Scene.remove. Everything is looked at before anything is taken."""
    mine: Any = description
    gone = {id(body) for body in mine.bodies if body.robot == name}
    others: list[Any] = [joint for joint in mine.joints if joint.robot != name and id(joint.parent) in gone]
    others += [part for part in (*mine.force_elements, *mine.constraints) if part.robot != name and any(
        end is not None and id(end.body) in gone for end in (getattr(part, word, None) for word in ("frame_a", "frame_b", "frame_c")))]
    if others:
        refuse(f"{name!r}", f"{others[0]._label} stands on it and is not its own", "Remove that first.")
    names = {part.name for part in (*mine.bodies, *mine.joints, *mine.frames) if part.robot == name}
    shapes = [shape for body in (mine.world, *mine.bodies) for shape in body.collisions if getattr(shape, "robot", "") == name]
    ends = gone | {id(shape) for shape in shapes} | names | {shape.name for shape in shapes if shape.name}
    mine.bodies = [body for body in mine.bodies if body.robot != name]
    mine.joints = [joint for joint in mine.joints if joint.robot != name]
    mine.frames = [frame for frame in mine.frames if frame.robot != name]
    mine.force_elements = [part for part in mine.force_elements if part.robot != name]
    mine.constraints = [part for part in mine.constraints if part.robot != name]
    mine.world.collisions = [shape for shape in mine.world.collisions if getattr(shape, "robot", "") != name]
    mine.exclusions = [rule for rule in mine.exclusions
                       if not any((end if isinstance(end, str) else id(end)) in ends for end in (rule.a, rule.b))]
    if mine.bench is not None:
        _take_devices_out(mine.bench, name)
    mine.members = tuple(member for member in mine.members if member.name != name)


def _take_devices_out(bench: Any, name: str) -> None:
    """A device whose name is a pattern is known by the joint or frame that it stands on."""
    start = f"{name}/"
    for devices in (bench.actuators, bench.sensors):
        devices[:] = [one for one in devices if not (one.name.startswith(start) or any(
            place.startswith(start) for place in one.places_of().values()))]
    for parts in (bench.channels, bench.faults, bench.sources):
        parts[:] = [part for part in parts if not part.name.startswith(start)]


__all__ = ["take_out"]
