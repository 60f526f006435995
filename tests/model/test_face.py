"""q and v in the calls that use them: state.set(q, v), and q= and v= of the algorithms: all of it or, where something is refused,
nothing; and single vectors, which go other ways than batches do."""
import warnings

import numpy as np
import pytest
import robots

import mbros
from mbros import diff

ARM, DOG = mbros.load("arm7"), mbros.load("quadruped")
GRIPPER = mbros.load("panda")                       # with a follower


def of_model(name):
    return lambda model, state, **given: getattr(model, name)(state, **given)


def with_vector(name):
    return lambda model, state, **given: getattr(model, name)(state, np.linspace(-1.0, 1.0, model.nv), **given)


def of_frame(name, *more):
    return lambda model, state, **given: getattr(model, name)(state, model.bodies[-1].name, *more, **given)


CALLS = {name: of_model(name) for name in (
    "mass_matrix", "gravity_torques", "bias_torques", "coriolis_torques", "passive_torques", "center_of_mass", "com_jacobian",
    "centroidal_momentum", "kinetic_energy", "potential_energy")}
CALLS |= {name: with_vector(name) for name in ("forward_dynamics", "inverse_dynamics")}
CALLS |= {name: of_frame(name) for name in ("pose", "velocity", "jacobian")}
CALLS |= {
    "acceleration": lambda model, state, **given: model.acceleration(state, model.bodies[-1].name, np.ones(model.nv), **given),
    "jacobian, local": of_frame("jacobian", "local"), "pose in another": of_frame("pose", DOG.bodies[1].name),
    "jacobian_rate": lambda model, state, **given: diff.jacobian_rate(model, state, model.bodies[-1].name, **given),
    "centroidal_map": lambda model, state, **given: diff.centroidal_map(model, state, **given),
    "derivatives of forward dynamics": lambda model, state, **given: diff.forward_dynamics(model, state, np.ones(model.nv), **given)["q"],
    "derivatives of inverse dynamics": lambda model, state, **given: diff.inverse_dynamics(model, state, np.ones(model.nv), **given)["v"],
}
SPRUNG = robots.sprung(mbros.PrismaticJoint)


def numbers(x):
    return np.concatenate([np.ravel(y) for y in ([x.R, x.p] if isinstance(x, mbros.Pose) else x if isinstance(x, tuple) else [x])])


def motions(model, n=4):
    rng = np.random.default_rng(5)
    return [(model.random_configuration(rng), rng.normal(size=model.nv)) for _ in range(n)]


@pytest.mark.parametrize("model, what", [pytest.param(model, what, id=f"{model.name}-{what}") for model in (ARM, DOG, GRIPPER)
                                         for what in CALLS if model is DOG or "another" not in what])      # a frame of the quadruped's
def test_trial_L1_q_and_v_of_a_call_are_those_of_the_state_it_leaves(model, what):
    call, state, other = CALLS[what], model.default_state(), model.default_state()
    for q, v in motions(model):
        wanted = call(model, other.set_q(q).set_v(v))
        assert np.array_equal(numbers(call(model, state, q=q, v=v)), numbers(wanted))
        assert np.array_equal(state.q, other.q) and np.array_equal(state.v, other.v)
        assert np.array_equal(numbers(call(model, state)), numbers(wanted))
        state.set(*motions(model, 1)[0])
        assert np.array_equal(numbers(call(model, state.set(v=v), q=list(q))), numbers(wanted))     # one of them, of any sequence
        assert np.array_equal(numbers(call(model, state.set(q=q), v=tuple(v))), numbers(wanted))


BAD = {"a short q": ({"q": np.zeros(3)}, "q: expected"), "a short v": ({"v": np.zeros(2)}, "v: expected"),
       "NaN in q": ({"q": "nan"}, r"q\[\d+\] \(joint .*\) is nan"), "NaN in v": ({"v": "nan"}, r"v\[\d+\] \(joint .*\) is nan"),
       "words": ({"q": "home"}, "q: expected .* got 'home'"), "a matrix": ({"v": np.zeros((2, 2))}, "v: expected"),
       "a good q and a bad v": ({"q": "good", "v": "nan"}, r"v\[\d+\]"),
       "a good q and a short v": ({"q": "good", "v": [1.0]}, "v: expected"),
       "a good v and a bad q": ({"q": "nan", "v": "good"}, r"q\[\d+\]")}


def given_of(model, words):
    q, v = motions(model, 1)[0]
    found = {}
    for name, value in words.items():
        good = q if name == "q" else v
        bad = good.copy()
        bad[-1] = np.nan
        found[name] = {"good": good, "nan": bad}.get(value, value) if isinstance(value, str) else value
    return found


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("call", ["set", "pose", "forward_dynamics", "jacobian_rate", "kinetic_energy"])
def test_trial_L1_what_is_refused_changes_nothing(call, bad):
    words, message = BAD[bad]
    for model in (ARM, DOG):
        state = model.random_state(3)
        mbros.Simulator(model, state=state).step(np.zeros(model.nv))
        before = state._inputs.copy()
        with pytest.raises(mbros.MbrosError, match=message):
            if call == "set":
                state.set(**given_of(model, words))
            else:
                CALLS[call](model, state, **given_of(model, words))
        assert np.array_equal(state._inputs, before)


@pytest.mark.parametrize("call", [lambda m, s, **x: m.forward_dynamics(s, np.zeros(2), **x), lambda m, s, **x: m.mass_matrix(s, out=3, **x),
                                  lambda m, s, **x: m.velocity(s, "nowhere", **x), lambda m, s, **x: m.jacobian(s, "flange", "LINK1", **x),
                                  lambda m, s, **x: m.acceleration(s, "flange", [1.0], **x),
                                  lambda m, s, **x: diff.jacobian_rate(m, s, "flange", "link1", **x),
                                  lambda m, s, **x: diff.forward_dynamics(m, s, "x", **x)])
def test_trial_L1_good_q_and_v_stay_out_where_another_argument_is_bad(call):
    state = ARM.random_state(3)
    before = state._inputs.copy()
    with pytest.raises(mbros.MbrosError):
        call(ARM, state, q=np.full(7, 0.1), v=np.full(7, 0.2))
    assert np.array_equal(state._inputs, before)


@pytest.mark.parametrize("what", ["forward_dynamics", "inverse_dynamics", "bias_torques", "centroidal_momentum", "velocity",
                                  "jacobian_rate"])
def test_trial_L1_a_result_that_is_not_finite_takes_q_and_v_back(what):
    state = DOG.random_state(3)
    mbros.Simulator(DOG, state=state).step(np.zeros(DOG.nv))
    before, wanted = state._inputs.copy(), numbers(CALLS[what](DOG, state))
    with pytest.raises(mbros.MbrosError, match="Nothing was changed|numbers beyond 1e150"):
        CALLS[what](DOG, state, q=DOG.default_state().q, v=np.full(DOG.nv, 1.7e308))
    assert np.array_equal(state._inputs, before)
    assert np.array_equal(numbers(CALLS[what](DOG, state)), wanted)


def test_trial_L1_set_is_set_q_and_set_v():
    state, other = DOG.default_state(), DOG.default_state()
    for q, v in motions(DOG):
        q[3:7] *= 3.0                                       # a quaternion of another length
        assert state.set(q, v) is state
        other.set_q(q).set_v(v)
        assert np.array_equal(state._inputs, other._inputs) and np.linalg.norm(state.q[3:7]) == pytest.approx(1.0, abs=1e-15)
    q, v = state.q.copy(), state.v.copy()
    assert np.array_equal(state.set(v=2.0 * v).q, q) and np.array_equal(state.set(q=q).v, 2.0 * v) and state.set() is state
    with pytest.raises(mbros.MbrosError, match="a quaternion of zeros is no rotation"):
        state.set(np.zeros(19), v)
    assert np.array_equal(state.v, 2.0 * v)
    with pytest.raises(mbros.MbrosError, match="q: expected 19 numbers, got None"):
        state.set_q(None)


def test_trial_L1_views_of_the_states_own_memory_are_read_before_they_are_written():
    state = ARM.random_state(3)
    q, v = state.q.copy(), state.v.copy()
    state.set(state.v, state.q)                             # exchanged: both (7,)
    assert np.array_equal(state.q, v) and np.array_equal(state.v, q)
    wanted = ARM.forward_dynamics(ARM.default_state().set(q, v), q)
    assert np.array_equal(ARM.forward_dynamics(state, state.v, q=q, v=v), wanted)


def test_trial_L1_setting_forgets_the_last_step():
    sim = mbros.Simulator(DOG)
    sim.run(0.01)
    assert sim.state._a_prev.any() and DOG.joints[1].reaction(sim.state) is not None
    DOG.forward_dynamics(sim.state, np.zeros(DOG.nv), q=sim.state.q.copy())
    assert not sim.state._a_prev.any()
    with pytest.raises(mbros.errors.StateError, match="no step of a simulation led to this state"):
        DOG.joints[1].reaction(sim.state)


def test_trial_L4_beyond_a_limit_a_state_warns_as_a_joint_does():
    q = np.zeros(7)
    q[1] = 90.0
    with pytest.warns(mbros.PositionLimitWarning) as of_joint:
        ARM.joint("joint2").set_position(ARM.default_state(), 90.0)
    for put in (lambda s: s.set_q(q), lambda s: s.set(q, q), lambda s: setattr(s, "q", q), lambda s: ARM.mass_matrix(s, q=q)):
        state = ARM.default_state()
        with pytest.warns(mbros.PositionLimitWarning) as caught:
            put(state)
        assert [str(w.message) for w in caught] == [str(w.message) for w in of_joint] and caught[0].filename == __file__
        assert state.q[1] == 90.0
    state = ARM.default_state()
    with pytest.warns(mbros.PositionLimitWarning) as caught:
        for k in range(9):                      # a search sets many, in one state: once
            ARM.mass_matrix(state, q=q + 0.01 * k)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ARM.default_state().set(np.append(2.005, np.zeros(6)), q)         # leans on its stop
        mbros.Model.from_state(ARM.default_state()).default_state().set_q(0.01 * q)


def test_trial_L1_single_vectors_in_a_space_are_as_rows_of_a_batch():
    for model in (ARM, DOG, robots.every_joint(), GRIPPER):
        space = model.space()
        rng = np.random.default_rng(1)
        for scale in (1.0, 1e-6, 6.0):
            a, b, v = model.random_configuration(rng), model.random_configuration(rng), scale * rng.normal(size=model.nv)
            for of, x, y in ((space.integrate, a, v), (space.difference, a, b), (space.distance, a, b), (space.d_integrate, a, v),
                             (space.d_difference, a, b)):
                one, many = of(x, y), of(x[None], y[None])
                for single, row in zip(one, many) if isinstance(one, tuple) else [(one, many)]:
                    assert np.allclose(single, row[0], rtol=0, atol=1e-14 * max(1.0, np.abs(row).max())), of
            assert space.is_same(a, a) and not space.is_same(a, b) and space.is_same(a, a[None]).all()
        drawn = space._sample(np.random.default_rng(9), ())
        assert np.allclose(model.random_configuration(np.random.default_rng(9)), drawn, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["drake_2018", "drake", "pinocchio", "mujoco", "hpp", "ros"])
def test_trial_L1_single_vectors_in_a_convention_are_as_rows_of_a_batch(name):
    c = mbros.convention(name)
    for model in (ARM, DOG, GRIPPER, mbros.load("diff_drive"), mbros.load("mobile_arm"), robots.every_joint()):
        rng = np.random.default_rng(2)
        q, v, J = model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=(6, model.nv))
        there = c.to(model, q, v)
        for one, many in ((there, c.to(model, q[None], v[None])), (c.back(model, *there), c.back(model, *(x[None] for x in there))),
                          ((c.to_efforts(model, q, v),), (c.to_efforts(model, q[None], v[None]),)),
                          ((c.from_efforts(model, q, v),), (c.from_efforts(model, q[None], v[None]),)),
                          ((c.to_jacobian(model, q, J),), (c.to_jacobian(model, q[None], J[None]),))):
            for single, row in zip(one, many):
                assert np.allclose(single, row[0], rtol=0, atol=1e-13)
    with pytest.raises(mbros.MbrosError, match="quaternion .* is all zeros, which is no rotation|nan"):
        c.to(DOG, np.zeros(19), np.zeros(18))


def test_trial_L1_contacts_and_reactions_are_those_of_the_rows():
    from mbros.model.reactions import about, carried

    model = mbros.load("quadruped", ground=True)
    sim = mbros.Simulator(model)
    sim.run(0.5)
    rows = model._contact_rows(sim.state)
    found = model.contacts(sim.state)
    assert len(found) == len(rows) == 4 and all(type(c) is type(found[0]) for c in found)
    for c, row in zip(found, rows):
        assert np.array_equal(c.point, row[4:7]) and np.array_equal(c.force, row[10:13]) and c.depth == row[16]
        c.point[:] = 0.0                                    # its own
    assert np.array_equal(model._contact_rows(sim.state), rows)
    step = carried("it", model, sim.state)
    for joint in model.joints:
        for frame in (None, "FL_foot", model.bodies[1].name) if joint.nv else ():
            body = joint._row.compiled_index
            wanted = about(model, step.F[body], step.X_WB[body, 9:], step.X_WB, joint.child, frame)
            F = joint.reaction(sim.state, frame)
            assert np.allclose(F.values, wanted.values, rtol=0, atol=1e-10)
            assert (F.frame, F.expressed_in) == (wanted.frame, wanted.expressed_in)
    before = model.joints[1].reaction(sim.state).values.copy()
    sim.step()
    assert not np.array_equal(model.joints[1].reaction(sim.state).values, before)
