"""Recordings, saves and checkpoints name the engine that made them, and say so where another one goes on. The other one is this machine's
own, MBROS_ENGINE=baseline, in a process of its own."""
import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import mbros
import pytest
import sweep_runs
from mbros.record.engines import another_engine, this_engine
from mbros.simulate import saved
from mbros_core.support import cpu

ROOT = str(Path(__file__).resolve().parents[2])
BASELINE = {**os.environ, "MBROS_ENGINE": "baseline", "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])}
needs_another = pytest.mark.skipif(cpu.engine()["build"] == "_double", reason="this machine has only the plain engine")
BOTH = (r"made with engine _double of mbros \S+ on \S+, without contracted multiply-add, asked for by MBROS_ENGINE=baseline, and this "
        rf"machine runs {cpu.engine()['build']} of mbros \S+ on \S+, with contracted multiply-add")


def baseline(folder, *words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder, env=BASELINE, check=True)


@needs_another
def test_trial_L7_a_replay_names_both_engines(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    baseline(tmp_path, "-m", "mbros", "run", "arm7", "--q", "joint2=0.7", "--duration", "0.1", "--record", "run.mcap")
    report = mbros.replay(tmp_path / "run.mcap")
    step = report.first_difference.step
    assert re.search(BOTH + rf": last digits may differ from step {step} on; the first: \S+ was ", str(report))
    assert not report.identical and "differs after" not in str(report)
    again = baseline(tmp_path, "-m", "mbros", "replay", "run.mcap", "--verify")
    assert "bit-identical, 100 steps" in again.stdout


@needs_another
def test_trial_L7_a_comparison_names_both_engines(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    from mbros.study.replay.compare import compare

    baseline(tmp_path, "-m", "mbros", "run", "arm7", "--q", "joint2=0.7", "--duration", "0.1", "--record", "run.mcap")
    found = compare(tmp_path / "run.mcap", mbros.load("arm7"))
    assert all(0.0 <= row.position_rms < 1e-12 for row in found.joints)
    assert str(found).endswith(f"{found.engine}: last digits may differ") and found.engine.startswith("made with engine _double of")


@needs_another
def test_trial_L7_a_restore_warns_and_goes_on(tmp_path):
    baseline(tmp_path, "-m", "mbros", "run", "arm7", "--q", "joint2=0.7", "--duration", "0.1", "--save", "arm.mbros")
    sim = mbros.Simulator(mbros.load("arm7"))
    with pytest.warns(mbros.MbrosWarning, match=BOTH + ": last digits may differ from now on") as caught:
        sim.restore(tmp_path / "arm.mbros")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert sim.time == pytest.approx(0.1)


def test_trial_L7_the_same_engine_has_nothing_to_say(tmp_path):
    sim = mbros.Simulator(mbros.load("arm7"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.restore(sim.save())


def test_trial_L7_saves_of_before_are_read_and_others_are_refused_by_name():
    model, blob = mbros.load("pendulum"), mbros.Simulator(mbros.load("pendulum")).save()
    of = saved.unpacked("it", blob)
    assert of.header["engine"] == {**cpu.engine(), "compiled": False}

    def edited(**words):
        header = {name: x for name, x in {**of.header, **words}.items() if x is not None}
        text, size = json.dumps(header).encode(), len(saved.BEGINNING) + 8
        body = blob[:size - 8] + len(text).to_bytes(8, "little") + text + blob[size + int.from_bytes(blob[size - 8:size], "little"):-32]
        return body + hashlib.sha256(body).digest()

    sealed = edited(engine=None)
    assert "engine" not in saved.unpacked("it", sealed).header
    sim = mbros.Simulator(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.restore(sealed)
    for wrong in ("_double", {"build": "_double"}, {**this_engine(), "contracted": 1}):
        with pytest.raises(mbros.errors.SaveError, match="was not written by mbros: its engine is none"):
            sim.restore(edited(engine=wrong))


def test_trial_L7_another_version_is_another_engine():
    here = this_engine()
    assert not another_engine(here, mbros.__version__) and not another_engine({**here, "asked": "x"}, mbros.__version__)
    assert "of mbros 9.9.9 on" in another_engine(here, "9.9.9")
    assert "with contracted" in another_engine({**here, "build": "_double_v9", "contracted": True}, mbros.__version__)


def test_trial_L7_a_checkpoint_of_another_engine_is_said(tmp_path):
    cases = [{"x": 1}, {"x": 2}]
    mbros.sweep(cases, sweep_runs.slowly, workers=1, checkpoint=tmp_path)
    there = tmp_path / "sweep.json"
    of = json.loads(there.read_text())
    assert of["engine"] == this_engine() and of["mbros"] == mbros.__version__
    there.write_text(json.dumps({**of, "engine": {**of["engine"], "build": "_double_v9"}}))
    with pytest.warns(mbros.MbrosWarning, match="made with engine _double_v9 of .*: cases done there and here may differ in last"):
        mbros.sweep(cases, sweep_runs.slowly, workers=1, checkpoint=tmp_path)


def test_trial_L7_a_robot_with_code_of_its_own_is_another_engine(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    model = mbros.load("double_pendulum")
    compiled = mbros.specialize(model)
    sim = mbros.Simulator(compiled)
    sim.state.q[0] = 0.7
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.5)
    assert not mbros.replay(tmp_path / "run.mcap", model=compiled).engine and mbros.replay(tmp_path / "run.mcap", model=compiled).identical
    report = mbros.replay(tmp_path / "run.mcap")
    assert re.search(r"made with engine .*, and the robot compiled to code of its own, and this machine runs ", report.engine)
    assert report.identical or "last digits may differ from step" in str(report)
