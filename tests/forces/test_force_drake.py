"""The bushing and the springs against the installed Drake, on fresh random inputs. Skipped where pydrake is not installed."""
import bushing_golden as golden
import numpy as np
import pytest
import zoo
from optional import CASES, installed, needs
from tolerance import assert_close

import mbros
from mbros.spatial.placement import rotation_from_rpy
from mbros.spatial.vectors import Pose

pytestmark = needs("pydrake", "pip install drake")
if installed("pydrake"):
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.math import SpatialVelocity
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import (DoorHinge, DoorHingeConfig, FixedOffsetFrame, LinearBushingRollPitchYaw,
                                        LinearSpringDamper, PrismaticJoint, PrismaticSpring, RevoluteJoint, RevoluteSpring,
                                        SpatialInertia, UnitInertia)



def transform(X):
    return RigidTransform(RotationMatrix(X.R), X.p)


def inertia(mass=1.5):
    return SpatialInertia(mass, np.zeros(3), UnitInertia(0.1 / mass, 0.2 / mass, 0.25 / mass))


def random_pose(rng, reach=0.3):
    return Pose(zoo.rotation(rng), rng.uniform(-reach, reach, 3))


class DrakePair:
    """Two free bodies of Drake with one force element between frames A and C."""

    def __init__(self, X_L0A, X_L1C, element):
        self.plant = MultibodyPlant(0.0)
        self.plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        self.links = [self.plant.AddRigidBody(name, inertia()) for name in ("L0", "L1")]
        A, C = (self.plant.AddFrame(FixedOffsetFrame(name, link.body_frame(), transform(X)))
                for name, link, X in zip("AC", self.links, (X_L0A, X_L1C)))
        self.element = self.plant.AddForceElement(element(self.links, A, C, X_L0A, X_L1C))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()

    def at(self, poses, velocities):
        for link, X, (w, v) in zip(self.links, poses, velocities):
            self.plant.SetFreeBodyPose(self.context, link, transform(X))
            self.plant.SetFreeBodySpatialVelocity(context=self.context, body=link, V_JpJc=SpatialVelocity(w, v))

    def accelerations(self):
        """(2, 6): angular and linear acceleration of both bodies, in world axes."""
        derivatives = self.plant.get_generalized_acceleration_output_port().Eval(self.context)
        return np.asarray(derivatives).reshape(2, 6)


def random_scene(rng):
    """Poses and velocities of both bodies such that C is not near gimbal lock in A."""
    X_L0A, X_L1C, X_WL0 = random_pose(rng), random_pose(rng), random_pose(rng, 1.0)
    angles = rng.uniform([-3.1, -1.4, -3.1], [3.1, 1.4, 3.1]) * rng.choice([1.0, 0.1, 1e-3])
    X_AC = Pose(rotation_from_rpy(angles), rng.uniform(-0.4, 0.4, 3))
    X_WL1 = X_WL0 @ X_L0A @ X_AC @ X_L1C.inverse()
    velocities = [(rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3)) for _ in range(2)]
    return X_L0A, X_L1C, [X_WL0, X_WL1], velocities


def world_accelerations(model, state):
    """(2, 6) as DrakePair.accelerations."""
    vdot = model.forward_dynamics(state, np.zeros(model.nv))
    return np.array([model.acceleration(state, name, vdot).values for name in ("L0", "L1")])


@pytest.mark.seed("BU-13", "BU-14", "BU-22")
def test_bushing_is_drakes(rng):
    for _ in range(CASES):
        X_L0A, X_L1C, poses, velocities = random_scene(rng)
        constants = [rng.uniform(0, top, 3) for top in (50, 5, 800, 20)]
        drake = DrakePair(X_L0A, X_L1C, lambda links, A, C, *_: LinearBushingRollPitchYaw(A, C, *constants))
        drake.at(poses, velocities)
        model = golden.built(X_L0A, X_L1C, constants)
        state, bushing = golden.at(model, poses, velocities), model.force_elements["bushing"]
        for side in "AC":
            theirs = getattr(drake.element, f"CalcBushingSpatialForceOnFrame{side}")(drake.context)
            ours = getattr(bushing, f"spatial_force_on_frame_{side}")(state)
            size = max(np.abs(theirs.rotational()).max(), np.abs(theirs.translational()).max())
            assert_close(ours.torque, theirs.rotational(), 1e-12, size)
            assert_close(ours.force, theirs.translational(), 1e-12, size)
        assert_close(world_accelerations(model, state), drake.accelerations(), 1e-12)


def test_spring_damper_is_drakes(rng):
    for _ in range(CASES):
        X_L0A, X_L1C, poses, velocities = random_scene(rng)
        length, k, c = rng.uniform(0.1, 1.0), rng.uniform(0, 500), rng.uniform(0, 10)
        drake = DrakePair(X_L0A, X_L1C, lambda links, A, C, X, Y: LinearSpringDamper(links[0], X.p, links[1], Y.p, length, k, c))
        drake.at(poses, velocities)
        b = mbros.ModelBuilder("two", gravity=(0, 0, 0))
        links = [b.add_body(name, 1.5, (0, 0, 0), (0.1, 0.2, 0.25)) for name in ("L0", "L1")]
        frames = [b.add_frame(name, link, pose=X) for name, link, X in zip("AC", links, (X_L0A, X_L1C))]
        b.add_force_element(mbros.LinearSpringDamper(*frames, length, k, c))
        model = b.build()
        state, f = golden.at(model, poses, velocities), model.force_elements[0]
        assert_close(world_accelerations(model, state), drake.accelerations(), 1e-12)
        assert f.potential_energy(state) == pytest.approx(drake.plant.CalcPotentialEnergy(drake.context), rel=1e-12)
        assert f.conservative_power(state) == pytest.approx(drake.plant.CalcConservativePower(drake.context), rel=1e-12, abs=1e-12)
        theirs = drake.plant.CalcNonConservativePower(drake.context)
        assert f.nonconservative_power(state) == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def door(config, q, v):
    """Drake's door hinge: torque, energy and powers at (q, v)."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    body = plant.AddRigidBody("door", inertia())
    joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    hinge = plant.AddForceElement(DoorHinge(joint, config))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.set_angle(context, q)
    joint.set_angular_rate(context, v)
    return (hinge.CalcHingeTorque(q, v), plant.CalcPotentialEnergy(context), plant.CalcConservativePower(context),
            plant.CalcNonConservativePower(context))


def test_door_hinge_is_drakes(rng):
    names = {"spring_zero_angle_rad": "spring_position", "spring_constant": "spring_stiffness", "catch_torque": "catch_torque",
             "catch_width": "catch_width", "dynamic_friction_torque": "dynamic_friction", "static_friction_torque": "static_friction",
             "viscous_friction": "viscous_friction", "motion_threshold": "motion_threshold"}
    for _ in range(CASES):
        numbers = dict(zip(names, rng.uniform([-1, 0, 0, 0.05, 0, 0, 0, 0.01], [1, 5, 3, 0.5, 1, 1, 1, 0.5])))
        q, v = rng.uniform(-0.5, 1.5), rng.uniform(-1, 1)
        config = DoorHingeConfig()
        for name, value in numbers.items():
            setattr(config, name, value)
        theirs = door(config, q, v)
        b = mbros.ModelBuilder("door", gravity=(0, 0, 0))
        body = b.add_body("door", 1.5, (0, 0, 0), (0.1, 0.2, 0.25))
        joint = b.add_joint(mbros.RevoluteJoint("hinge", b.world, body))
        b.add_force_element(mbros.DoorHinge(joint, **{names[name]: value for name, value in numbers.items()}))
        model = b.build()
        state, f = model.default_state(), model.force_elements[0]
        state.q[0], state.v[0] = q, v
        assert f.effort(state) == pytest.approx(theirs[0], rel=1e-12, abs=1e-12)
        assert f.conservative_power(state) == pytest.approx(theirs[2], rel=1e-12, abs=1e-12)
        assert f.nonconservative_power(state) == pytest.approx(theirs[3], rel=1e-12, abs=1e-12)
        at_zero = door(config, 0.0, 0.0)[1]
        state.q[0], here = 0.0, f.potential_energy(state)
        assert here - f.potential_energy(state) == pytest.approx(theirs[1] - at_zero, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_joint_springs_are_drakes(kind, rng):
    for _ in range(CASES):
        rest, k, q, v = rng.uniform(-1, 1), rng.uniform(0, 50), rng.uniform(-1, 1), rng.uniform(-1, 1)
        plant = MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        body = plant.AddRigidBody("body", inertia())
        make, spring = {"revolute": (RevoluteJoint, RevoluteSpring), "prismatic": (PrismaticJoint, PrismaticSpring)}[kind]
        joint = plant.AddJoint(make("joint", plant.world_frame(), body.body_frame(), [0, 0, 1]))
        plant.AddForceElement(spring(joint, rest, k))
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [q])
        plant.SetVelocities(context, [v])
        b = mbros.ModelBuilder("one", gravity=(0, 0, 0))
        ours = b.add_body("body", 1.5, (0, 0, 0), (0.1, 0.2, 0.25))
        j = b.add_joint((mbros.RevoluteJoint if kind == "revolute" else mbros.PrismaticJoint)("joint", b.world, ours))
        b.add_force_element((mbros.RevoluteSpring if kind == "revolute" else mbros.PrismaticSpring)(j, rest, k))
        model = b.build()
        state, f = model.default_state(), model.force_elements[0]
        state.q[0], state.v[0] = q, v
        theirs = plant.get_generalized_acceleration_output_port().Eval(context)
        assert_close(model.forward_dynamics(state, np.zeros(1)), theirs, 1e-12)
        assert f.potential_energy(state) == pytest.approx(plant.CalcPotentialEnergy(context), rel=1e-12)
        assert f.conservative_power(state) == pytest.approx(plant.CalcConservativePower(context), rel=1e-12)
