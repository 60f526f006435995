"""What others wrote, for a log or a terminal: names in messages and files, values of parameters, errors that quote them."""
from __future__ import annotations

MOST = 4000         # characters of one line


def printable(text: str) -> str:
    """The text as one line in which every character can be seen: a line break, an escape sequence or a character that turns the
    direction of writing is shown as `\\n`, `\\x1b`, `\\u202e`, so that nobody's name can forge a line or move the cursor."""
    shown = text if len(text) <= MOST else f"{text[:MOST]}... ({len(text)} characters)"
    return shown if shown.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def words(error: BaseException) -> str:
    """The text of an error, as `printable`. One that lists several problems has a line for each; those escape themselves."""
    return str(error) if hasattr(error, "problems") else printable(str(error))
