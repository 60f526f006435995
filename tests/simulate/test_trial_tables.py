"""Logs as tables, and tables of others as logs (L11)."""
import csv

import mbros
import numpy as np
import pytest
from test_reading import TURNING


def moving(robot="arm6", seconds=0.2, **given):
    sim = mbros.Simulator(mbros.load(robot), **given)
    sim.state.v[:] = np.random.default_rng(1).normal(size=sim.model.nv)
    return sim.run(seconds, lambda t, state: 0.3 * np.sin(9.0 * t + np.arange(sim.model.nv)))


@pytest.mark.parametrize("robot", ["arm6", "quadruped", "mobile_arm", pytest.param(TURNING, id="turning")])
def test_trial_L11_a_saved_log_comes_back(robot, tmp_path):
    log = moving(robot)
    back = mbros.read_log(log.save(tmp_path / "run.csv"), log.model)
    assert np.array_equal(back.time, log.time) and np.allclose(back.v, log.v, rtol=0, atol=1e-12)
    assert max(np.abs(log.model.difference(a, b)).max() for a, b in zip(log.q, back.q)) < 1e-9
    assert np.allclose(back.effort, log.effort, rtol=0, atol=1e-12) and np.array_equal(back.energy, log.energy)
    with np.load(log.save(tmp_path / "run.npz")) as file:
        columns = log.columns()
        assert list(file) == list(columns) and all(np.array_equal(file[name], columns[name]) for name in file)


def test_trial_L11_columns_are_those_of_recordings(tmp_path):
    from mbros.record.recorder import plant_columns

    log = moving("arm7", bench="arm7_servo")
    names = plant_columns(mbros.Simulator(log.model).plant)[0]
    assert list(log.columns()) == ["time", *names[:-1]]
    sim = mbros.Simulator(log.model, bench="arm7_servo")
    with_signals = sim.run(0.01, signals="joint1.*")
    found = with_signals.columns()
    assert np.array_equal(found["joint1.position"], with_signals.signals["joint1.position"], equal_nan=True)
    assert {len(x) for x in found.values()} == {len(with_signals)}


def exported(log, path, prefix="/joint_states/", time="__time", blanks=True):
    """As PlotJuggler writes it: a row for every instant of every series, empty where a series has none, other topics beside it."""
    names = [f"{joint}/{part}" for joint in log.model.joint_state_names for part in ("position", "velocity", "effort")]
    columns = log.columns()
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([time, "/rosout/level", *(prefix + name for name in names)])
        for k, t in enumerate(log.time):
            out.writerow([float(t), "", *(float(columns[name][k]) for name in names)])
            if blanks:
                out.writerow([float(t) + 1e-4, "20", *[""] * len(names)])
    return path


def test_trial_L11_an_export_of_plotjuggler_is_read(tmp_path):
    log = moving()
    back = mbros.read_log(exported(log, tmp_path / "plot.csv"), log.model)
    assert np.array_equal(back.time, log.time) and np.array_equal(back.q, log.q) and np.array_equal(back.v, log.v)
    assert np.array_equal(back.effort, log.effort) and np.isnan(back.energy).all()


def test_trial_L11_columns_of_any_name_are_mapped(tmp_path):
    model = mbros.load("pendulum")
    (tmp_path / "lab.csv").write_text("t,angle\n0.0,0.1\n0.1,0.2\n")
    log = mbros.read_log(tmp_path / "lab.csv", model, columns={"time": "t", "hinge/position": "angle"})
    assert log.time.tolist() == [0.0, 0.1] and log.q[:, 0].tolist() == [0.1, 0.2] and np.isnan(log.v).all()


@pytest.mark.parametrize("text, columns, words", [
    ("t,angle\n0,1\n", None, "it has no column 'hinge/position' .it has t, angle.; say what it is called there: columns={'hinge/posi"),
    ("time,a/hinge/position,b/hinge/position\n0,1,1\n", None, "2 columns could be 'hinge/position': a/hinge/position, b/hinge/position"),
    ("time,hinge/position\n0,1\n", {"hinge/speed": "x"}, "column 'hinge/speed'"),
    ("time,hinge/position\n0,1\n", {"hinge/velocity": "x"}, "it has no column 'x'"),
    ("__time,hinge/position\n0,1\n0,2\n", None, "its times do not rise: 0 s, then 0 s"),
    ("__time,hinge/position\n0,nan\n", None, "its cells hold nan"),
    ("__time,hinge/position\n0,one\n", None, "row 1 cannot be read"),
    ("__time,hinge/position\n0,\n,1\n", None, "no rows in which all of these columns have numbers"),
    ("__time,hinge/position\n0,1\n", "angle", "columns: expected")])
def test_trial_L11_what_cannot_be_read_is_said(text, columns, words, tmp_path):
    model = mbros.load("pendulum")
    (tmp_path / "lab.csv").write_text(text)
    with pytest.raises(mbros.MbrosError, match=words):
        mbros.read_log(tmp_path / "lab.csv", model, columns)


def test_trial_L11_a_robot_is_identified_from_such_files(tmp_path):
    """The same as from arrays; the names of a lab's logger are mapped."""
    log = moving("arm6", 1.0)
    arrays = {"time": log.time, "q": log.q, "v": log.v, "tau": log.effort}
    want = mbros.identify(arrays, log.model, parameters="mass").values
    plot = exported(log, tmp_path / "plot.csv")
    assert mbros.identify(plot, log.model, parameters="mass").values == pytest.approx(want, abs=1e-12)
    text = plot.read_text().replace("/joint_states/joint1/effort", "tau_1")
    plot.write_text(text)
    with pytest.raises(mbros.MbrosError, match="it has no column 'joint1/effort'"):
        mbros.identify(plot, log.model)
    found = mbros.identify(plot, log.model, parameters="mass", columns={"joint1/effort": "tau_1"})
    assert found.values == pytest.approx(want, abs=1e-12)
    with pytest.raises(mbros.MbrosError, match="columns: they are those of a .csv file"):
        mbros.identify(log, parameters="mass", columns={"joint1/effort": "tau_1"})


def test_trial_L11_a_file_that_begins_with_a_mark_of_its_coding_is_read(tmp_path):
    """As spreadsheets write UTF-8, and as mbros wrote it before."""
    log = moving("arm6")
    path = log.save(tmp_path / "run.csv")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert np.array_equal(mbros.read_log(path, log.model).time, log.time)
    (tmp_path / "other.csv").write_bytes(b"\xef\xbb\xbf__time,hinge/position\n0,1\n1,2\n")
    b = mbros.ModelBuilder("one")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("body", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))))
    assert mbros.read_log(tmp_path / "other.csv", b.build()).q[:, 0].tolist() == [1.0, 2.0]


def test_trial_L11_what_reads_a_table_that_is_no_csv_is_said(tmp_path):
    log = moving("arm6")
    with pytest.raises(mbros.MbrosError, match=r"reads CSV files; numpy.load reads .npz"):
        mbros.read_log(log.save(tmp_path / "run.npz"), log.model)
