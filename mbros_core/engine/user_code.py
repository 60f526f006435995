"""Joints and force elements written in Python: how the engine calls them, and what they raised meanwhile.

No exception may pass through C. mbros_core.engine._callbacks keeps it and gives NaN, which the engine notices.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbros_core.engine._callbacks import ForceCallback, JointCallback
    from mbros_core.engine._engine import Model
    from mbros_core.typing import Capsule


class CalledByEngine:
    """A joint law or force element written in Python. Subclasses make their Callback; it is made once, when the engine first asks."""

    _callback: ForceCallback | JointCallback | None = None

    def _make_callback(self) -> ForceCallback | JointCallback:
        raise NotImplementedError

    @property
    def capsule(self) -> Capsule:
        """The plug for the engine."""
        if self._callback is None:
            self._callback = self._make_callback()
        return self._callback.capsule

    @property
    def failure(self) -> BaseException | None:
        """What its code has raised while the engine called it, and was not reported yet."""
        return None if self._callback is None else self._callback.failure

    def take_failure(self) -> BaseException | None:
        """The same, reported now."""
        return None if self._callback is None else self._callback.take_failure()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_callback"}


def raised(model: Model) -> tuple[str, Exception] | None:
    """(a sentence, the exception) of the first joint or force element whose evaluation raised; it is reported once.

    Ctrl-C and sys.exit() are no failures of anybody: they go on from here. So does the BusyError of code that came back to the engine
    which was calling it.
    """
    from mbros_core.errors import BusyError

    failures = [(name, error) for name, plug in named(model) if (error := _taken(plug)) is not None]
    for _, error in failures:
        if not isinstance(error, Exception) or isinstance(error, BusyError):
            raise error
    for name, error in failures:
        assert isinstance(error, Exception)
        return f"{name} raised {type(error).__name__}: {error}", error
    return None


def _taken(plug: object) -> BaseException | None:
    return plug.take_failure() if isinstance(plug, CalledByEngine) else None


def named(model: Model) -> list[tuple[str, Any]]:
    """(how messages name it, it) for every joint and force element of a model that a user wrote."""
    from mbros_core.forces.diagnosis import describe

    spec = model.spec
    return ([(f"joint {spec.joint_names[k]!r}", plug) for k, plug in spec.user_joints.items()]
            + [(describe(model, k), plug) for k, plug in spec.user_forces.items()])
