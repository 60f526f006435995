"""Poses for any robot, the smooth way from one to the next within its limits, and the efforts that follow it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array

TURNS, SLIDES = (0.8, 2.0, 0.02), (0.2, 0.4, 0.005)     # of a joint: largest excursion, speed, and error at a pose; rad or m, s
MARGIN, SPEED, EFFORT = 0.08, 0.75, 0.8         # shares: of a joint's range, free at either end; of its limits, the most that is used
SHORTEST, REST = 0.6, 0.25      # s: of a move, and at rest after it
PATIENCE = 3.0                  # s that all poses together may come late: a busy computer can hold the controller up
BANDWIDTH = 12.0                # rad/s, of the error's decay


class Move(NamedTuple):
    """From q0 (nq,) to q1 (nq,) in `duration` s along a quintic, then REST s at q1."""

    q0: Array
    q1: Array
    duration: float

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Desired q, v, vdot at t s after the start; at rest before it and after the end."""
        u, d, T = min(max(t / self.duration, 0.0), 1.0), self.q1 - self.q0, self.duration
        return (self.q0 + u**3 * (10 + u * (6 * u - 15)) * d, 30 * u**2 * (1 - u) ** 2 / T * d,
                60 * u * (1 - u) * (1 - 2 * u) / T**2 * d)


class PoseSequence:
    """Holds the default pose until begin(), then goes from pose to pose for `seconds`, then holds the last one: efforts(time, q, v). After
    begin(): `moves`, `results` ([joint, error, unit, ok] of each pose that was due, where its error was largest), `done`."""

    def __init__(self, model: Model) -> None:
        joints = [joint for joint in model.joints if joint.nv and not joint.follows]
        for joint in joints:
            if joint.nv > 1:
                raise MbrosError(f"robot {model.name!r} moves on joint {joint.name!r} ({joint.kind}); the demonstration needs a base "
                                 "that stands still: load it with base='fixed'")
        if not joints:
            raise MbrosError(f"robot {model.name!r} has no joint that could move")
        self.names, self.units = [joint.name for joint in joints], ["m" if joint.kind == "prismatic" else "rad" for joint in joints]
        self.reach, self.speed, self.tolerance = np.array([SLIDES if unit == "m" else TURNS for unit in self.units]).T
        self.model, self.state, self.reference = model, model.default_state(), model.default_state()
        self.desired, self.error, self.tau = np.array(model.spec.q_default, float), np.zeros(0), np.zeros(0)
        self.moves: list[Move] = []
        self.results: list[Any] = []
        self.done = False

    def plan(self, q0: Array, seconds: float) -> list[Move]:
        """As many moves, the first from q0, as fit into `seconds`. Every joint swings about the middle of where it may be, as far as the
        robot is strong enough for."""
        found: list[Move] = []
        spec, left = self.model.spec, seconds
        free = np.where(np.isfinite(spec.q_upper - spec.q_lower), MARGIN * (spec.q_upper - spec.q_lower), 0.0)
        reach = np.minimum(self.reach, 0.5 * (spec.q_upper - spec.q_lower) - free)
        middle = np.clip(spec.q_default, spec.q_lower + free + reach, spec.q_upper - free - reach)
        speed = np.minimum(SPEED * spec.velocity_limit, self.speed)
        while True:
            swing = reach * np.cos(2.4 * np.arange(self.model.nq) + 2.2 * len(found))       # neighbours differ, and so do poses
            for q1 in (middle + share * swing for share in 0.8 ** np.arange(20)):
                time = max(SHORTEST, 1.875 * float(np.max(np.abs(q1 - q0) / speed)))        # the quintic's peak speed is 1.875 d / T
                move = next((move for k in range(20) if self.is_strong_enough(move := Move(np.array(q0), q1, 1.25**k * time))), None)
                if move is not None:
                    break
            else:
                raise MbrosError(f"robot {self.model.name!r} cannot hold itself against gravity with {EFFORT:.0%} of its effort limits, "
                                 "so there is no pose to demonstrate")
            left -= move.duration + REST
            if left < 0.0 and not found:
                raise MbrosError(f"robot {self.model.name!r} needs {seconds - left:.1f} s for its first pose, and there are {seconds:.1f}: "
                                 "give it more time (--duration)")
            if left < 0.0:
                return found
            found.append(move)
            q0 = q1

    def is_strong_enough(self, move: Move) -> bool:
        for t in np.linspace(move.duration, 0.0, 21)[:-1]:              # from its end on: where it started is not its choice
            q, v, vdot = move.at(t)
            self.state.set_q(q)
            self.state.set_v(v)
            if not (np.abs(self.model.inverse_dynamics(self.state, vdot)) <= EFFORT * self.model.spec.effort_limit).all():
                return False
        return True

    def begin(self, time: float, q: Array, seconds: float) -> None:
        """Start at `time`, s on any clock, from the configuration q."""
        self.moves = self.plan(q, seconds)
        self.end, self.start, self.patience = time + seconds, time, PATIENCE

    def efforts(self, time: float, q: Array, v: Array) -> Array:
        """tau = M(q) (vdot_d + kd (v_d - v) + kp (q_d - q)) + bias(q, v) - passive(q, v_r),   v_r = v_d + kp/kd (q_d - q): computed torque.

        Damping and friction are made up for at v_r, the speed the error asks for, not at the measured one: late measurements then cannot
        feed a joint's own damping back into it, and Coulomb friction leaves no error behind."""
        model, kp, kd, v_d, vdot_d = self.model, BANDWIDTH**2, 2.0 * BANDWIDTH, 0.0 * v, 0.0 * v
        if len(self.results) < len(self.moves):
            self._arrive(time, q)
        if len(self.results) < len(self.moves):
            self.desired, v_d, vdot_d = self.moves[len(self.results)].at(time - self.start)
        self.done = 0 < len(self.moves) == len(self.results) and time >= self.end
        self.error = q - self.desired
        self.state.set_q(q)
        self.state.set_v(v)
        self.reference.set_q(np.clip(q, model.spec.q_lower, model.spec.q_upper))        # inside the stops: they are not pushed against
        self.reference.set_v(v_d - kp / kd * self.error)
        tau = model.mass_matrix(self.state) @ (vdot_d + kd * (v_d - v) - kp * self.error) + model.bias_torques(self.state)
        self.tau = np.clip(tau - model.passive_torques(self.reference), -model.spec.effort_limit, model.spec.effort_limit)
        return self.tau

    def _arrive(self, time: float, q: Array) -> None:
        """Judge the pose that is due, unless it may still come; the next move begins now."""
        move = self.moves[len(self.results)]
        if (late := time - self.start - move.duration - REST) < 0.0:
            return
        self.desired, error = move.q1, q - move.q1
        k = int(np.argmax(np.abs(error) / self.tolerance))
        if (ok := bool(abs(error[k]) <= self.tolerance[k])) or late >= self.patience:
            self.results.append([self.names[k], float(error[k]), self.units[k], ok])
            self.start, self.end, self.patience = time, self.end + late, max(0.0, self.patience - late)

    def report(self) -> dict[str, Any]:
        """What is shown of it, as JSON has it. joints: before there were efforts, none. succeeded: every planned pose was reached."""
        return {"poses": len(self.moves), "done": self.done, "results": self.results, "succeeded": (
            0 < len(self.moves) == sum(ok for *_, ok in self.results)),
            "joints": [*zip(self.names, self.units, self.desired.tolist(), self.error.tolist(), self.tau.tolist())]}
