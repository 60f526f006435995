"""A small three-dimensional drawing in SVG: lines, arrows, boxes, frames, and labels that keep out of each other's way.

Parallel projection with z up, x towards the reader on the left, y to the right. No dependency beside NumPy. Coordinates are
rounded to a tenth of a pixel before anything is decided from them, so that every machine draws the same file.
"""
from __future__ import annotations

from html import escape

import numpy as np

AXES = ("#d0312d", "#2a8f3a", "#2456d6")          # x, y, z
INK, MOTION, FAINT = "#3a4654", "#a8440a", "#8a97a5"
BODY, GHOST, GROUND = "#bfd0e6", "#dfe7f1", "#d8d2c4"
WIDTH, HEIGHT, MARGIN, LARGEST = 440, 320, 24, 175.0     # px, and px per metre

_AZIMUTH, _ELEVATION = np.radians(28.0), np.radians(24.0)
_RIGHT = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
_TOWARDS = np.array([np.cos(_AZIMUTH) * np.cos(_ELEVATION), np.sin(_AZIMUTH) * np.cos(_ELEVATION), np.sin(_ELEVATION)])
_UP = np.cross(_TOWARDS, _RIGHT)


def flat(points):
    """(n, 3) points in m as (n, 2), y downwards as in SVG."""
    return np.atleast_2d(points) @ np.column_stack([_RIGHT, -_UP])


def circle(center, axis, start, stop, radius, n=25):
    """Points of an arc about `axis`, angles from an arbitrary but fixed direction across it."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    across = np.cross(axis, _TOWARDS)
    e1 = across / np.linalg.norm(across)
    e2 = np.cross(axis, e1)
    t = np.linspace(start, stop, n)[:, None]
    return np.asarray(center) + radius * (np.cos(t) * e1 + np.sin(t) * e2)


class Scene:
    """Collects what is drawn, in metres; `svg` scales it to the picture."""

    def __init__(self, title):
        self.title, self.strokes, self.labels = title, [], []

    def line(self, points, color=INK, width=1.5, dash="", arrow=False, fill="none", opacity=1.0):
        """A polyline (n, 3); with an arrow head at its end; filled (a polygon) if it has a fill."""
        self.strokes.append((np.atleast_2d(np.asarray(points, float)), color, width, dash, arrow, fill, opacity))

    def label(self, at, text, color=INK, away=None):
        """Text near a point, on the side away from the point `away`; or on the best of several points. "F_x" has x as its index."""
        at = np.asarray(at, float)
        self.labels.append((at, text, color, at if away is None else np.asarray(away, float)))

    def box(self, R, p, lower, upper, fill=BODY, color=INK, opacity=1.0, dash=""):
        """The faces of a box that are seen; corners in the frame at (R, p)."""
        lower, upper = np.asarray(lower, float), np.asarray(upper, float)
        for axis in range(3):
            for end, sign in ((upper, 1.0), (lower, -1.0)):
                if sign * R[:, axis] @ _TOWARDS > 1e-9:
                    a, b = [k for k in range(3) if k != axis]
                    corners = np.tile(end, (4, 1))
                    corners[:, a] = [lower[a], upper[a], upper[a], lower[a]]
                    corners[:, b] = [lower[b], lower[b], upper[b], upper[b]]
                    corners[:, axis] = end[axis]
                    self.line(np.vstack([corners, corners[:1]]) @ R.T + p, color, 0.9, dash, fill=fill, opacity=opacity)

    def frame(self, R, p, name, length=0.8, width=1.6):
        """The axes of a frame; axes that lie on one another share a label."""
        for k, letter in enumerate("xyz"):
            tip = p + length * R[:, k]
            self.line([p, tip], AXES[k], width, arrow=True)
            for i, (at, text, color, away) in enumerate(self.labels):
                if color == AXES[k] and np.abs(at - tip).max() < 0.03:
                    self.labels[i] = at, f"{text}, {name}_{letter}", color, away
                    break
            else:
                self.label(tip, f"{name}_{letter}", AXES[k], p)

    def dot(self, p, color=INK, radius=0.025):
        t = np.linspace(0.0, 2.0 * np.pi, 13)[:, None]
        self.line(p + radius * (np.cos(t) * _RIGHT + np.sin(t) * _UP), color, 0.5, fill=color)

    # ----------------------------------------------------------------------------------------------------- as a file

    def svg(self) -> str:
        everything = np.vstack([flat(points) for points, *_ in self.strokes] + [flat(at) for at, *_ in self.labels])
        low, high = everything.min(0), everything.max(0)
        room = np.array([WIDTH - 2 * MARGIN - 20, HEIGHT - 2 * MARGIN])
        scale = min(LARGEST, *(room / np.maximum(high - low, 1e-6)))
        shift = np.array([WIDTH, HEIGHT]) / 2 - scale * (low + high) / 2

        def screen(points):
            return np.round(scale * flat(points) + shift, 1)

        out, marks = [], []
        for points, color, width, dash, arrow, fill, opacity in sorted(self.strokes, key=layer):
            xy = screen(points)
            marks.append(surface(xy) if fill == BODY else np.repeat(dense(xy), 3 if fill == "none" else 1, axis=0))
            out.append(path(xy, color, width, dash, fill, opacity, arrow))
        ink = np.vstack(marks) if marks else np.zeros((0, 2))
        taken = []
        for at, text, color, away in sorted(self.labels, key=lambda label: label[0].ndim == 1):
            anchors = screen(at)
            if at.ndim == 1:
                middle = place(anchors[0], anchors[0] - screen(away)[0], text, ink, taken)
            else:
                middle = choose(anchors, text, ink, taken)
            out.append(write(middle, text, color, indices=True))
        return document(self.title, out)


def layer(stroke):
    """Bodies under auxiliary lines, these under axes and arrows."""
    _, _, _, dash, _, fill, _ = stroke
    return 0 if fill in (BODY, GHOST, GROUND) else 1 if dash else 2


def document(title, parts, width=WIDTH, height=HEIGHT) -> str:
    """The whole file, on white whatever the page is."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="13" stroke-linecap="round" stroke-linejoin="round">\n'
            f'<title>{escape(title)}</title>\n<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>\n'
            + "\n".join(parts) + "\n</svg>\n")


def path(xy, color=INK, width=1.5, dash="", fill="none", opacity=1.0, arrow=False) -> str:
    """A polyline on the screen."""
    extra = (f' stroke-dasharray="{dash}"' if dash else "") + (f' opacity="{opacity:g}"' if opacity != 1.0 else "")
    text = f'<path d="M{" ".join(f"{x:.1f},{y:.1f}" for x, y in xy)}" fill="{fill}" stroke="{color}" stroke-width="{width:g}"{extra}/>'
    return text + (head(xy, color, width) if arrow else "")


def head(xy, color, width) -> str:
    """The arrow head at the end of a polyline, along its last few pixels; none where it is seen end on."""
    size = 5.0 + 1.6 * width
    back = next((point for point in xy[::-1] if np.hypot(*(xy[-1] - point)) > 0.6 * size), None)
    if back is None:
        return ""
    d = (xy[-1] - back) / np.hypot(*(xy[-1] - back))
    n = np.array([-d[1], d[0]])
    corners = np.round([xy[-1] + 0.5 * d * size, xy[-1] - 0.5 * d * size + 0.42 * n * size, xy[-1] - 0.5 * d * size - 0.42 * n * size], 1)
    return f'<path d="M{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}z" fill="{color}"/>'


def dense(xy):
    """Points every few pixels along a polyline."""
    parts = [xy[:1]]
    for a, b in zip(xy[:-1], xy[1:]):
        n = max(2, int(np.hypot(*(b - a)) / 4))
        parts.append(a + (b - a) * np.linspace(0, 1, n)[1:, None])
    return np.vstack(parts)


def surface(xy):
    """Points all over a quadrilateral, its edges twice."""
    n = max(3, int(max(np.hypot(*(xy[1] - xy[0])), np.hypot(*(xy[2] - xy[1]))) / 5))
    s, t = (grid.reshape(-1, 1) for grid in np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n)))
    inside = (1 - s) * (1 - t) * xy[0] + s * (1 - t) * xy[1] + s * t * xy[2] + (1 - s) * t * xy[3]
    return np.vstack([inside, dense(xy)])


def choose(anchors, text, ink, taken):
    """The emptiest of the points for a label on a surface."""
    half = half_size(text)
    crossed = [int((np.abs(ink - at) < half).all(1).sum()) for at in anchors]
    best = anchors[int(np.argmin(crossed))]
    taken.append((best, half))
    return best


def half_size(text):
    return np.array([4.0 * len(text.replace("_", "")) + 2.0, 8.0])


def place(anchor, direction, text, ink, taken):
    """Middle of a label near `anchor`: off the lines, off other labels, in the picture, rather on the side of `direction`."""
    half = half_size(text)
    length = np.hypot(*direction)
    wish = direction / length if length > 1.0 else np.array([0.0, -1.0])
    best = None
    for distance in (0.0, 5.0, 11.0, 18.0, 27.0):
        for k in range(16):
            d = np.array([np.cos(k * np.pi / 8), np.sin(k * np.pi / 8)])
            reach = min(half[0] / max(abs(d[0]), 1e-6), half[1] / max(abs(d[1]), 1e-6)) + 4.0 + distance
            middle = np.round(anchor + reach * d, 1)
            over = sum(max(0.0, np.min(half + other - np.abs(middle - at) + 2.0)) for at, other in taken)
            crossed = min(45, int((np.abs(ink - middle) < half).all(1).sum()))
            outside = (middle - half < 3.0).any() or (middle + half > (WIDTH - 3.0, HEIGHT - 3.0)).any()
            cost = 40.0 * over + 1.4 * crossed + 1000.0 * outside + 0.7 * distance - 6.0 * float(wish @ d)
            if best is None or cost < best[0] - 1e-6:
                best = (cost, middle)
    taken.append((best[1], half))
    return best[1]


def write(middle, text, color=INK, anchor="middle", size=None, indices=False) -> str:
    """Text about a point; with `indices`, what follows an underscore is one: "F_x, M_x"."""
    size = f' font-size="{size}"' if size else ""
    inside = "".join(indexed(word) for word in text.replace(", ", ",|").split("|")) if indices else escape(text)
    return f'<text x="{middle[0]:.1f}" y="{middle[1] + 4.5:.1f}" fill="{color}" text-anchor="{anchor}"{size}>{inside}</text>'


def indexed(word) -> str:
    """F_x or F_x, with its index below the line."""
    name, _, index = word.partition("_")
    comma = ",&#160;" if index.endswith(",") else ""
    low = f'<tspan dy="3" font-size="10">{escape(index.rstrip(","))}</tspan>' if index else ""
    return escape(name) + low + (f'<tspan dy="-3">{comma}</tspan>' if comma else "")
