"""A model is what its spec said when it was built: nothing done to the spec, or to what is in it, reaches the engine's memory (trial A6,
A9)."""
import copy
import dataclasses
import pickle

import numpy as np
import pytest
import robots
import zoo

import mbros
import mbros_core
from mbros_core.errors import MbrosError


def same(a, b):
    """Whether two states begin alike, to the bit."""
    return a._inputs.tobytes() == b._inputs.tobytes()


def test_trial_A6_a_spec_changed_after_the_build_changes_nothing():
    spec = zoo.spec("all_kinds")
    model = mbros_core.Model(spec)
    first = model.default_state()
    tau = np.ones(model.nv)
    before = model.forward_dynamics(first, tau)
    for name in ("q_default", "inertia", "damping", "gravity", "stop_damping", "rotor_inertia", "force_parameters", "lock", "friction"):
        setattr(spec, name, np.full(10**5, 7.0))                # once written to the end behind a State's memory
    spec.effort_limit[:], spec.parent[:], spec.X_BF[:] = np.nan, 99, np.inf
    del spec.body_names[3:], spec.joint_kind[2:], spec.frame_names[:]
    state = model.default_state()
    assert same(state, first) and same(mbros_core.Plant(model).state, first)
    assert np.array_equal(model.forward_dynamics(state, tau), before)
    assert np.isfinite(mbros_core.Plant(model).observe()).all()
    twin = pickle.loads(pickle.dumps(model))
    assert same(twin.default_state(), first) and np.array_equal(twin.forward_dynamics(twin.default_state(), tau), before)


def test_trial_A6_the_spec_of_a_model_cannot_be_changed():
    model = robots.model("branched")
    for name, value in vars(model.spec).items():
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError):
                value.setflags(write=True)
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
    with pytest.raises(AttributeError, match="q_default of the spec of model 'branched' cannot be set: the model is built"):
        model.spec.q_default = np.zeros(10**5)
    with pytest.raises(MbrosError):
        model.spec.gravity = np.zeros(3)
    assert mbros_core.Model(model.spec).spec is model.spec      # nothing is copied that cannot change


def test_trial_A6_copies_of_a_models_spec_are_read_anew():
    """A deep copy or a pickle has arrays that can be written to; so its model takes its own."""
    model = robots.model("branched")
    other = copy.deepcopy(model.spec)
    twin = mbros_core.Model(other)
    other.q_default[:] = 1.0
    assert not twin.default_state().q.any()
    raised = dataclasses.replace(model.spec, q_default=np.ones(model.nq))
    assert mbros_core.Model(raised).default_state().q.all()


@pytest.mark.parametrize("name, value", [
    ("parent", None), ("parent", "up"), ("parent", 3), ("parent", [-1.0, 0.5]), ("leader", np.zeros(3)), ("leader", [2**40] * 11),
    ("gravity", np.zeros((3, 1))), ("gravity", ["a", "b", "c"]), ("inertia", np.zeros(110)), ("body_names", None), ("body_names", [1] * 11),
    ("joint_kind", [None] * 11), ("frame_body", np.zeros((4, 4))), ("frame_body", [0.5] * 14), ("force_body", None), ("force_kind", 3),
    ("force_parameters", np.zeros(5)), ("user_joints", [1]), ("user_forces", None), ("name", 3), ("lock", np.ones(99)), ("lock", "no"),
    ("q_default", np.full(10, np.nan)), ("X_PF", object()), ("ratio", [10**400] * 11), ("damping", np.zeros(10, complex))])
def test_trial_A14_whatever_is_wrong_with_a_spec_is_of_the_family(name, value):
    spec = dataclasses.replace(zoo.spec("branched"), **{name: value})
    with pytest.raises(MbrosError, match=name if name not in ("user_joints", "user_forces", "name") else "ModelSpec"):
        mbros_core.Model(spec)


def test_trial_A14_something_that_is_no_spec():
    for wrong in (None, 3, {}, "panda", zoo):
        with pytest.raises(MbrosError, match="Model: expected a mbros_core.spec.ModelSpec, got"):
            mbros_core.Model(wrong)


class Slide(mbros.JointLaw):
    nq = nv = 1

    def pose(self, q):
        return np.eye(3), np.array([q[0], 0.0, 0.0])

    def subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        return np.zeros(6)


def with_law(law):
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 1.0, (0.1, 0.0, 0.0), np.diag([1.0, 1.0, 1.0]))
    b.add_joint(mbros.CustomJoint("mine", b.world, body, law))
    return b


def test_trial_A9_a_law_that_changes_its_sizes_after_the_build():
    """The engine has as much room as the law asked for when the model was built, and gives and takes that many numbers."""
    law = Slide()
    model = with_law(law).build()
    state = model.default_state()
    expected = model.forward_dynamics(state, [1.0])
    law.nv = law.nq = 6
    state.q[0] += 0.5
    assert np.array_equal(model.forward_dynamics(state, [1.0]), expected)
    assert model.velocity_to_qdot(state, [2.0]).tolist() == [2.0] and model.integrate(state.q, [1.0]).tolist() == [1.5]
    batch = mbros_core.Batch(model)
    out = np.zeros((1, 1))
    assert batch.forward_dynamics(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), out) == -1 and np.array_equal(out[0], expected)
    state.q[0] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"q\[0\] \(joint 'mine.?'\) is nan"):
        model.forward_dynamics(state, [1.0])


def test_trial_A9_a_law_and_its_capsule_that_disagree_are_refused():
    """By the engine itself: the struct of a capsule, which decides how much is written, is not believed."""
    spec = with_law(Slide()).build().spec
    law = Slide()
    assert law.capsule
    law.nq = law.nv = 2
    law.position_names = law.velocity_names = ("a", "b")
    wrong = dataclasses.replace(spec, user_joints={1: law}, **{name: np.zeros(2) for name in (
        "q_default", "q_lower", "q_upper", "velocity_limit", "effort_limit", "damping", "friction", "rotor_inertia", "stop_stiffness",
        "stop_damping", "lock")})
    with pytest.raises(MbrosError, match=r"joint 'mine': .* says nq 2, nv 2.*struct in its capsule nq 1, nv 1"):
        mbros_core.Model(wrong)

    class Bare:
        nq = nv = 1
        capsule = object()

    with pytest.raises(MbrosError, match="joint 'mine': expected an object with a PyCapsule named 'mbros_core.user_joint'"):
        mbros_core.Model(dataclasses.replace(spec, user_joints={1: Bare()}))
    for sizes in ((0, 0), (8, 1), (1, 2), (True, True), (1.0, 1.0), ("1", "1")):
        law = Slide()
        law.nq, law.nv = sizes
        with pytest.raises(MbrosError, match="joint 'mine' of kind 'user': expected ModelSpec.user_joints"):
            mbros_core.Model(dataclasses.replace(spec, user_joints={1: law}))
