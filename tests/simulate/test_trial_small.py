"""Small things that passed in silence."""
import mbros
import pytest

from mbros.cli import main


def test_trial_H15_a_verb_names_its_kind():
    with pytest.raises(mbros.MbrosError, match="kind is 'freeze'; did you mean 'frozen'"):
        mbros.Fault("hangs", kind="freeze", signal="a")


@pytest.mark.parametrize("number, value", [("counts", 4096.5), ("incremental", 0.5)])
def test_trial_H15_counts_are_whole(number, value):
    with pytest.raises(mbros.MbrosError, match=f"{number} is {value}; expected a whole number"):
        mbros.Encoder("encoder", joint="joint2", **{number: value})
    mbros.Encoder("encoder", joint="joint2", counts=4096.0)


def test_trial_H15_a_recording_that_ends_warns_at_once(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    from mbros.record.recorder import RecorderError

    sim = mbros.Simulator(mbros.load("pendulum"))
    tape = sim.record(tmp_path / "run.mcap")
    tape.tape.trouble = "no space left on device"           # as its writer says it
    with pytest.warns(mbros.MbrosWarning, match="run.mcap has ended at .* s: no space left on device; the simulation goes on") as caught:
        sim.advance_to(3.0)
    assert len(caught) == 1 and sim.time == pytest.approx(3.0)
    with pytest.raises(RecorderError, match="no space"):
        tape.close()


def test_trial_H15_velocities_beyond_their_limit_are_said(capsys):
    assert main(["run", "arm7", "--duration", "0.3", "--effort", "joint2=200"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("joint2"))
    assert "velocity beyond its limit 1.7" in line


def test_trial_small_counts_and_articles_are_english():
    b = mbros.ModelBuilder("stick")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("stick", 1.0, (0, 0, 0), (1, 1, 1))))
    assert repr(b.build()) == "<Model 'stick': 1 joint, nq 1, nv 1>"
    assert repr(mbros.load("arm7")).startswith("<Model 'arm7': 9 joints")
    with pytest.raises(mbros.ModelError, match="Numbers of an impedance_servo: kp"):
        mbros.ImpedanceServo("s", joint="hinge", stifness=1.0)
    with pytest.raises(mbros.ModelError, match="Numbers of a position_servo: kp"):
        mbros.PositionServo("s", joint="hinge", kp=1.0, stifness=1.0)
