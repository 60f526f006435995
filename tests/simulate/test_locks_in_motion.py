"""Coordinates that are stopped at once, or get another velocity, take the impulse of it from the whole robot."""
import numpy as np
import pytest
from bench_rigs import bench
from driven_robots import with_mimic
from loop_rigs import EVERY_KIND, branches, closed

import mbros
from mbros_core.realtime import Loop

FORCES = ("gravity", "damping", "friction", "stop_stiffness", "stop_damping")
KNEES = ("FL_calf_joint", "RR_thigh_joint")


def in_motion(model, seed=0):
    """A state in which nothing acts."""
    state, rng = model.default_state(), np.random.default_rng(seed)
    for name in FORCES:
        state.field(name)[...] = 0.0
    state.v[:] = rng.normal(size=model.nv)
    return state


def momentum(model, state):
    """About the centre of mass, [angular; linear]."""
    return np.array(model.centroidal_momentum(state))


def stopped(model, state, columns):
    """(v+, impulses) of v+ = v - M^-1 J^T (J M^-1 J^T)^-1 J v, constraints among the rows of J."""
    J = np.vstack([np.eye(model.nv)[columns], np.asarray(model._constraint_jacobian(state))])
    A = np.linalg.solve(np.array(model.mass_matrix(state)), J.T)
    p = -np.linalg.lstsq(J @ A, J @ state.v, rcond=1e-11)[0]
    return state.v + A @ p, p[:len(columns)]


def test_trial_P20_a_lock_keeps_the_momentum_of_a_free_robot_and_says_what_it_took():
    model = mbros.load("quadruped")
    state = in_motion(model)
    for name in KNEES:
        joint, before, energy = model.joint(name), momentum(model, state), model.kinetic_energy(state)
        held = [k for k in range(model.nv) if state.field("lock")[k] != 0.0] + [joint.v_slice.start]
        v, p = stopped(model, state, held)
        joint.lock(state)
        assert state.v[joint.v_slice] == 0.0
        assert abs(momentum(model, state) - before).max() < 1e-12 * abs(before).max()
        assert model.kinetic_energy(state) < energy
        assert abs(state.v - v).max() < 1e-12 * abs(v).max()
        took = [model.joint(name).mobilizer.impulse(state)[0] for name in KNEES if model.joint(name).is_locked(state)]
        assert sorted(took) == pytest.approx(sorted(p), rel=1e-11)
    with pytest.raises(mbros.StateError, match="not locked in this state.*joint.lock"):
        model.joint("FL_hip_joint").mobilizer.impulse(state)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_trial_P20_constraints_are_kept_and_carry_their_part(kind):
    model = branches([kind])
    state = closed(model, 3)
    if kind == "rope":
        state.v[:] = 0.0                                        # taut or slack: here it does not move
        state.v[model.joint("left joint0").v_slice] = 1.0
        state = model.assemble(state)
    joint = model.joint("left joint1")
    before, energy = momentum(model, state), model.kinetic_energy(state)
    v, p = stopped(model, state, [joint.v_slice.start])
    joint.lock(state)
    assert abs(momentum(model, state) - before).max() < 1e-12 * (1.0 + abs(before).max())
    assert model.kinetic_energy(state) <= energy
    if kind != "rope":
        assert abs(np.asarray(model._constraint_jacobian(state)) @ state.v).max() < 1e-11
        assert abs(state.v - v).max() < 1e-10 and joint.mobilizer.impulse(state) == pytest.approx(p, rel=1e-9)


def test_trial_P20_joints_that_share_coordinates_and_those_with_many():
    model = with_mimic()
    state = in_motion(model)
    v, p = stopped(model, state, [1])
    model.joint("b").lock(state)
    assert abs(state.v - v).max() < 1e-13 and model.joint("b").mobilizer.impulse(state) == pytest.approx(p, rel=1e-12)
    model = mbros.load("quadruped")
    state = in_motion(model)
    v, p = stopped(model, state, list(range(6)))
    base = model.joints[0].lock(state)
    assert abs(state.v - v).max() < 1e-12 and base.mobilizer.impulse(state) == pytest.approx(p, rel=1e-11)


def test_trial_P20_it_is_the_limit_of_a_stiff_brake():
    """A damper D leaves J / (h D), 1e-10, of the velocity after a step of h, in which the others move on: the rest is of the order of h."""
    model = mbros.load("quadruped")
    joint, left = model.joint(KNEES[0]), []
    for h in (1e-5, 1e-6):
        locked, braked = (mbros.Simulator(model, dt=h) for _ in range(2))
        for sim in (locked, braked):
            sim.state.v[:] = in_motion(model).v
            for name in FORCES:
                sim.state.field(name)[...] = 0.0
        joint.lock(locked.state)
        joint.set_damping(braked.state, 1e14)
        locked.step()
        braked.step()
        left.append(abs(locked.state.v - braked.state.v).max())
    assert left[0] < 10.0 * 1e-5 * (1.0 + abs(locked.state.v).max()) ** 2 and left[1] < 0.2 * left[0]


def lock(sim, joint):
    joint.lock(sim.state)


def by_parameter(sim, joint):
    sim.model.set_parameter(sim.state, f"locked.{joint.name}", True)


def by_source(sim, joint):
    sim.set_source(joint.name, "locked")


def by_fault(sim, joint):
    sim.inject(mbros.Fault("jam", "stuck", joint=joint.name))
    sim.faults["jam"].start()


def by_prescribed(sim, joint):
    joint.prescribe(sim.state, velocity=-0.5)


def by_motion(sim, joint):
    begin, q = sim.time, joint.position(sim.state)[0]
    sim.prescribe(joint, lambda t: (q - 0.5 * (t - begin), -0.5, 0.0))


@pytest.mark.parametrize("stop", [lock, by_parameter, by_source, by_fault, by_prescribed, by_motion], ids=lambda stop: stop.__name__)
def test_trial_P20_whatever_stops_a_joint_leaves_the_momentum(stop):
    """The step's own error is of the square of h, here 0.1 us."""
    model = mbros.load("quadruped")
    sim = mbros.Simulator(model, dt=1e-7, bench=bench(mbros.JointSource("s", joint=KNEES[0])) if stop is by_source else True)
    for name in FORCES:
        sim.state.field(name)[...] = 0.0
    sim.state.v[:] = in_motion(model).v
    sim.step()
    before, joint = momentum(model, sim.state), model.joint(KNEES[0])
    assert abs(joint.velocity(sim.state)[0]) > 0.1
    stop(sim, joint)
    sim.step()
    assert joint.velocity(sim.state)[0] == pytest.approx(-0.5 if stop in (by_prescribed, by_motion) else 0.0, abs=1e-12)
    assert abs(momentum(model, sim.state) - before).max() < 1e-12 * abs(before).max()


def test_trial_P20_the_parameters_of_a_loop_lock_as_a_state_does():
    model = mbros.load("quadruped")
    sim = mbros.Simulator(model)
    sim.state.v[:] = in_motion(model).v
    told = sim.state.copy()
    told.v[:] = 0.0
    for name in FORCES:
        sim.state.field(name)[...] = told.field(name)[...] = 0.0
    before, joint = momentum(model, sim.state), model.joint(KNEES[0])
    joint.lock(told)
    loop = Loop(sim.plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0)
    with loop:
        loop.set_parameters(sim.plant.parameter_block(told))
        loop.step_once(1)
    assert joint.velocity(sim.state) == 0.0
    assert abs(momentum(model, sim.state) - before).max() < 1e-6 * abs(before).max()        # of a midpoint step of 1 ms


def test_trial_P20_a_velocity_written_to_a_locked_joint_is_no_motion():
    model = mbros.load("quadruped")
    state = in_motion(model)
    joint = model.joint(KNEES[0]).lock(state)
    sim = mbros.Simulator(model)
    sim.state.set_v(state.v)
    joint.lock(sim.state)
    other = sim.state.copy()
    joint.set_velocity(sim.state, 3.0)
    sim.step()
    twin = mbros.Simulator(model)
    twin.state.set_v(other.v)
    joint.lock(twin.state)
    twin.step()
    assert (sim.state.v == twin.state.v).all()
