from collections.abc import Sequence
from typing import Any

from mbros_core.geometry import Shape
from mbros_core.spec import ModelSpec

MOST_LISTED: int
TOLERANCE: float
PLACES: dict[str, int]

def partners(spec: ModelSpec) -> list[set[int]]:
    """Of every shape, the set of shapes of other bodies with a larger number that it may never touch, as the spec excludes them; those of
    its own body, which it never touches either, may be many, and are nowhere listed.

    Shapes without a surface of their own (half-space, height field) do not touch each other."""
def shapes_of_bodies(spec: ModelSpec) -> list[list[int]]:
    """The numbers of the shapes of each body that has some."""
def touching(spec: ModelSpec, never: list[set[int]]) -> int:
    """How many pairs may touch."""
def pairs_of(spec: ModelSpec, never: list[set[int]]) -> list[tuple[int, int]] | None:
    """The pairs that may touch, (n, 2); None where there are more than MOST_LISTED."""
def room_for(spec: ModelSpec, never: list[set[int]]) -> int:
    """Most contact points of a step."""
def longest_branch(body: Sequence[int], tree: tuple[list[int], ...]) -> int:
    """Most coordinates that two of these bodies have together on their ways to the root; two at least, for a coupler."""

class Bytes:
    """Zeroed memory that is put into pieces of 64 bytes."""
    def __new__(cls, size: int) -> Bytes: ...

class Scene:
    """The shapes and constraints of a spec on the engine's tree. tree: (parent, iv, dofs, column) of the bodies, `before` of the
    coordinates, the number of positions, and whether joints share coordinates, as constraints/robot.pxd says."""
    shapes: tuple[Shape, ...]
    capsule: Any
    def __new__(cls, spec: ModelSpec, tree: tuple[list[int], ...], before: list[int], nq: int, shared: bool) -> Scene: ...
    @property
    def rows(self) -> int:
        """Rows of a state's memory of contacts: the head, one for each contact point, each constraint, and each force element that may be
        stiff."""
    def workspace(self, lanes: int, slopes: bool = False) -> Workspace:
        """Memory for one state of so many lanes. slopes: for derivatives, too."""

class Workspace:
    """What a step with contacts works in: memory for one state of so many lanes, and no more."""
    scene: Scene
    capsule: Any
    def __new__(cls, scene: Scene, lanes: int, slopes: bool = False) -> Workspace: ...
    def poison(self) -> None:
        """NaN into every number that a step writes before it reads it, for tests."""
