"""mbros faults run: requirements, double faults, seeds, workers, what was ended and goes on, and the page."""
import contextlib
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import mbros
import numpy as np
import pytest

from mbros import cli
from mbros.cli.fault_campaign import FaultCampaign
from mbros.study.replay.recording_file import RecordingFile

pytest.importorskip("yaml", reason="needs PyYAML")
EXAMPLE = Path(__file__).parents[2] / "examples" / "faults"
H = 1e-3
BENCH = "seed: 5\nactuators:\n  joint*: {type: position_servo, kp: 400, kd: 20}\nsensors:\n  joint*: {type: encoder, counts: 65536}\n"
HEAD = "robot: arm7\nbench: servo.yaml\nduration: 0.6\ncommand: {position: {joint2: 0.3}}\n"
SHORT = HEAD.replace("0.6", "0.3")
LOST = "{kind: lost_effort, joint: joint2, fraction: 0.9, at: 0.3}"


@pytest.fixture
def campaign(tmp_path):
    """campaign(text) -> (exit code, JSON report, what else was written)."""
    (tmp_path / "servo.yaml").write_text(BENCH)

    def run(text, *words, head=HEAD):
        path = tmp_path / "script.yaml"
        path.write_text(head + text)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = cli.main(["faults", "run", str(path), "--json", *words])
        return code, json.loads(said.getvalue()) if code < 2 else None, path

    return run


def by_hand(*faults, steps=600):
    """(n, 7, 2) of true positions and velocities, with no word of the campaign's code."""
    bench = mbros.Bench(seed=5)
    bench.add(mbros.PositionServo("*.a", joint="joint*", kp=400, kd=20))
    bench.add(mbros.Encoder("*.b", joint="joint*", counts=65536))
    for fault in faults:
        bench.add(fault)
    sim = mbros.Simulator(mbros.load("arm7"), H, bench=bench)
    sim.command(position={"joint2": 0.3})
    out = np.empty((steps, 7, 2))
    for k in range(steps):
        sim.step()
        out[k, :, 0], out[k, :, 1] = sim.state.q, sim.state.v
    return out


def test_trial_H9_a_lost_effort_that_stays_off_breaks_what_is_required(campaign):
    """Every number of the report is that of a simulation made by hand."""
    code, report, _ = campaign(f"""requirements:
  - {{requirement: SAFE-12, kind: deviation, joint: joint2, most: 0.05, from: 0.1}}
  - {{requirement: SAFE-12, kind: deviation, joint: joint2, most: 9, statistic: rms}}
  - {{requirement: SAFE-13, kind: settling, joint: joint*, band: 0.02, within: 0.2}}
  - {{requirement: SAFE-14, kind: settling, joint: joint2, reference: 0.3, band: 0.02, within: 0.2}}
cases:
  - {LOST}
  - {{name: short, kind: lost_effort, joint: joint2, fraction: 0.9, at: 0.3, duration: 0.02, requirement: SAFE-13}}
""")
    lost, short = report["cases"]
    base, run = by_hand(), by_hand(mbros.Fault("x", "lost_effort", joint="joint2", fraction=0.9, at=0.3))
    apart = np.abs(run - base)[:, 1, 0]
    assert code == 1 and lost["verdict"] == "broken" and apart[-1] > 0.1
    found = {(each["requirement"], each["kind"]): each for each in lost["broken"]}
    assert found["SAFE-12", "deviation"]["value"] == pytest.approx(apart[400:].max(), rel=1e-12)
    assert found["SAFE-12", "deviation"]["margin"] == pytest.approx(0.05 - apart[400:].max(), rel=1e-9)
    assert found["SAFE-13", "settling"]["value"] is None and "has not settled" in found["SAFE-13", "settling"]["text"]
    assert found["SAFE-14", "settling"]["kept"] is False
    for_a_while = np.abs(by_hand(mbros.Fault("x", "lost_effort", joint="joint2", fraction=0.9, at=0.3, duration=0.02)) - base)[:, :, 0]
    settled = max((np.flatnonzero(for_a_while[300:].max(1) > 0.02) + 1).max(initial=0) * H, 0.0)
    assert short["requirements"].keys() == {"SAFE-13"} and short["requirements"]["SAFE-13"]["value"] == pytest.approx(settled)
    assert report["requirements"]["SAFE-12"]["broken"] == 1 and report["requirements"]["SAFE-12"]["case"] == "lost_effort joint2"


def test_trial_H9_the_root_mean_square_and_the_bound_of_a_reaction(campaign):
    _, report, _ = campaign(f"""requirements:
  - {{requirement: RMS, kind: deviation, joint: joint2, most: 1.0e-9, statistic: rms}}
  - {{requirement: SPEED, kind: reaction, signal: joint2.velocity, above: 1.2, within: 0.05}}
  - {{requirement: NEVER, kind: reaction, signal: joint2.velocity, above: 50, within: 0.05}}
  - {{requirement: BEFORE, kind: reaction, signal: joint2.position, above: 0.1, within: 0.05}}
  - {{requirement: ANY, kind: reaction, signal: joint4.encoder.position, change: 0.001, within: 0.3}}
cases:
  - {LOST}
""")
    base, run = by_hand(), by_hand(mbros.Fault("x", "lost_effort", joint="joint2", fraction=0.9, at=0.3))
    found = report["cases"][0]["requirements"]
    assert found["RMS"]["value"] == pytest.approx(np.sqrt(np.mean((run - base)[300:, 1, 0] ** 2)), rel=1e-12) and not found["RMS"]["kept"]
    k = int(np.argmax(run[300:, 1, 1] > 1.2))
    assert found["SPEED"]["value"] == pytest.approx((k + 1) * H) and found["SPEED"]["kept"] == ((k + 1) * H <= 0.05)
    assert not found["NEVER"]["kept"] and "has not reacted" in found["NEVER"]["text"]
    assert run[299, 1, 0] > 0.1 and "was there before the fault" in found["BEFORE"]["text"]
    moved = int(np.argmax(np.abs(run - base)[:, 3, 0] > 0.001 + 1e-4)) - 300        # encoders are read in steps of 1e-4 rad
    assert abs(found["ANY"]["value"] / H - moved) <= 12


def test_trial_H9_several_faults_have_their_own_times(campaign):
    code, report, _ = campaign("""cases:
  - name: two
    faults:
      - {kind: stuck, joint: joint4, at: 0.2, duration: 0.1}
      - {kind: lost_effort, joint: joint2, fraction: 0.5, at: 0.4, duration: 0.05}
  - {name: "one of *", each: "joint[13]",
     faults: [{kind: stuck, joint: "*", at: 0.2}, {kind: friction, joint: joint2, coulomb: 1, at: 0.1}]}
""")
    two, *each = report["cases"]
    assert code == 0 and [case["name"] for case in each] == ["one of joint1", "one of joint3"]
    assert (two["began"], two["ended"], two["kind"], two["joints"]) == (0.2, 0.45, "stuck + lost_effort", ["joint4", "joint2"])
    both = by_hand(mbros.Fault("a", "stuck", joint="joint4", at=0.2, duration=0.1),
                   mbros.Fault("b", "lost_effort", joint="joint2", fraction=0.5, at=0.4, duration=0.05))
    assert two["deviation"] == np.abs(both - by_hand())[200:, :, 0].max()
    assert report["coverage"]["joint2"].keys() == {"lost_effort", "stuck", "friction"}


NOISY = """repetitions: 3
requirements:
  - {requirement: R, kind: deviation, joint: joint2, most: 0.05}
cases:
  - {name: noise, kind: noise, signal: joint2.command.position, noise: 0.05, at: 0.2}
  - {name: drift, kind: drift, signal: joint2.command.position, rate: 0.2, at: 0.2}
"""


def test_trial_H9_repetitions_have_seeds_and_workers_change_nothing(campaign, tmp_path):
    _, alone, _ = campaign(NOISY, "--report", str(tmp_path / "a.xml"), "--html", str(tmp_path / "a.html"), head=SHORT)
    _, together, _ = campaign(NOISY, "--workers", "2", "--report", str(tmp_path / "b.xml"), "--html", str(tmp_path / "b.html"), head=SHORT)
    assert alone == together
    assert (tmp_path / "a.xml").read_bytes() == (tmp_path / "b.xml").read_bytes()
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    noise, drift = ([case for case in alone["cases"] if case["name"] == name] for name in ("noise", "drift"))
    assert len({case["seed"] for case in noise}) == len({case["deviation"] for case in noise}) == 3 and noise[0]["seed"] == 5
    assert len({case["deviation"] for case in drift}) == 1                 # has no random numbers
    _, once, _ = campaign(NOISY.replace("repetitions: 3", "seed: 5"), head=SHORT)
    assert once["cases"][0]["deviation"] == noise[0]["deviation"]
    assert len(ElementTree.parse(tmp_path / "a.xml").getroot().findall("testcase[@name='noise [3]']")) == 1


def test_trial_H9_what_is_done_is_not_run_again_and_only_of_the_same_script(campaign, tmp_path, capsys, monkeypatch):
    ran = []
    whole = FaultCampaign.__call__
    monkeypatch.setattr(FaultCampaign, "__call__", lambda self, case: ran.append(case["case"]) or whole(self, case))
    kept = str(tmp_path / "kept")
    _, first, _ = campaign(NOISY, "--checkpoint", kept, head=SHORT)
    assert len(ran) == 9
    parts = sorted((tmp_path / "kept").glob("part-*.npz"))
    for part in parts[::2]:
        part.unlink()
    _, again, _ = campaign(NOISY, "--checkpoint", kept, head=SHORT)
    assert len(ran) == 9 + len(parts[::2]) and again == first
    for changed in (NOISY.replace("0.05}", "0.06}"), NOISY):
        if changed == NOISY:
            (tmp_path / "servo.yaml").write_text(BENCH.replace("400", "401"))
        assert campaign(changed, "--checkpoint", kept, head=SHORT)[0] == 2
        assert "the script, its robot, its bench, its controller or mbros itself has changed since" in capsys.readouterr().err


def test_trial_H9_ctrl_c_keeps_what_is_done(tmp_path):
    (tmp_path / "servo.yaml").write_text(BENCH)
    path = tmp_path / "script.yaml"
    path.write_text(HEAD + NOISY.replace("repetitions: 3", "repetitions: 400"))
    kept = tmp_path / "kept"
    process = subprocess.Popen([sys.executable, "-m", "mbros", "faults", "run", str(path), "--workers", "2", "--checkpoint", str(kept)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    end = time.monotonic() + 60.0
    while not list(kept.glob("part-*.npz")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, (process.returncode, err)
    assert not out and list(kept.glob("part-*.npz"))


def test_trial_H9_what_acts_is_in_logs_and_recordings(tmp_path):
    bench = mbros.Bench()
    bench.add(mbros.Fault("jam", "stuck", joint="joint4", at=0.1, duration=0.05))
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    with sim.record(tmp_path / "r.mcap"):
        log = sim.run(0.3, signals=["fault.*", "joint4.velocity"])
    active = log.signals["fault.jam.active"]
    assert np.flatnonzero(active).tolist() == list(range(101, 151)) and log.signals.units["fault.jam.active"] == ""
    file = RecordingFile(tmp_path / "r.mcap")
    column = list(file.fields.values()).index("fault.jam.active")
    rows = [what[2][column] for kind, what in file if kind == "row"]
    file.close()
    assert rows[-301:] == active.tolist()


@pytest.mark.parametrize("what, drive, given", [
    ("velocity", "velocity_servo, kd: 0.1", 5.0), ("position", "position_servo, kp: 1, kd: 9", 3.0)])
def test_trial_H9_a_limit_is_looked_at_before_the_clamp(campaign, tmp_path, what, drive, given):
    """A weak drive keeps its joint within any limit, whatever it is commanded."""
    (tmp_path / "servo.yaml").write_text(f"actuators:\n  joint2: {{type: {drive}}}\n")
    for asked, broken in ((0.1, set()), (given, {f"joint2.command.{what}"})):
        code, report, _ = campaign(f"command: {{{what}: {{joint2: {asked}}}}}\n"
                                   f"limits:\n  requirement: SAFE-1\n  {what}: {{joint2: 1.5}}\n"
                                   "cases:\n  - {kind: friction, joint: joint2, viscous: 500, at: 0.02}\n",
                                   head=HEAD.partition("command")[0])
        assert {each["signal"] for each in report["cases"][0]["broken"]} == broken and code == bool(broken)
    assert report["requirements"]["SAFE-1"]["broken"] == 2


def test_trial_H9_the_page_says_it_all_and_fetches_nothing(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "faults")
    script, html, xml = tmp_path / "faults" / "arm7_requirements.yaml", tmp_path / "r.html", tmp_path / "r.xml"
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert cli.main(["faults", "run", "--controller", str(script), "--html", str(html), "--report", str(xml)]) == 1
    page = html.read_text()
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|<script", page) and "width=device-width" in page
    assert "prefers-color-scheme: dark" in page and len(page) < 400_000
    for word in ("SAFE-1", "SAFE-12", "SAFE-13", "SAFE-14"):
        assert f">{word}</span>" in page and word in said.getvalue()
    assert page.count("<details") == 6 and page.count("<svg") >= 18 and "joint4.velocity, rad/s" in page and "margin" in page
    case = ElementTree.parse(xml).getroot().find("testcase[@name='lost_effort joint2']")
    assert {each.get("value") for each in case.iter("property")} == {"SAFE-1", "SAFE-12", "SAFE-13"}
    assert "SAFE-13" in case.find("failure").text


def test_trial_H9_the_script_of_the_page_is_one(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "faults")
    text = (EXAMPLE.parents[1] / "docs" / "fault_scripts.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "faults" / "page.yaml").write_text(text)
    trial = FaultCampaign(str(tmp_path / "faults" / "page.yaml"), "*", None, True).trial
    assert [case.name for case in trial.cases] == ["frozen joint2.encoder.*", "frozen joint4.encoder.*", "heavy hand",
                                                   "bus down while joint4 is stuck"]
    assert [case.requirements for case in trial.cases] == [(0, 1), (0, 1), (0, 1), (0, 1, 2)] and len(trial.criteria) == 3


CASE = "cases:\n  - {kind: stuck, joint: joint1, at: 0.1}\n"


@pytest.mark.parametrize("text, said", [
    ("{requirement: A, kind: deviatoin, joint: joint1, most: 1}", "expected 'deviation', 'settling', 'reaction' or 'limit'"),
    ("{kind: deviation, joint: joint1, most: 1}", "requirement: SAFE-12"),
    ("{requirement: A, kind: deviation, joint: joint1}", "it has no most"),
    ("{requirement: A, kind: deviation, joint: joint9, most: 1}", "no joint 'joint9'"),
    ("{requirement: A, kind: deviation, joint: joint1, signal: joint1.position, most: 1}", "signal and joint"),
    ("{requirement: A, kind: deviation, most: 1}", "neither signal nor joint"),
    ("{requirement: A, kind: settling, joint: joint1, band: 0, within: 1}", "band is 0"),
    ("{requirement: A, kind: limit, signal: joint1.position}", "neither least nor most"),
    ("{requirement: A, kind: limit, signal: joint1.position, least: 2, most: 1}", "least is 2 and most 1"),
    ("{requirement: A, kind: limit, signal: joint1.position, mots: 1}", "did you mean 'most'"),
    ("{requirement: A, kind: reaction, signal: joint1.position, within: 1, above: 1, below: 0}", "both above and below"),
    ("{requirement: A, kind: deviation, joint: joint1, most: 1, cases: 'frozen*'}", "no case is judged by it"),
    ("{requirement: A, kind: deviation, joint: joint1, most: 1, from: 2, until: 1}", "Let it end later")])
def test_trial_H9_a_requirement_that_cannot_be_is_refused_at_its_line(campaign, capsys, text, said):
    code, _, path = campaign(f"{CASE}requirements:\n  - {text}\n")
    err = capsys.readouterr().err
    assert code == 2 and said in err and f"{path}:8: " in err, err


@pytest.mark.parametrize("text, said", [
    ("cases:\n  - {faults: [{kind: stuck, joint: joint1, at: 1}], at: 2}", "'at' stands beside faults"),
    ("cases:\n  - {faults: []}", "it has no faults"),
    ("cases:\n  - {faults: [{kind: stuck, joint: joint1, at: 1}, {kind: stuck, joint: joint1, at: 2}]}", "two of its faults have the name"),
    ("cases:\n  - {name: no fault, kind: stuck, joint: joint1, at: 1}", "is what the run without a fault is called"),
    ("cases:\n  - {kind: stuck, joint: joint1, at: 1, requirement: B}", "no requirement 'B'"),
    ("cases:\n  - {kind: stuck, joint: joint1, at: 1, requirement: 3}", "Give the name of a requirement"),
    (f"{CASE}repetitions: 0", "Give a whole number from 1 to"), (f"{CASE}seed: 1.5", "Give a whole number from 0 to")])
def test_trial_H9_a_case_that_cannot_be_is_refused(campaign, capsys, text, said):
    assert campaign(text + "\n")[0] == 2
    assert said in capsys.readouterr().err


def test_trial_H9_a_controller_that_fails_under_a_fault_is_a_finding(campaign, tmp_path):
    (tmp_path / "law.py").write_text("def law(time, signals):\n    if signals['joint2.encoder.position'].value > 1.0:\n"
                                     "        raise RuntimeError('beyond reason')\n    return {'position': {'joint2': 0.3}}\n")
    code, report, _ = campaign("controller: {python: 'law.py:law', rate: 100}\ncases:\n"
                               "  - {name: far, kind: out_of_range, signal: joint2.encoder.position, value: 2, at: 0.2}\n"
                               "  - {name: jam, kind: stuck, joint: joint4, at: 0.2}\n", "--controller")
    far, jam = report["cases"]
    assert code == 1 and far["verdict"] == "blew up" and "beyond reason" in far["blown"] and jam["verdict"] == "kept"
