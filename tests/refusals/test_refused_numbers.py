"""Numbers that are not finite: one family of errors, whatever NumPy is told about them, and the joint that is the cause by name."""
import pickle
import sys
import types

import numpy as np
import pytest

import mbros
import mbros_core


@pytest.fixture
def model():
    b = mbros.ModelBuilder("one")
    for joint in (mbros.RevoluteJoint, mbros.FloatingJoint, mbros.BallJoint):
        name = joint.__name__
        b.add_joint(joint(name, b.world, b.add_body(name + "_body", 1.0, (0.1, 0.0, 0.2), (1, 1, 1))))
    turn = b.add_body("turn_body", 1.0, (0.1, 0.0, 0.2), (1, 1, 1))
    b.add_joint(mbros.ContinuousJoint("turn", b.world, turn, representation="cos_sin"))
    return b.build()


def test_every_refusal_is_of_one_family():
    for kind in (mbros.NonFiniteError, mbros.GimbalLockError, mbros.FaultError, mbros.ModelError, mbros.StateError, mbros.UnknownNameError):
        assert issubclass(kind, mbros.MbrosError) and issubclass(kind, ValueError)
    assert issubclass(mbros.FaultError, RuntimeError) and issubclass(mbros.GimbalLockError, mbros.NonFiniteError)
    assert mbros.MbrosError is mbros_core.errors.MbrosError
    assert pickle.loads(pickle.dumps(mbros.GimbalLockError("text", [3]))).args == ("text",)
    model = mbros.load("pendulum")
    with pytest.raises(mbros.MbrosError):
        model.forward_dynamics(model.default_state(), np.full(model.nv, np.nan))


@pytest.mark.seed("HJ-23")
@pytest.mark.parametrize("joint, part, what", [("FloatingJoint", slice(4, 8), "quaternion"), ("BallJoint", slice(8, 12), "quaternion"),
                                               ("turn", slice(12, 14), r"\(cos, sin\)")])
def test_a_rotation_of_zeros_is_told_with_its_joint(model, joint, part, what):
    q, v = model.random_configuration(3), np.ones(model.nv)
    for tiny in (0.0, 1e-170):
        bad = q.copy()
        bad[part] = tiny
        batch = np.array([q, bad])
        calls = [(lambda: model.integrate(bad, v), "q"), (lambda: model.normalize(bad), "q")]
        if what == "quaternion" and not tiny:
            calls += [(lambda: model.difference(q, bad), "q1"), (lambda: model.difference(bad, q), "q0")]
        for call, name in calls:
            words = rf"{what} of joint '{joint}', {name}\[{part.start}:{part.stop}\] = .*has no direction"
            with pytest.raises(mbros.NonFiniteError, match=words) as caught:
                call()
            assert "mass" not in str(caught.value)
        for call in (lambda: model.integrate(batch, v), lambda: model.normalize(batch)):
            with pytest.raises(mbros.NonFiniteError, match=rf"{what} of joint '{joint}', q\[1, {part.start}:{part.stop}\]"):
                call()
    state = model.default_state()
    state.q[part] = 0.0
    with pytest.raises(mbros.NonFiniteError, match=rf"forward_dynamics.*{what} of joint '{joint}'"):
        model.forward_dynamics(state, v)


def test_masses_are_blamed_where_they_can_be_the_cause(model):
    with pytest.raises(mbros.NonFiniteError, match="neither mass nor rotor inertia"):
        state = model.default_state()
        state.field("inertia")[:] = 0.0
        model.forward_dynamics(state, np.ones(model.nv))
    with pytest.raises(mbros.NonFiniteError) as caught:
        model.integrate(1e300 * model.neutral_configuration(), np.ones(model.nv))
    assert "numbers beyond 1e150" in str(caught.value) and "mass" not in str(caught.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", ["raise", "warn"])
def test_the_named_error_is_raised_whatever_numpy_is_told(model, mode):
    space, q, v = model.space(), model.random_configuration(3), np.ones(model.nv)
    bad = np.array([q, q])
    bad[1, 4:8] = 0.0
    with np.errstate(all=mode):
        for call in (lambda: space.integrate(bad, v), lambda: space.difference(q, bad), lambda: space.normalize(bad),
                     lambda: space.interpolate(q, bad, 0.5), lambda: space.d_difference(bad, q),
                     lambda: space.distance(np.array([q, q]), np.array([q, q + 1e200])),
                     lambda: mbros.spaces.SO2().normalize([0, 0]),
                     lambda: mbros.spaces.SO3("parent").integrate(np.full(4, 1e200), np.ones(3))):
            with pytest.raises(mbros.NonFiniteError, match="in (the configuration|SO)"):
                call()
        assert model.space().is_same(space.integrate(q, np.zeros(model.nv)), q, 1e-14)


@pytest.mark.seed("HJ-12")
def test_out_takes_all_of_a_result_or_nothing(model):
    Q, V = model.random_configuration(3, 2), np.ones((2, model.nv))
    frozen = np.zeros(Q.shape)
    frozen.flags.writeable = False
    for wrong in (np.zeros(Q.shape, int), np.zeros(Q.shape, np.float32), np.zeros((2, 3)), frozen, [0.0], 3):
        for call in (lambda out: model.normalize(2 * Q, out), lambda out: model.integrate(Q, V, out)):
            with pytest.raises(mbros.MbrosError, match=rf"out: expected an array of shape \(2, {model.nq}\), float64 and writable"):
                call(wrong)
    out = np.zeros(Q.shape)
    assert model.normalize(2 * Q, out) is out and out.any()


@pytest.mark.seed("HJ-22")
def test_sampling_without_bounds_names_the_joint():
    b = mbros.ModelBuilder("one")
    for name, joint, options in (("first", mbros.RevoluteJoint, {"lower": -1, "upper": 1}), ("slide", mbros.TranslationJoint, {}),
                                 ("free", mbros.FloatingJoint, {}), ("last", mbros.RevoluteJoint, {})):
        b.add_joint(joint(name, b.world, b.add_body(name + "_body", 1.0, (0.1, 0, 0), (1, 1, 1)), **options))
    for name, words in (("slide", "'slide.0'"), ("free", "'free.x'"), ("last", "'last'")):
        with pytest.raises(mbros.MbrosError, match=rf"{words} has the bounds \[-inf, inf\] and cannot be sampled"):
            b.build().space("hpp").sample(0)
        joint = b.joint(name)
        for i in range(3 if joint.nq > 1 else 1):
            joint.set_bounds(i, -1, 1)
    assert b.build().space("hpp").sample(0, 5).shape == (5, 12)
    assert mbros.spaces.Rn(1, increments="parent").names == ()
    with pytest.raises(mbros.MbrosError, match="R.1: component 0 has the bounds"):
        mbros.spaces.Rn(1, increments="parent").sample()


MANY = 2**40


@pytest.mark.parametrize("call, words", [
    (lambda m, x: m.random_configuration(0, MANY), "configuration space of model 'one': no memory for 1099511627776 x 14 numbers"),
    (lambda m, x: mbros.spaces.SO3().sample(0, 2**39), "sample of SO.3.: no memory for 549755813888 x 4 numbers, which take 17.6 TB"),
    (lambda m, x: mbros.chain(MANY), "chain: 1099511627776 joints take about 22 PB of memory, and .* are free"),
    (lambda m, x: m.batch(x), "batch of model 'one': no memory for 1099511627776 x 25 numbers"),
    (lambda m, x: m.normalize(x), "normalize in .*'one': no memory for 1099511627776 x 14 numbers"),
    (lambda m, x: m.interpolate(x, x, 0.5), "interpolate in .*'one': no memory for 1099511627776 x 14 numbers"),
    (lambda m, x: m.inverse_kinematics({"turn_body": np.eye(4)}, q0=x),
     "inverse_kinematics of model 'one': no memory for 1099511627776 x 14"),
    (lambda m, x: m.linearize((x, x[:, :11]), np.zeros(11)), "linearize of model 'one': no memory for 1099511627776 x 14 numbers"),
    (lambda m, x: mbros.rollout(m, x[0], np.zeros(11), x[:, None, :11]), "rollout of model 'one': no memory for 1099511627776 x 1[14] n"),
    (lambda m, x: mbros.rollout(m, x[0], np.zeros(11), x[None, :, :11]), "rollout of model 'one': no memory for 1 x 1099511627776 x 11 n"),
    (lambda m, x: m.forward_dynamics(m.default_state(), np.broadcast_to(np.float32(0), MANY)),
     "model 'one': tau: no memory for 1099511627776 numbers, which take 8.8 TB")])
def test_what_no_memory_holds_is_refused_with_its_size(model, call, words):
    with pytest.raises(mbros.errors.NoMemoryError, match=words) as caught:
        call(model, np.broadcast_to(np.zeros(14), (MANY, 14)))
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, mbros.MbrosError)


@pytest.mark.parametrize("mask", [True, [True] + [False] * 10])
def test_masked_numbers_are_no_numbers(model, mask):
    """What lies below a mask is nobody's number; a masked array of which nothing is masked is an array."""
    state, tau = model.default_state(), np.ma.masked_array(np.zeros(11), mask=mask)
    for call in (lambda: model.forward_dynamics(state, tau), lambda: state.set_v(tau), lambda: mbros.Simulator(model).step(tau),
                 lambda: mbros.Simulator(model).run(0.01, tau), lambda: model.batch(np.tile(state.q, (3, 1)), tau),
                 lambda: mbros.rollout(model, state.q, tau, np.zeros((1, 1, 11))), lambda: model.integrate(state.q, tau)):
        with pytest.raises(mbros.MbrosError, match=r"(tau|v|v0|efforts): expected .*numbers.*, got masked_array\(data=\[--") as caught:
            call()
        assert "\n" not in str(caught.value)
    plain = np.ma.masked_array(np.ones(11))
    assert np.array_equal(model.forward_dynamics(state, plain), model.forward_dynamics(state, np.ones(11)))


def test_numbers_are_numbers_while_another_thread_imports_masked_arrays(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))          # as it is there at the begin of its import
    state = model.default_state()
    assert np.array_equal(model.forward_dynamics(state, [1.0] * 11), model.forward_dynamics(state, np.ones(11)))
