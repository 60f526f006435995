"""mbros doctor: look at this machine. Exit code 1 when something that is there is broken."""
from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from mbros.cli.terminal import paint

if TYPE_CHECKING:
    import argparse
    from mbros.cli.doctor.machine import Finding

STYLE = {"ok": "green", "note": "yellow", "problem": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = ("ok: fine. note: works, but less than it could, or an extra is not there. problem: broken (exit code 1).\n"
                     "What to do stands below each line.")
    parser.add_argument("--quick", action="store_true", help="leave out the two seconds of timer measurement")
    parser.add_argument("--json", action="store_true", help="for programs: a list with an object for each line")


def run(arguments: argparse.Namespace) -> int:
    from mbros.cli.doctor import PROBLEM, TIMER_SECONDS, examine

    findings, area = [], None
    for finding in examine(timer_seconds=0.0 if arguments.quick else TIMER_SECONDS):
        findings.append(finding)
        if arguments.json:
            continue
        if finding.area != area:
            print(("" if area is None else "\n") + paint(finding.area, "bold"), flush=True)
            area = finding.area
        for line in lines(finding):
            print(line, flush=True)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        counts = {level: sum(finding.level == level for finding in findings) for level in STYLE}
        print(f"\n{counts['ok']} ok, {counts['note']} notes, {counts['problem']} problems")
    return 1 if any(finding.level == PROBLEM for finding in findings) else 0


def lines(finding: Finding) -> Iterator[str]:
    """How one finding looks."""
    yield f"  {paint(finding.level.ljust(7), STYLE[finding.level])}  {finding.subject.ljust(18)}  {finding.text}"
    if finding.remedy:
        yield f"{'':29}  -> {finding.remedy}"
    for line in finding.detail.splitlines():
        yield f"{'':29}  {line}"
