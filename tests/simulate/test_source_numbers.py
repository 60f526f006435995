"""Sources: what cannot be is refused, and every number of one is live."""
import copy

import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc
from source_rigs import follow, rig, sample


@pytest.mark.parametrize("make, text", [
    (lambda: mbros.JointSource("s", joint=3), "joint is 3"), (lambda: mbros.JointSource("s", joint="a", safe="stop"),
                                                              "expected 'lock', 'sim' or 'hold'"),
    (lambda: mbros.JointSource("s", joint="a", timeout=0.0), "timeout is 0"), (lambda: mbros.JointSource("s", joint="a", timout=1.0),
                                                                               "did you mean 'timeout'"),
    (lambda: mbros.Simulator(disc(), bench=bench(mbros.JointSource("s", joint="hing"))), "did you mean 'hinge'"),
    (lambda: mbros.Simulator(disc(), bench=bench(mbros.JointSource("s", joint="hinge"), mbros.JointSource("t", joint="h*"))),
     "has source 's' already"),
    (lambda: mbros.Simulator(disc()).sources, "has none; add them"), (lambda: mbros.Simulator(disc()).feed({"hinge": 1.0}),
                                                                      "has none; add them"),
    (lambda: rig().sources["cat"], "did you mean 'cart'"), (lambda: rig().sources.__setitem__("cart", "rael"), "expected 'sim', 'real'"),
    (lambda: rig().sources.__setitem__("cart", "real"), "it has had no sample"),
    (lambda: rig().feed({"cat": 1.0}), "did you mean 'cart'"), (lambda: rig().feed(3.0), "expected {joint: value}"),
    (lambda: rig().feed({}, velocity={"cart": 1.0}), "has no position"), (lambda: rig().feed({"cart": "x"}), "position of cart"),
    (lambda: rig().feed({"cart": 1.0}, time=float("nan")), "time is nan")])
def test_what_cannot_be_is_refused(make, text):
    with pytest.raises(mbros.MbrosError) as caught:
        make()
    assert text in str(caught.value)


def test_a_sample_that_is_too_old_makes_no_real_joint_and_nothing_changes():
    sim = rig(timeout=0.01)
    sample(sim)
    sim.advance_to(0.05)
    with pytest.raises(mbros.MbrosError, match="its newest sample is 0.05 s old"):
        sim.sources["cart"] = "real"
    assert sim.sources["cart"].mode == "sim"


def test_a_sample_beyond_the_limits_makes_no_real_joint():
    """Degrees, or a zero that is another one; what is beyond by no more than `jump` will do."""
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(mbros.JointSource("hardware", joint="joint2", jump=0.2)))
    upper = sim.model.joint("joint2").limits.position.upper[0]
    for q in (57.3, upper + 0.3, -upper - 0.3):
        sim.step()
        sim.feed(position={"joint2": q})
        with pytest.raises(mbros.MbrosError, match=f"newest sample is at {q:g}, and the joint's limits are .*Look at the sample's unit"):
            sim.sources["joint2"] = "real"
        assert sim.sources["joint2"].mode == "sim"
    sim.step()
    sim.feed(position={"joint2": upper + 0.1})
    sim.sources["joint2"] = "real"
    assert sim.sources["joint2"].mode == "real"


def test_from_a_bench_file(tmp_path):
    pytest.importorskip("yaml", reason="needs PyYAML")
    file = tmp_path / "bench.yaml"
    file.write_text("sources:\n  joint[1-3]: {timeout: 0.02, safe: hold}\n  joint7: {}\n")
    sim = mbros.Simulator(mbros.load("arm7"), bench=file)
    assert list(sim.sources) == ["joint1", "joint2", "joint3", "joint7"]
    file.write_text("sources:\n  joint1: {timeot: 0.02}\n")
    with pytest.raises(mbros.ModelError, match=":2: source 'joint1': it has no number 'timeot'; did you mean 'timeout'"):
        mbros.Bench.load(file)


# ------------------------------------------------------------------------------------------------ its numbers while it runs

def test_every_number_of_a_source_is_live():
    sim = rig(timeout=0.02, safe="lock")
    names = ["timeout", "jump", "speed", "velocity_jump", "blend", "filter", "bound", "observer", "safe"]
    assert [name for name in sim.devices.parameter_names if name.startswith("cart.interface.")] == [f"cart.interface.{n}" for n in names]
    follow(sim, 0.01)
    sim.sources["cart"] = "real"
    sim.sources["cart"].numbers.update(timeout=0.05, safe="sim")
    sim.advance_to(0.055)
    assert sim.sources["cart"].mode == "real"                           # lost at 0.03 by the number that it was made with
    with pytest.warns(mbros.SourceWarning, match="safe state, 'sim'"):
        sim.advance_to(0.07)
    assert sim.sources["cart"].mode == "sim" and sim.devices.parameter("cart.interface.safe") == "sim"
    again = copy.copy(sim)
    sim.reset()
    assert again.devices["cart.interface"].timeout == sim.devices["cart.interface"].timeout == 0.05
    saved = mbros.Simulator(sim.model, bench=bench(mbros.JointSource("hardware", joint="cart", timeout=0.02)))
    saved.restore(sim.save())
    assert saved.devices["cart.interface"].timeout == 0.05 and saved.sources["cart"].numbers.safe == "sim"


def test_a_jump_limit_and_a_bound_are_live():
    sim = rig()
    follow(sim, 0.01)
    sim.sources["cart"] = "real"
    sim.devices.set_parameter("cart.interface.jump", 1.0)
    sim.feed(position={"cart": 0.5}, velocity={"cart": 0.0})
    sim.step()
    assert sim.sources["cart"].mode == "real"
    sim.devices["cart.interface"].jump = 0.1
    sim.feed(position={"cart": 1.0}, velocity={"cart": 0.0}, time=sim.time)
    with pytest.warns(mbros.SourceWarning, match="a sample jumped"):
        sim.step()


@pytest.mark.parametrize("number, value, words", [("safe", "fly", "expected 'lock', 'sim' or 'hold'"), ("timeout", 0.0, "expected a"),
                                                  ("timout", 1.0, "did you mean 'timeout'"), ("jump", np.nan, "jump is nan")])
def test_a_number_of_a_source_that_cannot_be_is_refused(number, value, words):
    sim = rig()
    before = sim.devices["cart.interface"].as_dict()
    with pytest.raises(mbros.MbrosError, match=words):
        sim.devices["cart.interface"].update(blend=0.5, **{number: value})
    assert sim.devices["cart.interface"].as_dict() == before
