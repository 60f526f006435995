"""Robots compiled to code of their own: the same numbers as the general engine's, wherever a model is used."""
import copy
import pickle
import subprocess
import warnings

import mbros
import numpy as np
import pytest
from mbros.build.robots import BUILT_IN
from mbros.build.specialize import compiler
from mbros.build.specialize.graph import trace
from mbros.build.specialize.robot import MOST, is_possible, start
from mbros.build.specialize.standalone import write
from traced_graphs import value

CLOSE = {"rtol": 0, "atol": 1e-13}
ARM = "double_pendulum"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where this module's robots are compiled, once each."""
    return tmp_path_factory.mktemp("robots")


def near(a, b, atol=CLOSE["atol"]):
    scale = max(1.0, np.abs(b).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(a) / scale, np.asarray(b) / scale, rtol=0, atol=atol)


def random_pair(model, other, seed=0):
    rng = np.random.default_rng(seed)
    state, twin = model.default_state(), other.default_state()
    state.q = model.random_configuration(rng)
    state.v = rng.normal(size=model.nv)
    twin.q, twin.v = state.q, state.v
    return state, twin, rng.normal(size=model.nv)


def went_through_code(model, state, call):
    """The general algorithms write the bodies' poses; the compiled ones do not."""
    state._poison()
    call()
    return bool(np.isnan(state.field("X_WB")).any())


# ------------------------------------------------------------------------------------------------ the graphs

@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_graph_is_the_algorithm(name):
    model = mbros.load(name)
    state, twin, x = random_pair(model, model)
    state.v[:], twin.v[:] = state.v * 0.3, state.v * 0.3
    state.v[state.field("lock")[:] != 0.0] = 0.0

    for what in ("forward_dynamics", "inverse_dynamics", "mass_matrix"):
        if not is_possible(model, what):
            continue
        found = value(trace(model.spec, what), twin, x)
        expected = getattr(model, what)(state, *([x] if what != "mass_matrix" else []))
        near(found, np.ravel(expected))
    for what in ("midpoint", "semi_implicit_euler", "rk4"):
        if is_possible(model, what):
            found = value(trace(model.spec, what), twin, x)
            plant = mbros.Simulator(model, integrator=what, dt=1e-3, bench=None)
            plant.state.q, plant.state.v = twin.q, twin.v
            limit = model.limits.effort.upper
            if (np.abs(x) < limit).all():
                plant.step(x)
                near(found[:model.nq + model.nv], np.r_[plant.state.q, plant.state.v])


# ------------------------------------------------------------------------------------------------ the drop-in model

FOLLOWING = """<robot name="following"><link name="a"/>
    <link name="b"><inertial><mass value="1"/><origin xyz="0 0.1 0.3"/>
      <inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0.1" iyz="0"/></inertial></link>
    <link name="c"><inertial><mass value="2"/><origin xyz="0.2 0 0.1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><axis xyz="0 1 0"/><parent link="a"/><child link="b"/>
      <dynamics damping="0.1" friction="0.2"/></joint>
    <joint name="k" type="continuous"><axis xyz="1 0 0"/><parent link="b"/><child link="c"/><origin xyz="0 0 1"/>
      <mimic joint="j" multiplier="-2" offset="0.3"/></joint></robot>"""


@pytest.mark.parametrize("name", [ARM, FOLLOWING, "cartpole"], ids=["arm", "following", "cartpole"])
def test_a_compiled_robot_is_the_same_robot(name, folder):
    model = mbros.load(name)
    fast = mbros.specialize(model, cache=folder)
    for seed in range(5):
        state, twin, x = random_pair(model, fast, seed)
        near(fast.forward_dynamics(twin, x), model.forward_dynamics(state, x))
        near(fast.inverse_dynamics(twin, x), model.inverse_dynamics(state, x))
        near(fast.mass_matrix(twin), model.mass_matrix(state))
        near(fast.kinetic_energy(twin), model.kinetic_energy(state))
        near(fast.center_of_mass(twin), model.center_of_mass(state))
    assert went_through_code(fast, twin, lambda: fast.forward_dynamics(twin, x))
    assert not went_through_code(model, state, lambda: model.forward_dynamics(state, x))


@pytest.mark.parametrize("name", [ARM, FOLLOWING], ids=["arm", "following"])
def test_its_derivatives_are_compiled(name, folder):
    model = mbros.load(name)
    fast = mbros.specialize(model, cache=folder)
    state, twin, x = random_pair(model, fast)
    for what in (mbros.diff.forward_dynamics, mbros.diff.inverse_dynamics):
        expected, found = what(model, state, x), what(fast, twin, x)
        again = what(fast, fast.default_state(), x)
        assert what(fast, twin, x, out=again) is again
        for of in (found, again):
            near(of.value, expected.value)
            for by in expected.parts:
                near(of[by], expected[by])
        assert went_through_code(fast, twin, lambda what=what: what(fast, twin, x))
        with pytest.raises(mbros.MbrosError, match="finite"):
            what(fast, twin, np.full(model.nv, np.nan))
        state.damping[0] = twin.damping[0] = 0.7                      # a constant of the code: the general engine
        assert (what(fast, twin, x)["v"] == what(model, state, x)["v"]).all()
        state.damping[0] = twin.damping[0] = model.default_state().damping[0]
    for ours, theirs in zip(fast.linearize(twin, x), model.linearize(state, x), strict=True):
        near(ours, theirs)


def test_derivatives_stay_general_where_those_are_quicker(folder):
    model = mbros.load("quadruped")
    assert model.nv > MOST["forward_dynamics_derivatives"] and is_possible(model, "forward_dynamics_derivatives")
    fast = mbros.specialize(model, ["forward_dynamics_derivatives"], cache=folder)
    assert fast._code.functions == ()
    assert not is_possible(mbros.load("four_bar"), "forward_dynamics_derivatives")


def test_simulators_rollouts_and_batches_use_it(folder):
    model = mbros.load(ARM)
    fast = mbros.specialize(model, cache=folder)
    ends = []
    for one in (model, fast):
        sim = mbros.Simulator(one, dt=1e-3)
        sim.state.q[:] = 0.3, -0.8
        sim.run(0.2, effort=np.array([0.2, -0.1]))
        ends.append(np.r_[sim.state.q, sim.state.v])
    near(ends[1], ends[0])
    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(11, 2)), rng.normal(size=(11, 2)), rng.normal(size=(11, 20, 2))
    slow_log, fast_log = (mbros.rollout(one, q, v, tau, dt=1e-3) for one in (model, fast))
    near(fast_log.q, slow_log.q)
    near(fast_log.v, slow_log.v)
    near(fast.batch(q, v).forward_dynamics(tau[:, 0]), model.batch(q, v).forward_dynamics(tau[:, 0]))
    near(fast.batch(q, v).mass_matrix(), model.batch(q, v).mass_matrix())
    derivatives_of_batches(model, fast, q, v, tau[:, 0])
    masses = {f"mass.{model.spec.body_names[1]}": rng.uniform(1.0, 2.0, 11)}              # constants in the code: the general engine
    near(mbros.rollout(fast, q, v, tau, dt=1e-3, parameters=masses).q, mbros.rollout(model, q, v, tau, dt=1e-3, parameters=masses).q)


def derivatives_of_batches(model, fast, q, v, x):
    """By compiled code for lanes; a mass of its own, a constant there, is the general engine's."""
    mass = f"mass.{model.spec.body_names[1]}"
    for what in ("forward_dynamics_derivatives", "inverse_dynamics_derivatives"):
        batch = fast.batch(q, v)
        found, expected = (getattr(one, what)(x) for one in (batch, model.batch(q, v)))
        for ours, theirs in zip((found.value, *found.values()), (expected.value, *expected.values()), strict=True):
            near(ours, theirs)
        engine, = batch._ready()
        engine.state._poison()
        getattr(batch, what)(x, found)
        assert np.isnan(engine.state.field("X_WB")).any(), "the general engine was here"
        masses = {mass: np.linspace(1.0, 2.0, len(q))}
        found, expected = (getattr(one.batch(q, v, parameters=masses), what)(x) for one in (fast, model))
        assert (found["q"] == expected["q"]).all()


def test_every_angle_has_its_sine(folder):
    """A quadrant's edges, many turns, and beyond those that are reduced in registers; alone and side by side."""
    model = mbros.load(ARM)
    fast = mbros.specialize(model, cache=folder)
    quarter = np.pi / 2 * np.arange(-9, 10)
    angles = np.r_[0.0, -0.0, 1e-300, quarter, np.nextafter(quarter, 9), quarter + np.pi / 4, 333333 * np.pi / 2, 524287.9, 524288.1, 1e9,
                   np.random.default_rng(3).uniform(-5e5, 5e5, 40)]
    q = np.stack([angles, angles[::-1]], axis=1)
    near(fast.batch(q).mass_matrix(), model.batch(q).mass_matrix())
    results = (one.batch(q).forward_dynamics(np.zeros(2)) for one in (fast, model))
    state, twin = model.default_state(), fast.default_state()
    for state.q[:], found, expected in zip(q, *results, strict=True):
        # Of parallel axes the sum of the angles is taken, and loses its last digit: what the angles themselves are known to.
        slopes = mbros.diff.forward_dynamics(model, state, np.zeros(2))["q"]
        atol = CLOSE["atol"] + np.abs(slopes).max() * np.spacing(np.abs(state.q).max())
        near(found, expected, atol)
        twin.q = state.q
        near(fast.forward_dynamics(twin, np.zeros(2)), model.forward_dynamics(state, np.zeros(2)), atol)


def test_another_robot_than_was_compiled_goes_through_the_general_engine(folder):
    model = mbros.load(ARM)
    fast = mbros.specialize(model, cache=folder)
    for change in (lambda s: s.damping.__setitem__(0, 0.7), lambda s: s.gravity.__setitem__(2, -1.6),
                   lambda s: s.external_force.__setitem__((1, 5), 3.0), lambda s: s.field("inertia").__setitem__((1, 0), 9.0),
                   lambda s: s.field("lock").__setitem__(0, 1.0)):
        state, twin, x = random_pair(model, fast)
        change(state)
        change(twin)
        assert (fast.forward_dynamics(twin, x) == model.forward_dynamics(state, x)).all()
        assert not went_through_code(fast, twin, lambda: fast.forward_dynamics(twin, x))


def test_what_stays_live_is_read_from_the_state(folder):
    model = mbros.load(ARM)
    joint, body = model.velocity_names[0], model.spec.body_names[1]
    names_ = [f"damping.{joint}", f"mass.{body}", "gravity"]
    fast = mbros.specialize(model, live=[*names_, "external_force"], functions=["forward_dynamics", "midpoint"], cache=folder)
    state, twin, x = random_pair(model, fast)
    for s, m in ((state, model), (twin, fast)):
        m.set_parameter(s, names_[0], 0.4)
        m.set_parameter(s, names_[1], 2.5)
        m.set_parameter(s, "gravity", (0.1, 0.2, -3.0))
        s.external_force[1] = 0.1, 0.2, 0.3, 1.0, 2.0, 3.0
    near(fast.forward_dynamics(twin, x), model.forward_dynamics(state, x))
    assert went_through_code(fast, twin, lambda: fast.forward_dynamics(twin, x))
    q, v, tau = np.zeros((9, 2)), np.ones((9, 2)), np.zeros((9, 10, 2))
    own = {names_[0]: np.linspace(0.0, 1.0, 9)}
    near(mbros.rollout(fast, q, v, tau, dt=1e-3, parameters=own).q, mbros.rollout(model, q, v, tau, dt=1e-3, parameters=own).q)


def test_it_is_compiled_once(folder, monkeypatch):
    mbros.specialize(mbros.load(ARM), cache=folder)

    def refuse(*_, **__):
        raise AssertionError("it compiles again")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    fast = mbros.specialize(mbros.load(ARM), cache=folder)
    for twin in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        state = twin.default_state()
        assert went_through_code(twin, state, lambda twin=twin, state=state: twin.forward_dynamics(state, np.zeros(2)))


def test_without_a_compiler_the_general_engine_does_it(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    compiler.compiler.cache_clear()
    model = mbros.load(ARM)
    with pytest.warns(mbros.MbrosWarning, match="not specialised.*sudo apt install"):
        same = mbros.specialize(model, cache=tmp_path)
    compiler.compiler.cache_clear()
    state, twin, x = random_pair(model, same)
    assert (same.forward_dynamics(twin, x) == model.forward_dynamics(state, x)).all()


def test_angles_of_a_file_are_snapped_when_asked(folder):
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><origin xyz="0 0 1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin rpy="1.57079 0 0.3"/></joint></robot>"""
    model = mbros.load(text)
    plain, near_it = (mbros.specialize(model, ["inverse_dynamics"], snap=snap, cache=folder) for snap in (0.0, 1e-5))
    state, twin, x = random_pair(model, plain)
    near(plain.inverse_dynamics(twin, x), model.inverse_dynamics(state, x))
    _, third, _ = random_pair(model, near_it)
    off = np.abs(near_it.inverse_dynamics(third, x) - model.inverse_dynamics(state, x)).max()
    assert 1e-9 < off < 1e-3
    assert near_it._code.operations["inverse_dynamics"] < plain._code.operations["inverse_dynamics"]


def test_contact_and_constraints_stay_general(folder):
    loop = mbros.load("four_bar")
    assert not is_possible(loop, "forward_dynamics") and not is_possible(loop, "midpoint") and is_possible(loop, "mass_matrix")
    fast = mbros.specialize(loop, ["forward_dynamics", "mass_matrix"], cache=folder)
    assert fast._code.functions == ("mass_matrix",)
    state, twin = loop.default_state(), fast.default_state()
    x = np.linspace(0.1, 0.3, loop.nv)
    assert (fast.forward_dynamics(twin, x) == loop.forward_dynamics(state, x)).all()


@pytest.mark.parametrize("arguments, words", [
    (dict(functions=["inverse"]), "inverse_dynamics"), (dict(functions=[]), "there are"), (dict(live=["weight"]), "parameter_names"),
    (dict(live=["lock"]), "no parameter"), (dict(snap=0.1), "at most 1e-3"), (dict(snap=float("nan")), "snap"), (dict(live=3), "names")])
def test_what_cannot_be_asked(arguments, words):
    with pytest.raises(mbros.MbrosError, match=words):
        mbros.specialize(mbros.load(ARM), **arguments)
    with pytest.raises(mbros.MbrosError, match="expected a built model"):
        mbros.specialize(ARM)


# ------------------------------------------------------------------------------------------------ standalone C

def test_code_of_several_parts_is_the_same(tmp_path, monkeypatch):
    from mbros.build.specialize import emit

    monkeypatch.setattr(emit, "CHUNK", 40)
    write(mbros.load(ARM), ["forward_dynamics", "kinematics", "rk4"], tmp_path)
    assert "_part3(" in (tmp_path / f"{ARM}.c").read_text()
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"{ARM}.c", f"test_{ARM}.c", "-lm", "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run(["./t"], cwd=tmp_path, check=True, capture_output=True)
    fast = mbros.specialize(mbros.load(ARM), cache=tmp_path / "robots")
    state, twin, x = random_pair(mbros.load(ARM), fast)
    near(fast.forward_dynamics(twin, x), state.model.forward_dynamics(state, x))


# ------------------------------------------------------------------------------------------------ expressions

def test_expressions_are_the_numbers():
    sympy = pytest.importorskip("sympy", reason="the extra [symbolic] is not installed")
    model = mbros.load(ARM)
    state, _, x = random_pair(model, model)
    found = mbros.symbolic(model, "forward_dynamics", live=["gravity"])
    assert list(found.inputs) == ["q", "v", "tau", "parameters"]
    function = sympy.lambdify(list(found.inputs.values()), found.result)
    near(function(state.q, state.v, x, state.gravity), model.forward_dynamics(state, x))
    mass = sympy.lambdify([*mbros.symbolic(model, "mass_matrix").inputs.values()], mbros.symbolic(model, "mass_matrix").result)
    near(mass(state.q), model.mass_matrix(state))


def test_casadi_takes_them_as_they_are():
    casadi = pytest.importorskip("casadi", reason="the extra [symbolic] is not installed")
    model = mbros.load(ARM)
    state, _, x = random_pair(model, model)
    f = mbros.symbolic(model, "forward_dynamics", live=["gravity"], using="casadi")
    function = casadi.Function("f", [*f.inputs.values()], [f.result, casadi.jacobian(f.result, f.inputs["q"])])
    vdot, slopes = function(state.q, state.v, x, state.gravity)
    near(vdot.full().ravel(), model.forward_dynamics(state, x))
    near(slopes.full(), mbros.diff.forward_dynamics(model, state, x)["q"])
    M = mbros.symbolic(model, "mass_matrix", using="casadi")
    near(casadi.Function("M", [M.inputs["q"]], [M.result])(state.q).full(), model.mass_matrix(state))
    step = mbros.symbolic(model, "midpoint", using="casadi")
    assert step.result["q"].shape == (2, 1) and list(step.inputs) == ["q", "v", "a_prev", "tau", "h"]


def test_trial_L12_poses_jacobians_and_the_centre_of_mass_as_expressions():
    casadi = pytest.importorskip("casadi", reason="the extra [symbolic] is not installed")
    model = mbros.load("mobile_arm")
    state = model.random_state(np.random.default_rng(5))
    frame = model.frames.names[-1]
    X = model.pose(state, frame)
    for name, want in ((f"pose.{frame}", np.append(X.R.ravel(), X.p)), (f"jacobian.{frame}", model.jacobian(state, frame)),
                       ("center_of_mass", model.center_of_mass(state)), ("com_jacobian", model.com_jacobian(state))):
        found = mbros.symbolic(model, name, using="casadi")
        got = casadi.Function("f", [found.inputs["q"]], [found.result])(state.q).full()
        near(got.ravel() if np.ndim(want) == 1 else got, want)


def test_symbolic_says_what_it_cannot():
    with pytest.raises(mbros.UnknownNameError, match="there are forward_dynamics"):
        mbros.symbolic(mbros.load(ARM), "dynamics")
    with pytest.raises(mbros.MbrosError, match="using"):
        mbros.symbolic(mbros.load(ARM), "mass_matrix", using="maple")
    with pytest.raises(mbros.MbrosError, match="iteration"):
        mbros.symbolic(mbros.load("four_bar"), "midpoint")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert start(mbros.load(ARM).default_state(), "q") > 0
