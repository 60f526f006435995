"""A model's tree as a picture: bodies and joints by name, kinds, coordinates, ranges of motion, limits and masses."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.joints.kinds import row_of
from mbros.model.figure import COLORS, FAINT, GRID, INK, new_figure, save
from mbros.names import plural

if TYPE_CHECKING:
    from mbros import Model

ROW, INDENT = 0.30, 0.30                    # inches
LETTER = 0.078                              # about the width of one
SMALL = 7.5
TURNING, SLIDING, OTHER, FIXED = COLORS[0], COLORS[1], COLORS[2], FAINT


def plot_tree(model: Model, path: Any = None) -> Any:
    """See JointTree.plot."""
    rows = _rows(model)
    left = max(1.1 + INDENT * level + LETTER * len(body) for body, level, _ in rows)         # where the column of joints begins
    joints = max([len(joint.name) for _, _, joint in rows if joint] + [6])
    middle = left + LETTER * (joints + 12)
    width = middle + 4.9
    figure, (ax,) = new_figure(1, f"{model.name}: {plural(len(model.joints), 'joint')}, nq {model.nq}, nv {model.nv}, "
                               f"{sum(body.mass for body in model.bodies):.4g} kg", width, 0.75 + ROW * (len(rows) + 1))
    ax.axis("off")
    ax.set_xlim(0, width - 0.2)
    ax.set_ylim(-(len(rows) + 0.2), 1.2)
    columns = {"body": 0.1, "joint": left, "coordinates": middle, "range of motion": middle + 1.0}
    columns["at most"] = columns["range of motion"] + 2.2
    for head, x in columns.items():
        ax.text(x, 0.75, head, fontsize=SMALL, color=FAINT, va="center")
    ax.axhline(0.4, color=GRID, linewidth=1.0)
    at: dict[str, tuple[float, float]] = {}
    for k, (name, level, joint) in enumerate(rows):
        _body(ax, model, k, name, level, joint, at)
        if joint is not None:
            _joint(ax, joint, k, columns)
    return save(figure, path)


def _rows(model: Model) -> list[tuple[str, int, Any]]:
    """(body, level, the joint that carries it), depth first in the author's order."""
    rows: list[tuple[str, int, Any]] = [(model.bodies[0].name, 0, None)]
    rows += [(joint.child.name, model.tree.level(joint), joint) for joint in model.joints]
    return rows


def _body(ax: Any, model: Model, k: int, name: str, level: int, joint: Any, at: dict[str, tuple[float, float]]) -> None:
    """The body's name and mass, and the line from its parent, in the colour of the joint."""
    x = 0.15 + INDENT * level
    at[name] = (x, -k)
    if joint is not None:
        px, py = at[joint.parent.name]
        ax.plot([px, px, x], [py - 0.28, -k, -k], color=_color(joint), linewidth=1.4, linestyle="--" if joint.follows else "-",
                solid_joinstyle="round", zorder=1)
    ax.plot([x], [-k], "o", markersize=4.5, color=_color(joint) if joint else INK, zorder=2)
    mass = model.body(name).mass
    words = ax.text(x + 0.11, -k, name, fontsize=8.5, fontweight="bold", color=INK, va="center")
    if mass:
        _beside(ax, words, f"{mass:.3g} kg", FAINT)


def _beside(ax: Any, words: Any, more: str, color: str) -> None:
    """More words, right of a text."""
    ax.annotate(more, (1.0, 0.5), xycoords=words, xytext=(7, 0), textcoords="offset points", fontsize=SMALL, color=color, va="center")


def _joint(ax: Any, joint: Any, k: int, columns: dict[str, float]) -> None:
    """Name, kind, coordinates, the range of motion as a bar, and limits of velocity and effort."""
    def text(column: str, words: str, color: str = INK) -> Any:
        return ax.text(columns[column], -k, words, fontsize=SMALL, color=color, va="center")

    _beside(ax, text("joint", joint.name), joint.kind, _color(joint))
    if joint.follows:
        leader, ratio, offset = joint.mimic
        text("coordinates", f"= {ratio:g} {leader}" + (f" {offset:+g}" if offset else ""), FAINT)
        return
    if not joint.nv:
        return
    text("coordinates", _span("q", joint.q_slice))
    _range(ax, joint, k, columns["range of motion"])
    text("at most", _most(joint))


def _range(ax: Any, joint: Any, k: int, x: float) -> None:
    """Of a joint with one position: a bar from the lower to the upper limit, zero in the middle,
    as long as the widest of the robot; of others, how many are limited."""
    row = row_of(joint._exact_kind)
    low, high = joint.limits.position
    if joint.nq > 1:
        limited = int((np.isfinite(low) | np.isfinite(high)).sum())
        ax.text(x, -k, "free" if not limited else f"{limited} of {joint.nq} limited", fontsize=SMALL, color=FAINT, va="center")
        return
    unit, width = row.position_units[0], 0.9
    scale = max([abs(float(v)) for other in joint.model.joints if other.nq == 1 and row_of(other._exact_kind).position_units[0] == unit
                 for v in (*other.limits.position.lower, *other.limits.position.upper) if np.isfinite(v)], default=1.0)
    ends = [x + 0.5 * width * (1.0 + float(np.clip(v / (scale or 1.0), -1.0, 1.0))) for v in (low[0], high[0])]
    ax.plot([x, x + width], [-k, -k], color=GRID, linewidth=5, solid_capstyle="butt", zorder=1)
    ax.plot(ends, [-k, -k], color=_color(joint), linewidth=5, solid_capstyle="butt", zorder=2)
    ax.plot([x + 0.5 * width] * 2, [-k - 0.2, -k + 0.2], color=INK, linewidth=0.8, zorder=3)
    words = "no limits" if not (np.isfinite(low[0]) or np.isfinite(high[0])) else f"{low[0]:.3g} … {high[0]:.3g} {unit}"
    ax.text(x + width + 0.1, -k, words, fontsize=SMALL, color=INK, va="center")


def _most(joint: Any) -> str:
    """Limits of velocity and effort of a joint with one degree of freedom, where there are any."""
    if joint.nv > 1:
        return ""
    unit = row_of(joint._exact_kind).velocity_units[0]
    speed, effort = joint.limits.velocity.upper[0], joint.limits.effort.upper[0]
    limits = ((speed, unit), (effort, "N" if unit == "m/s" else "N m"))
    return ",  ".join(f"{value:.4g} {word}" for value, word in limits if np.isfinite(value))


def _span(letter: str, part: slice) -> str:
    return f"{letter}[{part.start}]" if part.stop - part.start == 1 else f"{letter}[{part.start}:{part.stop}]"


def _color(joint: Any) -> str:
    """By what the joint can do."""
    if not joint.nv:
        return FIXED
    return OTHER if joint.nv > 1 else SLIDING if joint.can_translate and not joint.can_rotate else TURNING
