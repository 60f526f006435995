"""A sequence of poses under control: what the controller does once it has states in and efforts out, whatever carries them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.cli.demonstration.law import ComputedTorque
from mbros.cli.demonstration.motion import driven_joints, moves

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array

PATIENCE = 3.0      # s that all poses together may come late: a busy computer can hold the controller up
TOLERANCE = {"revolute": 0.02, "continuous": 0.02, "prismatic": 0.005}     # rad or m, at the end of the rest at a pose


class Reached(NamedTuple):
    """A pose that was due: its error where it was largest against the tolerance, and whether that will do."""

    joint: str
    error: float            # rad or m, with sign
    unit: str
    ok: bool


class PoseSequence:
    """Holds the default pose until begin(), then goes from pose to pose for `seconds`, then holds the last one.

    efforts(time, q, v) is all there is to call. After begin(): `moves`, `results` (one Reached per pose that was due),
    `done`. `desired` is the present target (nq,), `error` what is left to it.
    """

    def __init__(self, model: Model, bandwidth: float = 12.0) -> None:
        self.model, self.joints = model, driven_joints(model)
        self.law = ComputedTorque(model, bandwidth)
        self.tolerance = np.array([TOLERANCE[joint.kind] for joint in self.joints])
        self.units = ["m" if joint.kind == "prismatic" else "rad" for joint in self.joints]
        self.desired = np.array(model.spec.q_default, float)
        self.error, self.tau = np.zeros(model.nq), np.zeros(model.nv)
        self.moves: list[Any] = []
        self.results: list[Any] = []
        self.done = False
        self._still = np.zeros(model.nv)

    def begin(self, time: float, q: Array, seconds: float) -> None:
        """Start the sequence at `time` (s, on any clock) from the configuration q, for `seconds`."""
        self.moves, self.results, self.done = moves(self.model, q, seconds), [], False
        self._end, self._start, self._patience = time + seconds, time, PATIENCE

    @property
    def pose(self) -> int:
        """Number of the pose that is being gone to, from 1; that of the last one at the end; 0 before begin()."""
        return min(len(self.results) + 1, len(self.moves))

    def efforts(self, time: float, q: Array, v: Array) -> np.ndarray:
        """tau (nv,) for the measured q and v at `time`."""
        v_d = vdot_d = self._still
        if self.moves and len(self.results) < len(self.moves):
            self._arrive(time, q)
        if self.moves and len(self.results) < len(self.moves):
            self.desired, v_d, vdot_d = self.moves[len(self.results)].at(time - self._start)
        self.done = bool(self.moves) and len(self.results) == len(self.moves) and time >= self._end
        self.error = q - self.desired
        self.tau = self.law(q, v, self.desired, v_d, vdot_d)
        return self.tau

    def _arrive(self, time: float, q: Array) -> None:
        """Judge the pose that is due, unless it may still come; the next move begins now."""
        move = self.moves[len(self.results)]
        late = time - self._start - move.length
        if late < 0.0:
            return
        self.desired, result = move.q1, self._judge(q - move.q1)
        if result.ok or late >= self._patience:
            self.results.append(result)
            self._start, self._end, self._patience = time, self._end + late, max(0.0, self._patience - late)

    def _judge(self, error: Any) -> Reached:
        """The joint whose error is largest against its tolerance."""
        share = np.abs(error) / self.tolerance
        worst = int(np.argmax(share))
        return Reached(self.joints[worst].name, float(error[worst]), self.units[worst], bool(share[worst] <= 1.0))

    @property
    def succeeded(self) -> bool:
        """Whether every planned pose was due and reached."""
        return bool(self.moves) and len(self.results) == len(self.moves) and all(result.ok for result in self.results)
