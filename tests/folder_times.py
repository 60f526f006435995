"""Where the time of a run went: a line for each folder of tests, the slowest first."""
from collections import Counter

LEAST = 10.0        # s; a run that took less says nothing


class FolderTimes:
    """A pytest plugin. Seconds are those of set-up, call and tear-down, added over the processes that ran side by side."""

    def __init__(self):
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report):
        parts = report.nodeid.partition("::")[0].split("/")
        folder = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        self.seconds[folder] += report.duration
        self.tests[folder] += report.when == "setup"

    def pytest_terminal_summary(self, terminalreporter):
        if self.seconds.total() < LEAST:
            return
        terminalreporter.section("time by folder")
        for folder, seconds in self.seconds.most_common():
            terminalreporter.line(f"{seconds:7.1f} s  {self.tests[folder]:5d} tests  {folder}")
