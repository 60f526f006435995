"""Checkpoints, logs, reports and pictures: files of anybody are read for what they are, names of anybody are text in what is written."""
import csv
import io
import json
import os
import tracemalloc
import zipfile
from xml.etree import ElementTree

import mbros
import numpy as np
import pytest
import sweep_runs
from mbros.cli import main
from mbros.study.replay.compare_page import page
from mbros.study.faults.page import page as fault_page
from mbros.study.faults.report import Report, Result
from mbros.study.replay.reading import csv_columns, read_csv
from mbros.record.recorder import Recorder, as_text, meant
from mbros.simulate.saved import read
from mbros.study.sweep.cases import cases_of
from mbros.study.sweep.checkpoint import Checkpoint
from mbros.study.sweep.study import read_study
from mbros.study.sweep.table import table_of

HOSTILE = ["=cmd|' /C calc'!A1", "<script>alert(1)</script>", "a&b]]>", "$\\frac$", "$x$", "-1+1", "@SUM(A1)", "'=x", "''=x", "\"q\",r"]


def robot(*names):
    """Whose joints and links are called so, and itself."""
    names = [name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for name in names]
    return mbros.load(f'<robot name="{names[0]}"><link name="base"/>' + "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        f'<joint name="{name}" type="continuous"><parent link="base"/><child link="{name}"/></joint>' for name in names) + "</robot>")


# -------------------------------------------------------------------------------------------------------------------- what is read


def swept(folder):
    return mbros.sweep([{"x": x} for x in range(7)], sweep_runs.failing, workers=1, checkpoint=folder)


def altered(path, **columns):
    with np.load(path) as given:
        data = {**dict(given), **columns}
    np.savez(path, **data)


@pytest.mark.filterwarnings("ignore:.*cases of the sweep failed")
@pytest.mark.parametrize("how", ["packed", "bomb", "pickle", "huge", "index", "negative", "name", "error", "fifo", "folder", "text"])
def test_trial_X6_a_checkpoint_is_of_its_cases_or_is_nothing(how, tmp_path):
    whole = swept(tmp_path)
    path, *others = sorted(tmp_path.glob("part-*.npz"))
    for other in others:
        other.unlink()
    if how == "packed":
        altered(path, extra=np.zeros(1))
        with np.load(path) as given:
            np.savez_compressed(path, **dict(given))
    elif how == "bomb":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("done.npy", "w") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (1 << 24,)})
            file.write(bytes(1 << 27))
    elif how == "pickle":
        altered(path, done=np.array([print], dtype=object))
    elif how == "huge":
        with zipfile.ZipFile(path, "w") as packed, packed.open("done.npy", "w") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (1 << 50,)})
    elif how in ("index", "negative"):
        altered(path, done=np.array([10**9 if how == "index" else -1]), errors=np.empty(0, str), names=np.empty(0, str))
    elif how == "name":
        altered(path, names=np.array(["x"] * len(np.load(path)["names"])))
    elif how == "error":
        altered(path, errors=np.array(["[0, [" + "[" * 5000]))
    else:
        path.unlink()
        if how == "fifo":
            os.mkfifo(path)
        elif how == "folder":
            path.mkdir()
        else:
            path.write_text("no zip")
    if how in ("fifo", "folder"):                   # in the place of a file that it is about to write
        assert Checkpoint(tmp_path, cases_of([{"x": x} for x in range(7)], 0), sweep_runs.failing).read() == ({}, {})
        return
    again = swept(tmp_path)
    assert again.errors == whole.errors and all(np.array_equal(again[name], whole[name], equal_nan=whole[name].dtype.kind == "f")
                                                for name in whole)


@pytest.mark.parametrize("how", ["fifo", "deep", "large", "words"])
def test_trial_X6_a_checkpoint_that_is_none_is_refused(how, tmp_path):
    there = tmp_path / "sweep.json"
    if how == "fifo":
        os.mkfifo(there)
    else:
        words = json.dumps({"version": 1, "cases": "\x1b[2J" * 999})
        there.write_text({"deep": "[" * 100_000, "large": " " * (2 << 20), "words": words}[how])
    with pytest.raises(mbros.MbrosError, match="checkpoint") as refused:
        swept(tmp_path)
    assert "\x1b" not in str(refused.value) and len(str(refused.value)) < 2000


def test_trial_X6_a_log_is_read_for_what_it_is(tmp_path):
    model = robot("j")
    with Recorder(tmp_path / "run.csv", mbros.Simulator(model).plant) as recorder:
        recorder.row()
    head, row = (tmp_path / "run.csv").read_text().splitlines()
    os.mkfifo(tmp_path / "fifo.csv")
    for name, text in (("line.csv", "time" + "," * (6 << 20)), ("quote.csv", 'time,"' + "\n" * (6 << 20)), ("zero.csv", "\0" * (6 << 20)),
                       ("wide.csv", head + "\n" + "1," * (1 << 20)), ("rows.csv", head + "\n" + row + "\n" + "1," * (1 << 20)),
                       ("narrow.csv", head + "\n1,2\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(mbros.MbrosError, match=name):
            read_csv(tmp_path / name, model)
        with pytest.raises(mbros.MbrosError, match=name):
            mbros.identify(tmp_path / name, model)
    for name in ("fifo.csv", "/dev/zero"):
        with pytest.raises(mbros.MbrosError, match=os.path.basename(name)):
            csv_columns(tmp_path / name)


def test_a_row_of_a_log_is_read_no_further_than_one_can_be(tmp_path):
    """Of 100 MB in a line NumPy made a gigabyte."""
    model, path = robot("j"), tmp_path / "run.csv"
    with Recorder(path, mbros.Simulator(model).plant) as recorder:
        recorder.row()
    whole = path.read_text()
    path.write_text(whole + "1," * (1 << 20))
    with pytest.raises(mbros.MbrosError, match=r"changed from \d+ to \d{1,4} at row 2"):
        read_csv(path, model)
    head, row = whole.splitlines()
    path.write_text(f"{head}\n{row}\n1.7e308{row[row.index(','):]}\n")
    with pytest.raises(mbros.MbrosError, match=r"row 2 holds 1.7e\+308; expected finite numbers, below 1e\+300"):
        read_csv(path, model)


def test_of_notes_that_are_called_the_same_one_is_kept(tmp_path):
    from mbros.record.mcap_file import McapFile
    from mbros.record.mcap_reading import McapReading
    from mbros.study.replay.replay import ReplayError

    file = McapFile(tmp_path / "run.mcap")
    for k in range(8):
        file.note("mbros", {f"{k} {n}": "" for n in range(20_000)})
    file.close()
    reading = McapReading(tmp_path / "run.mcap", ReplayError)
    reading.notes("none")
    tracemalloc.start()
    try:
        found = reading.notes("mbros")
        held, largest = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        reading.close()
    assert len(found) == 20_000 and "7 0" in found and largest < 4 * held


HOSTILE_TEXT = "\x1b]0;x\x07\n[ERROR] \u202e forged"


def test_what_a_checkpoint_says_is_printed_as_text(tmp_path, capsys):
    """Names of results and errors, in one line each, whoever wrote the checkpoint; so are the names of files."""
    (tmp_path / "s.yaml").write_text("robot: double_pendulum\nduration: 0.002\ncases:\n  damping.elbow: [0.0, 0.1]\n")
    call = ["sweep", str(tmp_path / "s.yaml"), "--workers", "1", "--checkpoint", str(tmp_path / "c")]
    assert main(call) == 0
    for path in (tmp_path / "c").glob("part-*"):
        path.unlink()
    np.savez(tmp_path / "c" / "part-a.npz", **{"done": np.array([0]), "names": np.array([HOSTILE_TEXT]), "values 0": np.array([1.0]),
             "of 0": np.array([0]), "errors": np.array([json.dumps([1, HOSTILE_TEXT])])})
    capsys.readouterr()
    assert main([*call, "--out", str(tmp_path / f"{HOSTILE_TEXT}.csv")]) == 1
    said = capsys.readouterr()
    text = said.out + said.err
    assert text.count("\\x1b]0;x\\x07\\n[ERROR] \\u202e forged") == 3 and all(c.isprintable() for c in text.replace("\n", ""))
    assert not any(line.startswith("[ERROR]") for line in text.splitlines())


def test_a_result_of_a_checkpoint_that_is_too_large_for_all_cases_is_refused(monkeypatch):
    monkeypatch.setattr("mbros_core.support.available.memory_available", lambda: 1e9)
    cases = cases_of([{"x": x} for x in range(1000)], 0)
    with pytest.raises(mbros.MbrosError, match="'big' of 1000 cases: no memory for 1000 x 1000000 numbers"):
        table_of(cases, {0: {"big": np.zeros(1_000_000)}}, {})


def test_as_many_cases_as_there_is_memory_for(tmp_path, monkeypatch):
    """Four lines of a sweep file are a hundred million cases."""
    path, ranges = tmp_path / "s.yaml", "{from: 0.0, to: 1.0, count: 10000}"
    path.write_text(f"robot: double_pendulum\nduration: 0.01\ncases:\n  damping.elbow: {ranges}\n  damping.shoulder: {ranges}\n")
    monkeypatch.setattr("mbros.study.sweep.cases.memory_available", lambda: 20e9)
    monkeypatch.setattr("mbros.study.sweep.cases.product", lambda *_: pytest.fail("cases are made"))
    cases, study, seed = read_study(path)
    with pytest.raises(mbros.MbrosError, match="100000000 cases take 100 GB of memory, and 20 GB are free"):
        mbros.sweep(cases, study, seed=seed, workers=1)


@pytest.mark.filterwarnings("error")
def test_a_range_beyond_all_numbers_is_refused_in_words(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("robot: double_pendulum\nduration: 0.01\ncases:\n  damping.elbow: {from: -1.7e308, to: 1.7e308, count: 3}\n")
    with pytest.raises(mbros.MbrosError, match="is nan; expected a finite number"):
        read_study(path)


@pytest.mark.parametrize(("change", "said"), [
    ("dt: 5.0e-324", "is inf steps of 4.94066e-324 s"), ("dt: 1.0e-17", r"in steps of 1e-17 s: no memory for \d+ numbers"),
    ("dt: 1.0e-8\nduration: 1.0e6", "100000000000000 steps takes .* of memory"),
    ("controller: {python: 'none.py:None', rate: 5.0e-324}", "rate: inf s is inf steps")])
def test_a_fault_script_of_endless_steps_is_refused_before_it_is_run(tmp_path, change, said):
    from mbros.describe.devices.script import read_script
    from mbros.study.faults.runs import FaultTrial

    path = tmp_path / "f.yaml"
    path.write_text("robot: arm7\nbench: b.yaml\n" + ("" if "duration" in change else "duration: 0.02\n") + "cases:\n"
                    f"  - {{kind: frozen, signal: joint1.encoder.position, at: 0.01}}\n{change}\n")
    delay = "" if "duration" in change else "channels:\n  - {signal: 'joint1.command.position', delay: 0.002}\n"
    (tmp_path / "b.yaml").write_text("actuators:\n  joint*: {type: position_servo, kp: 400, kd: 20}\nsensors:\n  joint*: {type: encoder}\n"
                                      + delay)
    with pytest.raises(mbros.MbrosError, match=said):
        FaultTrial(read_script(path), mbros.load("arm7"), None)


def test_trial_X8_a_save_whose_header_is_endless_is_refused(tmp_path):
    blob = mbros.Simulator(robot("j")).save()
    with pytest.raises(mbros.SaveError, match="its header has 16777217 bytes, more than"):
        read(blob[:12] + (1 << 24 | 1).to_bytes(8, "little") + blob[20:])


# ------------------------------------------------------------------------------------------------------------------ what is written


@pytest.mark.parametrize("name", HOSTILE)
def test_trial_names_are_no_formulas_and_come_back(name, tmp_path):
    assert meant(as_text(name)) == name
    model = robot(name)
    with Recorder(tmp_path / "run.csv", mbros.Simulator(model).plant) as recorder:
        recorder.row()
    with open(tmp_path / "run.csv", newline="") as file:
        cells = next(csv.reader(file))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert csv_columns(tmp_path / "run.csv")[1] == f"{name}/position" and len(read_csv(tmp_path / "run.csv", model)) == 1
    table = mbros.sweep([{name: name}], len, workers=1)
    table.save(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="") as file:
        head, row, = csv.reader(file)
    assert meant(head[0]) == meant(row[0]) == name and not any(cell.startswith(("=", "@", "-")) for cell in (*head, *row))


def test_trial_names_are_text_in_pictures_and_pages(tmp_path):
    pytest.importorskip("matplotlib", reason="needs mbros[plot]")
    log, name = mbros.Simulator(robot(*HOSTILE)).run(0.01), HOSTILE[1]
    log.plot(path=tmp_path / "run.svg")
    tree = ElementTree.parse(tmp_path / "run.svg")
    assert not [element for element in tree.iter() if element.tag.endswith("script")]
    assert "<script" not in log._repr_html_() and "<script" not in log.model._repr_html_()
    assert b"<script" not in page(name, [(name, name)]) and page("\udcff", [("x", "y")])


def test_trial_reports_of_faults_are_xml_whatever_the_names():
    for name in (*HOSTILE, "\x01\x1b[2J\ufffe", "a\nb"):
        shown = name if name.isprintable() else "x"
        result = Result(shown, kinds=("frozen",), targets=(shown,), blown=name)
        report = Report(name if name.isprintable() else "robot", 1.0, [Result("baseline")], [result])
        case = ElementTree.parse(io.StringIO(report.junit())).getroot()[1]
        assert case.get("name") == result.name and case[0].get("message")
        assert b"<script" not in fault_page(report, name)


def test_trial_the_command_says_it_in_a_sentence(tmp_path, capsys):
    os.mkfifo(tmp_path / "run.csv")
    assert main(["view", str(tmp_path / "run.csv"), "--html", str(tmp_path / "x.html")]) == 2
    assert "run.csv: it cannot be read: not a regular file" in capsys.readouterr().err
