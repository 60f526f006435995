"""The one rule for numbers in files: ASCII decimal, finite, nothing else.

Python's own float() also takes `nan`, `inf`, `1e400` (as inf), `1_000` and the digits of other scripts; none of them
belongs in a robot.
"""
from __future__ import annotations

import re

from mbros.errors import MbrosError

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n]+")
_LONGEST = 400          # characters of one number; a double needs at most 25 to be written exactly enough
_INFINITE = float("inf")


def shorten(text: str, length: int = 60) -> str:
    """`text` as messages quote it."""
    return repr(text) if len(text) <= length else repr(text[:length]) + f"... ({len(text)} characters)"


def parse_finite_float(text: str) -> float:
    """The number, or MbrosError whose text is the reason."""
    if len(text) <= _LONGEST and _NUMBER.match(text):
        value = float(text)
        if abs(value) == _INFINITE:
            raise MbrosError(f"{shorten(text)} is larger than any double (1.8e308)")
        return value
    raise MbrosError(f"{shorten(text)} {_why(text)}")


def _why(text: str) -> str:
    if not text:
        return "is empty; expected a number"
    if len(text) > _LONGEST:
        return f"is longer than {_LONGEST} characters; expected a number"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "is not a finite number"
    if not text.isascii():
        return "has characters outside ASCII; write digits 0 to 9"
    if "," in text:
        return "has a comma; write the decimal point as '.' and separate numbers with blanks"
    if "_" in text:
        return "has an underscore; write the digits without separators"
    if text.lower().lstrip("+-").startswith("0x"):
        return "is hexadecimal; write a decimal number"
    if "${" in text or "$(" in text:
        return "is an unexpanded xacro expression; run xacro first, or load the .xacro file itself"
    return "is not a number"


def parse_vector(text: str, size: int) -> tuple[float, ...]:
    """Exactly `size` numbers separated by blanks, or MbrosError whose text is the reason."""
    # XML lets no other ASCII blanks through than those of _BLANKS
    words = text.split() if text.isascii() else [word for word in _BLANKS.split(text) if word]
    if not words:
        raise MbrosError(f"is empty; expected {size} number{'s' * (size > 1)}")
    if len(words) != size and all(_NUMBER.match(word) for word in words[:16]):
        raise MbrosError(f"{shorten(text)} has {len(words)} numbers, expected {size}")
    values = tuple(parse_finite_float(word) for word in words[:size + 1])
    if len(words) != size:
        raise MbrosError(f"{shorten(text)} has {len(words)} entries, expected {size}")
    return values
