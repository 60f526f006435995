"""What `mbros replay --compare` and `--fit` found, as one page of HTML that needs nothing else: tables, and curves as SVG."""
from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbros.study.replay.compare import Comparison

STYLE = ("body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222 } "
         "pre { background: #f6f7f9; padding: .8rem 1rem; overflow-x: auto; font-size: 13px } svg { width: 100%; height: auto }")


def page(title: str, parts: Sequence[tuple[str, object]]) -> bytes:
    """A title, and under a heading each what was found: in words, and what has curves with its curves. Needs matplotlib for these."""
    from mbros.study.replay.compare import Comparison      # start-up time: only who writes a page pays

    body = [f"<h1>{escape(title)}</h1>"]
    for heading, found in parts:
        body += [f"<h2>{escape(heading)}</h2>", f"<pre>{escape(str(found))}</pre>"]
        if isinstance(found, Comparison):
            body.append(svg(found))
    return document(title, body, STYLE)


def document(title: str, body: Sequence[str], style: str) -> bytes:
    """A whole page of elements, for any width."""
    head = ('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{style}</style>")
    return (f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{chr(10).join(body)}\n</body></html>\n'
            ).encode(errors="backslashreplace")     # names of files are any bytes


def svg(found: Comparison) -> str:
    """Its curves, as an element of a page."""
    written = io.StringIO()
    found.figure().savefig(written, format="svg", metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg"):]


__all__ = ["document", "page"]
