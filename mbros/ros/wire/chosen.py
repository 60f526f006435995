"""Elements that a request names, by their names or by patterns of names."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from mbros.errors import unknown
from mbros.names import LONGEST

from mbros.ros.errors import RequestError

MOST = 1000         # patterns in one request


def chosen(patterns: Iterable[str], known: Collection[str], kind: str, where: str) -> list[str]:
    """Each once, in the order in which they are asked for. Raises RequestError for a pattern that nothing has."""
    patterns = list(patterns)
    if len(patterns) > MOST:
        raise RequestError(f"{len(patterns)} names are given; expected at most {MOST} names or patterns")
    found: dict[str, None] = {}
    for pattern in patterns:
        if len(pattern) > LONGEST:
            raise RequestError(f"a name has {len(pattern)} characters; expected at most {LONGEST}")
        matching = [pattern] if pattern in known else [name for name in known if fnmatchcase(name, pattern)]
        if not matching:
            raise RequestError(str(unknown(kind, pattern, where, known).args[0]))
        found.update(dict.fromkeys(matching))
    return list(found)
