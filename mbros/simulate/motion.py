"""Motions that a simulator gives its joints: functions of time, splines, tables (docs/motion.md).

A motion is anything that says (q, v, a) at a time: positions (nq,), velocities (nv,) and accelerations (nv,) of its joint.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from mbros_core.engine._callbacks import LawsCallback
from mbros_core.integrators.registry import BY_ERROR
from mbros_core.support.numbers import short

from mbros.arguments import finite, reals, vector
from mbros.errors import MbrosError, OwnAttributes, unknown
from mbros.model.joints.driven import follow, moves_by_polynomials, push_to, refuse_welds
from mbros.model.joints.in_state import refuse_follower, unit
from mbros.names import plural

if TYPE_CHECKING:
    from mbros import Joint, Simulator
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

APART = 1e-9            # m or rad: a motion begins where its joint is, to so much


class _Samples:
    """Positions at times, and polynomials between them. Before the first and after the last the joint stands there."""

    def __init__(self, t: ArrayLike, q: ArrayLike) -> None:
        who = type(self).__name__
        self.t = finite(who, "t", reals(who, "t", t)).copy()
        self.q = finite(who, "q", reals(who, "q", q)).copy()
        if self.t.ndim != 1 or len(self.t) < 2 or not (np.diff(self.t) > 0.0).all():
            raise MbrosError(f"{who}: t: expected two times or more, each after the one before, got {short(t)}")
        self.q = self._rows("q", self.q)

    def _rows(self, what: str, x: ArrayLike) -> Array:
        """(n, coordinates): a row for each time."""
        who = type(self).__name__
        x = finite(who, what, reals(who, what, x))
        x = x[:, None] if x.ndim == 1 else x
        if x.ndim != 2 or len(x) != len(self.t):
            raise MbrosError(f"{who}: {what}: expected a row for each of the {len(self.t)} times, got shape {x.shape}")
        return x.copy()

    def _at(self, t: float) -> tuple[int, float]:
        """(interval, time in it)"""
        k = min(max(int(np.searchsorted(self.t, t, "right")) - 1, 0), len(self.t) - 2)
        return k, t - float(self.t[k])

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        if not self.t[0] <= t <= self.t[-1]:
            zero = np.zeros(self.q.shape[1])
            return self.q[0 if t < self.t[0] else -1].copy(), zero, zero.copy()
        k, x = self._at(t)
        c = self.coefficients[k]                                # (powers, coordinates)
        n = np.arange(len(c), dtype=float)[:, None]
        powers = x ** np.maximum(n, 0.0)
        v = (n[1:] * c[1:] * powers[:-1]).sum(0)
        a = (n[2:] * n[1:-1] * c[2:] * powers[:-2]).sum(0)
        if t == self.t[k + 1]:
            return self.q[k + 1].copy(), v, a                   # to the bit
        return (c * powers).sum(0), v, a

    coefficients: Array

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {plural(len(self.t), 'time')} from {self.t[0]:g} to {self.t[-1]:g} s>"


def _hermite(t: Array, q: Array, v: Array) -> Array:
    """Cubics (n - 1, 4, coordinates) with these values and slopes."""
    h, d = np.diff(t)[:, None], np.diff(q, axis=0)
    return np.stack([q[:-1], v[:-1], 3.0 * d / h**2 - (2.0 * v[:-1] + v[1:]) / h, -2.0 * d / h**3 + (v[:-1] + v[1:]) / h**2], 1)


class Spline(_Samples):
    """The cubic spline through positions q (n,) or (n, nq) at times t (n,): velocity and acceleration are continuous.

    velocity: at both ends, a pair of numbers or of rows (default: at rest). For joints whose velocities are the rates of their positions.
    """

    def __init__(self, t: ArrayLike, q: ArrayLike, velocity: Any = (0.0, 0.0)) -> None:
        super().__init__(t, q)
        ends = finite("Spline", "velocity", reals("Spline", "velocity", velocity))
        if ends.shape not in ((2,), (2, self.q.shape[1])):
            raise MbrosError(f"Spline: velocity: expected two numbers, or two rows of {self.q.shape[1]}, got shape {ends.shape}")
        h, n = np.diff(self.t), len(self.t)
        A, b = np.zeros((n, n)), np.zeros_like(self.q)
        A[0, 0] = A[-1, -1] = 1.0
        b[0], b[-1] = ends[0], ends[1]
        slope = np.diff(self.q, axis=0) / h[:, None]
        for k in range(1, n - 1):
            A[k, k - 1:k + 2] = 1.0 / h[k - 1], 2.0 / h[k - 1] + 2.0 / h[k], 1.0 / h[k]
            b[k] = 3.0 * (slope[k - 1] / h[k - 1] + slope[k] / h[k])
        self.coefficients = _hermite(self.t, self.q, np.linalg.solve(A, b).astype(float))


class Table(_Samples):
    """Recorded positions q (n,) or (n, nq) at times t (n,), with velocities v where there are some (else differences of second order):
    cubics between them, so that positions and velocities are those of the table. For joints whose velocities are the rates of their
    positions."""

    def __init__(self, t: ArrayLike, q: ArrayLike, v: ArrayLike | None = None) -> None:
        super().__init__(t, q)
        order: Literal[1, 2] = 2 if len(self.t) > 2 else 1
        rates = np.gradient(self.q, self.t, axis=0, edge_order=order) if v is None else self._rows("v", v)
        if rates.shape != self.q.shape:
            raise MbrosError(f"Table: v: expected the shape of q, {self.q.shape}, got {rates.shape}")
        self.coefficients = _hermite(self.t, self.q, rates)


Motion = Callable[[float], Any]


class Motions(OwnAttributes, MutableMapping[str, Motion]):
    """The motions that a simulator gives, by the names of their joints: sim.motions["elbow"] = mbros.Spline(t, q).

    dormand_prince asks for them at the times of its own stages; the other integrators at the end of each step, between which a polynomial
    of fourth degree has positions of the end, and velocities and accelerations of both.

    Setting one is Simulator.prescribe; deleting one lets its joint go. Which joint is prescribed says the state: one that was locked or
    released there is no longer in here.
    """

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self._by_name: dict[str, Motion] = {}
        self._last: dict[str, tuple[float, tuple[Array, Array, Array]]] = {}
        self._asked: tuple[str, ...] = ()                       # the joints about whose laws the plant asks at its own times

    def _of(self, sim: Simulator) -> Motions:
        """The same for a copy of the simulator."""
        other = Motions(sim)
        other._by_name, other._last = dict(self._by_name), dict(self._last)
        return other

    def __getitem__(self, name: str) -> Motion:
        self._forget()
        if name not in self._by_name:
            raise unknown("motion", name, f"simulator of {self._sim.model.name!r}", tuple(self._by_name))
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        self._forget()
        return iter(tuple(self._by_name))

    def __len__(self) -> int:
        self._forget()
        return len(self._by_name)

    def __delitem__(self, name: str) -> None:
        self[name]
        del self._by_name[name]
        self._sim.model.joint(name).release(self._sim.state)
        self._be_asked()

    def __setitem__(self, name: str, motion: Motion) -> None:
        sim = self._sim
        joint = sim.model.joint(name)
        refuse_welds(joint)
        refuse_follower(joint, "motion")
        if not callable(motion):
            raise MbrosError(f"{joint._called}: motion: expected a function of time that returns (q, v, a), a Spline or a Table, got "
                             f"{short(motion)}")
        if isinstance(motion, _Samples) and (motion.q.shape[1] != joint.nq or not moves_by_polynomials(joint) or joint.nq != joint.nv):
            raise MbrosError(f"{joint._called}: {motion!r} has {motion.q.shape[1]} coordinates; expected {joint.nq}, of a joint whose "
                             "velocities are the rates of its positions; other joints take a function of time")
        sim.plant.state._check_free()
        now = self._sample(joint, motion, sim.time)
        at_start = sim.state.field("clock")[1] == 0.0
        if not at_start:
            gap = float(np.abs(joint.position(sim.state) - now[0]).max())
            if gap > APART:
                raise MbrosError(f"{joint._called}: the motion is {gap:.3g} (m or rad) away from the joint at the present {sim.time:g} s; "
                                 "expected one that begins where the joint is")
        for state in (sim.state, sim.start) if at_start else (sim.state,):
            if at_start:
                state.q[joint.q_slice] = unit(joint, now[0])
                state.v[joint.v_slice] = now[1]
            follow(joint, state, state.time, state.q[joint.q_slice].copy(), now[1], now[2])
            push_to(joint, state, now[1])
        if sim._sources is not None:
            sim._sources.leave(joint.name)
        self._by_name[joint.name], self._last[joint.name] = motion, (sim.time, now)

    def _forget(self) -> None:
        """Those whose joints are not prescribed any more."""
        for name in [name for name in self._by_name if not self._sim.model.joint(name)._is_prescribed(self._sim.state)]:
            del self._by_name[name]

    def _sample(self, joint: Joint, motion: Motion, t: float) -> tuple[Array, Array, Array]:
        who = f"{joint._called}: motion at {t:g} s"
        given = motion(t)
        if not isinstance(given, (tuple, list)) or len(given) != 3:
            raise MbrosError(f"{who}: expected (q, v, a), got {short(given)}")
        q, v, a = (vector(joint._called, f"motion at {t:g} s: {what}", x, n)
                   for what, n, x in zip(("position", "velocity", "acceleration"), (joint.nq, joint.nv, joint.nv), given))
        return np.array(unit(joint, q)), v, a

    def before_step(self, state: State, dt: float) -> None:
        """The laws of the step to come: exact at its end."""
        self._forget()
        t = next_time(state, dt)
        found = []
        for name, motion in self._by_name.items():
            joint = self._sim.model.joint(name)
            known, last = self._last.get(name, (np.nan, None))
            if last is None or known != state.time:
                last = self._sample(joint, motion, state.time)
            found.append((joint, last, self._sample(joint, motion, t)))
        for joint, last, now in found:                          # all of them are known now: no law is half given
            (q, v, a), (c3, c4) = now, bends(last, now, dt)
            follow(joint, state, t, q, v, a, c3, c4)
            self._last[joint.name] = t, now
        self._be_asked()

    def _be_asked(self) -> None:
        """The plant asks for laws at the times of its own stages, and not only for what a polynomial between two steps says."""
        if self._sim.integrator == BY_ERROR and self._asked != tuple(self._by_name):
            self._asked = tuple(self._by_name)
            joints = [self._sim.model.joint(name) for name in self._asked]
            places = [(j.q_slice.start, j.nq, j.v_slice.start, j.nv) for j in joints]
            self._sim.plant._ask_laws(LawsCallback(self, places) if places else None)

    def laws_at(self, t: float) -> list[tuple[Array, Array, Array]]:
        """(q, v, a) at time t of each joint that moves as given."""
        return [self._sample(self._sim.model.joint(name), self._by_name[name], t) for name in self._asked]


def next_time(state: State, dt: float) -> float:
    """The time after a step, as the engine counts it."""
    origin, steps = state.field("clock").tolist()
    if state.time != origin + steps * dt:
        origin, steps = state.time, 0.0
    return float(origin + (steps + 1.0) * dt)


def bends(start: tuple[Array, Array, Array], end: tuple[Array, Array, Array], h: float) -> tuple[Array, Array]:
    """(c3, c4) of the law about the end of a step for which velocity and acceleration are those of its start, too."""
    P, Q = start[1] - end[1] + h * end[2], start[2] - end[2]
    c4 = (2.0 * P / h + Q) / (4.0 * h * h)
    return (P + 4.0 * c4 * h**3) / (3.0 * h * h), c4
