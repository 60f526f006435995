"""mbros faults: scripts, their reports, and what is refused."""
import contextlib
import io
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import mbros
import pytest

from mbros import cli

pytest.importorskip("yaml", reason="needs PyYAML")
EXAMPLE = Path(__file__).parents[2] / "examples" / "faults"


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "faults")
    return tmp_path / "faults"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """(what is said, the root of the JUnit report) of the example as it is."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(EXAMPLE, folder / "faults")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        script, report = str(folder / "faults" / "arm7_faults.yaml"), str(folder / "report.xml")
        assert cli.main(["faults", "run", "--controller", script, "--report", report]) == 0
    return said.getvalue(), ElementTree.parse(folder / "report.xml").getroot()


def test_the_example_keeps_its_limits(whole):
    said, suite = whole
    assert suite.tag == "testsuite" and suite.get("tests") == "11" == str(len(suite.findall("testcase"))) and suite.get("failures") == "0"
    assert "10 of 10 cases kept their limits" in said and "coverage" in said


def test_numbers_of_a_report_and_the_same_twice(capsys, folder, whole):
    again = folder / "again.xml"
    words = ["--controller", str(folder / "arm7_faults.yaml"), "--case", "[sbh]*", "--json", "--report", str(again)]
    assert cli.main(["faults", "run", *words]) == 0
    first, second = ({case.get("name"): ElementTree.tostring(case).strip() for case in suite.findall("testcase")}
                     for suite in (whole[1], ElementTree.parse(again).getroot()))
    assert len(second) == 5 and second == {name: first[name] for name in second}
    report = json.loads(capsys.readouterr().out)
    cases = {case["name"]: case for case in report["cases"]}
    assert list(cases) == ["stuck joint2", "stuck joint4", "bus down", "heavy hand"]
    stuck, bus = cases["stuck joint2"], cases["bus down"]
    assert stuck["began"] == pytest.approx(0.5) and stuck["ended"] == pytest.approx(0.7) and stuck["joints"] == ["joint2"]
    assert stuck["reacted"] == pytest.approx(0.002)               # the first sample after it, at the controller's next turn
    assert 0.0 < stuck["settled"] < 0.5 and stuck["deviation"] > 0.01 and stuck["peaks"]["effort"][0] > stuck["peaks"]["effort"][1] > 0.0
    assert bus["ended"] - bus["began"] == pytest.approx(0.02) and len(bus["signals"]) == 21
    assert report["coverage"]["joint2"] == {"lost": "kept", "stuck": "kept"} and report["coverage"]["flange"] == {"load": "kept"}
    assert report["baseline"]["verdict"] == "kept" and report["baseline"]["began"] is None


def script(folder, text, name="script.yaml"):
    path = folder / name
    path.write_text(text)
    return str(path)


BASE = "robot: arm7\nbench: arm7_bench.yaml\nduration: 0.3\ncontroller: {python: \"hold.py:Hold\", rate: 500}\n"


def test_limits_that_are_not_kept_are_said_and_make_the_exit_code(capsys, folder):
    path = script(folder, BASE + """limits:
  signals: {joint2.encoder.position: [-1, 1]}
  effort: {joint4: 20}
cases:
  - {name: far, kind: out_of_range, signal: joint2.encoder.position, value: 5.0, at: 0.2, until: 0.21}
  - {name: late, kind: stuck, joint: joint1, at: 7.0}
""")
    assert cli.main(["faults", "run", "--controller", path, "--report", str(folder / "out.xml")]) == 1
    out = capsys.readouterr().out
    assert "joint2.encoder.position reached 5, bound 1, at 0.202 s first" in out and "late: never began" in out
    assert "no fault: broken" in out and "joint4.effort reached" in out              # the start of the motion, without any fault
    suite = ElementTree.parse(folder / "out.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("2", "1")
    assert suite.find("testcase[@name='far']/failure") is not None and suite.find("testcase[@name='late']/error") is not None


def test_without_a_controller_commands_stay_and_a_simulation_that_blows_up_is_an_error(capsys, folder):
    (folder / "servo.yaml").write_text("actuators:\n  joint*: {type: position_servo, kp: 400, kd: 20}\n")
    path = script(folder, """robot: arm7
bench: servo.yaml
duration: 0.2
command:
  position: {joint2: 0.3}
cases:
  - {kind: drift, signal: joint2.command.position, rate: 1.0, at: 0.05}
  - {name: absurd, kind: out_of_range, signal: joint2.command.effort, value: 1.0e+290, at: 0.05}
""")
    assert cli.main(["faults", "run", "--controller", path, "--json"]) in (0, 1)
    drift, absurd = json.loads(capsys.readouterr().out)["cases"]
    assert drift["reacted"] is None and drift["deviation"] > 0.01 and drift["peaks"]["position"] == [0.3, 0.3]
    assert drift["verdict"] == "kept" and absurd["began"] == pytest.approx(0.05)


REFUSED = [
    ("cases: []\n", 5, "tries nothing"),
    ("caces: []\ncases: []\n", 5, "did you mean 'cases'?"),
    ("cases:\n  - {kind: frozn, signal: a}\n", 6, "did you mean 'frozen'?"),
    ("cases:\n  - {kind: stuck, joint: join2, at: 1}\n", 6, "did you mean 'joint2'?"),
    ("cases:\n  - {kind: stuck, joint: joint2}\n", 6, "nothing starts it"),
    ("cases:\n  - {each: leg*, kind: stuck, joint: '*', at: 1}\n", 6, "no joint 'leg*'"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\n  - {kind: stuck, joint: joint2, at: 2}\n", 7, "two cases have this name"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\nlimits: {positoin: 1}\n", 7, "did you mean 'position'?"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\nlimits:\n  velocity: {joint9: 1}\n", 8, "no joint 'joint9'"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\nlimits:\n  velocity: {joint1: [2, 1]}\n", 8, "[least, most]"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\nlimits:\n  signals: {joint1.postion: 2}\n", 8, "no signal 'joint1.postion'"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\ncommand: {position: {joint2: up}}\n", 7, "Give a finite number"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\nsettled: {effort: 1}\n", 7, "it has no 'effort'"),
    ("cases:\n  - {kind: stuck, joint: joint2, at: 1}\ndt: -1\n", 7, "dt is -1"),
]


@pytest.mark.parametrize("text, line, said", REFUSED)
def test_what_is_refused_has_its_line(capsys, folder, text, line, said):
    path = script(folder, BASE + text)
    assert cli.main(["faults", "run", "--controller", path]) == 2
    err = capsys.readouterr().err
    assert f"{path}:{line}: " in err and said in err, err


@pytest.mark.parametrize("text, said", [
    ("controller: {python: 'hold.py'}", "Give python: file.py:name"), ("controller: {}", "neither python nor ros"),
    ("controller: {python: 'a.py:b', ros: [x]}", "both python and ros"), ("controller: {pyhton: 'a.py:b'}", "did you mean 'python'?"),
    ("controller: {python: 'nowhere.py:Hold'}", "there is no file"), ("controller: {python: 'hold.py:Hodl'}", "did you mean 'Hold'?"),
    ("controller: {python: 'bad.py:law'}", "expected {'position'"), ("controller: {python: 'bad.py:falls'}", "at 0 s: ZeroDivisionError"),
    ("controller: {python: 'bad.py:Unmade'}", "when it is made: TypeError"), ("controller: {python: 'worse.py:x'}",
                                                                              "when it is read: Syntax"),
    ("robot: arm77", "arm77"), ("bench: nowhere.yaml", "cannot be read")])
def test_controllers_and_files_that_are_not_there_are_refused(capsys, folder, text, said):
    (folder / "bad.py").write_text("def law(time, signals):\n    return 3.0\n\ndef falls(time, signals):\n    return 1 / 0\n\n"
                                 "class Unmade:\n    pass\n")
    (folder / "worse.py").write_text("def x(:\n")
    base = {line.partition(":")[0]: line for line in BASE.splitlines()}
    base[text.partition(":")[0]] = text
    path = script(folder, "\n".join(base.values()) + "\ncases:\n  - {kind: stuck, joint: joint2, at: 0.1}\n")
    assert cli.main(["faults", "run", "--controller", path]) == 2
    assert said in capsys.readouterr().err


def test_a_script_of_no_step_is_a_report(capsys, folder):
    path = script(folder, BASE.replace("0.3", "0.0001") + "limits: {effort: true}\ncases:\n  - {kind: stuck, joint: joint2, at: 0.1}\n")
    assert cli.main(["faults", "run", "--controller", path]) == 1
    assert "stuck joint2: never began" in capsys.readouterr().out


def test_kinds_and_cases_that_are_not_there(capsys, folder):
    assert cli.main(["faults", "kinds"]) == 0
    assert "jammed_brake" in capsys.readouterr().out
    assert cli.main(["faults", "run", "--controller", str(folder / "arm7_faults.yaml"), "--case", "frozn*"]) == 2
    assert "no case 'frozn*'" in capsys.readouterr().err


def test_a_run_up_to_its_fault_is_the_run_without_it():
    from mbros.cli.fault_campaign import trial_of

    trial = trial_of(str(EXAMPLE / "arm7_faults.yaml"), programs=True)
    trial.script.duration = 0.6
    base, run = trial.run(None), trial.run(trial.cases[0])
    assert (base.states[:500] == run.states[:500]).all() and not (base.states[550:] == run.states[550:]).all()
    assert base.states.shape == (600, 7, 3) and not base.active.any() and run.active.sum() == 50


def test_a_limit_that_is_the_joints_own_is_taken_from_the_model():
    from mbros.cli.fault_campaign import trial_of

    trial = trial_of(str(EXAMPLE / "arm7_faults.yaml"), programs=True)
    own = {limit.signal: limit.most for limit in trial.limits if limit.signal.endswith(".effort")}
    model = mbros.load("arm7")
    assert own == {f"{joint.name}.{word}effort": joint.limits.effort.upper[0] for joint in model.joints if joint.nv
                   for word in ("", "command.")}


LAWS = {"strong": "{'effort': {'joint2': 5000.0 if time > 0.1 else 0.0}}", "silent": "None", "still": "{'position': {'joint2': 0.1}}"}
CASE = "cases:\n  - {name: jam, kind: stuck, joint: joint1, at: 0.1}\n"


@pytest.mark.parametrize("law, limits, bench, said", [
    ("strong", "effort: true", "arm7_bench.yaml", "joint2.command.effort reached 5000, bound 300, at 0.106 s first"),
    ("strong", "effort: {joint2: 400}", "arm7_bench.yaml", "joint2.command.effort reached 5000, bound 400, at 0.106 s first"),
    ("strong", "effort: true", "arm7_servo", "joint2.servo.saturated reached 1, bound 0, at 0.10"),
    ("silent", "velocity: 1.0e+9", "arm7_servo", "what the controller commands had no value at 0.2 s, so nothing says"),
    ("still", "signals: {joint2.command.velocity: 1}", "arm7_servo", "joint2.command.velocity had no value at 0.001 s, so nothing says")])
def test_trial_H3_no_verdict_is_kept_whatever_happens(capsys, folder, law, limits, bench, said):
    """5000 N m were kept behind the drive's clamp, and a signal that never came kept every bound."""
    (folder / "law.py").write_text(f"def law(time, signals):\n    return {LAWS[law]}\n")
    limits = limits.replace("1.0e+9", "{joint*: 1.0e+9}")
    path = script(folder, f"robot: arm7\nbench: {bench}\nduration: 0.2\ncontroller: {{python: 'law.py:law', rate: 250}}\n"
                          f"limits: {{{limits}}}\n{CASE}")
    assert cli.main(["faults", "run", "--controller", path, "--report", str(folder / "out.xml"), "--case", "jam"]) == 1
    out = capsys.readouterr().out
    assert said in out and "no fault: broken" in out
    assert ElementTree.parse(folder / "out.xml").getroot().find("testcase[@name='no fault']/failure") is not None


def test_trial_H3_a_number_that_is_lost_breaks_its_limit():
    import numpy as np
    from mbros.study.faults.criteria import bounded
    from mbros.study.faults.runs import Limit

    times, nan = np.arange(1, 6) * 0.1, np.nan
    late, lost = np.array([[nan] * 2, [nan] * 2, [1.0] * 2, [1.0] * 2, [1.0] * 2]), np.array([[1.0] * 2] * 3 + [[nan] * 2] * 2)
    limit = Limit("a", -2.0, 2.0)
    assert bounded(limit, "", times, late).kept and bounded(Limit("a", -2.0, 2.0, True), "", times, lost).kept
    broken = bounded(limit, "", times, lost)
    assert not broken.kept and broken.value is None and broken.time == pytest.approx(0.4)
    never = bounded(limit, "", times, late * nan, 3)
    assert not never.kept and never.time == pytest.approx(0.4)


def test_trial_H3_a_rate_that_the_controller_would_not_have_is_refused(capsys, folder):
    path = script(folder, BASE.replace("rate: 500", "rate: 300") + CASE)
    assert cli.main(["faults", "run", "--controller", path]) == 2
    assert "rate is 300 Hz, one turn in 3.333 steps of 0.001 s; give a rate of whole steps, as 250 or 333.333" in capsys.readouterr().err


def test_a_script_without_a_robot_runs_on_the_one_that_is_named(capsys, folder):
    """With a bench by its name; --junit is the same as --report."""
    text = BASE.replace("robot: arm7\n", "").replace("arm7_bench.yaml", "arm7_servo")
    path = script(folder, text + "cases:\n  - {name: jam, kind: stuck, joint: joint2, at: 0.1}\n")
    for word in ("--report", "--junit"):
        assert cli.main(["faults", "run", "--controller", path, "--robot", "arm7", word, str(folder / f"{word}.xml")]) == 0
        assert ElementTree.parse(folder / f"{word}.xml").getroot().get("tests") == "2"
    assert cli.main(["faults", "run", "--controller", path]) == 2 and "it has no robot" in capsys.readouterr().err
    assert cli.main(["faults", "run", "--controller", path, "--robot", "arm8"]) == 2 and "did you mean 'arm7'" in capsys.readouterr().err
    mistyped = script(folder, BASE.replace("arm7_bench.yaml", "arm7_srvo") + "cases:\n  - {kind: stuck, joint: joint2}\n")
    assert cli.main(["faults", "run", "--controller", mistyped]) == 2
    assert "arm7_servo" in capsys.readouterr().err
