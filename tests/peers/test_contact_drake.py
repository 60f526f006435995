"""Contact beside Drake's discrete plant (SAP): the same stiffness, relaxation time and friction, the same combination of two shapes.

The normal force is one law, and both steps are semi-implicit: what the trajectories differ by is of the order of h, because a contact
acts here from the step in which the gap closes, in Drake from the next one on. Friction is Coulomb's here; SAP's convex cone couples it
with the normal force, which at rest and in slow sliding is of the order of h, and in a blow of that of the relaxation time: so the box
that falls has none. Drake's point contact of a box has one point: bodies stand on balls.
"""
import logging

import numpy as np
import pytest

import mbros

pytest.importorskip("pydrake.multibody.plant", reason="peer tests need Drake (pip install drake)")
K, TAU, BALL = 1e5, 2e-3, 0.03
HALF = np.array([0.2, 0.15, 0.1])
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * (HALF - BALL)


def in_drake(mass, inertia, balls, radius, mu, h):
    """(plant, simulator, context) of one free body with balls over a half-space."""
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    logging.getLogger("drake").setLevel(logging.ERROR)
    props = ProximityProperties()
    AddContactMaterial(None, K, CoulombFriction(mu, mu), props)
    props.AddProperty("material", "relaxation_time", TAU)
    b = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(b, h)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.set_sap_near_rigid_threshold(0.0)              # the stiffness as it is given
    body = plant.AddRigidBody("body", SpatialInertia(mass, np.zeros(3), UnitInertia(*(np.asarray(inertia) / mass))))
    for k, p in enumerate(balls):
        plant.RegisterCollisionGeometry(body, RigidTransform(p), Sphere(radius), f"ball{k}", props)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", props)
    plant.Finalize()
    simulator = Simulator(b.Build())
    return plant, simulator, plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())


def here(mass, inertia, balls, radius, mu):
    numbers = dict(stiffness=K, relaxation_time=TAU, friction=mu)
    b = mbros.ModelBuilder("scene", gravity=(0, 0, -9.81), ground=mbros.Ground(**numbers))
    body = b.add_body("body", mass, (0, 0, 0), inertia)
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    for p in balls:
        X = np.eye(4)
        X[:3, 3] = p
        b.add_collision(body, mbros.shapes.sphere(radius), X, **numbers)
    return b.build()


def both(mass, inertia, balls, radius, mu, start, h, seconds, integrator="semi_implicit_euler"):
    """Positions of the body, (n, 3), of Drake and of mbros, every 10 ms. start: (p, rpy, angular velocity, velocity), in world axes."""
    from pydrake.math import RigidTransform, RollPitchYaw
    from pydrake.multibody.math import SpatialVelocity

    p, rpy, w, v = start
    plant, simulator, context = in_drake(mass, inertia, balls, radius, mu, h)
    body = plant.GetBodyByName("body")
    plant.SetFreeBodyPose(context, body, RigidTransform(RollPitchYaw(rpy), p))
    plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity(w, v))
    model = here(mass, inertia, balls, radius, mu)
    sim = mbros.Simulator(model, h, integrator)
    model.joint("free").set_pose(sim.state, p=p, rpy=rpy)
    sim.state.set_v(np.linalg.solve(model.jacobian(sim.state, "body"), np.concatenate([w, v])))
    theirs, ours = [], []
    for t in np.arange(0.01, seconds + 1e-9, 0.01):
        simulator.AdvanceTo(t)
        sim.advance_to(t)
        theirs.append(plant.EvalBodyPoseInWorld(context, body).translation().copy())
        ours.append(np.array(model.pose(sim.state, "body").p))
    return np.array(theirs), np.array(ours)


def apart(*scene):
    """By how much the two differ at steps of 1 ms and of a tenth of it, m."""
    return [np.abs(np.subtract(*both(*scene[:-1], h, scene[-1]))).max() for h in (1e-3, 1e-4)]


STILL = (0, 0, 0)
A_BALL, A_BOX = (1.0, np.full(3, 0.004), [np.zeros(3)], 0.1), (2.0, [0.02, 0.03, 0.04], CORNERS, BALL)


def test_a_ball_bounces():
    coarse, fine = apart(*A_BALL, 0.5, ((0, 0, 0.4), STILL, STILL, STILL), 1.0)
    assert coarse < 5e-3 and fine < 1.5e-3


def test_a_box_falls_on_its_corners():
    start = ((0, 0, 0.5), (0.4, 0.3, 0.0), (0.5, -0.3, 0.2), (0.6, 0.1, 0.0))
    coarse, fine = apart(*A_BOX, 0.0, start, 0.4)
    assert coarse < 0.04 and fine < 0.3 * coarse


def test_a_sliding_ball_comes_to_roll():
    start = ((0, 0, 0.1), STILL, STILL, (2.0, 0, 0))
    coarse, fine = apart(*A_BALL, 0.5, start, 1.0)
    assert coarse < 5e-3 and fine < 0.3 * coarse
    theirs, ours = both(*A_BALL, 0.5, start, 1e-4, 1.0, "midpoint")
    assert np.abs(theirs - ours).max() < 1e-3


def test_at_rest_a_box_is_as_deep():
    theirs, ours = both(*A_BOX, 0.5, ((0, 0, 0.1), STILL, STILL, STILL), 1e-3, 1.0)
    assert ours[-1, 2] == pytest.approx(0.1 - 2.0 * 9.81 / (4 * 0.5 * K), abs=1e-9) == pytest.approx(theirs[-1, 2], abs=1e-9)


MU = 0.8


def feet(model):
    return [shape for shape in model.shapes if model.spec.shape_geometry[shape.index].kind == "sphere"]


def quadruped_in_drake(model, h):
    """(plant, simulator, context) of the built-in quadruped with balls for feet, over a half-space."""
    import re

    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    logging.getLogger("drake").setLevel(logging.ERROR)
    b = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(b, h)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.set_sap_near_rigid_threshold(0.0)
    text = re.sub(r"<(collision|visual)\b.*?</\1>", "", model.description.text, flags=re.S)
    Parser(plant).AddModelsFromString(text, "urdf")
    for joint in (joint for joint in model.joints if joint.nv == 1):
        rotor = float(model.spec.rotor_inertia[joint.v_slice.start])
        plant.AddJointActuator(joint.name, plant.GetJointByName(joint.name)).set_default_rotor_inertia(rotor)
    props = ProximityProperties()
    AddContactMaterial(None, K, CoulombFriction(MU, MU), props)
    props.AddProperty("material", "relaxation_time", TAU)
    for shape in feet(model):
        radius = float(model.spec.shape_geometry[shape.index].sizes[0])              # about the origin of its link
        plant.RegisterCollisionGeometry(plant.GetBodyByName(shape.body.name), RigidTransform(), Sphere(radius), shape.name, props)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", props)
    plant.Finalize()
    simulator = Simulator(b.Build())
    return plant, simulator, plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())


@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_a_quadruped_is_pushed_on_its_feet(h):
    """Half a second under a PD controller and a push of 40 N for 0.1 s: the trunk goes the same way to a hundredth of it."""
    from pydrake.math import RigidTransform

    model = mbros.load("quadruped", ground=mbros.Ground(stiffness=K, relaxation_time=TAU, friction=MU))
    state = model.default_state()
    for name in model.parameter_names:
        if name.endswith((".stiffness", ".relaxation_time", ".friction")) and name.startswith("contact."):
            model.set_parameter(state, name, dict(stiffness=K, relaxation_time=TAU, friction=MU)[name.rpartition(".")[2]])
    state.field("friction")[:] = 0.0                    # of the joints: Drake reads none
    q = np.array(state.q)
    q[2], q[7:] = 0.3315, np.tile((0.0, 0.72, -1.44), 4)
    state.set_q(q)
    sim = mbros.Simulator(model, h, "semi_implicit_euler", state=state)
    plant, simulator, context = quadruped_in_drake(model, h)
    trunk = plant.GetBodyByName("trunk")
    plant.SetFreeBodyPose(context, trunk, RigidTransform(np.array(model.pose(state, "trunk").p)))
    legs = [joint for joint in model.joints if joint.nv == 1]
    there = [plant.GetJointByName(joint.name) for joint in legs]
    for joint, peer in zip(legs, there):
        peer.set_angle(context, joint.position(state).item())
    at = np.array([peer.velocity_start() for peer in there])
    at_q = np.array([peer.position_start() for peer in there])
    mine = np.array([joint.v_slice.start for joint in legs])
    target, tau, pull = q[7:].copy(), np.zeros(model.nv), np.zeros(plant.num_velocities())
    ours, theirs = [], []
    port = plant.get_applied_generalized_force_input_port()
    for k in range(round(0.5 / h)):
        push = 40.0 if 0.1 <= k * h < 0.2 else 0.0
        tau[mine] = 200.0 * (target - sim.state.q[7:]) - 8.0 * sim.state.v[mine]
        tau[:6] = (model.jacobian(sim.state, "trunk").T @ np.array([0, 0, 0, 0, push, 0]))[:6]
        pull[at] = 200.0 * (target - plant.GetPositions(context)[at_q]) - 8.0 * plant.GetVelocities(context)[at]
        pull[trunk.floating_velocities_start_in_v() + 4] = push
        port.FixValue(context, pull)
        sim.step(tau)
        simulator.AdvanceTo((k + 1) * h)
        ours.append(np.array(model.pose(sim.state, "trunk").p))
        theirs.append(plant.EvalBodyPoseInWorld(context, trunk).translation().copy())
    ours, theirs = np.array(ours), np.array(theirs)
    moved = np.ptp(theirs[:, 1])
    assert moved > 5e-3
    assert np.abs(ours - theirs).max() < 0.01 * moved
