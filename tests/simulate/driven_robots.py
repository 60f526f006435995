"""Robots that the tests of prescribed motion share."""
import numpy as np

import mbros


def every_kind(seed=3):
    """A chain in which joints of all kinds carry each other; ugly numbers."""
    rng = np.random.default_rng(seed)
    b = mbros.ModelBuilder("all kinds", gravity=(0.3, -0.7, -9.4))
    kinds = [mbros.RevoluteJoint, mbros.BallJoint, mbros.PlanarJoint, mbros.UniversalJoint, mbros.PrismaticJoint, mbros.CylindricalJoint,
             mbros.BallRpyJoint, mbros.TranslationJoint, mbros.FloatingJoint, mbros.FloatingRpyJoint]
    last = b.world
    for k, kind in enumerate(kinds):
        body = b.add_body(f"body {k}", 1.0 + 0.2 * k, tuple(rng.uniform(-0.1, 0.1, 3)), tuple(0.05 + 0.02 * rng.uniform(size=3)))
        b.add_joint(kind(kind.__name__, last, body, p=tuple(rng.uniform(-0.2, 0.2, 3)), rpy=tuple(rng.uniform(-1, 1, 3))))
        last = body
    turn = b.add_body("turn", 0.7, (0.1, 0.02, 0.03), (0.02, 0.03, 0.04))
    b.add_joint(mbros.ContinuousJoint("circle", last, turn, axis=(0, 0, 1), representation="cos_sin"))
    return b.build()


def with_mimic():
    """Joints that share a coordinate: the dynamics go through the mass matrix."""
    b = mbros.ModelBuilder("shared")
    x, y, z = (b.add_body(name, 1.0, (0.1, 0.02, 0), (0.02, 0.03, 0.04)) for name in "xyz")
    b.add_joint(mbros.RevoluteJoint("a", b.world, x, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("b", x, y, p=(0.3, 0, 0), axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("c", y, z, p=(0.3, 0, 0), axis=(0, 1, 0), mimic=("a", 2.0, 0.1)))
    return b.build()


def put(model, rng):
    state = model.default_state()
    state.q[:], state.v[:] = model.random_configuration(rng), rng.normal(size=model.nv)
    return state


def swing(t):
    return 0.4 * np.sin(5 * t), 2.0 * np.cos(5 * t), -10.0 * np.sin(5 * t)


def cart_pole():
    b = mbros.ModelBuilder("driven pendulum")
    cart, pole = b.add_body("cart", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)), b.add_body("pole", 1.0, (0, 0, -0.5), (0.02, 0.02, 0.001))
    b.add_joint(mbros.PrismaticJoint("cart", b.world, cart, axis=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("pole", cart, pole, axis=(0, 1, 0)))
    return b.build()
