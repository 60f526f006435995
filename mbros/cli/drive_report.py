"""What `mbros check` says of drives whose gains mbros chose: the gains, what they are for, and why they are what they are."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.cli.terminal import number, table

if TYPE_CHECKING:
    from mbros.bench.layout import Tuned

UNITS = {True: ("kg m^2", "N m", "rad"), False: ("kg", "N", "m")}           # by whether the joint rotates: inertia, effort, position


def drive_table(drives: list[Tuned]) -> list[str]:
    """A line for each drive."""
    rows = []
    for drive in drives:
        inertia, effort, position = UNITS[drive.joint.can_rotate]
        units = {"kp": f"{effort}/{position}", "kd": f"{effort} s/{position}",
                 "ki": f"{effort}/{position}" if drive.of_velocity else f"{effort}/({position} s)"}
        load = drive.load
        gains = [f"{number(value)} {units[gain]}" if value is not None else "" for gain, value in chosen(drive).items()]
        held = load.weight + load.friction
        holds = f"{number(held)} {effort}" + (f", limit {number(load.effort_limit)}" if held > load.effort_limit else "")
        rows.append([drive.name, *gains, f"{number(load.inertia)} {inertia}", holds, f"{number(load.damping)} {units['kd']}",
                     why(drive, position) + (", on the ground" if load.on_ground else "")])
    return table(["drive", "kp", "kd", "ki", "moves", "holds", "damping", "gains are for"], rows, left=(0, 7))


def why(drive: Tuned, position: str) -> str:
    """What its gains were chosen for."""
    device, reason = drive.device, drive.gains.reason
    unit = f"{position}/s" if drive.of_velocity else position
    if reason in ("weight", "friction"):
        return f"an error of {device.static_error:g} {unit} under its {reason}"
    if reason == "damping" and drive.of_velocity:
        return "an error of 1 % against its damping"
    return f"{device.bandwidth:g} Hz with its {reason}"


def chosen(drive: Tuned) -> dict[str, float | None]:
    """kp, kd and ki of a drive, those that were given among them; None where its kind has none."""
    own = {number.name for number in drive.tuned.taken()}
    return {gain: float(drive.tuned.values[gain][0]) if gain in own else None for gain in ("kp", "kd", "ki")}


def as_dict(drive: Tuned) -> dict[str, Any]:
    """For programs. No limit is null."""
    load = drive.load
    return {"name": drive.name, "joint": drive.joint.name, **chosen(drive), "inertia": load.inertia, "weight": load.weight,
            "damping": load.damping, "friction": load.friction,
            "effort_limit": load.effort_limit if load.effort_limit < 1e300 else None, "on_ground": load.on_ground,
            "reason": drive.gains.reason}
