"""What a rollout hands back beside q and v: poses, velocities, energies of the steps it kept, by name.

    "<frame>.pose"            X_WF: .p (batch, rows, 3) m, .R (batch, rows, 3, 3)
    "<frame>.velocity"        V_WF (batch, rows, 6), [angular; linear] of the frame's origin in world axes
    "<frame>.jacobian"        J (batch, rows, 6, nv)
    "energy"                  kinetic and potential, (batch, rows), J; each alone: "kinetic_energy", "potential_energy"
    "center_of_mass"          (batch, rows, 3), m; "com_jacobian" (batch, rows, 3, nv)
    "centroidal_momentum"     (batch, rows, 6), [angular; linear] about the centre of mass in world axes, N m s and N s
    "mass_matrix"             (batch, rows, nv, nv)
    "gravity_torques", "bias_torques", "coriolis_torques", "passive_torques"    (batch, rows, nv)

and what touched and was held in the step that led to each row, of models with shapes and with constraints:

    "contact_count"           (batch, rows), how many contact points there were
    "contact_forces"          (batch, rows, shapes, 3), what each shape of model.shapes felt of all the others, N, world axes
    "constraint_reactions"    (batch, rows, constraints, 6), [torque; force] on the body of frame_b about that frame's origin, world axes
    "constraint_efforts"      (batch, rows, n), along the rows of all constraints, N or N m
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from mbros_core.algorithms.registry import OF_LANES
from mbros_core.support.numbers import short

from mbros.arguments import entries
from mbros.errors import CoordinateIndexError, MbrosError, unknown
from mbros.model.batch import Batch
from mbros.study.rollout.memory import write_end
from mbros.spatial.poses import Poses

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, IntArray

_OF_STATES = [row for row in OF_LANES.values() if not row.given]
OF_FRAMES = tuple(row.name.removeprefix("frame_") for row in _OF_STATES if row.of == "frame")
OF_STEPS = ("contact_count", "contact_forces", "constraint_reactions", "constraint_efforts")
OF_ROBOTS = ("energy", *(row.name for row in _OF_STATES if not row.of))


class Run(tuple[np.ndarray, np.ndarray]):
    """What mbros.rollout gives: the pair (q, v), and run["name"] for each of the outputs it was asked for.

    q (batch, rows, nq), v (batch, rows, nv): after the steps that were kept. fault (batch,): the step in which a robot of on_fault="hold"
    would not have stayed finite, -1: none. outputs: {name: array, or Poses}. memory (batch, columns): what the next rollout needs to go on
    as if there had been no end (mbros.study.rollout.memory says what it is); a robot of which `fault` tells has none.
    """

    q: np.ndarray
    v: np.ndarray
    fault: np.ndarray
    outputs: dict[str, Any]
    memory: np.ndarray

    def __new__(cls, q: Array, v: Array, fault: IntArray, outputs: dict[str, Any], memory: Array) -> Run:
        run = super().__new__(cls, (q, v))
        run.q, run.v, run.fault, run.outputs, run.memory = q, v, fault, outputs, memory
        return run

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.q, self.v, self.fault, self.outputs, self.memory

    def write_end(self, state: State, robot: int) -> None:
        """Put a State of the model where this robot ended: q, v, time, and how the last step led there. A Simulator goes on from it. Its
        parameters stay what they are. On an error nothing has changed."""
        write_end(state, self, robot)

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
    if type(outputs) is tuple and not outputs:
        return {}                               # the same, for what most calls are
    names = None if isinstance(outputs, str) else entries(outputs)
    if names is None:
        raise MbrosError(f"{who}: outputs: expected a list of names, such as ['{model.frames[-1].name}.pose', 'energy'], got "
                         f"{short(outputs)}")
    found = [(name, _parse(who, model, name)) for name in names]          # words first: another thing need not be a key
    return dict(found)


def _parse(who: str, model: Model, name: Any) -> tuple[str, int]:
    if isinstance(name, str):
        frame, _, what = name.rpartition(".")
        if name in OF_ROBOTS or name in OF_STEPS:
            return name, -1
        if frame and what in OF_FRAMES:
            return what, model._frame_index(frame)
    raise unknown("output", name, who, (*OF_ROBOTS, *OF_STEPS, *(f"<frame>.{what}" for what in OF_FRAMES)))


def carried_columns(model: Model) -> int:
    """Numbers of each row that the engine notes of contacts and constraints."""
    return 1 + 3 * len(model.shapes) + 12 * len(model.constraints)


def _of_step(model: Model, carried: Array, what: str) -> Array | IntArray:
    """From the rows (batch, rows, carried_columns) of the engine."""
    shapes, constraints = len(model.shapes), len(model.constraints)
    if what == "contact_count":
        return carried[..., 0].astype(np.int64)
    if what == "contact_forces":
        return carried[..., 1:1 + 3 * shapes].reshape(*carried.shape[:2], shapes, 3).copy()
    rows = carried[..., 1 + 3 * shapes:].reshape(*carried.shape[:2], constraints, 12)
    if what == "constraint_reactions":
        return rows[..., :6].copy()
    parts = [c._as_effort(rows[..., c.index, 6:]) for c in model.constraints]
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*carried.shape[:2], 0))


def compute_outputs(model: Model, start: State, own: tuple[np.ndarray, Array] | None, q: Array, v: Array, carried: Array | None,
                    wanted: dict[str, tuple[str, int]], threads: int | None) -> dict[str, Any]:
    """{name: numbers (batch, rows, ...)} of the states q, v (batch, rows, n), each robot with its own parameters; carried: what the steps
    noted, where some of OF_STEPS is wanted."""
    found = {} if carried is None else {name: _of_step(model, carried, what) for name, (what, _) in wanted.items() if what in OF_STEPS}
    wanted = {name: of for name, of in wanted.items() if name not in found}
    if not wanted:
        return found
    batch, rows = q.shape[:2]
    q, v = q.reshape(batch * rows, model.nq), v.reshape(batch * rows, model.nv)
    all_states = Batch(model, q, v, start.copy(), own, max(rows, 1), threads)
    return {**{name: _shaped(_value(all_states, *of), batch, rows) for name, of in wanted.items()}, **found}


def _value(states: Batch, what: str, frame: int) -> Any:
    if what == "energy":
        return states.kinetic_energy() + states.potential_energy()
    return getattr(states, what)(*((frame,) if frame >= 0 else ()))


def _shaped(value: Any, batch: int, rows: int) -> Any:
    if isinstance(value, Poses):
        return Poses(value.R.reshape(batch, rows, 3, 3), value.p.reshape(batch, rows, 3), value.frame, value.relative_to)
    return value.reshape(batch, rows, *value.shape[1:])
