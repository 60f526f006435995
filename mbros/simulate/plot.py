"""Pictures of logs: signals over time by name, with units and limits, drawn by matplotlib.

    log.plot(["joint2.position", "joint4.position", "energy"], path="out.png")
"""
from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.describe.joints.kinds import row_of
from mbros.errors import MbrosError, unknown
from mbros.model.figure import FAINT, GRID, INK, color, dashes, new_figure, save

if TYPE_CHECKING:
    from mbros import Log

QUANTITIES = ("position", "velocity", "effort")
ENERGIES = {"energy": "total energy", "kinetic_energy": "kinetic energy", "potential_energy": "potential energy"}
MOST = 12           # curves of a panel that a legend can still name
CLOSE = 0.08        # how near to a curve, in parts of the panel's range, a limit has to be to be drawn
ROOM = 0.35         # the same of panels with one or two curves


class Curve(NamedTuple):
    """One signal: values (n,) with a name, a unit, and limits where it has them (infinite where not)."""

    panel: str
    unit: str
    name: str
    values: np.ndarray
    lower: float = -np.inf
    upper: float = np.inf


def plot(log: Log, signals: str | Sequence[str] | None = None, path: Any = None) -> Any:
    """See Log.plot."""
    names = [signals] if isinstance(signals, str) else default_signals(log) if signals is None else list(signals)
    if len(log) < 2 or not names:
        raise MbrosError(f"plot of {log!r}: " + ("there is no signal to draw" if len(log) > 1 else "expected a log of 2 rows or more"))
    panels: dict[tuple[str, str], list[Curve]] = {}
    for name in names:
        for curve in curves(log, name):
            panels.setdefault((curve.panel, curve.unit), []).append(curve)
    figure, axes = new_figure(len(panels), f"{log.model.name}", 9.0, 1.0 + 2.15 * len(panels), sharex=True)
    shown = {name: k for k, name in enumerate(dict.fromkeys(curve.name for panel in panels.values() for curve in panel))}
    for ax, ((quantity, unit), rows) in zip(axes, panels.items()):
        draw(ax, log.time, quantity, unit, rows, shown)
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(log.time[0], log.time[-1])
    figure.align_ylabels(axes)
    return save(figure, path)


def default_signals(log: Log) -> list[str]:
    """Positions, velocities and efforts of every joint that moves of its own, the energy, and the signals of a bench."""
    moving = [joint.name for joint in log.model.joints if joint.nv and not joint.follows]
    own = [signal for signal in log.signals if signal not in signal_names(log.model)]
    return [*(f"{name}.{quantity}" for quantity in QUANTITIES for name in moving), "energy", *own]


def signal_names(model: Any) -> list[str]:
    """Every name that log.plot understands."""
    return [*(f"{joint.name}.{quantity}" for joint in model.joints if joint.nv for quantity in QUANTITIES), *ENERGIES]


def curves(log: Log, name: str) -> list[Curve]:
    """The curves of "<joint>.position", .velocity or .effort, "<joint>" for its position, a kind of energy, or logged signals."""
    own, of_robot = log.signals, isinstance(name, str) and name in (*signal_names(log.model), *log.model.joints.names)
    named = [signal for signal in own if isinstance(name, str) and (signal == name or fnmatchcase(signal, name))]
    if named and not of_robot:
        return [Curve(signal.rpartition(".")[2].replace("_", " "), own.units[signal] or "1", label, column)
                for signal in named for label, column in labelled(signal, own[signal])]
    if name in ENERGIES:
        return [Curve("energy", "J", ENERGIES[name], getattr(log, name))]
    joint_name, _, quantity = name.rpartition(".") if isinstance(name, str) and name not in log.model.joints else (name, "", "position")
    if quantity not in QUANTITIES or joint_name not in log.model.joints:
        raise unknown("signal", name, f"the log of model {log.model.name!r}", [*signal_names(log.model), *own])
    joint, part = log.model.joint(joint_name), log[joint_name]
    if not joint.nv:
        raise MbrosError(f"plot: joint {joint_name!r} ({joint.kind}) does not move")
    values = getattr(part, quantity)
    columns = values[:, None] if values.ndim == 1 else values
    names, units = labels(joint, quantity)
    lower, upper = limits(joint, quantity)
    return [Curve(quantity, unit, label, column, low, high)
            for label, unit, column, low, high in zip(names, units, columns.T, lower, upper)]


def labelled(signal: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(name, (n,)) of every number of a signal."""
    if values.ndim == 1:
        return [(signal, values)]
    ends = "xyz" if values.shape[1] == 3 else range(values.shape[1])
    return [(f"{signal}.{end}", column) for end, column in zip(ends, values.T)]


def labels(joint: Any, quantity: str) -> tuple[list[str], list[str]]:
    """Names and units of a joint's coordinates: "elbow", or "base.x" where it has several."""
    row = row_of(joint._exact_kind)
    if quantity == "position":
        suffixes, units = row.position_names, [unit or "1" for unit in row.position_units]
    else:
        suffixes, units = row.velocity_names, [unit or "1/s" for unit in row.velocity_units]
    if quantity == "effort":
        units = [{"rad/s": "N m", "m/s": "N"}.get(unit, "J s") for unit in units]
    return [joint.name if len(units) == 1 else f"{joint.name}.{suffix}" for suffix in suffixes], units


def limits(joint: Any, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) of each coordinate."""
    if quantity == "effort":
        return -joint.limits.effort.upper, joint.limits.effort.upper
    return joint.limits.position if quantity == "position" else joint.limits.velocity


def draw(ax: Any, time: np.ndarray, quantity: str, unit: str, rows: list[Curve], shown: dict[str, int]) -> None:
    """One panel: its curves, the limits that they come near, and who is who."""
    shown_values = np.concatenate([curve.values[np.isfinite(curve.values)] for curve in rows])      # NaN: nothing came, or not commanded
    low, high = (shown_values.min(), shown_values.max()) if shown_values.size else (0.0, 0.0)
    if high - low < 1e-9 * max(1.0, abs(low), abs(high)):               # a flat line, not the noise on it
        low, high = low - max(0.1 * abs(low), 0.1), high + max(0.1 * abs(high), 0.1)
    span, bottom, top = high - low, low - 0.06 * (high - low), high + 0.06 * (high - low)
    near, named = (ROOM if len(rows) <= 2 else CLOSE) * span, 0
    for curve in rows:
        k = shown[curve.name]
        ax.plot(time, curve.values, color=color(k), label=curve.name, linewidth=1.6, linestyle=dashes(k))
        for limit, side in ((curve.lower, -1), (curve.upper, 1)):
            if np.isfinite(limit) and (side * (limit - curve.values)).min() <= near:
                ax.axhline(limit, color=color(k), linewidth=1.0, linestyle=(0, (5, 3)), alpha=0.8)
                words = f"{curve.name} limit {limit:.4g}" if len(rows) > 1 else f"limit {limit:.4g}"
                ax.annotate(words, (0.995 - 0.17 * (named % 5), limit), xycoords=("axes fraction", "data"), xytext=(0, 2 * side),
                            textcoords="offset points", ha="right", va="bottom" if side > 0 else "top", fontsize=7.5, color=color(k))
                named += 1
                bottom, top = min(bottom, limit - 0.12 * span), max(top, limit + 0.12 * span)
    ax.set_ylim(bottom, top)
    ax.set_ylabel(f"{quantity} [{unit}]", color=INK)
    ax.grid(True, color=GRID, linewidth=0.8)
    if len(rows) <= MOST:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8, handlelength=1.8, labelspacing=0.3)
    else:
        ax.annotate(f"{len(rows)} signals", (1.015, 0.5), xycoords="axes fraction", fontsize=8, color=FAINT)
