"""Checks of the arguments of a Loop, in the words of mbros_core.support.given, and its error messages."""
from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MbrosError, WrongTypeError
from mbros_core.support.given import LONGEST_STEP, any_number, choice, count, number, vector
from mbros_core.support.numbers import short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mbros_core.typing import Array, ArrayLike

WHO = "Loop"
OVERRUNS = ("skip", "stop", "stretch")
ACTIONS = ("zero", "hold", "damp")
POLICIES = ("wait", "hold", "stop")             # of a gate whose answer is late (turns.pxd)
SHORTEST_STEP = 1e-6            # s


def refuse_python(plant: Any) -> None:
    """A plant whose joints or force elements enter Python would make the loop wait for the interpreter lock."""
    if getattr(plant, "needs_gil", False):
        raise MbrosError("the robot has a joint or force element written in Python, which cannot run in the real-time loop: "
                         "simulate it with mbros.Simulator, or write the element in Cython or C (mbros_core/user.hpp)")


def position(what: str, value: Any, allowed: Sequence[str]) -> int:
    """The number of a word."""
    return allowed.index(choice(WHO, what, value, allowed))


def truth(what: str, value: bool) -> bool:
    return bool(choice(WHO, what, value, (True, False)))


def several(what: str, ports: Any) -> tuple[Any, ...]:
    """A tuple of inputs or outputs."""
    try:
        return tuple(ports)
    except TypeError:
        raise WrongTypeError(f"{WHO}: {what}: expected a list of them, got {short(ports)}") from None


def check_gate(ports: tuple[Any, ...], gate: object) -> None:
    """Warn of shared memory in lockstep without its gate: the loop waits for nobody, and takes none of its commands."""
    shared = sys.modules.get("mbros_core.realtime._shared")
    if gate is None and shared is not None and any(shared.waits(port) for port in ports):
        warnings.warn(f"{WHO}: it shares memory in lockstep and is given no gate, so that it waits for nobody and takes no command: "
                      "Loop(..., gate=door.gate)", RuntimeWarning, stacklevel=3)


def step_length(dt: float | None, plant: Any) -> float:
    """dt (s), which may be left to the plant but must not contradict it."""
    own = getattr(plant, "dt", None)
    if dt is None:
        dt = 1e-3 if own is None else own
    dt = number(WHO, "dt", dt, SHORTEST_STEP, LONGEST_STEP, "s")
    if own is not None and not math.isclose(dt, own, rel_tol=1e-12):
        raise MbrosError(f"{WHO}: dt is {dt:g} s, and that of its plant {own:g} s; expected the same, or None for the plant's")
    return dt


def patience(timeout: float) -> float:
    """How long to wait, s; inf: for good."""
    timeout = any_number(WHO, "timeout", timeout)
    if not timeout >= 0.0:
        raise MbrosError(f"{WHO}: timeout is {timeout:g}; expected zero or more seconds")
    return timeout


def real_time_factor(factor: float) -> float:
    factor = any_number(WHO, "real_time_factor", factor)
    if factor == 0.0 or factor == math.inf:
        return 0.0
    if not 0.1 <= factor <= 100.0:
        raise MbrosError(f"{WHO}: real_time_factor is {factor:g}; expected 0.1 to 100, or 0 or inf for as fast as possible")
    return factor


def in_memory(array: Array) -> Array:
    """The numbers as the thread's side reads them: contiguous and aligned."""
    return np.require(array, requirements=("C", "A"))


def letter(box: str, values: ArrayLike, size: int) -> Array:
    """What a mailbox takes: an array of `size` numbers that the thread can act on without looking at them again."""
    array = in_memory(vector(WHO, box, values, size, nan=box == "state"))
    bounds: dict[str, list[tuple[float, float]]] = {
        "pace": [(0.1 if size and array[0] else 0.0, 100.0)], "inject": [(0, 1e9), (0, 1e9), (1, 2.0**40), (-1, 2.0**40)],
        "watchdog": [(-1, 3.6e12), (0, len(ACTIONS) - 1), *[(0.0, math.inf)] * (size - 2)]}
    for k, (low, high) in enumerate(bounds.get(box, [])):
        number(WHO, f"{box}[{k}]", array[k], low, high)
    return array


def check_configuration(dt: float, overrun: int, overrun_limit: int, catch_up: int, warmup: int, record_every: int, priority: int, cpu: int,
                        factor: float, records: bool) -> None:
    """Refuse settings that the thread could not run with; Loop has checked its arguments."""
    number(WHO, "dt", dt, SHORTEST_STEP, LONGEST_STEP, "s")
    for name, value, high in (("overrun", overrun, len(OVERRUNS) - 1), ("overrun_limit", overrun_limit, 1 << 40),
                              ("catch_up", catch_up, 1 << 40), ("warmup", warmup, 1 << 40), ("priority", priority, 99),
                              ("record_every", record_every, 1 << 40 if records else 0)):
        count(WHO, name, value, most=high)
    count(WHO, "cpu", cpu, least=-1, most=1023)
    real_time_factor(factor)


def watchdog(timeout: float | None, action: str, damp_gain: ArrayLike | None, nv: int, size: int) -> Array:
    """Letter [time-out ns or -1, action, damp gains] for the watchdog's mailbox. size: of a command, of which nv are efforts."""
    letter = np.zeros(2 + size)
    letter[0] = -1 if timeout is None else round(number(WHO, "watchdog_timeout", timeout, 2e-3, 3600.0, "s") * 1e9)
    letter[1] = position("watchdog_action", action, ACTIONS)
    if damp_gain is None and action == "damp":
        raise MbrosError(f"{WHO}: watchdog_action 'damp' needs damp_gain, in N m s/rad or N s/m; as a rule it should stay "
                         "well below inertia / dt of the lightest joint")
    if damp_gain is not None:
        one = getattr(damp_gain, "ndim", 0) == 0 and not isinstance(damp_gain, (list, tuple))
        gains = np.full(nv, any_number(WHO, "damp_gain", damp_gain)) if one else damp_gain
        letter[2:2 + nv] = vector(WHO, "damp_gain", gains, nv, 0.0)
    return letter


def watched_by(groups: ArrayLike | None, nv: int, size: int) -> NDArray[np.intc] | None:
    """Which watchdog looks after each number of a command of `size`; groups: after each of its nv coordinates, -1: none."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (nv,) or given.dtype.kind not in "iu" or (nv and not -1 <= given.min() <= given.max() < nv):
        raise MbrosError(f"{WHO}: watchdogs: expected one whole number, -1 or the watchdog's, for each of {nv} velocities, got "
                         f"{short(groups)}")
    found = np.full(size, -1, np.intc)              # a plant's own say may follow whole rows of coordinates: nobody's
    whole = size - size % nv if nv else 0
    found[:whole] = np.tile(given, size // nv if nv else 0)
    return found


def initial_state(plant: Any, x: Array, size: int) -> Array | None:
    """q and v of a snapshot, by the plant's layout; None when it has none."""
    layout = getattr(plant, "layout", {})
    if "q" not in layout or "v" not in layout:
        return None
    parts = [x[layout[k][0]:layout[k][0] + layout[k][1]] for k in ("q", "v")]
    state = np.concatenate(parts)
    return state if state.size == size else None


def possible(plant: Any, what: str, letter: Array, nv: int) -> Array:
    """The letter (q, v), which the plant has looked at if it can: MbrosError where it cannot be put there."""
    if hasattr(plant, "check_state"):
        try:
            plant.check_state(letter[:letter.size - nv], letter[letter.size - nv:])
        except ValueError as e:
            raise MbrosError(f"{what}: {e}") from None
    return letter


def parameter_block(plant: Any, given: Any, size: int) -> Array:
    """The whole block, from a block or from a dict of some of its parts; MbrosError for what cannot be."""
    block = whole_block(plant, given, size)
    if hasattr(plant, "check_parameters"):
        plant.check_parameters(block)
    return block


def whole_block(plant: Any, given: Any, size: int) -> Array:
    if not isinstance(given, dict):
        return vector("set_parameters", "block", given, size).copy()
    names = getattr(plant, "parameters", {})
    if not names or not hasattr(plant, "parameter_block"):
        raise WrongTypeError("set_parameters: this plant names no parameters; give the whole block")
    block = np.array(plant.parameter_block(), float)
    for name, value in given.items():
        if name not in names:
            raise MbrosError(f"set_parameters: no parameter {name!r}; there are {', '.join(names)}")
        start, size = names[name]
        block[start:start + size] = vector("set_parameters", name, value, size)
    return block


def stop_sentence(figures: dict[str, Any], dt: float) -> str:
    """Why a loop ended."""
    reason = figures["stop_reason"]
    if reason == 3:
        slot, late, work, count = (figures[k] for k in ("stop_slot", "stop_late_ns", "stop_work_ns", "stop_count"))
        what = (f"its step took {work * 1e-6:.3f} ms" if work else f"it was woken {late * 1e-6:.3f} ms late")
        slots = "slot" if count == 1 else "slots"
        return (f"real time was lost in slot {slot}: {what} and {count} {slots} passed (dt {dt * 1e3:g} ms, policy 'stop'). "
                "Remedy: a longer dt, less work per step, fewer outputs, or overrun='skip'")
    return {1: "stop() was called", 2: "the slots asked for are done"}.get(reason, "the loop is running")
