"""Which build of the engine this CPU can run.

The choice reads what the kernel says of the CPU (/proc/cpuinfo on Linux); anything unknown gets the build that runs
everywhere. MBROS_ENGINE=baseline forces that one, for comparisons and bug reports.
"""
from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mbros_core.errors import NotBuiltError

AVX2 = frozenset({"avx2", "fma", "bmi2"})
AVX512 = AVX2 | {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"}


@cache
def flags() -> frozenset[str]:
    """The CPU's feature flags, or nothing where they cannot be read."""
    if os.environ.get("MBROS_ENGINE") == "baseline":
        return frozenset()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset()


def load_double() -> ModuleType:
    """The double-precision module."""
    return _first_built((("_double_v4", AVX512), ("_double_v3", AVX2)), "_double")


@cache
def load_lanes() -> ModuleType:
    """The widest lanes module that was built and that this CPU runs."""
    return _first_built((("_lanes8", AVX512), ("_lanes4", AVX2)), "_lanes2")


@cache
def load_dual() -> ModuleType:
    """The dual-number module for this CPU."""
    return _first_built((("_dual8", AVX512), ("_dual4", AVX2)), "_dual2")


@cache
def engine() -> dict[str, Any]:
    """The double-precision build that this process runs. build: its module; machine: its instruction set; contracted: whether the compiler
    made a * b + c one operation with one rounding, as it does wherever the machine has one, so that last digits differ from a build
    without; asked: MBROS_ENGINE."""
    build = load_double().__name__.rpartition(".")[2]
    machine = platform.machine().lower()
    return {"build": build, "machine": machine, "contracted": build != "_double" or machine not in ("x86_64", "amd64"),
            "asked": os.environ.get("MBROS_ENGINE", "")}


def _first_built(choices: Iterable[tuple[str, frozenset[str]]], otherwise: str) -> ModuleType:
    for name, needed in choices:
        if flags() >= needed:
            try:
                return importlib.import_module(f"mbros_core.engine.{name}")
            except ModuleNotFoundError:
                continue                            # not built on this platform
    try:
        return importlib.import_module(f"mbros_core.engine.{otherwise}")
    except ModuleNotFoundError as error:
        if error.name != f"mbros_core.engine.{otherwise}":
            raise
        raise NotBuiltError(_not_built(otherwise)) from None


def _not_built(module: str) -> str:
    """Where Python found this package, why it cannot be used there, and what to do."""
    here = Path(__file__).resolve().parents[1]
    text = f"mbros_core was found in {here}, where its compiled modules are missing ({module})"
    others = sorted({file.name.partition(".")[2].partition("-x86")[0] for file in here.glob(f"engine/{module}.*.so")})
    if others:
        return (f"{text}: they are built there for {', '.join(others)}, and this is {sys.implementation.cache_tag}. "
                "Build them with this Python")
    if not (here.parent / "setup.py").is_file():
        return text + ". The installation is damaged: pip install --force-reinstall mbros"
    return text + (". This is the source folder, which Python looks into first when it is started there or PYTHONPATH names it. "
                   "If mbros is "
                   "installed (pip install .), start Python in another folder. To use it from here, build it here: pip install -e .")
