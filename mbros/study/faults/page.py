"""A fault campaign as one page of HTML that needs nothing else: every case with its requirements, faults, verdict, margins and curves."""
from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from mbros.names import plural, printable
from mbros.study.replay.compare_page import document
from mbros.study.faults.report import BLOWN, BROKEN, KEPT, SILENT, sentence
from mbros.study.faults.svg import svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbros.study.faults.criteria import Finding
    from mbros.study.faults.report import Report, Result

PLOTTED = 400               # cases that have curves; those that are not kept come first
CLASSES = {KEPT: "kept", BROKEN: "broken", SILENT: "silent", BLOWN: "blown"}
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2126; --soft: #5c6672; --line: #d9dee4; --tint: #f5f7f9; --good: #1a7f37;
  --bad: #c62828; --warn: #8a5a00; --curve: #1f6fb8; --base: #98a1ab; --span: #f2b13433 }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e6e9ec; --soft: #9aa4af; --line: #343b43; --tint: #1c2127;
  --good: #56c271; --bad: #ff7b72; --warn: #e3b341; --curve: #6cb2f2; --base: #6e7883; --span: #f2b13430 } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1.2rem 1rem 4rem; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere }
h1 { font-size: 1.5rem; margin: 0 0 .2rem } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem } p { margin: .3rem 0 }
a { color: inherit } .soft { color: var(--soft) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px } th, td { padding: .4rem .6rem .4rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line) }
.verdict { font-weight: 600; white-space: nowrap } .kept .verdict { color: var(--good) } .broken .verdict, .blown .verdict {
  color: var(--bad) } .silent .verdict { color: var(--warn) }
.id { display: inline-block; border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; margin: 0 .25rem .2rem 0;
  font-size: 13px; background: var(--tint) } .id.no { border-color: var(--bad); color: var(--bad) }
.tally { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin: .8rem 0; font-size: 1.05rem }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: 0 .8rem; background: var(--tint) }
summary { cursor: pointer; padding: .5rem 0; font-weight: 600 } summary .verdict { float: right; margin-left: .6rem }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: .8rem; margin: .6rem 0 }
figure { margin: 0; min-width: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .4rem }
figcaption { font-size: 13px } svg { width: 100%; height: auto; display: block } svg text { font: 11px system-ui, sans-serif;
  fill: var(--soft) } .run { stroke: var(--curve) } .base { stroke: var(--base) } .bound { stroke: var(--bad); stroke-dasharray: 5 4;
  stroke-width: 1.3 }
.grid { stroke: var(--line) } .span { fill: var(--span) } .mark { stroke: var(--bad) } svg .what { fill: var(--bad) }
.key i { display: inline-block; width: 1.4em; border-top: 2px solid; vertical-align: middle; margin: 0 .3em 0 0 }
.key span { white-space: nowrap; margin-right: .8em }
label { display: inline-block; margin: .4rem 0 } body:has(#only:checked) .case.kept { display: none }
@media (max-width: 40rem) { body { padding: .8rem .7rem 3rem } thead { display: none } tr { display: block; padding: .5rem 0;
  border-bottom: 1px solid var(--line) } td { display: block; border: 0; padding: .1rem 0 } td[data-of] { display: inline-block;
  margin-right: 1rem } td[data-of]:empty { display: none } td[data-of]::before { content: attr(data-of) " "; color: var(--soft);
  font-size: 13px } summary .verdict { float: none } }
"""


def page(report: Report, script: str) -> bytes:
    """script: its name, as it was given."""
    title = f"faults of {report.robot}"
    count = Counter(result.verdict for result in report.results)
    times = "" if len(report.baselines) == 1 else f", each with {len(report.baselines)} seeds"
    tally = "".join(f'<span class="{CLASSES[verdict]}"><span class="verdict">{count[verdict]} {verdict}</span></span>'
                    for verdict in CLASSES if count[verdict])
    shown = _shown(report)
    runs = plural(len(report.results), "run")
    body = [f"<h1>{_text(title)}</h1>", f'<p class="soft">{_text(script)}: {runs} of {report.duration:g} s{times}, '
            "beside those without a fault</p>", f'<div class="tally">{tally}</div>', *_requirements(report), "<h2>Cases</h2>",
            '<label><input type="checkbox" id="only"> only those that are not kept</label>',
            "<table><thead><tr><th>case</th><th>faults</th><th>requirements</th><th>nearest to its bound</th><th>verdict</th></tr></thead>"
            "<tbody>", *(_row(report, k, result) for k, result in enumerate(report.all)), "</tbody></table>", "<h2>Curves and margins</h2>",
            '<p class="soft key"><span><i style="border-color:var(--curve)"></i>with the faults</span> '
            '<span><i style="border-color:var(--base)"></i>without</span> '
            '<span><i style="border-color:var(--bad);border-top-style:dashed"></i>bound</span> '
            '<span><i style="border-color:#f2b134;border-top-width:8px;opacity:.4"></i>a fault acts</span></p>',
            *(_details(report, k, result, k in shown) for k, result in enumerate(report.all))]
    return document(title, body, STYLE)


def _shown(report: Report) -> set[int]:
    """Which cases have curves."""
    order = sorted(range(len(report.all)), key=lambda k: (report.all[k].good, k))
    return set(order[:PLOTTED])


def _text(text: str) -> str:
    return escape(printable(text))


def _requirements(report: Report) -> Iterator[str]:
    found = report.of_requirements()
    if not found:
        return
    yield "<h2>Requirements</h2><table><thead><tr><th>requirement</th><th>kept</th><th>broken</th><th>nearest to its bound</th>"
    yield "<th>margin</th></tr></thead><tbody>"
    for name, of in found.items():
        nearest = of["nearest"]
        text, margin = ("no case was judged by it", "") if nearest is None else (f'{of["case"]}: {nearest["text"]}', _margin(nearest))
        row, chip = ("broken", "id no") if of["broken"] else ("kept", "id")
        yield (f'<tr class="{row}"><td data-of="requirement"><span class="{chip}">{_text(name)}</span></td>'
               f'<td data-of="kept">{of["kept"]}</td><td data-of="broken"><span class="verdict">{of["broken"]}'
               f'</span></td><td>{_text(text)}</td><td data-of="margin">{margin}</td></tr>')
    yield "</tbody></table>"


def _margin(finding: dict[str, object] | None) -> str:
    margin = None if finding is None else finding["margin"]
    return "" if margin is None or finding is None else f"{margin:.3g} {escape(str(finding['unit']))}"


def _ids(result: Result) -> str:
    return "".join(f'<span class="id{"" if finding.kept else " no"}">{_text(name)}</span>'
                   for name, finding in result.by_requirement().items())


def _faults(result: Result) -> str:
    return "<br>".join(f"{escape(kind)} <span class=soft>{_text(target)}</span>" for kind, target in zip(result.kinds, result.targets)) or (
        '<span class="soft">none</span>')


def _nearest(result: Result) -> Finding | None:
    return min(result.by_requirement().values(), key=lambda each: (each.kept, each.share), default=None)


def _row(report: Report, k: int, result: Result) -> str:
    nearest = _nearest(result)
    said = _text(result.blown) if result.blown else "" if nearest is None else f"{_text(nearest.text)}"
    margin = "" if nearest is None or nearest.margin is None else f' <span class="soft">(margin {_margin(nearest.as_dict())})</span>'
    return (f'<tr class="case {CLASSES[result.verdict]}"><td><a href="#case{k}">{_text(report.label(result))}</a></td>'
            f"<td>{_faults(result)}</td><td>{_ids(result)}</td><td>{said}{margin}</td>"
            f'<td class="verdict">{result.verdict}</td></tr>')


def _details(report: Report, k: int, result: Result, plotted: bool) -> str:
    rows = "".join(f'<tr class="{"kept" if each.kept else "broken"}"><td><span class="id{"" if each.kept else " no"}">{_text(name)}</span>'
                   f"</td><td>{_text(each.text)}</td><td data-of=\"margin\">{_margin(each.as_dict())}</td><td class=\"verdict\">"
                   f'{"kept" if each.kept else "broken"}</td></tr>' for name, each in result.by_requirement().items())
    plots = "".join(f"<figure><figcaption>{_text(curve.signal)}{f', {escape(curve.unit)}' if curve.unit else ''}</figcaption>"
                    f"{svg(curve)}</figure>" for curve in result.curves) if plotted else (
        f'<p class="soft">Curves are of {PLOTTED} cases, those that are not kept first.</p>' if result.curves else "")
    blown = f"<p>{_text(result.blown)}</p>" if result.blown else ""
    return (f'<details id="case{k}" class="case {CLASSES[result.verdict]}"{"" if result.good else " open"}><summary>'
            f'{_text(report.label(result))}<span class="verdict">{result.verdict}</span></summary>{blown}'
            f'<p class="soft">{_text(sentence(result))}; seed {result.seed}</p><table><tbody>{rows}</tbody></table>'
            f'<div class="plots">{plots}</div></details>')
