"""Libraries with a digest at their end: it shows what was cut short or written over. What others could have made is not taken either."""
from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mbros.build.own_folder import why_foreign

MARK = b"mbros, sha256 of all before:"          # behind what a loader reads


def why_unfit(path: Path) -> str | None:
    """Why the library at `path` is not one that was put there by `seal`; "" where it is, None where there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return "is a link" if path.is_symlink() else f"cannot be opened: {error.strerror}"
    foreign = why_foreign(file)
    if foreign:                         # a folder, too, of which Python makes no file object
        os.close(file)
        return foreign
    with open(file, "rb") as opened:
        content = opened.read()
    text, mark, digest = content[:-len(MARK) - 32], content[-len(MARK) - 32:-32], content[-32:]
    return "" if mark == MARK and hashlib.sha256(text).digest() == digest else "is damaged: its digest does not fit"


def seal(made: Path, path: Path) -> None:
    """Put the library `made` at `path`, with its digest, on the disk and at once: a reader finds all of it, or the one before."""
    with open(made, "r+b") as file:
        digest = hashlib.sha256(file.read()).digest()
        file.write(MARK + digest)
        file.flush()
        os.fchmod(file.fileno(), 0o700)
        os.fsync(file.fileno())
    os.replace(made, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
