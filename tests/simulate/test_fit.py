"""Parameters fitted to a recorded motion are within their uncertainties, and go into files that a run takes."""
import os
import re
import subprocess
import sys

import mbros
import numpy as np
import pytest
from mbros.study.replay.compare import trial
from mbros.study.replay.held_commands import Commands
from mbros.study.identify.fit import fit
from mbros.study.identify.fitting import Fitting
from recorded_robots import motion, write

pytest.importorskip("mcap", reason="needs mbros[record]")
CASES = int(os.environ.get("MBROS_CASES", "2"))         # trials of noise; the whole run: 100
DELAY = 0.003


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm6")


@pytest.fixture(scope="module")
def names(arm):
    return f"friction.{arm.joint_state_names[1]}", f"mass.{arm.spec.body_names[-1]}"


@pytest.fixture(scope="module")
def truth(arm, names):
    state = arm.default_state()
    return arm.set_parameter(state, names[0], 0.8).set_parameter(state, names[1], 0.5) and state


@pytest.fixture(scope="module")
def moved(arm, truth):
    return motion(arm, truth, np.random.default_rng(1), 1.2, delay=3)


def recorded(path, arm, moved, rng, velocities=True):
    q, v, sent = moved
    write(path, arm, q + 1e-4 * rng.normal(size=q.shape), v + 2e-3 * rng.normal(size=v.shape) if velocities else None, sent)
    return path


def test_what_is_fitted_is_within_its_uncertainty(arm, names, truth, moved, tmp_path):
    """95 of 100 within two standard deviations."""
    inside, distances = [], []
    for case in range(CASES):
        found = fit(recorded(tmp_path / "run.mcap", arm, moved, np.random.default_rng(case)), arm, [*names, "delay"])
        z = [(found.values[name] - arm.parameter(truth, name)) / found.deviations[name] for name in names]
        z.append((found.delay - DELAY) / found.deviations["delay"])
        inside.append(np.abs(z) < 2.0)
        distances.append(np.square(z))
        assert max(q for q, _ in found.residual.values()) < 1.3e-4
    print(f"{CASES} trials: within 2 sd {np.mean(inside, axis=0)}, mean square of z {np.mean(distances, axis=0)}")
    assert np.mean(distances) < 1.0 + 5.0 * np.sqrt(2.0 / np.size(inside))


def test_without_velocities(arm, names, truth, moved, tmp_path):
    found = fit(recorded(tmp_path / "run.mcap", arm, moved, np.random.default_rng(9), False), arm, list(names), delay=DELAY)
    for name in names:
        assert abs(found.values[name] - arm.parameter(truth, name)) < 5.0 * found.deviations[name]
    assert found.delay is None and all(np.isnan(v) for _, v in found.residual.values())


def test_derivatives_are_those_of_the_simulation(arm, names, moved, tmp_path):
    run = trial("test", recorded(tmp_path / "run.mcap", arm, moved, np.random.default_rng(2)), arm, None, None, 0.3, 1e-3)
    fitting = Fitting("test", arm, run, [names[1], f"com.{arm.spec.body_names[-1]}", "delay"], 0.0023)
    start, part = fitting.starts[1], fitting.parts[1]
    p = fitting.p.copy()
    _, J = fitting.window(part, start, 0.0023)

    def at(k, s):
        x, y = p.copy(), start.copy()
        (x if k < len(p) else y)[k if k < len(p) else k - len(p)] += s
        fitting.put(x)
        return fitting.window(part, y, x[-1])[0]

    for k in range(J.shape[2]):
        h = 1e-6
        assert np.abs((at(k, h) - at(k, -h)) / (2 * h) - J[:, :, k]).max() < 1e-5 * np.abs(J[:, :, k]).max(), k


def test_commands_between_steps():
    """Mean efforts over a step move smoothly with the delay; at whole steps they are what was held."""
    rng = np.random.default_rng(3)
    commands = Commands(np.arange(10) * 0.01, rng.normal(size=(10, 2)))
    tau, _ = commands.steps(0, 120, 1e-3, 0.0)
    assert np.allclose(tau[:100:10], commands.tau[1:]) and np.allclose(tau[100:], commands.tau[-1])
    late, slope = commands.steps(0, 120, 1e-3, 0.0043)
    assert np.allclose(late[:4], 0.0) and np.allclose(late[5:], 0.7 * tau[1:116] + 0.3 * tau[:115])
    more, _ = commands.steps(0, 120, 1e-3, 0.0043 + 1e-7)
    assert np.allclose((more - late) / 1e-7, slope, atol=1e-4 * np.abs(slope).max())


@pytest.mark.slow
def test_the_command(arm, names, moved, tmp_path):
    path = recorded(tmp_path / "run.mcap", arm, moved, np.random.default_rng(4))
    call = [sys.executable, "-m", "mbros"]
    report = tmp_path / "fit.html"
    said = subprocess.run([*call, "replay", path, "--robot", "arm6", "--fit", f"{names[1]}, delay", "--compare", "--window", "0.3",
                           "--report", report], capture_output=True, text=True)
    assert said.returncode == 0 and names[1] in said.stdout and "position rms" in said.stdout and f"report: {report}" in said.stdout, said
    page = report.read_text()
    assert page.count("<svg") == page.count("</svg>") == 2 and page.count("position rms") == 2 and names[1] in page
    assert re.findall("<h2>(.*?)</h2>", page) == ["Parameters", "With these parameters", "The model as it was"]
    assert not re.search(r"(src|href)=.(?!#)", page)                            # nothing from elsewhere
    said = subprocess.run([*call, "replay", path, "--robot", "arm6", "--compare", "--report", tmp_path], capture_output=True, text=True)
    assert said.returncode == 2 and "it is a folder" in said.stderr and "position rms" not in said.stdout
    file = tmp_path / "run.parameters.yaml"
    assert "ros__parameters" in file.read_text() and "# delay" in file.read_text()
    said = subprocess.run([*call, "run", "arm6", "--duration", "0.1", "--parameters", file], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr


def test_refusals(arm, names, moved, tmp_path):
    path = recorded(tmp_path / "run.mcap", arm, moved, np.random.default_rng(5))
    for wanted, said in (("frction", "did you mean 'friction'"), (["locked"], "no parameter 'locked'"), ([], "expected names")):
        with pytest.raises(mbros.MbrosError, match=said):
            fit(path, arm, wanted)
    with pytest.raises(mbros.MbrosError, match="says nothing of stop_stiffness"):
        fit(path, arm, ["stop_stiffness"])
    with pytest.raises(mbros.MbrosError, match="dt is 0; expected"):
        fit(path, arm, "delay", dt=0.0)
    with pytest.raises(mbros.MbrosError, match="contact"):
        fit(path, mbros.load("arm6", ground=True), "friction")


def test_trial_H11_units_of_what_is_found_are_the_joints_own():
    from mbros.model.parameters import limits

    b = mbros.ModelBuilder("two")
    for name, joint in (("slides", mbros.PrismaticJoint), ("turns", mbros.RevoluteJoint)):
        b.add_joint(joint(name, b.world, b.add_body(name + "_body", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))))
    model = b.build()
    assert [limits(model, f"{what}.slides")[1] for what in ("damping", "friction", "rotor_inertia")] == ["N s/m", "N", "kg"]
    assert [limits(model, f"{what}.turns")[1] for what in ("damping", "friction", "rotor_inertia")] == ["N m s/rad", "N m", "kg m^2"]
