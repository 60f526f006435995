"""Files with a digest at their end: it shows what was cut short or written over. What others could have made is not taken either."""
from __future__ import annotations

import hashlib
import os
from pathlib import Path

from .own_folder import why_foreign

MARK = b"mbros, sha256 of all before:"          # behind what a loader reads


def why_unfit(path: Path) -> str | None:
    """Why the file at `path` is not one that was put there by `seal`; "" where it is, None where there is none."""
    return content(path)[1]


def content(path: Path) -> tuple[bytes, str | None]:
    """(what was sealed at `path`, why_unfit)."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"", None
    except OSError as error:
        return b"", "is a link" if path.is_symlink() else f"cannot be opened: {error.strerror}"
    foreign = why_foreign(file)
    if foreign:                         # a folder, too, of which Python makes no file object
        os.close(file)
        return b"", foreign
    with open(file, "rb") as opened:
        text = opened.read()
    text, mark, digest = text[:-len(MARK) - 32], text[-len(MARK) - 32:-32], text[-32:]
    return (text, "") if mark == MARK and hashlib.sha256(text).digest() == digest else (b"", "is damaged: its digest does not fit")


def seal(made: Path, path: Path) -> None:
    """Put the file `made` at `path`, with its digest, on the disk and at once: a reader finds all of it, or the one before."""
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
