"""What is operated on: small robots of every kind, each with all that a caller can hold of it."""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mbros
import mbros_core
from mbros_core.engine.fields import FIELDS
import zoo

OF_LAST_STEP = ("last_step", "effort", "q_before", "v_before", "a_before")
KEPT = [row.name for row in FIELDS if row.stage in ("input", "parameter") and row.name not in OF_LAST_STEP]


class Slope(mbros.JointLaw):
    """A joint written in Python."""

    nq = nv = 1

    def pose(self, q):
        return np.eye(3), np.array([q[0], 0.0, 0.5 * q[0] ** 2])

    def subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, q[0]]]).T

    def bias(self, q, v):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, v[0] ** 2])


class Pull(mbros.ForceElement):
    """A force element written in Python."""

    def wrench(self, pose, velocity):
        return np.zeros(3), -10.0 * pose.p


def rig(own_code=False):
    """Joints and elements of many kinds with limits, a follower, and perhaps a user's own code."""
    b = mbros.ModelBuilder("rig")
    bodies = [b.add_body(f"b{k}", 1.0 + 0.2 * k, (0.1, 0.02 * k, 0.2), np.diag([0.02, 0.03, 0.025])) for k in range(7)]
    b.add_joint(mbros.RevoluteJoint("turn", b.world, bodies[0], lower=-1.0, upper=1.5, effort=20.0, damping=0.2, friction=0.1))
    b.add_joint(mbros.PrismaticJoint("slide", bodies[0], bodies[1], lower=-0.5, upper=0.5, effort=50.0))
    b.add_joint(mbros.RevoluteJoint("follower", bodies[1], bodies[2], (0, 1, 0), mimic=("turn", -0.7, 0.1)))
    b.add_joint(mbros.FloatingJoint("free", b.world, bodies[3]))
    b.add_joint(mbros.BallJoint("ball", bodies[3], bodies[4]))
    b.add_joint(mbros.ContinuousJoint("round", bodies[4], bodies[5], representation="cos_sin"))
    b.add_force_element(mbros.JointSpring(b.joint("turn"), stiffness=1.0, name="spring"))
    b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world, bodies[3], 1.0, name="mount"))
    b.add_force_element(mbros.LinearSpringDamper(bodies[1], bodies[5], free_length=0.1, stiffness=3.0, damping=0.1, name="rope"))
    if own_code:
        b.add_joint(mbros.CustomJoint("mine", bodies[5], bodies[6], Slope(), damping=0.1))
        b.add_force_element(Pull(b.world, bodies[6], name="pull"))
    else:
        b.add_joint(mbros.PlanarJoint("plane", bodies[5], bodies[6]))
    return b.build()


def heap():
    """Bodies of every solid shape on the ground and on each other."""
    b = mbros.ModelBuilder("heap", ground=True)
    shapes = [mbros.shapes.box((0.2, 0.1, 0.1)), mbros.shapes.sphere(0.06), mbros.shapes.capsule(0.04, 0.1),
              mbros.shapes.cylinder(0.05, 0.1),
              mbros.shapes.convex(np.array([[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0, 0, -0.1]]))]
    for k, shape in enumerate(shapes):
        body = b.add_body(f"b{k}", 0.5 + 0.2 * k, (0.01, 0, 0), np.diag([2e-3, 3e-3, 2.5e-3]))
        b.add_joint(mbros.FloatingJoint(f"free{k}", b.world, body))
        b.add_collision(body, shape, rolling_radius=1e-3 * (k % 2), torsional_radius=1e-3)
    return b.build()


class Subject:
    """A model, a state of it that operations work on, another state, and what simulates it."""

    def __init__(self, name, model, rng, library):
        self.name, self.model, self.library = name, model, library
        self.spec = model.spec
        self.state, self.other = model.default_state(), model.default_state()
        self.foreign = mbros_core.Model(zoo.spec("pendulum")).default_state()
        self.memory = self.state.q.base
        self.start = self.random_state(rng)
        self.state.assign(self.start)
        self.plant = mbros_core.Plant(model, self.state)
        self.batches = [module.Batch(module.Model(self.spec)) for module in (mbros_core, mbros_core.lanes())]
        self.duals = None if model._needs_gil else mbros_core.dual().Duals(mbros_core.dual().Model(self.spec))
        self.simulator = mbros.Simulator(model) if library else None

    def random_state(self, rng):
        """A state of the model at random, a little away from its default."""
        state = self.model.default_state()
        v = rng.normal(size=self.model.nv)
        state.set_q(self.model.normalize(self.model.integrate(state.q, 0.3 * v))).set_v(v)
        state.external_force[:] = rng.normal(size=state.external_force.shape)
        return state

    def restore(self):
        """Everything as at the start."""
        self.plant.reset()
        self.state.assign(self.start)
        if self.library:
            self.simulator.reset()

    def states(self) -> bytes:
        """All inputs and parameters of the states that are simulated, but for what the last step left of itself."""
        return b"".join(plant.state.field(name).tobytes() for plant in self.all_plants() for name in KEPT)

    def last_step(self) -> bytes:
        """From where the last step began, and under what: of one that failed, too."""
        return b"".join(plant.state.field(name).tobytes() for plant in self.all_plants() for name in OF_LAST_STEP)

    def plants(self) -> bytes:
        """What a plant has beside its state."""
        return repr([(plant.fault, plant.clamped, plant.effort.tobytes()) for plant in self.all_plants()]).encode()

    def all_plants(self):
        return [self.plant] + ([self.simulator.plant] if self.library else [])

    def check(self):
        """What holds after any operation."""
        assert self.state.q.shape == (self.model.nq,) and self.state.v.dtype == float
        assert self.model.spec is self.spec and (self.model.nq, self.model.nv) == (len(self.spec.q_default), len(self.spec.damping))

    def frame(self, rng):
        return int(rng.integers(len(self.model.spec.frame_body)))

    def part(self, rng, table):
        """A part of a built model's table, or its name."""
        parts = getattr(self.model, table) or self.model.frames         # a statue has no joint: wrong, and refused
        part = parts[int(rng.integers(len(parts)))]
        return part if rng.random() < 0.5 else part.name


def all_subjects(rng):
    """Built once for a run."""
    built = [Subject("rig", rig(), rng, True), Subject("rig with own code", rig(own_code=True), rng, True),
             Subject("heap", heap(), rng, True),
             Subject("statue", mbros.ModelBuilder("statue").build(), rng, True)]
    return built + [Subject(name, mbros_core.Model(zoo.spec(name)), rng, False) for name in ("all_kinds", "mimic", "rough")]
