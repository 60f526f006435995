"""What may change while the loop runs: every parameter of the state, locks, and the state itself."""
import threading

import numpy as np
import pytest

import mbros
from mbros_core import Plant
from mbros_core.realtime import Loop


@pytest.fixture
def model():
    """A floating body with an arm of two joints and a spring between the world and the hand."""
    b = mbros.ModelBuilder("rig")
    base, upper, hand = (b.add_body(name, 2.0, (0.01, 0.02, -0.03), (0.02, 0.03, 0.04)) for name in ("base", "upper", "hand"))
    b.add_joint(mbros.FloatingJoint("free", b.world, base))
    b.add_joint(mbros.RevoluteJoint("shoulder", base, upper, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("elbow", upper, hand, axis=(1, 0, 0), damping=0.1))
    b.add_force_element(mbros.Bushing(b.world, hand, 3.0, 0.1, 50.0, 0.5, name="mount"))
    return b.build()


@pytest.fixture
def plant(model, rng):
    state = model.random_state(rng)
    state.v[:] = rng.normal(size=model.nv)
    return Plant(model, state)


def loop_of(plant, **options):
    return Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0, **options)


def value(plant, x, name):
    at, n = plant.layout[name]
    return x[at:at + n]


def test_the_block_is_every_parameter_of_the_state(plant, model, rng):
    state = model.default_state()
    for name in model.parameter_names:
        if not name.startswith("locked."):
            model.set_parameter(state, name, np.abs(model.parameter(state, name)) * 1.5 + 0.01)
    block = plant.parameter_block(state)
    for name, (at, size) in plant.parameters.items():
        assert np.array_equal(block[at:at + size], state.field(name).ravel())
    other = mbros.load("pendulum")
    with pytest.raises(ValueError, match="state of"):
        plant.parameter_block(other.default_state())


def test_every_parameter_acts_as_in_a_state(plant, model):
    """The loop, told a block while it runs, and a second plant whose state was changed by name go the same way."""
    twin = Plant(model, plant.state.copy())
    loop = loop_of(plant)
    with loop:
        for name in model.parameter_names:
            old = model.parameter(twin.state, name)
            model.set_parameter(twin.state, name, (not old) if isinstance(old, bool) else np.abs(old) * 1.1 + 1e-3)
            loop.set_parameters(plant.parameter_block(twin.state))
            loop.step_once(2)
            twin.steps(np.zeros(model.nv), 2)
            assert np.array_equal(loop.snapshot()[1], twin.observe()), name
    assert loop.snapshot()[0].parameters == len(model.parameter_names)


def test_a_joint_locked_on_the_way_stands_to_the_bit(plant, model):
    loop, elbow = loop_of(plant), model.joint("elbow")
    lock = np.zeros(model.nv)
    lock[elbow.v_slice] = 1.0
    with loop:
        loop.step_once(5)
        angle = value(plant, loop.snapshot()[1], "q")[elbow.q_slice].copy()
        loop.set_parameters({"lock": lock})
        loop.step_once(50)
        x = loop.snapshot()[1]
        assert np.array_equal(value(plant, x, "q")[elbow.q_slice], angle) and not value(plant, x, "v")[elbow.v_slice].any()
        assert value(plant, x, "v").any()
        loop.set_parameters({"lock": np.zeros(model.nv)})
        loop.step_once(5)
        assert value(plant, loop.snapshot()[1], "q")[elbow.q_slice] != angle


@pytest.mark.parametrize("part, at, bad, message", [
    ("damping", 7, -1.0, "damping of 'elbow' is -1; expected zero or more"), ("lock", 0, 0.5, "lock of 'free.wx' is 0.5; expected 0 or 1"),
    ("inertia", 20, -1.0, "mass of body 'upper' is -1 kg"), ("force_parameters", 0, -3.0, "'mount': torque_stiffness.0. is -3"),
    ("gravity", 1, np.nan, r"gravity\[1\] is nan")])
def test_a_number_that_cannot_be_changes_nothing(plant, part, at, bad, message):
    loop = loop_of(plant)
    before = plant.parameter_block()
    start, size = plant.parameters[part]
    given = before[start:start + size].copy()
    given[at] = bad
    with pytest.raises(ValueError, match=message):
        loop.set_parameters({part: given, "friction": np.ones(8)})
    assert np.array_equal(plant.parameter_block(), before)


def test_what_a_dict_does_not_name_stays_as_the_plant_has_it(plant, model):
    """Also what was changed in the plant's own state after the loop was made, or between two runs of it."""
    loop, elbow = loop_of(plant), model.joint("elbow")
    elbow.lock(plant.state)
    loop.set_parameters({"friction": np.full(8, 0.5)})
    with loop:
        loop.set_parameters({"damping": np.full(8, 0.25)})
    model.set_parameter(plant.state, "mass.hand", 3.0)
    loop.set_parameters({"gravity": np.zeros(3)})
    assert elbow.is_locked(plant.state) and model.parameter(plant.state, "mass.hand") == 3.0
    assert model.parameter(plant.state, "friction.elbow") == 0.5 and model.parameter(plant.state, "damping.elbow") == 0.25


def test_requests_of_several_threads_are_all_served(plant, model):
    """Four threads at once, each with a coordinate and a kind of parameter of its own: none is lost to another."""
    loop, kinds = loop_of(plant), ("damping", "friction", "rotor_inertia", "stop_damping")
    start = plant.layout["q"][0]

    def ask(k, round_):
        q = np.full(model.nq, np.nan)
        q[k % 3] = round_
        loop.set_state(q) if k < 3 else loop.set_state(v=np.full(model.nv, round_))
        loop.set_parameters({kinds[k]: np.full(model.nv, round_)})

    with loop:
        for round_ in range(1, 21):
            threads = [threading.Thread(target=ask, args=(k, round_)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            x = loop.snapshot()[1]
            assert np.array_equal(x[start:start + 3], [round_] * 3) and (value(plant, x, "v") == round_).all()
            assert all((plant.state.field(kind) == round_).all() for kind in kinds)


def test_some_coordinates_are_put_elsewhere_and_the_rest_goes_on(plant, model):
    loop, twin = loop_of(plant), Plant(model, plant.state.copy())
    q, v = np.full(model.nq, np.nan), np.full(model.nv, np.nan)
    q[model.joint("elbow").q_slice], v[model.joint("shoulder").v_slice] = 0.7, -2.0
    with loop:
        loop.step_once(3)
        loop.set_state(q, v)
        loop.step_once(3)
        header, x = loop.snapshot()
    twin.steps(np.zeros(model.nv), 3)
    model.joint("elbow").set_position(twin.state, 0.7)
    model.joint("shoulder").set_velocity(twin.state, -2.0)
    twin.steps(np.zeros(model.nv), 3)
    assert np.array_equal(x, twin.observe()) and header.step == 6


def test_a_quaternion_put_elsewhere_is_normalised(plant, model):
    loop = loop_of(plant)
    q = np.full(model.nq, np.nan)
    at = model.joint("free").q_slice.start + model.joint("free").names.position_suffixes.index("qw")
    q[at:at + 4] = (3.0, 0.0, 4.0, 0.0)
    loop.set_state(q)
    assert np.allclose(plant.state.q[at:at + 4], (0.6, 0.0, 0.8, 0.0), atol=1e-15)


def test_a_locked_joint_keeps_its_rest(plant, model):
    model.joint("elbow").lock(plant.state)
    loop = loop_of(plant)
    loop.set_state(v=np.ones(model.nv))
    assert model.joint("elbow").velocity(plant.state) == 0.0 and model.joint("shoulder").velocity(plant.state) == 1.0


def test_states_that_cannot_be_are_refused(plant, model, c, library):
    import rig as rigs

    loop, before = loop_of(plant), plant.observe()
    with pytest.raises(ValueError, match="set_state: q: expected 9 numbers, got shape .2,."):
        loop.set_state([1.0, 2.0])
    with pytest.raises(ValueError, match=r"set_state: v\[3\] is inf"):
        loop.set_state(v=[0, 0, 0, np.inf, 0, 0, 0, 0])
    assert np.array_equal(plant.observe(), before)
    with pytest.raises(TypeError, match="cannot be put at a state while it runs"):
        loop_of(rigs.Rig(c, library=library)).set_state([0.0, 0.0])


@pytest.mark.parametrize("at, numbers, message", [
    (3, [0.0, 0.0, 0.0, 0.0], "the quaternion of joint 'free', q.3:7. = .0.0, 0.0, 0.0, 0.0., has no direction"),
    (3, [0.5], "the quaternion of joint 'free', q.3:7. = .0.5, nan, nan, nan., is given in part"),
    (7, [1e10], "q.7. .'shoulder'. is 1e.10; expected less than 1e.10"),
    (10, [-1e300], "v.1. .'free.wy'. is -1e.300; expected less than 1e.10")])
def test_a_state_that_would_blow_up_is_refused(plant, model, at, numbers, message):
    """By set_state, and by reset, which takes whole states."""
    loop, before = loop_of(plant), plant.observe()
    letter = np.full(model.nq + model.nv, np.nan)
    letter[at:at + len(numbers)] = numbers
    with pytest.raises(ValueError, match="set_state: " + message):
        loop.set_state(letter[:model.nq], letter[model.nq:])
    if len(numbers) != 1 or abs(numbers[0]) > 1.0:
        whole = np.where(np.isnan(letter), np.concatenate([model.neutral_configuration(), np.zeros(model.nv)]), letter)
        with pytest.raises(ValueError, match="reset: " + message):
            loop.reset(whole[:model.nq], whole[model.nq:])
    assert np.array_equal(plant.observe(), before) and loop.fault is None


def test_in_fault_only_a_reset_helps(model):
    plant = Plant(model, dt=1.0)
    loop = loop_of(plant)
    loop.reset(model.neutral_configuration(), np.full(model.nv, 9.9e9))
    with loop:
        with pytest.raises(RuntimeError, match="reset the loop first"):
            loop.step_once(20)
        with pytest.raises(RuntimeError, match="set_state: step .*reset the loop first"):
            loop.set_state(v=np.zeros(model.nv))
        loop.reset()
        loop.set_state(v=np.zeros(model.nv))
        loop.step_once(1)


def test_a_plant_in_a_running_loop_is_the_loops(plant):
    loop = loop_of(plant)
    plant.step()
    with loop:
        for call in (plant.step, lambda: plant.steps(np.zeros(8), 2), plant.observe, plant.reset):
            with pytest.raises(RuntimeError, match="being simulated by a real-time loop"):
                call()
    plant.step()
