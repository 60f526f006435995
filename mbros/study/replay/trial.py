"""The model of a robot under the commands of a recording, beginning at measured states again and again."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros.study.replay.robot_recording import RobotRecordingError
from mbros.simulate.simulator import make_plant

if TYPE_CHECKING:
    from mbros import Model
    from mbros.study.replay.robot_recording import Series
    from mbros_core.typing import Array

LEAST = 10              # states a comparison needs
MOST = 10**8            # steps of one


class Trial:
    """The model under the efforts that a recording commands, in windows."""

    given = "efforts"
    through_bench = False
    engine = ""             # of a recording of mbros: which one made it and which one runs here, where those are two

    def __init__(self, model: Model, names: tuple[str, ...], state: Series, command: Series, window: float, dt: float,
                 integrator: str) -> None:
        self.model, self.names, self.window, self.dt, self.topic = model, names, window, dt, command.topic
        there = {joint.name for joint in model.joints}
        self.unknown = tuple(name for name in dict.fromkeys((*state.others, *command.others)) if name not in there)
        q = state.values.get("position", np.empty((0, len(names))))
        keep = np.isfinite(q).all(axis=1) if len(q) else np.zeros(0, bool)
        if keep.sum() < LEAST:
            missing = [name for k, name in enumerate(names) if not len(q) or not np.isfinite(q[:, k]).any()]
            raise RobotRecordingError(f"{state.topic} has {keep.sum()} states with a position of every joint; expected {LEAST} at least"
                                      + (f"; it says nothing of {', '.join(missing[:5])}" if missing else ""))
        begun = state.stamps[keep][0]
        self.begun = int(begun)
        self.times, self.q = (state.stamps[keep] - begun) * 1e-9, q[keep]
        if not (np.diff(self.times) >= 0).all() or not 0 < self.times[-1]:
            raise RobotRecordingError(f"{state.topic}: its states are all of one time")
        if self.times[-1] / dt > MOST:
            raise RobotRecordingError(f"{state.topic}: its states are of {self.times[-1]:.4g} s, which are more than {MOST} steps of "
                                      f"{dt:g} s; give a part of the recording, or longer steps. Is one of its stamps wrong?")
        v = state.values["velocity"][keep]
        self.has_velocities = bool(np.isfinite(v).all())
        apart = self.times + 1e-12 * np.arange(len(self.times))             # two states may have one stamp
        self.v = np.where(np.isfinite(v), v, np.gradient(self.q, apart, axis=0))
        measured = state.values.get("effort")
        self.efforts = np.full_like(self.q, np.nan) if measured is None else measured[keep]
        self.command_times = (command.stamps - begun) * 1e-9
        self.plant = make_plant(model, dt=dt, integrator=integrator)
        self.steps, self.default = np.rint(self.times / dt).astype(int), model.default_state()
        self.at_q = [model.joint(name).q_slice.start for name in names]
        self.at_v = [model.joint(name).v_slice.start for name in names]
        self.take(state, command)

    def take(self, state: Series, command: Series) -> None:
        """The efforts that are commanded."""
        tau = command.values.get("effort", np.empty((0, len(self.names))))
        if not len(tau) or not np.isfinite(tau).any():
            raise RobotRecordingError(f"{command.topic} has no efforts; a model moves by efforts: name a topic that has some, such as "
                                      f"{state.topic} of a robot that measures them: commands=, --commands; or one with positions or "
                                      "velocities, and a bench that follows them: bench=\"servo\", --bench servo")
        self.tau = _held(tau)

    def put(self, q: Array, v: Array) -> None:
        """The model at positions and velocities (joints,), at rest where nothing was measured."""
        state = self.plant.state
        state.q[:], state.v[:] = self.default.q, 0.0
        state.q[self.at_q], state.v[self.at_v] = q, v

    def simulated(self, delay: float) -> tuple[Array, Array, Array]:
        """Positions, velocities and efforts of the model at the times of the states (n, joints); NaN: efforts that nobody chose."""
        q, v, steps = np.empty_like(self.q), np.empty_like(self.v), self.steps
        begun, at, tau = -np.inf, 0, np.zeros(self.model.nv)
        for k, time in enumerate(self.times):
            if time - begun >= self.window:
                begun, at = time, steps[k]
                self.put(self.q[k], self.v[k])
            while at < steps[k]:
                row = int(np.searchsorted(self.command_times, at * self.dt - delay + 1e-9, "right")) - 1
                until = self.command_times[row + 1] + delay if row + 1 < len(self.command_times) else np.inf
                n = min(steps[k] - at, max(1, int(np.ceil((until - 1e-9) / self.dt)) - at) if np.isfinite(until) else steps[k] - at)
                tau[self.at_v] = self.tau[row] if row >= 0 else 0.0
                self.plant.steps(tau, int(n))
                at += n
            q[k], v[k] = self.plant.state.q[self.at_q], self.plant.state.v[self.at_v]
        return q, v, np.full_like(q, np.nan)

    def cost(self, delay: float) -> float:
        q, v, _ = self.simulated(delay)
        return float(((q - self.q) ** 2).sum() + self.dt**2 * ((v - self.v) ** 2).sum())


def _held(tau: Array) -> Array:
    """Efforts with NaN replaced by what was commanded before, zero at first."""
    tau = tau.copy()
    last = np.zeros(tau.shape[1])
    for row in tau:
        row[:] = last = np.where(np.isnan(row), last, row)
    return tau
