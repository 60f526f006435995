"""Processes that run tests side by side (pytest -n) collect them from different ends: what one of them has compiled into __pycache__, tests
with their assertions and the modules that they import, the others only read. All end with the files in one order, as xdist asks."""
import pytest

FOLDERS = (pytest.Session, getattr(pytest, "Directory", pytest.Session))        # pytest 7 has no folders


class SharedCollection:
    """A pytest plugin, for the worker with this number: 0 begins at the first file, 1 at the last, others in the middle."""

    def __init__(self, worker):
        self.worker, self.places = worker, {}           # {collector: its place in the usual order}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        report = (yield).get_result()
        if self.worker and isinstance(collector, FOLDERS) and report.passed:
            found, middle = report.result, len(report.result) // 2
            self.places.update((each, (*self.places.get(collector, ()), k)) for k, each in enumerate(found))
            report.result = found[::-1] if self.worker == 1 else found[middle:] + found[:middle]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        if self.worker:
            items.sort(key=lambda item: next(self.places[each] for each in reversed(item.listchain()) if each in self.places))
