"""What the demonstration shows: lines of text from a View, and nothing else."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mbros.cli.terminal import paint, table


@dataclass
class View:
    """Everything there is to see at one moment; None where it is not known (yet)."""

    robot: str
    rate: float                                 # of the simulation, Hz
    where: str                                  # "ROS 2, domain 42", or "in this process"
    elapsed: float = 0.0
    duration: float = 10.0
    state_rate: float | None = None             # joint_states as they arrive here, Hz
    tf_rate: float | None = None
    command_rate: float | None = None           # commands the simulation accepts, Hz
    lateness: tuple[float, float] | None = None     # p50, p99, s
    late_steps: int | None = None               # overruns and missed slots
    command_age: float | None = None            # s
    plane: str = ""
    q: list[float] | None = None                # as measured, in the order of report["names"]
    report: dict[str, Any] = field(default_factory=dict)  # of the controller: mbros.cli.demonstration.controller.as_dict


def lines(view: View) -> list[str]:
    """The live table."""
    shown = [f"{title(view)}   {paint(f'{view.elapsed:4.1f} of {view.duration:g} s', 'cyan')}", ""]
    shown += [f"  {name:<14}{value}" for name, value in facts(view)]
    shown.append(f"  {'pose':<14}{pose(view.report)}")
    if view.report:
        shown += ["", *joints(view)]
    return shown


def title(view: View) -> str:
    """What runs, and where."""
    plane = f", data plane {view.plane}" if view.plane else ""
    return f"{paint(view.robot, 'bold')}  {view.rate:g} Hz, {view.where}{plane}"


def facts(view: View) -> list[tuple[str, str]]:
    """(name, value) of what is measured."""
    rows = []
    if view.tf_rate is not None or view.where.startswith("ROS"):
        rows.append(("joint_states", hertz(view.state_rate)))
        rows.append(("/tf", hertz(view.tf_rate)))
    else:
        rows.append(("steps", hertz(view.state_rate)))
    late = "" if view.late_steps is None else f", {view.late_steps} slots missed"
    rows.append(("lateness", "..." if view.lateness is None else
                 f"p50 {1e3 * view.lateness[0]:.3f} ms, p99 {1e3 * view.lateness[1]:.3f} ms{late}"))
    age = "" if view.command_age is None else f", the last one {1e3 * view.command_age:.1f} ms old"
    rows.append(("commands", hertz(view.command_rate) + age))
    return rows


def hertz(rate: float | None) -> str:
    return "..." if rate is None else f"{rate:.1f} Hz"


def pose(report: dict[str, Any]) -> str:
    """Where the controller is."""
    if not report.get("poses"):
        return "waiting for the robot"
    reached = sum(result["ok"] for result in report["results"])
    if len(report["results"]) == report["poses"]:
        return f"{reached} of {report['poses']} reached, holding the last"
    return f"going to {report['pose']} of {report['poses']}, {reached} reached"


def joints(view: View) -> list[str]:
    """The table of joints."""
    report, rows = view.report, []
    for k, (name, unit) in enumerate(zip(report["names"], report["units"])):
        measured = "..." if view.q is None else f"{view.q[k]:8.4f} {unit}"
        rows.append([name, measured, f"{report['desired'][k]:8.4f} {unit}", f"{1e3 * report['error'][k]:+8.2f} m{unit}",
                     f"{report['effort'][k]:8.2f} {'N' if unit == 'm' else 'N m'}"])
    return table(["joint", "position", "target", "error", "effort"], rows)


def one_line(view: View) -> str:
    """The same where nothing can be rewritten (a pipe, a log file)."""
    words = ", ".join(f"{name} {value}" for name, value in facts(view))
    return f"{view.elapsed:4.1f} s  {words}, pose {pose(view.report)}{largest(view.report)}"


def largest(report: dict[str, Any]) -> str:
    """The largest error of the moment."""
    if not report:
        return ""
    k = max(range(len(report["error"])), key=lambda i: abs(report["error"][i]))
    return f", largest error {1e3 * report['error'][k]:+.2f} m{report['units'][k]} at {report['names'][k]}"


def summary(view: View) -> list[str]:
    """What is left standing at the end."""
    report, shown = view.report, []
    for k, result in enumerate(report.get("results", ())):
        word = paint("reached", "green") if result["ok"] else paint("not reached", "red")
        shown.append(f"  pose {k + 1}  {word}, largest error {1e3 * result['error']:+.2f} m{result['unit']} at {result['joint']}")
    shown += [f"  {name:<14}{value}" for name, value in facts(view)]
    reached, poses = sum(result["ok"] for result in report.get("results", ())), report.get("poses", 0)
    verdict = f"{view.robot}: {reached} of {poses} poses reached" if poses else f"{view.robot}: it did not come to a pose"
    shown.append(paint(verdict, "green" if report.get("succeeded") else "red"))
    return shown
