"""Builders take the names that models take, and every way to give a bench takes "servo"."""
import mbros
import numpy as np
import pytest

ARM = mbros.load("arm7")


def test_trial_L9_bodies_and_frames_are_given_by_name():
    def made(at):
        b = mbros.ModelBuilder(ARM)
        tool, tip = b.add_body("tool", 0.3, inertia=(1e-3,) * 3), b.add_body("tip", 0.1, inertia=(1e-4,) * 3)
        frame = b.add_frame("grip", at("flange", b.body("flange")), p=(0, 0, 0.1))
        b.add_joint(mbros.FixedJoint("tooled", at("grip", frame), at("tool", tool), rpy=(0.1, 0.2, 0.3)))
        b.add_joint(mbros.RevoluteJoint("wrist", at("tool", tool), at("tip", tip), axis=(0, 1, 0), p=(0, 0, 0.05)))
        b.add_collision(at("tool", tool), mbros.shapes.sphere(0.02))
        b.add_robot(mbros.load("pendulum"), "beside", at("world", b.world), p=(1, 0, 0))
        return b.build()

    by_name, by_object = made(lambda name, thing: name), made(lambda name, thing: thing)
    for table in ("X_PF", "inertia", "parent", "shape_X"):
        np.testing.assert_array_equal(getattr(by_name.spec, table), getattr(by_object.spec, table))


@pytest.mark.parametrize("call", [
    lambda b: b.add_joint(mbros.FixedJoint("j", "flang", b.add_body("t"))), lambda b: b.add_frame("f", "flang"),
    lambda b: b.add_joint(mbros.FixedJoint("j", b.world, "flang")), lambda b: b.add_collision("flang", mbros.shapes.sphere(0.1)),
    lambda b: b.add_robot(ARM, "two", "flang")])
def test_trial_L9_a_name_that_is_not_there_is_answered_with_those_like_it(call):
    with pytest.raises(mbros.ModelError, match="'flang'.*did you mean 'flange'"):
        call(mbros.ModelBuilder(ARM))


def test_trial_L9_servos_are_a_bench_for_load_too():
    sim, other = mbros.Simulator(mbros.load("arm7", bench="servo")), mbros.Simulator(ARM, bench="servo")
    for one in (sim, other):
        one.command(position={"joint2": 0.3})
        one.advance_to(0.5)
    assert sim.state.q.tolist() == other.state.q.tolist() and sim.state.q[1] == pytest.approx(0.3, abs=0.05)
    scene = mbros.Scene()
    scene.add_robot("arm7", "left", bench="servo")
    assert "left/joint2.servo" in mbros.Simulator(scene.build()).devices
