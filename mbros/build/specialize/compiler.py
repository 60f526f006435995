"""The compiler at hand, and what it has made before."""
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import mbros_core
from mbros_core import cpu
from mbros_core.numbers import short

from mbros.errors import MbrosError

# As setup.py has them for the engine, for the CPU of this machine.
FLAGS = ("-std=c++17", "-O2", "-march=native", "-fno-tree-slp-vectorize", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
         "-fvisibility=default", "-w", "-shared", "-fPIC")
HEADERS = ("real.hpp", "lanes.hpp", "quick_sincos.hpp")
ENGINE = Path(mbros_core.__file__).resolve().parent


class NoCompiler(MbrosError):
    """There is none, or it does not compile this."""


@cache
def compiler() -> tuple[tuple[str, ...], str]:
    """(command, its first line about itself): of $CXX ("ccache g++" has two words), g++, c++ and clang++ the first that is there."""
    for words in (os.environ.get("CXX", "").split(), ["g++"], ["c++"], ["clang++"]):
        path = shutil.which(words[0]) if words else None
        if path:
            command = (path, *words[1:])
            try:
                said = subprocess.run([*command, "--version"], capture_output=True, text=True, errors="replace", check=False)
            except OSError as error:
                raise NoCompiler(f"{path} cannot be run: {error.strerror}; name another one in $CXX") from None
            return command, said.stdout.partition("\n")[0]
    raise NoCompiler("no C++ compiler was found ($CXX, g++, c++, clang++); on Debian and Ubuntu: sudo apt install g++")


def folder(given: str | os.PathLike[str] | None) -> Path:
    """Where compiled robots are kept: the folder that is given, else the robots of mbros in $XDG_CACHE_HOME or ~/.cache."""
    if not isinstance(given, (str, os.PathLike, type(None))):
        raise MbrosError(f"specialize: cache: expected the path of a folder, got {short(given)}")
    base = Path(given) if given is not None else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mbros" / "robots"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if given is not None:
            raise MbrosError(f"specialize: cache: {base} cannot be made a folder: {error.strerror}") from None
        base = Path(tempfile.mkdtemp(prefix="mbros-robots-"))
    return base


def libraries(sources: Mapping[str, tuple[str, tuple[str, ...]]], name: str, where: Path,
              elsewhere: bool = False) -> dict[str, Path]:
    """{key: shared library} of {key: (C++, macros)}: those that were compiled before from the same text, for this CPU and by this compiler,
    are taken as they are; the others are compiled side by side. elsewhere: in a temporary folder where this one cannot be written."""
    command, version = compiler()
    width = ("-mprefer-vector-width=512",) if mbros_core.lanes().Batch.lanes == 8 else ()
    made: dict[str, Path] = {}
    running = []
    for key, (text, macros) in sources.items():
        flags = (*FLAGS, *width, *macros)
        path = made[key] = where / f"{name}-{key}-{_digest(text, flags, version)}.so"
        if not path.is_file():
            if elsewhere and not os.access(where, os.W_OK):
                path = made[key] = Path(tempfile.mkdtemp(prefix="mbros-robots-")) / path.name
            running.append((path, *_start(text, [*command, *flags, f"-I{ENGINE}"], path)))
    problems = [_finish(*job) for job in running]
    for problem in filter(None, problems):
        raise NoCompiler(f"{' '.join(command)} did not compile it: {problem}")
    return made


def _digest(*parts: object) -> str:
    headers = [(ENGINE / name).read_text(encoding="utf-8") for name in HEADERS]
    return hashlib.sha256(repr((parts, sorted(cpu.flags()), headers)).encode()).hexdigest()[:20]


def _start(text: str, command: list[str], path: Path) -> tuple[subprocess.Popen[str], Path]:
    try:
        work = Path(tempfile.mkdtemp(prefix=".compiling-", dir=path.parent))
        (work / "robot.cpp").write_text(text, encoding="utf-8")
    except OSError as error:
        raise MbrosError(f"specialize: cache: {path.parent} cannot be written: {error.strerror}; give a folder of your own") from None
    words = [*command, str(work / "robot.cpp"), "-o", str(work / "robot.so")]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"), work


def _finish(path: Path, process: subprocess.Popen[str], work: Path) -> str:
    """Its words where it failed; else the library is in its place, whole, even where another process made it meanwhile."""
    words = process.communicate()[1]
    try:
        if process.returncode == 0:
            os.replace(work / "robot.so", path)
            return ""
        return words.strip().partition("\n")[0] or f"it ended with {process.returncode}"
    except FileNotFoundError:
        return "it ended with 0, and wrote nothing"
    finally:
        shutil.rmtree(work, ignore_errors=True)
