"""Simulator: a model moving in time, with commands clamped to the effort limits, faults that hold the last good state."""
from __future__ import annotations

import mbros_core
from mbros_core.numbers import short

from mbros.checking import check_model, is_whole, number, time_step
from mbros.errors import MbrosError
from mbros.log import Log


def joint_rows(model) -> list[tuple]:
    """(iq, iv, ratio, offset, drives) of every joint of model.joint_state_names, for a Plant."""
    rows = []
    for name in model.joint_state_names:
        joint = model.joint(name)
        _, ratio, offset = joint.mimic if joint.follows else (None, 1.0, 0.0)
        rows.append((joint.q_slice.start, joint.v_slice.start, ratio, offset, not joint.follows))
    return rows


def make_plant(model, state=None, dt=1e-3, integrator="semi_implicit_euler", transform_pairs=()) -> mbros_core.Plant:
    """A Plant of a model: what Simulator steps in Python and mbros_core.realtime.Loop in its own thread.

    transform_pairs: (frame a, frame b), by name or object; snapshots then hold the pose of b in a.
    """
    check_model("simulation", model)
    dt = time_step(f"simulation of model {model.name!r}", dt, integrator)
    if state is not None:
        model.check_state(state)
    pairs = [(model.frame_index(a), model.frame_index(b)) for a, b in transform_pairs]
    return mbros_core.Plant(model, state, dt, integrator, joint_rows(model), pairs)


class Simulator:
    """Steps a model through time.

    dt: step, s. integrator: "semi_implicit_euler" (default; damping, friction and stops implicit) or "rk4".
    state: where to start (a State of this model, used in place); by default the model's default state.

    `sim.step(tau)` takes efforts (nv,), {joint name: effort} or None. Commands beyond an effort limit are clamped and
    counted in `sim.clamped`. A step that would blow up raises FaultError and changes nothing until `sim.reset()`.
    """

    def __init__(self, model, dt: float = 1e-3, integrator: str = "semi_implicit_euler", state=None):
        self.model = model
        self.plant = make_plant(model, state, dt, integrator)
        self.start = self.plant.state.copy()

    @property
    def state(self):
        """The state, live: views of q and v change as the simulation goes on."""
        return self.plant.state

    @property
    def dt(self) -> float:
        return self.plant.dt

    @property
    def integrator(self) -> str:
        return self.plant.integrator

    @property
    def time(self) -> float:
        return self.plant.state.time

    @property
    def clamped(self) -> int:
        """Efforts clamped to a limit since the last reset, one per coordinate and step."""
        return self.plant.clamped

    def step(self, tau=None):
        """Advance by dt under tau."""
        self.plant.step(self.model.effort_vector(tau) if isinstance(tau, dict) else tau)

    def advance_to(self, time: float, tau=None):
        """Advance in steps of dt until `time` (s), to the nearest step, under constant tau."""
        time = number("advance_to", "time", time)
        steps = round((time - self.time) / self.dt)
        if steps < 0:
            raise MbrosError(f"advance_to: {time} s is before the present {self.time:.6g} s; reset() goes back")
        self.plant.steps(self.model.effort_vector(tau), steps)

    def reset(self, state=None):
        """Back to the state the simulator started from, or to `state` (copied); clears a fault."""
        if state is not None:
            self.model.check_state(state)
        self.plant.reset()
        self.plant.state.assign(self.start if state is None else state)

    def run(self, duration: float, effort=None, every: int = 1) -> Log:
        """Simulate `duration` seconds under constant efforts and log every `every`-th step, the start and the end included.

        effort: {joint name: effort}, (nv,) or None; or a function of (time, state) that returns one of these.
        """
        duration = number("run", "duration", duration, 0.0)
        steps = round(duration / self.dt)
        if not is_whole(every) or every < 1:
            raise MbrosError(f"run: every: expected 1 or more steps, got {short(every)}")
        log = Log(self.model, steps // every + 2)
        log.append(self.time, self.plant)
        tau = None if callable(effort) else self.model.effort_vector(effort)
        while steps > 0:
            n = min(every, steps)
            if tau is not None:
                self.plant.steps(tau, n)
            else:
                for _ in range(n):
                    self.step(effort(self.time, self.state))
            log.append(self.time, self.plant)
            steps -= n
        return log
