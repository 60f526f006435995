"""POSIX extended regular expressions, matched in bounded time: a pattern that came by the network must not keep the node busy.

Python's `re` tries one way after the other, which of "(a|a)*b" are exponentially many. Here all ways are followed at once, character by
character (Thompson 1968), and where they lead from a set of places is remembered. What POSIX leaves open is refused, with a sentence.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mbros.errors import MbrosError
from mbros.names import printable

MOST_CHARACTERS, MOST_GROUPS, MOST_REPEATS = 1000, 50, 255      # of a pattern; inside each other; RE_DUP_MAX of POSIX
MOST_PLACES = 2000          # of the automaton that a pattern becomes
MOST_WORK = 1_000_000       # places looked at, for all texts together: some tenths of a second
MOST_REMEMBERED = 4000      # steps from a set of places by a character

UPPER, LOWER, DIGIT = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
PUNCT = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
CLASSES = {"alpha": UPPER + LOWER, "digit": DIGIT, "alnum": UPPER + LOWER + DIGIT, "upper": UPPER, "lower": LOWER, "space": " \t\n\r\f\v",
           "blank": " \t", "punct": PUNCT, "xdigit": DIGIT + "ABCDEFabcdef"}
OTHERS = {"d": "[[:digit:]]", "w": "[[:alnum:]_]", "s": "[[:space:]]"}         # how POSIX has what other languages have

Test = Callable[[str], bool]
# ("one", test), ("row", [nodes]), ("either", [nodes]), ("times", node, least, most or None), ("begin",), ("end",)
Node = tuple[Any, ...]
END = 0                     # the place where all of the pattern has been found


class PatternError(MbrosError):
    """What was given is no pattern, or one that would take too long."""


class Pattern:
    """`search(text)`: whether text has a match anywhere, as regexec(3) has it; "" matches all. Both raise PatternError."""

    def __init__(self, text: str):
        self._called = f"filter '{printable(text, 100)}'"
        try:
            node = _Reader(text).read()
            if _size(node) > MOST_PLACES:
                raise PatternError(f"written without repetitions it has more than {MOST_PLACES} characters")
        except PatternError as e:
            raise PatternError(f"{self._called} is not a regular expression, as POSIX has extended ones: {e}") from None
        self._kinds = ["end of all"]                    # of each place
        self._tests: list[Test] = [_never]
        self._next: list[tuple[int, ...]] = [()]        # where it leads
        self._start = self._put(node, END)
        self._ends = frozenset(place for place, kind in enumerate(self._kinds) if kind == "end")
        self._known: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._work = 0
        self._first, self._anew = self._reached([self._start], begin=True), self._reached([self._start])

    def search(self, text: str) -> bool:
        here = self._first
        for c in text:
            if END in here:
                return True
            here = self._step(here, c)
        if END not in here and not self._ends.isdisjoint(here):
            self._count(len(here))
            here = self._reached(here, begin=not text, end=True)
        return END in here

    def _step(self, here: frozenset[int], c: str) -> frozenset[int]:
        """Where a character leads; a match may begin behind it."""
        there = self._known.get((here, c))
        if there is None:
            there = self._anew | self._reached(then for place in here if self._tests[place](c) for then in self._next[place])
            self._count(len(here) + len(there))
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[here, c] = there
        return there

    def _count(self, places: int) -> None:
        self._work += places
        if self._work > MOST_WORK:
            raise PatternError(f"{self._called} takes too long on these names; give a shorter one, or one with fewer repetitions")

    def _reached(self, places: Iterable[int], begin: bool = False, end: bool = False) -> frozenset[int]:
        """These places and those that they lead to without a character; begin, end: of the text, where this is."""
        found: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in found:
                continue
            found.add(place)
            kind = self._kinds[place]
            if kind == "fork" or (kind == "begin" and begin) or (kind == "end" and end):
                waiting.extend(self._next[place])
        return frozenset(found)

    def _place(self, kind: str, leads: Sequence[int], test: Test | None = None) -> int:
        self._kinds.append(kind)
        self._tests.append(test or _never)
        self._next.append(tuple(leads))
        return len(self._kinds) - 1

    def _put(self, node: Node, then: int) -> int:
        """The place where `node` begins, which goes on at `then`."""
        kind = node[0]
        if kind == "one":
            return self._place("one", [then], node[1])
        if kind in ("begin", "end"):
            return self._place(kind, [then])
        if kind == "row":
            for part in reversed(node[1]):
                then = self._put(part, then)
            return then
        if kind == "either":
            return self._place("fork", [self._put(part, then) for part in node[1]])
        of, least, most = node[1:]
        if most is None:
            loop = self._place("fork", [])
            self._next[loop] = self._put(of, loop), then
            then = loop
        for k in range(least if most is None else most):
            once = self._put(of, then)
            then = once if most is None or k >= most - least else self._place("fork", [once, then])
        return then


def _never(c: str) -> bool:
    return False


def _size(node: Node) -> int:
    """How many places it becomes, or a few more."""
    if node[0] == "times":
        return 2 + _size(node[1]) * max(1, node[3] or 0, node[2] + (node[3] is None))
    return 1 + (sum(map(_size, node[1])) if node[0] in ("row", "either") else 0)


class _Reader:
    """Of a pattern, from its first character to its last."""

    def __init__(self, text: str):
        if len(text) > MOST_CHARACTERS:
            raise PatternError(f"it has {len(text)} characters; expected at most {MOST_CHARACTERS}")
        self.text, self.at, self.depth = text, 0, 0

    def read(self) -> Node:
        node = self._either()
        if self.at < len(self.text):
            raise PatternError(f"the ) at character {self.at + 1} closes nothing; write \\) for the character")
        return node

    def _next_is(self, signs: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] in signs

    def _take(self, what: str) -> str:
        if self.at >= len(self.text):
            raise PatternError(f"it ends within {what}")
        self.at += 1
        return self.text[self.at - 1]

    def _either(self) -> Node:
        parts = [self._row()]
        while self._next_is("|"):
            self.at += 1
            parts.append(self._row())
        return parts[0] if len(parts) == 1 else ("either", parts)

    def _row(self) -> Node:
        parts = []
        while self.at < len(self.text) and not self._next_is("|)"):
            part, times = self._one(), 0
            while self._next_is("*+?{"):
                part, times = self._times(part), times + 1
                if times > MOST_GROUPS:
                    raise PatternError(f"more than {MOST_GROUPS} repetitions stand behind each other")
            parts.append(part)
        return "row", parts

    def _one(self) -> Node:
        c = self._take("")
        if c == "(":
            self.depth += 1
            if self.depth > MOST_GROUPS:
                raise PatternError(f"more than {MOST_GROUPS} groups stand inside each other")
            node = self._either()
            if self._take("a group (...)") != ")":
                raise PatternError("a group is not closed")
            self.depth -= 1
            return node
        if c == "[":
            return "one", self._bracket()
        if c == "^":
            return ("begin",)
        if c == "$":
            return ("end",)
        if c == ".":
            return "one", lambda x: True
        if c in "*+?{":
            raise PatternError(f"nothing stands before the {c} at character {self.at}; write \\{c} for the character")
        if c == "\\":
            c = self._take("a \\ and what it stands before")
            if c.isalnum():
                raise PatternError(f"POSIX has no \\{c}" + (f"; write {OTHERS[c]}" if c in OTHERS else ""))
        return "one", c.__eq__

    def _times(self, of: Node) -> Node:
        c = self._take("")
        if of in (("begin",), ("end",)):
            raise PatternError(f"nothing that can be repeated stands before the {c} at character {self.at}")
        if c != "{":
            return "times", of, int(c == "+"), 1 if c == "?" else None
        closed = self.text.find("}", self.at)
        low, comma, high = self.text[self.at:max(closed, 0)].partition(",")
        least, most = (int(word) if word.isascii() and word.isdecimal() and len(word) < 4 else -1 for word in (low, high or low))
        if closed < 0 or least < 0 or not least <= most <= MOST_REPEATS:
            raise PatternError(f"the {{ at character {self.at} begins no {{m}}, {{m,}} or {{m,n}} with m <= n <= {MOST_REPEATS}; write "
                               "\\{ for the character")
        self.at = closed + 1
        return "times", of, least, None if comma and not high else most

    def _bracket(self) -> Test:
        """[...], with a backslash in it as any other character."""
        what, singles, ranges = "brackets [...]", set[str](), []
        negated = self._next_is("^")
        self.at += negated
        first = True
        while first or not self._next_is("]"):
            c, first = self._take(what), False
            if c == "[" and self._next_is(":.="):
                singles |= self._class()
            elif self._next_is("-") and self.text[self.at + 1:self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._take(what)
                if high == "[" and self._next_is(":.=") or high < c:
                    raise PatternError(f"{printable(c)}-{printable(high)} is no range of characters")
                ranges.append((c, high))
            else:
                singles.add(c)
        self.at += 1
        return lambda x: (x in singles or any(low <= x <= high for low, high in ranges)) != negated

    def _class(self) -> set[str]:
        sign = self._take("")
        closed = self.text.find(f"{sign}]", self.at)
        if closed < 0:
            raise PatternError(f"[{sign} is not closed by {sign}]")
        word, self.at = self.text[self.at:closed], closed + 2
        if sign == ":" and word in CLASSES:
            return set(CLASSES[word])
        if sign != ":" and len(word) == 1:
            return {word}
        raise PatternError(f"it has the class [{sign}{printable(word, 40)}{sign}]; expected one of {', '.join(CLASSES)}")
