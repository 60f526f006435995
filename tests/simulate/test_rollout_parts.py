"""A rollout in parts is the rollout in one call, to the bit: what a robot takes from one to the next is its memory."""
import numpy as np
import pytest
from loop_rigs import branches, closed

import mbros
from mbros_core.constraints import touches

STEPS, N = 60, 11
SCHEMES = ("midpoint", "semi_implicit_euler")


def on_the_ground():
    model = mbros.load("quadruped", ground=True)
    states = [model.default_state() for _ in range(N)]
    for k, state in enumerate(states):
        state.q[2], state.q[7:] = 0.32 + 0.01 * k, np.tile((0.0, 0.72, -1.44), 4)
    return model, states, 8.0


def held_together():
    """Loops and a rope, of which some lie on the ground."""
    model = branches(["hinge", "rope"], ground=True)
    states = [closed(model, seed) for seed in range(N)]
    for k, state in enumerate(states):
        state.q[2] = 0.3 if k % 2 else 5.0
    return model, states, 1.0


def on_springs():
    """Boxes that a stiff bushing joins, above the ground and on it."""
    b = mbros.ModelBuilder("bushed", ground=True)
    boxes = [b.add_body(f"box {k}", 1.0, (0, 0, 0), (4e-3, 4e-3, 4e-3)) for k in range(2)]
    for k, box in enumerate(boxes):
        b.add_joint(mbros.FloatingJoint(f"free {k}", b.world, box))
        b.add_collision(box, mbros.shapes.box((0.1, 0.1, 0.1)))
    b.exclude_contact(*boxes)
    b.add_force_element(mbros.Bushing(b.add_frame("end", boxes[0], p=(0.2, 0, 0)), boxes[1], 1e4, 1e1, 1e6, 1e3, name="bushing"))
    model = b.build()
    states = [model.default_state() for _ in range(N)]
    for k, state in enumerate(states):
        for i in range(2):
            model.joint(f"free {i}").set_pose(state, p=(0.2 * i, 0, 0.05 + 0.01 * k))
    assert model.force_elements["bushing"].implicit_share(states[0], 1e-3) == 1.0
    return model, states, 1.0


def in_the_air():
    model = mbros.load("quadruped")
    return model, [model.random_state(k) for k in range(N)], 1.0


CASES = {f.__name__: f for f in (on_the_ground, held_together, on_springs, in_the_air)}


# Euler's step takes no spring implicitly, and a stiff one throws it about.
@pytest.fixture(scope="module", ids="-".join,
                params=[(name, scheme) for name in CASES for scheme in SCHEMES if (name, scheme) != ("on_springs", SCHEMES[1])])
def case(request):
    name, integrator = request.param
    model, states, noise = CASES[name]()
    tau = noise * np.random.default_rng(1).normal(size=(N, STEPS, model.nv))
    return model, states, tau, integrator


def starts(states):
    return np.array([s.q for s in states]), np.array([s.v for s in states])


def in_parts(model, states, tau, part, **how):
    q, v = starts(states)
    memory, rows = None, []
    for at in range(0, tau.shape[1], part):
        run = mbros.rollout(model, q, v, tau[:, at:at + part], state=states[0].copy(), memory=memory, **how)
        q, v, memory = run.q[:, -1], run.v[:, -1], run.memory
        rows.append(run)
    return np.concatenate([run.q for run in rows], 1), np.concatenate([run.v for run in rows], 1), memory


def test_parts_are_the_whole(case):
    model, states, tau, integrator = case
    whole = mbros.rollout(model, *starts(states), tau, integrator=integrator, state=states[0])
    for part, threads in ((1, 1), (7, 2), (60, None)):
        q, v, memory = in_parts(model, states, tau, part, integrator=integrator, threads=threads)
        assert np.array_equal(q, whole.q) and np.array_equal(v, whole.v) and np.array_equal(memory, whole.memory)


def test_each_robot_is_the_same_in_any_company(case):
    """In any number, order and lane, and alone."""
    model, states, tau, integrator = case
    q0, v0 = starts(states)
    whole = mbros.rollout(model, q0, v0, tau, integrator=integrator, state=states[0])
    for chosen in ([10], [3, 2, 1], list(range(N))[::-1], [k % N for k in range(19)]):
        run = mbros.rollout(model, q0[chosen], v0[chosen], tau[chosen], integrator=integrator, state=states[0], threads=1)
        assert np.array_equal(run.q, whole.q[chosen]) and np.array_equal(run.v, whole.v[chosen])
        assert np.array_equal(run.memory, whole.memory[chosen])


def test_without_a_memory_contacts_are_new():
    """As before there was one. It matters: the trial found 4e-3 rad and 0.1 m/s."""
    model, states, noise = on_the_ground()
    tau = noise * np.random.default_rng(1).normal(size=(N, STEPS, model.nv))
    whole = mbros.rollout(model, *starts(states), tau)
    first = mbros.rollout(model, *starts(states), tau[:, :30])
    again = mbros.rollout(model, first.q[:, -1], first.v[:, -1], tau[:, 30:])
    assert np.abs(again.v[:, -1] - whole.v[:, -1]).max() > 1e-6
    fresh = mbros.rollout(model, first.q[:, -1], first.v[:, -1], tau[:, 30:31])
    assert (fresh.memory[:, 1] == 1e-3).all()


def test_every_tenth_step_and_robots_of_their_own():
    model, states, noise = on_the_ground()
    tau = noise * np.random.default_rng(2).normal(size=(N, STEPS, model.nv))
    parameters = {"mass.trunk": np.linspace(5.0, 9.0, N)}
    whole = mbros.rollout(model, *starts(states), tau, every=10, parameters=parameters, outputs=["contact_forces"])
    first = mbros.rollout(model, *starts(states), tau[:, :20], every=10, parameters=parameters, outputs=["contact_forces"])
    then = mbros.rollout(model, first.q[:, -1], first.v[:, -1], tau[:, 20:], every=10, parameters=parameters, outputs=["contact_forces"],
                         memory=first.memory)
    assert np.array_equal(np.concatenate([first.q, then.q], 1), whole.q)
    assert np.array_equal(np.concatenate([first["contact_forces"], then["contact_forces"]], 1), whole["contact_forces"])


def test_a_rollout_goes_on_with_a_simulators_run_and_a_simulator_with_a_rollouts(case):
    """But for the rounding of lanes; what is taken and put is the same to the bit."""
    model, states, tau, integrator = case
    sim = mbros.Simulator(model, integrator=integrator, state=states[1].copy())
    for k in range(30):
        sim.step(tau[1, k])
    run = mbros.rollout(model, None, None, tau[1:2, 30:45], state=sim.state, memory=sim.state, integrator=integrator)
    end = sim.state.copy()
    run.write_end(end, 0)
    other = mbros.Simulator(model, integrator=integrator, state=states[1].copy())
    other.state.assign(end)
    for k in range(30, 45):
        sim.step(tau[1, k])
    assert model.potential_energy(end) == pytest.approx(model.potential_energy(sim.state), rel=1e-9)
    assert np.allclose(other.state.q, sim.state.q, rtol=0, atol=1e-12) and np.allclose(other.state.v, sim.state.v, rtol=0, atol=1e-10)
    assert other.time == sim.time
    counts = [state.field("contact_memory")[:1, touches.COUNT] for state in (other.state, sim.state)]
    assert np.array_equal(*counts) and [len(model.contacts(s)) for s in (other.state, sim.state)] == [int(c.sum()) for c in counts]
    again = mbros.rollout(model, None, None, tau[1:2, 45:], state=end, memory=end, integrator=integrator)
    straight = mbros.rollout(model, run.q[:, -1], run.v[:, -1], tau[1:2, 45:], state=end, memory=run.memory, integrator=integrator)
    assert np.array_equal(again.q, straight.q) and np.array_equal(again.v, straight.v) and np.array_equal(again.memory, straight.memory)


@pytest.mark.parametrize("integrator", SCHEMES)
def test_prescribed_joints_go_on_in_time(integrator):
    model = mbros.load("arm6")
    state = model.default_state()
    state.time = 0.3
    model.joints[2].prescribe(state, velocity=0.7, acceleration=0.2)
    tau = np.random.default_rng(0).normal(size=(N, STEPS, model.nv))
    whole = mbros.rollout(model, None, None, tau, state=state, integrator=integrator)
    q, v, memory = in_parts(model, [state] * N, tau, 7, integrator=integrator)
    assert np.array_equal(q, whole.q) and np.array_equal(v, whole.v) and np.array_equal(memory, whole.memory)
    assert np.allclose(memory[:, 1], 0.3 + STEPS * 1e-3)
    half = mbros.rollout(model, whole.q[:, -1], whole.v[:, -1], tau[:, :4], dt=5e-4, state=state, integrator=integrator, memory=memory)
    assert np.allclose(half.memory[:, 1], 0.362) and (half.memory[:, 3] == 4).all()


def test_who_was_held_begins_anew():
    model, states, _ = on_the_ground()
    tau = np.zeros((N, 5, model.nv))
    tau[4, 2, 3] = np.nan
    run = mbros.rollout(model, *starts(states), tau, on_fault="hold")
    assert run.fault[4] == 2 and not run.memory[4, 4:].any() and np.isfinite(run.memory).all() and run.memory[3, 4:].any()
    mbros.rollout(model, run.q[:, -1], run.v[:, -1], tau[:, :1], memory=run.memory)


def test_no_steps_leave_the_memory_as_it_was():
    model, states, _ = on_the_ground()
    run = mbros.rollout(model, *starts(states), np.zeros((N, 5, model.nv)))
    none = mbros.rollout(model, run.q[:, -1], run.v[:, -1], np.zeros((N, 0, model.nv)), memory=run.memory)
    assert np.array_equal(none.memory, run.memory)
    new = mbros.rollout(model, *starts(states), np.zeros((N, 0, model.nv)))
    assert not new.memory[:, 1:].any() and (new.memory[:, 0] == run.memory[0, 0]).all()
    with pytest.raises(mbros.MbrosError, match="took no step"):
        none.write_end(states[0], 0)


def test_what_is_refused():
    model, states, _ = on_the_ground()
    tau = np.zeros((N, 3, model.nv))
    run = mbros.rollout(model, *starts(states), tau)
    before = run.memory.copy()
    shorter, bad, other = run.memory[:, :-1], run.memory.copy(), run.memory.copy()
    bad[3, 9], other[5, 0] = np.nan, 1.0
    deep = run.memory.copy()
    deep[2, 4 + model.nv + touches.COLUMNS + touches.FORCE.start] = np.inf
    deep[2, 4 + model.nv + touches.COUNT] = 4.0
    n = run.memory.shape[1]
    for memory, words in ((shorter, rf"memory: expected shape \({N}, {n}\), or \({n},\) for all"), (run.memory[:3], "expected shape"),
                          (bad, r"memory\[3, 9\]"), (deep, r"memory of contacts\[2, "), (other, "it is of another model"), ("x", "memory")):
        with pytest.raises(mbros.MbrosError, match=words):
            mbros.rollout(model, *starts(states), tau, memory=memory)
    arm = mbros.load("arm7")
    with pytest.raises(mbros.StateError):
        mbros.rollout(model, *starts(states), tau, memory=arm.default_state())
    lighter = mbros.load("quadruped", ground=mbros.Ground(friction=0.1))
    with pytest.raises(mbros.MbrosError, match="it is of another model; expected that of a rollout or a state of 'quadruped'"):
        mbros.rollout(lighter, *starts(states), tau, memory=run.memory)
    mbros.rollout(mbros.load("quadruped", ground=True), *starts(states), tau, memory=run.memory)        # loaded again: the same model
    for state, words in ((lighter.default_state(), "was given where one of the rollout's model"), (arm.default_state(), "was given where")):
        kept = state._inputs.copy()
        with pytest.raises(mbros.StateError, match=words):
            run.write_end(state, 0)
        assert np.array_equal(state._inputs, kept)
    for robot in (N, -N - 1, 1.5, None, "a"):
        with pytest.raises(mbros.MbrosError, match=f"robot: expected a number from 0 to {N - 1}"):
            run.write_end(states[0], robot)
    assert np.array_equal(run.memory, before)
