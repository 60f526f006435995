"""Recordings of robots under servos, judged and fitted through a bench: the steps of a Simulator that has it."""
import subprocess
import sys

import mbros
import numpy as np
import pytest
from mbros.build.benches import servos
from mbros.study.replay.compare import compare
from mbros.study.replay.held_commands import JointCommands
from mbros.study.identify.fit import fit
from mbros.study.replay.robot_recording import RobotRecordingError
from recorded_robots import EPOCH, write_topics

pytest.importorskip("mcap", reason="needs mbros[record]")
EVERY = 4
TRUTH = {"friction.elbow": 0.6, "mass.lower": 1.3}
DELAY = 0.003


def arm():
    builder = mbros.ModelBuilder("two")
    upper = builder.add_body("upper", 2.0, (0.2, 0.01, 0), [[0.02, 0.002, 0.001], [0.002, 0.05, 0.003], [0.001, 0.003, 0.06]])
    lower = builder.add_body("lower", 1.0, (0.15, 0, 0.02), [[0.01, 0.001, 0], [0.001, 0.02, 0.002], [0, 0.002, 0.02]])
    builder.add_joint(mbros.RevoluteJoint("shoulder", builder.world, upper, axis=(0, 1, 0), effort=200.0))
    builder.add_joint(mbros.RevoluteJoint("elbow", upper, lower, axis=(0, 1, 0), p=(0.4, 0, 0), effort=100.0, friction=0.2))
    return builder.build()


def robot(path, model, seconds=1.0, late=0, truth=None, noise=None, bench="servo", velocities=False):
    """A robot that follows sines under its bench: states and commands of every EVERY-th step; commands act `late` steps late."""
    sim = mbros.Simulator(model, bench=bench)
    for name, value in (truth or {}).items():
        model.set_parameter(sim.state, name, value)
    pace, phase, names = np.array([3.0, 5.0]), np.array([0.3, 1.9]), model.joint_state_names
    sim.state.q[:], sim.state.v[:] = 0.4 * np.sin(phase), 0.4 * pace * np.cos(phase)
    states, sent, efforts = [], [], slice(*np.cumsum(sim.plant.layout["joint_effort"]))
    for k in range(round(seconds * 1000)):
        if k % EVERY == 0:
            states.append((sim.state.q.copy(), sim.state.v.copy(), sim.plant.observe()[efforts]))
            sent.append((0.4 * np.sin(pace * k * 1e-3 + phase), 0.4 * pace * np.cos(pace * k * 1e-3 + phase)))
        if k >= late and (k - late) % EVERY == 0:
            now = sent[(k - late) // EVERY]
            sim.command(position=dict(zip(names, now[0])), velocity=dict(zip(names, now[1])) if velocities else None)
        sim.step()
    q, v, tau = (np.array(x) for x in zip(*states))
    if noise is not None:
        q, v = q + 1e-4 * noise.normal(size=q.shape), v + 2e-3 * noise.normal(size=v.shape)
    position, velocity = (np.array(x) for x in zip(*sent))
    stamps = EPOCH + np.arange(len(q)) * EVERY * 10**6
    write_topics(path, model, {"/joint_states": (stamps, q, v, tau),
                               "/joint_commands": (stamps, position, velocity if velocities else None, None)})
    return path


@pytest.mark.parametrize("velocities", [False, True])
@pytest.mark.parametrize("window", [0.3, 10.0])
def test_a_robot_under_servos_is_reproduced(velocities, window, tmp_path):
    """Positions, velocities and efforts; the recording's stamps are whole nanoseconds, its numbers those of the simulation."""
    model = arm()
    robot(tmp_path / "run.mcap", model, velocities=velocities)
    found = compare(tmp_path / "run.mcap", model, bench="servo", window=window)
    assert found.bench and found.given == ("positions and velocities" if velocities else "positions")
    for r in found.joints:
        assert r.position_max < 1e-12 and r.velocity_rms < 1e-11 and r.effort_rms < 1e-8
    assert "through the bench" in str(found) and "effort rms" in str(found)


def test_what_differs_is_seen(tmp_path):
    model = arm()
    path = robot(tmp_path / "run.mcap", model, late=8, truth=TRUTH)
    right = compare(path, model, bench="servo", delay=0.008, parameters=TRUTH)
    wrong = compare(path, model, bench="servo", delay=None)
    assert max(r.position_max for r in right.joints) < 1e-12
    assert wrong.delay == pytest.approx(0.008) and wrong.joints[1].position_rms > 1e-5 and wrong.joints[1].effort_rms > 0.1


def test_the_bench_that_a_model_carries(tmp_path):
    plain = arm()
    builder = mbros.ModelBuilder(plain)
    for servo in servos(plain).actuators:
        builder.add_actuator(servo)
    model = builder.build()
    path = robot(tmp_path / "run.mcap", model, bench=True)
    assert max(r.position_max for r in compare(path, model).joints) < 1e-12
    with pytest.raises(RobotRecordingError, match="has no efforts.*--bench servo"):
        compare(path, model, bench=False)


def test_a_fit_returns_the_truth(tmp_path):
    """Within five standard deviations of it; by noise alone one number in two million is not."""
    model = arm()
    path = robot(tmp_path / "run.mcap", model, seconds=0.5, late=3, truth=TRUTH, noise=np.random.default_rng(0))
    found = fit(path, model, [*TRUTH, "delay"], bench="servo")
    for name, value in {**TRUTH, "delay": DELAY}.items():
        assert abs(found.values[name] - value) < 5.0 * found.deviations[name], name
        assert 0.0 < found.deviations[name] < 0.05 * value, name
    assert found.windows == 1 and found.limited == 0 and "through the bench" in str(found)
    assert max(q for q, _ in found.residual.values()) < 1.3e-4


def test_what_joints_are_commanded():
    """A message that says nothing of a joint leaves it; what it says is all; steps between two messages get their mean."""
    nan = np.nan
    given = np.array([[[1.0, nan], [nan, nan], [nan, nan]], [[nan, 4.0], [nan, nan], [nan, 7.0]], [[nan, nan], [2.0, nan], [nan, nan]]])
    commands = JointCommands(np.array([0.001, 0.002, 0.003]), given)
    rows = commands.steps(0, 5, 1e-3, 0.0)
    assert np.isnan(rows[0]).all()
    assert np.array_equal(rows[1:, :, 0], [[1.0, nan, nan], [1.0, nan, nan], [nan, 2.0, nan], [nan, 2.0, nan]], equal_nan=True)
    assert np.array_equal(rows[1:, :, 1], [[nan, nan, nan], [4.0, nan, 7.0], [4.0, nan, 7.0], [4.0, nan, 7.0]], equal_nan=True)
    late = commands.steps(0, 5, 1e-3, 0.4e-3)           # of step 3, 0.6 are of the velocity
    assert late[3, 1, 0] == pytest.approx(2.0) and np.isnan(late[3, 0, 0]) and late[2, 0, 0] == 1.0
    ramp = JointCommands(np.array([0.0, 0.01]), np.array([[[1.0], [nan], [nan]], [[3.0], [nan], [nan]]]))
    assert ramp.steps(10, 1, 1e-3, 0.25e-3)[0, 0, 0] == pytest.approx(0.25 * 1.0 + 0.75 * 3.0)


def test_what_cannot_be_judged_is_refused(tmp_path):
    model = arm()
    path = robot(tmp_path / "run.mcap", model, seconds=0.1)
    for call in (lambda **k: compare(path, model, **k), lambda **k: fit(path, model, "friction", **k)):
        with pytest.raises(RobotRecordingError, match="commands positions.*'two' has none.*--bench servo.*--commands /joint_states"):
            call()
        with pytest.raises(RobotRecordingError, match="what the robot measured, and a bench takes"):
            call(bench="servo", commands="/joint_states")
        wheels = mbros.Bench()
        wheels.add(mbros.VelocityServo("shoulder.servo", joint="shoulder", kd=10.0))
        with pytest.raises(RobotRecordingError, match="commands position of joint 'shoulder', which takes velocity and effort"):
            call(bench=wheels)
        with pytest.raises(mbros.MbrosError, match="there is no bench 'serva'"):
            call(bench="serva")
    with pytest.raises(mbros.MbrosError, match="servo.kp.*number of the bench"):
        fit(path, model, "elbow.servo.kp", bench="servo")


def test_the_command_line(tmp_path):
    model = mbros.load("double_pendulum")
    path = robot(tmp_path / "run.mcap", model, seconds=0.2)
    words = [sys.executable, "-m", "mbros", "replay", str(path), "--robot", "double_pendulum", "--compare"]
    done = subprocess.run([*words, "--bench", "servo"], capture_output=True, text=True)
    assert done.returncode == 0 and "positions of /joint_commands, through the bench" in done.stdout, done
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and "--bench servo" in done.stderr
