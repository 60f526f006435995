"""A simulation that goes on with more or fewer robots and objects: what stays goes on to the bit."""
from pathlib import Path

import mbros
import numpy as np
import pytest
from bench_rigs import bench as bench_of
from fault_rigs import DEVICES
from mbros.bench.source import SourceWarning

CELL = Path(__file__).parents[2] / "examples" / "scenes" / "cell.yaml"


def arms(*names, ground=None, bench=True):
    scene = mbros.Scene("arms", ground=ground)
    for k, name in enumerate(names):
        scene.add_robot("arm7", name, p=(3.0 * k, 0.0, 0.0), initial_positions={"joint2": 0.3 + 0.1 * k},
                        bench="arm7_servo" if bench else False)
    return scene


def of(sim, name):
    robot = sim.model.tree.robots[name]
    return sim.state.q[robot.q_slice], sim.state.v[robot.v_slice]


def test_a_scene_of_a_model_is_the_same_model():
    model = mbros.load(CELL)
    again = mbros.Scene.of(model).build()
    a, b = mbros.Simulator(model), mbros.Simulator(again)
    b.restore(a.save())                                     # of the same fingerprint
    assert [member.name for member in mbros.Scene.of(again).members] == ["left", "right", "dog", "table", "parcel"]


@pytest.mark.parametrize("bench", [False, True], ids=["efforts", "servos"])
def test_what_stays_goes_on_to_the_bit(bench):
    sim, ref = (mbros.Simulator(arms("a", "b", "c", bench=bench).build()) for _ in range(2))
    for one in (sim, ref):
        if bench:
            one.command(position={"b/joint2": 0.8, "c/joint4": -0.4})
        one.state.damping[:] += 0.05
        one.advance_to(0.2)
    scene = mbros.Scene.of(sim.model)
    scene.remove("a")
    scene.add_object("ball", mbros.shapes.sphere(0.05), mass=0.2, p=(0.0, 5.0, 9.0))
    sim = sim.rebuilt(scene.build())
    assert sim.time == ref.time and sim.model.tree.robots.names == ("b", "c", "ball")
    for one in (sim, ref):
        one.advance_to(0.4)
    for name in "bc":
        assert np.array_equal(of(sim, name), of(ref, name)) and np.abs(of(ref, name)[1]).max() > 1e-3
    fallen = 9.0 - of(sim, "ball")[0][2]
    assert 0.19 < fallen < 0.2                              # 0.2 s of it
    if bench:
        names = [name for name in ref.signals if name.startswith(("b/", "c/"))]
        assert len(names) > 50
        for name in names:
            assert np.array_equal(sim.signals[name].value, ref.signals[name].value, equal_nan=True), name
    sim.reset()
    assert of(sim, "b")[0][1] == 0.4 and of(sim, "ball")[0][2] == 9.0


FAULTS = {                              # name: kind, target, numbers; begun before 0.2 s, where the world changes, or waiting
    "hangs": ("frozen", dict(signal="joint[14].encoder.*"), dict(at=0.1)),
    "off": ("offset", dict(signal="joint2.encoder.position"), dict(at=0.15, duration=0.1, offset=0.2)),
    "drifts": ("drift", dict(signal="joint3.encoder.position"), dict(at=0.1, rate=0.5)),
    "noisy": ("noise", dict(signal="wrist.imu.*"), dict(at=0.05, noise=0.1, walk=0.2)),
    "bursts": ("burst_loss", dict(signal="joint*.command.*"), dict(at=0.01, loss=0.5, burst=4.0)),
    "late": ("late", dict(signal="joint[57].encoder.*"), dict(at=0.02, delay=0.01, jitter=0.005)),
    "weak": ("lost_effort", dict(joint="joint2"), dict(at=0.1, until=0.3, fraction=0.4)),
    "jam": ("stuck", dict(joint="joint6"), dict()),
    "heavy": ("load", dict(frame="flange"), dict(when="abs(joint2.velocity) > 1e-4", held=0.25, mass=0.7)),
    "dry": ("friction", dict(joint="joint3"), dict(when="joint2.position > -9", duration=0.05, coulomb=2.0)),
    "yet to come": ("sign_flip", dict(signal="joint7.encoder.velocity"), dict(at=0.3)),
}


def test_faults_of_what_stays_go_on_to_the_bit_and_those_of_what_goes_go():
    faults = [mbros.Fault(name, kind, **target, **numbers) for name, (kind, target, numbers) in FAULTS.items()]
    scene = mbros.Scene("arms")
    for k, name in enumerate("abc"):
        scene.add_robot("arm7", name, p=(3.0 * k, 0.0, 0.0), bench=bench_of(*DEVICES, *faults, seed=3))
    sim, ref = (mbros.Simulator(scene.build()) for _ in range(2))
    for one in (sim, ref):
        one.command(position={"a/joint2": 0.4, "b/joint2": 0.8, "c/joint4": -0.4})
        one.advance_to(0.1)
        one.faults["b/jam"].start()
        one.advance_to(0.2)
        one.faults["c/jam"].start()                         # asked for, and not answered yet
        one.faults.set_parameters({"b/weak.fraction": 0.6, "b/weak.until": 0.35, "c/off.offset": -0.1, "b/hangs.until": 0.39})
    less = mbros.Scene.of(sim.model)
    less.remove("a")
    less.add_robot("pendulum", "a", p=(-3.0, 0.0, 0.0))
    sim = sim.rebuilt(less.build())
    assert list(sim.faults) == [f"{name}/{fault}" for name in "bc" for fault in FAULTS]

    def states(one):
        return {name: (fault.active, fault.count, str(fault.began), str(fault.ended))
                for name, fault in one.faults.items() if name in sim.faults}

    assert states(sim) == states(ref)
    active = [fault for fault in FAULTS if sim.faults[f"b/{fault}"].active]
    assert active == ["hangs", "off", "drifts", "noisy", "bursts", "late", "weak", "jam"]
    names = [name for name in ref.signals if name.startswith(("b/", "c/"))]
    for until in (0.201, 0.26, 0.4):
        for one in (sim, ref):
            one.advance_to(until)
        assert states(sim) == states(ref)
        for name in names:
            assert np.array_equal(sim.signals[name].value, ref.signals[name].value, equal_nan=True), (until, name)
        for name in "bc":
            assert np.array_equal(of(sim, name), of(ref, name))
    assert all(fault.count for fault in sim.faults.values())


def test_sources_of_what_stays_go_on_to_the_bit():
    """A real joint, one in the middle of a blend, one prescribed, one that coasts into its safe state, one locked, beside channels, whose
    memories stand between those of devices and sources; numbers are those in force."""
    channel = mbros.Channel("bus", signal="joint*.command.*", delay=3e-3, jitter=2e-3, loss=0.1)
    sources = [mbros.JointSource("*", joint="joint[1-5]", timeout=0.03, safe="hold", blend=0.04, filter=0.01)]
    scene = mbros.Scene("arms")
    for k, name in enumerate("abc"):
        scene.add_robot("arm7", name, p=(3.0 * k, 0.0, 0.0), bench=bench_of(*DEVICES, channel, *sources, seed=3))
    sim, ref = (mbros.Simulator(scene.build()) for _ in range(2))

    def goes_on(one, first, last, names):
        for k in range(first, last):
            t = 1e-3 * k
            for name in names:
                at = {f"{name}/joint1": 0.2 * np.sin(3.0 * t), f"{name}/joint3": 0.1 * t}
                if k < 120:
                    at[f"{name}/joint4"] = 0.3 * t
                if k % 7 == 0:
                    one.feed(position=at, effort=dict.fromkeys(at, 1.0))
                if k == 80:
                    one.sources[f"{name}/joint1"] = one.sources[f"{name}/joint4"] = "real"
                    one.sources[f"{name}/joint2"], one.sources[f"{name}/joint5"] = "prescribed", "locked"
                if k == 140:
                    one.sources[f"{name}/joint3"] = "real"
            one.step()

    with pytest.warns(SourceWarning):                       # joint4's hardware is silent from 0.12 s on
        for one in (sim, ref):
            one.command(position={"b/joint6": 0.4})
            goes_on(one, 0, 130, "abc")
            one.devices["b/joint1.interface"].timeout = 0.025
            goes_on(one, 130, 165, "abc")
    less = mbros.Scene.of(sim.model)
    less.remove("a")
    sim = sim.rebuilt(less.build())
    modes = {name: source.mode for name, source in sim.sources.items()}
    assert [modes[f"b/joint{k}"] for k in range(1, 6)] == ["real", "prescribed", "real", "prescribed", "locked"]
    assert modes == {name: ref.sources[name].mode for name in modes} and sim.devices["b/joint1.interface"].timeout == 0.025
    names = [name for name in ref.signals if name.startswith(("b/", "c/"))]
    for first, last in ((165, 166), (166, 200), (200, 320)):
        for one, feeding in ((sim, "bc"), (ref, "abc")):
            goes_on(one, first, last, feeding)
        for name in names:
            assert np.array_equal(sim.signals[name].value, ref.signals[name].value, equal_nan=True), (last, name)
        for name in "bc":
            assert np.array_equal(of(sim, name), of(ref, name))
        for name in modes:
            mine, theirs = sim.sources[name], ref.sources[name]
            assert (mine.mode, mine.trips, mine.reason, mine.ignored) == (theirs.mode, theirs.trips, theirs.reason, theirs.ignored)
    assert sim.sources["b/joint4"].mode == "locked" and sim.sources["b/joint4"].trips == 1


def test_a_joint_whose_source_goes_is_free():
    scene = mbros.Scene("arms")
    scene.add_robot("arm7", "a", bench=bench_of(*DEVICES, mbros.JointSource("*", joint="joint[12]", timeout=0.1)))
    sim = mbros.Simulator(scene.build())
    sim.sources["a/joint1"], sim.sources["a/joint2"] = "locked", "prescribed"
    sim.model.joint("a/joint3").lock(sim.state)             # by hand: that is no source's
    other = sim.rebuilt(sim.model, bench=bench_of(*(mbros.Encoder("*.e", joint="*"),)))
    assert [other.model.joint(f"a/joint{k}").mobilizer.source(other.state) for k in (1, 2, 3)] == ["dynamic", "dynamic", "locked"]
    assert sim.rebuilt(sim.model).sources["a/joint2"].mode == "prescribed"


def test_contacts_are_carried_with_their_impulses():
    scene = mbros.Scene("boxes", ground=True)
    for k in range(3):
        scene.add_object(f"box{k}", mbros.shapes.box((0.1, 0.1, 0.1)), mass=1.0, p=(float(k), 0.0, 0.05))
    sim = mbros.Simulator(scene.build())
    sim.advance_to(0.3)
    less = mbros.Scene.of(sim.model)
    less.remove("box0")
    other = sim.rebuilt(less.build())
    mine, theirs = sim.state.field("contact_memory"), other.state.field("contact_memory")
    assert int(theirs[0, 0]) == 8 and int(mine[0, 0]) == 12
    assert set(theirs[1:9, 2]) <= set(mine[1:13, 2])
    for one in (sim, other):
        one.advance_to(0.4)
    np.testing.assert_allclose(of(other, "box2")[0], of(sim, "box2")[0], atol=1e-9)


def test_what_cannot_be_is_refused_and_said():
    model = arms("a", "b").build()
    scene = mbros.Scene.of(model)
    with pytest.raises(mbros.UnknownNameError, match="no robot or object 'c' in scene 'arms'"):
        scene.remove("c")
    with pytest.raises(mbros.MbrosError, match="built from no scene"):
        mbros.Scene.of(mbros.load("arm7"))
    sim = mbros.Simulator(model)
    sim.disturbances.apply_wrench("a/link7", force=(0, 0, 1.0))
    with pytest.raises(mbros.MbrosError, match="has disturbances"):
        sim.rebuilt(model)
    sim.disturbances.clear()
    sim.disturbances.apply_effort({"a/joint2": 1.0}, duration=0.002)
    sim.advance_to(0.01)
    assert sim.rebuilt(model).time == sim.time              # it is over


def test_exclusions_of_what_goes_go():
    scene = mbros.Scene.of(mbros.load(CELL))
    scene.remove("dog")
    scene.remove("left")
    model = scene.build()
    assert model.tree.robots.names == ("right", "table", "parcel")
    assert not [name for name in model.velocity_names if name.startswith(("dog/", "left/"))]
    scene.add_robot("arm7", "left", p=(0, 0.6, 0))
    assert scene.build().tree.robots.names == ("right", "table", "parcel", "left")
