"""`mbros view` of what `mbros run` and recordings wrote."""
import mbros
import numpy as np
import pytest

from mbros import cli
from mbros.cli import main
from mbros.study.replay.reading import csv_columns, fits, read_csv


@pytest.mark.parametrize("robot, options", [("arm7", ["--bench", "arm7_servo", "--signals", "joint*.encoder.*"]),
                                           ("quadruped", ["--bench", "quadruped_servo", "--signals", "*imu*"])])
def test_trial_H5_a_csv_with_signals_is_shown(robot, options, tmp_path, capsys):
    path = tmp_path / "run.csv"
    assert main(["run", robot, "--duration", "0.05", *options, "--csv", str(path)]) == 0
    model = mbros.load(robot)
    assert len(csv_columns(path)) > 3 * model.nv + 4 and fits(model, csv_columns(path))
    log = read_csv(path, model)
    assert len(log) == 51 and log.time[-1] == pytest.approx(0.05) and np.isfinite(log.q).all()
    pytest.importorskip("viser", reason="needs mbros[viewer]")
    assert main(["view", str(path), "--html", str(tmp_path / "run.html")]) == 0
    with pytest.raises(mbros.MbrosError, match="it has a column"):
        read_csv(path, mbros.load("pendulum"))


@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_trial_H5_a_recording_is_shown(robot, tmp_path, capsys):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    from mbros.study.replay.recorded_log import read_mcap

    model, path = mbros.load(robot), tmp_path / "run.mcap"
    sim = mbros.Simulator(model)
    with sim.record(path):
        sim.advance_to(0.05)
    log = read_mcap(path)
    assert len(log) == 51 and log.time[-1] == pytest.approx(0.05)
    np.testing.assert_allclose(log.q[-1], sim.state.q, atol=1e-12)
    np.testing.assert_allclose(log.v[-1], sim.state.v, atol=1e-12)
    with pytest.raises(mbros.MbrosError):
        read_mcap(path, mbros.load("pendulum"))
    with mbros.Simulator(model).record(tmp_path / "some.mcap", signals=["energy.*"]):
        pass
    with pytest.raises(mbros.MbrosError, match="was not recorded"):
        read_mcap(tmp_path / "some.mcap")
    pytest.importorskip("viser", reason="needs mbros[viewer]")
    assert cli.main(["view", str(path), "--html", str(tmp_path / "run.html")]) == 0
