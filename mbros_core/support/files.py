"""Files that are read without waiting for anybody, and written as a whole or not at all."""
from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from mbros_core.errors import MbrosError
from mbros_core.support.given import file_path


class NoRegularFile(OSError):
    """A folder, a pipe, a device: what is no file on a disk."""


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, to read from. NoRegularFile of what is none: who reads a pipe or a device
    may wait, or read, for ever. OSError where it cannot be opened."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        is_folder = stat.S_ISDIR(mode)
        raise NoRegularFile(errno.EISDIR if is_folder else errno.EINVAL, "Is a directory" if is_folder else "Not a regular file", path)
    return os.fdopen(file, "rb")


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """All bytes of a regular file; OSError where it has more than `most`."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"More than {most} bytes", path)
    return data


def read_named(who: str, path: str | os.PathLike[str], most: int) -> bytes:
    """All bytes of a file that somebody named: a regular one of at most `most` bytes. MbrosError with its name and the reason, whatever
    the name is and whatever is there."""
    named = file_path(who, path)
    try:
        return read_regular(named, most)
    except OSError as error:
        raise MbrosError(f"{who} {os.fspath(path)!r} cannot be read: {(error.strerror or str(error)).lower()}") from error


def text_named(who: str, path: str | os.PathLike[str], most: int) -> str:
    """The same as text in UTF-8."""
    try:
        return read_named(who, path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MbrosError(f"{who} {os.fspath(path)!r} cannot be read: byte {error.start} is not UTF-8") from error


def check_target(who: str, path: str | os.PathLike[str]) -> Path:
    """MbrosError where replace_file could not write this file, as far as that can be known before; for what is computed for long first."""
    given = path = file_path(who, path)
    try:
        path = Path(os.path.realpath(given))
        reason = (link if (link := planted(given)) else
                  "it is a folder" if path.is_dir() else "it is not a regular file" if path.exists() and not path.is_file() else
                  f"there is no folder {path.parent}" if not path.parent.is_dir() else
                  f"no files can be made in folder {path.parent}" if not os.access(path.parent, os.W_OK | os.X_OK) else "")
    except OSError as error:            # a folder that may not be looked into, a working folder that is gone
        raise _cannot(who, given, error) from error
    if reason:
        raise MbrosError(f"{who}: {given if link else path} cannot be written: {reason}")
    return path


def stranger(path: str | os.PathLike[str]) -> int | None:
    """The user, neither root nor this one, whose file or link stands there; None where there is none. Who can write to our working folder,
    as to /tmp, can put there what programs read unasked."""
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return None
    return None if owner in (0, os.geteuid()) else owner


def planted(path: Path) -> str:
    """Whose link it is, where another user than root made it: it may lead to any file of ours. Linux follows none in folders as /tmp
    (protected_symlinks), unless it was set otherwise, and does not see that what realpath found came from one. "" of anything else."""
    for _ in range(40):                 # as many as Linux follows
        if not os.path.islink(path):            # also where nobody may look: who opens it says so
            break
        owner = stranger(path)
        if owner is not None:
            return f"it is a link, and one of user {owner}"
        path = path.parent / path.readlink()
    return ""


def _cannot(who: str, path: str | os.PathLike[str], error: OSError) -> MbrosError:
    return MbrosError(f"{who}: {path} cannot be written: {(error.strerror or str(error)).lower()}")


def replace_file(who: str, path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file, in place of one that may be there, whose permissions it keeps; a link stays, and what it leads to is written. Who reads
    it meanwhile sees the old one or the new one. MbrosError where it cannot be written, and then what was there stays."""
    import secrets      # start-up time: who writes no file does not pay

    target = check_target(who, path)
    new = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    try:
        try:
            with open(new, "xb") as file:
                if target.exists():
                    os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                file.write(data)
            os.replace(new, target)
        except BaseException:
            new.unlink(missing_ok=True)         # Ctrl-C may come when it is in its place already
            raise
    except OSError as error:
        raise _cannot(who, path, error) from error
    return Path(path)
