"""Stiffness and damping of a bushing from what is known about it (Drake's LinearBushingRollPitchYaw, "How to choose ...").

All of it holds for rotations (k0 N m/rad, d0 N m s/rad, inertia I0 kg m^2, loads N m, deflections rad) and for translations
(kx N/m, dx N s/m, mass kg, loads N, deflections m). Arguments are numbers or arrays, one per axis, and so are results.

    k = mbros.bushing_design.stiffness_from_limit(max_load=100.0, max_deflection=1e-3)              # 1e5 N/m
    d = mbros.bushing_design.damping_from_settling(k, damping_ratio=1.0, settling_time=0.01)
    print(mbros.bushing_design.advise(k, d, inertia=2.0))
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import floats, short

from mbros.arguments import finite, number
from mbros.describe.forces import settling
from mbros.errors import MbrosError
from mbros.names import hint

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

__all__ = ["Advice", "advise", "damping_from_inertia", "damping_from_settling", "damping_ratio", "damping_ratio_from_decay",
           "dominant_pole_error", "natural_frequency", "settling_frequency", "settling_time", "stiffness_from_frequency",
           "stiffness_from_limit", "stiffness_from_test"]


def _given(zero_allowed: Iterable[str] = (), below_one: Iterable[str] = (), **values: Any) -> list[np.ndarray]:
    """The arguments as float arrays that go together; each finite and positive (or zero, or below one)."""
    arrays = []
    for name, value in values.items():
        a = _numbers(name, value)
        bad = ~np.isfinite(a) | (a < 0.0 if name in zero_allowed else a <= 0.0) | (a >= 1.0 if name in below_one else False)
        if bad.any():
            where = f"[{int(np.flatnonzero(bad)[0])}]" if a.ndim else ""
            need = ("between 0 and 1" if name in below_one else "finite and zero or more" if name in zero_allowed
                    else "finite and above zero")
            raise MbrosError(f"{name}{where} is {a[bad].flat[0] if a.ndim else a[()]}; expected a number {need}")
        arrays.append(a)
    _check_lengths(values, arrays)
    return arrays


def _numbers(name: str, value: Any) -> np.ndarray:
    a = floats(value)
    if a is None or not a.size:
        raise MbrosError(f"{name}: expected a number, or an array of them, got {short(value)}")
    return a


def _check_lengths(names: Iterable[str], arrays: Iterable[np.ndarray]) -> None:
    """MbrosError unless they have the same shape, single numbers aside."""
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(names, arrays))
        raise MbrosError(f"the arguments do not go together: {shapes}; give one number, or one per axis, of each") from None


def _out(a: Any) -> float | Array:
    if not np.isfinite(a).all():
        raise MbrosError(f"the result is {np.asarray(a)[~np.isfinite(a)][0]}: the arguments are at the end of what can be computed; "
                         "expected numbers whose squares and quotients are finite")
    return float(a) if np.ndim(a) == 0 else a


# ------------------------------------------------------------------------------------------------------ stiffness

def stiffness_from_test(load: ArrayLike, deflection: ArrayLike) -> float | Array:
    """k = load / deflection of a static experiment: a known load (either sign) and the deflection it causes (of the same sign)."""
    load, deflection = _numbers("load", load), _numbers("deflection", deflection)
    _check_lengths(("load", "deflection"), (load, deflection))
    _given(**{"load / deflection": _quotient(load, deflection)})
    return _out(load / deflection)


def _quotient(load: np.ndarray, deflection: np.ndarray) -> np.ndarray:
    if not np.all(deflection):
        raise MbrosError("deflection is 0: a test that deflects nothing says nothing about the stiffness")
    return load / deflection


def stiffness_from_limit(max_load: ArrayLike, max_deflection: ArrayLike) -> float | Array:
    """k = max_load / max_deflection: the penalty that lets a joint give no more than that (100 N at 1 mm: 1e5 N/m).

    The load has to cover gravity, applied forces and inertia forces.
    """
    max_load, max_deflection = _given(max_load=max_load, max_deflection=max_deflection)
    return _out(max_load / max_deflection)


def stiffness_from_frequency(inertia: ArrayLike, wn: ArrayLike) -> float | Array:
    """k = inertia wn^2: the penalty with which a characteristic inertia vibrates at wn (rad/s)."""
    inertia, wn = _given(inertia=inertia, wn=wn)
    return _out(inertia * wn**2)


# -------------------------------------------------------------------------------------------------------- prototype

def natural_frequency(inertia: ArrayLike, stiffness: ArrayLike) -> float | Array:
    """Undamped natural frequency wn = sqrt(k / inertia), rad/s."""
    inertia, stiffness = _given(zero_allowed=("stiffness",), inertia=inertia, stiffness=stiffness)
    return _out(np.sqrt(stiffness / inertia))


def damping_ratio(inertia: ArrayLike, stiffness: ArrayLike, damping: ArrayLike) -> float | Array:
    """zeta = d / (2 sqrt(inertia k)): below 1 it rings, at 1 it is critically damped, above it creeps."""
    inertia, stiffness, damping = _given(zero_allowed=("damping",), inertia=inertia, stiffness=stiffness, damping=damping)
    return _out(damping / (2.0 * np.sqrt(inertia * stiffness)))


def damping_ratio_from_decay(decay_ratio: ArrayLike) -> float | Array:
    """zeta of a vibration whose successive peaks are in that ratio (0..1), by its logarithmic decrement."""
    delta = -np.log(_given(below_one=("decay_ratio",), decay_ratio=decay_ratio)[0])
    return _out(np.sqrt(delta**2 / (4.0 * np.pi**2 + delta**2)))


# --------------------------------------------------------------------------------------------------------- settling

def _settled(damping_ratio: ArrayLike, ratio: ArrayLike, method: str) -> np.ndarray:
    """wn ts, elementwise."""
    if not isinstance(method, str) or method not in settling.METHODS:
        raise MbrosError(f"method: no {short(method)}{hint(method, settling.METHODS)}")
    formula, domain, holds = settling.METHODS[method]
    zeta, r = _given(below_one=("settling_ratio",), damping_ratio=damping_ratio, settling_ratio=ratio)
    zeta, r = np.broadcast_arrays(zeta, r)
    for z in zeta.flat:
        if not holds(float(z)):
            raise MbrosError(f"damping_ratio is {z}; method {method!r} is for {domain}; method 'exact' is for all")
    return np.array([formula(float(z), float(x)) for z, x in zip(zeta.flat, r.flat)]).reshape(zeta.shape)


def settling_frequency(damping_ratio: ArrayLike, settling_time: ArrayLike, settling_ratio: ArrayLike = 0.01,
                       method: str = "exact") -> float | Array:
    """wn (rad/s) with which |x| stays within settling_ratio of the equilibrium from settling_time (s) on, released at rest.

    method "exact" is right for every damping ratio. The approximations of Drake's page: "simple", "better" (underdamped), "critical"
    (near 1), "dominant_pole" (overdamped).
    """
    return _out(_settled(damping_ratio, settling_ratio, method) / _given(settling_time=settling_time)[0])


def settling_time(damping_ratio: ArrayLike, wn: ArrayLike, settling_ratio: ArrayLike = 0.01, method: str = "exact") -> float | Array:
    """The time (s) from which |x| stays within settling_ratio of the equilibrium; methods as in `settling_frequency`."""
    return _out(_settled(damping_ratio, settling_ratio, method) / _given(wn=wn)[0])


def dominant_pole_error(damping_ratio: ArrayLike, settling_ratio: ArrayLike = 0.01, of: str = "settling_time") -> float | Array:
    """Relative error of the settling time by method "dominant_pole" (times 100, the table of Drake's page), or how much "response" is
    below settling_ratio at that time."""
    if not isinstance(of, str) or of not in ("settling_time", "response"):
        raise MbrosError(f"of: expected 'settling_time' or 'response', got {short(of)}")
    _settled(damping_ratio, settling_ratio, "dominant_pole")
    zeta, r = np.broadcast_arrays(np.asarray(damping_ratio, float), np.asarray(settling_ratio, float))
    which = 0 if of == "settling_time" else 1
    errors = [settling.dominant_pole_errors(float(z), float(x))[which] for z, x in zip(zeta.flat, r.flat)]
    return _out(np.array(errors).reshape(zeta.shape))


# ---------------------------------------------------------------------------------------------------------- damping

def damping_from_settling(stiffness: ArrayLike, damping_ratio: ArrayLike, settling_time: ArrayLike, settling_ratio: ArrayLike = 0.01,
                          method: str = "exact") -> float | Array:
    """d = 2 zeta k / wn, with wn from the settling time (s), measured or chosen."""
    zeta, k = _given(damping_ratio=damping_ratio, stiffness=stiffness)
    return _out(2.0 * zeta * k / settling_frequency(zeta, settling_time, settling_ratio, method))


def damping_from_inertia(inertia: ArrayLike, stiffness: ArrayLike, damping_ratio: ArrayLike) -> float | Array:
    """d = 2 zeta sqrt(inertia k)."""
    inertia, k, zeta = _given(zero_allowed=("damping_ratio", "stiffness"), inertia=inertia, stiffness=stiffness,
                              damping_ratio=damping_ratio)
    return _out(2.0 * zeta * np.sqrt(inertia * k))


# ----------------------------------------------------------------------------------------------------------- advice

def largest_step(inertia: ArrayLike, stiffness: ArrayLike, damping: ArrayLike) -> float | Array:
    """The time step (s) up to which a step with explicit forces can follow the axis: with a = d / inertia, w^2 = k / inertia

        h = 2 / (a + sqrt(a^2 + w^2)),   which is 2 / w without damping and inertia / d without a spring;

    infinite without either. Of a midpoint step with explicit forces it is the limit of stability; the midpoint step is implicit before
    that. semi_implicit_euler, which does not extrapolate the velocity of its middle, takes twice the damper and is unstable beyond.
    """
    m, k, d = _given(zero_allowed=("stiffness", "damping"), inertia=inertia, stiffness=stiffness, damping=damping)
    a = d / m
    with np.errstate(divide="ignore"):
        step = 2.0 / (a + np.sqrt(a**2 + k / m))
    return float(step) if np.ndim(step) == 0 else step          # infinite, too


@dataclass(frozen=True)
class Advice:
    """What constants mean, an array entry per axis. Print it.

    natural_frequency rad/s, damping_ratio (nan on an axis without a spring), settling_time s (infinite where it never
    settles), largest_step s (with explicit forces: semi_implicit_euler, rk4, elements of one's own), suggested_step s (one for all
    axes: what resolves the motion), deflection (rad or m under `load`; None without), notes: sentences.
    """

    stiffness: np.ndarray
    damping: np.ndarray
    inertia: np.ndarray
    natural_frequency: np.ndarray
    damping_ratio: np.ndarray
    settling_ratio: float
    settling_time: np.ndarray
    largest_step: np.ndarray
    suggested_step: float
    deflection: np.ndarray | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        head: tuple[str, ...] = ("axis", "k", "d", "inertia", "wn rad/s", "zeta", f"ts({self.settling_ratio:g}) s", "explicit dt")
        columns = [self.stiffness, self.damping, self.inertia, self.natural_frequency, self.damping_ratio, self.settling_time,
                   self.largest_step]
        if self.deflection is not None:
            head, columns = (*head, "deflection"), [*columns, self.deflection]
        lines = ["".join(f"{word:>12}" for word in head)]
        lines += [f"{i:>12}" + "".join(f"{x:>12.4g}" for x in row) for i, row in enumerate(zip(*columns))]
        return "\n".join([*lines, f"suggested time step: {self.suggested_step:.3g} s resolves all axes", *self.notes])


def advise(stiffness: ArrayLike, damping: ArrayLike, inertia: ArrayLike, load: ArrayLike | None = None, settling_ratio: float = 0.01,
           steps_per_limit: float = 10) -> Advice:
    """What these constants do to that inertia, axis by axis: frequency, damping ratio, settling time, time step, deflection.

    The suggested step resolves the motion: largest_step over `steps_per_limit`, which is 31 steps a swing, and not more than 1 ms. The
    default integrator, midpoint, is stable at any step; what it does not resolve it damps (docs/integrators.md). Others are not.
    """
    k, d, m = (np.atleast_1d(a) for a in _given(zero_allowed=("stiffness", "damping"), stiffness=stiffness, damping=damping,
                                                inertia=inertia))
    _given(below_one=("settling_ratio",), settling_ratio=number("advise", "settling_ratio", settling_ratio))
    _given(steps_per_limit=number("advise", "steps_per_limit", steps_per_limit))
    if load is not None:
        load = finite("advise", "load", _numbers("load", load))
        _check_lengths(("load", "stiffness", "damping", "inertia"), (load, k, d, m))
    k, d, m = np.broadcast_arrays(k, d, m)
    if k.ndim > 1:
        raise MbrosError(f"advise: expected one number for each axis, got shape {k.shape}")
    wn = np.sqrt(k / m)
    with np.errstate(divide="ignore", invalid="ignore"):
        zeta = np.where(k > 0.0, d / (2.0 * np.sqrt(m * np.where(k > 0.0, k, 1.0))), np.nan)
        deflection = None if load is None else np.where(k > 0.0, np.abs(load) / k, np.inf)
    times = np.array([settling.exact(z, settling_ratio) / w if z > 0.0 else np.inf for z, w in zip(zeta, wn)])
    limit = np.atleast_1d(largest_step(m, k, d))
    return Advice(k, d, m, wn, zeta, settling_ratio, times, limit, float(min(1e-3, limit.min() / steps_per_limit)), deflection,
                  (*(note for i in range(len(k)) for note in _notes(i, k[i], d[i], zeta[i])),
                   *(note for i in range(len(k)) for note in _beyond(i, limit[i]))))


def _beyond(axis: int, limit: float) -> Iterator[str]:
    """Of an axis that a step of 1 ms does not take explicitly."""
    if limit < 1e-3:
        yield (f"axis {axis}: steps above {limit:.2g} s do not resolve it: midpoint (the default) takes it implicitly, stable at any step, "
               "and damps its swings; semi_implicit_euler and rk4 are explicit here and blow up.")


def _notes(axis: int, k: float, d: float, zeta: float) -> Iterator[str]:
    if k == 0.0:
        yield f"axis {axis} has no spring: it is free" + (", slowed by its damper." if d else ".")
    elif d == 0.0:
        yield f"axis {axis} has no damper: it rings for ever. For critical damping: damping_from_inertia(inertia, k, 1.0)."
    elif zeta < 0.7:
        yield f"axis {axis} rings (zeta {zeta:.3g}): successive peaks shrink to {np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2)):.2g}."
    elif 1.0 <= zeta < 1.1:
        yield (f"axis {axis} is near critical damping (zeta {zeta:.3g}): the critical table of Drake's page holds, 'dominant_pole' "
               "does not yet.")
    elif zeta >= 2.0:
        yield f"axis {axis} creeps back (zeta {zeta:.3g}): less damping settles sooner and allows larger steps."
