"""What is said where a compiled module is missing: where Python looked, why it cannot be used there, and what to do.

`make demo` compiles only what it needs: an import of more from such a tree is refused by `Finder`, the last of sys.meta_path, which says
how to build it.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parents[1]           # mbros_core


class Finder:
    """Of modules of mbros that have a stub and that nobody has found: NotBuiltError."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, last = name.rpartition(".")
        if package.partition(".")[0] in ("mbros", "mbros_core") and last.startswith("_") and any(
                Path(folder, f"{last}.pyi").is_file() for folder in path or ()):
            from mbros_core.errors import NotBuiltError

            raise NotBuiltError(why(name))          # with a `name`, `from . import _x` would say it in its own way
        return None


def modules() -> tuple[list[str], list[str]]:
    """(those that are there, those that are not) of the compiled modules of these folders, engines apart: of those each CPU has its own."""
    there: list[str] = []
    missing: list[str] = []
    for package in (HERE, HERE.parent / "mbros"):
        for stub in sorted(package.rglob("_*.pyi")):
            if not stub.stem.startswith(("__", "_engine", "_double", "_lanes", "_dual")):
                built = any(stub.with_name(stub.stem + suffix).is_file() for suffix in EXTENSION_SUFFIXES)
                (there if built else missing).append(".".join(stub.relative_to(HERE.parent).with_suffix("").parts))
    return there, missing


def why(name: str) -> str:
    """The sentences of one module that is missing."""
    last = name.rpartition(".")[2]
    folder = (HERE.parent / Path(*name.split("."))).parent
    others = sorted({file.name.partition(".")[2].partition("-x86")[0] for file in folder.glob(f"{last}.*.so")})
    sources = (HERE.parent / "setup.py").is_file()
    if sources and not others and modules()[0]:
        return (f"{name} is not compiled yet: {HERE.parent} has a part of mbros, as `make demo` leaves it, or sources that are newer than "
                "what was built of them. Build the rest there: make build, or pip install -e .")
    text = f"mbros_core was found in {HERE}, where its compiled modules are missing ({last})"
    if others:
        return (f"{text}: they are built there for {', '.join(others)}, and this is {sys.implementation.cache_tag}. "
                "Build them with this Python")
    if not sources:
        return text + ". The installation is damaged: pip install --force-reinstall mbros"
    return text + (". This is the source folder, which Python looks into first when it is started there or PYTHONPATH names "
                   "it. If mbros is installed (pip install .), start Python in another folder. To use it from here, build it here: "
                   "pip install -e .")
