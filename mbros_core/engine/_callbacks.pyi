from collections.abc import Iterable
from typing import Protocol

from mbros_core.typing import Array, ArrayLike, Capsule

FORCE: str
JOINT: str
LAWS: str

class _Force(Protocol):
    def evaluate_numbers(self, X: Array, V: Array, /) -> tuple[ArrayLike, ArrayLike]: ...

class _Joint(Protocol):
    def evaluate_numbers(self, q: Array, v: Array, /) -> ArrayLike: ...

class _Laws(Protocol):
    def laws_at(self, t: float, /) -> Iterable[tuple[ArrayLike, ArrayLike, ArrayLike]]: ...

class Callback:
    """A Python object whose methods the engine calls, and the exception of the one that raised."""
    @property
    def failure(self) -> BaseException | None: ...
    def take_failure(self) -> BaseException | None:
        """The exception that is kept, or None; it is reported once."""

class ForceCallback(Callback):
    """A mbros_user_force that calls owner.evaluate_numbers(X (12,), V (6,)) -> (wrench (6,), three numbers)."""
    def __init__(self, owner: _Force) -> None: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the engine; it keeps this object alive."""

class JointCallback(Callback):
    """A mbros_user_joint that calls owner.evaluate_numbers(q, v) -> 12 + 6 nv + 6 numbers, and with `maps` owner.qdot(q, v) and the
    other four."""
    def __init__(self, owner: _Joint, nq: int, nv: int, maps: bool) -> None: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the engine; it keeps this object alive."""

class LawsCallback(Callback):
    """Laws of motion (integrators/laws.pxd) that call owner.laws_at(t) -> (q, v, a) of each joint in turn.

    places: (iq, nq, iv, nv) of each joint. Whatever is raised is kept until take_failure(), and the numbers are NaN."""
    def __init__(self, owner: _Laws, places: Iterable[tuple[int, int, int, int]]) -> None: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the engine; it keeps this object alive."""

def is_capsule(thing: object, name: str) -> bool:
    """Whether it is a PyCapsule of that name, FORCE or JOINT."""
def joint_facts(capsule: Capsule) -> tuple[int, int, bool]:
    """(nq, nv, whether it has configuration maps) of the struct in a capsule named JOINT."""
