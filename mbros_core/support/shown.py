"""How things read: a state as a table of its joints, in a terminal and in a notebook; tables in HTML for everybody."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mbros_core.joints.registry import row_of
from mbros_core.spec import joint_coordinates

if TYPE_CHECKING:
    from mbros_core.engine._engine import State

MOST = 60               # rows of a table; a chain of thousands of links shows its first ones


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as notebooks show it. Every text is escaped; at most MOST rows are shown, and how many are not."""
    from html import escape                     # with its table of entities; only notebooks need it

    def line(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in cells) + "</tr>"

    rows = list(rows)
    more = line([f"... and {len(rows) - MOST} more", *[""] * (len(header) - 1)], "td") if len(rows) > MOST else ""
    return (f"<table><caption>{escape(caption)}</caption><thead>{line(header, 'th')}</thead>"
            f"<tbody>{''.join(line(row, 'td') for row in rows[:MOST])}{more}</tbody></table>")


def state_text(state: State) -> str:
    """The joints with their positions and velocities, and the time."""
    rows = list(state_rows(state))
    shown = [("joint", "position", "velocity"), *rows[:MOST]]
    widths = [max(map(len, column)) for column in zip(*shown)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in shown]
    more = [f"... and {len(rows) - MOST} more"] if len(rows) > MOST else []
    return "\n".join([_title(state), *lines, *more])


def state_html(state: State) -> str:
    """The same for a notebook."""
    return html_table(_title(state), ("joint", "position", "velocity"), state_rows(state))


def state_rows(state: State) -> Iterator[tuple[str, str, str]]:
    """(name, positions, velocities) of every joint that moves; a follower's are its leader's times the ratio, the positions beyond the
    offset."""
    spec, q, v = state.model.spec, state.q, state.v
    for i, (iq, iv, ratio, offset, _) in enumerate(joint_coordinates(spec)):
        row = row_of(spec, i)
        if row.nv:
            yield (spec.joint_names[i], _numbers(ratio * q[iq:iq + row.nq] + offset, row.position_names, row.position_units),
                   _numbers(ratio * v[iv:iv + row.nv], row.velocity_names, row.velocity_units))


def _numbers(values: Iterable[float], names: Sequence[str], units: Sequence[str]) -> str:
    values = list(values)
    texts = [f"{value:.6g} {unit}".rstrip() for value, unit in zip(values, [*units, *[""] * len(values)])]
    return texts[0] if len(texts) == 1 else ", ".join(f"{name} {text}" for name, text in zip(names, texts))


def _title(state: State) -> str:
    return f"state of {state.model.name!r} at {state.time:.6g} s"
