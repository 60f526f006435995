"""mbros.chain(n): serial chains of any length, for tests and benchmarks."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.available import amount, memory_available

from mbros.arguments import count, flag
from mbros.errors import NoMemoryError
from mbros.describe.robot import GRAVITY
from mbros.spatial.inertia import rotate, solid_cylinder, solid_ellipsoid
from mbros.spatial.placement import rotation_from_rpy

if TYPE_CHECKING:
    from mbros import Model, ModelBuilder
    from mbros_core.typing import ArrayLike


JOINT = 20e3            # bytes of a joint and its body in a built model, about


def chain(n: int, ugly: bool = False, gravity: ArrayLike = GRAVITY) -> Model:
    """A chain of n revolute joints hanging from the world: joint1 ... jointn, link1 ... linkn.

    Links are rods of 0.1 m and 0.2 kg, axes alternate between x and y. ugly: generic axes, placements, centres of mass,
    full inertia tensors, every third joint prismatic (the same numbers every time).
    Returns mbros.Model. NoMemoryError where this machine has no room for it.
    """
    return chain_builder(n, ugly, gravity).build()


def chain_builder(n: int, ugly: bool = False, gravity: ArrayLike = GRAVITY) -> ModelBuilder:
    """The ModelBuilder of `chain`, to add to."""
    from mbros.build.builder import ModelBuilder      # start-up time: who does not use it does not pay
    n, ugly = count("chain", "n", n, "the number of joints", 1), flag("chain", "ugly", ugly)
    if n * JOINT > (free := memory_available()):
        raise NoMemoryError(f"chain: {n} joints take about {amount(n * JOINT)} of memory, and {amount(free)} are free")
    builder = ModelBuilder(f"chain{n}" + "_ugly" * ugly, gravity)
    (_ugly_links if ugly else _rods)(builder, n)
    return builder


def _rods(builder: ModelBuilder, n: int) -> None:
    from mbros.describe.joints.classes import RevoluteJoint      # start-up time: who does not use it does not pay

    length, mass = 0.1, 0.2
    inertia = solid_cylinder(mass, 0.02, length)
    parent, p = builder.world, (0.0, 0.0, 0.0)
    for k in range(1, n + 1):
        link = builder.add_body(f"link{k}", mass, (0.0, 0.0, -0.5 * length), inertia)
        axis = (0.0, 1.0, 0.0) if k % 2 else (1.0, 0.0, 0.0)
        builder.add_joint(RevoluteJoint(f"joint{k}", parent, link, axis, p=p))
        parent, p = link, (0.0, 0.0, -length)


def _ugly_links(builder: ModelBuilder, n: int) -> None:
    from mbros.describe.joints.classes import PrismaticJoint, RevoluteJoint      # start-up time: who does not use it does not pay
    rng = np.random.default_rng(7)
    parent = builder.world
    for k in range(1, n + 1):
        mass = rng.uniform(0.2, 2.0)
        inertia = rotate(solid_ellipsoid(mass, rng.uniform(0.03, 0.1, 3)), rotation_from_rpy(rng.uniform(-3, 3, 3)))
        link = builder.add_body(f"link{k}", mass, rng.uniform(-0.1, 0.1, 3), inertia)
        kind = PrismaticJoint if k % 3 == 0 else RevoluteJoint
        builder.add_joint(kind(f"joint{k}", parent, link, rng.normal(size=3), p=rng.uniform(-0.2, 0.2, 3), normalize_axis=True,
                               rpy=rng.uniform(-3, 3, 3)))
        parent = link
