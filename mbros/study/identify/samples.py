"""Samples of a robot's motion: q, v, vdot and tau at n instants, out of arrays, a log, or a recording.

Where velocities or accelerations are missing, positions over time are smoothed: at each instant the polynomial of degree 4 that fits the
positions of a window best, its first and second derivative, and the mean of the same kind of tau, so that both sides of the equations go
through the same filter; one sample is kept of every quarter of the window, since neighbours say the same.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.given import number
from mbros_core.support.numbers import short

from mbros.arguments import finite, reals
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array

DEGREE = 4
NAMES = ("q", "v", "vdot", "tau")


@dataclass(frozen=True)
class Samples:
    """q (n, nq), v, vdot and tau (n, nv), SI units."""

    q: Array
    v: Array
    vdot: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.tau)


def samples(who: str, model: Model, data: Any, window: float | None, columns: Mapping[str, str] | None = None) -> Samples:
    """Of a mapping of arrays (q, tau, and v, vdot or time), a Log, or a path of a .mcap or .csv file; columns: of a .csv file."""
    is_csv = isinstance(data, (str, PathLike)) and fspath(data).endswith(".csv")
    if columns is not None and not is_csv:
        raise MbrosError(f"{who}: columns: they are those of a .csv file, and data is {short(data)}; leave them out")
    if isinstance(data, (str, PathLike)):
        given = from_csv(who, model, data, columns) if is_csv else from_mcap(who, model, data)
        who = f"{who}: {fspath(data)}"
    elif hasattr(data, "effort") and hasattr(data, "time") and hasattr(data, "q"):
        given = between({"time": data.time, "q": data.q, "v": data.v, "tau": data.effort})
    elif isinstance(data, Mapping):
        given = dict(data)
    else:
        raise MbrosError(f"{who}: data: expected arrays {{'q': ..., 'v': ..., 'vdot': ..., 'tau': ...}}, a Log, or the path of a .mcap or "
                         f".csv file, got {short(data)}")
    foreign = set(given) - {*NAMES, "time"}
    missing = {"q", "tau"} - set(given)
    if foreign or missing:
        raise MbrosError(f"{who}: data: expected arrays 'q' and 'tau', with 'v' and 'vdot', or with 'time'; "
                         + (f"{sorted(foreign)[0]!r} is none of these" if foreign else f"{sorted(missing)[0]!r} is missing"))
    sizes = {"q": model.nq, "v": model.nv, "vdot": model.nv, "tau": model.nv}
    arrays = {name: _array(f"{who}: data", name, given[name], sizes[name]) for name in NAMES if name in given}
    n = len(arrays["q"])
    for name, x in arrays.items():
        if len(x) != n:
            raise MbrosError(f"{who}: data: {name}: expected {n} rows, as many as of q, got {len(x)}")
    if "v" in arrays and "vdot" in arrays:
        return Samples(*(arrays[name] for name in NAMES))
    if "time" not in given:
        raise MbrosError(f"{who}: data: without 'v' and 'vdot' the times of the rows are needed: 'time' (n,), s")
    return filtered(who, model, reals(f"{who}: data", "time", given["time"]), arrays, window)


def filtered(who: str, model: Model, time: Array, arrays: dict[str, Array], window: float | None) -> Samples:
    """Samples of smoothed positions; of smoothed velocities where these were measured."""
    if model.nq != model.nv:
        raise MbrosError(f"{who}: positions of model {model.name!r} are no plain coordinates (nq {model.nq}, nv {model.nv}): give 'v' and "
                         "'vdot'")
    steps = np.diff(time)
    if time.shape != (len(arrays["q"]),) or not (steps > 0).all() or steps.max() > 1.5 * np.median(steps):
        raise MbrosError(f"{who}: data: time: expected {len(arrays['q'])} instants, s, one after the other at a constant rate")
    h = float(np.median(steps))
    window = 20.0 * h if window is None else number(who, "window", window, (DEGREE + 2) * h, float(time[-1] - time[0]) / 2, "s")
    half = max(int(round(window / h / 2)), DEGREE // 2 + 1)
    if len(time) < 4 * half:
        raise MbrosError(f"{who}: data: {len(time)} rows are too few for windows of {2 * half + 1}; record longer, or take a "
                         "shorter window=")
    at = np.arange(half, len(time) - half, max(1, half // 2))
    around = at[:, None] + np.arange(-half, half + 1)
    powers = (np.arange(-half, half + 1)[:, None] * h) ** np.arange(DEGREE + 1)
    fit = np.linalg.pinv(powers)                                        # (degree + 1, window)
    def smooth(x: Array, derivative: int) -> Array:
        return (1.0, 1.0, 2.0)[derivative] * np.einsum("w,nwj->nj", fit[derivative], x[around])
    q = smooth(arrays["q"], 0)
    v, vdot = (smooth(arrays["v"], 0), smooth(arrays["v"], 1)) if "v" in arrays else (smooth(arrays["q"], 1), smooth(arrays["q"], 2))
    return Samples(q, v, vdot, smooth(arrays["tau"], 0))


def between(rows: dict[str, Array]) -> dict[str, Array]:
    """Rows of a simulation, whose efforts acted in the step that led to the row: times and states of the middle of that step."""
    return {name: x[1:] if name == "tau" else 0.5 * (x[1:] + x[:-1]) for name, x in rows.items()}


def from_csv(who: str, model: Model, path: str | PathLike[str], columns: Mapping[str, str] | None) -> dict[str, Array]:
    """Time, q, v and tau of columns time, <joint>/position, /velocity and /effort (measured_csv.py). Efforts of a file that mbros
    wrote are those that led to a row's state."""
    from mbros.study.replay.measured_csv import read_columns      # start-up time: who reads no file does not pay
    from mbros.study.replay.reading import first_line

    joints = _joints(who, model)
    parts = ("position", "velocity", "effort")
    try:
        table = read_columns(path, [f"{joint}/{part}" for part in parts for joint in joints], columns)
        ours = "energy/kinetic" in first_line(path)
    except MbrosError as error:
        raise MbrosError(f"{who}: {error}") from error
    if len(table) < 2:
        raise MbrosError(f"{who}: {fspath(path)}: it has one row; expected more")
    q, v, tau = (table[:, 1 + k * len(joints):1 + (k + 1) * len(joints)] for k in range(3))
    found = {"time": table[:, 0] - table[0, 0], "q": q, "v": v, "tau": tau}
    return between(found) if ours else found


def from_mcap(who: str, model: Model, path: str | PathLike[str]) -> dict[str, Array]:
    """The same of the joint_states of a recording, whose efforts are those that acted: of mbros before the state, of a robot with it."""
    from mbros.study.replay.compare import STATES      # start-up time: only who reads recordings pays
    from mbros.study.replay.robot_recording import series

    names = _joints(who, model)
    found = series(path, list(STATES), names)
    if not found:
        raise MbrosError(f"{who}: {fspath(path)} has no joint_states")
    states = next(iter(found.values()))
    parts = states.values
    known = [k for k in ("position", "velocity", "effort") if k in parts]
    keep = np.isfinite(np.concatenate([parts[k] for k in ("position", "effort") if k in known], axis=1)).all(axis=1)
    if "effort" not in known or keep.sum() < 2:
        raise MbrosError(f"{who}: {fspath(path)}, {states.topic}: expected positions and efforts of {', '.join(names[:4])}...; it "
                         "has too few")
    out = {"time": (states.stamps[keep] - states.stamps[keep][0]) * 1e-9, "q": parts["position"][keep], "tau": parts["effort"][keep]}
    v = parts["velocity"][keep]
    out = {**out, "v": v} if np.isfinite(v).all() else out
    return between(out) if of_mbros(path) else out


def of_mbros(path: str | PathLike[str]) -> bool:
    """Whether mbros wrote it: then it says which model it is of."""
    from mbros.study.replay.recording_file import RecordingFile      # start-up time: only who reads recordings pays

    try:
        RecordingFile(path).close()
    except MbrosError:
        return False
    return True


def _joints(who: str, model: Model) -> tuple[str, ...]:
    names = tuple(joint.name for joint in model.joints if joint.nv and not joint.follows)
    if model.nq != model.nv or len(names) != model.nv:
        raise MbrosError(f"{who}: model {model.name!r} has joints of several coordinates, of which no file has columns: give arrays")
    return names


def _array(who: str, name: str, x: Any, size: int) -> Array:
    values = finite(who, name, reals(who, name, x, f"(n, {size})"))
    if values.ndim != 2 or values.shape[1] != size or not len(values):
        raise MbrosError(f"{who}: {name}: expected numbers of shape (n, {size}), got shape {values.shape}")
    return np.ascontiguousarray(values)
