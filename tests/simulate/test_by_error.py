"""A simulator whose steps go by the error: dense output, copies, saves, reactions, and what it refuses."""
import copy
import pickle

import mbros
import mbros_core
import numpy as np
import pytest
from mbros.cli import main
from mbros_core.realtime import Loop


def made(name="arm7", dt=0.05, **given):
    sim = mbros.Simulator(mbros.load(name), dt, "dormand_prince", **given)
    sim.state.v[:] = 0.3
    return sim


def test_dense_output_goes_through_the_step():
    """Of fourth order, beside a simulation that ends there; at both ends it is the step itself."""
    sim = made(rtol=1e-9, atol=1e-11)
    before = sim.state.copy()
    sim.step()
    assert np.array_equal(sim.at(sim.time).q, sim.state.q) and abs(sim.at(0.0).q - before.q).max() < 1e-15
    for t in (0.003, 0.02, 0.031, 0.0499):
        other = made(dt=t, rtol=1e-12, atol=1e-13)
        other.step()
        here = sim.at(t)
        assert here.time == t and abs(here.q - other.state.q).max() < 1e-7 and abs(here.v - other.state.v).max() < 1e-6
    after = sim.state.q.copy()
    sim.step()
    sim.at(0.07)
    assert not np.array_equal(after, sim.state.q) and sim.time == 0.1


def test_dense_output_is_of_the_last_step():
    sim = made()
    with pytest.raises(mbros.StateError, match="no step led"):
        sim.at(0.0)
    sim.step()
    for time in (-0.001, 0.051):
        with pytest.raises(mbros.MbrosError, match=r"outside the last step, 0 to 0.05 s"):
            sim.at(time)
    sim.state.set_q(sim.state.q)
    with pytest.raises(mbros.StateError, match="no step led"):
        sim.at(0.05)
    with pytest.raises(mbros.StateError, match="'midpoint'"):
        mbros.Simulator(sim.model).at(0.0)


def test_copies_and_saves_go_on_to_the_bit():
    sim = made(rtol=1e-8)
    sim.advance_to(0.2)
    others = [copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), made(rtol=1e-8)]
    others[3].restore(sim.save())
    sim.advance_to(0.5)
    for other in others:
        other.advance_to(0.5)
        assert other.plant.tolerances == (1e-8, 1e-12) and np.array_equal(other.state._inputs, sim.state._inputs)
    with pytest.raises(mbros.SaveError, match=r"\(rtol, atol\) \(1e-08, 1e-12\)"):
        made().restore(sim.save())


def test_reactions_are_those_of_the_end():
    sim = mbros.Simulator(mbros.load("pendulum"), 0.1, "dormand_prince")
    sim.state.q[:] = 1.0
    sim.advance_to(0.5)
    joint = sim.model.joints[0]
    before = mbros.Simulator(sim.model, 1e-5, "rk4", state=sim.at(0.5))
    before.step()
    for what in ("torque", "force"):
        assert np.allclose(getattr(joint.reaction(sim.state), what), getattr(joint.reaction(before.state), what), atol=1e-3)
    assert abs(joint.reaction(sim.state).force).max() > 1.0
    sim.state.q[:] += 0.1
    with pytest.raises(mbros.StateError):
        joint.reaction(sim.state)


@pytest.mark.parametrize(("given", "words"), [
    ({"rtol": 0.0}, "rtol is 0; expected a finite number, 1e-14 to 0.01"),
    ({"atol": np.nan}, "atol is nan"),
    ({"rtol": "small"}, "rtol"),
    ({"integrator": "rk4", "rtol": 1e-6}, "expected integrator='dormand_prince', or no tolerances"),
])
def test_tolerances_that_are_none(given, words):
    with pytest.raises(mbros.MbrosError, match=words):
        mbros.Simulator(mbros.load("pendulum"), 0.1, **{"integrator": "dormand_prince", **given})


def test_what_it_is_not_for():
    model = mbros.load("arm7")
    with pytest.raises(mbros.MbrosError, match="without a bound on their time"):
        Loop(mbros.Simulator(model, integrator="dormand_prince").plant)
    with pytest.raises(mbros.MbrosError, match="all alike: midpoint"):
        mbros.rollout(model, model.default_state().q, np.zeros(7), np.zeros((1, 1, 7)), integrator="dormand_prince")
    with pytest.raises(mbros.MbrosError, match="all alike"):
        model.linearize(model.default_state(), np.zeros(7), dt=1e-3, integrator="dormand_prince")
    with pytest.raises(mbros.MbrosError, match="the integrator dormand_prince has no contact"):
        mbros.Simulator(mbros.load("quadruped", ground=True), integrator="dormand_prince")
    with pytest.raises(mbros.MbrosError, match="devices act once in a step"):
        mbros.Simulator(mbros.load("arm7", bench="arm7_servo"), integrator="dormand_prince")


def test_tolerances_that_cannot_be_kept():
    """A damper that stops the body in an attosecond: a fault in words, and the last good state."""
    b = mbros.ModelBuilder("stiff")
    body = b.add_body("body", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.PrismaticJoint("z", b.world, body, damping=1e18))
    sim = mbros.Simulator(b.build(), 0.1, "dormand_prince")
    sim.state.v[:] = 1.0
    with pytest.raises(mbros.FaultError, match=r"tolerances \(rtol 1e-10, atol 1e-12\) could not be kept: no substep is short enough"):
        sim.step()
    assert sim.state.v[0] == 1.0 and sim.time == 0.0 and sim.plant.fault[0]
    sim.reset()
    sim.state.damping[:] = 1.0
    sim.step()


def test_on_the_command_line(capsys, tmp_path):
    saved = str(tmp_path / "run.mbros")
    by_error = ["--integrator", "dormand_prince", "--rtol", "1e-8", "--dt", "0.01"]
    assert main(["run", "arm7", *by_error, "--duration", "0.1", "--save", saved]) == 0
    assert "dormand_prince" in capsys.readouterr().out
    assert main(["run", "arm7", "--from", saved, "--duration", "0.1"]) == 0
    assert main(["run", "arm7", "--integrator", "dormand_prince", "--realtime", "--duration", "0.1"]) != 0
    assert "without a bound on their time" in capsys.readouterr().err
    assert mbros_core.BY_ERROR not in mbros_core.INTEGRATORS


def on_a_cart(dt, law, rtol=1e-12):
    b = mbros.ModelBuilder("pendulum on a cart")
    cart, rod = b.add_body("cart", 1.0), b.add_body("rod", 0.7, (0.0, 0.0, -0.5), (0.1, 0.1, 0.01))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, cart, axis=(1.0, 0.0, 0.0)))
    b.add_joint(mbros.RevoluteJoint("hinge", cart, rod, axis=(0.0, 1.0, 0.0)))
    sim = mbros.Simulator(b.build(), dt, "dormand_prince", rtol=rtol, atol=1e-2 * rtol)
    sim.prescribe("slide", law)
    return sim


def swing(t):
    return 0.3 * np.sin(5.0 * t), 1.5 * np.cos(5.0 * t), -7.5 * np.sin(5.0 * t)


def test_trial_P18_a_motion_is_followed_at_the_times_of_the_substeps():
    """Steps of 0.2 s, a sixth of the sine's period, beside steps of 1 ms; the dense output goes along the sine, too."""
    long, short = on_a_cart(0.2, swing), on_a_cart(1e-3, swing)
    for sim in (long, short):
        sim.advance_to(2.0)
    assert long.state.q[0] == short.state.q[0] == swing(2.0)[0]
    assert abs(long.state.q[1] - short.state.q[1]) < 2e-12 and abs(long.state.v[1] - short.state.v[1]) < 2e-11
    between, other = long.at(1.93), on_a_cart(1.93, swing)
    other.step()
    assert between.q[0] == swing(1.93)[0] and abs(between.q[1] - other.state.q[1]) < 1e-7
    third = copy.copy(long)
    for sim in (long, third):
        sim.motions["slide"] = lambda t: (swing(2.0)[0] + swing(2.0)[1] * (t - 2.0), swing(2.0)[1], 0.0)
        sim.advance_to(3.0)
    assert np.array_equal(long.state.q, third.state.q)
    del long.motions["slide"]
    long.advance_to(4.0)
    assert abs(long.state.q[0] - (swing(2.0)[0] + 2.0 * swing(2.0)[1])) > 1e-3


def test_trial_P18_a_law_that_raises_within_a_step_changes_nothing():
    def law(t):
        if 0.45 < t < 0.55:
            raise RuntimeError(f"nobody knows about {t:g} s")
        return swing(t)

    sim = on_a_cart(0.2, law)
    with pytest.raises(RuntimeError, match="nobody knows"):
        sim.advance_to(1.0)
    assert sim.time == 0.4 and sim.plant.fault[0] == 0 and sim.state.q[0] == swing(0.4)[0]
    sim.motions["slide"] = swing
    sim.advance_to(1.0)
    whole = on_a_cart(0.2, swing)
    whole.advance_to(1.0)
    assert np.array_equal(sim.state.q, whole.state.q)


def test_trial_P18_no_recording_says_that_it_has_such_a_motion(tmp_path):
    sim = on_a_cart(0.2, swing)
    with pytest.raises(mbros.MbrosError, match="record: dormand_prince asks for the motion of joint 'slide' within its steps"):
        sim.record(tmp_path / "run.mcap")
