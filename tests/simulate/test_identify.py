"""mbros.identify: base parameters within their uncertainties, bodies that can be, whatever the noise; and what is refused."""
import os

import mbros
import numpy as np
import pytest
from mbros.diff import regressor_parameters
from mbros.spatial.body_numbers import second_moments
from mbros.study.identify.base import base_parameters
from mbros.study.identify.consistent import of_theta, to_theta
from mbros.study.identify.parameter_file import put, read, write

CASES = int(os.environ.get("MBROS_CASES", "2"))         # trials of noise; the whole run: 100
NOISE = np.array([1.0, 1.0, 0.5, 0.5, 0.2, 0.2, 0.1])


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.fixture(scope="module")
def truth(arm):
    """The arm with another load, and with friction."""
    state = arm.default_state()
    arm.set_parameter(state, "mass.link7", 2.0).set_parameter(state, "com.link7", [0.01, 0.02, 0.06])
    arm.set_parameter(state, "inertia.link7", [4e-3, 5e-3, 3e-3, 1e-4, -2e-4, 3e-4])
    for k in range(7):
        arm.set_parameter(state, f"friction.joint{k + 1}", 0.3)
    return state


@pytest.fixture(scope="module")
def moved(arm, truth):
    """500 points and the torques there, without noise."""
    rng = np.random.default_rng(0)
    q, v, vdot = rng.uniform(-1.5, 1.5, (500, 7)), rng.normal(size=(500, 7)), 3.0 * rng.normal(size=(500, 7))
    return {"q": q, "v": v, "vdot": vdot, "tau": arm.batch(q, v, state=truth).inverse_dynamics(vdot)}


def noisy(moved, rng, scale=1.0):
    return {**moved, "tau": moved["tau"] + scale * NOISE * rng.normal(size=moved["tau"].shape)}


def possible(values):
    """The second moments of light bodies far from their origin have few digits left."""
    return all(np.linalg.eigvalsh(second_moments(x)).min() > -1e-9 * np.abs(x).max() for name, x in values.items()
               if name.startswith("inertia")) and all(x >= 0 for name, x in values.items() if np.ndim(x) == 0)


def test_base_parameters_are_within_their_uncertainties(arm, truth, moved):
    """95 of 100 within two standard deviations, of all base parameters of all trials; and all bodies can be."""
    pi, inside, distances = regressor_parameters(arm, truth), [], []
    for trial in range(CASES):
        found = mbros.identify(noisy(moved, np.random.default_rng(trial)), arm)
        error = found.base_values - found.base.factors @ pi
        inside.append(np.abs(error) < 2.0 * found.base_deviations)
        distances.append(error @ np.linalg.solve(found.base_covariance, error) / len(error))
        assert possible(found.values) and np.allclose(found.residual, NOISE, rtol=0.2)
    share, spread = np.mean(inside), 4.0 * np.sqrt(0.95 * 0.05 / np.size(inside))
    print(f"{CASES} trials: {100 * share:.2f} % of {np.size(inside)} within 2 sd; per trial {np.mean(inside, axis=1).min():.3f} at least; "
          f"mean squared distance {np.mean(distances):.3f} (1 expected)")
    assert 0.9545 - spread < share < 0.9545 + spread
    assert abs(np.mean(distances) - 1.0) < 5.0 * np.sqrt(2.0 / np.size(inside))


def test_without_noise_the_model_is_found(arm, truth, moved):
    found = mbros.identify(noisy(moved, np.random.default_rng(0), 1e-9), arm)
    pi = regressor_parameters(arm, truth)
    assert np.abs(found.base_values - found.base.factors @ pi).max() < 1e-8
    state = found.apply(arm)
    tau = arm.batch(moved["q"], moved["v"], state=state).inverse_dynamics(moved["vdot"])
    assert np.abs(tau - moved["tau"]).max() < 1e-3 * np.abs(moved["tau"]).max(), "a possible robot with the same torques"


def test_bodies_can_be_however_bad_the_data(arm, moved):
    """Noise as large as the torques, and torques of the wrong sign."""
    for data in (noisy(moved, np.random.default_rng(3), 100.0), {**moved, "tau": -moved["tau"]}):
        found = mbros.identify(data, arm)
        assert possible(found.values)
        found.apply(arm)                                    # which checks it again


def test_some_parameters_alone(arm, truth, moved):
    state = truth.copy()
    arm.set_parameter(state, "mass.link7", 1.0)
    found = mbros.identify(noisy(moved, np.random.default_rng(1), 0.1), arm, state=state, noise=0.1 * NOISE,
                           parameters=["mass.link7", "friction", "damping.joint2"])
    assert list(found.values) == ["mass.link7", *(f"friction.joint{k}" for k in range(1, 8)), "damping.joint2"]
    for name, value in found.values.items():
        if name != "mass.link7":
            assert abs(value - arm.parameter(truth, name)) < 4.0 * found.deviations[name]
    assert abs(found.values["mass.link7"] - 2.0) < 4.0 * found.deviations["mass.link7"] and not found.unseen


def test_base_parameters_of_structure(arm):
    base = base_parameters(arm)
    assert len(base) == 62 and "mcy.link2" in base.unseen and "m.link1" in base.unseen
    pendulum = base_parameters(mbros.load("pendulum"))
    assert len(pendulum) == 5 and len(pendulum.unseen) == 7, "two of gravity, inertia with the rotor's, damping and friction"


def test_theta_goes_there_and_back():
    rng = np.random.default_rng(5)
    for _ in range(50):
        theta = rng.normal(size=10)
        row, slopes = of_theta(theta)
        assert np.allclose(to_theta(row), theta, atol=1e-6)
        for k in range(10):
            d = 1e-6 * np.eye(10)[k]
            assert np.allclose((of_theta(theta + d)[0] - of_theta(theta - d)[0]) / 2e-6, slopes[:, k], atol=1e-6 * np.abs(slopes).max())


def test_data_of_a_simulation(arm, tmp_path):
    """A Log, and its CSV file's columns, without accelerations: torques of a step belong to its middle."""
    sim = mbros.Simulator(arm)
    pace = np.linspace(3.0, 8.0, 7)
    log = sim.run(3.0, effort=lambda t, state: {f"joint{k + 1}": float(arm.bias_torques(state)[k] + 4.0 * np.cos(pace[k] * t) / (1 + k)
                                                                        - 3.0 * state.q[k]) for k in range(7)})
    found = mbros.identify(log, parameters=["damping", "mass.link7"], window=0.01)
    for name, value in found.values.items():
        assert abs(value - arm.parameter(arm.default_state(), name)) < 0.02 * max(value, 0.5), name


def test_parameter_files(arm, truth, tmp_path):
    names = ["mass.link7", "com.link7", "inertia.link7", "damping.joint2", "gravity", "locked.joint3"]
    values = {name: arm.parameter(truth, name) for name in names}
    values["damping.joint2"] = 1e-5
    write(tmp_path / "p.yaml", values, "two\nlines")
    back = read(tmp_path / "p.yaml")
    assert all(np.array_equal(back[name], values[name]) for name in names) and back["locked.joint3"] is False
    state = arm.default_state()
    assert put(tmp_path / "p.yaml", arm, state) == tuple(names) and arm.parameter(state, "mass.link7") == 2.0
    (tmp_path / "nested.yaml").write_text("mass: {link7: 1e-3}\nrate: 500\n")
    assert read(tmp_path / "nested.yaml") == {"mass.link7": 1e-3}
    for text, said in (("mass.link7: [a]", "expected a number"), ("a: 1", "no parameter of a robot"), ("- 1", "expected lines such as"),
                       ("{", "is no YAML"), ("mass.link7: -1.0", "zero or more|0 or more"),
                       ("/a: {ros__parameters: {mass.link7: 1.0}}\n/b: {ros__parameters: {mass: {link7: 2.0}}}", "for /b 2.0"),
                       ("/a: {ros__parameters: [1.0]}", "/a: expected lines"), ("mass.lnk7: 1.0", "did you mean 'mass.link7'")):
        (tmp_path / "bad.yaml").write_text(text)
        before = state._inputs.copy()
        with pytest.raises(mbros.MbrosError, match=said):
            put(tmp_path / "bad.yaml", arm, state)
        assert np.array_equal(state._inputs, before)


@pytest.mark.parametrize(("change", "more", "said"), [
    ({"tau": np.zeros((3, 7))}, {}, "expected 500 rows"), ({"x": 1}, {}, "'x' is none of these"),
    ({"v": np.full((500, 7), np.nan)}, {}, "nan"), ({}, {"parameters": "frction"}, "did you mean 'friction'"),
    ({}, {"parameters": ["com.link7"]}, "mass.link7, com.link7 and inertia.link7 together"), ({}, {"noise": 0.0}, "above zero"),
    ({"v": np.zeros((500, 7))}, {"parameters": "damping"}, "does not show all"), ({}, {"parameters": []}, "expected names")])
def test_refusals(arm, moved, change, more, said):
    with pytest.raises(mbros.MbrosError, match=said):
        mbros.identify({**moved, **change}, arm, **more)
    with pytest.raises(mbros.MbrosError, match="expected a model"):
        mbros.identify(moved)


def test_closed_loops_are_refused():
    """Their reactions are in the torques: without them masses would come out as zero, and certainly so."""
    loop = mbros.load("four_bar")
    x = np.random.default_rng(6).normal(size=(50, loop.nv))
    with pytest.raises(mbros.MbrosError, match="constraints .*whose reactions"):
        mbros.identify({"q": x, "v": x, "vdot": x, "tau": x}, loop)


def test_noise_is_one_number_of_any_kind_or_one_for_each(arm, moved):
    found = [mbros.identify(moved, arm, parameters="mass.link7", noise=noise).deviations["mass.link7"]
             for noise in (0.5, np.float32(0.5), np.array(0.5), [0.5] * 7)]
    assert found[0] > 0.0 and found == [found[0]] * 4
    with pytest.raises(mbros.MbrosError, match="apply: expected a built model"):
        mbros.identify(moved, arm, parameters="mass.link7").apply("arm7")
