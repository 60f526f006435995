"""What a joint or force element written in Python raises while the engine calls it reaches whoever called the engine, every time."""
import gc
import random
import weakref

import numpy as np
import pytest
from interrupting import interrupt_after

import mbros
from mbros_core.engine.user_code import raised


class Spring(mbros.ForceElement):
    """100 N/m towards A; `trouble` is raised in that many evaluations to come."""

    trouble, times = None, 0

    def wrench(self, pose, velocity):
        if self.times:
            self.times -= 1
            raise self.trouble
        return np.zeros(3), -100.0 * pose.p

    def energy(self, pose):
        return 50.0 * float(pose.p @ pose.p)


class Slope(mbros.JointLaw):
    """x = s, z = s^2 / 2; `trouble` as a Spring's."""

    nq = nv = 1
    trouble, times = None, 0

    def pose(self, q):
        if self.times:
            self.times -= 1
            raise self.trouble
        return np.eye(3), np.array([q[0], 0.0, 0.5 * q[0] ** 2])

    def subspace(self, q):
        return np.array([[0, 0, 0, 1, 0, q[0]]], float).T

    def bias(self, q, v):
        return np.array([0, 0, 0, 0, 0, v[0] ** 2])


def rig(what):
    """(model, the object whose code the engine runs)."""
    b = mbros.ModelBuilder("rig")
    body = b.add_body("B", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    if what == "joint":
        law = Slope()
        b.add_joint(mbros.CustomJoint("mine", b.world, body, law))
        return b.build(), law
    b.add_joint(mbros.PrismaticJoint("slide", b.world, body))
    spring = Spring(b.world, body, name="mine")
    b.add_force_element(spring)
    return b.build(), spring


both = pytest.mark.parametrize("what", ["joint", "force element"])


@both
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_trial_A3_100_of_100_interrupts_are_interrupts(what, integrator):
    model, chance = rig(what)[0], random.Random(integrator)
    for _ in range(100):
        sim = mbros.Simulator(model, integrator=integrator)
        with pytest.raises(KeyboardInterrupt), interrupt_after(chance.uniform(0.5e-3, 1e-2)):
            sim.advance_to(1000.0)
        assert sim.plant.fault[0] == 0 and np.isfinite(sim.state.q).all() and raised(model) is None
        sim.step()


@both
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("trouble", [KeyboardInterrupt, SystemExit, ArithmeticError])
def test_trial_A3_what_one_evaluation_of_a_step_raises_outlives_the_others(what, integrator, trouble):
    """A step asks several times; only the first one raises."""
    model, code = rig(what)
    sim = mbros.Simulator(model, integrator=integrator)
    sim.step()
    code.trouble, code.times = trouble("once"), 1
    q = sim.state.q.copy()
    with pytest.raises(mbros.FaultError if trouble is ArithmeticError else trouble) as caught:
        sim.step()
    if trouble is ArithmeticError:
        assert "'mine'" in str(caught.value) and "raised ArithmeticError: once" in str(caught.value)
        sim.reset()
    else:
        assert np.array_equal(sim.state.q, q)
    sim.step()


def test_trial_A3_an_interrupt_whose_result_nobody_looks_at_is_raised_by_the_next_call():
    model, code = rig("joint")
    state = model.default_state()
    code.trouble, code.times = KeyboardInterrupt(), 1
    model._frame_pose(state, 0)                          # the world's: finite whatever the joint says
    assert code.failure is code.trouble
    with pytest.raises(KeyboardInterrupt):
        model.forward_dynamics(state, [0.0])
    assert code.failure is None and np.isfinite(model.forward_dynamics(state, [0.0])).all()


def test_trial_A3_an_interrupt_of_what_is_asked_of_one_element_comes_from_the_call():
    model, code = rig("force element")
    state = model.default_state()
    code.trouble, code.times = KeyboardInterrupt(), 1
    with pytest.raises(KeyboardInterrupt):
        model._force_element(state, 0)
    assert code.failure is None and np.isfinite(model.forward_dynamics(state, [0.0])).all()


def test_a_stale_exception_does_not_spoil_a_good_call():
    model, code = rig("joint")
    state = model.default_state()
    code.trouble, code.times = ArithmeticError("over there"), 1
    model._frame_pose(state, 0)
    state.q[:] = 0.1
    assert np.isfinite(model.forward_dynamics(state, [0.0])).all() and code.failure is None


def test_python_is_not_asked_about_nan():
    model, spring = rig("force element")
    asked = []
    spring.wrench = lambda pose, velocity: asked.append(pose.p[0]) or (np.zeros(3), np.zeros(3))
    state = model.default_state()
    state.q[:] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"q\[0\] \(joint 'slide'\) is nan"):
        model.forward_dynamics(state, [0.0])
    assert asked == []


def test_a_law_whose_sizes_change_after_it_was_built_writes_nowhere_else():
    model, law = rig("joint")
    before = model.forward_dynamics(model.default_state(), [0.0])
    law.nv = 3
    assert model.forward_dynamics(model.default_state(), [0.0]) == before
    law.subspace = lambda q: np.ones((6, 1)).tolist()
    model.forward_dynamics(model.default_state(), [0.0])


def test_a_capsule_keeps_what_it_points_at_alive():
    law = Slope()
    capsule, gone = law.capsule, weakref.ref(law)
    del law
    gc.collect()
    assert gone() is not None, "the capsule was all that was left of it"
    del capsule
    gc.collect()
    assert gone() is None


def test_a_model_outlives_the_capsules_it_was_made_of():
    model, law = rig("joint")
    law._callback = None                                 # as if it were made anew
    gc.collect()
    assert np.isfinite(model.forward_dynamics(model.default_state(), [0.0])).all()
