"""House docstrings as reStructuredText.

They are plain prose: `code` in backticks, indented blocks are listings, and a line that begins with "name:" explains an argument or a part.
Nothing else has a meaning, so |v| and q* stay what they are.
"""
from __future__ import annotations

import re

NAMES = r"\**[A-Za-z_][\w.<>]*(?: \([^()]*(?:\([^()]*\))?[^()]*\))?"            # "tau", "q (nq,)", "error_*"
NAMED = re.compile(rf"({NAMES}(?:(?:, | and | or ){NAMES})*): (?=\S)")
NEW = ("Raises ", "Returns ", "Cost ", "Errors:")               # sentences that begin a paragraph after a list


def rst(lines: list[str]) -> list[str]:
    """The lines of a docstring, without their common indentation, as reStructuredText."""
    out: list[str] = []
    for k, block in enumerate(blocks(lines)):
        if all(line.startswith("    ") for line in block):
            out += ["::", "", *block, ""]
        else:
            out += prose(block, first=k == 0)
    return out


def blocks(lines: list[str]) -> list[list[str]]:
    """Runs of lines between blank ones. A listing stands alone or follows a colon; other indented lines continue the one before."""
    found: list[list[str]] = [[]]
    for line in lines:
        last = found[-1]
        if not line.strip():
            found.append([])
        elif last and line.startswith("    ") and not last[-1].startswith("    ") and last[-1].rstrip().endswith(":"):
            found.append([line])
        elif last and line.startswith("    ") and not last[0].startswith("    "):
            last[-1] += " " + line.strip()
        elif last and last[0].startswith("    ") and not line.startswith("    "):
            found.append([line])
        else:
            last.append(line)
    return [block for block in found if block]


def prose(block: list[str], first: bool = False) -> list[str]:
    """A paragraph; lines that begin with "name:", or with a mark of a list, become items of one. A docstring's first line is a sentence."""
    items: list[tuple[str, str]] = []
    for k, line in enumerate(block):
        text, named = line.strip(), NAMED.match(line)
        if text.startswith(("* ", "- ")):
            items.append(("* ", text[2:]))
        elif named and not (first and k == 0):
            items.append((f"* **{escaped(named.group(1))}**: ", line[named.end():]))
        elif items and not (items[-1][0] and text.startswith(NEW)):
            items[-1] = (items[-1][0], items[-1][1] + " " + text)
        else:
            items.append(("", text))
    out: list[str] = []
    for mark, text in items:
        if out and bool(mark) != out[-1].startswith("* "):
            out.append("")
        out.append(mark + marked(text))
    return [*out, ""]


def marked(text: str) -> str:
    """`code` as ``code``; everything else as it is."""
    parts = text.split("`")
    return "".join(f"``{part}``\\ " if k % 2 and part.strip() == part and part else escaped(part) for k, part in enumerate(parts))


def escaped(text: str) -> str:
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def process(app, what, name, thing, options, lines) -> None:
    lines[:] = rst(lines)


def setup(app) -> None:
    app.connect("autodoc-process-docstring", process)
