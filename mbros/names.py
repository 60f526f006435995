"""Names as text: what may be one, how foreign text is shown, and what was probably meant by a name that nothing has.

The lowest room: nothing of mbros is needed here.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

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
LONGEST_COMPARED = 64   # characters of a name that is compared with others for a hint
MOST_COMPARED = 10_000  # names that one is compared with
IN_ONE = 40_000         # comparisons for the hints of one document

_F = TypeVar("_F", bound=Callable[..., Any])
_left: ContextVar[list[int] | None] = ContextVar("hints left", default=None)


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


def plural(n: float, one: str, many: str = "") -> str:
    """A count and its noun.

    >>> plural(1, "joint"), plural(2, "joint"), plural(0, "body", "bodies")
    ('1 joint', '2 joints', '0 bodies')
    """
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"


def with_article(noun: str) -> str:
    """A noun with its article.

    >>> with_article("motor"), with_article("impedance_servo"), with_article("universal joint")
    ('a motor', 'an impedance_servo', 'a universal joint')
    """
    return f"{'an' if noun[:1].lower() in 'aeio' or noun[:2].lower() == 'un' and noun[:3].lower() != 'uni' else 'a'} {noun}"


def no_name(name: object) -> tuple[str, str] | None:
    """Why `name` cannot be the name of an element: (what is wrong with it, remedy). None when it can."""
    from mbros_core.support.numbers import short      # start-up time: commands and signal handlers are there before NumPy is

    if not isinstance(name, str) or not name.strip():
        return f"its name is {short(name)}", "Give a non-empty string."
    if len(name) > LONGEST:
        return f"its name {name[:40]!r}... has {len(name)} characters", f"Give a name of at most {LONGEST}."
    if not name.isprintable():
        bad = next(c for c in name if not c.isprintable())
        return (f"its name {short(name)} holds {bad!r}, which cannot be printed", "Names appear in tables, logs and messages: use letters, "
                "digits, signs and blanks.")
    if "${" in name or "$(" in name:
        return f"its name {short(name)} has a xacro expression in it", "Expand it first (xacro file.xacro > file.urdf), or load the .xacro."
    return None


def one_document(function: _F) -> _F:
    """A decorator for what reads a document, or makes a robot: IN_ONE comparisons of names in it are for hints; there are none after
    them. Within another one, the outer one counts. (No contextlib here: mbros.errors.warn counts the frames of mbros.)"""
    @wraps(function)
    def within(*given: Any, **named: Any) -> Any:
        if _left.get() is not None:
            return function(*given, **named)
        before = _left.set([IN_ONE])
        try:
            return function(*given, **named)
        finally:
            _left.reset(before)

    return cast("_F", within)


def did_you_mean(name: object, known: Iterable[Any], cutoff: float = 0.6) -> str | None:
    """The known name nearest to `name`, or None when none is near: twice the length of what they have in common, letters in the same
    order, is at least `cutoff` of both lengths together. Long names and long tables are not compared, so that a hint has a price."""
    known = known if isinstance(known, Collection) else list(known)
    left = _left.get() or [IN_ONE]
    if not isinstance(name, str) or len(name) > LONGEST_COMPARED or len(known) > min(MOST_COMPARED, left[0]):
        return None
    left[0] -= len(known)
    folded = name.casefold()
    best, near = cutoff, None
    for k in known:
        if not isinstance(k, str) or len(k) > LONGEST_COMPARED:
            continue
        if k.casefold() == folded:
            return k
        both = len(name) + len(k)
        if 2 * min(len(name), len(k)) >= best * both:        # else even all letters of the shorter one are too few
            score = 2 * max(_in_common(name, k), _in_common(folded, k.casefold()) - 1) / both
            if score > best or score == best and (near is None or k > near):        # of equals the last, as in joint7 for joint9
                best, near = score, k
    return near


def _in_common(a: str, b: str) -> int:
    """The length of the longest common subsequence: of one row of the usual table, differences as the bits of one whole number."""
    at: dict[str, int] = {}
    for i, c in enumerate(a):
        at[c] = at.get(c, 0) | 1 << i
    all_bits = row = (1 << len(a)) - 1
    for c in b:
        match = row & at.get(c, 0)
        row = (row + match | row - match) & all_bits
    return len(a) - row.bit_count()


def meant(pattern: str, names: Collection[str]) -> list[str]:
    """Those of `names`, a set or a dict, that a pattern of them means: the one called so, or all that it matches."""
    from fnmatch import fnmatchcase      # start-up time, as above

    if not any(c in pattern for c in "*?["):
        return [pattern] if pattern in names else []
    return [name for name in names if name == pattern or fnmatchcase(name, pattern)]


def hint(name: object, known: Iterable[Any]) -> str:
    """`; did you mean 'panda_joint4'?`, or the known names when they are few, or nothing."""
    known = known if isinstance(known, Collection) else list(known)
    if len(known) > (_left.get() or [IN_ONE])[0]:
        return ""
    near = did_you_mean(name, known)
    if near is not None:
        return f"; did you mean {near!r}?"
    listed = ", ".join(map(repr, known)) if 0 < len(known) <= 24 else ""
    if not 0 < len(listed) <= LONGEST:
        return ""
    return f"; there {'are' if len(known) > 1 else 'is only'} {listed}"
