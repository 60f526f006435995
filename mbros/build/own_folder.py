"""Folders of code that is run: where they are, who else could put something into them, and what killed processes left there.
Nothing of mbros is imported here: setup.py reads this file."""
from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ABANDONED = 3600.0              # s: what is younger is left to the process that made it


class NoHome(OSError):
    """This user has no folder of its own; the text says what to do."""


def cache_folder() -> Path:
    """$XDG_CACHE_HOME, or ~/.cache where it is not set or, as its specification has it, not absolute. NoHome where there is none."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        raise NoHome("this user has no home folder to keep compiled code in; set XDG_CACHE_HOME to a folder of its own") from None


def make_folder(folder: Path) -> None:
    """The folder, and those above it that are missing, as this user's alone, whatever the umask is."""
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)             # says what stands there that is no folder


def why_shared(folder: Path, adding: bool = False) -> str:
    """Why another user, root apart, could replace something in a folder without links in its path; "" where none could. In a folder with
    the sticky bit, as /tmp, others can add files but not replace ours; adding: that is too much, too."""
    for place in (folder, *folder.parents):
        about = place.stat()
        if about.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to user {about.st_uid}"
        if _others_write(about) and (not about.st_mode & stat.S_ISVTX or (adding and place == folder)):
            return f"others can write to {place} (mode {stat.S_IMODE(about.st_mode):04o}; chmod go-w)"
    return ""


def why_foreign(file: int) -> str:
    """Why an open file is not one that this user, or root, made and nobody else can write; "" where it is."""
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode):
        return "is no file"
    if about.st_uid not in (0, os.geteuid()):
        return f"belongs to user {about.st_uid}"
    if _others_write(about):
        return f"can be written by others (mode {stat.S_IMODE(about.st_mode):04o})"
    return f"has {about.st_nlink} names" if about.st_nlink > 1 else ""


def _others_write(about: os.stat_result) -> bool:
    """By its bits. The group of that one user (umask 002 with groups of their own), and root's, are no others."""
    group = about.st_gid not in (0, about.st_uid)
    return bool(about.st_mode & (stat.S_IWOTH | (stat.S_IWGRP if group else 0)))


@contextmanager
def working_folder(prefix: str, where: Path) -> Iterator[Path]:
    """A new folder in `where`, for this process and until it leaves. It is locked meanwhile, so that nobody sweeps it."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
    lock = -1
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with suppress(OSError):                 # a file system without locks: an hour is what it has
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock >= 0:
            os.close(lock)


def sweep(prefix: str, where: Path) -> None:
    """Remove the working folders of processes that were killed: older than an hour, this user's, and locked by nobody."""
    for folder in where.glob(f"{prefix}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                about = os.fstat(lock)
                if about.st_uid == os.geteuid() and time.time() - about.st_mtime > ABANDONED:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
            finally:
                os.close(lock)
