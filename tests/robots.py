"""An engine model, its textbook twin and a random state of both: what most engine tests start from."""
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import zoo

import mbros
import mbros_core
import reference as ref
from mbros.describe.urdf.packages import example_robot_data


@cache
def model(name):
    """The engine's model of a zoo robot. Models are immutable, so tests share them."""
    return mbros_core.Model(zoo.spec(name))


@cache
def tree(name):
    """The same robot for `reference`."""
    return ref.Tree(zoo.spec(name))


def sprung(joint):
    """A body of 1 kg on a sliding joint, "slide", of that class, and a spring from the world's origin to it, "spring"."""
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(joint("slide", b.world, body))
    b.add_force_element(mbros.LinearSpringDamper(b.world.frame, body.frame, 50.0, 0.5, 1.0, name="spring"))
    return b.build()


def every_joint():
    """A chain with a joint of every kind that turns or moves in a way of its own, and a frame "tool" at its end."""
    b = mbros.ModelBuilder("every joint")
    parent = b.world
    for n, kind in enumerate([mbros.FloatingJoint, mbros.PlanarJoint, mbros.UniversalJoint, mbros.BallRpyJoint, mbros.BallJoint,
                              mbros.CylindricalJoint, mbros.FloatingRpyJoint, mbros.TranslationJoint]):
        body = b.add_body(f"body{n}", 1.0 + 0.1 * n, (0.1, -0.2, 0.05 * n), (0.1, 0.12, 0.15))
        b.add_joint(kind(kind.__name__, parent, body, p=(0.1, 0.2, 0.3)))
        parent = body
    b.add_frame("tool", parent, p=(0.1, -0.3, 0.2), rpy=(0.3, 0.2, 0.1))
    return b.build()


class Case:
    """A robot in a random state under random wrenches; its workspace is poisoned, so nothing stale can be read."""

    def __init__(self, name, rng, wrenches=False):
        self.name, self.model, self.tree = name, model(name), tree(name)
        self.spec, self.nq, self.nv = self.model.spec, self.model.nq, self.model.nv
        self.q, self.v = zoo.random_q(self.spec, rng), rng.normal(size=self.nv)
        self.vdot, self.tau = rng.normal(size=self.nv), rng.normal(size=self.nv)
        self.wrenches = rng.normal(size=(self.tree.nb, 6)) if wrenches else np.zeros((self.tree.nb, 6))
        self.state = self.new_state()

    def new_state(self, q=None, v=None):
        """A poisoned state of the model at this case's q and v."""
        state = self.model.default_state()
        state._poison()
        state.q[:], state.v[:] = self.q if q is None else q, self.v if v is None else v
        state.external_force[:] = self.wrenches
        return state


def pose(x):
    """R (3, 3) and p (3,) of the engine's twelve numbers."""
    return x[:9].reshape(3, 3), x[9:]


# Robots from files: name, base. The first four come with example-robot-data, the others with mbros.
OF_EXAMPLES = [("ur5", "fixed"), ("panda", "fixed"), ("solo12", "floating"), ("talos", "floating")]
OF_MBROS = [("pendulum", "fixed"), ("double_pendulum", "fixed"), ("cartpole", "fixed"), ("scara", "fixed"),
            ("arm6", "fixed"), ("arm7", "fixed"), ("quadruped", "floating"), ("humanoid", "floating"),
            ("mobile_arm", "planar")]
FROM_FILES = OF_EXAMPLES + OF_MBROS


@dataclass
class Loaded:
    """A robot from a file: its text for the peers, what it was compiled to, and the model."""

    name: str
    base: str
    text: str
    compiled: object
    model: object

    @property
    def spec(self):
        return self.compiled.spec

    def random_q(self, rng):
        """Inside the position limits, where there are any."""
        q = zoo.random_q(self.spec, rng)
        low, high = self.spec.q_lower, self.spec.q_upper
        bounded = np.isfinite(low) & np.isfinite(high)
        return np.where(bounded, np.where(bounded, low, 0) + rng.random(len(q)) * np.where(bounded, high - low, 0), q)


@cache
def loaded(name, base, mimic=True, merge_welds=True):
    """The robot `name` on `base`; skips the test where it comes from a package that is not installed."""
    if (name, base) in OF_EXAMPLES and not example_robot_data():
        pytest.skip(f"{name} comes with example-robot-data (pip install example-robot-data)")
    model = mbros.load(name, base=base, mimic=mimic, merge_welds=merge_welds)
    return Loaded(name, base, Path(model.description.file).read_text(), model._compiled, model)
