"""A model beside a recording of a robot: a robot that is the model has no residual, one that is not shows it where it is."""
import subprocess
import sys

import mbros
import numpy as np
import pytest
from mbros.study.replay.compare import compare
from mbros.study.replay.robot_recording import RobotRecordingError
from recorded_robots import EPOCH, write_topics

pytest.importorskip("mcap", reason="needs mbros[record]")


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm6")


def robot(path, model, delay=0, every=2, damping=0.0, seconds=2.0, commands=True, velocities=True):
    """A robot's recording: efforts that act `delay` steps later, states of every second step, with stamps of its own."""
    sim, rng = mbros.Simulator(model), np.random.default_rng(2)
    sim.state.damping[3] += damping
    steps = round(seconds / sim.dt)
    sent = np.repeat(rng.normal(scale=5.0, size=(steps // 10 + 2, model.nv)), 10, axis=0)
    states, stamps = [], []
    for k in range(steps):
        if k % every == 0:
            states.append((sim.state.q.copy(), sim.state.v.copy()))
            stamps.append(EPOCH + k * 10**6)
        sim.step(sent[k - delay] if k >= delay else None)
    q, v = (np.array(x) for x in zip(*states))
    rows = {"/joint_states": (np.array(stamps), q, v if velocities else None, None)}
    if commands:
        rows["/joint_commands"] = EPOCH + np.arange(steps // 10) * 10**7, None, None, sent[:10 * (steps // 10):10]
    write_topics(path, model, rows)


def test_the_model_itself_has_no_residual(arm, tmp_path):
    robot(tmp_path / "same.mcap", arm)
    found = compare(tmp_path / "same.mcap", arm)
    assert len(found.times) == 1000 and found.commands == "/joint_commands"
    assert [r.joint for r in found.joints] == list(arm.joint_state_names)
    assert max(r.position_max for r in found.joints) < 1e-6 and max(r.velocity_rms for r in found.joints) < 1e-5
    assert compare(tmp_path / "same.mcap", arm, window=10.0).joints[0].position_max < 1e-6


def test_what_differs_shows_in_its_joint(arm, tmp_path):
    robot(tmp_path / "rubs.mcap", arm, damping=2.0)
    rms = [r.position_rms for r in compare(tmp_path / "rubs.mcap", arm, window=0.1).joints]
    assert np.argmax(rms) == 3 and rms[3] > 1e-3
    right = mbros.load("arm6")
    text = str(compare(tmp_path / "rubs.mcap", right))
    assert arm.joint_state_names[3] in text and "position rms" in text


def test_joints_that_the_model_does_not_have_are_named(arm, tmp_path):
    """arm7's recording, whose first six joints arm6 has too."""
    robot(tmp_path / "seven.mcap", mbros.load("arm7"))
    found = compare(tmp_path / "seven.mcap", arm)
    assert found.unknown == ("joint7",) and str(found).endswith("\nrecorded, and no joints of the model: joint7")
    robot(tmp_path / "six.mcap", arm)
    same = compare(tmp_path / "six.mcap", arm)
    assert same.unknown == () and "no joints" not in str(same)


def test_a_delay_is_found(arm, tmp_path):
    robot(tmp_path / "late.mcap", arm, delay=12)
    found = compare(tmp_path / "late.mcap", arm, delay=None)
    assert found.delay == pytest.approx(0.012) and max(r.position_max for r in found.joints) < 1e-6
    assert compare(tmp_path / "late.mcap", arm).joints[0].position_max > 1e-4


def test_velocities_may_be_missing(arm, tmp_path):
    robot(tmp_path / "still.mcap", arm, velocities=False, every=1)
    assert max(r.position_rms for r in compare(tmp_path / "still.mcap", arm, window=0.2).joints) < 0.02


def test_what_says_too_little_is_refused(arm, tmp_path):
    robot(tmp_path / "states.mcap", arm, commands=False)
    with pytest.raises(RobotRecordingError, match="has no efforts"):
        compare(tmp_path / "states.mcap", arm)
    with pytest.raises(RobotRecordingError, match="has no states of joints on /no"):
        compare(tmp_path / "states.mcap", arm, states="/no")
    with pytest.raises(RobotRecordingError, match="says nothing of panda_joint1"):
        compare(tmp_path / "states.mcap", mbros.load("panda"))
    with pytest.raises(RobotRecordingError, match="cannot be read"):
        compare(tmp_path / "none.mcap", arm)
    (tmp_path / "cut.mcap").write_bytes((tmp_path / "states.mcap").read_bytes()[:3000])
    with pytest.raises(RobotRecordingError, match="damaged"):
        compare(tmp_path / "cut.mcap", arm)
    with pytest.raises(mbros.MbrosError, match="window"):
        compare(tmp_path / "states.mcap", arm, window=0.0)
    turning = mbros.ModelBuilder("turning")
    wheel = turning.add_body("wheel", mass=1.0, inertia=[0.1, 0.1, 0.1])
    turning.add_joint(mbros.ContinuousJoint("axle", turning.world, wheel, (0, 0, 1), representation="cos_sin"))
    with pytest.raises(mbros.MbrosError, match="joint 'axle' has 2 position coordinates"):
        compare(tmp_path / "states.mcap", turning.build())


def test_the_command_line(arm, tmp_path):
    robot(tmp_path / "late.mcap", arm, delay=4, seconds=1.0)
    words = [sys.executable, "-m", "mbros", "replay", str(tmp_path / "late.mcap"), "--compare"]
    words_of_all = [*words, "--robot", "arm6", "--delay", "auto", "--plot", str(tmp_path / "out.png")]
    done = subprocess.run(words_of_all, capture_output=True, text=True)
    assert done.returncode == 0 and "4.00 ms later" in done.stdout and (tmp_path / "out.png").stat().st_size > 10_000, done
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and "give the model of the robot" in done.stderr
