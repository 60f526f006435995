"""The loop around the engine's own plant: the same numbers as stepping it from Python, faults that name their joint."""
import numpy as np
import pytest

import mbros
from mbros_core import Plant
from mbros_core.realtime import Loop


@pytest.fixture
def model():
    return mbros.load("arm7")


def loop_of(plant, **options):
    return Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0, **options)


def test_the_loop_steps_the_engine_bit_for_bit(model, rng):
    efforts = rng.normal(scale=2.0, size=(50, model.nv))
    stepped, looped = Plant(model, dt=1e-3), Plant(model, dt=1e-3)
    loop = loop_of(looped)
    with loop:
        for tau in efforts:
            loop.command(tau)
            loop.step_once(1)
            stepped.step(tau)
            header, x = loop.snapshot()
            assert np.array_equal(x, stepped.observe())
    assert header.step == 50 and loop.statistics().inputs[0].accepted == 50
    q, nq = looped.layout["q"]
    assert np.any(x[q:q + nq] != 0.0)


def test_parameters_by_name(model):
    weightless, loop = Plant(model, dt=1e-3), None
    loop = loop_of(weightless)
    with loop:
        loop.set_parameters({"gravity": [0.0, 0.0, 0.0]})
        loop.step_once(20)
        header, x = loop.snapshot()
    v, nv = weightless.layout["v"]
    assert not x[v:v + nv].any()
    assert header.parameters == 1


def test_an_impossible_effort_is_a_fault_that_names_the_joint(model):
    model = mbros.load("pendulum")
    plant = Plant(model, dt=1.0)
    loop = Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True)
    loop.reset(np.full(model.nq, 0.0), np.full(model.nv, 9.9e9))
    with loop:
        with pytest.raises(RuntimeError, match="reset the loop first"):
            loop.step_once(20)
        header, x = loop.snapshot()
        assert np.isfinite(x).all() and loop.state == "fault"
        assert loop.fault.text.startswith(f"step {header.step + 1}: ")
        assert any(joint.name in loop.fault.text for joint in model.joints)
        loop.reset()
        loop.step_once(3)
        assert loop.snapshot()[0].step == 3


def test_zero_allocations_with_the_engine(model, allocates_nothing):
    allocates_nothing(Plant(model, dt=1e-3, transform_pairs=[(0, k) for k in range(1, len(model.spec.frame_body))]))


def test_zero_allocations_where_the_dynamics_go_through_the_mass_matrix(allocates_nothing):
    """A robot with followers: the dense matrix is there before the first step."""
    b = mbros.ModelBuilder("gripper")
    left, right = (b.add_body(name, 0.1, (0, 0, 0.1), np.diag([1e-3, 1e-3, 1e-3])) for name in ("left", "right"))
    b.add_joint(mbros.PrismaticJoint("left", b.world, left))
    b.add_joint(mbros.PrismaticJoint("right", b.world, right, mimic=("left", -1.0, 0.0)))
    plant = Plant(b.build())
    assert plant.model.spec.leader.max() >= 0
    allocates_nothing(plant)
