"""The engine's exceptions and the sentences in them."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.engine.fields import FIELDS
from .joints.registry import row_of
from mbros_core.support.numbers import short
from mbros_core.engine.user_code import raised

if TYPE_CHECKING:
    from mbros_core.engine._engine import Dynamics, Model, State

OF_CONFIGURATIONS = ("integrate", "difference", "normalize", "velocity_to_qdot", "qdot_to_velocity")    # masses have no part in these


class MbrosError(ValueError):
    """Everything mbros refuses is a ValueError of this family (mbros.errors has the rest of it)."""


class NotBuiltError(MbrosError, ModuleNotFoundError):
    """A compiled module is not where Python found this package."""


class NonFiniteError(MbrosError):
    """A result would not have been finite: which input was the cause. Nothing has been returned or changed."""


class GimbalLockError(NonFiniteError):
    """A bushing's pitch angle is so near +-90 degrees that its roll and yaw have no meaning. `elements`: indices of the
    force elements at lock."""

    def __init__(self, text: str, elements: Iterable[int] = ()) -> None:
        super().__init__(text)
        self.elements = list(elements)


class WrongTypeError(MbrosError, TypeError):
    """Something of another kind was given than was expected."""


class StateError(WrongTypeError):
    """Something that is no State of this model was given where one was expected."""


class CoordinateIndexError(MbrosError, IndexError):
    """There is no coordinate, frame or element of that number."""


class UnknownNameError(MbrosError, KeyError):
    """A name that nothing has; the text says what was probably meant."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class FrozenSpecError(MbrosError, AttributeError):
    """The spec of a built model was asked to change."""


class NoMemoryError(MbrosError, MemoryError):
    """The machine has no memory for what was asked."""


def state_error(who: str, model: Model | None, state: object) -> StateError:
    """For what is no state of `model` (of any model, for None), in words."""
    owner: Any = getattr(state, "model", None)
    if not hasattr(owner, "name") or not hasattr(state, "set_q"):
        given = short(state)
    elif model is not None and owner.name == model.name:
        given = "a state of another model of that name"
    else:
        given = f"a state of model {owner.name!r}"
    expected = "a state" if model is None else f"a state of model {model.name!r}"
    return StateError(f"{who}: {given} was given where {expected} was expected; model.default_state() makes one")


class FaultError(MbrosError, RuntimeError):
    """A simulation step would have left the finite numbers. The last good state is kept until a reset."""


class BusyError(MbrosError, RuntimeError):
    """That memory is in use now: by a real-time loop, or a call in another thread."""


class LoopError(MbrosError, RuntimeError):
    """A real-time loop cannot do that now: it runs, it does not, it is in fault, it belongs to another process."""


class LoopTimeoutError(TimeoutError, MbrosError):
    """A real-time loop did not do in time what was asked: the plant's step, an input or an output hangs."""


class SystemRefusedError(OSError, MbrosError):
    """The operating system would not give a real-time loop its thread, or a simulation the memory that it shares; `errno` says why."""

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class PrivilegeError(PermissionError, MbrosError):
    """Real-time rights were required and not granted; the text says which, and how to get them."""


def inputs_of(state: State, name: str = "", given: object = None) -> dict[str, Any]:
    """What a result depends on, for explain_not_finite: q, v, gravity, the vector `given` by that name; the other inputs and
    parameters where they are not finite."""
    inputs = {"q": state.q, "v": state.v, "gravity": state.gravity, **({name: given} if name else {})}
    for row in FIELDS:
        if row.stage in ("input", "parameter") and row.name not in inputs and not np.isfinite(state.field(row.name)).all():
            inputs[row.name] = state.field(row.name)
    return inputs


def explain_not_finite(model: Dynamics, what: str, inputs: Mapping[str, Any]) -> str:
    """Why `what` (an algorithm) gave a result that is not finite: the first input number that is not, with its owner; else the force
    element or the rotation of zeros that is the cause; else where to look. Raises for users' Python code that raised."""
    what = what.removeprefix("frame_")          # the name of the model's method
    failed = raised(model)
    if failed is not None:
        raise NonFiniteError(f"{what} of model {model.name!r}: {failed[0]}. Nothing was changed") from failed[1]
    for name, array in inputs.items():
        flat = np.asarray(array, float).reshape(-1)
        bad = np.flatnonzero(~np.isfinite(flat))
        if bad.size:
            where = [int(k) for k in np.unravel_index(bad[0], np.shape(array))]
            return (f"{what} of model {model.name!r}: {name}{where}{owner(model, name, array, where[0])} is {flat[bad[0]]}; expected a "
                    "finite number. Nothing was changed")
    cause = _force_element(model, what, inputs)
    if cause:
        return cause
    quaternion = zero_rotation(model, inputs)
    if quaternion:
        return f"{what} of model {model.name!r}: {quaternion}. Nothing was changed"
    largest = max((float(np.abs(np.asarray(a, float)).max(initial=0.0)), name) for name, a in inputs.items())
    return (f"{what} of model {model.name!r}: the result is not finite although every input is; the largest input is "
            f"{largest[1]} with {largest[0]:g}. Look for " + ("" if what in OF_CONFIGURATIONS else
            "a body that can move but has neither mass nor rotor inertia behind its joint, or for ") + "numbers beyond 1e150")


def rotations(model: Model) -> Iterator[tuple[str, slice]]:
    """(joint name, slice of q) of every quaternion and (cos, sin) of the model; users' joints know their own."""
    at = 0
    for i, leader in enumerate(model.spec.leader):
        if leader < 0:
            row = row_of(model.spec, i)
            unit = [k for k, unit in enumerate(row.position_units) if unit == "" and row.name != "user"]
            if unit:
                yield model.spec.joint_names[i], slice(at + unit[0], at + unit[-1] + 1)
            at += row.nq


def called(part: slice) -> str:
    """What the run of coordinates is called."""
    return "quaternion" if part.stop - part.start == 4 else "(cos, sin)"


def owner(model: Model, name: str, array: Any, row: int) -> str:
    """Whose number row `row` of an input is, in brackets."""
    kind, names = {"external_force": ("body", model.spec.body_names), "inertia": ("body", model.spec.body_names),
                   "force_parameters": ("force element", model.spec.force_names), "contact_parameters": ("shape", model.spec.shape_names),
                   "constraint_parameters": ("constraint", model.spec.constraint_names),
                   "contact_memory": ("", ()), "gravity": ("", ()), "time": ("", ()),
                   "clock": ("", ())}.get(
        name, ("joint", model.position_names if name.startswith("q") else model.velocity_names))
    return f" ({kind} {names[row]!r})" if len(names) == len(array) else ""


def zero_rotation(model: Model, inputs: Mapping[str, Any]) -> str:
    """Which joint's quaternion or (cos, sin) is all zeros, or so small that its square is, in the inputs q (..., nq); or ""."""
    for name, array in inputs.items():
        q = np.asarray(array, float)
        if not name.startswith("q") or q.shape[-1:] != (model.nq,):
            continue
        for joint, part in rotations(model):
            bad = np.argwhere(np.abs(q[..., part]).max(-1) < 1e-150)
            if len(bad):
                where = "".join(f"{k}, " for k in bad[0]) + f"{part.start}:{part.stop}"
                return (f"the {called(part)} of joint {joint!r}, {name}[{where}] = {q[tuple(bad[0])][part].tolist()}, has no "
                        "direction, so it is no rotation")
    return ""


def _force_element(model: Dynamics, what: str, inputs: Mapping[str, Any]) -> str:
    """The sentence about a force element that failed, or "". Raises GimbalLockError for a bushing at lock."""
    if not len(model.spec.force_kind) or "q" not in inputs or "v" not in inputs:
        return ""
    from .forces.diagnosis import cause

    found = cause(model, np.asarray(inputs["q"], float), np.asarray(inputs["v"], float))
    if found is None:
        return ""
    text = f"{what} of model {model.name!r}: {found[0]}"
    if found[1]:
        raise GimbalLockError(text, found[1])
    return text
