"""Checkpoints, logs, reports and pictures: files of anybody are read for what they are, names of anybody are text in what is written."""
import csv
import io
import json
import os
import zipfile
from xml.etree import ElementTree

import mbros
import numpy as np
import pytest
import sweep_runs
from mbros.cli import main
from mbros.simulate.compare_page import page
from mbros.simulate.fault_report import Report, Result
from mbros.simulate.reading import csv_columns, read_csv
from mbros.simulate.recorder import Recorder, as_text, meant
from mbros.simulate.saved import read
from mbros.simulate.sweep.cases import cases_of
from mbros.simulate.sweep.checkpoint import Checkpoint

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
        result = Result(name if name.isprintable() else "fault", kind="frozen", target=name if name.isprintable() else "x", blown=name)
        report = Report(name if name.isprintable() else "robot", 1.0, Result("baseline"), [result])
        case = ElementTree.parse(io.StringIO(report.junit())).getroot()[1]
        assert case.get("name") == result.name and case[0].get("message")


def test_trial_the_command_says_it_in_a_sentence(tmp_path, capsys):
    os.mkfifo(tmp_path / "run.csv")
    assert main(["view", str(tmp_path / "run.csv"), "--html", str(tmp_path / "x.html")]) == 2
    assert "run.csv: it cannot be read: not a regular file" in capsys.readouterr().err
