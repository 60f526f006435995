"""Names as text: what may be one, how foreign text is shown, and what was probably meant by a name that nothing has.

The lowest room: nothing of mbros is needed here.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbros_core.typing import ArrayLike

    from mbros import Body, Frame, Joint, Pose

    # how users name parts of a model, in annotations: by name, by index, or the part itself
    FrameLike: TypeAlias = str | int | Frame | Body | Joint
    BodyLike: TypeAlias = str | int | Body
    JointLike: TypeAlias = str | int | Joint
    PoseLike: TypeAlias = Pose | ArrayLike          # or a homogeneous (4, 4) matrix

LONGEST = 1000          # characters of a name
MOST = 4000             # characters of foreign text that are shown


def printable(text: object, longest: int = MOST) -> str:
    """`text` for a log, a terminal or a table: one line in which nothing acts. What Python does not count as printable (control
    characters, escape sequences, ends of line of any script, marks that turn the direction of writing, halves of surrogates) is
    written as its escape. longest: how many characters of it are shown.

    >>> printable("arm\\n[ERROR] forged \\x1b[2J")
    'arm\\\\n[ERROR] forged \\\\x1b[2J'
    """
    text = str(text)
    cut = len(text) > longest
    shown = text[:longest] if cut else text
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)
    return f"{shown}... ({len(text)} characters)" if cut else shown


def sentences(*parts: str) -> str:
    """The parts as sentences, one after the other: each that is there ends in a full stop, unless it has an end of its own.

    >>> sentences("no robot 'arm'; did you mean 'arm7'?", "", "More come with an extra")
    "no robot 'arm'; did you mean 'arm7'? More come with an extra."
    """
    return " ".join(part if part.endswith((".", "?", "!")) else part + "." for part in (part.rstrip() for part in parts) if part)


def no_name(name: object) -> tuple[str, str] | None:
    """Why `name` cannot be the name of an element: (what is wrong with it, remedy). None when it can."""
    from mbros_core.numbers import short      # start-up time: commands and signal handlers are there before NumPy is

    if not isinstance(name, str) or not name.strip():
        return f"its name is {short(name)}", "Give a non-empty string."
    if len(name) > LONGEST:
        return f"its name {name[:40]!r}... has {len(name)} characters", f"Give a name of at most {LONGEST}."
    if not name.isprintable():
        bad = next(c for c in name if not c.isprintable())
        return (f"its name {short(name)} holds {bad!r}, which cannot be printed", "Names appear in tables, logs and messages: use letters, "
                "digits, signs and blanks.")
    return None


def did_you_mean(name: object, known: Iterable[Any], cutoff: float = 0.6) -> str | None:
    """The known name nearest to `name`, or None when none is near."""
    import difflib

    known = [k for k in known if isinstance(k, str)]
    if not isinstance(name, str) or len(name) > 200:
        return None
    folded = {k.casefold(): k for k in reversed(known)}
    if name.casefold() in folded:
        return folded[name.casefold()]
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    if near:
        return near[0]
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=cutoff)
    return folded[near[0]] if near else None


def hint(name: object, known: Iterable[Any]) -> str:
    """`; did you mean 'panda_joint4'?`, or the known names when they are few, or nothing."""
    known = list(known)
    near = did_you_mean(name, known)
    if near is not None:
        return f"; did you mean {near!r}?"
    if 0 < len(known) <= 24:
        return "; there are " + ", ".join(repr(k) for k in known) if len(known) > 1 else f"; there is only {known[0]!r}"
    return ""
