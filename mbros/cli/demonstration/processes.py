"""Processes of the demonstration: started apart from the terminal's signals, ended in order, never left behind."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from typing import Any

from mbros_core.support.processes import end_with, python


class Child:
    """A Python module that runs as a process of its own session. Its words go to a temporary file; with `reports`, JSON lines come from
    its stdout and a line can be sent to its stdin."""

    def __init__(self, name: str, module: str, *arguments: str, reports: bool = False) -> None:
        pipe = subprocess.PIPE if reports else None
        self.name, self.log, self._rest = name, tempfile.TemporaryFile(), b""
        self.process = subprocess.Popen(
            python(module, *arguments), stdin=pipe or subprocess.DEVNULL, stdout=pipe or self.log, stderr=self.log,
            start_new_session=True, preexec_fn=end_with(os.getpid()))
        if reports:
            assert self.process.stdout is not None
            os.set_blocking(self.process.stdout.fileno(), False)

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self.process.poll()

    def newest_report(self) -> dict[str, Any] | None:
        """The last whole JSON line that has arrived, or None."""
        assert self.process.stdout is not None
        while True:
            try:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            self._rest += data
        *whole, self._rest = self._rest.split(b"\n")
        return json.loads(whole[-1]) if whole else None

    def say(self, line: str) -> None:
        """Write a line to its stdin; nothing happens when it is gone."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def stop(self) -> None:
        """SIGINT, as Ctrl-C would; SIGTERM and SIGKILL when that is not enough."""
        for number, patience in ((signal.SIGINT, 3.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
            if self.code is not None:
                break
            self.process.send_signal(number)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue

    def words(self, lines: int = 12) -> str:
        """The end of what it said."""
        self.log.seek(0)
        return "\n".join(self.log.read().decode(errors="replace").strip().splitlines()[-lines:])
