"""Files that are written as a whole or not at all."""
from __future__ import annotations

import os
from pathlib import Path

from .errors import MbrosError
from .given import file_path


def replace_file(who: str, path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file, in place of one that may be there; who reads it meanwhile sees the old one or the new one. MbrosError where
    it cannot be written, and then what was there stays."""
    import tempfile      # start-up time: who writes no file does not pay

    path = file_path(who, path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise MbrosError(f"{who}: {path} cannot be written: {(error.strerror or str(error)).lower()}") from error
    return path
