"""Writing to a terminal: colours only on a terminal, tables, a line that is rewritten while something goes on."""
from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

from mbros.names import printable

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def coloured(stream: TextIO) -> bool:
    """Whether escape sequences are useful there: a terminal, and not switched off (NO_COLOR, TERM=dumb)."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in a style ("bold", "dim", "red", ...) where the stream (default: stdout) is a terminal. Nothing in the text acts."""
    text = printable(text)
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if coloured(stream or sys.stdout) else text


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), indent: str = "  ") -> list[str]:
    """Lines of a table: columns in `left` are flush left, the others (numbers) flush right. Cells are text: nothing in them acts."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]

    def line(cells: Any) -> str:
        return (indent + "  ".join(cell.ljust(width) if k in left else cell.rjust(width)
                                   for k, (cell, width) in enumerate(zip(cells, widths)))).rstrip()

    return [paint(line(header), "dim"), *map(line, rows)]


def number(value: float, digits: int = 4) -> str:
    """A number for a table; infinity is a dash (no limit)."""
    return "-" if value in (float("inf"), float("-inf")) else f"{value:.{digits}g}"


def span(seconds: float) -> str:
    """A duration with a fitting unit: '83 us', '1.2 ms', '3.4 s'."""
    for unit, scale in (("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


class Progress:
    """One line on stderr: rewritten ten times a second on a terminal, else a line every five seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self._next = time.monotonic() + (0.1 if self.live else 5.0)

    @property
    def due(self) -> bool:
        return time.monotonic() >= self._next

    def show(self, text: str) -> None:
        """Show the text now."""
        self._next = time.monotonic() + (0.1 if self.live else 5.0)
        if self.live:
            width = shutil.get_terminal_size().columns
            self.stream.write("\r\x1b[K" + text[:width - 1])
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
