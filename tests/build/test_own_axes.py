"""What is traced is taken in the bodies' own axes (algorithms/own_axes.pxd): the same numbers as the engine's, for trees of every kind."""
import dataclasses
import itertools
import os

import numpy as np
import pytest
import zoo
from mbros.build.specialize.graph import BY_EITHER_WAY, ways
from mbros.build.specialize.robot import start
from tolerance import condition
from traced_graphs import STEP, value

import mbros_core

CASES = int(os.environ.get("MBROS_CASES", "12"))
KINDS = [row.name for row in zoo.ROWS]
RIGHT = [np.array(p) * s for p in (np.eye(3)[list(order)] for order in itertools.permutations(range(3)))
         for s in itertools.product((1, -1), repeat=3) if np.linalg.det(p) * np.prod(s) > 0]
FIELDS = ("external_force", "gravity", "inertia", "rotor_inertia")


def tree(rng):
    """Of up to eight bodies: mostly revolute, most frames turned by right angles, so that axes are parallel and entries are zero."""
    kinds = [str(rng.choice(KINDS)) if rng.uniform() < 0.3 else "revolute" for _ in range(rng.integers(1, 9))]
    bodies = [zoo.Body(kind, i if rng.uniform() < 0.7 else int(rng.integers(0, i + 1))) for i, kind in enumerate(kinds)]
    spec = zoo.build("random", bodies, rng=rng, stops=True, rotors=bool(rng.integers(0, 2)))
    lock = np.repeat([float(rng.uniform() < 0.1) for _ in kinds], [zoo.BY_NAME[kind].nv for kind in kinds])
    return dataclasses.replace(in_right_angles(spec, rng), lock=lock)


def in_right_angles(spec, rng):
    frames = np.array(spec.X_PF)
    for frame in frames[1:]:
        if rng.uniform() < 0.8:
            R = np.eye(3) if rng.uniform() < 0.4 else RIGHT[rng.integers(0, len(RIGHT))]
            frame[:9] = R.ravel() + 0.0
    return dataclasses.replace(spec, X_PF=frames)


def stepped(model, state, tau, integrator):
    plant = mbros_core.Plant(model, state.copy(), STEP, integrator)
    plant.step(tau)
    return np.r_[plant.state.q, plant.state.v]


@pytest.mark.parametrize("seed", range(CASES))
def test_trees_are_the_same_in_their_own_axes(seed):
    rng = np.random.default_rng(seed)
    compare(tree(rng), rng, ("midpoint", "midpoint", "semi_implicit_euler", "rk4")[seed % 4])


@pytest.mark.parametrize("name", ["mimic", "follower_first", "many_floating"])
def test_followers_are_the_same_in_their_own_axes(name):
    rng = np.random.default_rng(3)
    compare(in_right_angles(zoo.spec(name), rng), rng, "midpoint")


@pytest.mark.parametrize("turn", [1e-12, 7e-9])
def test_axes_that_are_almost_another_s_are_their_own(turn):
    """As of files with angles of ten digits: the cosine of what they are off is 1."""
    rng = np.random.default_rng(5)
    spec = zoo.build("almost", zoo.chain(["revolute"] * 5))
    for frame in spec.X_PF[1:]:
        x, y, z = rng.choice((-turn, turn), 3)
        frame[:9] = (RIGHT[rng.integers(0, len(RIGHT))] @ np.array([[1, -z, y], [z, 1, -x], [-y, x, 1]])).ravel()
    compare(spec, rng, "midpoint")


def compare(spec, rng, step):
    """All that is traced of a robot, in both ways, with some fields live."""
    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.uniform(-1, 1, model.nv)
    state.v[state.field("lock")[:] != 0.0] = 0.0
    live = FIELDS[:rng.integers(0, 5)]
    for name in live:
        state.field(name)[:] *= rng.uniform(0.9, 1.1, state.field(name).shape)
    if "external_force" in live:
        state.external_force[1:] = rng.normal(size=(len(spec.parent) - 1, 6))
    places = [at for name in live for at in range(start(state, name), start(state, name) + state.field(name).size)]
    x = rng.normal(size=model.nv)
    M = model.mass_matrix(state)
    close = 1e-14 * condition(M) if model.nv else 0.0
    wanted = {"forward_dynamics": model.forward_dynamics(state, x), "inverse_dynamics": model.inverse_dynamics(state, x),
              "mass_matrix": M.ravel()}
    wanted[step] = stepped(model, state, x, step)
    if model._has_slopes(True) and not spec.constraint_names:
        wanted["forward_dynamics_derivatives"] = model._forward_dynamics_slopes(state, x).ravel()
        wanted["inverse_dynamics_derivatives"] = model._inverse_dynamics_slopes(state, x).ravel()
    for what, expected in wanted.items():
        graphs = list(ways(spec, what, places))
        assert len(graphs) == 1 + (what in BY_EITHER_WAY)
        for graph in graphs:
            found = np.array(value(graph, state, x))[:len(expected)]
            assert np.abs(found - expected).max(initial=0.0) <= close * max(1.0, np.abs(expected).max(initial=0.0)), (what, live)
            for lanes in (False, True):
                other = graph.ordered(lanes)
                assert sorted(other.order) == graph.order and value(other, state, x) == value(graph, state, x), (what, lanes)
