"""What pushes a robot from outside: wrenches on its bodies and efforts in its joints for a time, payloads that it carries."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from mbros_core.engine._small import point_in, turned
from mbros_core.engine.checks import LARGEST
from mbros_core.support.given import any_number, bounded, reals
from mbros_core.support.numbers import is_whole, short

from mbros.errors import MbrosError, OwnAttributes, WrongTypeError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core import Plant, State
    from mbros_core.plant._pushes import Pushes
    from mbros_core.typing import Array, ArrayLike, BoolArray

# of mbros_core.plant._pushes, which is asked when the first one is attached
WRENCH, EFFORT, PAYLOAD = 1, 2, 3
MOST, WIDTH = 32, 16
KIND, NUMBER, STEPS, BEGAN, BODY, AXES, POINT, TORQUE, FORCE = 0, 1, 2, 3, 4, 5, 6, 9, 12
MOST_NUMBER = 2**53                     # of disturbances so far
LONGEST = 1e6                           # s
HEAVIEST = 1e9                          # kg, m, kg m^2: of a payload, as of a body that is tuned


def steps_of(duration: float | None, dt: float) -> int:
    """Steps of a duration: None or negative: -1, until it is cleared; the nearest number of steps, one at least."""
    if duration is None:
        return -1
    seconds = any_number("disturbance", "duration", duration)
    if not seconds <= LONGEST:
        raise MbrosError(f"disturbance: duration is {seconds:g} s; expected {LONGEST:g} s or less, or None (or a negative one) for until "
                         "it is cleared")
    return -1 if seconds < 0.0 else max(1, round(seconds / dt))


def wrench_row(model: Model, frame: FrameLike, torque: ArrayLike, force: ArrayLike, expressed_in: FrameLike, point: ArrayLike,
               steps: int, most: float = LARGEST) -> Array:
    """The row of a wrench on the body of a frame. most: what is larger (N m, N) cannot be meant."""
    k, who = model._frame_index(frame), f"model {model.name!r}: wrench"
    row, X = np.zeros(WIDTH), np.asarray(model.spec.X_BF[k])
    body = int(model.spec.frame_body[k])
    if body == 0:
        raise MbrosError(f"{who}: frame {model.frames[k].name!r} is fixed in the world; give a frame of a body that moves")
    axes, R = 0, None
    if not (isinstance(expressed_in, str) and expressed_in in ("", "world")):
        other = model._frame_index(expressed_in)
        axes, R = int(model.spec.frame_body[other]), np.asarray(model.spec.X_BF[other])[:9].reshape(3, 3)
    row[:POINT] = WRENCH, 0.0, steps, -1.0, body, axes
    row[POINT:TORQUE] = point_in(X[:9].reshape(3, 3), X[9:], bounded(who, "point", point, (3,), LARGEST))
    row[TORQUE:FORCE], row[FORCE:FORCE + 3] = bounded(who, "torque", torque, (3,), most), bounded(who, "force", force, (3,), most)
    if R is not None:
        row[TORQUE:FORCE + 3] = turned(R, row[TORQUE:FORCE + 3])
    return row


def effort_rows(model: Model, efforts: Mapping[str, float], steps: int, most: float = LARGEST) -> list[Array]:
    """A row for every coordinate. most: as of wrench_row."""
    if not isinstance(efforts, Mapping):
        raise WrongTypeError(f"apply_effort: expected {{joint: effort}}, got {short(efforts)}")
    rows, tau = [], np.asarray(model.effort_vector(dict(efforts)))
    for joint in model.joints:
        bounded(f"model {model.name!r}: effort", f"joint {joint.name!r}", tau[joint.v_slice], (None,), most)
    for iv, effort in enumerate(tau):
        if effort != 0.0:
            row = np.zeros(WIDTH)
            row[[KIND, STEPS, BEGAN, BODY, TORQUE]] = EFFORT, steps, -1.0, iv, effort
            rows.append(row)
    return rows


def payload_row(model: Model, frame: FrameLike, mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Array:
    """The row of a payload: its inertia about the body's origin in the body's axes, in the place of point, torque and force."""
    k, who = model._frame_index(frame), f"model {model.name!r}: payload"
    m = any_number(who, "mass", mass)
    if not 0.0 < m < HEAVIEST:
        raise MbrosError(f"{who}: mass is {m:g}; expected more than 0 kg, less than 1e9")
    body, X = int(model.spec.frame_body[k]), np.asarray(model.spec.X_BF[k])
    if body == 0:
        raise MbrosError(f"{who}: frame {model.frames[k].name!r} is fixed in the world; give a frame of a body that moves")
    R = X[:9].reshape(3, 3)
    I = np.zeros((3, 3)) if inertia is None else _inertia(who, inertia)
    c = X[9:] + R @ bounded(who, "com", com, (3,), HEAVIEST)
    about = R @ I @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    row = np.zeros(WIDTH)
    row[[KIND, STEPS, BODY]] = PAYLOAD, -1.0, body
    row[POINT:] = m, *(m * c), *np.diag(about), about[0, 1], about[0, 2], about[1, 2]
    return row


def _inertia(who: str, inertia: ArrayLike) -> Array:
    I = reals(who, "inertia", inertia, "(3,) moments or a symmetric (3, 3)")
    if I.shape == (3,):
        I = np.diag(I)
    if I.shape != (3, 3) or not np.isfinite(I).all() or not np.allclose(I, I.T):
        raise MbrosError(f"{who}: inertia is {short(inertia)}; expected (3,) moments or a symmetric (3, 3), kg m^2, about its centre of "
                         "mass")
    moments = np.linalg.eigvalsh(bounded(who, "inertia", I, (3, 3), HEAVIEST))
    if moments[0] < 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        raise MbrosError(f"{who}: no body has the principal moments {short(moments.tolist())}; expected none negative, and none larger "
                         "than the sum of the other two")
    return I


def added(table: Array, rows: list[Array]) -> int:
    """Puts rows into free places of a table, all or none of them; returns the number that they have."""
    kinds, numbers = table[:, :NUMBER + 1].T.tolist()
    free, place, number = kinds.count(0.0), -1, int(max(numbers)) + 1
    if len(rows) > free:
        raise MbrosError(f"disturbances: {MOST - free} act already, and there is room for {MOST}; clear() some")
    for row in rows:
        place = kinds.index(0.0, place + 1)
        row[NUMBER] = number
        table[place] = row
    return number


def chosen(model: Model, table: Array, what: int | FrameLike | None) -> BoolArray:
    """Which rows a number, a frame, a joint or None (all but payloads) stands for, (MOST,)."""
    pushes = (table[:, KIND] == WRENCH) | (table[:, KIND] == EFFORT)
    if what is None or (isinstance(what, str) and not what):
        return np.asarray(pushes)
    if is_whole(what):
        number = cast(int, what)
        if not 0 < number < MOST_NUMBER:
            return np.zeros(len(table), bool)
        return np.asarray((table[:, NUMBER] == number) & (table[:, KIND] != 0.0))
    joint = next((j for j in model.joints if isinstance(what, str) and j.name == what or j is what), None)
    if joint is not None:
        start, count = joint._v_start, joint.nv
        return np.asarray((table[:, KIND] == EFFORT) & (table[:, BODY] >= start) & (table[:, BODY] < start + count))
    return np.asarray((table[:, KIND] == WRENCH) & (table[:, BODY] == model.spec.frame_body[model._frame_index(what)]))


def unload(state: State, start: State, rows: list[Array]) -> None:
    """Takes payloads off the bodies of a state. Where these were added to what a body is at the start, it is that again, to the bit."""
    inertia, bare = state.field("inertia"), start.field("inertia")
    for body in {int(row[BODY]) for row in rows}:
        carried = [row[POINT:] for row in rows if row[BODY] == body]
        one_by_one = bare[body].copy()
        for x in carried:
            one_by_one += x
        together = np.sum(carried, axis=0)
        known = any(np.array_equal(x, inertia[body]) for x in (one_by_one, bare[body] + together))
        inertia[body] = bare[body] if known else inertia[body] - together


class Disturbances(OwnAttributes):
    """What pushes the robot of a simulator from outside, beside its commands and clamped by nothing. Each has a number.

    A duration (s) is taken to the nearest step, one at least, from the next step on: 0 is one step; None, or a negative one, lasts until
    it is cleared. All of it is copied, pickled and saved with the simulator; reset() ends it.
    """

    def __init__(self, model: Model, plant: Plant, start: State, table: Array | None = None) -> None:
        from mbros_core.plant._pushes import COLUMNS, Pushes      # start-up time: who does not use it does not pay

        if any(globals()[name] != number for name, number in COLUMNS.items()):
            raise ImportError("mbros.bench.disturbances and mbros_core.plant._pushes disagree: rebuild mbros_core")
        self._model, self._state, self._start, self._dt = model, plant.state, start, plant.dt
        self._pushes: Pushes = Pushes(plant)
        if table is not None:
            self._pushes.put(table)

    def apply_wrench(self, frame: FrameLike, torque: ArrayLike = (0, 0, 0), force: ArrayLike = (0, 0, 0), *, duration: float | None = None,
                     expressed_in: FrameLike = "world", point: ArrayLike = (0, 0, 0)) -> int:
        """A torque (3,) N m and a force (3,) N on the body of `frame`, the force at `point` (3,) m of the frame, from the next step on.

        They turn with the frame `expressed_in`; by default they stay as they are in the world. Returns its number.
        """
        return self._add([wrench_row(self._model, frame, torque, force, expressed_in, point, steps_of(duration, self._dt))])

    def apply_effort(self, efforts: Mapping[str, float], *, duration: float | None = None) -> int:
        """{joint: effort} (N m or N) beside whatever acts there, from the next step on. Returns its number."""
        return self._add(effort_rows(self._model, efforts, steps_of(duration, self._dt)))

    def attach_payload(self, frame: FrameLike, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None) -> int:
        """A body of so many kg is fixed to the body of `frame`, at once, with the velocity that it has there: com (3,) m in the frame;
        inertia (3,) or (3, 3) kg m^2 about its centre of mass along the frame's axes (None: a point). Returns its number for
        drop_payload. It counts in the state's masses until then."""
        row = payload_row(self._model, frame, mass, com, inertia)
        body = int(row[BODY])
        before = self._carried(body)
        number = self._add([row])
        self._load(body, before)
        return number

    def drop_payload(self, number: int) -> None:
        """The payload of this number is gone, at once."""
        known = is_whole(number) and 0 < number < MOST_NUMBER
        row = self.table[(self.table[:, NUMBER] == (number if known else -1)) & (self.table[:, KIND] == PAYLOAD)]
        if not len(row):
            numbers = sorted(int(n) for n in self.table[self.table[:, KIND] == PAYLOAD, NUMBER])
            raise MbrosError(f"drop_payload: there is no payload {short(number)}; there are {numbers or 'none'}")
        body = int(row[0, BODY])
        before, table = self._carried(body), self.table.copy()
        table[table[:, NUMBER] == number] = 0.0
        self._put(table)
        self._load(body, before)

    def clear(self, what: int | FrameLike | None = None) -> int:
        """Ends wrenches and efforts: all, that of a number, those on the body of a frame or in a joint. Returns how many."""
        which = chosen(self._model, self.table, what) & (self.table[:, KIND] != PAYLOAD)
        table = self.table.copy()
        table[which, KIND] = 0.0
        self._put(table)
        return int(which.sum())

    @property
    def table(self) -> Array:
        """All of it, (32, 16), as mbros_core.plant keeps it; a view."""
        return self._pushes.table

    def __len__(self) -> int:
        """How many act or will act, payloads included."""
        return int((self.table[:, KIND] != 0.0).sum())

    def __repr__(self) -> str:
        kinds = [int((self.table[:, KIND] == kind).sum()) for kind in (WRENCH, EFFORT, PAYLOAD)]
        return f"<Disturbances: {kinds[0]} wrenches, {kinds[1]} efforts, {kinds[2]} payloads>"

    def _add(self, rows: list[Array]) -> int:
        table = self.table.copy()
        number = added(table, rows)
        self._put(table)
        return number

    def _put(self, table: Array) -> None:
        self._pushes.put(table)

    def _load(self, body: int, before: Array) -> None:
        """The body's inertia with its payloads instead of those before. Where nobody has changed it since the start it goes back to what it
        was there, to the bit."""
        inertia, start = self._state.field("inertia"), self._start.field("inertia")[body]
        bare = start if np.array_equal(start + before, inertia[body]) else inertia[body] - before
        inertia[body] = bare + self._carried(body)

    def _carried(self, body: int) -> Array:
        """The sum of the payloads on a body (10,)."""
        total: Array = self.table[(self.table[:, KIND] == PAYLOAD) & (self.table[:, BODY] == body), POINT:].sum(axis=0)
        return total
