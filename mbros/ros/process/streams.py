"""The standard streams of a program, as it finds them."""
from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Streams that the caller closed (`>&-`) lead nowhere: else print would fail, and the next file or socket that is opened take their
    place, and get what is meant for them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)        # as standard streams are
    os.close(number)
    for name, k in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(k, "w", encoding="utf-8", errors="backslashreplace", closefd=False))
