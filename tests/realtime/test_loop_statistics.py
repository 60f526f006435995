"""Histograms, counters, the timer probe and the sentences about privileges."""
import errno

import numpy as np
import pytest

from mbros_core.realtime import Histogram, privileges, timer_jitter
from mbros_core.realtime._loop import bin_starts


def histogram(values):
    starts = bin_starts()
    bins = np.clip(np.searchsorted(starts, values, side="right") - 1, 0, len(starts) - 2)
    return Histogram(np.bincount(bins, minlength=len(starts) - 1), len(values), int(np.sum(values)), int(np.max(values)))


def test_bins_are_ordered_and_six_percent_wide():
    starts = bin_starts()
    assert list(starts[:18]) == list(range(18))
    width = np.diff(starts)
    assert (width > 0).all()
    assert (width[16:] / starts[16:-1] <= 1 / 16).all()
    assert starts[-1] > 30 * 60 * 10**9


@pytest.mark.parametrize("p", [0, 50, 90, 99, 99.9, 100])
def test_percentiles_are_never_optimistic_and_within_a_bin(rng, p):
    values = np.round(np.exp(rng.normal(10, 2, size=5001))).astype(np.int64)
    h = histogram(values)
    exact = np.percentile(values, p, method="inverted_cdf") * 1e-9
    assert exact <= h.percentile(p) <= exact * (1 + 1 / 16) + 1.001e-9
    assert h.max == values.max() * 1e-9 and h.mean == pytest.approx(values.mean() * 1e-9)


def test_fraction_within_counts_whole_bins(rng):
    values = rng.integers(0, 3_000_000, size=4000)
    share = histogram(values).fraction_within(1e-3)
    assert np.mean(values < 0.94e6) <= share <= np.mean(values <= 1e6)


def test_empty_histogram():
    h = Histogram(np.zeros(len(bin_starts()) - 1, np.int64), 0, 0, 0)
    assert (h.percentile(99), h.max, h.mean, h.fraction_within(1e-3), h.bars()) == (0.0, 0.0, 0.0, 1.0, [])
    with pytest.raises(ValueError, match="0 to 100"):
        h.percentile(101)


def test_the_loop_fills_its_histograms_exactly(bench):
    loop, log = bench()
    loop.inject_delay(step_ns=400_000, late_ns=200_000, every_n=2, count=-1)
    loop.start(slots=101)
    assert loop.wait(60.0)
    s = loop.statistics()
    # The first slot begins the grid: it has no lateness and no step.
    assert (s.lateness.count, s.work.count, s.plant.count) == (100, 101, 100)
    assert s.lateness.counts[0] == 50 and s.lateness.max == pytest.approx(200e-6)
    assert s.work.counts[0] == 51 and s.work.max == pytest.approx(400e-6)
    assert "lateness" in s.text() and "overruns 0" in s.text()


def test_timer_jitter_measures_every_slot_it_does_not_miss():
    h = timer_jitter(0.05, 1e-3)
    assert 1 <= h.count <= 50
    assert h.max > 0 and h.p50 <= h.p99 <= h.max


@pytest.mark.parametrize("arguments", [(1.0, 0.0), (1e-4, 1e-3), (1.0, -1.0), (float("nan"), 1e-3), (1.0, 1e-3, 100)])
def test_timer_jitter_checks_its_arguments(arguments):
    with pytest.raises(ValueError, match="timer_jitter"):
        timer_jitter(*arguments[:2], priority=arguments[2] if len(arguments) > 2 else 0)


def test_what_was_refused_is_said_with_a_remedy():
    sentence = privileges.fifo_sentence(errno.EPERM, 80)
    assert "priority 80: not permitted" in sentence and "rtprio" in sentence
    assert "memlock" in privileges.memory_sentence(errno.ENOMEM, 50_000_000)
    assert "processor 7" in privileges.cpu_sentence(errno.EINVAL, 7)
    assert "perf_event_paranoid" in privileges.counter_sentence(errno.EACCES)


def test_a_processor_that_does_not_exist_is_said_and_the_loop_runs(bench):
    loop, log = bench(clock="monotonic", cpu=1023)
    loop.start(slots=5)
    assert loop.wait(60.0)
    assert loop.privileges.cpu is None
    assert [s for s in loop.privileges.sentences if "processor 1023" in s]
    assert len(log.rows) == 5


def test_require_minds_only_what_is_about_real_time():
    figures = dict(fifo_error=0, memory_error=0, locked_bytes=8 << 20, cpu_error=0, counter_error=errno.EACCES)
    got = privileges.from_errors(figures, asked=True, priority=80, cpu=None)
    assert (got.fifo, got.priority, got.memory_locked, got.refused) == (True, 80, True, ())
    assert len(got.sentences) == 1 and not got.counts_allocations and got.locked_bytes == 8 << 20
    got = privileges.from_errors(dict(figures, fifo_error=errno.EPERM, memory_error=errno.ENOMEM), True, 80, None)
    assert (got.fifo, got.priority, got.memory_locked, len(got.refused), len(got.sentences)) == (False, 0, False, 2, 3)


def test_off_asks_for_nothing(bench):
    loop, log = bench(clock="monotonic", rt="off")
    loop.start(slots=5)
    assert loop.wait(60.0)
    got = loop.privileges
    assert (got.fifo, got.priority, got.memory_locked, got.cpu) == (False, 0, False, None)
    assert not [s for s in got.sentences if "refused" in s or "locked" in s]


def test_auto_grants_or_says_why_not_and_require_is_strict(bench):
    loop, log = bench(clock="monotonic", rt="auto", priority=10)
    loop.start(slots=5)
    assert loop.wait(60.0)
    got = loop.privileges
    assert got.fifo != any("scheduling" in s for s in got.refused)
    assert got.memory_locked != any("Memory" in s for s in got.refused)
    strict, log = bench(clock="monotonic", rt="require", priority=10, cpu=1023)
    with pytest.raises(PermissionError, match="processor 1023"):
        strict.start()
    assert strict.state == "stopped"
