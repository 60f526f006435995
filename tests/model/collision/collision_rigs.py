"""Two free bodies, an arm of two links with a tool, and a cube: what the collision tests look at."""
import numpy as np

import mbros
from mbros import shapes
from mbros.describe.robot import Shape
from mbros.spatial.placement import Placement, rotation_from_rpy

CUBE = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]


def free_pair(shape_a, shape_b):
    """Two free bodies with a shape each, and their pair."""
    builder = mbros.ModelBuilder("two")
    for name, shape in (("a", shape_a), ("b", shape_b)):
        builder.add_body(name, 1.0, inertia=(1, 1, 1)).collisions.append(Shape(shape))
    model = builder.build()
    pairs = mbros.CollisionPairs(model)
    pairs.add("a", "b")
    return model, pairs


def put(model, state, body, p=(0, 0, 0), quat_wxyz=(1, 0, 0, 0)):
    state.q[model.joint(body).q_slice] = [*p, *quat_wxyz]


def arm():
    """Two links of 1 m in the x-y plane, hinges about z, a ball on the tool, which is welded to the second link."""
    builder = mbros.ModelBuilder("arm")
    parent, bodies = builder.world, []
    for k in (1, 2):
        link = builder.add_body(f"link{k}", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        link.collisions.append(Shape(shapes.capsule(0.05, 0.8), Placement(rotation_from_rpy((0, np.pi / 2, 0)), np.array([0.5, 0, 0]))))
        builder.add_joint(mbros.RevoluteJoint(f"hinge{k}", parent, link, axis=(0, 0, 1), p=(0 if k == 1 else 1.0, 0, 0)))
        parent = link
        bodies.append(link)
    tool = builder.add_body("tool", 0.1, inertia=(0.01, 0.01, 0.01))
    tool.collisions.append(Shape(shapes.sphere(0.1)))
    builder.add_joint(mbros.WeldJoint("flange", parent, tool, p=(1.0, 0, 0)))
    return builder
