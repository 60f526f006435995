from collections.abc import Sequence
from typing import Any

from mbros_core.geometry import Shape
from mbros_core.spec import ModelSpec

MOST_LISTED: int
TOLERANCE: float
MOST_ITERATIONS: int
PLACES: dict[str, int]

def partners(spec: ModelSpec) -> list[set[int]]: ...
def pairs_of(spec: ModelSpec, never: list[set[int]]) -> list[tuple[int, int]] | None: ...
def room_for(spec: ModelSpec) -> int: ...
def longest_branch(body: Sequence[int], tree: tuple[list[int], ...], never: list[set[int]]) -> int: ...

class Bytes:
    def __new__(cls, size: int) -> Bytes: ...

class Scene:
    shapes: tuple[Shape, ...]
    capsule: Any
    def __new__(cls, spec: ModelSpec, tree: tuple[list[int], ...], before: list[int], shared: bool) -> Scene: ...
    @property
    def rows(self) -> int: ...
    def workspace(self, lanes: int) -> Workspace: ...

class Workspace:
    scene: Scene
    capsule: Any
    def __new__(cls, scene: Scene, lanes: int) -> Workspace: ...
