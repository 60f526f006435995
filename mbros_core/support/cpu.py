"""Which build of the engine this CPU can run.

The choice reads what the kernel says of the CPU (/proc/cpuinfo on Linux); anything unknown gets the build that runs
everywhere. MBROS_ENGINE=baseline forces that one, for comparisons and bug reports.
"""
from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

AVX2 = frozenset({"avx2", "fma", "bmi2"})
AVX512 = AVX2 | {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"}


@cache
def flags() -> frozenset[str]:
    """The CPU's feature flags that are to be used, or nothing where they cannot be read."""
    return frozenset() if os.environ.get("MBROS_ENGINE") == "baseline" else all_flags()


def all_flags() -> frozenset[str]:
    """The CPU's feature flags, whatever MBROS_ENGINE says. (setup.py executes this file, before NumPy is there.)"""
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
    return importlib.import_module(f"mbros_core.engine.{otherwise}")
