"""When faults of a bench act; their memory, which is state; refusals."""
import copy
import pickle

import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc
from fault_rigs import READING, H, arm, record
from mbros_core.plant.faults.registry import ROWS
from mbros_core.realtime import Loop

def acting(sim, name, n):
    """Whether it acted, step by step."""
    out = []
    for _ in range(n):
        sim.step()
        out.append(sim.faults[name].active)
    return np.flatnonzero(out)


def turning(*faults, speed=1.0):
    sim = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge"), *faults))
    sim.state.v[:] = speed
    return sim


def offset(name="f", signal="hinge.velocity", **words):
    return mbros.Fault(name, "offset", signal=signal, offset=1.0, **words)


@pytest.mark.parametrize("words, first, last", [
    (dict(at=0.0, until=0.01), 0, 9), (dict(at=0.02), 20, 99), (dict(until=0.003), 0, 2), (dict(at=0.0105, duration=0.0101), 11, 20),
    (dict(at=0.01, duration=1e-6), 10, 10), (dict(at=0.03, until=0.05, duration=0.01), 30, 39)])
def test_times_are_steps_that_begin_then(words, first, last):
    sim = turning(offset(**words))
    found = acting(sim, "f", 100)
    assert (found == np.arange(first, last + 1)).all()
    fault = sim.faults["f"]
    assert fault.began == pytest.approx(first * H) and fault.count == 1
    assert np.isnan(fault.ended) if last == 99 else fault.ended == pytest.approx((last + 1) * H)


@pytest.mark.parametrize("dt", [1e-3, 1e-5, 1 / 700, 0.3])
def test_times_are_whole_steps_as_long_as_steps_can_be_counted(dt):
    from mbros.bench.bench_faults import steps

    for n in (0, 1, 3, 299, 300, 10**6 + 1, 10**8, 10**8 + 1):
        assert steps(n * dt, dt) == n
        assert steps((n + 0.5) * dt, dt) == n + 1
    assert steps(float("inf"), dt) == 1e300


@pytest.mark.parametrize("text, first", [("hinge.position > 0.0305", 31), ("hinge.position>=0.0305", 31),
                                         ("abs( hinge.position ) > 0.0305", 31),
                                         ("hinge.velocity < 1e-9", None), ("hinge.command.effort <= 3", None)])
def test_a_condition_is_seen_in_the_step_after(text, first):
    sim = turning(offset(signal="e.power", when=text))
    found = acting(sim, "f", 60)
    assert found.size == 0 if first is None else (found == np.arange(first, 60)).all()


def test_a_condition_has_to_hold_for_so_long_and_ends_with_it_or_after_its_duration():
    def swing(**words):
        """The position is above 0.01 from step 11 to 30, from 51 to 70 ..."""
        sim = turning(offset(signal="e.power", when="hinge.position > 0.0105", **words))
        found = []
        for k in range(80):
            sim.state.v[:] = 1.0 if (k // 20) % 2 == 0 else -1.0
            sim.step()
            found.append(sim.faults["f"].active)
        return np.flatnonzero(found), sim.faults["f"].count

    found, count = swing()
    assert (found == [*range(11, 30), *range(51, 70)]).all() and count == 2
    found, count = swing(held=0.005)
    assert (found == [*range(15, 30), *range(55, 70)]).all() and count == 2
    found, count = swing(duration=0.004)
    assert (found == [*range(11, 15), *range(51, 55)]).all() and count == 2       # once each time that it begins to hold
    found, count = swing(duration=0.03)
    assert (found == [*range(11, 41), *range(51, 80)]).all() and count == 2       # it lasts, whatever the condition does
    found, count = swing(until=0.02)
    assert (found == range(11, 20)).all() and count == 1
    found, count = swing(at=0.02)
    assert (found == [*range(20, 30), *range(51, 70)]).all() and count == 2


def test_by_hand():
    sim = turning(offset("hand"), offset("short", signal="e.power", duration=0.003),
                  offset("timed", signal="e.effort", at=0.01, until=0.02))
    hand, short, timed = (sim.faults[name] for name in ("hand", "short", "timed"))
    sim.step()
    assert not hand.active and hand.count == 0 and np.isnan(hand.began) and "has not acted" in repr(hand)
    hand.start()
    short.start()
    assert (acting(sim, "short", 10) == [0, 1, 2]).all() and hand.active and "acts since" in repr(hand)
    assert sim.signals["hinge.velocity"].value == 2.0
    hand.stop()
    sim.step()
    assert not hand.active and hand.ended == pytest.approx(0.011) and sim.signals["hinge.velocity"].value == 1.0
    assert timed.active
    timed.stop()
    sim.advance_to(0.03)
    assert timed.count == 1 and timed.ended == pytest.approx(0.012)               # not again in its window
    short.start()
    sim.step()
    assert short.count == 2 and list(sim.faults) == ["hand", "short", "timed"] and "3, 1 act" in repr(sim.faults)
    with pytest.raises(mbros.UnknownNameError, match="no fault 'shrot' in this bench; did you mean 'short'"):
        sim.faults["shrot"]


# ------------------------------------------------------------------------------------------------------------------ memory

MANY = (
    mbros.Fault("a", "frozen", signal="joint1.encoder.*", at=0.1, duration=0.2),
    mbros.Fault("b", "noise", signal="joint2.encoder.position", noise=0.1, walk=0.1, at=0.05),
    mbros.Fault("c", "burst_loss", signal="joint*.command.*", loss=0.3, burst=3.0, at=0.05),
    mbros.Fault("d", "late", signal="wrist.imu.*", delay=0.01, jitter=0.005, at=0.12),
    mbros.Fault("e", "stuck", joint="joint4", when="joint4.position < -0.1", duration=0.1),
    mbros.Fault("g", "friction", joint="joint[5-6]", coulomb=0.2, viscous=0.1, when="abs(wrist.imu.angular_velocity[1]) > 0.1"),
    mbros.Fault("h", "load", frame="flange", mass=1.0),
    mbros.Fault("i", "lost_effort", joint="joint2", fraction=0.5, at=0.2),
)


def same(a, b):
    return (np.array_equal(a.plant.devices.block, b.plant.devices.block, equal_nan=True) and (a.state.q == b.state.q).all()
            and (a.state.v == b.state.v).all())


@pytest.mark.parametrize("at", [0.05, 0.15, 0.21, 0.3])
@pytest.mark.parametrize("copied", [copy.copy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_and_saves_go_on_alike(copied, at):
    sim = arm(*MANY)
    sim.advance_to(0.02)
    sim.faults["h"].start()
    sim.advance_to(at)
    other, blob = copied(sim), sim.save()
    for each in (sim, other):
        each.advance_to(0.5)
    assert same(sim, other) and sim.faults["e"].count == 1 and sim.faults["g"].count >= 1
    sim.restore(blob)
    sim.advance_to(0.5)
    assert same(sim, other)
    third = arm(*MANY)
    third.restore(blob)
    third.advance_to(0.5)
    assert same(third, other)
    with pytest.raises(mbros.SaveError, match="another one"):
        arm(*MANY[1:]).restore(blob)


def test_a_reset_begins_again():
    sim = arm(*MANY)
    sim.advance_to(0.4)
    end = sim.state.q.copy()
    sim.reset()
    assert not any(fault.active or fault.count for fault in sim.faults.values())
    sim.command(position={"joint2": 0.3, "joint4": -0.4})
    sim.advance_to(0.4)
    assert (sim.state.q == end).all()


def test_faults_that_do_not_act_change_no_bit_and_one_fault_changes_no_others_numbers():
    waits = [mbros.Fault(f"{fault.name} waits", fault.row.name, **{fault.row.target: fault.target},
                         **{name: x if x.size > 1 else x[0] for name, x in fault.values.items()}) for fault in MANY]
    sim, plain = arm(*waits), arm()
    for each in (sim, plain):
        each.advance_to(0.4)
    assert (sim.state.q == plain.state.q).all()
    assert all(np.array_equal(sim.signals[name].value, plain.signals[name].value, equal_nan=True) for name in plain.signals)
    noise = MANY[1]
    (alone,) = record(arm(noise), READING, n=100)
    (beside,) = record(arm(mbros.Fault("x", "noise", signal="joint3.encoder.position", noise=0.5, at=0.0), noise), READING, n=100)
    assert (alone == beside).all()


def test_the_loop_runs_faults_without_allocation_and_takes_starts_while_it_runs():
    sim, again = arm(*MANY), arm(*MANY)
    again.advance_to(0.399)
    loop = Loop(sim.plant, clock="virtual", watchdog_timeout=None, count_allocations=True)
    loop.start(slots=400)
    assert loop.wait(30.0)
    assert same(sim, again) and not loop.statistics().allocations
    sim = arm(mbros.Fault("h", "stuck", joint="joint2"))
    loop = Loop(sim.plant, rt="off", watchdog_timeout=None)
    loop.start()
    sim.faults["h"].start()                                     # the state is the loop's; this is one number
    loop.stop()
    sim.advance_to(sim.time + 0.01)
    assert sim.faults["h"].active


def test_a_step_that_blows_up_leaves_the_parameters_as_they_were():
    sim = mbros.Simulator(disc(1e-9), bench=bench(mbros.EffortActuator("e", joint="hinge", effort_limit=1e300),
                                                   mbros.Fault("f", "friction", joint="hinge", coulomb=1.0, at=0.0),
                                                   mbros.Fault("l", "load", frame="disc", mass=1.0, at=0.0)))
    friction, inertia = sim.state.field("friction").copy(), sim.state.field("inertia").copy()
    sim.command(effort={"hinge": 1e100})
    with pytest.raises(mbros.FaultError):
        sim.step()
    assert (sim.state.field("friction") == friction).all() and (sim.state.field("inertia") == inertia).all()


def test_with_contact_and_loops_the_same_bits_twice():
    dog = mbros.load("quadruped", ground=True)
    names = [joint.name for joint in dog.joints if joint.nv == 1]

    def run():
        faults = (mbros.Fault("s", "stuck", joint=names[1], at=0.05, duration=0.1),
                  mbros.Fault("l", "load", frame=dog.bodies[1].name, mass=3.0, place=[0.1, 0, 0], at=0.1),
                  mbros.Fault("b", "jammed_brake", joint=names[2], effort=20.0, at=0.1))
        sim = mbros.Simulator(dog, bench=bench(mbros.PositionServo("*.s", joint="*", kp=100.0, kd=2.0), *faults))
        sim.command(position=dict.fromkeys(names, 0.1))
        sim.advance_to(0.4)
        return sim

    assert same(run(), run()) and np.isfinite(run().state.q).all()


# --------------------------------------------------------------------------------------------------------------- refusals

REFUSED = [
    (lambda: mbros.Fault("f", "frozn", signal="a"), "did you mean 'frozen'?"),
    (lambda: mbros.Fault("f", "frozen"), "signal is None"),
    (lambda: mbros.Fault("f", "frozen", joint="hinge"), "it is given a joint"),
    (lambda: mbros.Fault("f", "stuck", signal="a"), "it is given a signal"),
    (lambda: mbros.Fault("f", "offset", signal="a"), "it has no offset"),
    (lambda: mbros.Fault("f", "offset", signal="a", offset=0.0), "it does nothing"),
    (lambda: mbros.Fault("f", "friction", joint="a"), "it does nothing"),
    (lambda: mbros.Fault("f", "lost_effort", joint="a", fraction=1.5), "fraction is 1.5"),
    (lambda: mbros.Fault("f", "frozen", signal="a", rat=1.0), "it has no number 'rat'"),
    (lambda: mbros.Fault("f", "frozen", signal="a", at=-1.0), "at is -1"),
    (lambda: mbros.Fault("f", "frozen", signal="a", at=float("nan")), "at is nan"),
    (lambda: mbros.Fault("f", "frozen", signal="a", at=2.0, until=1.0), "it ends at 1 s and begins at 2 s"),
    (lambda: mbros.Fault("f", "frozen", signal="a", duration=0.0), "duration is 0"),
    (lambda: mbros.Fault("f", "frozen", signal="a", held=1.0), "held and no when"),
    (lambda: mbros.Fault("f", "burst_loss", signal="a", loss=1.0, burst=2.0), "it loses everything"),
    (lambda: bench(mbros.Fault("f", "not_a_number", signal="a"), mbros.Fault("f", "not_a_number", signal="b")),
     "this name is already taken"),
    *((lambda text=text: mbros.Fault("f", "not_a_number", signal="a", when=text), "when ") for text in (
        "", "a", "a >", "> 1", "a == 1", "a > b", "a > 1 > 2", "a > 1 and b > 2", "abs(a > 1", "a) > 1", "a > nan", "a > inf", 3)),
]


@pytest.mark.parametrize("make, text", REFUSED)
def test_what_cannot_be_is_refused_where_it_is_written(make, text):
    with pytest.raises(mbros.ModelError) as caught:
        make()
    assert text in str(caught.value) and all(problem.remedy for problem in caught.value.problems)


ON_A_ROBOT = [
    (mbros.Fault("f", "not_a_number", signal="hinge.positon"), "did you mean 'hinge.position'?"),
    (mbros.Fault("f", "stuck", joint="hing"), "no joint 'hing' in model 'disc' with one coordinate; did you mean 'hinge'?"),
    (mbros.Fault("f", "load", frame="disk", mass=1.0), "did you mean 'disc'?"),
    (mbros.Fault("f", "load", frame="world", mass=1.0), "does not move"),
    (mbros.Fault("f", "not_a_number", signal="hinge.effort", when="hing.position > 1"), "when: no signal 'hing.position'"),
    (mbros.Fault("f", "not_a_number", signal="hinge.effort", when="hinge.position[1] > 1"), "has 1 numbers, and no [1]"),
]


@pytest.mark.parametrize("fault, text", ON_A_ROBOT)
def test_what_a_robot_has_not_is_refused(fault, text):
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Simulator(disc(), bench=bench(fault))
    assert text in str(caught.value) and all(problem.remedy for problem in caught.value.problems)


def test_tables_are_checked():
    from mbros.bench.bench import layout
    from mbros_core.plant._devices import Devices

    model = disc()
    given = bench(mbros.Fault("a", "late", signal="hinge.position", delay=0.1),
                  mbros.Fault("b", "stuck", joint="hinge", when="hinge.effort > 1"))
    plant = mbros.Simulator(model).plant
    for name in ("faults", "signal_faults", "joint_faults"):
        for column in range(len(layout(model, given, H).tables()[name][0])):
            for by in (100_000, -100_000):
                tables = layout(model, given, H).tables()
                tables[name] = [list(row) for row in tables[name]]
                tables[name][-1][column] += by
                with pytest.raises(mbros.MbrosError):
                    Devices(plant, tables)
    devices = Devices(plant, layout(model, given, H).tables())
    with pytest.raises(mbros.MbrosError, match="fault 2: expected 0 to 1"):
        devices._ask(2, True)


def test_every_kind_can_be_made_and_read_from_a_file(tmp_path):
    lines = ["faults:"]
    for row in ROWS:
        target = {"signal": "joint2.position", "joint": "joint2", "frame": "flange"}[row.target]
        numbers = "".join(f", {n.name}: {'[0, 0, 0.1]' if n.size == 3 else 0.5}" for n in row.numbers if n.name != "burst")
        lines.append(f"  - {{name: {row.name} here, kind: {row.name}, {row.target}: {target}, at: 0.01{numbers}}}")
    file = tmp_path / "faults.yaml"
    file.write_text("\n".join(lines))
    sim = mbros.Simulator(mbros.load("arm7"), bench=file)
    sim.advance_to(0.05)
    assert [fault.kind for fault in sim.faults.values()] == [row.name for row in ROWS]
    assert all(fault.active for fault in sim.faults.values())
    file.write_text("faults:\n  - {name: a, kind: frozen, signal: x}\n"
                    "  - {name: b, kind: frozn, signal: x}\n  - {kind: not_a_number, signal: x}\n")
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Bench.load(file)
    assert [(p.line, p.element) for p in caught.value.problems] == [(3, "fault 'b'"), (4, "fault 'x'")]
    with pytest.raises(mbros.MbrosError, match="has no bench, and so no faults"):
        _ = mbros.Simulator(disc()).faults
