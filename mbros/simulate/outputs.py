"""What a rollout hands back beside q and v: poses, velocities, energies of the steps it kept, by name.

    "<frame>.pose"            X_WF: .p (batch, rows, 3) m, .R (batch, rows, 3, 3)
    "<frame>.velocity"        V_WF (batch, rows, 6), [angular; linear] of the frame's origin in world axes
    "<frame>.jacobian"        J (batch, rows, 6, nv)
    "energy"                  kinetic and potential, (batch, rows), J; each alone: "kinetic_energy", "potential_energy"
    "center_of_mass"          (batch, rows, 3), m; "com_jacobian" (batch, rows, 3, nv)
    "centroidal_momentum"     (batch, rows, 6), [angular; linear] about the centre of mass in world axes, N m s and N s
    "mass_matrix"             (batch, rows, nv, nv)
    "gravity_torques", "bias_torques", "coriolis_torques", "passive_torques"    (batch, rows, nv)
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from mbros_core.algorithms.registry import OF_LANES
from mbros_core.numbers import short

from mbros.errors import CoordinateIndexError, MbrosError, unknown
from mbros.model.batch import Batch
from mbros.spatial.poses import Poses

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import State
    from mbros_core.typing import Array, IntArray

_OF_STATES = [row for row in OF_LANES.values() if not row.given]
OF_FRAMES = tuple(row.name.removeprefix("frame_") for row in _OF_STATES if row.of == "frame")
OF_ROBOTS = ("energy", *(row.name for row in _OF_STATES if not row.of))


class Run(tuple[np.ndarray, np.ndarray]):
    """What mbros.rollout gives: the pair (q, v), and run["name"] for each of the outputs it was asked for.

    q (batch, rows, nq), v (batch, rows, nv): after the steps that were kept. fault (batch,): the step in which a robot of on_fault="hold"
    would not have stayed finite, -1: none. outputs: {name: array, or Poses}.
    """

    q: np.ndarray
    v: np.ndarray
    fault: np.ndarray
    outputs: dict[str, Any]

    def __new__(cls, q: Array, v: Array, fault: IntArray, outputs: dict[str, Any]) -> Run:
        run = super().__new__(cls, (q, v))
        run.q, run.v, run.fault, run.outputs = q, v, fault, outputs
        return run

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.q, self.v, self.fault, self.outputs

    @overload
    def __getitem__(self, name: str) -> Any: ...

    @overload
    def __getitem__(self, name: SupportsIndex) -> np.ndarray: ...

    @overload
    def __getitem__(self, name: slice) -> tuple[np.ndarray, ...]: ...

    def __getitem__(self, name: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # a str, too
        if not isinstance(name, str):
            try:
                return super().__getitem__(name)
            except (IndexError, TypeError):
                there = "".join(f", {output!r}" for output in self.outputs)
                raise CoordinateIndexError(f"no {short(name)} in this rollout; there are 0 (q), 1 (v){there}") from None
        if name not in self.outputs:
            raise unknown("output", name, "this rollout", self.outputs)
        return self.outputs[name]

    def __repr__(self) -> str:
        return f"<Run: q {self.q.shape}, v {self.v.shape}{''.join(f', {name!r}' for name in self.outputs)}>"


def parse_outputs(who: str, model: Model, outputs: Any) -> dict[str, tuple[str, int]]:
    """{name: (what, frame index or -1)} of the names of outputs."""
    if isinstance(outputs, str) or not isinstance(outputs, Iterable):
        raise MbrosError(f"{who}: outputs: expected a list of names, such as ['{model.frames[-1].name}.pose', 'energy'], got "
                         f"{short(outputs)}")
    found = [(name, _parse(who, model, name)) for name in outputs]          # words first: another thing need not be a key
    return dict(found)


def _parse(who: str, model: Model, name: Any) -> tuple[str, int]:
    if isinstance(name, str):
        frame, _, what = name.rpartition(".")
        if name in OF_ROBOTS:
            return name, -1
        if frame and what in OF_FRAMES:
            return what, model._frame_index(frame)
    raise unknown("output", name, who, (*OF_ROBOTS, *(f"<frame>.{what}" for what in OF_FRAMES)))


def compute_outputs(model: Model, start: State, own: tuple[np.ndarray, Array] | None, q: Array, v: Array,
                    wanted: dict[str, tuple[str, int]], threads: int | None) -> dict[str, Any]:
    """{name: numbers (batch, rows, ...)} of the states q, v (batch, rows, n), each robot with its own parameters."""
    if not wanted:
        return {}
    batch, rows = q.shape[:2]
    q, v = q.reshape(batch * rows, model.nq), v.reshape(batch * rows, model.nv)
    all_states = Batch(model, q, v, start.copy(), own, max(rows, 1), threads)
    return {name: _shaped(_value(all_states, *of), batch, rows) for name, of in wanted.items()}


def _value(states: Batch, what: str, frame: int) -> Any:
    if what == "energy":
        return states.kinetic_energy() + states.potential_energy()
    return getattr(states, what)(*((frame,) if frame >= 0 else ()))


def _shaped(value: Any, batch: int, rows: int) -> Any:
    if isinstance(value, Poses):
        return Poses(value.R.reshape(batch, rows, 3, 3), value.p.reshape(batch, rows, 3), value.frame, value.relative_to)
    return value.reshape(batch, rows, *value.shape[1:])
