"""mbros check: read robots and say everything about them. Exit code 0: all can be simulated, 1: one cannot."""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbros.cli import drive_report
from mbros.cli.terminal import number, paint, table
from mbros.cli.values import add_robot_options, load_robot
from mbros.names import plural, printable

if TYPE_CHECKING:
    import argparse
    from mbros import Model
    from mbros.describe.devices.bench import Bench
    from mbros.errors import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robots", nargs="+", metavar="robot",
                        help="a .urdf, .xacro, .sdf or MJCF file, or a name of `mbros list`; or a scene or bench file, .yaml")
    add_robot_options(parser)
    parser.add_argument("--collisions", action="store_true", help="also its collision shapes, and which of them never touch")
    parser.add_argument("--quiet", "-q", action="store_true", help="only problems and one line for each robot")
    parser.add_argument("--json", action="store_true", help="for programs: a list with an object for each robot")
    parser.epilog = ("Every problem is reported with file, line, reason and remedy, and makes exit code 1.\n"
                     "Warnings and notes report what was read otherwise than written, or not at all.")


def run(arguments: argparse.Namespace) -> int:
    findings = [examine(robot, arguments) for robot in arguments.robots]
    if arguments.json:
        print(json.dumps([found.as_dict() for found in findings], indent=2))
    else:
        for k, found in enumerate(findings):
            if k:
                print()
            for line in found.lines(arguments.quiet):
                print(line)
    return 0 if all(found.good for found in findings) else 1


class Finding:
    """What was found out about one robot, or bench: problems (it is refused), notes, and the model, the bench and its devices on the robot
    when there are any; drives: those whose gains mbros chose."""

    def __init__(self, source: str, problems: Any, notes: Any, model: Model | None, bench: Bench | None = None, parts: Any = (),
                 drives: Any = ()) -> None:
        self.source, self.problems, self.notes, self.model, self.bench, self.parts = source, problems, notes, model, bench, parts
        self.drives = drives

    @property
    def good(self) -> bool:
        return not self.problems

    def lines(self, quiet: bool) -> Iterator[str]:
        if self.model is not None:
            yield from summary(self.source, self.model)
            if not quiet:
                yield ""
                yield from joint_table(self.model)
                yield ""
                yield from link_table(self.model)
                if len(self.model.constraints):
                    yield ""
                    yield from constraint_table(self.model)
                if len(self.model.shapes):
                    yield ""
                    yield from shape_table(self.model)
                if self.parts:
                    yield ""
                    yield from device_table(self.parts)
                if self.drives:
                    yield ""
                    yield from drive_report.drive_table(self.drives)
        elif self.bench is not None:
            yield f"  {self.bench!r}"
        severe = [(p, "error", "red") for p in self.problems] + [
            (p, p.severity, "yellow" if p.severity == "warning" else "dim") for p in self.notes]
        if severe and not quiet and self.model is not None:
            yield ""
        for problem, severity, style in severe:
            if not quiet or severity == "error":
                yield f"{paint(severity + ':', style)} {problem}"
        yield self.verdict()

    def verdict(self) -> str:
        counts = [(len(self.problems), "problem"), (sum(p.severity == "warning" for p in self.notes), "warning"),
                  (sum(p.severity == "note" for p in self.notes), "note")]
        counted = ", ".join(f"{n} {what}{'s' if n > 1 else ''}" for n, what in counts if n)
        if self.good:
            return f"{printable(self.source)}: {paint('ok', 'green')}" + (f", {counted}" if counted else "")
        return f"{printable(self.source)}: {paint('refused', 'red')}, {counted}"

    def as_dict(self) -> dict[str, Any]:
        found = {"source": str(self.source), "ok": self.good,
                 "problems": [as_dict(p) for p in self.problems], "notes": [as_dict(p) for p in self.notes]}
        if self.model is not None:
            found["robot"] = robot_as_dict(self.model)
        if self.bench is not None:
            bench = self.bench
            everything: list[Any] = [*bench.actuators, *bench.sensors, *bench.channels, *bench.sources, *bench.faults]
            found["bench"] = [part.name for part in everything]
            found["drives"] = [drive_report.as_dict(drive) for drive in self.drives]
        return found


def examine(robot: str, arguments: argparse.Namespace) -> Finding:
    """Find, read, check and compile one robot. A name or file that is not there is a problem like any other."""
    from mbros.build.load import notes_are_shown
    from mbros.build.scenes.file import looks_like_scene
    from mbros.errors import MbrosError, ModelError, Problem

    try:
        if robot.endswith((".yaml", ".yml")) and not looks_like_scene(robot):
            from mbros.describe.devices.bench import Bench

            return Finding(robot, [], [], None, Bench.load(robot))
        with notes_are_shown():
            model = load_robot(robot, arguments, collisions=True if arguments.collisions else None)
        if (bench := model.description.bench) is not None:
            from mbros.bench.bench import layout

            found = layout(model, bench, 1e-3)
            return Finding(robot, [], model.description.notes, model, bench, [*found.parts, *bench.faults], found.tuned)
    except ModelError as error:
        return Finding(robot, error.problems, list(getattr(error, "notes", ())), None)
    except MbrosError as error:
        return Finding(robot, [Problem("", str(error))], [], None)
    return Finding(robot, [], model.description.notes, model)


def summary(source: str, model: Model) -> Iterator[str]:
    """Two lines: what it is, and what it weighs."""
    implicit = model.description.world.source.line is None          # the joint to the world is mbros' own, not the file's
    written = [joint for joint in model.joints if not (implicit and joint.parent.name == model.bodies[0].name)]
    moving = [joint for joint in written if joint.nv and not joint.follows]
    followers = [joint for joint in written if joint.follows]
    kinds = {joint.kind for joint in model.joints if joint.parent.name == model.bodies[0].name}
    base = next((kind for kind in ("floating", "planar") if kind in kinds), "fixed")
    yield paint(model.name, "bold") + (f"  ({printable(model.description.file)})" if model.description.file else "")
    follow = f", {len(followers)} following another" if followers else ""
    count = f" before {plural(len(model.constraints), 'constraint')}" if len(model.constraints) else ""
    yield (f"  {plural(len(model.bodies) - 1, 'link')}, {plural(len(written), 'joint')} ({len(moving)} moving{follow}), "
           f"{plural(model.nv, 'degree')} of freedom{count}, {base} base, {sum(b.mass for b in model.bodies):.6g} kg in all")
    for member in model._description.members:
        view = model.tree.robots[member.name]
        yield f"  {member.kind} {member.name}: {plural(len(view.bodies), 'link')}, {plural(view.nv, 'degree')} of freedom"


def joint_table(model: Model) -> list[str]:
    """Joints that move: limits and what resists them."""
    rows = []
    for joint, compiled in zip(model.joints, model._compiled.joints):
        if joint.nv == 0:
            continue
        one = joint.nv == 1
        kind = joint.kind if not joint.follows else f"{joint.kind}, = {mimic(joint.mimic)}"
        limits = joint.limits
        cells = [number(x[0]) if one else "" for x in (*limits.position, limits.velocity.upper, limits.effort.upper)]
        if joint.follows:
            cells[3] = ""               # efforts act on its leader
        cells += [number(x[0]) if one else "" for x in (compiled.damping, compiled.friction)]
        unit = ("m" if joint.kind == "prismatic" else "rad") if one else f"{joint.nv} coordinates"
        rows.append([joint.name, kind, f"{joint.parent.name} -> {joint.child.name}", *cells, unit])
    if not rows:
        return ["  nothing moves"]
    return table(["joint", "kind", "from -> to", "lower", "upper", "speed", "effort", "damping", "friction", ""], rows, left=(0, 1, 2, 9))


def constraint_table(model: Model) -> list[str]:
    """What closes loops and couples coordinates, and how far it is open at the default position."""
    import numpy as np

    state = model.default_state()
    rows = [[row.name, row.kind, f"{len(row.gap(state))}", number(float(np.abs(row.gap(state)).max()))] for row in model.constraints]
    return table(["constraint", "kind", "rows", "largest gap m, rad"], rows, left=(0, 1))


def device_table(parts: Any) -> list[str]:
    """The devices of a bench on a robot, and its faults; a channel once for each kind of what it does."""
    rows = {(part.name, part.row.name): [part.name, part.row.name, part.row.doc] for part in parts}
    return table(["device", "kind", ""], list(rows.values()), left=(0, 1, 2))


def mimic(row: Any) -> str:
    leader, ratio, offset = row
    return ("" if ratio == 1 else f"{ratio:g} ") + leader + (f" {offset:+g}" if offset else "")


def link_table(model: Model) -> list[str]:
    """Masses, centres of mass and principal moments of inertia."""
    import numpy as np

    rows = []
    for body in model.bodies[1:]:
        if body.mass:
            moments = np.linalg.eigvalsh(body.inertia)
            rows.append([body.name, number(body.mass), "  ".join(f"{x:8.4f}" for x in body.com),
                         "  ".join(f"{x:9.3g}" for x in moments)])
        else:
            rows.append([body.name, "-", "", ""])
    return table(["link", "mass kg", "centre of mass x, y, z  m", "principal inertia  kg m^2"], rows)


def shape_table(model: Model) -> list[str]:
    """Collision shapes with their numbers, and how many pairs never touch, and why."""
    rows = [[shape.name, shape.body.name, f"{shape.kind} {' x '.join(map(number, shape.geometry.sizes))}", number(shape.friction),
             number(shape.stiffness), number(shape.relaxation_time), shape.group] for shape in model.shapes]
    lines = table(["shape", "link", "kind and sizes  m", "friction", "stiffness N/m", "relaxation s", "group"], rows, left=(0, 1, 2, 6))
    why = Counter(reason for _, _, reason in excluded(model))
    left = ", ".join(f"{times} {reason}" for reason, times in why.most_common())
    return [*lines, f"  {plural(sum(why.values()), 'pair')} of shapes never touch" + (f": {printable(left)}" if left else "")]


def excluded(model: Model) -> list[tuple[str, str, str]]:
    """(shape, shape, why) of every pair that never touches."""
    return [(shape.name, other, why) for shape in model.shapes for other, why in shape.excluded.items()
            if shape.index < model.shapes[other].index]


def as_dict(problem: Problem) -> dict[str, Any]:
    return {"severity": problem.severity, "file": problem.file, "line": problem.line, "element": problem.element,
            "reason": problem.reason, "remedy": problem.remedy}


def robot_as_dict(model: Model) -> dict[str, Any]:
    """The tables, for programs. No limit is null."""
    def plain(values: Any) -> Any:
        return [float(x) if abs(x) != float("inf") else None for x in values]

    compiled = {row.name: row for row in model._compiled.joints}
    return {
        "name": model.name, "nq": model.nq, "nv": model.nv, "mass": sum(body.mass for body in model.bodies),
        "joints": [{"name": j.name, "kind": j.kind, "parent": j.parent.name, "child": j.child.name,
                    "lower": plain(j.limits.position.lower), "upper": plain(j.limits.position.upper),
                    "velocity": plain(j.limits.velocity.upper),
                    "effort": plain(j.limits.effort.upper), "damping": plain(compiled[j.name].damping),
                    "friction": plain(compiled[j.name].friction),
                    "mimic": None if j.mimic is None else dict(zip(("joint", "multiplier", "offset"), j.mimic))}
                   for j in model.joints],
        "shapes": [{"name": s.name, "link": s.body.name, "kind": s.kind, "sizes": list(s.geometry.sizes), "group": s.group,
                    **s._row.numbers} for s in model.shapes],
        "excluded": [list(pair) for pair in excluded(model)],
        "links": [{"name": b.name, "mass": b.mass, "com": b.com.tolist(), "inertia": b.inertia.tolist()}
                  for b in model.bodies[1:]]}
