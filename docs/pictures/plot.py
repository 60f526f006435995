"""Curves in SVG: one or two panels beside each other, with ticks at round numbers."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from draw import FAINT, HEIGHT, INK, MOTION, WIDTH, document, path, write

GRID, COLORS = "#e3e7ec", (MOTION, "#2456d6", "#2a8f3a")
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 46, 44


@dataclass
class Panel:
    """Curves over one abscissa (n,): (ordinates (n,), label) each. above: labels over all curves, not where there is room between."""

    title: str
    xlabel: str
    ylabel: str
    x: np.ndarray
    curves: list = field(default_factory=list)
    above: bool = False


def ticks(low, high, most=6):
    """Round numbers from low to high."""
    raw = (high - low) / most
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0) + 0.0


def svg(title, panels) -> str:
    width = WIDTH / len(panels)
    return document(title, [part for k, panel in enumerate(panels) for part in draw(panel, k * width, width)])


def draw(panel, left, width):
    """The parts of one panel."""
    x0, x1, y0, y1 = left + LEFT, left + width - RIGHT, HEIGHT - BOTTOM, TOP
    values = np.concatenate([y for y, _ in panel.curves])
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    low, high = low - 0.08 * (high - low), high + (0.45 if panel.above else 0.08) * (high - low)

    def screen(x, y):
        return np.round(np.column_stack([x0 + (np.asarray(x) - panel.x[0]) / (panel.x[-1] - panel.x[0]) * (x1 - x0),
                                         y0 + (np.asarray(y) - low) / (high - low) * (y1 - y0)]), 1)

    out = []
    for t in ticks(panel.x[0], panel.x[-1], 5 if width < 300 else 8):
        out.append(path(screen([t, t], [low, high]), INK if abs(t) < 1e-12 else GRID, 1.0))
        out.append(write((screen([t], [low])[0, 0], y0 + 11), f"{t:g}", INK, size=11))
    for t in ticks(low, high):
        out.append(path(screen(panel.x[[0, -1]], [t, t]), INK if abs(t) < 1e-12 else GRID, 1.0))
        out.append(write((x0 - 5, screen([0], [t])[0, 1]), f"{t:g}", INK, "end", 11))
    for color, (y, _) in zip(COLORS, panel.curves):
        out.append(path(screen(panel.x, y), color, 2.2))
    named = [(color, text) for color, (_, text) in zip(COLORS, panel.curves) if text]
    ends = [screen(panel.x, y)[:len(panel.x) // 3, 1] for y, _ in panel.curves]
    top = y1 + 12 if panel.above or min(np.min(end) for end in ends) > y1 + 20 + 17 * len(named) else y0 - 12 - 17 * (len(named) - 1)
    for k, (color, text) in enumerate(named):
        out.append(write((x0 + 8, top + 17 * k), text, color, "start"))
    out.append(write(((x0 + x1) / 2, y0 + 29), panel.xlabel, INK))
    out.append(write((left + 8, y1 - 27), panel.ylabel, INK, "start"))
    if panel.title:
        out.append(write((left + 8, y1 - 11), panel.title, FAINT, "start", 12))
    return out
