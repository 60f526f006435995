"""Given contacts as people write them: every way that says the same, and what is refused, in words."""
import numpy as np
import pytest

import mbros
from mbros import diff
from mbros.diff import RigidContact


def test_what_is_written_in_other_ways(rng):
    """Indices and frames for names, whole numbers and NumPy's for gains and rows, lists for efforts, any iterable of contacts."""
    model = mbros.load("humanoid", base="floating")
    state, tau = model.random_state(rng), rng.normal(size=model.nv)
    exact = diff.contact_dynamics(model, state, tau, [RigidContact("left_foot", 6, 0.0, 20.0), RigidContact("right_foot", 3)], 1e-3)
    left, right = model.frame("left_foot"), model.frame("right_foot")
    for contacts, mu, efforts in (
            ([RigidContact(left, 6, 0, 20), RigidContact(right.index, np.int64(3))], 1e-3, tau),
            (iter([RigidContact("left_foot", np.int32(6), np.float64(0.0), np.float32(20.0)), RigidContact(right)]), np.float64(1e-3), tau),
            ((RigidContact("left_foot", 6, kd=20), RigidContact(right)), np.array(1e-3), list(tau)),
            ([RigidContact("left_foot", 6, 0.0, 20.0), RigidContact("right_foot", 3)], 1e-3, np.repeat(tau, 2)[::2])):
        for a, b in zip(diff.contact_dynamics(model, state, efforts, contacts, mu), exact):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("contacts, mu, words", [
    ([("flange", 3, 0.0, 0.0, None)], 0.0, "contacts: expected mbros.diff.RigidContact"),
    ([RigidContact("flange", 3.0)], 0.0, "contact of 'flange': rows"), ([RigidContact("flange", True)], 0.0, "contact of 'flange': rows"),
    ([RigidContact("flange", 3, kd=np.nan)], 0.0, "contact of 'flange': kd is nan"),
    ([RigidContact("flange", 3, kd=10**400)], 0.0, "contact of 'flange': kd"),
    ([RigidContact(["flange"], 3)], 0.0, "expected the name of a frame"),
    ([RigidContact("flange")], -1.0, "mu: expected a number, 0 or more"),
    ([RigidContact("flange")], np.inf, "mu is inf"), ([RigidContact("flange")], "soft", "mu: expected a number"),
    ([RigidContact("flange", 6, 1.0, pose=np.diag([1.0, 1.0, -1.0, 1.0]))], 0.0, "is not a rotation matrix"),
    ([RigidContact("flange", 6, 1.0, pose=np.diag([1.001, 1.001, 1.001, 1.0]))], 0.0, "is not a rotation matrix"),
    ([RigidContact("flange", 3, 1.0, pose=np.diag([1.0, 1.0, 1.0, np.inf]))], 0.0, "p")])
def test_refused_in_words(contacts, mu, words):
    model = mbros.load("arm7")
    with pytest.raises(mbros.MbrosError, match=words) as refused:
        diff.contact_dynamics(model, model.default_state(), np.zeros(7), contacts, mu)
    assert "contact_dynamics of model 'arm7'" in str(refused.value) or "frame" in words


def test_states_and_efforts_are_refused_in_words():
    model, other = mbros.load("arm7"), mbros.load("arm6")
    state, held = model.default_state(), [RigidContact("flange", 3)]
    for tau, words in ((np.zeros(6), "tau: expected 7 numbers, got shape"), (np.full(7, np.nan), r"tau\[0\] is nan"),
                       ("push", "tau: expected"), (None, "tau: expected")):
        with pytest.raises(mbros.MbrosError, match="contact_dynamics of model 'arm7': " + words):
            diff.contact_dynamics(model, state, tau, held)
    for ask in (lambda s: diff.contact_dynamics(model, s, np.zeros(7), held), lambda s: diff.contact_impulse(model, s, held)):
        with pytest.raises(mbros.StateError, match="of model 'arm7': a state of model 'arm6' was given"):
            ask(other.default_state())
    with pytest.raises(mbros.MbrosError, match="restitution: expected a number from 0 to 1, got 1.5"):
        diff.contact_impulse(model, state, held, 1.5)
    with pytest.raises(mbros.MbrosError, match="expected a built model"):
        diff.contact_dynamics("arm7", state, np.zeros(7), held)
    with pytest.raises(mbros.NonFiniteError, match=r"contact_dynamics of model 'arm7': .*the largest input is tau with 1e\+308"):
        diff.contact_dynamics(model, state, np.full(7, 1e308), held)
    state.q[2] = np.inf
    with pytest.raises(mbros.NonFiniteError, match=r"contact_dynamics of model 'arm7': q\[2\] \(joint 'joint3'\) is inf"):
        diff.contact_dynamics(model, state, np.zeros(7), held)


def test_efforts_on_locked_joints_are_read_all_the_same(rng):
    model = mbros.load("arm7")
    state, tau = model.random_state(rng), rng.normal(size=model.nv)
    model.joint("joint2").lock(state)
    tau[1] = np.inf
    with pytest.raises(mbros.NonFiniteError, match=r"tau\[1\] is inf"):
        diff.contact_dynamics(model, state, tau, [RigidContact("flange", 3)])
