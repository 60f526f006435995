"""Analytic derivatives of models with force elements on bodies, against dual numbers on every tree of the zoo, and against differences."""
import dataclasses

import numpy as np
import pytest
import seed_models
import zoo
from mbros_core.forces.diagnosis import BUSHINGS, cos_pitch
from mbros_core.forces.registry import BY_NAME as FORCES
from test_diff_analytic import Oracle, agree, close

import mbros
import mbros_core
from mbros import diff
from mbros.diff.algorithms import by_dual_numbers

KINDS = ("bushing", "bushing_energy_consistent", "bushing_quaternion", "spring_damper", "body_wrench", "body_gravity")
MOVING = [name for name in zoo.NAMES if len(zoo.spec(name).damping)]


def numbers(kind, rng):
    """All different; a wrench in the body's axes every second time."""
    x = np.zeros(16)
    least = FORCES[kind].least
    x[:len(least)] = [rng.uniform(-1.0, 1.0) if low is None else rng.uniform(0.2, 2.0) for low in least]
    if kind == "body_wrench":
        x[6] = rng.integers(0, 2)
    return x


def with_elements(spec, ends, rng, kinds=KINDS):
    """(model, state): elements of these kinds in turn, one for each (A, C) of `ends`, in a state away from gimbal lock, poisoned."""
    kinds = [kinds[k % len(kinds)] for k in range(len(ends))]
    body = np.array([(-1 if FORCES[kind].acts_on == "body" else a, c) for kind, (a, c) in zip(kinds, ends)], np.int32)
    for _ in range(100):                            # frames too: on bodies that cannot move against each other they decide
        model = mbros_core.Model(dataclasses.replace(
            spec, force_names=[f"e{k}" for k in range(len(kinds))], force_kind=kinds, force_body=body,
            force_X=np.array([[zoo.placement(rng) for _ in range(2)] for _ in kinds]),
            force_coordinate=np.full((len(kinds), 2), -1, np.int32), force_parameters=np.array([numbers(kind, rng) for kind in kinds])))
        state = model.default_state()
        state._poison()
        state.q[:], state.v[:], state.external_force[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv), 0.0
        if all(cos_pitch(model, state, k)[1] > 0.2 for k, kind in enumerate(kinds) if kind in BUSHINGS):
            return model, state
    raise AssertionError("no state away from gimbal lock")


def anywhere(spec, rng, n):
    return rng.integers(0, len(spec.parent), (n, 2))


@pytest.mark.parametrize("name", MOVING)
def test_every_tree_of_the_zoo(name, rng):
    """Twice each kind between any bodies, so also on the world, on one body and between branches; and beside the user's wrenches."""
    spec = zoo.spec(name)
    model, state = with_elements(spec, anywhere(spec, rng, 2 * len(KINDS)), rng)
    agree(model, state, rng.normal(size=model.nv))
    state.external_force[:] = rng.normal(size=state.external_force.shape)
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("A, C", [(0, 4), (3, 0), (1, 4), (4, 4), (4, 7), (7, 4), (3, 10), (8, 6)])
def test_each_kind_alone(kind, A, C, rng):
    """From and to the world, along one branch, on one body, between branches and between trees."""
    model, state = with_elements(zoo.spec("branched"), [(A, C)], rng, (kind,))
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("name", ["all_kinds", "branched", "mimic", "many_floating"])
def test_locked_and_prescribed_joints(name, rng):
    spec = zoo.spec(name)
    model, state = with_elements(spec, anywhere(spec, rng, 6), rng)
    for number, (_, _, v) in enumerate(zoo.slices(spec)[::2]):
        state.field("lock")[v] = 1 + number % 2
        state.field("a_given")[v] = rng.normal(size=v.stop - v.start) * (number % 2)
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("name", ["all_kinds", "floating_tree", "mimic"])
def test_linear_dynamics(name, rng):
    """Of motion, and of steps in which all is soft. A of a step is compared beside the identity that it is for small dt."""
    spec, dt = zoo.spec(name), 1e-4
    model, state = with_elements(spec, anywhere(spec, rng, 8), rng)
    state.field("a_prev")[:], tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
    n, linear, oracle = model.nv, mbros_core.LinearDynamics(model, mbros_core.dual().halves), Oracle(model).linear
    for what in ("forward_dynamics", "step"):
        ours, exact = [(np.empty((1, 2 * n, 2 * n)), np.empty((1, 2 * n, n))) for _ in range(2)]
        assert linear.linearize(what, state._inputs[None], tau[None], *ours, dt) == []
        assert oracle.linearize(what, state._inputs[None], tau[None], *exact, dt) == -1
        if what == "step":
            ours[0][0], exact[0][0] = (ours[0][0] - np.eye(2 * n)) / dt, (exact[0][0] - np.eye(2 * n)) / dt
        assert close(ours[0], exact[0], 1e-11) and close(ours[1], exact[1])


def hanging(stiffness):
    """A double pendulum, a bushing between its bodies and a spring to the world."""
    b = mbros.ModelBuilder("hanging")
    one, two = seed_models.box(b, "one"), seed_models.box(b, "two")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, one, (0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("wrist", one, two, (1, 0, 0), p=(0.1, 0.2, -0.4)))
    above = b.add_frame("above", b.world, p=(0.3, 0.2, 1.0))
    b.add_force_element(mbros.LinearSpringDamper(above, two.frame, 0.5, 50.0, 1.0, name="spring"))
    b.add_force_element(mbros.Bushing(one.frame, two.frame, 3.0, 0.1, stiffness, 2.0, law="quaternion", name="mount"))
    return b.build()


@pytest.mark.parametrize("stiffness, soft", [(50.0, True), (1e9, False)])
def test_steps_of_stiff_elements_are_left_to_dual_numbers(stiffness, soft, rng):
    model = hanging(stiffness)
    state, x = model.random_state(rng), rng.normal(size=2)
    A, B = model.linearize(state, x, dt=1e-3)
    exact = by_dual_numbers(model, "step", state, x, ("q", "v", "tau"), dt=1e-3)
    assert close(A, np.hstack([exact["q"], exact["v"]])) and close(B, exact["tau"])
    assert (mbros_core.LinearDynamics(model, mbros_core.dual().halves).of_state(state, x, 1e-3) is not None) == soft


def test_differences_of_the_dynamics(rng):
    """Central ones, of fourth order: 1e-3 to the fourth of what the fifth derivatives are, which the factor leaves room for."""
    model = hanging(50.0)
    state, x, h = model.random_state(rng), rng.normal(size=2), 1e-3
    for run, of in ((diff.forward_dynamics, model.forward_dynamics), (diff.inverse_dynamics, model.inverse_dynamics)):
        d = run(model, state, x)
        for name in ("q", "v"):
            for k in range(2):
                def at(side, of=of, name=name, k=k):
                    other = state.copy()
                    getattr(other, name)[k] += side * h
                    return of(other, x)
                column = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
                assert np.abs(column - d[name][:, k]).max() <= 1e3 * h**4 * np.abs(d[name]).max()


def test_results_are_written_over_and_no_other_state_counts(rng):
    model = hanging(50.0)
    state, x = model.random_state(rng), rng.normal(size=2)
    d = diff.forward_dynamics(model, state, x)
    assert np.array_equal(d.value, model.forward_dynamics(state, x))
    state.q[0] += 0.3
    fresh = diff.forward_dynamics(model, state, x)
    assert diff.forward_dynamics(model, state, x, out=d) is d and all(np.array_equal(d[name], fresh[name]) for name in d)


def test_a_spring_without_length_has_none(rng):
    """It is said, and `out` keeps what it holds."""
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "B")
    b.add_joint(mbros.TranslationJoint("slide", b.world, body, 3))
    b.add_force_element(mbros.LinearSpringDamper(b.world, body, free_length=0.0, stiffness=3.0, damping=0.1, name="it"))
    model = b.build()
    state = model.default_state()
    for run in (diff.forward_dynamics, diff.inverse_dynamics):
        state.q[:] = 0.1, 0.2, 0.3
        d = run(model, state, np.zeros(3))
        before = np.array(d["q"])
        state.q[:] = 0.0
        for out in (None, d):
            with pytest.raises(mbros.NonFiniteError, match="the value is finite and a derivative is not"):
                run(model, state, np.zeros(3), out=out)
        assert np.array_equal(d["q"], before)
