"""Log: what happened in a simulation, as arrays."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.available import amount, memory_available
from mbros_core.shown import html_table

from mbros.errors import NoMemoryError, unknown
from mbros.model.shown import Shown, viewer

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros_core._engine import Plant
    from mbros_core.typing import Array, ArrayLike
    from os import PathLike


class JointLog:
    """One joint over time: position and velocity (n, nq) and (n, nv), flat for joints with one degree of freedom."""

    def __init__(self, log: Log, joint: Joint) -> None:
        ratio, offset = joint.mimic[1:] if joint.mimic is not None else (1.0, 0.0)
        self.name = joint.name
        self.position = ratio * log.q[:, joint.q_slice] + offset
        self.velocity = ratio * log.v[:, joint.v_slice]
        self.effort = (0.0 if joint.follows else 1.0) * log.effort[:, joint.v_slice]
        if joint.nv == 1:
            self.position, self.velocity, self.effort = self.position[:, 0], self.velocity[:, 0], self.effort[:, 0]

    def __repr__(self) -> str:
        return f"<JointLog of {self.name!r}: {len(self.position)} rows>"


def columns(model: Model) -> int:
    """Numbers in a row of a Log."""
    return 1 + model.nq + 2 * model.nv + 2


def log_of(who: str, model: Model, steps: int, every: int) -> Log:
    """An empty Log for the first, every `every`-th and the last of that many steps; NoMemoryError where this machine has no room for it."""
    rows = steps // every + 2
    size, free = 8.0 * columns(model) * rows, memory_available()
    try:
        if size < free:
            return Log(model, rows)
    except MemoryError:
        pass
    enough = every * max(2, math.ceil(2.0 * size / free))
    raise NoMemoryError(f"{who}: a log of {rows:.4g} rows of {8 * columns(model)} bytes takes {amount(size)} of memory, and "
                     f"{amount(free)} are free. Log fewer steps (every={enough}), or simulate in parts")


class Log(Shown):
    """Rows over time: time (n,) s, q (n, nq), v (n, nv), effort (n, nv) as applied, kinetic and potential energy (n,) J.

    `log["joint4"]` is one joint's part; `log.energy` the total energy.
    """

    def __init__(self, model: Model, capacity: int) -> None:
        self.model = model
        self._rows = np.empty((max(capacity, 1), columns(model)))
        self._n = 0

    def append(self, time: float, plant: Plant) -> None:
        """Add the plant's present state."""
        self.add_snapshot(time, plant.observe(), plant.layout)

    def add_snapshot(self, time: float, x: Array, layout: Mapping[str, tuple[int, int]]) -> None:
        """Add a snapshot x of a plant with this layout."""
        row = self._new_row()
        n = self.model.nq + 2 * self.model.nv
        row[0] = time
        row[1:1 + n] = x[:n]
        start, size = layout["energy"]
        row[1 + n:] = x[start:start + size]

    def add(self, time: float, q: ArrayLike, v: ArrayLike, effort: ArrayLike, kinetic: float, potential: float) -> None:
        """Add a row from numbers."""
        self._new_row()[:] = np.concatenate([[time], q, v, effort, [kinetic, potential]])

    def _new_row(self) -> Array:
        if self._n == len(self._rows):
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        self._n += 1
        return self._rows[self._n - 1]

    def _columns(self, start: int, size: int) -> Array:
        return self._rows[:self._n, start:start + size]

    @property
    def time(self) -> Array:
        return self._rows[:self._n, 0]

    @property
    def q(self) -> Array:
        return self._columns(1, self.model.nq)

    @property
    def v(self) -> Array:
        return self._columns(1 + self.model.nq, self.model.nv)

    @property
    def effort(self) -> Array:
        return self._columns(1 + self.model.nq + self.model.nv, self.model.nv)

    @property
    def kinetic_energy(self) -> Array:
        return self._rows[:self._n, -2]

    @property
    def potential_energy(self) -> Array:
        return self._rows[:self._n, -1]

    @property
    def energy(self) -> Array:
        return self.kinetic_energy + self.potential_energy

    def __getitem__(self, name: str) -> JointLog:
        if name not in self.model.joints:
            raise unknown("joint", name, f"the log of model {self.model.name!r}", self.model.joints.names)
        return JointLog(self, self.model.joint(name))

    def plot(self, signals: str | Sequence[str] | None = None, path: str | PathLike[str] | None = None) -> Any:
        """The signals over time, a panel for each quantity and unit, with limits where the curves come near them: a matplotlib Figure.

        signals: names, "<joint>.position", "<joint>.velocity", "<joint>.effort", "<joint>" for its position, "energy",
        "kinetic_energy", "potential_energy"; by default every joint's and the energy. path: where to write it (.png, .svg, .pdf).
        Raises UnknownNameError for a signal there is not, MissingPackageError without matplotlib.
        """
        from mbros.simulate.plot import plot       # start-up time: only who draws pays

        return plot(self, signals, path)

    def save_html(self, path: str | PathLike[str], rate: float = 30.0) -> Any:
        """Write the motion as one HTML file that plays in any browser, offline. rate: pictures per second. Needs mbros[viewer]."""
        return viewer().save_html(self, path, rate)

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if self._n else ""
        return f"<Log of {self.model.name!r}: {self._n} rows{span}>"

    def _repr_html_(self) -> str:
        """The range of every joint's position, velocity and effort, for notebooks."""
        def span(values: Array) -> str:
            columns = values.T if values.ndim == 2 else [values]
            return "; ".join(f"{column.min():.4g} ... {column.max():.4g}" for column in columns) if self._n else ""

        logs = [self[joint.name] for joint in self.model.joints if joint.nv]
        return html_table(repr(self).strip("<>"), ("joint", "position", "velocity", "effort"),
                          ((log.name, span(log.position), span(log.velocity), span(log.effort)) for log in logs))
