"""The plant: effort limits, faults, resets and what it shows of itself."""
import numpy as np
import pytest
import robots
import zoo

import mbros_core
from mbros_core import FaultError, NonFiniteError


def limited(limit=2.0):
    spec = zoo.build("limited", zoo.chain(["revolute", "prismatic", "revolute"]))
    spec.effort_limit[:] = [limit, np.inf, limit / 2]
    return mbros_core.Model(spec)


def test_efforts_are_clamped_and_counted():
    """One count per coordinate and step; the clamped command is what acts."""
    model = limited()
    a, b = (mbros_core.Plant(model, model.default_state()) for _ in range(2))
    for _ in range(10):
        a.step([5.0, 1e3, -3.0])
        b.step([2.0, 1e3, -1.0])
    assert a.clamped == 20 and b.clamped == 0
    assert np.array_equal(a.state.q, b.state.q) and np.array_equal(a.state.v, b.state.v)
    assert np.array_equal(a.effort, [2.0, 1e3, -1.0])
    a.step([0.5, 0.0, 1.5])
    assert a.clamped == 21
    a.reset()
    assert a.clamped == 0


def test_the_algorithms_do_not_clamp():
    model = limited()
    state = model.default_state()
    small, large = (model.forward_dynamics(state, [x, 0, 0]) for x in (2.0, 20.0))
    middle = model.forward_dynamics(state, [11.0, 0, 0])
    assert np.allclose(middle, (small + large) / 2, rtol=1e-12)


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
@pytest.mark.parametrize("joint", [0, 1, 2])
def test_a_torque_of_1e300_is_a_fault_of_its_joint(joint, integrator):
    """The state stays the last good one, nothing moves until a reset, and the sentence names the joint and the time."""
    model = robots.model("rotors_only")
    plant = mbros_core.Plant(model, model.default_state(), integrator=integrator)
    tau = np.array([0.1, -0.2, 0.3, 0.1])
    for _ in range(7):
        plant.step(tau)
    q, v, t = plant.state.q.copy(), plant.state.v.copy(), plant.state.field("time")[0]
    bad = tau.copy()
    bad[joint] = 1e300
    for command in (bad, tau):                                # a fault stays one under a good command
        with pytest.raises(FaultError, match=rf"joint 'joint{joint + 1}' would not have stayed finite.*t = 0.007 s"):
            plant.step(command)
        assert np.array_equal(plant.state.q, q) and np.array_equal(plant.state.v, v)
        assert plant.state.field("time")[0] == t
    assert plant.fault[0] != 0
    assert np.isfinite(plant.observe()).all()
    plant.reset(q, v)
    assert plant.fault[0] == 0
    plant.step(tau)
    assert not np.array_equal(plant.state.q, q)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_commands_that_are_not_finite_are_refused(bad):
    model = limited()
    plant = mbros_core.Plant(model, model.default_state())
    for call in (plant.step, lambda tau: plant.steps(tau, 3)):
        with pytest.raises(NonFiniteError, match=r"tau\[2\] \(joint 'joint3'\)"):
            call([0.0, 0.0, bad])
    assert plant.fault[0] == 0 and plant.state.field("time")[0] == 0
    plant.step([0.0, 0.0, 0.0])


def test_a_fault_in_the_middle_of_many_steps():
    spec = zoo.build("runaway", zoo.chain(["prismatic"]), gravity=(0, 0, 0), damped=False)
    plant = mbros_core.Plant(mbros_core.Model(spec), dt=1.0)
    with pytest.raises(FaultError, match="would not have stayed finite"):
        plant.steps([1e8], 10**6)
    assert abs(plant.state.q[0]) < 1e10


def test_steps_is_step_many_times(rng):
    model = robots.model("floating_tree")
    a, b = (mbros_core.Plant(model, model.default_state(), integrator="rk4") for _ in range(2))
    tau = rng.normal(size=18)
    a.steps(tau, 25)
    for _ in range(25):
        b.step(tau)
    assert np.array_equal(a.state.q, b.state.q) and np.array_equal(a.state.v, b.state.v)


def test_without_a_command_nothing_acts():
    model = limited()
    a, b = (mbros_core.Plant(model, model.default_state()) for _ in range(2))
    a.step()
    b.step(np.zeros(3))
    assert np.array_equal(a.state.v, b.state.v)


def test_snapshot_says_what_is(rng):
    """Every part of the layout, against the algorithms."""
    model = robots.model("mimic")
    spec, last = model.spec, len(model.spec.frame_body) - 1
    state = model.default_state()
    state.q[:], state.v[:] = rng.normal(size=(2, model.nv))
    plant = mbros_core.Plant(model, state, transform_pairs=[(0, last), (last, 1)])
    plant.step(rng.normal(size=model.nv))
    x = plant.observe()
    part = {name: x[at:at + size] for name, (at, size) in plant.layout.items()}
    assert sum(size for _, size in plant.layout.values()) == len(x)
    assert np.array_equal(part["q"], state.q) and np.array_equal(part["v"], state.v)
    assert np.array_equal(part["effort"], plant.effort)
    starts = np.cumsum([0] + [int(leader < 0) for leader in spec.leader[1:]])
    for k, i in enumerate(range(1, len(spec.parent))):
        leads = spec.leader[i] < 0
        source = starts[i - 1] if leads else starts[spec.leader[i] - 1]
        ratio, offset = (1.0, 0.0) if leads else (spec.ratio[i], spec.offset[i])
        assert part["joint_position"][k] == pytest.approx(ratio * state.q[source] + offset, rel=1e-15)
        assert part["joint_velocity"][k] == pytest.approx(ratio * state.v[source], rel=1e-15)
        assert part["joint_effort"][k] == (plant.effort[source] if leads else 0.0)
    assert part["energy"] == pytest.approx([model.kinetic_energy(state), model.potential_energy(state)], rel=1e-13)
    for (a, b), y in zip([(0, last), (last, 1)], part["transforms"].reshape(2, 7)):
        X = model._frame_pose(state, b, relative_to=a)
        assert y[:3] == pytest.approx(X[9:], abs=1e-15)
        qx, qy, qz, qw = y[3:]
        R = np.array([[1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qw * qz), 2 * (qx * qz + qw * qy)],
                      [2 * (qx * qy + qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qw * qx)],
                      [2 * (qx * qz - qw * qy), 2 * (qy * qz + qw * qx), 1 - 2 * (qx * qx + qy * qy)]])
        assert np.abs(R - X[:9].reshape(3, 3)).max() < 1e-14


@pytest.mark.parametrize("turn", range(8))
def test_transforms_have_unit_quaternions_at_every_angle(turn, rng):
    """Also half turns about each axis, where the scalar part vanishes."""
    model = robots.model("free_body")
    spec = zoo.spec("free_body")
    spec.X_PF[1] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    model = mbros_core.Model(spec)
    quat = np.eye(4)[turn] if turn < 4 else zoo.quaternion(rng)
    plant = mbros_core.Plant(model, model.default_state(), transform_pairs=[(0, 1)])
    plant.reset(q=[1, 2, 3, *quat])
    at, _ = plant.layout["transforms"]
    x, y, z, w = plant.observe()[at + 3:at + 7]
    assert abs(np.linalg.norm([x, y, z, w]) - 1) < 4e-16
    assert abs(abs(np.dot([w, x, y, z], quat)) - 1) < 4e-16


def test_reset_normalises_and_restarts_time(rng):
    model = robots.model("free_body")
    plant = mbros_core.Plant(model, model.default_state())
    plant.steps(np.zeros(6), 10)
    quat = zoo.quaternion(rng)
    plant.reset(q=[0, 0, 0, *(2 * quat)], v=np.ones(6))
    assert np.abs(plant.state.q[3:] - quat).max() < 4e-16
    assert plant.state.field("time")[0] == 0 and (plant.state.v == 1).all()
    plant.reset()
    assert np.array_equal(plant.state.q, model.spec.q_default) and not plant.state.v.any()


@pytest.mark.parametrize("arguments, message", [
    ({"integrator": "euler"}, "integrator is 'euler'; expected 'midpoint', 'semi_implicit_euler', 'rk4' or 'dormand_prince'"),
    ({"dt": 0.0}, "dt is 0; expected a step"),
    ({"dt": -1e-3}, "dt"), ({"dt": float("nan")}, "dt"), ({"transform_pairs": [(0, 99)]}, "transform_pairs"),
    ({"joint_rows": [(9, 9, 1.0, 0.0, 1)]}, "joint_rows")])
def test_wrong_plants_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        mbros_core.Plant(limited(), **arguments)


def test_parameters_block_matches_the_state(rng):
    model = robots.model("branched")
    plant = mbros_core.Plant(model, model.default_state())
    block = plant.parameter_block()
    for name, (at, size) in plant.parameters.items():
        assert np.array_equal(block[at:at + size], plant.state.field(name).ravel())
