"""How a page looks beside what viser makes of it: its title, and a style sheet. Of pages that are served and of those that are files.

viser 1.1.1 has no word for these: sliders that fill from where nothing is commanded, boxes that are wide enough for their numbers, a unit
behind them, lamps, and a panel that leaves a phone half of its screen.
"""
from __future__ import annotations

import gzip
import html
import re
from typing import Any

STYLE = """
.mantine-Slider-root { --none: 0%; min-width: 3rem; }
.mantine-Slider-bar { --at: calc(var(--slider-bar-width) - 2 * var(--slider-size));
  inset-inline-start: min(var(--none), var(--at)) !important;
  width: max(calc(var(--at) - var(--none)), calc(var(--none) - var(--at))) !important; }
.mantine-Slider-mark { display: none !important; }
.mantine-Slider-markLabel { white-space: nowrap; }
.mantine-Slider-markWrapper:first-of-type .mantine-Slider-markLabel { transform: translate(-.1rem, .03rem) !important; }
.mantine-Slider-markWrapper:last-of-type .mantine-Slider-markLabel { transform: translate(-85%, .03rem) !important; }
.mantine-Slider-root + .mantine-NumberInput-root { width: auto !important; display: flex; align-items: center; flex-shrink: 0; }
.mantine-Slider-root + .mantine-NumberInput-root .mantine-NumberInput-wrapper { width: 4.4rem; }
.mantine-Slider-root + .mantine-NumberInput-root .mantine-NumberInput-input { letter-spacing: 0 !important; text-align: right;
  font-variant-numeric: tabular-nums; }
.mantine-Slider-root + .mantine-NumberInput-root::after { content: var(--unit, ""); width: var(--unit-width, 0); flex-shrink: 0;
  padding-left: .4em; font-size: .75rem; color: var(--mantine-color-dimmed); white-space: nowrap; }
.uplot .u-legend { margin: -.2em .5em .3em !important; line-height: 1.35; max-height: 5.5em; overflow-y: auto; }
.uplot .u-legend .u-label { overflow-wrap: anywhere; }
.uplot-container { padding-bottom: .2em; }
@media (max-width: 36em) {
  div:has(> .mantine-Paper-root[style*="position: fixed"]) { flex-direction: column !important; }
  div:has(+ .mantine-Paper-root[style*="position: fixed"]) { height: 0 !important; flex: 1 1 0 !important; }
  .mantine-Paper-root[style*="position: fixed"] { position: relative !important; width: 100% !important; max-height: 46% !important; }
  .mantine-Paper-root[style*="position: fixed"] > * { max-height: 46vh !important; }
  .mantine-Paper-root[style*="position: fixed"] div[style*="width: 20em"] { width: 100% !important; }
}
"""


def dressed(document: str, title: str) -> str:
    """A page of viser with this title, and with the style sheet."""
    head = f"<title>{html.escape(title)}</title><style>{STYLE}</style>"
    return re.sub(r"<title>.*?</title>", lambda _: head, document, count=1, flags=re.S)


def dress(response: Any, title: str) -> None:
    """The same of an answer of the server, where that is a page."""
    headers = response.headers
    if response.status_code != 200 or not headers.get("Content-Type", "").startswith("text/html"):
        return
    zipped = headers.get("Content-Encoding") == "gzip"
    document = dressed((gzip.decompress(response.body) if zipped else response.body).decode(), title).encode()
    response.body = gzip.compress(document) if zipped else document
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(response.body))
