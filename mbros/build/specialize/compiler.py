"""The compiler at hand, and what it has made before."""
from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import mbros_core
from mbros_core.support import cpu
from mbros_core.support.numbers import short

from mbros.build.own_folder import NoHome, cache_folder, make_folder, sweep, why_shared, working_folder
from mbros.build.sealed import MARK, seal, why_unfit
from mbros.errors import MbrosError, MbrosWarning

# As setup.py has them for the engine, for the CPU of this machine.
FLAGS = ("-std=c++17", "-O2", "-march=native", "-fno-tree-slp-vectorize", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
         "-fvisibility=default", "-w", "-shared", "-fPIC")
HEADERS = ("real.hpp", "lanes.hpp", "quick_sincos.hpp")
COMPILING = ".compiling-"
ENGINE = Path(mbros_core.__file__).resolve().parent / "scalar"


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
    """Where compiled robots are kept: the folder that is given, else the robots of mbros in $XDG_CACHE_HOME or ~/.cache. Code is run from
    there: a folder to which others can write is refused where it was given; where it was not, a warning says so, and the robot is compiled
    for this process alone."""
    if not isinstance(given, (str, os.PathLike, type(None))):
        raise MbrosError(f"specialize: cache: expected the path of a folder, got {short(given)}")
    wrong = ""
    try:
        base = (Path(given) if given is not None else cache_folder() / "mbros" / "robots").resolve()
        make_folder(base)
        wrong = why_shared(base)
    except NoHome as error:
        wrong = str(error)
    except OSError as error:
        wrong = f"{base} cannot be made a folder: {error.strerror}"
    except (ValueError, RuntimeError) as error:                 # a null byte; links in a circle
        wrong = f"{short(given)} is no path of a folder: {error}"
    if wrong and given is not None:
        raise MbrosError(f"specialize: cache: {wrong}; give a folder of your own")
    if wrong:
        warnings.warn(f"specialize: {wrong}; the robot is compiled for this process alone", MbrosWarning, stacklevel=4)
        return _temporary()
    return base


def _temporary() -> Path:
    """A folder for this process; it goes with it. NoCompiler where others could put another in its place."""
    try:
        above = Path(tempfile.gettempdir()).resolve()
        wrong = why_shared(above)
        if wrong:
            raise NoCompiler(f"the temporary folder is not safe: {wrong}; name another one in $TMPDIR")
        path, process = Path(tempfile.mkdtemp(prefix="mbros-robots-", dir=above)), os.getpid()
    except OSError as error:
        raise NoCompiler(f"there is no temporary folder: {error.strerror or error}; name one in $TMPDIR") from None
    atexit.register(lambda: shutil.rmtree(path, ignore_errors=True) if os.getpid() == process else None)
    return path


def libraries(sources: Mapping[str, tuple[str, tuple[str, ...]]], name: str, where: Path,
              elsewhere: bool = False) -> dict[str, Path]:
    """{key: shared library} of {key: (C++, macros)}: those that were compiled before from the same text, for this CPU and by this compiler,
    are taken as they are; the others, and what is damaged or not this user's, are compiled side by side. elsewhere: in a temporary folder
    where this one cannot be written. What was checked is what is loaded: nobody else can write to the folder (own_folder.why_shared)."""
    command, version = compiler()
    width = ("-mprefer-vector-width=512",) if mbros_core.lanes().Batch.lanes == 8 else ()
    made: dict[str, Path] = {}
    problems = []
    with ExitStack() as leaving:
        running: list[tuple[Path, subprocess.Popen[str], Path]] = []
        for key, (text, macros) in sources.items():
            flags = (*FLAGS, *width, *macros)
            path = made[key] = where / f"{name}-{key}-{_digest(text, flags, version)}.so"
            unfit = why_unfit(path)
            if unfit == "":
                continue
            if unfit:
                warnings.warn(f"specialize: {path} {unfit}; it is compiled again", MbrosWarning, stacklevel=4)
            if elsewhere and not os.access(where, os.W_OK):
                path = made[key] = _temporary() / path.name
            if not running:
                sweep(COMPILING, where)
            running.append((path, *_start(text, [*command, *flags, f"-I{ENGINE}"], path, leaving)))
        problems = [_finish(*job) for job in running]
    for problem in filter(None, problems):
        raise NoCompiler(f"{' '.join(command)} did not compile it: {problem}")
    return made


def _digest(*parts: object) -> str:
    headers = [(ENGINE / name).read_text(encoding="utf-8") for name in HEADERS]
    return hashlib.sha256(repr((parts, sorted(cpu.flags()), headers, MARK)).encode()).hexdigest()[:32]


def _start(text: str, command: list[str], path: Path, leaving: ExitStack) -> tuple[subprocess.Popen[str], Path]:
    """A compiler at work in a folder of its own; both end with `leaving`."""
    try:
        work = leaving.enter_context(working_folder(COMPILING, path.parent))
        (work / "robot.cpp").write_text(text, encoding="utf-8")
    except OSError as error:
        raise MbrosError(f"specialize: cache: {path.parent} cannot be written: {error.strerror}; give a folder of your own") from None
    words = [*command, str(work / "robot.cpp"), "-o", str(work / "robot.so")]
    try:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise NoCompiler(f"{command[0]} cannot be run: {error.strerror}; name another one in $CXX") from None
    leaving.callback(_end, process)
    return process, work


def _end(process: subprocess.Popen[str]) -> None:
    """Of one that nobody waits for any more, after Ctrl-C or the failure of another."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def _finish(path: Path, process: subprocess.Popen[str], work: Path) -> str:
    """Its words where it failed; else the library is in its place, whole, even where another process made it meanwhile."""
    words = process.communicate()[1]
    if process.returncode != 0:
        return words.strip().partition("\n")[0] or f"it ended with {process.returncode}"
    try:
        seal(work / "robot.so", path)
    except FileNotFoundError:
        return "it ended with 0, and wrote nothing"
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return ""
