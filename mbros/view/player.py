"""A log, played: it moves as it moved then, and any moment can be sought."""
from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from mbros.errors import MbrosError
from mbros.view.bench import PlayedBench
from mbros.view.motion import Connection, Motion, Sample

MOST_POINTS = 1500          # of a curve


class Player(Motion):
    """Of an mbros.Log. source: the file it is from. Between two rows the configuration is on the shortest way from the one to the next."""

    can = frozenset(("play", "reset", "speed", "seek"))

    def __init__(self, log: Any, source: str = ""):
        if not len(log):
            raise MbrosError(f"{log!r}: there is nothing to show")
        self.log, self.model = log, log.model
        # copies: the log may grow while it is shown
        self._time, self._q, self._v, self._effort = (np.array(x) for x in (log.time, log.q, log.v, log.effort))
        if not (np.diff(self._time) >= 0.0).all():
            raise MbrosError(f"{log!r}: its time goes back at row {int(np.argmin(np.diff(self._time))) + 1}; one run can be shown "
                             f"at a time")
        self.bench = PlayedBench(log) if len(log.signals) else None
        self.source = f" of {source}" if source else ""
        self.duration = float(self._time[-1] - self._time[0])
        self._lock = threading.Lock()
        self._factor, self._at, self._since, self._playing = 1.0, float(self._time[0]), 0.0, False

    def sample(self) -> Sample:
        with self._lock:
            now = self._now()
            if self._playing and now >= self._time[-1]:
                self._at, self._playing = float(self._time[-1]), False
            return self.at(now)

    def at(self, time: float) -> Sample:
        """What the log says of a time, s."""
        k = int(np.clip(np.searchsorted(self._time, time, side="right") - 1, 0, max(len(self._time) - 2, 0)))
        j = min(k + 1, len(self._time) - 1)
        span = float(self._time[j] - self._time[k])
        u = min(max((time - float(self._time[k])) / span, 0.0), 1.0) if span > 0.0 else 0.0
        q = self.model.interpolate(self._q[k], self._q[j], u)
        row = k if u < 1.0 else j
        return Sample(time, np.asarray(q), (1 - u) * self._v[k] + u * self._v[j], self._effort[row], playing=self._playing,
                      bench=None if self.bench is None else self.bench.table[row])

    def connection(self) -> Connection:
        return Connection(f"recorded: {len(self._time):,} rows, {self._time[0]:g} to {self._time[-1]:g} s{self.source}")

    def history(self) -> np.ndarray:
        keep = np.unique(np.linspace(0, len(self._time) - 1, min(len(self._time), MOST_POINTS)).astype(int))
        log, none = self.log, np.full(len(keep), np.nan)
        readings = [] if self.bench is None else [self.bench.table[keep]]
        return np.column_stack([self._time[keep], self._q[keep], self._v[keep], self._effort[keep], log.energy[keep],
                                log.kinetic_energy[keep], log.potential_energy[keep], none, *readings])

    def _now(self) -> float:
        if not self._playing:
            return self._at
        return min(self._at + self._factor * (time.monotonic() - self._since), float(self._time[-1]))

    def _turn(self, at: float | None = None, playing: bool | None = None, factor: float | None = None) -> None:
        with self._lock:
            self._at, self._since = (self._now() if at is None else at), time.monotonic()
            self._playing = self._playing if playing is None else playing
            self._factor = self._factor if factor is None else factor

    def play(self) -> None:
        """On from here; from the start where it has ended."""
        self._turn(at=float(self._time[0]) if self.sample().time >= self._time[-1] else None, playing=True)

    def pause(self) -> None:
        self._turn(playing=False)

    def reset(self) -> None:
        self._turn(at=float(self._time[0]))

    def speed(self, factor: float) -> None:
        self._turn(factor=factor)

    def seek(self, time: float) -> None:
        self._turn(at=float(np.clip(time, self._time[0], self._time[-1])))

    def close(self) -> None:
        self.pause()
