"""What a user says of touching: collision shapes with their numbers, the ground, and what does not touch what.

    b.add_collision(ball, mbros.shapes.sphere(0.1), friction=0.5)
    b.add_ground(height=0.0, friction=0.8);  mbros.load("quadruped", ground=mbros.Ground(friction=0.8))
    b.exclude_contact("left_knee", "right_knee")

The numbers are those of mbros_core.constraints.registry; None is "not given". docs/shapes.md has the rules.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.constraints.registry import CONTACT_NUMBERS
from mbros_core.support.numbers import floats, short

from mbros.arguments import check_name, numbers, refuse
from mbros.describe.joints.classes import attachment
from mbros.describe.robot import BodyDescription, Collision, Exclusion, Geometry
from mbros.describe.shapes import half_space, height_field
from mbros.errors import MbrosError
from mbros.spatial.given import placement

if TYPE_CHECKING:
    from mbros.describe.joints.classes import Place
    from mbros.describe.robot import RobotDescription
    from typing import TypeAlias

    from mbros.names import PoseLike
    from mbros_core.typing import ArrayLike

    GroundLike: TypeAlias = "bool | float | Ground | tuple[ArrayLike, ArrayLike] | None"

FLOOR = "floor"             # the name of a ground that is given none
FARTHEST = 1e6              # m, of a shape from its body
NUMBERS = tuple(number.name for number in CONTACT_NUMBERS)


@dataclass(frozen=True, eq=False)
class Ground:
    """The ground of a world: solid below z = height (m), or below heights (nx, ny) on top of it, over a rectangle of `size` (2,) about the
    origin. The other numbers are those of a shape in contact (docs/shapes.md); None: the default."""

    height: float = 0.0
    friction: float | None = None
    stiffness: float | None = None
    relaxation_time: float | None = None
    static_friction: float | None = None
    torsional_radius: float | None = None
    rolling_radius: float | None = None
    heights: ArrayLike | None = None
    size: ArrayLike | None = None

    @classmethod
    def given(cls, who: str, ground: Any) -> Ground | None:
        """The ground that a user asked for: True, a height, a Ground, or (heights, size); None from False and None."""
        if ground is None or isinstance(ground, cls):
            return ground
        if isinstance(ground, (bool, np.bool_)):
            return cls() if ground else None
        if isinstance(ground, (tuple, list)) and len(ground) == 2:
            heights = floats(ground[0])
            if heights is not None and heights.ndim == 2:
                return cls(heights=heights, size=ground[1])
        height = floats(ground)
        if height is None or height.ndim or not np.isfinite(height):
            raise MbrosError(f"{who}: ground: expected True, a height in metres, a mbros.Ground, or (heights, size) of a height field, got "
                             f"{short(ground)}")
        return cls(height=float(height))


def contact_numbers(element: str, given: Mapping[str, Any]) -> dict[str, float]:
    """Those of the numbers of a shape in contact that are given, checked. element: how errors call it."""
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        number = float(numbers(element, name, value, 1)[0])
        if number < 0.0 or name == "stiffness" and number == 0.0:
            refuse(element, f"{name} is {number:g}", "It must be positive." if name == "stiffness" else "It must be zero or positive.")
        found[name] = number
    return found


def add_collision(description: RobotDescription, at: Place, geometry: Any, X_BG: PoseLike | None = None, *,
                  name: str | None = None, group: str | None = None, **given: Any) -> Collision:
    """ModelBuilder.add_collision."""
    label = f"shape {short(name)}" if name is not None else "a collision shape"
    body, X = attachment(label, "body", at, description)
    label = label if name is not None else f"a collision shape of body {body.name!r}"
    if not any(body is mine for mine in (description.world, *description.bodies)):
        refuse(label, f"body {body.name!r} belongs to another builder", "Give a body of this one.")
    if not isinstance(geometry, Geometry):
        refuse(label, f"its geometry is {short(geometry)}", "Give one of mbros.shapes, such as mbros.shapes.sphere(0.1).")
    for what, text in (("shape", name), ("group", group)):
        if text is not None:
            check_name(what, text)
    if name is not None and any(shape.name == name for other in (description.world, *description.bodies) for shape in other.collisions):
        refuse(label, "this name is already taken", "Give every shape a name of its own.")
    if X_BG is not None:
        p = floats(X_BG)
        X = X @ (placement(label, p=p) if p is not None and p.shape == (3,) else placement(label, pose=X_BG))
    if np.abs(X.p).max() > FARTHEST:
        refuse(label, f"it is at ({', '.join(f'{x:g}' for x in X.p)}) m", f"Put it within {FARTHEST:g} m of its body.")
    shape = Collision(geometry, X, name or "", group=group or "")
    for number, value in contact_numbers(label, given).items():
        setattr(shape, number, value)
    body.collisions.append(shape)
    description.collisions = True
    return shape


def add_ground(description: RobotDescription, ground: Ground, name: str = FLOOR) -> Collision:
    """The ground as a shape of the description's world."""
    element = f"ground {short(name)}"
    height = float(numbers(element, "height", ground.height, 1)[0])
    if (ground.heights is None) != (ground.size is None):
        refuse(element, f"it has {'size' if ground.heights is None else 'heights'} alone",
               "Give a height field both: heights (nx, ny) and size (2,).")
    geometry = half_space() if ground.heights is None or ground.size is None else height_field(ground.heights, ground.size)
    return add_collision(description, description.world, geometry, (0.0, 0.0, height), name=name,
                         **{number: getattr(ground, number) for number in NUMBERS})


def exclude(description: RobotDescription, a: Any, b: Any) -> None:
    """ModelBuilder.exclude_contact."""
    for end in (a, b):
        if not isinstance(end, (str, BodyDescription, Collision)):
            refuse(f"model {description.name!r}", f"exclude_contact() was given {short(end)}",
                   "Give bodies or shapes, themselves or their names.")
    description.exclusions.append(Exclusion(a, b))


def wanted(description: RobotDescription) -> bool:
    """Whether a model made of it has collision shapes."""
    return bool(description.collisions)


def set_collisions(description: RobotDescription, who: str, ground: Any, collisions: bool | None) -> None:
    """What `ground` and `collisions` of load and ModelBuilder ask for. collisions=False: no shapes, so a ground is refused."""
    if collisions is not None and not isinstance(collisions, (bool, np.bool_)):
        raise MbrosError(f"{who}: collisions: expected True, False or None, got {short(collisions)}")
    found = Ground.given(who, ground)
    if found is not None:
        if collisions is not None and not collisions:
            raise MbrosError(f"{who}: a ground was asked for together with collisions=False, which leaves all shapes out: leave one away")
        if any(shape.name == FLOOR for shape in description.world.collisions):
            refuse(who, f"a ground was asked for, and {description.name!r} has one already", "Leave it out, or change the one in the file.")
        add_ground(description, found)
    if collisions is not None:
        description.collisions = bool(collisions)


__all__ = ["FLOOR", "NUMBERS", "Ground", "add_collision", "add_ground", "contact_numbers", "exclude", "set_collisions", "wanted"]
