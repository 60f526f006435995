"""The texts that users meet have one word for one thing, and the field's: pages, docstrings, comments and sentences of the sources.

A word in the table is written as the entry beside it says. In names, where it is spelled as the field's code spells it
(`model.center_of_mass`), it stays.
"""
import ast
import io
import re
import tokenize

import pytest
from tables import ROOT, pages

INSTEAD = {
    r"mass[ -]cent(?:er|re)s?|cent(?:er|re)s? of gravity|centers? of mass": "centre of mass",
    r"told": "reported, published, shown, given",
    r"whoever|whosoever": "anyone who, the node that, the thread that",
    r"people": "users",
    r"mends?|mended": "fixes",
    r"wish|wishes": "request",
    r"behaviors?|neighbors?|meters?": "behaviour, neighbour, metre",
}
SAID = re.compile("|".join(rf"(?P<w{k}>\b(?:{words})\b)" for k, words in enumerate(INSTEAD)), re.IGNORECASE)
SOURCES = sorted(path for folder in ("mbros", "mbros_core", "examples", "launch", "docs/generate")
                 for path in (ROOT / folder).rglob("*.py"))
PAGES = [*(page for page in pages() if page.name != "seeds.md"),            # which is a list of names of tests
         *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
         *sorted((ROOT / "launch" / "config").glob("*.yaml"))]


def sentences(path):
    """(line, text) of what is prose in a file: of a source its comments and strings with blanks in them, of a page what is no code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        fenced = False
        for k, line in enumerate(text.splitlines(), 1):
            fenced ^= line.startswith("```")
            if not fenced:
                yield k, re.sub(r"`[^`]*`", "", line)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", "", token.string)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, re.sub(r"`[^`]*`", "", node.value)


def odd_words(path):
    return [f"{path.relative_to(ROOT)}:{line}: {found[0]!r}; write {list(INSTEAD.values())[int(found.lastgroup[1:])]}"
            for line, text in sentences(path) for found in SAID.finditer(text)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages(path):
    assert not odd_words(path)


def test_sources():
    assert not [found for path in SOURCES for found in odd_words(path)]


def test_an_odd_word_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("test_words.ROOT", tmp_path)
    source, page = tmp_path / "a.py", tmp_path / "a.md"
    source.write_text('"""The mass centre."""\ntold = "told"       # people of `told`\n')
    page.write_text("Center of mass, `center_of_mass`.\n```\nwhoever\n```\n")
    assert [found.partition("; ")[0] for found in odd_words(source)] == ["a.py:2: 'people'", "a.py:1: 'mass centre'"]
    assert [found.partition("; ")[0] for found in odd_words(page)] == ["a.md:1: 'Center of mass'"]
