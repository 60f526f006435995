"""Lockstep: who is asked in which step, what acts when, and the same bits again."""
import mbros
import numpy as np
import pytest


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.mark.parametrize("n, m", [(1, 1), (1, 3), (1, 4), (333, 1000), (2, 5), (999, 1000), (1000, 1000)])
def test_who_is_asked_when(arm, n, m):
    sim, asked = mbros.Simulator(arm), []
    lockstep = mbros.Lockstep(sim, {lambda state: asked.append(lockstep.steps): (n, m)})
    lockstep.run(2.0)
    assert lockstep.steps == 2000 and asked[0] == 0
    if 2000 % m == 0:
        assert len(asked) == 2000 * n // m
    gaps = np.diff(asked)
    assert gaps.size == 0 or set(gaps) <= {m // n, -(-m // n)}          # as evenly as whole steps allow


def test_a_command_acts_in_the_step_it_answers_and_stays(arm):
    sim, twin = mbros.Simulator(arm), mbros.Simulator(arm)

    def hold(state):
        return {"joint2": -50.0 * state.q[1] - 5.0 * state.v[1] + 1.0}

    def push(state):
        return np.array([2.0 * np.cos(state.time), *[np.nan] * 6])

    lockstep = mbros.Lockstep(sim, {hold: (1, 3), push: (1, 4)})
    lockstep.run(0.5)
    tau = np.zeros(7)
    for k in range(500):
        new = tau.copy()
        if k % 3 == 0:
            new[1] = hold(twin.state)["joint2"]
        if k % 4 == 0:
            new[0] = push(twin.state)[0]
        tau = new
        twin.step(tau)
    assert (sim.state.q == twin.state.q).all() and (sim.state.v == twin.state.v).all()


def test_all_who_are_due_see_the_same_state_and_the_later_has_the_last_word(arm):
    sim, seen = mbros.Simulator(arm), []

    def one(state):
        seen.append(state.time)
        return {"joint1": 1.0}

    def two(state):
        seen.append(state.time)
        return {"joint1": 2.0}

    lockstep = mbros.Lockstep(sim, {one: (1, 1), two: (1, 2)})
    lockstep.step()
    assert sim.plant.effort[0] == 2.0
    lockstep.step()
    assert sim.plant.effort[0] == 1.0 and seen == [0.0, 0.0, 1e-3]


def test_two_runs_and_a_run_from_a_save_give_the_same_bits(arm):
    def run(parts):
        sim = mbros.Simulator(arm)
        for seconds in parts:
            fresh = mbros.Simulator(arm)
            fresh.restore(sim.save())
            sim = fresh
            noise = np.random.default_rng(4).normal(size=7)
            mbros.Lockstep(sim, {lambda s: noise - 3.0 * s.v: (333, 1000), lambda s: {"joint4": s.q[3]}: (1, 4)}).run(seconds)
        return sim.state.q.tobytes() + sim.state.v.tobytes()

    assert run([1.0]) == run([1.0]) == run([0.4001, 0.5999])
    sim = mbros.Simulator(arm)
    lockstep = mbros.Lockstep(sim, {lambda s: {"joint1": 1.0} if s.time > 0.5 else None: (1, 1)})
    lockstep.run(1.0)
    once = sim.state.q.copy()
    sim.reset()
    lockstep.run(1.0)
    assert (sim.state.q == once).all()


def test_a_bench_gets_commands_and_shows_signals(arm):
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="joint2", kp=400.0, kd=20.0))
    bench.add(mbros.Encoder("encoder", joint="joint2", rate=500.0))
    sims = [mbros.Simulator(arm, bench=bench) for _ in range(2)]
    read = []

    def controller(signals):
        read.append(signals["joint2.position"].value)
        return {"position": {"joint2": 0.3}}

    for sim in sims:
        mbros.Lockstep(sim, {controller: (1, 5)}).run(0.4)
    assert abs(sims[0].state.q[1] - 0.3) < 0.1 and len(read) == 160
    assert (sims[0].state.q == sims[1].state.q).all() and np.array_equal(read[:80], read[80:], equal_nan=True) and read[79] > 0.1


def test_what_cannot_be_is_refused(arm):
    sim = mbros.Simulator(arm)

    def law(state):
        return answer

    for controllers, words in ((3, "expected {controller: (n, m)}"), ({3: (1, 1)}, "expected a function"), ({law: 3}, "two whole numbers"),
                               ({law: (1.0, 3)}, "two whole numbers"), ({law: (2, 1)}, "asked in 2 of 1 steps"),
                               ({law: (0, 1)}, "1 <= n <= m"), ({law: (1, 1 << 40)}, "1 <= n <= m")):
        with pytest.raises(mbros.MbrosError) as refused:
            mbros.Lockstep(sim, controllers)
        assert words in str(refused.value), refused.value
    lockstep = mbros.Lockstep(sim, {law: (1, 1)})
    for answer, words in ((np.zeros(3), "shape (3,)"), ({"elbow": 1.0}, "elbow"), ("x", "law"), ({"joint1": "x"}, "joint1")):
        with pytest.raises((mbros.MbrosError, ValueError)) as refused:
            lockstep.step()
        assert words in str(refused.value), refused.value
    assert sim.time == 0.0
    answer = None
    with pytest.raises(mbros.MbrosError):
        lockstep.run(-1.0)
    with pytest.raises(RuntimeError, match="in the middle of a call"):
        mbros.Lockstep(sim, {lambda state: sim.step(): (1, 1)}).step()
    with pytest.raises(ZeroDivisionError):
        lockstep.run(1.0, progress=lambda time: 1 / 0)
    assert lockstep.steps == 100 and "law in 1 of 1" in repr(lockstep)
