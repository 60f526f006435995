"""Patterns of GetEntities: POSIX extended regular expressions, the same as Python's where both have them, in bounded time."""
import random
import re
import time

import pytest

from mbros.errors import MbrosError
from mbros.ros.serve import patterns
from mbros.ros.serve.patterns import Pattern, PatternError

NAMES = [f"arm{k}/link_{k}" + "a" * 40 for k in range(800)]
# what keeps matchers that go back busy for ever, and what makes large automata
EXPONENTIAL = ("(a|a)*b", "(a*)*!", "((((a*)*)*)*)*!", "(([a-z]|[0-9]|_|/)*)*!", "(a|aa)+$!", "(.*){10}!", "(.*a){100}!",
               "(a?){100}a{100}!", "[ab]*a[ab]{200}!", "(a*){250}!", "^(((a|b|c|/)*)*)*!", "(.{0,30}){30}!", "(^|a)*$!")


def random_pattern(r, depth=0):
    kind = r.random()
    if depth > 3 or kind < 0.45:
        return r.choice(["a", "b", "_", ".", "[ab]", "[^a]", "[a-c_]", "\\.", "c"])
    inner = random_pattern(r, depth + 1)
    if kind < 0.6:
        return inner + random_pattern(r, depth + 1)
    if kind < 0.7:
        return f"({inner}|{random_pattern(r, depth + 1)})"
    if kind < 0.9:
        return f"({inner}){r.choice(['*', '+', '?', '{2}', '{1,3}', '{2,}', '{0,2}'])}"
    return f"{r.choice(['^', ''])}({inner}){r.choice(['$', ''])}"


def test_trial_X3_it_finds_what_re_finds():
    r = random.Random(3)
    for _ in range(1500):
        text = random_pattern(r)
        mine, theirs = Pattern(text), re.compile(text)
        for _ in range(6):
            name = "".join(r.choice("abc_.") for _ in range(r.randrange(9)))
            assert mine.search(name) == bool(theirs.search(name)), (text, name)


@pytest.mark.parametrize("text", EXPONENTIAL)
def test_trial_X3_no_pattern_takes_long(text):
    begun = time.process_time()
    try:
        assert not any(map(Pattern(text).search, NAMES))
    except PatternError as e:
        assert "takes too long on these names" in str(e)
    assert time.process_time() - begun < 5.0            # a hang, and not a slow machine


@pytest.mark.parametrize("text, name, found", [
    ("", "x", True), ("^$", "", True), ("^$", "x", False), ("[[:digit:]]+$", "arm7", True), ("[]a]", "]", True), ("[^]a]", "]", False),
    ("[a-]", "-", True), ("[[.a.]]", "a", True), ("a\\.b", "axb", False), ("a|", "z", True), ("(ab){2,}", "xababx", True),
    ("a{0}b", "b", True), ("\u00e4+", "l\u00e4\u00e4", True), ("[\\]", "\\", True), ("a**", "b", True)])
def test_what_POSIX_has(text, name, found):
    assert Pattern(text).search(name) is found


@pytest.mark.parametrize("text, words", [
    ("(", "it ends within a group"), ("a)", "closes nothing"), ("*a", "nothing stands before the *"), ("\\d", "write [[:digit:]]"),
    ("[[:foo:]]", "has the class [:foo:]; expected one of alpha"), ("[z-a]", "z-a is no range"), ("a{3,2}", "begins no {m}"),
    ("x{", "begins no {m}"), ("[a", "it ends within brackets"), ("\\", "it ends within a \\"), ("a{99999999999}", "begins no {m}"),
    ("(" * 60 + "a" + ")" * 60, "more than 50 groups"), ("a" * 1001, "at most 1000"), ("((a{255}){255}){255}", "more than 2000"),
    ("((){255}){255}", "more than 2000"), ("a" + "*" * 999, "more than 50 repetitions"), ("^*", "nothing that can be repeated"),
    ("a\x1b[2J(", "a\\x1b[2J(")], ids=range(18))
def test_what_is_no_pattern_is_said(text, words):
    with pytest.raises(MbrosError, match="is not a regular expression") as caught:
        Pattern(text)
    assert words in str(caught.value) and str(caught.value).isprintable() and len(str(caught.value)) < 500


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(patterns, "MOST_REMEMBERED", 10)
    pattern = Pattern("[ab]*a[ab]{8}x")
    r = random.Random(1)
    for _ in range(50):
        pattern.search("".join(r.choice("ab") for _ in range(30)))
    assert len(pattern._known) <= 10


def test_the_fuzzer_of_filters_finds_nothing():
    from tests.fuzz import filters
    assert filters.run(0.0, seed=5, count=300) == 300
