"""What takes long to make, kept by content in the folder of caches: under a digest of all that it is made of, with a digest of its own.

    found = take("hulls", name)                 # the bytes, None where they are not kept
    put("hulls", name, data, most=256 << 20)    # the oldest goes where all of them have more bytes than that

What is kept is trusted, and some of it is code: nothing is read from or written to a folder in which another user could put something,
and no file that another user could have written is taken. Nothing else of mbros is imported here but the two beside it, and no package:
setup.py reads them before there is any.
"""
from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .own_folder import cache_folder, make_folder, sweep, why_shared, working_folder
from .sealed import content, seal

MAKING = ".making-"
# What compilers and linkers heed beside their arguments.
VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")


def folder(kind: str) -> Path | None:
    """Where this kind is kept; None where another user could put something there, or it cannot be made."""
    with suppress(OSError, ValueError, RuntimeError):
        place = (cache_folder() / "mbros" / kind).resolve()
        make_folder(place)
        return None if why_shared(place) else place
    return None


def take(kind: str, name: str) -> bytes | None:
    """What was put there under this name, if it is whole; it is then the last to go."""
    place = folder(kind)
    if place is None:
        return None
    data, why_not = content(place / name)
    if why_not != "":
        return None
    with suppress(OSError):
        os.utime(place / name)
    return data


def put(kind: str, name: str, data: bytes, most: int) -> None:
    """Keep it, where that can be done: on a full disk, or in a folder that is read only, it is made again next time."""
    place = folder(kind)
    if place is None:
        return
    with suppress(OSError):
        sweep(MAKING, place)
        with working_folder(MAKING, place) as work:
            (work / name).write_bytes(data)
            seal(work / name, place / name)
        _forget(place, most)


def toolchain(commands: Iterable[Iterable[str]]) -> str:
    """What a compiled file depends on beside its sources: commands with their flags, the programs in them as they are on the disk, what the
    environment tells them, and this Python."""
    commands = [list(command) for command in commands]
    programs = sorted({os.path.realpath(found) for command in commands for word in command if (found := shutil.which(word))})
    files = [(path, about.st_size, about.st_mtime_ns) for path in programs for about in [os.stat(path)]]
    python = [sys.version, sysconfig.get_config_var("EXT_SUFFIX"), sysconfig.get_path("include")]
    return repr((commands, files, [os.environ.get(name) for name in VARIABLES], python))


def _forget(place: Path, most: int) -> None:
    found = sorted(((about.st_mtime, about.st_size, path) for path in place.iterdir() if path.is_file() for about in [path.lstat()]),
                   reverse=True)
    total = 0
    for _, size, path in found:
        total += size
        if total > most:
            path.unlink(missing_ok=True)
