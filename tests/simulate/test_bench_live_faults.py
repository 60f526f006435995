"""Numbers of faults while a simulation goes on: their own, their times, and the thresholds of their conditions."""
import copy
import math
import pickle

import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc, rotating_arm
from fault_rigs import READING, arm
from mbros_core.plant.faults.registry import ROWS

OWN = {"signal": READING, "joint": "joint2", "frame": "flange"}


def every_kind():
    """A fault of each kind from a time on, one by a condition and one by hand."""
    faults = []
    for row in ROWS:
        numbers = {n.name: (0.0, 0.0, 0.1) if n.size == 3 else 2.0 if n.name == "burst" else 0.03 for n in row.numbers}
        faults.append(mbros.Fault(f"{row.name} here", row.name, at=0.01, until=0.03, **{row.target: OWN[row.target]}, **numbers))
    faults.append(mbros.Fault("if", "offset", signal="joint[23].encoder.*", offset=0.5, when="abs(joint2.position[0]) > 0.125",
                              held=0.0105))
    return (*faults, mbros.Fault("by hand", "friction", joint="joint[1-3]", coulomb=1.5, duration=0.2))


def test_every_number_has_a_name_and_is_read_back_as_it_was_given():
    faults = arm(*every_kind()).faults
    names = faults.parameter_names
    assert len(names) == len(set(names)) and {"if.threshold", "if.held", "if.offset", "load here.place", "late here.jitter"} <= set(names)
    assert set(names) == {f"{name}.{n.name}" for name, fault in faults.items() for n in fault._row.fault.taken()}
    assert faults["if"].numbers.as_dict() == dict(offset=0.5, at=0.0, until=math.inf, duration=math.inf, held=0.0105, threshold=0.125)
    assert faults["by hand"].numbers.as_dict() == dict(coulomb=1.5, viscous=0.0, duration=0.2)
    assert (faults.parameter("load here.place") == [0.0, 0.0, 0.1]).all() and faults.parameter("drift here.rate") == 0.03
    before = faults.engine._numbers().tobytes()
    for name in names:
        faults.set_parameter(name, faults.parameter(name))
    assert faults.engine._numbers().tobytes() == before
    assert "threshold" in dir(faults["if"].numbers) and "held 0.0105" in repr(faults["if"].numbers)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_with_other_numbers_it_goes_the_same_way_as_one_that_was_made_with_them(row):
    """The block of memory too, to the bit: of every kind every number, its times among them."""
    def fault(x, times):
        numbers = {n.name: (0.1 * x, x, -x) if n.size == 3 else 1.0 + 100.0 * x if n.name == "burst" else x for n in row.numbers}
        return mbros.Fault("f", row.name, **{row.target: OWN[row.target]}, **numbers, **times)
    first, last = dict(at=0.3, until=1.0, duration=0.5), dict(at=0.0105, until=0.05, duration=0.0301)
    live, made = arm(fault(0.04, first)), arm(fault(0.02, last))
    other = fault(0.02, last)
    live.faults["f"].numbers.update(**{name: x if len(x) > 1 else float(x[0]) for name, x in other.values.items()}, **last)
    assert live.faults["f"].numbers.as_dict().keys() == made.faults["f"].numbers.as_dict().keys()
    assert np.array_equal(live.plant.devices._numbers(), made.plant.devices._numbers())
    for sim in (live, made):
        sim.advance_to(0.06)
    assert live.faults["f"].count == made.faults["f"].count == 1 and live.faults["f"].began == 0.011
    assert np.array_equal(live.state.q, made.state.q) and live.signals[READING].value == made.signals[READING].value
    if row.name != "late":                                          # whose line has another length
        assert live.plant.devices.block.tobytes() == made.plant.devices.block.tobytes()


def turning(**words):
    sim = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge"),
                                              mbros.Fault("f", "offset", signal="hinge.velocity", offset=1.0, **words)))
    sim.state.v[:] = 1.0
    return sim


def test_a_threshold_a_time_and_an_offset_change_while_it_runs():
    sim = turning(when="hinge.position > 5.0")
    sim.advance_to(0.1)
    sim.faults["f"].numbers.threshold = 0.1505                        # the disc turns at 1 rad/s
    sim.advance_to(0.2)
    assert sim.faults["f"].began == pytest.approx(0.151) and sim.signals["hinge.velocity"].value == pytest.approx(2.0)
    sim.faults["f"].numbers.offset = -3.0
    sim.step()
    assert sim.signals["hinge.velocity"].value == pytest.approx(-2.0)
    sim.faults["f"].numbers.until = 0.25
    sim.advance_to(0.3)
    assert sim.faults["f"].ended == pytest.approx(0.25) and sim.signals["hinge.velocity"].value == pytest.approx(1.0)


def test_a_load_stays_where_its_frame_says():
    """At a place in a frame that is turned: as a body of that mass there."""
    def inertia_after(place, live):
        fault = mbros.Fault("load", "load", frame="tip", mass=0.7, place=(0.3, 0.2, 0.1) if live else place, at=0.0)
        sim = mbros.Simulator(rotating_arm(), bench=bench(fault))
        if live:
            sim.faults["load"].numbers.place = place
        for _ in range(50):
            sim.step([1.0])
        return float(sim.state.v[0])
    x = np.array([0.7, 0.0]) + np.array([[3.0 ** 0.5, -1.0], [1.0, 3.0 ** 0.5]]) @ [0.5, -0.4] / 2.0
    J = 0.1 + 2.0 * 0.2 ** 2 + 0.7 * float(x @ x)                   # about the hinge
    assert inertia_after((0.5, -0.4, 9.0), True) == inertia_after((0.5, -0.4, 9.0), False) == pytest.approx(0.05 / J, rel=1e-9)


REFUSED = [
    ("if.offset", 0.0, "fault 'if': it does nothing"), ("if.offset", "much", "offset is 'much'"), ("if.offset", math.nan, "offset is nan"),
    ("if.held", -1.0, "held is -1"), ("if.threshold", math.inf, "threshold is inf"), ("if.until", 0.0, "it ends at 0 s and begins at 0 s"),
    ("if.duration", 0.0, "duration is 0"), ("frozen here.at", 0.5, "it ends at 0.03 s and begins at 0.5 s"),
    ("by hand.at", 0.5, "no parameter 'by hand.at'"), ("frozen here.threshold", 1.0, "no parameter"), (7, 1.0, "no parameter 7"),
    ("if.offst", 1.0, "did you mean 'if.offset'?"), ("lost_effort here.fraction", 1.5, "fraction is 1.5"),
    ("burst_loss here.loss", 1.0, "it loses everything, in bursts"), ("late here.delay", 0.1, "need room for"),
    ("load here.place", [1.0, 2.0], "Give 3 numbers"), ("load here.mass", -1.0, "mass is -1"),
]


@pytest.mark.parametrize("name, value, text", REFUSED)
def test_what_cannot_be_is_refused_and_nothing_changes(name, value, text):
    """Nor what was set beside it."""
    sim = arm(*every_kind())
    sim.step()
    before = sim.plant.devices.block.tobytes(), sim.plant.devices._numbers().tobytes()
    with pytest.raises(mbros.MbrosError) as caught:
        sim.faults.set_parameters({"by hand.coulomb": 3.0, name: value})
    assert text in str(caught.value)
    assert before == (sim.plant.devices.block.tobytes(), sim.plant.devices._numbers().tobytes())
    with pytest.raises(mbros.UnknownNameError, match="no number 'at' in fault 'by hand'"):
        sim.faults["by hand"].numbers.at = 1.0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_and_saves_have_them_and_resets_leave_them(copied):
    sim = arm(*every_kind())
    sim.faults.set_parameters({"if.threshold": 0.02, "offset here.until": 0.02, "by hand.viscous": 2.0})
    other, saved = copied(sim), arm(*every_kind())
    saved.restore(sim.save())
    sim.reset()
    for each in (sim, other, saved):
        each.faults["by hand"].start()
        each.advance_to(0.05)
        assert [each.faults.parameter(name) for name in ("if.threshold", "offset here.until", "by hand.viscous")] == [0.02, 0.02, 2.0]
    assert other.plant.devices.block.tobytes() == saved.plant.devices.block.tobytes()


def test_a_recording_repeats_changes_to_the_bit(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    sim = arm(*every_kind())
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.02)
        sim.faults["if"].numbers.update(threshold=1e-4, held=0.0, offset=0.3)
        sim.advance_to(0.05)
    report = mbros.replay(tmp_path / "run.mcap", model=sim.model, bench=bench(*arm_devices(), seed=3))
    assert sim.faults["if"].count > 0 and report.identical and report.steps == 50, report


def arm_devices():
    from fault_rigs import DEVICES

    return (*DEVICES, *every_kind())
