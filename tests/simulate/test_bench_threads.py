"""The same seed gives the same bits on any number of threads: benches with every random device, simulated side by side. And one bench is
extended by several threads."""
import copy
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import mbros
import numpy as np
import pytest
from bench_rigs import bench

N = 6
DEVICES = (
    mbros.PositionServo("*.servo", joint="joint*", kp=400.0, kd=20.0),
    mbros.Encoder("*.encoder", joint="joint*", counts=4096, rate=500.0),
    mbros.TorqueSensor("*.torque", joint="joint*", noise_density=1e-3, bias_instability=1e-3, random_walk=1e-3),
    mbros.Imu("wrist.imu", frame="flange", rate=200.0, gyro_noise_density=1e-3, accel_noise_density=1e-2, gyro_random_walk=1e-3),
    mbros.Channel("bus", signal="joint*.command.*", delay=2e-3, jitter=1e-3, loss=0.1, burst=3.0, distribution="normal", duplication=0.1),
    mbros.Channel("radio", signal="wrist.imu.*", delay=3e-3, jitter=2e-3, reordering=True, distribution="exponential"),
    mbros.Channel("cable", signal="*.torque.effort", noise=1e-2, walk=1e-2, loss=0.2),
    mbros.Fault("loose", "burst_loss", signal="joint*.encoder.*", loss=0.3, burst=4.0, at=0.02),
    mbros.Fault("busy", "late", signal="joint1.command.*", delay=1e-3, jitter=3e-3, until=0.06),
    mbros.Fault("shaken", "noise", signal="joint[23].encoder.*", noise=1e-3, walk=1e-2, when="joint2.position > 0.001"),
)


def simulated(model, seed, begin=None):
    """All memory of the devices, and the state, after steps that let go of the interpreter; in pieces, so that threads take turns."""
    sim = mbros.Simulator(model, bench=bench(*DEVICES, seed=seed))
    sim.command(position={"joint2": 0.3, "joint4": -0.4})
    if begin is not None:
        begin.wait(60)
    for _ in range(10):
        sim.plant.steps(np.zeros(7), 10)
    return sim.plant.devices.block.tobytes() + sim.state.q.tobytes() + sim.state.v.tobytes()


@pytest.fixture(scope="module")
def alone():
    """Of each seed, with a model of its own, one after the other."""
    return [simulated(mbros.load("arm7"), seed) for seed in range(N)]


def test_seeds_differ(alone):
    assert len(set(alone)) == N


@pytest.mark.parametrize("threads", [1, 2, 3, N])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(alone, threads):
    """Of one model that all share; threads begin together, and each of them has several seeds, in an order of its own."""
    model, begin = mbros.load("arm7"), Barrier(threads)

    def work(thread):
        seeds = np.random.default_rng(thread).permutation(range(thread, N, threads)).tolist()
        return {seed: simulated(model, seed, begin if k == 0 else None) for k, seed in enumerate(seeds)}

    with ThreadPoolExecutor(threads) as pool:
        found = {seed: bits for part in pool.map(work, range(threads)) for seed, bits in part.items()}
    assert [found[seed] for seed in range(N)] == alone


def test_the_same_seed_gives_the_same_bits_beside_itself(alone):
    """Many threads with one seed: no stream is another's."""
    model, begin = mbros.load("arm7"), Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: simulated(model, 3, begin), range(4))) == {alone[3]}


def test_copies_go_on_with_the_same_bits_on_threads_of_their_own():
    """A simulation in the middle of something, and copies of it that other threads go on with."""
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(*DEVICES, seed=11))
    sim.command(position={"joint2": 0.3})
    sim.plant.steps(np.zeros(7), 33)
    copies, begin = [copy.copy(sim) for _ in range(4)], Barrier(4)

    def go_on(each):
        begin.wait(60)
        for n in (1, 16, 50):
            each.plant.steps(np.zeros(7), n)
        return each.plant.devices.block.tobytes()

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(go_on, copies))
    sim.plant.steps(np.zeros(7), 67)
    assert found == {sim.plant.devices.block.tobytes()} and all(fault.count for fault in sim.faults.values())


def test_faults_that_several_threads_inject_at_once_are_all_there():
    sim, before = mbros.Simulator(mbros.load("arm7"), bench=bench(*DEVICES)), sys.getswitchinterval()

    def inject(who):
        for k in range(20):
            name = f"{who}_{k}"
            assert sim.inject(mbros.Fault(name, "offset", signal="joint1.encoder.position", offset=0.1)).name == name
    try:
        sys.setswitchinterval(1e-5)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(inject, "abcd"))
    finally:
        sys.setswitchinterval(before)
    assert len(sim.faults) == 3 + 80
