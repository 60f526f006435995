"""Filters of GetEntities: random text of their signs. Each is a pattern or refused in words, and takes at most a second on many names."""
import random
import re
import time

from tests.fuzz.findings import Journal, attempt, journal_of

SIGNS = ["a", "b", "1", "_", "/", ".", "*", "+", "?", "|", "(", ")", "[", "]", "^", "$", "-", "\\", "{", "}", "{2}", "{0,3}", "{255}",
         "{2,}", "[:alpha:]", "[:digit:]", "[ab]", "[^a]", "(a*)*", "(a|a)*", "\x1b", "\u00e4"]
NAMES = [f"robot{k}/link_{'ab' * (k % 20)}" for k in range(500)] + ["", "a" * 1000]
MOST = 1.0                  # s of processor time


def repeat(data: bytes) -> None:
    from mbros.ros.serve.patterns import Pattern, PatternError

    text, begun = data.decode(), time.process_time()
    try:
        pattern = Pattern(text)
        for name in NAMES:
            pattern.search(name)
    except PatternError as e:
        assert str(e).isprintable() and len(str(e)) < 500, e
    assert time.process_time() - begun < MOST, f"{time.process_time() - begun:.2f} s"
    if re.fullmatch(r"[ab1_/.()|]{1,12}", text):        # where both mean the same, and Python's is quick
        try:
            theirs = re.compile(text)
        except re.error:
            return
        mine = Pattern(text)
        for name in ("", "a", "ab", "1_/", "ba.ab"):
            assert mine.search(name) == bool(theirs.search(name)), name


def run(seconds: float, seed: int, count: int | None) -> int:
    random_, journal, end, tried = random.Random(seed), Journal(journal_of("filters")), time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        most = random_.choice((5, 12, 40, 200))
        data = "".join(random_.choice(SIGNS) for _ in range(random_.randrange(1, most))).encode()
        journal.write(data)
        attempt("filters", data, repeat)
        tried += 1
    return tried
