"""After a whole run: every seed id must have a test that passed. Collected is not enough; tests/seeds/test_seed_table.py asks that.

An id whose tests were all skipped, for a library that is not installed, is reported and fails nothing.
"""
from __future__ import annotations

import pytest

PROGRAM = "not tree and not packages"       # the -m of `make test`; what that leaves to other chores carries no seed id (tests/seeds asks)
SELECTING = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "failedfirst", "last_failed", "stepwise")


class SeedOutcomes:
    """A pytest plugin. expected: a function that gives the ids."""

    def __init__(self, expected):
        self.expected = expected
        self.outcomes: dict[str, set[str]] = {}       # id -> outcomes of the tests that carry its marker
        self.lines: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item):
        """In the process that runs the test: its report carries its ids to the process that counts, which may be another."""
        made = yield
        made.get_result().seed_ids = [ident for mark in item.iter_markers("seed") for ident in mark.args]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            for ident in getattr(report, "seed_ids", ()):         # a worker that crashed reports without
                self.outcomes.setdefault(ident, set()).add(outcome)

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus != 0 or hasattr(session.config, "workerinput") or not whole(session.config):
            return
        not_passed = {ident: self.outcomes.get(ident, set()) for ident in self.expected()}
        not_passed = {ident: seen for ident, seen in not_passed.items() if "passed" not in seen}
        skipped = [ident for ident, seen in not_passed.items() if seen == {"skipped"}]
        failed = [ident for ident in not_passed if ident not in skipped]
        if skipped:
            self.lines.append(f"only skipped tests show {', '.join(skipped)}")
        if failed:
            self.lines.append(f"ERROR: no passing test shows {', '.join(failed)}")
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter):
        if self.lines:
            terminalreporter.section("seed ids")
            for line in self.lines:
                terminalreporter.line(line)


def whole(config) -> bool:
    """Whether this run was asked for every test, or for every test of the program."""
    everything = [str(config.rootpath / path) for path in config.getini("testpaths")]
    asked = [str((config.invocation_params.dir / path).resolve()) for path in config.args]
    return (asked == everything and not config.option.collectonly and config.option.markexpr in ("", PROGRAM)
            and not any(getattr(config.option, name, None) for name in SELECTING))
