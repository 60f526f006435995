"""Log: what happened in a simulation, as arrays."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.available import amount, memory_available
from mbros_core.support.shown import html_table

from mbros.errors import NoMemoryError, unknown
from mbros.model.shown import Shown, viewer
from mbros.names import plural
from mbros.simulate.contact_log import ContactSums

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.bench.signal_log import SignalColumns, SignalLog
    from mbros_core.engine._engine import Plant
    from mbros_core.typing import Array, ArrayLike
    from os import PathLike
    from pathlib import Path


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
        return f"<JointLog of {self.name!r}: {plural(len(self.position), 'row')}>"


def columns(model: Model) -> int:
    """Numbers in a row of a Log."""
    return 1 + model.nq + 2 * model.nv + 2 + ContactSums(model).size


def log_of(who: str, model: Model, steps: int, every: int, signals: SignalColumns | None = None) -> Log:
    """An empty Log for the first, every `every`-th and the last of that many steps; NoMemoryError where this machine has no room for it."""
    rows = steps // every + 2
    width = 8 * (columns(model) + (0 if signals is None else signals.size))
    size, free = float(width) * rows, memory_available()
    try:
        if size < free:
            return Log(model, rows, signals)
    except MemoryError:
        pass
    enough = every * max(2, math.ceil(2.0 * size / free))
    raise NoMemoryError(f"{who}: a log of {rows:.4g} rows of {width} bytes takes {amount(size)} of memory, and "
                     f"{amount(free)} are free. Log fewer steps (every={enough}), or simulate in parts")


class Log(Shown):
    """Rows over time: time (n,) s, q (n, nq), v (n, nv), effort (n, nv) as applied, kinetic and potential energy (n,) J.

    `log["joint4"]` is one joint's part; `log.energy` the total energy. Of a model with collision shapes `log.contacts` (n,) counts the
    contact points of the step that led to a row, and `log.contact_force("trunk")` (n, 3) is what they do to a body. `log.signals["..."]`
    are the signals of a bench that were asked for: Simulator.run(signals=...).
    """

    def __init__(self, model: Model, capacity: int, signals: SignalColumns | None = None) -> None:
        self.model = model
        self._contacts, self._signals = ContactSums(model), signals
        self._robot = columns(model)            # of the robot; signals stand behind them
        self._rows = np.empty((max(capacity, 1), self._robot + (0 if signals is None else signals.size)))
        self._n = 0

    def append(self, time: float, plant: Plant) -> None:
        """Add the plant's present state."""
        self.add_snapshot(time, plant.observe(), plant.layout)
        if self._signals is not None:
            self._rows[self._n - 1, self._robot:] = self._signals.read(plant)

    def add_snapshot(self, time: float, x: Array, layout: Mapping[str, tuple[int, int]]) -> None:
        """Add a snapshot x of a plant with this layout; snapshots hold no signals of a bench."""
        row = self._new_row()
        row[self._robot:] = np.nan
        n = self.model.nq + 2 * self.model.nv
        row[0] = time
        row[1:1 + n] = x[:n]
        start, size = layout["energy"]
        row[1 + n:3 + n] = x[start:start + size]
        if self._contacts.size:
            start, size = layout["contacts"]
            self._contacts.write(x[start:start + size], row[3 + n:self._robot])

    def add(self, time: float, q: ArrayLike, v: ArrayLike, effort: ArrayLike, kinetic: float, potential: float,
            signals: ArrayLike | None = None) -> None:
        """Add a row from numbers, which do not say what touches. signals: of the bench, by the log's columns; None: not known."""
        unknown_here = np.full(self._rows.shape[1] - self._energies - 2, np.nan)
        row = self._new_row()
        row[:] = np.concatenate([[time], q, v, effort, [kinetic, potential], unknown_here])
        if signals is not None:
            row[self._robot:] = signals

    def _new_row(self) -> Array:
        if self._n == len(self._rows):
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        self._n += 1
        return self._rows[self._n - 1]

    @property
    def signals(self) -> SignalLog:
        """The signals that were logged, by name: (n,), or (n, size) of those with several numbers. NaN: nothing yet, or not commanded."""
        from mbros.bench.signal_log import SignalLog      # start-up time: who does not use it does not pay

        return SignalLog(self._signals, self._rows[:self._n, self._robot:], self.model.name)

    def _columns(self, start: int, size: int) -> Array:
        return self._rows[:self._n, start:start + size]

    @property
    def time(self) -> Array:
        """Times of the rows (n,), s."""
        return self._rows[:self._n, 0]

    @property
    def q(self) -> Array:
        """Positions (n, nq)."""
        return self._columns(1, self.model.nq)

    @property
    def v(self) -> Array:
        """Velocities (n, nv)."""
        return self._columns(1 + self.model.nq, self.model.nv)

    @property
    def effort(self) -> Array:
        """Efforts (n, nv) as applied, after clamping, N m or N."""
        return self._columns(1 + self.model.nq + self.model.nv, self.model.nv)

    @property
    def kinetic_energy(self) -> Array:
        """(n,), J."""
        return self._rows[:self._n, self._energies]

    @property
    def potential_energy(self) -> Array:
        """(n,), J: gravity, springs, and what contacts store."""
        return self._rows[:self._n, self._energies + 1]

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy together (n,), J."""
        return self.kinetic_energy + self.potential_energy

    @property
    def _energies(self) -> int:
        return 1 + self.model.nq + 2 * self.model.nv

    @property
    def contacts(self) -> Array:
        """Contact points of the step that led to each row (n,); zeros where the model has no collision shapes."""
        return self._rows[:self._n, self._energies + 2] if self._contacts.size else np.zeros(self._n)

    def contact_force(self, body: str) -> Array:
        """Force of all contacts on a body (n, 3), N, in world axes. NaN in rows of more contact points than a snapshot holds, 32."""
        if body not in self.model.bodies:
            raise unknown("body", body, f"the log of model {self.model.name!r}", self.model.bodies.names)
        place = self._contacts.place(body)
        if place is None:
            return np.zeros((self._n, 3))
        return self._columns(self._energies + 2 + place.start, 3)

    def __getitem__(self, name: str) -> JointLog:
        if name not in self.model.joints:
            raise unknown("joint", name, f"the log of model {self.model.name!r}", self.model.joints.names)
        return JointLog(self, self.model.joint(name))

    def plot(self, signals: str | Sequence[str] | None = None, path: str | PathLike[str] | None = None) -> Any:
        """The signals over time, a panel for each quantity and unit, with limits where the curves come near them: a matplotlib Figure.

        signals: names, "<joint>.position", "<joint>.velocity", "<joint>.effort", "<joint>" for its position, "energy",
        "kinetic_energy", "potential_energy", and those of the log's own signals, or patterns of them; by default every joint's, the energy
        and the log's own signals. path: where to write it (.png, .svg, .pdf).
        Raises UnknownNameError for a signal there is not, MissingPackageError without matplotlib.
        """
        from mbros.simulate.plot import plot       # start-up time: only who draws pays

        return plot(self, signals, path)

    def save_html(self, path: str | PathLike[str], rate: float = 30.0) -> Any:
        """Write the motion as one HTML file that plays in any browser, offline. rate: pictures per second. Needs mbros[viewer]."""
        return viewer().save_html(self, path, rate)

    def columns(self) -> dict[str, Array]:
        """All of it as columns (n,) by name, as files have them: "time", "<joint>/position", "/velocity", "/effort", the coordinates of
        joints with several, "energy/kinetic", "energy/potential", and the signals. `pandas.DataFrame(log.columns())` is a table of them.
        """
        from mbros.simulate.log_columns import columns_of      # start-up time: who does not use it does not pay

        return columns_of(self)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write columns() to a file, in place of one that may be there: run.csv, run.npz or run.parquet (needs pyarrow). Returns its path.
        MbrosError where it cannot be written."""
        from mbros.simulate.table_files import write_table      # start-up time: who does not use it does not pay

        return write_table("Log.save", path, self.columns())

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if self._n else ""
        return f"<Log of {self.model.name!r}: {plural(self._n, 'row')}{span}>"

    def _repr_html_(self) -> str:
        """The range of every joint's position, velocity and effort, for notebooks."""
        def span(values: Array) -> str:
            columns = values.T if values.ndim == 2 else [values]
            return "; ".join(f"{column.min():.4g} ... {column.max():.4g}" for column in columns) if self._n else ""

        logs = [self[joint.name] for joint in self.model.joints if joint.nv]
        return html_table(repr(self).strip("<>"), ("joint", "position", "velocity", "effort"),
                          ((log.name, span(log.position), span(log.velocity), span(log.effort)) for log in logs))
