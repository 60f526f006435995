"""Force elements as users meet them: adding, names, places on compiled bodies, parameters in a state, stops, refusals."""
import copy
import pickle

import dataclasses

import force_rigs as rigs
import numpy as np
import pytest
from mbros_core.forces.registry import BY_NAME
from tolerance import assert_close

import mbros
from mbros.model import parameters


def builder():
    b = mbros.ModelBuilder("rig", gravity=(0, 0, 0))
    one, two = (b.add_body(name, 1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25)) for name in ("one", "two"))
    b.add_joint(mbros.FloatingJoint("free", b.world, one))
    b.add_joint(mbros.RevoluteJoint("hinge", one, two, axis=(0, 0.6, 0.8), lower=-1, upper=1, stop_stiffness=50.0, stop_damping=2.0))
    return b, one, two


def test_the_listing_of_the_api():
    b = mbros.ModelBuilder("rig", gravity=(0, 0, -9.81))
    plate = b.add_body("plate", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.1, 0.2]))
    b.add_joint(mbros.PlanarJoint("slide", b.world, plate, damping=(0.1, 0.1, 0.01)))
    b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world.frame, plate.frame,
        torque_stiffness=(10, 10, 10), torque_damping=(1, 1, 1), force_stiffness=(1e3, 1e3, 1e3), force_damping=(5, 5, 5)))
    model = b.build()
    state = model.default_state()
    model.joint("slide").set_pose(state, xy=(0.01, 0.02), theta=0.3)
    f = model.force_elements[0]
    A, C = f.spatial_force_on_frame_A(state), f.spatial_force_on_frame_C(state)
    assert A.torque.shape == A.force.shape == C.torque.shape == C.force.shape == (3,)
    assert A.force == pytest.approx([10.0, 20.0, 0.0]) and A.torque[2] == pytest.approx(3.0)
    assert f.potential_energy(state) == pytest.approx(0.5 * 1e3 * (0.01**2 + 0.02**2) + 0.5 * 10 * 0.09)
    assert f.conservative_power(state) == f.nonconservative_power(state) == 0.0
    assert (A.expressed_in, C.expressed_in) == ("world", "plate") and "N m" in repr(A)


@pytest.mark.parametrize("kind", rigs.KINDS + ["user"])
def test_welds_and_turned_axes_change_nothing(kind, rng):
    """An element on a flange that is merged into the arm: as on a flange of its own."""
    merged, apart = (rigs.rig(kind, 2, where="flange", merge_welds=m) for m in (True, False))
    assert len(apart.spec.parent) == len(merged.spec.parent) + 1
    state = rigs.away_from_lock(merged, rng)
    other = apart.default_state()
    other.q[:], other.v[:] = state.q, state.v
    assert_close(apart.forward_dynamics(other, np.zeros(8)), merged.forward_dynamics(state, np.zeros(8)), 1e-11)
    f, g = merged.force_elements["it"], apart.force_elements["it"]
    assert_close(f.generalized_force(state), g.generalized_force(other), 1e-12)
    if f.frame_c is not None:
        assert f.link_c.name == g.link_c.name
        assert_close(f.wrench(state).values, g.wrench(other).values, 1e-12)


@pytest.mark.parametrize("kind", rigs.KINDS)
def test_every_parameter_has_a_name_a_default_a_getter_and_a_setter(kind, rng):
    model = rigs.rig(kind, 1)
    f, state, other = model.force_elements["it"], model.default_state(), model.default_state()
    assert sum(group.size for group in f.groups.values()) == len(BY_NAME[kind].parameters)
    at = 0
    for name, group in f.groups.items():
        value = 0.5 + np.arange(group.size) if group.size > 1 else 1.0 if name in BY_NAME[kind].flags else 0.5
        default = getattr(f, name)
        assert np.array_equal(default, model.spec.force_parameters[0, at:at + group.size].squeeze())
        assert getattr(f, "set_" + name)(state, value) is f
        assert np.array_equal(getattr(f, "get_" + name)(state), value) and np.array_equal(f.get(state, name), value)
        assert np.array_equal(f.get(other, name), default) and np.array_equal(f.default(name), default)
        assert np.array_equal(state.field("force_parameters")[0, at:at + group.size], np.atleast_1d(value))
        assert group.unit or name == "in_body"
        if group.least is not None:
            with pytest.raises(mbros.MbrosError, match=rf"force element 'it' \({kind}\): {name}.* is -1; expected a finite number"):
                f.set(state, name, -1.0)
            assert np.array_equal(f.get(state, name), value)
        at += group.size
    with pytest.raises(mbros.UnknownNameError, match=f"no parameter 'nothing' in force element 'it' \\({kind}\\)"):
        f.get(state, "nothing")


def rubbing(coulomb=1.0, breakaway=1.5):
    b, one, two = builder()
    b.add_force_element(mbros.StribeckFriction(b.joint("hinge"), coulomb, breakaway, name="rub"))
    b.add_force_element(mbros.BodyWrench(two, force=(1, 2, 3), name="push"))
    return b.build()


def test_a_setter_refuses_what_the_constructor_refuses():
    """Also where it lies in two numbers together; and nothing has changed then."""
    model = rubbing()
    state, rub, push = model.default_state(), model.force_elements["rub"], model.force_elements["push"]
    for change, said in ((lambda: rub.set_coulomb(state, 5.0), "breakaway 1.5 is below coulomb 5"),
                         (lambda: rub.set_breakaway(state, 0.5), "breakaway 0.5 is below coulomb 1"),
                         (lambda: rub.update(state, {"breakaway": 4.0, "coulomb": 5.0}), "breakaway 4 is below coulomb 5"),
                         (lambda: model.set_parameter(state, "force.rub.coulomb", 5.0), "breakaway 1.5 is below coulomb 5"),
                         (lambda: push.set_in_body(state, -3.0), "in_body is -3; expected 0 or 1"),
                         (lambda: model.set_parameter(state, "force.push.in_body", 0.5), "in_body is 0.5; expected 0 or 1")):
        with pytest.raises(mbros.MbrosError, match=rf"force element '(rub|push)' \((stribeck|body_wrench)\): {said}"):
            change()
        assert np.array_equal(state.field("force_parameters"), model.spec.force_parameters)
    rub.update(state, {"coulomb": 5.0, "breakaway": 6.0})
    assert (rub.get_coulomb(state), rub.get_breakaway(state)) == (5.0, 6.0)
    with pytest.raises(mbros.UnknownNameError, match="no parameter 'stiction'"):
        rub.update(state, {"coulomb": 0.0, "stiction": 1.0})
    assert rub.get_coulomb(state) == 5.0


def test_live_parameters_and_specs_keep_the_same_rules():
    from mbros_core import Model, Plant

    model = rubbing()
    plant, state = Plant(model), model.default_state()
    for k, bad, said in ((0, [5.0, 1.5], "'rub': breakaway 1.5 is below coulomb 5"),
                         (1, [0, 0, 0, 0, 0, 0, 0.5], "'push': in_body is 0.5; expected 0 or 1")):
        rows = np.array(model.spec.force_parameters)
        rows[k, :len(bad)] = bad
        state.field("force_parameters")[:] = rows
        with pytest.raises(ValueError, match=said):
            plant.check_parameters(plant.parameter_block(state))
        with pytest.raises(ValueError, match=said):
            Model(dataclasses.replace(model.spec, force_parameters=rows))
    parameters.put_all(model, state, {"force.rub.coulomb": 5.0, "force.push.in_body": 1.0, "force.rub.breakaway": 6.0})
    plant.check_parameters(plant.parameter_block(state))


def test_names_and_order():
    b, one, two = builder()
    b.add_force_element(mbros.LinearSpringDamper(one, b.world, 0.1, 2.0))
    b.add_force_element(mbros.Bushing(b.world, two))
    b.add_force_element(mbros.LinearSpringDamper(one, b.world, 0.1, 2.0, name="mine"))
    b.add_force_element(mbros.LinearSpringDamper(one, b.world, 0.1, 2.0))
    model = b.build()
    assert model.force_elements.names == ("spring_damper0", "bushing0", "mine", "spring_damper1", "hinge.stop")
    assert [f.index for f in model.force_elements] == list(range(5))
    with pytest.raises(mbros.UnknownNameError, match="no force element 'mime' in model 'rig'; did you mean 'mine'"):
        model.force_elements["mime"]
    for f in model.force_elements:
        assert repr(f).startswith(f"<force element {f.name!r}: {f.kind}, ")
    twin = pickle.loads(pickle.dumps(model))
    assert twin.force_elements.names == model.force_elements.names


def test_stops_are_elements_with_energy_and_power(rng):
    """Their numbers are the engine's: passive torque and potential energy, on both sides, moving in and out."""
    b, one, two = builder()
    model = b.build()
    stop = model.force_elements["hinge.stop"]
    assert (stop.lower, stop.upper, stop.stiffness, stop.damping, stop.joint.name) == (-1.0, 1.0, 50.0, 2.0, "hinge")
    state = model.default_state()
    for q in (-1.3, -1.01, -0.5, 1.0, 1.2):
        for v in (-3.0, -0.1, 0.0, 0.1, 3.0, 10.0):
            state.q[7], state.v[6] = q, v
            assert stop.effort(state) == pytest.approx(model.passive_torques(state)[6], rel=1e-13, abs=1e-15)
            assert stop.potential_energy(state) == pytest.approx(model.potential_energy(state), rel=1e-13)
            assert stop.generalized_force(state)[6] == stop.effort(state)
            assert stop.conservative_power(state) + stop.nonconservative_power(state) == pytest.approx(stop.effort(state) * v, abs=1e-12)
            assert stop.dissipated_power(state) >= 0.0
            assert stop.effort(state) * q <= 0.0
    state.q[7] = 1.2
    assert stop.set_stiffness(state, 80.0) is stop and stop.get_stiffness(state) == 80.0 and stop.stiffness == 50.0
    state.v[6] = 0.0
    assert model.passive_torques(state)[6] == pytest.approx(-80.0 * 0.2)
    with pytest.raises(mbros.MbrosError, match=r"'hinge.stop' \(stop\): damping is -1"):
        stop.set_damping(state, -1)
    state.q[7] = np.nan
    with pytest.raises(mbros.NonFiniteError, match="hinge.stop"):
        stop.effort(state)


def test_joint_stop_sets_the_joints_stops():
    b, one, two = builder()
    hinge = b.joint("hinge")
    b.add_force_element(mbros.JointStop(hinge, 123.0, 4.0, lower=-0.5, upper=0.25))
    model = b.build()
    stop = model.force_elements["hinge.stop"]
    assert (stop.stiffness, stop.damping, stop.lower, stop.upper) == (123.0, 4.0, -0.5, 0.25)
    for bad, said in ((dict(stiffness=-1), "stiffness is -1"), (dict(stiffness=1, damping=np.nan), "damping is"),
                      (dict(stiffness=(1, 2)), "stiffness has shape")):
        with pytest.raises(mbros.ModelError, match=said):
            mbros.JointStop(hinge, **bad)


def test_elements_act_on_the_multi_axis_coordinate_they_name(rng):
    b = mbros.ModelBuilder("plate", gravity=(0, 0, 0))
    plate = b.add_body("plate", 2.0, (0, 0, 0), (0.1, 0.1, 0.2))
    slide = b.add_joint(mbros.PlanarJoint("slide", b.world, plate))
    for c in range(3):
        b.add_force_element(mbros.JointSpring(slide, 0.1 * c, 10.0 + c, 1.0, coordinate=c))
    model = b.build()
    state = model.default_state()
    state.q[:], state.v[:] = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    expected = -(10.0 + np.arange(3)) * (state.q - 0.1 * np.arange(3)) - state.v
    assert_close(sum(f.generalized_force(state) for f in model.force_elements), expected, 1e-14)
    assert "coordinate 2" in repr(model.force_elements[2]) and model.force_elements[2].coordinate == 2


def test_body_wrench_in_body_axes_brings_power_in(rng):
    for seed in range(4):
        model = rigs.rig("body_wrench", seed)
        f, state = model.force_elements["it"], rigs.state_of(model, rng)
        f.set_torque(state, (0.1, 0.2, 0.3))
        power = f.generalized_force(state) @ state.v                  # in world axes: the force has a potential, the torque has none
        from_force = f.force @ model._frame_velocity(state, f._entry.frame_c)[3:]
        assert f.conservative_power(state) == pytest.approx(from_force, rel=1e-12)
        assert f.nonconservative_power(state) == pytest.approx(power - from_force, rel=1e-9)
        f, state = model.force_elements["it"], rigs.state_of(model, rng)
        f.set_torque(state, (0.1, 0.2, 0.3)).set_in_body(state, 1.0)
        assert f.potential_energy(state) == 0.0 and f.conservative_power(state) == 0.0
        power = f.generalized_force(state) @ state.v
        assert f.nonconservative_power(state) == pytest.approx(power, rel=1e-12)
        R = model.pose(state, f.frame_c).R
        assert_close(f.wrench(state).force, R @ f.force, 1e-13)
        assert_close(f.wrench(state).torque, R @ [0.1, 0.2, 0.3], 1e-13)


def test_a_body_with_reversed_gravity_floats():
    b = mbros.ModelBuilder("lift", gravity=(0, 0, -9.81))
    body = b.add_body("body", 2.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25))
    b.add_force_element(mbros.BodyGravity(b.add_frame("odd", body, (1, 2, 3), (0.4, 0.5, 0.6)), (0, 0, 9.81)))
    model = b.build()
    assert np.abs(model.forward_dynamics(model.default_state(), np.zeros(6))).max() < 1e-12


def refusals():
    b, one, two = builder()
    other, stranger, _ = builder()
    hinge, free = b.joint("hinge"), b.joint("free")
    weld = mbros.WeldJoint("glue", one, two)
    return b, [
        (lambda: mbros.Bushing("world", one), "frame_A is 'world'"),
        (lambda: mbros.Bushing(b.world, one, law="exact"), "law is 'exact'"),
        (lambda: mbros.Bushing(b.world, one, (1, 2)), "torque_stiffness: expected 3 numbers"),
        (lambda: mbros.Bushing(b.world, one, "stiff"), "torque_stiffness: expected 3 numbers.*'stiff'"),
        (lambda: mbros.Bushing(b.world, one, name=""), "its name is ''"),
        (lambda: mbros.Bushing.revolute_z(b.world, one, (1, 2, 3), 1, 1, 1), "torque_stiffness is \\(1, 2, 3\\)"),
        (lambda: mbros.LinearSpringDamper(b.world, one, -0.1, 1.0), "free_length is -0.1"),
        (lambda: mbros.JointSpring("hinge", 0, 1), "joint is 'hinge'"),
        (lambda: mbros.JointSpring(hinge), "it has no stiffness"),
        (lambda: mbros.JointSpring(weld, 0, 1), "'glue' is a weld joint and does not move"),
        (lambda: mbros.JointSpring(free, 0, 1), "has 6 velocities and no coordinate"),
        (lambda: mbros.JointSpring(hinge, 0, 1, coordinate=1), "coordinate is 1; joint 'hinge' \\(revolute\\) has 1"),
        (lambda: mbros.JointSpring(hinge, 0, 1, coordinate=True), "coordinate is True"),
        (lambda: mbros.PrismaticSpring(hinge, 0, 1), "does not slide"),
        (lambda: mbros.DoorHinge(hinge, motion_threshold=0.0), "motion_threshold is 0; expected a finite number, 1e-09 or more"),
        (lambda: mbros.StribeckFriction(hinge, 2.0, 1.0), "breakaway 1 is below coulomb 2"),
        (lambda: mbros.BodyWrench(one, expressed_in="nowhere"), "expressed_in is 'nowhere'"),
        (lambda: mbros.BodyWrench(one, force=(1, 2, np.inf)), "force\\[2\\] is inf"),
        (lambda: mbros.BodyGravity(one, (0, 0)), "gravity: expected 3 numbers"),
        (lambda: b.add_force_element("bushing"), "add_force_element\\(\\) was given 'bushing'"),
    ]


@pytest.mark.parametrize("i", range(len(refusals()[1])))
def test_refused_where_it_is_written(i):
    b, rows = refusals()
    make, said = rows[i]
    with pytest.raises(mbros.MbrosError, match=said):
        make()
    assert b.description.force_elements == []


def test_refused_when_built():
    b, one, two = builder()
    other, stranger, far = builder()
    from mbros.describe.robot import FrameDescription

    b.add_force_element(mbros.Bushing(b.world, stranger, name="a"))
    b.add_force_element(mbros.Bushing(FrameDescription("loose", one), two, name="b"))
    b.add_force_element(mbros.JointSpring(other.joint("hinge"), 0, 1, name="c"))
    b.add_force_element(mbros.Bushing(b.world, two, name="b"))
    with pytest.raises(mbros.ModelError) as caught:
        b.build()
    text = str(caught.value)
    for said in ("'a' (bushing): its frame C 'one' belongs to another model",
                 "'b' (bushing): its frame A 'loose' is not a frame of the model",
                 "'c' (joint spring): its joint 'hinge' belongs to another model", "'b' (bushing): this name is already taken"):
        assert said in text
    element = b.description.force_elements[0]
    with pytest.raises(mbros.ModelError, match="it was added before"):
        b.add_force_element(element)


def test_a_spring_needs_a_position_to_pull_to():
    b, one, two = builder()
    b.add_force_element(mbros.JointSpring(b.joint("free"), 0, 1, coordinate=2))
    with pytest.raises(mbros.ModelError, match="'free' \\(floating\\) has velocities that are not rates of its positions"):
        b.build()


def test_a_model_without_elements_has_none():
    model = mbros.load("pendulum")
    assert [f.kind for f in model.force_elements if f.kind != "stop"] == []
    assert model.spec.force_kind == []


@pytest.mark.seed("BU-15")
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_a_simulation_that_runs_into_gimbal_lock_says_so(integrator):
    b = mbros.ModelBuilder("tumbling", gravity=(0, 0, 0))
    body = b.add_body("body", 1.0, (0, 0, 0), (1.0, 1.0, 1.0))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.Bushing.ball(b.world, body, 10.0, 1.0, name="mount"))
    model = b.build()
    state = model.default_state()
    state.v[1] = 1.0
    sim = mbros.Simulator(model, dt=1e-3, integrator=integrator, state=state)
    with pytest.raises(mbros.FaultError) as caught:
        sim.advance_to(2.0)
    text = str(caught.value)
    assert "Cause: force element 'mount' between frame A 'world' and frame C 'body' is at gimbal lock" in text
    assert "within 0.4584 degrees" in text
    assert sim.time == pytest.approx(np.pi / 2 - 0.008, abs=2e-3)
    assert np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()
    sim.reset()
    sim.advance_to(0.5)


def test_a_state_that_is_not_finite_is_named_before_the_bushing():
    b, one, two = builder()
    b.add_force_element(mbros.Bushing(b.world, two, name="mount"))
    model = b.build()
    state = model.default_state()
    state.q[1] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"q\[1\].*is nan") as caught:
        model.forward_dynamics(state, np.zeros(7))
    assert not isinstance(caught.value, mbros.GimbalLockError)
    with pytest.raises(mbros.NonFiniteError, match="look at the state's q and v"):
        model.force_elements["mount"].potential_energy(state)


def sprung():
    """A body on the world by a bushing and a spring from an added frame, a spring on its arm, friction, a spring in Python."""
    b = mbros.ModelBuilder("sprung", gravity=(0, 0, 0))
    one, two = (b.add_body(name, 1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25)) for name in ("one", "two"))
    b.add_joint(mbros.FloatingJoint("free", b.world, one))
    hinge = b.add_joint(mbros.RevoluteJoint("hinge", one, two, axis=(0, 0.6, 0.8)))
    b.add_force_element(mbros.Bushing(b.world, one, 10, 1, 20, 2, name="mount"))
    b.add_force_element(mbros.LinearSpringDamper(b.add_frame("hook", b.world, (0, 0, 1)), two, 0.1, 20, 2, name="hanger"))
    b.add_force_element(mbros.JointSpring(hinge, 0.1, 5, 1, name="coil"))
    b.add_force_element(rigs.UserBushing(one, two, name="own"))
    return b


@pytest.mark.seed("BU-18", "PJ-38")
def test_clones_and_grafts_take_their_elements_along(rng):
    """A clone does the same; a robot inside another robot, moved and turned, does the same there."""
    model = sprung().build()
    clone = copy.deepcopy(model)
    b = mbros.ModelBuilder("hall", gravity=(0, 0, 0))
    b.add_robot(model, "left", p=(1, 2, 3), rpy=(0.4, 0.5, 0.6))
    b.add_robot(model, "right", p=(-1, 2, 3), rpy=(0.4, -0.5, 0.6))
    hall = b.build()
    assert hall.force_elements.names == tuple(f"{side}/{name}" for side in ("left", "right") for name in model.force_elements.names)
    assert [f.robot for f in hall.force_elements] == ["left"] * 4 + ["right"] * 4 and {f.robot for f in model.force_elements} == {""}
    state, twin, there = model.default_state(), clone.default_state(), hall.default_state()
    state.q[:3], state.q[7] = (0.1, 0.2, 0.3), 0.4
    state.v[:] = rng.uniform(-1, 1, 7)
    twin.q[:], twin.v[:] = state.q, state.v
    there.q[:], there.v[:] = np.tile(state.q, 2), np.tile(state.v, 2)
    vdot = model.forward_dynamics(state, np.zeros(7))
    assert (clone.forward_dynamics(twin, np.zeros(7)) == vdot).all()
    assert_close(hall.forward_dynamics(there, np.zeros(14)), np.tile(vdot, 2), 1e-11)
    assert hall.potential_energy(there) == pytest.approx(2 * model.potential_energy(state), rel=1e-12)


def test_a_copied_subtree_keeps_the_elements_inside_it():
    sub = mbros.ModelBuilder.subtree(sprung().build().joint("hinge")).build()
    assert sub.force_elements.names == ("coil",)
