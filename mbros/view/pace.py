"""A plant in step with the clock on a Python thread: for joints and forces written in Python, which the real-time loop cannot run."""
from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from mbros_core import FaultError

CATCH_UP = 0.2          # s of wall time that are made up after a pause of the machine; the rest is left out


class Pace:
    """Steps `plant` while it runs. What mbros_core.realtime.Loop does, as far as a viewer needs it, without its guarantees."""

    def __init__(self, plant: Any):
        self.plant, self.factor, self.fault = plant, 1.0, ""
        self._command = np.zeros(plant.model.nv)
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._late: list[float] = []

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        if not self.alive:
            self._ending.clear()
            self._thread = threading.Thread(target=self._run, name="mbros-pace", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def command(self, tau: np.ndarray) -> None:
        """Efforts of the steps to come (nv,)."""
        self._command = np.array(tau, float)

    def late(self) -> float:
        """s by which 99 of 100 steps since the last call began too late."""
        late, self._late = self._late, []
        return float(np.percentile(late, 99)) if late else float("nan")

    def _run(self) -> None:
        dt, due = self.plant.dt, time.monotonic()
        try:
            while not self._ending.is_set():
                now = time.monotonic()
                if now < due:
                    time.sleep(min(due - now, 0.05))
                    continue
                self._late.append(now - due)
                del self._late[:-10_000]
                due = max(due, now - CATCH_UP) + dt / self.factor
                self.plant.step(self._command)
        except (FaultError, ValueError) as error:
            self.fault = str(error)
