"""Checking what people give to a Loop, and the sentences it answers with."""
from __future__ import annotations

import math
import operator

import numpy as np

from ..errors import MbrosError, WrongTypeError

OVERRUNS = ("skip", "stop", "stretch")
ACTIONS = ("zero", "hold", "damp")


def refuse_python(plant):
    """A plant whose joints or force elements enter Python would make the loop wait for the interpreter lock."""
    if getattr(plant, "needs_gil", False):
        raise MbrosError("the robot has a joint or force element written in Python, which cannot run in the real-time loop: "
                         "simulate it with mbros.Simulator, or write the element in Cython or C (mbros_core/user.hpp)")


def choice(name, value, allowed):
    if value not in allowed:
        raise MbrosError(f"{name}: expected one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def position(name, value, allowed):
    return allowed.index(choice(name, value, allowed))


def whole(name, value, low, high):
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongTypeError(f"{name}: expected a whole number, got {value!r}") from None
    if not low <= number <= high:
        raise MbrosError(f"{name}: expected {low} to {high}, got {value!r}")
    return number


def real(name, value):
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(f"{name}: expected a number, got {value!r:.80}") from None


def number(name, value, low, high):
    value = real(name, value)
    if not low <= value <= high:
        raise MbrosError(f"{name}: expected {low:g} to {high:g}, got {value:g}")
    return value


def step_length(dt, plant):
    """dt (s), which may be left to the plant but must not contradict it."""
    own = getattr(plant, "dt", None)
    if dt is None:
        dt = 1e-3 if own is None else own
    dt = number("dt (s)", dt, 1e-6, 10.0)
    if own is not None and not math.isclose(dt, own, rel_tol=1e-12):
        raise MbrosError(f"dt: the loop was given {dt:g} s but its plant {own:g} s")
    return dt


def real_time_factor(factor):
    factor = real("real_time_factor", factor)
    if factor == 0.0 or factor == math.inf:
        return 0.0
    if not 0.1 <= factor <= 100.0:
        raise MbrosError(f"real_time_factor: expected 0.1 to 100, or 0 or inf for as fast as possible, got {factor:g}")
    return factor


def vector(name, values, size, nan=False):
    """A contiguous array of `size` finite numbers (or NaN where that is allowed)."""
    try:
        array = np.require(np.ascontiguousarray(values, dtype=np.float64), requirements="A")
    except (TypeError, ValueError, OverflowError):
        raise MbrosError(f"{name}: expected {size} numbers, got {values!r:.80}") from None
    if array.shape != (size,):
        raise MbrosError(f"{name}: expected {size} numbers, got an array of shape {array.shape}")
    bad = np.isinf(array) if nan else ~np.isfinite(array)
    if bad.any():
        k = int(np.argmax(bad))
        raise MbrosError(f"{name}: entry {k} is {array[k]}, expected a finite number{' or NaN' if nan else ''}")
    return array


def room(name, out, size):
    """`out` itself, when `size` numbers fit into it exactly."""
    if not (isinstance(out, np.ndarray) and out.dtype == np.float64 and out.dtype.isnative and out.shape == (size,) and out.flags.carray):
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise MbrosError(f"{name}: out: expected a writable C-contiguous float64 array of {size} numbers, got {given}")
    return out


def letter(box, values, size):
    """What a mailbox takes: an array of `size` numbers that the thread can act on without looking at them again."""
    array = vector(box, values, size, nan=box == "state")
    bounds = {"pace": [(0.1 if size and array[0] else 0.0, 100.0)], "inject": [(0, 1e9), (0, 1e9), (1, 2.0**40), (-1, 2.0**40)],
              "watchdog": [(-1, 3.6e12), (0, len(ACTIONS) - 1), *[(0.0, math.inf)] * (size - 2)]}.get(box, [])
    for k, (low, high) in enumerate(bounds):
        number(f"{box}[{k}]", array[k], low, high)
    return array


def check_configuration(dt, overrun, overrun_limit, catch_up, warmup, record_every, priority, cpu, factor, records):
    """Refuse settings that the thread could not run with; Loop has checked what people gave it."""
    number("dt (s)", dt, 1e-6, 10.0)
    for name, value, high in (("overrun", overrun, len(OVERRUNS) - 1), ("overrun_limit", overrun_limit, 1 << 40),
                              ("catch_up (steps)", catch_up, 1 << 40), ("warmup", warmup, 1 << 40), ("priority", priority, 99),
                              ("record_every", record_every, 1 << 40 if records else 0)):
        whole(name, value, 0, high)
    whole("cpu", cpu, -1, 1023)
    real_time_factor(factor)


def watchdog(timeout, action, damp_gain, nv):
    """Letter [time-out ns or -1, action, damp gains] for the watchdog's mailbox."""
    letter = np.zeros(2 + nv)
    letter[0] = -1 if timeout is None else round(number("watchdog_timeout (s)", timeout, 2e-3, 3600.0) * 1e9)
    letter[1] = position("watchdog_action", action, ACTIONS)
    if action == "damp":
        if damp_gain is None:
            raise MbrosError("watchdog_action 'damp' needs damp_gain, in N m s/rad or N s/m; as a rule it should stay "
                             "well below inertia / dt of the lightest joint")
        one = getattr(damp_gain, "ndim", 0) == 0 and not isinstance(damp_gain, (list, tuple))
        gains = np.full(nv, real("damp_gain", damp_gain)) if one else damp_gain
        letter[2:] = vector("damp_gain", gains, nv)
        if (letter[2:] < 0).any():
            raise MbrosError(f"damp_gain: expected gains of 0 or more, got {letter[2:].min():g}")
    return letter


def initial_state(plant, x, size):
    """q and v of a snapshot, by the plant's layout; None when it has none."""
    layout = getattr(plant, "layout", {})
    if "q" not in layout or "v" not in layout:
        return None
    parts = [x[layout[k][0]:layout[k][0] + layout[k][1]] for k in ("q", "v")]
    state = np.concatenate(parts)
    return state if state.size == size else None


def possible(plant, what, letter, nv):
    """The letter (q, v), which the plant has looked at if it can: MbrosError where it cannot be put there."""
    if hasattr(plant, "check_state"):
        try:
            plant.check_state(letter[:letter.size - nv], letter[letter.size - nv:])
        except ValueError as e:
            raise MbrosError(f"{what}: {e}") from None
    return letter


def parameter_block(plant, given, size):
    """The whole block, from a block or from a dict of some of its parts; MbrosError for what cannot be."""
    block = whole_block(plant, given, size)
    if hasattr(plant, "check_parameters"):
        plant.check_parameters(block)
    return block


def whole_block(plant, given, size):
    if not isinstance(given, dict):
        return vector("set_parameters", given, size).copy()
    names = getattr(plant, "parameters", {})
    if not names or not hasattr(plant, "parameter_block"):
        raise WrongTypeError("set_parameters: this plant names no parameters; give the whole block")
    block = np.array(plant.parameter_block(), float)
    for name, value in given.items():
        if name not in names:
            raise MbrosError(f"set_parameters: no parameter {name!r}; there are {', '.join(names)}")
        start, count = names[name]
        block[start:start + count] = vector(f"set_parameters: {name}", np.atleast_1d(value), count)
    return block


def stop_sentence(figures, dt):
    """Why a loop ended."""
    reason = figures["stop_reason"]
    if reason == 3:
        slot, late, work, count = (figures[k] for k in ("stop_slot", "stop_late_ns", "stop_work_ns", "stop_count"))
        what = (f"its step took {work * 1e-6:.3f} ms" if work else f"it was woken {late * 1e-6:.3f} ms late")
        slots = "slot" if count == 1 else "slots"
        return (f"real time was lost in slot {slot}: {what} and {count} {slots} passed (dt {dt * 1e3:g} ms, policy 'stop'). "
                "Remedy: a longer dt, less work per step, fewer outputs, or overrun='skip'")
    return {1: "stop() was called", 2: "the slots asked for are done"}.get(reason, "the loop is running")
