"""Showing a View: a table that is rewritten in place on a terminal, a line a second elsewhere."""
from __future__ import annotations

import re
import shutil
import sys
import time
from typing import TextIO

from mbros.cli.demonstration import table
from mbros.cli.demonstration.table import View

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """show(view) as often as you like; it writes ten times a second to a terminal, once a second to anything else."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.live = self.stream.isatty()
        self._height, self._next = 0, 0.0

    def show(self, view: View) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + (0.1 if self.live else 1.0)
        if not self.live:
            if not self._height:
                print(table.title(view), file=self.stream)
                self._height = 1
            print(table.one_line(view), file=self.stream, flush=True)
            return
        columns, rows = shutil.get_terminal_size()
        shown = fit(table.lines(view), columns, rows - 2)
        back = f"\x1b[{self._height}A" if self._height else ""
        self.stream.write(back + "".join(f"\r\x1b[K{line}\n" for line in shown) + "\x1b[J")
        self.stream.flush()
        self._height = len(shown)

    def clear(self) -> None:
        """Take the table away."""
        if self.live and self._height:
            self.stream.write(f"\x1b[{self._height}A\r\x1b[J")
            self.stream.flush()
            self._height = 0


def fit(lines: list[str], columns: int, rows: int) -> list[str]:
    """Lines cut to the terminal: too many end in a count of those left out."""
    if len(lines) > rows > 1:
        lines = [*lines[:rows - 1], f"  ... and {len(lines) - rows + 1} more lines"]
    return [clip(line, columns - 1) for line in lines]


def clip(line: str, columns: int) -> str:
    """The line cut after so many visible characters; escape sequences take no room."""
    if len(_ESCAPE.sub("", line)) <= columns:
        return line
    out, room, at = [], columns, 0
    for escape in [*_ESCAPE.finditer(line), None]:
        text = line[at:escape.start() if escape else None]
        out.append(text[:room])
        room -= len(text[:room])
        if escape:
            out.append(escape.group())
            at = escape.end()
    return "".join(out)
