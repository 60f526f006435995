"""mbros.sweep: the same bits wherever and however often it runs, and errors that name the case."""
import csv
import itertools
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sweep_runs

import mbros
from mbros.cli import main

CASES = int(os.environ.get("MBROS_CASES", "600"))


def many(n=CASES):
    return [{"mass": 0.5 + 0.001 * k, "length": 1 + k % 3} for k in range(n)]


def same(a, b):
    assert list(a) == list(b) and a.errors == b.errors and a.count == b.count
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes(), name


@pytest.fixture(scope="module")
def serial():
    return mbros.sweep(many(), sweep_runs.swing, workers=1, seed=5)


def test_a_column_for_every_value_and_result(serial):
    assert list(serial) == ["mass", "length", "q", "energy", "steps", "word"] and serial.parameters == ("mass", "length")
    assert serial["q"].shape == (CASES, 2) and serial["steps"].dtype.kind == "i" and serial["word"][0] == "m0.5"
    assert not serial.errors and "q" in repr(serial)
    case = mbros.sweep([many()[7]], sweep_runs.swing, workers=1, seed=5)
    assert case["q"][0].tobytes() == serial["q"][7].tobytes()                   # the seed is of the case, not of its place


def test_processes_give_the_same_bits(serial):
    same(mbros.sweep(many(), sweep_runs.swing, workers=2, seed=5), serial)


def test_threads_give_the_same_bits(serial):
    with ThreadPoolExecutor(2) as executor:
        same(mbros.sweep(many(), sweep_runs.swing, executor=executor, seed=5), serial)


def test_a_dask_cluster_gives_the_same_bits(serial, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    monkeypatch.chdir(tmp_path)                                                  # its workers write where they are
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        same(mbros.sweep(many(), sweep_runs.swing, executor=client, seed=5), serial)


def test_another_seed_is_another_sweep_and_equal_cases_differ():
    a, b = (mbros.sweep(many(3), sweep_runs.swing, workers=1, seed=seed) for seed in (5, 6))
    assert not np.array_equal(a["q"], b["q"])
    twice = mbros.sweep([{"mass": 1.0}, {"mass": 1.0}], sweep_runs.swing, workers=1)
    assert not np.array_equal(*twice["q"])


def test_all_combinations_the_last_name_fastest():
    table = mbros.sweep({"mass": [1.0, 2.0], "length": np.array([1, 2, 3])}, sweep_runs.swing, workers=1)
    assert list(zip(table["mass"], table["length"])) == list(itertools.product([1.0, 2.0], [1, 2, 3]))


def test_a_case_that_fails_is_named_and_the_others_are_done():
    with pytest.warns(mbros.MbrosWarning, match=r"2 of 7 cases of the sweep failed; the first: <case 2: x=2>: ValueError: three does not"):
        table = mbros.sweep([{"x": x} for x in range(7)], sweep_runs.failing, workers=1)
    assert table.errors == {k: f"ValueError: three does not divide {k}" for k in (2, 5)}
    np.testing.assert_array_equal(table["half"], [0, 0.5, np.nan, 1.5, 2, np.nan, 3])
    np.testing.assert_array_equal(table["whole"], [np.nan, 1, np.nan, 3, 4, np.nan, 6])        # case 0 gave none


def test_what_is_ended_in_the_middle_goes_on(serial, tmp_path):
    """A process that is killed: what it had done is not done again, and the table is the same to the bit."""
    script = tmp_path / "study.py"
    script.write_text("import mbros, sweep_runs, test_sweep, sys\n"
                      "if __name__ == '__main__':\n"
                      "    mbros.sweep(test_sweep.many(), sweep_runs.swing, workers=int(sys.argv[1]), seed=5, checkpoint='done')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]), "MBROS_CASES": str(CASES)}
    done = tmp_path / "done"
    for workers, wanted in (("1", 40), ("2", 80)):
        child = subprocess.Popen([sys.executable, str(script), workers], cwd=tmp_path, env=environment, start_new_session=True)
        while len(list(done.glob("part-*"))) < wanted and child.poll() is None:
            time.sleep(0.002)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    parts = len(list(done.glob("part-*")))
    next(iter(done.glob("part-*"))).write_bytes(b"torn")                        # as if the machine had been switched off
    seen = []
    table = mbros.sweep(many(), sweep_runs.swing, workers=1, seed=5, checkpoint=done, progress=lambda n, total: seen.append((n, total)))
    same(table, serial)
    assert seen[0][0] >= min(parts, CASES) - 64 and seen[0][0] > 0 and seen[-1] == (CASES, CASES)
    same(mbros.sweep(many(), sweep_runs.swing, workers=2, seed=5, checkpoint=done), serial)            # all is there


def test_a_checkpoint_of_another_sweep_is_refused_and_kept(tmp_path):
    mbros.sweep(many(3), sweep_runs.swing, workers=1, checkpoint=tmp_path)
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    for cases, run, seed, words in ((many(4), sweep_runs.swing, 0, "it has 3 cases, not 4"), (many(3), sweep_runs.swing, 1, "its seed"),
                                    (many(3), sweep_runs.shapes, 0, r"its function is sweep_runs\.swing, not sweep_runs\.shapes")):
        with pytest.raises(mbros.MbrosError, match=f"is of another sweep: .*{words}.* Give another folder, or delete this one"):
            mbros.sweep(cases, run, workers=1, seed=seed, checkpoint=tmp_path)
    (tmp_path / "sweep.json").write_text("[")
    with pytest.raises(mbros.MbrosError, match="cannot be used"):
        mbros.sweep(many(3), sweep_runs.swing, workers=1, checkpoint=tmp_path)
    assert [path for path in before if path[0] != "sweep.json"] == sorted(
        (path.name, path.read_bytes()) for path in tmp_path.glob("part-*"))


def test_errors_of_a_checkpoint_come_back(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbros.MbrosWarning)
        first, second = (mbros.sweep([{"x": x} for x in range(7)], sweep_runs.failing, workers=1, checkpoint=tmp_path) for _ in range(2))
    same(first, second)


def test_ctrl_c_keeps_what_is_done(tmp_path):
    seen = []

    def interrupts(done, total):
        seen.append(done)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mbros.sweep([{"x": x} for x in range(40)], sweep_runs.slowly, workers=1, checkpoint=tmp_path, progress=interrupts)
    table = mbros.sweep([{"x": x} for x in range(40)], sweep_runs.slowly, workers=2, checkpoint=tmp_path,
                        progress=lambda done, total: seen.append(done))
    assert seen[4] == 3 and table["result"].tolist() == [x**2 for x in range(40)]


@pytest.mark.parametrize("arguments, words", [
    (dict(cases=3), "cases: expected a list of"), (dict(cases="ab"), "cases: expected a list of"),
    (dict(cases={"a": 3}), "'a': expected a list"),
    (dict(cases={"a": []}), "'a': expected a list of at least one"), (dict(cases=[3]), "case 0: expected {name: value}"),
    (dict(cases=[{"a": np.nan}]), "case 0: 'a': expected a finite number"),
    (dict(cases=[{"a": object()}]), "case 0: 'a': expected a number"),
    (dict(cases=[{1: 2}]), "case 0: expected"), (dict(cases={"a": range(10**5), "b": range(10**5)}), "10000000000 combinations"),
    (dict(run=3), "run: expected a function"), (dict(workers=0), "workers"), (dict(executor=3), "executor: expected"),
    (dict(executor=ThreadPoolExecutor(1), workers=2), "one of executor= and workers="), (dict(seed=-1), "seed"), (dict(seed=0.5), "seed"),
    (dict(progress=3), "progress: expected"), (dict(run=lambda case: 1, workers=2), "cannot be sent to another process"),
    (dict(run=sweep_runs.ends, workers=2), "a process ended while cases")])
def test_refusals(arguments, words):
    given = {"cases": [{"x": 1}, {"x": 2}, {"x": 3}], "run": sweep_runs.slowly, **arguments}
    with pytest.raises(mbros.MbrosError, match=words):
        mbros.sweep(given.pop("cases"), given.pop("run"), **given)


@pytest.mark.parametrize("run, words", [
    (lambda case: object(), "'result': expected a number, a word, or an array"),
    (lambda case: {"x": 1}, "'x': expected a name, and one that no"),
    (lambda case: {3: 1}, "result 3: expected a name"), (lambda case: None, "expected a number"),
    (lambda case: case["y"], "no value 'y' in case 0 of the sweep; there is only 'x'")])
def test_results_that_no_table_has_are_errors_of_their_case(run, words):
    with pytest.warns(mbros.MbrosWarning):
        table = mbros.sweep([{"x": 1}], run, workers=1)
    assert words in table.errors[0]


def test_shapes_must_agree():
    with pytest.raises(mbros.MbrosError, match=r"'row': expected the same shape .* \(1,\) in case 0 and numbers of shape \(2,\) in case 1"):
        mbros.sweep([{"n": 1}, {"n": 2}], sweep_runs.shapes, workers=1)


def test_files(tmp_path, serial):
    table = mbros.sweep([{"mass": 1.0, "tag": "a,b"}, {"mass": 2.0, "tag": "c"}], sweep_runs.swing, workers=1)
    with np.load(table.save(tmp_path / "t.npz"), allow_pickle=False) as file:
        assert all(file[name].tobytes() == table[name].tobytes() for name in table) and list(file["error"]) == ["", ""]
    rows = list(csv.DictReader(table.save(tmp_path / "t.csv").open()))
    assert rows[0]["tag"] == "a,b" and [float(row["energy"]) for row in rows] == table["energy"].tolist()
    with pytest.raises(mbros.MbrosError, match=r"expected a file that ends in \.npz, \.csv, \.parquet"):
        table.save(tmp_path / "t.xls")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the sweep extra is not installed")
    read = parquet.read_table(table.save(tmp_path / "t.parquet")).to_pydict()
    assert read["q"] == table["q"].tolist() and read["energy"] == table["energy"].tolist()


FILE = """robot: arm7
duration: 0.05
start: {joint2: 0.3}
cases:
  mass.link7: [0.5, 1.0]
  start.joint4: {from: -1.0, to: 1.0, count: 3}
"""


def test_a_file(tmp_path, capsys):
    (tmp_path / "cases.yaml").write_text(FILE)
    assert main(["sweep", str(tmp_path / "cases.yaml"), "--workers", "1", "--out", str(tmp_path / "t.npz")]) == 0
    assert "6 cases, 0 failed" in capsys.readouterr().out
    model = mbros.load("arm7")
    sim = mbros.Simulator(model)
    model.set_parameter(sim.state, "mass.link7", 1.0)
    for joint, position in (("joint2", 0.3), ("joint4", -1.0)):
        model.joint(joint).set_position(sim.state, position)
    sim.advance_to(0.05)
    with np.load(tmp_path / "t.npz") as file:
        assert [file[f"position.joint{k + 1}"][3] for k in range(7)] == sim.state.q.tolist()


@pytest.mark.parametrize("was, now, line, words", [
    ("mass.link7", "mas.link7", 5, "expected a parameter of the model"), ("mass.link7", "mass.link77", 5, "link77"),
    ("count: 3", "count: 0", 6, "it is no range"), ("robot: arm7\n", "", None, "robot: it is missing"),
    ("duration", "durations", 2, "no such part"),
    ("joint2: 0.3", "joint22: 0.3", 1, "joint22"), ("[0.5, 1.0]", "[]", 5, "it has no values"), ("[0.5, 1.0]", "[-1.0]", 5, "mass")])
def test_mistakes_in_a_file_have_a_line(tmp_path, capsys, was, now, line, words):
    path = tmp_path / "cases.yaml"
    path.write_text(FILE.replace(was, now))
    assert main(["sweep", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and f"{path}{f':{line}' if line else ''}" in said
