"""Named positions of a model, as its files have them."""
from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from mbros.errors import unknown
from mbros.model.frozen import frozen

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array


class Keyframes(dict[str, "Array"]):
    """Positions q (nq,) by name, which cannot be written to."""

    def __init__(self, of: str, given: dict[str, Array]) -> None:
        super().__init__(given)
        self._of = of

    def __missing__(self, name: object) -> NoReturn:
        raise unknown("keyframe", name, f"model {self._of!r}", list(self))


def keyframes(model: Model) -> Keyframes:
    """model.keyframes: what its description has, over the default positions."""
    found = {}
    for name, positions in model._description.keyframes.items():
        q = model.default_state().q.copy()
        for joint in model.joints:
            if joint.name in positions and joint.nq and not joint.follows:
                q[joint.q_slice] = positions[joint.name]
        found[name] = frozen(q)
    return Keyframes(model.name, found)
