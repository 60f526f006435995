"""Names that nothing has: messages that say what was probably meant."""
from __future__ import annotations

from mbros.errors import UnknownNameError


def did_you_mean(name: str, known, cutoff: float = 0.6) -> str | None:
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


def hint(name: str, known) -> str:
    """`; did you mean 'panda_joint4'?`, or the known names when they are few, or nothing."""
    known = list(known)
    near = did_you_mean(name, known)
    if near is not None:
        return f"; did you mean {near!r}?"
    if 0 < len(known) <= 16:
        return "; there are " + ", ".join(repr(k) for k in known) if len(known) > 1 else f"; there is only {known[0]!r}"
    return ""


def unknown(kind: str, name, where: str, known) -> UnknownNameError:
    """The exception for a missing name, to be raised by the caller.

    >>> str(unknown("joint", "panda_join4", "model 'panda'", ["panda_joint3", "panda_joint4"]))
    "no joint 'panda_join4' in model 'panda'; did you mean 'panda_joint4'?"
    """
    shown = repr(name) if len(str(name)) <= 80 else repr(str(name)[:77] + "...")
    return UnknownNameError(f"no {kind} {shown} in {where}{hint(name, known)}")
