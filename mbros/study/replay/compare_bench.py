"""The commands of a recording through a bench, positions and velocities too: the steps that a Simulator with this bench takes."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbros.bench.bench import COMMANDS
from mbros.bench.layout import HEAD
from mbros.bench.devices import devices_of, given_bench
from mbros.study.replay.held_commands import JointCommands
from mbros.study.replay.robot_recording import RobotRecordingError
from mbros.study.replay.trial import Trial

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.bench import BenchLike
    from mbros.study.replay.robot_recording import Series
    from mbros_core.typing import Array

CHUNK = 8192            # steps whose commands are made at once


class BenchTrial(Trial):
    """The model and its bench under what a recording commands.

    The bench begins as it is switched on, with the first state. At the measured states from which the model begins again it goes on as it
    is: integrals, delay lines and random numbers are not what a recording says.
    """

    through_bench = True

    def __init__(self, model: Model, names: tuple[str, ...], state: Series, command: Series, window: float, dt: float,
                 bench: BenchLike, integrator: str) -> None:
        self.bench = bench
        super().__init__(model, names, state, command, window, dt, integrator)

    def take(self, state: Series, command: Series) -> None:
        """What is commanded of each joint, less what its actuator does not take."""
        from mbros_core.plant._commanded import BITS, CommandedPlant      # few comparisons have a bench

        layout = given_bench(self.model, self.bench, self.dt)
        assert layout is not None
        self.devices = devices_of(self.plant, layout)
        takes = CommandedPlant(self.plant).takes[self.at_v].astype(int)
        known = {row.name: HEAD + row.at for row in layout.rows[:layout.commands]}
        self.places = np.array([[known.get(f"{name}.command.{word}", -1) for name in self.names] for word in COMMANDS])
        shape = len(command.stamps), len(self.names)
        given = np.stack([command.values.get(word, np.full(shape, np.nan)) for word in COMMANDS], axis=1)
        given[~np.isfinite(given)] = np.nan
        there = np.asarray(np.isfinite(given).any(axis=0))
        taken = np.array([takes & BITS[word] != 0 for word in COMMANDS])
        for k in np.flatnonzero(there.any(axis=0) & ~(there & taken).any(axis=0)):
            named = [word for word, is_there in zip(COMMANDS, there[:, k]) if is_there]
            can = [word for word, is_taken in zip(COMMANDS, taken[:, k]) if is_taken]
            raise RobotRecordingError(f"{command.topic} commands {' and '.join(named)} of joint {self.names[k]!r}, which takes "
                                      f"{' and '.join(can)} on this bench; expected an actuator that follows it: bench=\"servo\", --bench "
                                      "servo, or another bench file")
        if not there.any():
            raise RobotRecordingError(f"{command.topic} commands nothing of joints {', '.join(self.names[:5])}; name the topic of the "
                                      "robot's commands: commands=, --commands")
        given[:, ~taken] = np.nan
        self.given = " and ".join(words for words, row in zip(("positions", "velocities", "efforts"), there) if row.any())
        self.commands = JointCommands(self.command_times, given)

    def stretches(self, delay: float) -> Iterator[tuple[int, Array, Array]]:
        """(step until which, commands for the actuators, efforts (nv,) of joints without one): steps under the same commands, and a stop at
        the step of every state."""
        last, there = int(self.steps[-1]), self.places >= 0
        for first in range(0, last, CHUNK):
            rows = self.commands.steps(first, min(CHUNK, last - first), self.dt, delay)
            same = (rows[1:] == rows[:-1]) | (np.isnan(rows[1:]) & np.isnan(rows[:-1]))
            stop = np.zeros(len(rows) + 1, bool)
            stop[1:-1], stop[-1] = ~same.all(axis=(1, 2)), True
            stop[self.steps[(self.steps > first) & (self.steps < first + len(rows))] - first] = True
            tau = np.zeros((len(rows), self.model.nv))
            tau[:, self.at_v] = np.where(there.any(axis=0), 0.0, np.nan_to_num(rows[:, COMMANDS.index("effort")]))
            given = rows[:, there]
            for until in np.flatnonzero(stop).tolist():
                yield first + until, given[until - 1], tau[until - 1]

    def simulated(self, delay: float, start: Array | None = None) -> tuple[Array, Array, Array]:
        """As that of Trial; start: positions and velocities (2 joints,) at the first state, by default those that were measured. Efforts
        are those of the last step."""
        x, plant, steps = np.full((3, *self.q.shape), np.nan), self.plant, [*self.steps.tolist(), -1]
        q, v, block, places = plant.state.q, plant.state.v, self.devices.block, self.places[self.places >= 0]
        begun, k, at = -np.inf, 0, 0

        def seen() -> None:
            nonlocal begun, k
            while steps[k] == at:
                if at:
                    x[2, k] = plant.effort[self.at_v]
                if self.times[k] - begun >= self.window:
                    begun = self.times[k]
                    self.put(*(np.split(start, 2) if start is not None and k == 0 else (self.q[k], self.v[k])))
                x[0, k], x[1, k] = q[self.at_q], v[self.at_v]
                k += 1

        plant.reset()
        seen()
        for until, given, tau in self.stretches(delay):
            block[places] = given
            plant.steps(tau, until - at)
            at = until
            seen()
        return x[0], x[1], x[2]
