"""mbros.diff through constraints, alone and beside contact: steps against differences of real steps, accelerations against differences of
forward_dynamics. MBROS_CASES=1000 for a long run."""
import os
import warnings

import contact_states
import numpy as np
import pytest
from loop_rigs import EVERY_KIND, FourBar, branches, closed, slider_crank

import mbros
from mbros import diff
from mbros_core.constraints import _scene

CASES = int(os.environ.get("MBROS_CASES", "100"))
MODELS = {}


@pytest.fixture(autouse=True)
def solved_to_rounding(monkeypatch):
    """Differences of steps see what the solver leaves undone: here it goes as far as rounding allows."""
    monkeypatch.setattr(_scene, "TOLERANCE", 1e-15)
    MODELS.clear()


def model_of(name, *arguments):
    key = (name, *arguments)
    if key not in MODELS:
        make = {"four-bar": lambda kind, base: FourBar(kind=kind, base=base).model, "slider-crank": lambda kind: slider_crank(kind=kind),
                "gripper": lambda: mbros.load("gripper"), "branches": lambda *kinds: branches(kinds),
                "on the ground": lambda *kinds: branches(kinds, ground=True)}
        MODELS[key] = make[name](*arguments)
    return MODELS[key]


def looped_state(rng):
    """(model, state, efforts) some steps after a mechanism was put in motion, alone or on the ground."""
    name = rng.choice(["four-bar", "slider-crank", "gripper", "branches", "on the ground"], p=[0.15, 0.1, 0.1, 0.3, 0.35])
    if name in ("branches", "on the ground"):
        kinds = rng.choice(EVERY_KIND, rng.integers(1, 3), replace=False).tolist()
        if "coupler" not in kinds:                  # rows of two of the others depend on each other
            kinds = kinds[:1]
        model = model_of(name, *sorted(kinds))
        state = closed(model, int(rng.integers(1 << 30)))
        if name == "on the ground":
            on_the_ground(model, state)
    else:
        arguments = {"four-bar": [rng.choice(["ball", "hinge"]), rng.choice([None, "floating"])], "slider-crank": ["ball"], "gripper": []}
        model = model_of(name, *arguments[name])
        state = model.default_state()
        if name == "four-bar":
            state.q[-3:] = FourBar().q(rng.uniform(0.0, 6.0))
        elif name == "slider-crank":
            model.joint("crank").set_position(state, 0.3)
        state.v[:] = rng.normal(size=model.nv) * rng.choice([0.3, 3.0])
        state = model.assemble(state)
    sim = mbros.Simulator(model, dt=contact_states.DT, state=state)
    tau = rng.normal(size=model.nv) * (0.2 if name == "on the ground" else 1.0)
    for _ in range(rng.integers(0, 150)):
        sim.step(tau)
    return model, sim.state, tau


def on_the_ground(model, state):
    """Its lowest ball a millimetre in it, falling slowly."""
    links = [model.pose(state, shape.body) for shape in model.shapes if shape.body.name != "world"]
    lowest = min((X.p + X.R @ (0.15, 0, 0))[2] for X in links)
    X = model.pose(state, "trunk")
    model.joint("base").set_pose(state, mbros.Pose.make((0, 0, 0.049 - lowest)) @ X)
    state.v[:] *= 0.2


def linearized(model, state, tau, integrator="midpoint"):
    """[A B], and the switches that were reported."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        A, B = model.linearize(state, tau, dt=contact_states.DT, integrator=integrator)
    return np.hstack([A, B]), [switch for warning in told for switch in getattr(warning.message, "switches", ())]


def test_against_differences_of_random_states(rng):
    """Every kind, alone and beside contact, away from switches: 1e-6 of the largest entry."""
    compared, touching, taut, worst, seen = 0, 0, 0, 0.0, set()
    for _ in range(10 * CASES):
        model, state, tau = looped_state(rng)
        ropes = [c.name for c in model.constraints if c.kind == "distance" and c.rope]
        integrator = str(rng.choice(["midpoint", "midpoint", "semi_implicit_euler", *(["rk4"] if not model.shapes and not ropes else [])]))
        AB, switches = linearized(model, state, tau, integrator)
        expected, alike = contact_states.differences(model, state, tau, integrator, 4e-8 if model.shapes else 1e-6)
        if switches or not alike:
            continue
        end = contact_states.after(model, state, tau, integrator)
        compared, touching = compared + 1, touching + any(pushes for _, _, pushes, _ in contact_states.what_acts(end))
        taut += any(model.constraints[name].effort(end)[0] != 0.0 for name in ropes)
        seen |= {c.kind for c in model.constraints} | {integrator}
        error = np.abs(AB - expected).max() / np.abs(expected).max()
        worst = max(worst, error)
        assert error <= 1e-6, (model.name, [c.kind for c in model.constraints], integrator, error)
        if compared == CASES:
            break
    print(f"{compared} states, {touching} touching, {taut} on a taut rope; largest error {worst:.1e}")
    assert compared == CASES and touching > CASES / 10 and taut > CASES / 50
    assert seen == {*EVERY_KIND, "midpoint", "semi_implicit_euler", "rk4"} - {"rope"}


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind != "rope"])
def test_accelerations(kind, rng):
    """By q, v and efforts, at any point near the loop."""
    model = model_of("branches", kind)
    state, tau = closed(model, 3), rng.normal(size=model.nv)
    d = diff.forward_dynamics(model, state, tau)
    assert np.allclose(d.value, model.forward_dynamics(state, tau), rtol=0, atol=1e-9 * np.abs(d.value).max())
    e = 1e-6
    for name, change in (("q", lambda x: (contact_states.moved(model, state, x, 0.0), tau)),
                         ("v", lambda x: (contact_states.moved(model, state, 0.0 * x, x), tau)), ("tau", lambda x: (state, tau + x))):
        expected = np.stack([(model.forward_dynamics(*change(x)) - model.forward_dynamics(*change(-x))) / (2 * e)
                             for x in e * np.eye(model.nv)], axis=-1)
        assert np.abs(d[name] - expected).max() <= 1e-6 * np.abs(expected).max(), name
    J = model.constraints[0].jacobian(state)
    assert np.abs(J @ d["tau"]).max() < 1e-9 * np.abs(J).max() * np.abs(d["tau"]).max()       # nothing that efforts do opens it


def test_by_numbers_of_constraints_and_masses(rng):
    """A step and accelerations of a coupler and a rod, by ratio, offset, length, a mass and gravity."""
    for kind, names in (("coupler", ["ratio", "offset"]), ("distance", ["length"])):
        model = model_of("branches", kind)
        state, tau = closed(model, 5), rng.normal(size=model.nv)
        wrt = [*(f"constraint.{kind}0.{name}" for name in names), "mass.left1", "gravity"]
        assert set(wrt) <= set(model.parameter_names)
        for what in ("step", "forward_dynamics"):
            d = diff.derivatives(model, what, state, tau, wrt=wrt)
            for name in wrt:
                value = np.atleast_1d(np.array(model.parameter(state, name), float))
                e, columns = 3e-6 * max(1.0, np.abs(value).max()), []
                for x in e * np.eye(len(value)):
                    ends = []
                    for given in (value + x, value - x):
                        other = state.copy()
                        model.set_parameter(other, name, given if len(given) > 1 else given[0])
                        end = contact_states.after(model, other, tau) if what == "step" else None
                        ends.append(np.concatenate([end.q, end.v]) if end is not None else model.forward_dynamics(other, tau))
                    columns.append((ends[0] - ends[1]) / (2 * e))
                expected = np.stack(columns, axis=-1)
                assert np.abs(d[name] - expected).max() <= 1e-6 * np.abs(expected).max() + 2e-8, (kind, what, name)


def test_redundant_constraints_along_the_loop(rng):
    """The same weld twice does what one does."""
    one, two = branches(["weld"]), branches(["weld", "weld"])
    state, other, tau = closed(one, 2), two.default_state(), rng.normal(size=one.nv)
    other.q, other.v = state.q, state.v
    for dt in (None, 1e-3):
        A, B = one.linearize(state, tau, **({} if dt is None else {"dt": dt}))
        C, D = two.linearize(other, tau, **({} if dt is None else {"dt": dt}))
        alike = 1e-7 if dt is None else 2e-2                       # in a step two are twice as stiff
        assert np.abs(A - C).max() < alike * np.abs(A).max() and np.abs(B - D).max() < alike * np.abs(B).max()


@pytest.mark.parametrize("slack, near", [(1e-3, False), (1e-8, True), (-1e-8, True)])
def test_a_rope_about_to_become_taut(slack, near):
    """A bob on a rope at rest beside where it hangs, held by an effort: on one side its rope pulls, on the other nothing does."""
    b = mbros.ModelBuilder("bob", gravity=(0, 0, 0))
    ball = b.add_body("ball", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, ball, p=(0, 0, 0), axis=(1, 0, 0)))
    b.add_constraint(mbros.DistanceConstraint("rope", b.world, ball, 0.5, rope=True))
    model = b.build()
    state = model.default_state()
    state.q[0] = 0.5 - slack
    AB, switches = linearized(model, state, np.zeros(1))
    assert [(s.shapes, s.rope, s.about_to) for s in switches] == ([((), "rope", ("become taut or slack",))] if near else [])
    assert (abs(AB[1, 0]) > 100.0) == (slack < 0)
    assert linearized(model, state, np.array([100.0]))[1] == [] or not near                # pulled hard enough it is neither
    if near:
        with pytest.warns(mbros.SwitchWarning, match="rope 'rope' is about to become taut or slack"):
            model.linearize(state, np.zeros(1), dt=1e-3)


def test_a_state_is_left_as_it_was(rng):
    model = model_of("branches", "hinge")
    state, tau = closed(model, 1), rng.normal(size=model.nv)
    before = state._inputs.copy()
    first = diff.derivatives(model, "step", state, tau, wrt=("q", "v", "tau"))
    again = diff.derivatives(model, "step", state, tau, wrt=("q", "v", "tau"))
    end = contact_states.after(model, state, tau)
    assert np.array_equal(state._inputs, before) and all(np.array_equal(first[name], again[name]) for name in first)
    assert np.allclose(first.value, np.concatenate([end.q, end.v]), rtol=1e-9, atol=1e-12)
