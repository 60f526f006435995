"""Recordings read back: what `mbros run --csv` wrote becomes the log that it was; anything else is a sentence."""
import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError
from mbros.study.replay import reading
from mbros.study.replay.reading import csv_columns, fits, read_csv
from mbros.record.recorder import Recorder

# One joint whose coordinates are (cos, sin), one that turns, and one that follows it
TURNING = """<robot name="turning">
<link name="a"/>
<link name="b"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="c"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="d"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="spin" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="bend" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<joint name="copy" type="revolute"><parent link="c"/><child link="d"/><axis xyz="0 1 0"/><mimic joint="bend" multiplier="-0.5"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""


def recorded(model, path, rng, steps=40):
    """A simulation from a random state under random efforts, recorded row by row; its states and efforts."""
    sim = mbros.Simulator(model)
    state = model.random_state(rng)
    sim.state.q[:], sim.state.v[:] = state.q, 0.3 * np.asarray(state.v)
    rows = []
    with Recorder(path, sim.plant) as recorder:
        for _ in range(steps):
            sim.step(rng.normal(size=model.nv))
            recorder.row()
            rows.append((sim.time, np.array(sim.state.q), np.array(sim.state.v), np.array(sim.plant.effort)))
    return [np.array(column) for column in zip(*rows)]


def models():
    yield "turning", lambda: mbros.load(TURNING)
    for name in ("arm7", "cartpole", "quadruped", "mobile_arm"):
        yield name, lambda name=name: mbros.load(name)


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in models()])
def test_a_recording_comes_back(make, tmp_path, rng):
    model, path = make(), tmp_path / "run.csv"
    time, q, v, effort = recorded(model, path, rng)
    log = read_csv(path, model)
    assert len(log) == len(time) and np.array_equal(log.time, time)
    assert np.allclose(log.v, v, rtol=0, atol=1e-12) and np.allclose(log.effort, effort, rtol=0, atol=1e-12)
    for read, was in zip(log.q, q):
        assert np.abs(model.difference(was, read)).max() < 1e-9
    state = model.default_state()
    state.q[:], state.v[:] = q[-1], v[-1]
    assert log.energy[-1] == pytest.approx(model.kinetic_energy(state) + model.potential_energy(state), rel=1e-9, abs=1e-9)


def test_whose_recording_it_is(tmp_path, rng):
    path = tmp_path / "run.csv"
    arm = mbros.load("arm6")
    recorded(arm, path, rng, steps=2)
    assert csv_columns(path)[:2] == ["time", "joint1/position"]
    assert fits(arm, csv_columns(path)) and not fits(mbros.load("arm7"), csv_columns(path))
    with pytest.raises(MbrosError, match="no recording of robot 'arm7': it has no column 'joint7/position'"):
        read_csv(path, mbros.load("arm7"))
    with pytest.raises(MbrosError, match="no recording of robot 'pendulum': it has a column"):
        read_csv(path, mbros.load("pendulum"))


@pytest.fixture
def pendulum(tmp_path, rng):
    """(model, path of a recording, its lines)."""
    model, path = mbros.load("pendulum"), tmp_path / "run.csv"
    recorded(model, path, rng, steps=3)
    return model, path, path.read_text().splitlines()


@pytest.mark.parametrize("change, why", [
    (lambda lines: lines[:1], "it has no rows"),
    (lambda lines: [], "its first column is ''"),
    (lambda lines: ["a,b", *lines[1:]], "its first column is 'a', expected 'time'"),
    (lambda lines: [lines[0], lines[1] + ",1.0"], "its rows have [0-9]+ numbers, its first line names"),
    (lambda lines: [*lines[:2], lines[2][:len(lines[2]) // 2]], "its rows cannot be read.*Is the file complete"),
    (lambda lines: [*lines[:2], "word" + lines[2]], "its rows cannot be read"),
    (lambda lines: [*lines[:2], lines[2].replace(lines[2].split(",")[1], "nan")], "row 2 holds nan; expected finite numbers"),
    (lambda lines: [",".join(reversed(lines[0].split(","))), *lines[1:]], "its first column is")])
def test_what_is_no_recording_is_a_sentence(pendulum, change, why):
    model, path, lines = pendulum
    path.write_text("\n".join(change(lines)) + "\n")
    with pytest.raises(MbrosError, match=why) as caught:
        read_csv(path, model)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_columns_in_another_order_are_said(pendulum):
    model, path, lines = pendulum
    first, *others = lines[0].split(",")
    path.write_text(",".join([first, *reversed(others)]) + "\n")
    with pytest.raises(MbrosError, match="another order"):
        read_csv(path, model)


def test_files_that_cannot_be_read(pendulum, tmp_path, monkeypatch):
    model, path, _ = pendulum
    with pytest.raises(MbrosError, match="none.csv: it cannot be read: no such file"):
        read_csv(tmp_path / "none.csv", model)
    with pytest.raises(MbrosError, match="it cannot be read: is a directory"):
        read_csv(tmp_path, model)
    path.write_bytes(b"time,\xff\xfe\n")
    with pytest.raises(MbrosError, match="first line cannot be read"):
        read_csv(path, model)
    monkeypatch.setattr(reading, "MAX_BYTES", 3)
    with pytest.raises(MbrosError, match="record fewer rows"):
        read_csv(path, model)
