"""Sources: joints that are simulated, real, prescribed or locked while running; hand-over, samples that fail, and a robot in the shadow."""
import copy
import pickle
import warnings

import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc
from source_rigs import H, cart_pole, follow, real, rig, sample, swing


def test_a_real_joint_follows_its_samples_and_the_neighbours_feel_it():
    sim, given = real(), mbros.Simulator(cart_pole())
    given.prescribe("cart", swing)
    follow(sim, 1.0)
    given.advance_to(1.0)
    assert sim.sources["cart"].mode == "real" and sim.model.joint("cart").mobilizer.source(sim.state) == "prescribed"
    assert np.abs(sim.state.q - given.state.q).max() < 2e-3 and np.abs(sim.state.q[0] - given.state.q[0]) < 1e-6
    assert sim.sources["cart"].effort == sim.model.joint("cart").mobilizer.effort(sim.state)[0]
    assert sim.sources["cart"].effort == pytest.approx(given.model.joint("cart").mobilizer.effort(given.state)[0], abs=0.3)


@pytest.mark.parametrize("every", [1, 2, 10])
@pytest.mark.parametrize("offset", [0.0, 0.4])
def test_a_hand_over_has_no_bump(every, offset):
    """Position continuous to 1e-12, no step in velocity: accelerations stay below the stated bound."""
    def motion(t):
        return swing(t, offset)

    sim = rig(blend=0.3, jump=1.0)
    sim.state.q[1] = 1.0                                    # the pole swings the cart
    before = follow(sim, 0.5, motion, every)
    q, v = sim.state.q[0], sim.state.v[0]
    assert sim.sources["cart"].mode == "sim" and abs(v) > 1e-3
    sample(sim, motion)
    sim.sources["cart"] = "real"
    assert sim.state.q[0] == q and sim.state.v[0] == v and sim.sources["cart"].mode == "real"
    x = sim.sources["cart"]._motion(sim.time)
    assert abs(x[0] - q) < 1e-12 and abs(x[1] - v) < 1e-12
    e, d = motion(sim.time)[0] - q, motion(sim.time)[1] - v
    bound = 6.0 * abs(e) / 0.3**2 + 4.0 * abs(d) / 0.3 + 2.5 + 1.0
    after = follow(sim, 1.2, motion, every)
    rows = np.vstack([before[-1:], after])
    assert np.abs(np.diff(rows[:, 1])).max() < bound * H
    assert np.abs(np.diff(rows[:, 0]) - 0.5 * H * (rows[1:, 1] + rows[:-1, 1])).max() < 0.25 * bound * H**2
    assert abs(sim.state.q[0] - motion(sim.time)[0]) < 2e-3      # and then it is where the hardware is
    q, v = sim.state.q[0], sim.state.v[0]
    sim.sources["cart"] = "sim"
    assert (sim.state.q[0], sim.state.v[0]) == (q, v)
    sim.step()
    assert abs(sim.state.q[0] - q - H * v) < 1e-4 and sim.sources["cart"].mode == "sim" and np.isnan(sim.sources["cart"].effort)


@pytest.mark.parametrize("safe", ["lock", "sim", "hold"])
def test_a_lost_source_is_safe_within_one_step_in_1000_of_1000_trials(safe):
    rng = np.random.default_rng(7)
    model, good = disc(), 0
    source = mbros.JointSource("s", joint="hinge", timeout=0.01, safe=safe, blend=0.05)
    sim = mbros.Simulator(model, bench=bench(source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbros.SourceWarning)
        for _ in range(1000):
            sim.reset()
            sim.state.v[:] = v = rng.uniform(0.2, 2.0)
            sim.feed(position={"hinge": 0.0}, velocity={"hinge": v})
            sim.sources["hinge"] = "real"
            every, lost = int(rng.integers(1, 6)), int(rng.integers(1, 40))
            for k in range(1, 80):
                if k <= lost and k % every == 0:
                    sim.feed(position={"hinge": v * sim.time}, velocity={"hinge": v})
                    last = sim.time
                elif k == 1:
                    last = 0.0
                found = sim.sources["hinge"]
                sim.step()
                if sim.time - last > 0.01 + 1e-9:
                    break
                assert found.mode == "real" and found.trips == 0
            wanted = {"lock": "locked", "sim": "sim", "hold": "prescribed"}[safe]
            good += found.mode == wanted and found.trips == 1 and "no sample" in found.reason and (safe != "lock" or sim.state.v[0] == 0.0)
    assert good == 1000


@pytest.mark.parametrize("bad, text", [(dict(position=0.3), "jumped"), (dict(position=float("nan")), "not a number"),
                                       (dict(position=float("inf")), "not a number"), (dict(position=-1e300), "not a number"),
                                       (dict(velocity=9.0), "jumped")])
def test_a_sample_that_jumps_or_is_no_number_is_safe_in_the_next_step(bad, text):
    sim = real(velocity_jump=5.0)
    follow(sim, 0.2)
    q, v, _ = swing(sim.time)
    sim.feed(position={"cart": bad.get("position", q)}, velocity={"cart": bad.get("velocity", v)})
    before = sim.state.q[0]
    with pytest.warns(mbros.SourceWarning, match=f"source of joint 'cart', at 0.2 s: a sample .*{text.split()[-1]}"):
        sim.step()
    source = sim.sources["cart"]
    assert source.mode == "locked" and source.trips == 1 and text in source.reason and "1 trips" in repr(source)
    assert sim.state.q[0] == before and sim.state.v[0] == 0.0
    follow(sim, 0.3)
    assert source.mode == "locked" and source.trips == 1                # it does not come back by itself
    sim.sources["cart"] = "real"
    follow(sim, 0.7)
    assert source.mode == "real" and abs(sim.state.q[0] - swing(sim.time)[0]) < 1e-3


def test_hold_brings_it_to_rest_smoothly_whatever_is_fed_meanwhile():
    sim = real(safe="hold", blend=0.1)
    follow(sim, 0.05)
    v = sim.state.v[0]
    sim.feed(position={"cart": 5.0})
    with pytest.warns(mbros.SourceWarning, match="safe state, 'hold'"):
        rows = follow(sim, 0.25)
    assert np.abs(np.diff(rows[:, 1])).max() < 1.6 * abs(v) / 0.1 * H and (np.diff(np.abs(rows[:, 1])) <= 1e-12).all()
    assert sim.sources["cart"].mode == "locked" and sim.state.v[0] == 0.0
    assert rows[-1, 0] - rows[0, 0] == pytest.approx(0.5 * v * 0.1, rel=0.02)


def test_old_samples_and_those_of_the_future_are_counted_and_not_used():
    sim = real()
    follow(sim, 0.1)
    sample(sim, lambda t: (9.0, 0.0, 0.0), time=0.05)
    sample(sim, lambda t: (9.0, 0.0, 0.0), time=5.0)
    sample(sim, lambda t: (9.0, 0.0, 0.0), time=0.099)          # and that of 0 s came twice
    follow(sim, 0.2)
    assert sim.sources["cart"].ignored == 4 and sim.sources["cart"].mode == "real" and sim.sources["cart"].age == pytest.approx(H)


def test_samples_of_positions_alone_at_their_own_rate():
    sim = real()
    for k in range(1000):
        if k % 5 == 0:
            sim.feed(position={"cart": swing(sim.time)[0]})
        sim.step()
    assert sim.sources["cart"].mode == "real" and abs(sim.state.q[0] - swing(1.0)[0]) < 2e-3


@pytest.mark.parametrize("apart", [1e-5, 1e-9, 0.0])
@pytest.mark.parametrize("filter", [0.01, 0.0])
def test_positions_alone_with_two_stamps_in_a_step(apart, filter):
    """A count of 1e-4 m within next to no time is no velocity: it counts as one in a step, and the joint moves on as it did."""
    sim, largest = real(filter=filter), 0.0
    for k in range(300):
        q = np.rint(swing(sim.time)[0] / 1e-4) * 1e-4
        sim.feed(position={"cart": q})
        if k % 7 == 0:
            sim.feed(position={"cart": q + 1e-4}, time=sim.time + max(apart, np.spacing(sim.time)))
        sim.step()
        largest = max(largest, abs(sim.state.v[0]))
    assert sim.sources["cart"].mode == "real" and largest < 0.5 + 4e-4 / H and abs(sim.state.q[0] - swing(sim.time)[0]) < 2e-3


def test_modes_and_those_that_the_state_and_motions_give():
    sim = rig()
    sim.advance_to(0.05)
    sources = sim.sources
    assert list(sources) == ["cart"] and len(sources) == 1 and "cart sim" in repr(sources)
    sources["cart"] = "locked"
    assert sources["cart"].mode == "locked" and sim.state.v[0] == 0.0
    sources[sim.model.joint("cart")] = "prescribed"
    assert sources["cart"].mode == "prescribed"
    sources["cart"] = "sim"
    sample(sim)
    sources["cart"] = "real"
    sources["cart"] = "real"                                    # nothing changes
    sim.model.joint("cart").release(sim.state)
    assert sources["cart"].mode == "sim"
    sim.advance_to(0.1)
    sample(sim)
    sources["cart"] = "real"
    q = sim.state.q[0]
    sim.prescribe("cart", lambda t: (q, 0.0, 0.0))
    sim.advance_to(0.3)
    assert sources["cart"].mode == "prescribed" and sim.state.q[0] == q and sources["cart"].trips == 0


def test_the_interface_effort_is_a_signal_a_step_later_with_channels():
    sim = rig(mbros.Channel("bus", signal="cart.interface.effort", delay=0.003))
    sim.sources["cart"] = "locked"
    sim.state.q[1] = 0.5
    efforts = []
    for _ in range(50):
        sim.step()
        efforts.append(sim.sources["cart"].effort)
    signal = sim.signals["cart.interface.effort"]
    assert signal.unit == "N" and signal.sent == efforts[-1] and signal.value == efforts[-5] and abs(efforts[-1]) > 1.0


# ----------------------------------------------------------------------------------------------------------------- shadow

def shadow(load, bound=2.0):
    """An arm, and its model in the shadow: each joint real, efforts compared."""
    robot = mbros.Simulator(mbros.load("arm7"), bench=bench(mbros.PositionServo("*.servo", joint="joint*", kp=900.0, kd=60.0), *load))
    model = mbros.Simulator(mbros.load("arm7"), bench=bench(mbros.JointSource("all", joint="joint*", bound=bound, jump=1.0)))
    names = list(model.sources)
    robot.command(position=dict.fromkeys(names, 0.2))

    def measured():
        read = robot.signals
        model.feed(position={n: read[f"{n}.position"].value for n in names}, velocity={n: read[f"{n}.velocity"].value for n in names},
                   effort={n: read[f"{n}.effort"].value for n in names}, time=robot.time)

    robot.step()
    model.step()
    measured()
    for name in names:
        model.sources[name] = "real"
    for _ in range(1000):
        robot.step()
        model.step()
        measured()
    return model, names


def test_a_model_in_the_shadow_predicts_the_efforts_of_its_robot():
    model, names = shadow(())
    assert all(source.mode == "real" for source in model.sources.values())
    assert max(abs(model.sources[name].residual) for name in names) < 0.5
    assert max(abs(model.sources[name].effort) for name in names) > 5.0


def test_and_sees_what_its_robot_carries():
    with pytest.warns(mbros.SourceWarning, match="beyond its bound 2"):
        model, names = shadow((mbros.Fault("load", "load", frame="flange", mass=2.0, at=0.5),))
    judged = {name: model.sources[name].judged for name in names}
    assert judged["joint2"] > 300 and model.signals["joint2.interface.residual"].value == pytest.approx(
        model.sources["joint2"].residual, abs=0.5)


# ----------------------------------------------------------------------------------------------------------------- memory

@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_and_saves_go_on_alike(copied):
    sim = real(safe="hold", blend=0.05)
    follow(sim, 0.0123)
    other, blob = copied(sim), sim.save()
    with pytest.warns(mbros.SourceWarning):
        for each in (sim, other):
            follow(each, 0.1)
            each.advance_to(0.3)
    assert sim.sources["cart"].trips == other.sources["cart"].trips == 1 and (sim.state.q == other.state.q).all()
    assert np.array_equal(sim.plant.devices.block, other.plant.devices.block, equal_nan=True)
    third = rig(safe="hold", blend=0.05)
    third.restore(blob)
    with pytest.warns(mbros.SourceWarning):
        follow(third, 0.1)
        third.advance_to(0.3)
    assert (third.state.q == sim.state.q).all()
    sim.reset()
    assert sim.sources["cart"].mode == "sim" and sim.sources["cart"].trips == 0 and np.isnan(sim.sources["cart"].age)


def test_a_bench_with_sources_that_are_simulated_changes_no_bit():
    sim, plain = rig(), mbros.Simulator(cart_pole())
    for each in (sim, plain):
        each.state.q[1] = 0.7
        each.advance_to(0.2, [1.0, 0.0])
        each.run(0.1, effort=lambda t, x: [np.sin(t), 0.0])
    assert (sim.state.q == plain.state.q).all() and (sim.state.v == plain.state.v).all()
