"""Channels: what they do to messages, their distributions, and that one changes no other."""
import numpy as np
import pytest
from bench_rigs import bench, disc
from scipy import stats

import mbros

SIGNAL = "hinge.position"


def passed(steps, *channels, seed=0, signal=SIGNAL, dt=1e-3, v=1.0):
    """(steps, 3): what was sent, the value and whether a message came in each step, of a disc that turns at 1 rad/s."""
    sim = mbros.Simulator(disc(), dt=dt, bench=bench(*channels, seed=seed))
    sim.state.v[:] = v
    x = sim.signals[signal]
    rows = np.empty((steps, 3))
    for k in range(steps):
        sim.step()
        rows[k] = x.sent, x.value, x.time == pytest.approx((k + 1) * dt, abs=1e-9)
    return rows


def channel(name="c", signal=SIGNAL, **words):
    return mbros.Channel(name, signal=signal, **words)


def delays(rows, dt=1e-3):
    """Steps from sending to arrival of each message that came; sent positions are one dt apart."""
    arrived = rows[:, 2] != 0.0
    return np.rint((rows[arrived, 0] - rows[arrived, 1]) / dt).astype(int)


def test_a_constant_delay_is_rounded_up_to_steps():
    for delay, steps in ((0.0, 0), (1e-3, 1), (2.2e-3, 3), (5e-3, 5)):
        rows = passed(50, channel(delay=delay))
        assert (delays(rows) == steps).all() and np.isnan(rows[:steps, 1]).all()
    sim = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge"), channel(signal="hinge.command.*", delay=3e-3)))
    sim.command(effort={"hinge": 2.0})
    efforts = []
    for _ in range(6):
        sim.step()
        efforts.append(sim.signals["e.effort"].value)
    assert efforts == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize("distribution, law", [("uniform", stats.uniform(5e-3, 20e-3)), ("normal", stats.norm(15e-3, 10e-3)),
                                               ("exponential", stats.expon(15e-3, 10e-3))])
def test_distributions_of_delay(distribution, law):
    """Over-taking allowed, so that no message waits: against the law, at 1e-3, by what each step of delay should have."""
    dt, steps = 1e-3, 40_000
    name = f"d {distribution}"
    rows = passed(steps, channel(name, delay=15e-3, jitter=10e-3, distribution=distribution, reordering=True))
    # only the last message of a step is seen: compare those drawn, from the stream itself
    from mbros_core.plant._devices import numbers
    from mbros_core.plant.keys import stream_key
    u = numbers(stream_key(0, f"{name}/{SIGNAL}/delay"), steps, distribution == "normal")
    d = (np.clip(u, -4, 4) if distribution == "normal" else 2.0 * u - 1.0 if distribution == "uniform" else np.minimum(-np.log(u), 16.0))
    d = np.maximum(15e-3 + 10e-3 * d, 0.0)
    arrival = np.arange(1, steps + 1) + np.ceil(d / dt - 1e-9)
    last = {}
    for k, a in enumerate(arrival):
        last[a] = k                                                # of several in a step the one sent last
    came = np.array([[last.get(k, -1)] for k in range(1, steps + 1)])[:, 0]
    assert ((came >= 0) == (rows[:, 2] != 0)).all()
    assert (np.rint(rows[came >= 0, 1] / dt).astype(int) == came[came >= 0] + 1).all()
    edges = law.ppf(np.linspace(0.02, 0.98, 20)) if distribution != "normal" else law.ppf(np.linspace(0.1, 0.98, 20))
    count = np.histogram(d, edges)[0]
    expected = np.diff(law.cdf(edges))
    assert stats.chisquare(count, count.sum() * expected / expected.sum()).pvalue > 1e-3


def test_messages_keep_their_order_unless_they_may_overtake():
    rows = passed(3000, channel(delay=5e-3, jitter=5e-3))
    values = rows[rows[:, 2] != 0, 1]
    assert (np.diff(values) > 0).all() and len(set(delays(rows))) > 5
    rows = passed(3000, channel(delay=5e-3, jitter=5e-3, reordering=True))
    assert (np.diff(rows[rows[:, 2] != 0, 1]) < 0).sum() > 100


def test_duplicates_come_again():
    """With a jitter that nothing waits for, a copy brings an old value back."""
    rows = passed(5000, channel(delay=5e-3, jitter=5e-3, duplication=0.5))
    assert (np.diff(rows[rows[:, 2] != 0, 1]) < 0).sum() > 100
    assert (passed(100, channel(delay=2e-3, duplication=1.0))[:, 1] == pytest.approx(passed(100, channel(delay=2e-3))[:, 1], nan_ok=True))


def test_independent_loss():
    rows = passed(20_000, channel(loss=0.1))
    lost = rows[:, 2] == 0.0
    assert stats.binomtest(int(lost.sum()), len(lost), 0.1).pvalue > 1e-3
    pairs = int((lost[1:] & lost[:-1]).sum())
    assert abs(pairs - 0.01 * len(lost)) < 5 * np.sqrt(0.01 * len(lost))       # no bursts
    k = np.flatnonzero(lost)[1:]
    assert (rows[k, 1] == rows[k - 1, 1]).all()                                # the last value stays


def test_loss_in_bursts():
    lost = passed(60_000, channel(loss=0.2, burst=5.0))[:, 2] == 0.0
    starts = np.flatnonzero(lost[1:] & ~lost[:-1]) + 1
    ends = np.flatnonzero(~lost[1:] & lost[:-1]) + 1
    ends = ends[ends > starts[0]]
    lengths = ends[:len(starts)] - starts[:len(ends)]
    count = [np.sum(lengths == k) for k in range(1, 20)] + [np.sum(lengths >= 20)]
    law = [stats.geom(0.2).pmf(k) for k in range(1, 20)] + [stats.geom(0.2).sf(19)]
    assert stats.chisquare(count, len(lengths) * np.array(law)).pvalue > 1e-3
    assert lost.mean() == pytest.approx(0.2, abs=0.02) and lengths.mean() == pytest.approx(5.0, rel=0.05)


def test_quantisation_saturation_hold():
    rows = passed(2000, channel(quantum=0.01))
    assert rows[:, 1] == pytest.approx(np.floor(rows[:, 0] / 0.01 + 0.5) * 0.01, abs=1e-12)
    rows = passed(2000, channel(lower=0.5, upper=1.5))
    assert (rows[:, 1] == np.clip(rows[:, 0], 0.5, 1.5)).all()
    rows = passed(2000, channel(hold_rate=300.0))
    assert rows[:, 2].sum() == 600                                             # 3 of 10 steps
    came = rows[:, 2] != 0
    assert (rows[came, 1] == rows[came, 0]).all() and (np.diff(np.flatnonzero(came)) >= 3).all()


def test_noise_and_a_bias_that_walks():
    rows = passed(20_000, channel(noise=0.3), v=0.0)
    assert stats.kstest(rows[:, 1] / 0.3, "norm").pvalue > 1e-3
    rows = passed(20_000, channel(walk=0.2), v=0.0)
    steps = np.diff(rows[:, 1]) / (0.2 * np.sqrt(1e-3))
    assert stats.kstest(steps, "norm").pvalue > 1e-3


def test_the_same_seed_gives_the_same_bits_alone_beside_others_and_in_any_order():
    one = channel("one", delay=3e-3, jitter=3e-3, loss=0.1, noise=0.01)
    others = [channel("two", "hinge.velocity", loss=0.3, noise=0.1), channel("three", "hinge.effort", delay=1e-3, jitter=1e-3)]
    imu = mbros.Encoder("enc", joint="hinge", counts=100)
    alone = passed(2000, one, seed=3)
    for devices in ((one, *others), (*others, one), (imu, others[1], one, others[0])):
        assert np.array_equal(passed(2000, *devices, seed=3), alone, equal_nan=True)
    assert not np.array_equal(passed(2000, one, seed=4), alone, equal_nan=True)
    seeded = mbros.Channel("one", signal=SIGNAL, delay=3e-3, jitter=3e-3, loss=0.1, noise=0.01, seed=3)
    assert np.array_equal(passed(2000, seeded, seed=99), alone, equal_nan=True)


@pytest.mark.parametrize("words", [dict(delay=2e-3, jitter=2e-3), dict(delay=2e-3, jitter=1e-3, distribution="normal", reordering=True),
                                   dict(delay=1e-3, jitter=1e-3, distribution="exponential", duplication=0.2), dict(loss=0.3, burst=4)])
def test_draws_that_are_found_together_are_those_of_each_alone(words):
    """A lone stream finds its numbers one by one, many find them several at once; also from the middle of a group on."""
    others = [channel(f"other {k}", "hinge.velocity", loss=0.1) for k in range(11)]
    alone = passed(1500, channel("one", **words), seed=3)
    for k in (0, 3, 11):
        assert np.array_equal(passed(1500, *others[:k], channel("one", **words), *others[k:], seed=3), alone, equal_nan=True)


def test_channels_act_in_the_order_in_which_they_were_added():
    quantized, noisy = channel("q", quantum=0.5), channel("n", noise=0.1)
    a, b = passed(100, quantized, noisy), passed(100, noisy, quantized)
    assert not np.allclose(a[:, 1] / 0.5, np.rint(a[:, 1] / 0.5)) and np.allclose(b[:, 1] / 0.5, np.rint(b[:, 1] / 0.5))
