"""Force-torque sensors read what the step computed on its way where that is still there (mbros_core/engine/carried.pxi), and find it again
where it is not: either way it is the reaction of the joint, led to the end of the step, whatever else is on the bench."""
import numpy as np
import pytest
from bench_rigs import AtTheEnd, bench

import mbros

INTEGRATORS = ("midpoint", "semi_implicit_euler")


def mechanism(part):
    """A turret, an arm and a follower of the arm; `part` is what a robot may have besides."""
    b = mbros.ModelBuilder(part)
    turret, arm, hand, tail = (b.add_body(name, mass, (0.1, 0.02, 0.05), (0.03, 0.04, 0.05))
                               for name, mass in (("turret", 3.0), ("arm", 2.0), ("hand", 1.0), ("tail", 0.5)))
    b.add_joint(mbros.RevoluteJoint("turn", b.world, turret, axis=(0, 0, 1)))
    b.add_joint(mbros.RevoluteJoint("lift", turret, arm, axis=(0, 1, 0), p=(0.1, 0, 0.2)))
    b.add_joint(mbros.RevoluteJoint("bend", arm, hand, axis=(0.6, 0.8, 0), p=(0.4, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("wag", turret, tail, axis=(0, 1, 0), p=(-0.1, 0, 0.2),
                                    **({"mimic": ("lift", -0.5)} if part == "mimic" else {})))
    if part in ("spring", "stiff spring"):
        b.add_force_element(mbros.LinearSpringDamper(turret, hand, 0.538, 80.0 if part == "spring" else 1e6, 1.0, name="spring"))
    if part in ("shapes", "touching"):
        b.add_collision(hand, mbros.shapes.sphere(0.1), name="fist")
        b.add_ground(0.05 if part == "touching" else -9.0)
    return b.build()


JOINTS = ("turn", "lift", "bend", "wag")
ALL = [mbros.ForceTorque(name, joint=name) for name in JOINTS]
OTHERS = [mbros.Imu("imu", frame="hand"), mbros.GroundTruthPose("pose", frame="tail", rate=250.0),
          mbros.Encoder("e", joint="turn", counts=512)]


def wrench(sim, name):
    return np.concatenate([sim.signals[f"{name}.{part}"].value for part in ("torque", "force")])


def start(part, devices, integrator="midpoint", model=None):
    sim = mbros.Simulator(model or mechanism(part), bench=bench(*devices), integrator=integrator)
    sim.state.v = [1.5, 2.0, 4.0, 1.0][:sim.model.nv]
    if part == "prescribed":
        sim.prescribe("lift", lambda t: (0.3 * np.sin(4.0 * t), 1.2 * np.cos(4.0 * t), -4.8 * np.sin(4.0 * t)))
    if part == "locked":
        sim.model.joint("lift").lock(sim.state)
    return sim


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("part", ["nothing", "mimic", "spring", "stiff spring", "shapes", "touching", "prescribed", "locked"])
def test_a_wrench_is_the_reaction_whatever_the_robot_has(part, integrator):
    """With sensors that see the end of the step between."""
    sim, touches = start(part, ALL + OTHERS, integrator), 0
    ends = {name: AtTheEnd(integrator) for name in JOINTS}
    for _ in range(150):
        sim.step()
        touches += len(sim.model.contacts(sim.state)) if part == "touching" else 0
        for name in JOINTS:
            joint = sim.model.joint(name)
            there = ends[name](joint.reaction(sim.state, joint.child.name).values)
            assert wrench(sim, name) == pytest.approx(there, abs=1e-12 * max(abs(there).max(), 1.0))
    assert (touches > 0) == (part == "touching")


@pytest.mark.parametrize("part", ["nothing", "spring", "touching"])
def test_a_wrench_does_not_depend_on_what_else_is_measured(part):
    """To the bit."""
    alone = {name: start(part, [sensor]) for name, sensor in zip(JOINTS, ALL)}
    beside = start(part, OTHERS[:1] + ALL + OTHERS[1:])
    for _ in range(100):
        beside.step()
        for name, sim in alone.items():
            sim.step()
            assert (wrench(sim, name) == wrench(beside, name)).all()


@pytest.mark.parametrize("part", ["nothing", "spring"])
def test_a_wrench_has_what_pushed_in_its_step(part):
    pushed, by_hand = start(part, ALL + OTHERS), start(part, ALL + OTHERS)
    for k in range(10):
        if k == 3:
            pushed.disturbances.apply_wrench("hand", (0.1, 1.0, -0.5), (5.0, -30.0, 2.0), duration=0.004)
        if 3 <= k < 7:
            by_hand.model.apply_wrench(by_hand.state, "hand", (0.1, 1.0, -0.5), (5.0, -30.0, 2.0))
        pushed.step()
        by_hand.step()
        by_hand.model.clear_wrenches(by_hand.state)
        for name in JOINTS:
            assert wrench(pushed, name) == pytest.approx(wrench(by_hand, name), abs=1e-10)


def test_a_wrench_of_a_robot_that_was_compiled():
    plain = mechanism("nothing")
    sims = [start("nothing", ALL + OTHERS, model=model) for model in (plain, mbros.specialize(plain, ["midpoint"]))]
    for _ in range(50):
        for sim in sims:
            sim.step()
        for name in JOINTS:
            assert wrench(sims[1], name) == pytest.approx(wrench(sims[0], name), abs=1e-9)
