"""What a check looks at, and what it comes to."""
from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbros_core.realtime import Histogram

OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True)
class Finding:
    """One line of the report. `text` is a sentence or a figure, `remedy` what to do ("" when nothing), `detail` more lines."""

    level: str
    area: str
    subject: str
    text: str
    remedy: str = ""
    detail: str = ""


class Machine:
    """What the checks look at: the environment's variables, files below `root`, modules. Replaced by tests."""

    def __init__(self, env: dict[str, str] | None = None, root: str = "/") -> None:
        self.env, self.root = dict(os.environ if env is None else env), Path(root)

    def read(self, path: str) -> str | None:
        """The text of a file such as "proc/cpuinfo", or None where it cannot be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return None

    def free(self, path: str) -> int | None:
        """Free bytes on the file system of a folder, or None."""
        try:
            return shutil.disk_usage(self.root / path).free
        except OSError:
            return None

    def cpus(self) -> int:
        """How many processors this process may use."""
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def module(self, name: str) -> Any:
        """The imported module, or the exception that it raised."""
        try:
            return importlib.import_module(name)
        except Exception as error:          # a broken package may raise anything
            return error

    def has(self, name: str) -> bool:
        """Whether a module could be imported, without importing it."""
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            return False

    def may_lock_memory(self) -> bool:
        from mbros_core.realtime.privileges import may_lock_memory
        return may_lock_memory()

    def timer(self, seconds: float, priority: int) -> Histogram:
        """Histogram of how late a sleeping thread wakes; PermissionError when the priority is refused."""
        from mbros_core.realtime import timer_jitter
        return timer_jitter(seconds, 1e-3, priority=priority)
