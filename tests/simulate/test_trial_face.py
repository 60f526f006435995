"""Calls of a simulator at rate: what is looked up once, and plain numbers that go straight in, do what the general way does."""
import copy
import json
from fractions import Fraction

import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError
from mbros.model.joints.sampling import random_state
from mbros.simulate.saved import blob_of, layout


def said(call):
    try:
        return call()
    except MbrosError as error:
        return type(error), str(error)


FORMS = {"float": float, "whole": lambda x: 2, "numpy": np.float64, "single": np.float32, "array": lambda x: np.array([x]),
         "zero-dimensional": np.array, "list": lambda x: [x], "fraction": Fraction}


@pytest.mark.parametrize("form", FORMS)
def test_trial_L1_efforts_by_name_are_the_vector(form):
    model = mbros.load("quadruped")
    names = [name for name in model.joint_state_names if not model.joint(name).follows]
    given = {name: FORMS[form](0.25 * k) for k, name in enumerate(names)}
    wanted = np.zeros(model.nv)
    for name, x in given.items():
        wanted[model.joint(name).v_slice] = np.ravel(np.asarray(x, float))
    assert np.array_equal(model.effort_vector(given), wanted)
    floating = {model.joints[0].name: np.arange(6.0), names[0]: 1.5}
    assert model.effort_vector(floating)[[0, 5, model.joint(names[0]).v_slice.start]].tolist() == [0.0, 5.0, 1.5]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, "1.0", None, True, [1.0, 2.0], 10**400])
def test_trial_L1_wrong_efforts_are_refused_with_the_joint(wrong):
    model = mbros.load("arm7")
    a, b = model.joint_state_names[:2]
    sim = mbros.Simulator(model, bench=False)
    for efforts in ({a: 1.0, b: wrong}, {b: wrong, "no_such": 1.0}):
        with pytest.raises(MbrosError, match=b):
            sim.step(efforts)
    with pytest.raises(MbrosError, match="no_such"):
        sim.step({a: 1.0, "no_such": 1.0})
    assert sim.time == 0.0


def test_trial_L1_a_followers_effort_is_refused():
    model = mbros.load("panda")
    follower = next(joint for joint in model.joints if joint.follows)
    with pytest.raises(MbrosError, match="follows"):
        model.effort_vector({follower.name: 1.0})


@pytest.mark.parametrize("form", ["float", "whole", "numpy", "single", "array", "list", "fraction"])
def test_trial_L1_commands_are_what_the_signals_have(form):
    sim = mbros.Simulator(mbros.load("arm7"), bench="servo")
    joints = list(sim.model.joint_state_names)
    value = FORMS[form](0.25)
    sim.command(position=dict.fromkeys(joints, value), velocity={joints[0]: 0.5})
    for joint in joints:
        assert sim.signals[f"{joint}.command.position"].sent == float(np.ravel(value)[0] if form in ("array", "list") else value)
    assert sim.signals[f"{joints[0]}.command.velocity"].sent == 0.5
    assert np.isnan(sim.signals[f"{joints[1]}.command.velocity"].sent)
    sim.command(position={joints[2]: float("nan")})
    assert np.isnan(sim.signals[f"{joints[2]}.command.position"].sent)


@pytest.mark.parametrize("wrong", [{"position": {"nobody": 1.0}}, {"position": {"*": float("inf")}}, {"position": {"*": "1"}},
                                   {"stiffness": {"*": 1.0}}, {"position": 3.0}, {"position": {"*": 0.1}, "velocity": {"nobody": 0.0}}])
def test_trial_L1_a_command_is_taken_whole_or_not_at_all(wrong):
    sim = mbros.Simulator(mbros.load("arm7"), bench="servo")
    joint = sim.model.joint_state_names[0]
    sim.command(position={joint: 0.125})
    before = sim.plant.devices.block.copy()
    given = {word: {joint if name == "*" else name: x for name, x in values.items()} if isinstance(values, dict) else values
             for word, values in wrong.items()}
    with pytest.raises(MbrosError, match="command|nobody"):
        sim.command(**given)
    assert np.array_equal(sim.plant.devices.block, before, equal_nan=True)


def test_trial_L1_signals_are_those_of_the_devices_that_are_there():
    sim = mbros.Simulator(mbros.load("arm7"), bench="servo")
    name = f"{sim.model.joint_state_names[0]}.position"
    held = sim.signals[name]
    assert sim.signals[name] is held
    other = copy.copy(sim)
    for _ in range(3):
        sim.step()
    assert other.signals[name].value != sim.signals[name].value or other.time != sim.time
    assert other.signals[name] is not held
    sim.inject(mbros.Fault("hang", "frozen", signal=name, at=1.0))
    assert sim.signals[name] is not held
    assert sim.signals[name].value == pytest.approx(float(sim.state.q[0]))
    with pytest.raises(MbrosError, match="no_such"):
        sim.signals["no_such"]
    with pytest.raises(MbrosError):
        sim.signals[["a list"]]


@pytest.mark.parametrize("mass", [2.5, 7, 0.0, 1e-80, 1e-101, 1e60, -1.0, np.nan, np.inf])
def test_trial_L1_a_mass_is_set_as_in_an_array_of_one(mass):
    model = mbros.load("arm7")
    for name in [name for name in model.parameter_names if name.startswith("mass.")][::3]:
        one, other = model.default_state(), model.default_state()
        found = said(lambda: model.set_parameter(one, name, mass))                              # noqa: B023
        assert found == said(lambda: model.set_parameter(other, name, np.array([mass])))        # noqa: B023
        assert np.array_equal(one.field("inertia"), other.field("inertia"))
        for wrong in ("3", True, None, [1.0, 2.0]):
            with pytest.raises(MbrosError, match="mass"):
                model.set_parameter(one, name, wrong)
        assert np.array_equal(one.field("inertia"), other.field("inertia"))


def test_trial_L1_resets_go_to_the_default_every_time():
    for robot in ("arm7", "quadruped"):
        sim = mbros.Simulator(mbros.load(robot), bench=False)
        start = sim.state.copy()
        for _ in range(2):
            sim.step()
            sim.reset()
            assert np.array_equal(sim.state.q, start.q)
            assert np.array_equal(sim.state.v, start.v)
            assert sim.time == 0.0
        sim.plant.reset()
        assert np.array_equal(sim.state.q, sim.model.default_state().q)
        sim.plant.reset(None, np.ones(sim.model.nv))
        assert np.array_equal(sim.state.v, np.ones(sim.model.nv))
        with pytest.raises(MbrosError):
            sim.plant.reset(np.full(sim.model.nq, np.nan))


def test_trial_L1_saves_are_alike_and_of_their_model():
    sim, other = (mbros.Simulator(mbros.load(robot), bench=False) for robot in ("arm7", "quadruped"))
    blob = sim.save()
    assert sim.save() == blob
    sim.step()
    assert sim.save() != blob
    sim.restore(blob)
    assert sim.save() == blob
    with pytest.raises(MbrosError, match="another model"):
        other.restore(blob)
    with pytest.raises(MbrosError, match="another model"):
        sim.restore(other.save())


def test_trial_L1_random_states_are_within_their_bounds_and_repeat():
    for robot in ("arm7", "quadruped", "four_bar"):
        model = mbros.load(robot)
        for seed in range(5):
            one, other = (model.random_state(seed) for _ in range(2))
            assert np.array_equal(one.q, other.q)
            assert np.array_equal(one.v, other.v)
            if not len(model.constraints):
                limits = model.limits.velocity
                assert (one.v >= np.where(np.isfinite(limits.lower), limits.lower, -1.0)).all()
                assert (one.v <= np.where(np.isfinite(limits.upper), limits.upper, 1.0)).all()


@pytest.mark.parametrize("wrong", [[1.0, np.nan, 0.0], [1.0, 2.0], "abc", np.full(3, np.inf)])
def test_trial_L1_a_wrench_that_is_none_pushes_nothing(wrong):
    sim = mbros.Simulator(mbros.load("arm7"), bench=False)
    frame, axes = sim.model.frames.names[-1], sim.model.frames.names[4]
    for word in ("force", "torque", "point"):
        with pytest.raises(MbrosError, match=word):
            sim.apply_wrench(frame, **{word: wrong})
    assert len(sim.disturbances) == 0
    for form in (list, tuple, np.array, lambda x: np.array(x, np.float32)):
        number = sim.apply_wrench(frame, torque=form([4.0, 5.0, 6.0]), force=form([1.0, 2.0, 3.0]), expressed_in=axes,
                                  point=form([0.5, 0.0, 0.25]))
    assert number == 4
    rows = sim.disturbances.table[:4]
    X_BF, X_BA = (sim.model.spec.X_BF[sim.model.frame(name).index] for name in (frame, axes))
    R_F, R_A = X_BF[:9].reshape(3, 3), X_BA[:9].reshape(3, 3)
    for row in rows:
        assert row[6:9] == pytest.approx(X_BF[9:] + R_F @ [0.5, 0.0, 0.25])
        assert row[9:12] == pytest.approx(R_A @ [4.0, 5.0, 6.0])
        assert row[12:15] == pytest.approx(R_A @ [1.0, 2.0, 3.0])


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
@pytest.mark.parametrize("robot", ["arm7", "quadruped", "four_bar", "panda", "ur5"])
def test_trial_S_a_state_drawn_at_once_is_the_one_drawn_in_parts(robot, bits):
    """To the bit, and the generator goes on from the same place."""
    model = mbros.load(robot)
    one, other = (np.random.Generator(bits(7)) for _ in range(2))
    for _ in range(3):
        a, b = model.random_state(one), random_state(model, other)
        assert np.array_equal(a._inputs, b._inputs)
    assert one.random() == other.random()
    with pytest.raises(MbrosError, match="others"):
        model.random_state(one, "nothing")


@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_trial_S_a_save_says_in_its_words_what_the_encoder_says(robot):
    sim = mbros.Simulator(mbros.load(robot), bench=False)
    sim.run(0.01)
    sim.apply_wrench(next(joint.child_frame.name for joint in sim.model.joints if joint.nv), force=[0.0, 0.0, 1.0])
    for more in ({}, {"named": 'a "b" é', "many": [1, None, 2.5]}):
        blob = blob_of(sim.model, sim.plant, sim.start, True, "bench \\", ["j"] if more else [],
                       disturbances=sim.disturbances.table, **more)
        at = len(b"mbros save") + 10
        text = blob[at:at + int.from_bytes(blob[at - 8:at], "little")].decode()
        header = json.loads(text)
        assert json.dumps(header, allow_nan=False) == text
        assert list(header) == ["mbros", "engine", "model", "fingerprint", "dt", "integrator", "layout", "clamped", "fault",
                                "max_contact_iterations", "started", "time", "bench", "motions", *more, "parts"]
        n = sim.state._inputs.size
        assert header["parts"] == [["state", n], ["start", n], ["effort", sim.model.nv], ["devices", 0], ["disturbances", 512]]
        assert (header["time"], header["dt"], header["started"], header["bench"]) == (sim.time, sim.dt, True, "bench \\")
        assert {word: header[word] for word in more} == more
        assert header["layout"] == layout(sim.state)
    assert mbros.Simulator(sim.model, bench=False).restore(sim.save()) is None


def test_trial_S_nothing_of_a_rollout_is_in_the_next_one():
    """The engine of the last rollout serves the next: masses of single robots, faults, contacts, another state."""
    model, rng = mbros.load("quadruped", base="floating", ground=True), np.random.default_rng(2)
    state = model.default_state()
    state.gravity[:] = 0.0, 0.0, -3.0
    mass, q = next(name for name in model.parameter_names if name.startswith("mass.")), model.default_state().q
    tau = rng.normal(size=(3, 20, model.nv))
    wild = np.full((3, 20, model.nv), 1e7)
    calls = [dict(tau=tau), dict(tau=tau, parameters={mass: np.array([1.0, 2.0, 30.0])}), dict(tau=tau, state=state),
             dict(tau=wild, on_fault="hold"), dict(tau=tau[:, :5], integrator="semi_implicit_euler")]

    def run(model, tau, state=None, **more):
        own = model if state is None or state.model is model else mbros.load("quadruped", base="floating", ground=True)
        return mbros.rollout(own, q, np.zeros(model.nv), tau, threads=1, state=state, **more)

    fresh = [run(state.model if "state" in call else mbros.load("quadruped", base="floating", ground=True), **call) for call in calls]
    assert (fresh[3].fault >= 0).all()
    for k in rng.permutation(np.repeat(np.arange(len(calls)), 3)):
        found = run(model, **calls[k])
        for a, b in zip((found.q, found.v, found.fault, found.memory), (fresh[k].q, fresh[k].v, fresh[k].fault, fresh[k].memory)):
            assert np.array_equal(a, b)


def test_trial_S_a_command_of_words_that_no_actuator_takes_is_refused():
    sim = mbros.Simulator(mbros.load("arm7"), bench="servo")
    joint = sim.model.joint_state_names[0]
    for word in ("brake", "voltage", "stiffness"):
        with pytest.raises(MbrosError, match=f"takes a command of {word}"):
            sim.command(position={joint: 0.5}, **{word: {joint: 1.0}})
        sim.command(**{word: {}})
        with pytest.raises(MbrosError, match=f"command: {word}: expected"):
            sim.command(**{word: 1.0})
    assert sim.signals[f"{joint}.command.position"].sent != 0.5


def test_trial_S_a_batch_has_arrays_and_a_state_of_its_own():
    model = mbros.load("arm7")
    state, q, v = model.default_state(), np.zeros((3, 7)), np.ones((3, 7))
    batch = model.batch(q, v, state=state)
    before = batch.gravity_torques()
    q[:], v[:], state.gravity[:] = 1.0, 7.0, 0.0
    assert np.array_equal(batch.q, np.zeros((3, 7)))
    assert np.array_equal(batch.v, np.ones((3, 7)))
    assert np.array_equal(batch.gravity_torques(), before)
    assert np.array_equal(model.batch(q.tolist()).q, q)
    for wrong in (np.zeros((3, 6)), np.zeros(7), np.zeros((2, 3, 7)), "abc"):
        with pytest.raises(MbrosError, match="q"):
            model.batch(wrong)
    with pytest.raises(MbrosError, match="threads"):
        model.batch(q, threads=True)
