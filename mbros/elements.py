"""Bodies and frames of a model, and lists of its parts, as people address them. Joints: mbros.joints."""
from __future__ import annotations

from collections.abc import Sequence

from mbros.names import unknown


class NamedList(Sequence):
    """An ordered collection that is indexed by position or by name."""

    def __init__(self, kind: str, model_name: str, elements):
        self._kind, self._model_name = kind, model_name
        self._elements = tuple(elements)
        self._by_name = {element.name: element for element in self._elements}

    def __getitem__(self, key):
        if isinstance(key, str):
            try:
                return self._by_name[key]
            except KeyError:
                raise unknown(self._kind, key, f"model {self._model_name!r}", self._by_name) from None
        return self._elements[key]

    def __contains__(self, key):
        return key in self._by_name if isinstance(key, str) else key in self._elements

    def __len__(self):
        return len(self._elements)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def __repr__(self):
        return f"<{len(self)} {self._kind}s: {', '.join(self._by_name)}>"


class Frame:
    """A frame fixed on a body. tags: what its author noted about it. robot: the group it came in with, "" for the model's own."""

    __slots__ = ("model", "name", "body_name", "index", "tags", "robot")

    def __init__(self, model, row):
        self.model, self.name, self.body_name, self.index = model, row.name, row.body, row.index
        self.tags, self.robot = row.tags, row.robot

    @property
    def frame_index(self) -> int:
        return self.index

    def __repr__(self):
        return f"<Frame {self.name!r} on body {self.body_name!r}>"


class Body:
    """A rigid body: mass (kg), com (3,) in body axes (m), inertia (3, 3) about the com in body axes (kg m^2)."""

    __slots__ = ("model", "name", "mass", "com", "inertia", "frame_index", "robot")

    def __init__(self, model, row):
        self.model, self.name, self.mass, self.robot = model, row.name, row.mass, row.robot
        self.com, self.inertia, self.frame_index = row.com, row.inertia, row.frame

    @property
    def frame(self) -> Frame:
        return self.model.frames[self.frame_index]

    def __repr__(self):
        return f"<Body {self.name!r}: {self.mass:g} kg>"
