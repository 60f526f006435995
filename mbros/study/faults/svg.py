"""One curve of a fault campaign's page as SVG: two lines, their bounds, when faults act, axes with few round numbers."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from mbros.names import printable

if TYPE_CHECKING:
    from mbros.study.faults.curves import FaultCurve

WIDTH, HEIGHT = 360.0, 170.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 18.0, 22.0


def svg(curve: FaultCurve) -> str:
    low, high = _range(curve)
    first, last = (curve.times[0], curve.times[-1]) if len(curve.times) > 1 else (0.0, 1.0)
    first = min(first, 0.0)

    def x(t: float) -> float:
        return LEFT + (min(max(t, first), last) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(printable(curve.signal))} over time">']
    for name, begin, end in curve.spans:
        out.append(f'<rect class="span" x="{x(begin):.1f}" y="{TOP:g}" width="{max(x(end) - x(begin), 1.0):.1f}" '
                   f'height="{HEIGHT - TOP - BOTTOM:g}"><title>{escape(printable(name))}</title></rect>')
    for value in ticks(low, high, 4):
        out.append(f'<line class="grid" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
                   f'<text x="{LEFT - 5:g}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.5g}</text>')
    marked = ticks(first, last, 5)
    for t in marked:
        out.append(f'<text x="{x(t):.1f}" y="{HEIGHT - 6:g}" text-anchor="middle">{t:.5g}{" s" if t == marked[-1] else ""}</text>')
    for bound in (curve.low, curve.high):
        if bound is not None and low <= bound <= high:
            out.append(f'<line class="bound" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y(bound):.1f}" y2="{y(bound):.1f}"/>')
    for begin, width in curve.bands:
        for side in (-width, width):
            edge = [None if value is None or t < begin or not low <= value + side <= high else value + side
                    for t, value in zip(curve.times, curve.base)]
            out += [_line("bound", part, x, y) for part in _parts(curve.times, edge)]
    for kind, values in (("base", curve.base), ("run", curve.run)):
        out += [_line(kind, part, x, y) for part in _parts(curve.times, values)]
    for t, what in curve.marks:
        out.append(f'<line class="mark" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{TOP:g}" y2="{HEIGHT - BOTTOM:g}"/>'
                   f'<text class="what" x="{x(t) + (4 if x(t) < WIDTH / 2 else -4):.1f}" y="{TOP - 6:g}" '
                   f'text-anchor="{"start" if x(t) < WIDTH / 2 else "end"}">{escape(printable(what))}</text>')
    return "".join([*out, "</svg>"])


def _line(kind: str, part: list[tuple[float, float]], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    points = " ".join(f"{x(t):.1f},{y(value):.1f}" for t, value in part)
    return f'<polyline class="{kind}" fill="none" stroke-width="1.6" stroke-linejoin="round" points="{points}"/>'


def _range(curve: FaultCurve) -> tuple[float, float]:
    """With a bound where it is not so far off that the curves would be lines."""
    values = [value for value in (*curve.run, *curve.base) if value is not None] or [0.0]
    low, high = min(values), max(values)
    for bound in (curve.low, curve.high):
        if bound is not None and low - 2.0 * (high - low) <= bound <= high + 2.0 * (high - low):
            low, high = min(low, bound), max(high, bound)
    for begin, width in curve.bands:
        if width <= 2.0 * (high - low):
            wide = [value for t, value in zip(curve.times, curve.base) if value is not None and t >= begin] or [0.5 * (low + high)]
            low, high = min(low, min(wide) - width), max(high, max(wide) + width)
    space = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - space, high + space


def _parts(times: Sequence[float], values: Sequence[float | None]) -> list[list[tuple[float, float]]]:
    """The curve without what has no number."""
    parts: list[list[tuple[float, float]]] = [[]]
    for t, value in zip(times, values):
        if value is None:
            parts.append([])
        else:
            parts[-1].append((t, value))
    return [part for part in parts if part]


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers between them, about so many."""
    raw = (high - low) / count
    power = 10.0 ** floor(log10(raw))
    step = next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw) * power
    return [round(k * step, 12) + 0.0 for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
