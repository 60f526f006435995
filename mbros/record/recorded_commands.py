"""What joints were commanded in a recording, as JointState messages: one where it changes, stamped when it begins to act."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.bench.layout import HEAD
from mbros.record.ros_layouts import joint_state, put_stamps

if TYPE_CHECKING:
    from mbros import Model
    from mbros.bench.layout import Layout
    from mbros_core.typing import Array, BoolArray, IntArray

WORDS = ("position", "velocity", "effort")
POSITION, VELOCITY, EFFORT = 1, 2, 4            # what is commanded of a coordinate (mbros_core.plant._commanded)


class RecordedCommands:
    """Of the joints that joint_states name, from rows of a recording. gathered: those of a node, whose commands have four parts with a
    bench, efforts, positions, velocities and which of them; a simulator's stand in the memory of its bench."""

    def __init__(self, model: Model, bench: Layout | None, gathered: bool, dt: float) -> None:
        self.layout, self._dt = joint_state(model.joint_state_names), round(dt * 1e9)
        joints = [model.joint(name) for name in model.joint_state_names]
        self._nv, self._four = model.nv, gathered and bench is not None
        self._at = np.array([joint.v_slice.start for joint in joints], int)
        self._follows = np.array([joint.follows for joint in joints], bool)
        known = {row.name: HEAD + row.at for row in bench.rows[:bench.commands]} if bench is not None else {}
        self._driven = np.array([any(f"{joint.name}.command.{word}" in known for word in WORDS) for joint in joints], bool)
        self._given = None if gathered or not known else np.array(
            [[known.get(f"{joint.name}.command.{word}", -1) for joint in joints] for word in WORDS], int)
        self._last = np.full((3, len(joints)), np.nan)

    def of(self, commands: Array, bench: Array | None) -> Array:
        """(n, 3, joints): positions, velocities and efforts that were commanded, NaN where nothing was."""
        effort = commands[:, self._at]
        found = np.full((len(commands), 3, len(self._at)), np.nan)
        if self._four:
            what = commands[:, 3 * self._nv + self._at].astype(int)
            for k, bit in enumerate((POSITION, VELOCITY)):
                found[:, k] = np.where(what & bit, commands[:, (1 + k) * self._nv + self._at], np.nan)
            found[:, 2] = np.where((what & EFFORT > 0) | (effort != 0.0) | ~self._driven, effort, np.nan)
        else:
            found[:, 2] = np.where(self._driven, np.nan, effort)
            if self._given is not None and bench is not None:
                there = self._given >= 0
                found[:, there] = bench[:, self._given[there]]
        found[:, :, self._follows] = np.nan
        return found

    def messages(self, stamps: IntArray, taken: BoolArray, commands: Array, bench: Array | None) -> tuple[IntArray, np.ndarray]:
        """Stamps, ns, and messages of the rows, a step before theirs, where something else is commanded than before. taken: rows to which a
        step led."""
        x = self.of(commands, bench)[taken]
        starts = (np.asarray(stamps)[taken] - self._dt).astype(np.int64)
        before = np.concatenate([self._last[None], x[:-1]])
        new = ~((x == before) | (np.isnan(x) & np.isnan(before))).all(axis=(1, 2)) & (starts >= 0)
        if len(x):
            self._last = x[-1]
        messages = self.layout.messages(int(new.sum()))
        put_stamps(messages, starts[new])
        for k, part in enumerate(WORDS):
            messages[part] = x[new, k]
        return starts[new], messages
