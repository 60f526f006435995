"""A built model does not change: not with its builder, and not through its parts."""
import copy
import dataclasses
import pickle

import mbros_core
import numpy as np
import pytest
import seed_models
from custom_laws import Slide

import mbros


class Tie(mbros.ForceElement):
    k = 100.0

    def wrench(self, pose, velocity):
        return np.zeros(3), -self.k * pose.p


class Motor(mbros.RevoluteJoint):
    """A user's own kind of revolute joint, which knows more."""

    def __init__(self, *args, part_number, **options):
        super().__init__(*args, **options)
        self.part_number = part_number


@pytest.fixture
def b():
    b = mbros.ModelBuilder("rig")
    x, d = seed_models.box(b, "x"), seed_models.box(b, "d")
    b.add_joint(mbros.PlanarJoint("pl", b.world, x, damping=(0.1, 0.2, 0.3), default=(1, 2, 3)))
    b.add_joint(mbros.RevoluteJoint("lead", x, d, p=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("follow", d, seed_models.box(b, "e"), mimic=("lead", 2.0, 0.5)))
    b.add_joint(mbros.CustomJoint("slope", d, seed_models.box(b, "f"), Slide()))
    b.add_frame("tip", d, (0, 0, 1), tags={"gripper": True})
    b.add_force_element(mbros.LinearSpringDamper(b.frame("tip"), x, 0.1, 20, 2, name="spring"))
    b.add_force_element(mbros.JointSpring(b.joint("lead"), 0.0, 5.0, name="coil"))
    b.add_force_element(Tie(b.world, d, name="tie"))
    return b


def spoil(b):
    """Change everything that can be changed in a description."""
    b.description.gravity[:] = 0.0
    joint = b.joint("pl")
    joint.defaults.damping, joint.defaults.positions = (7, 8, 9), (0, 0, 0)
    joint.limits.position.lower[0] = joint.friction[0] = 0.25
    joint.X_PF = mbros.Pose(np.eye(3), np.ones(3))
    b.joint("follow").mimic.ratio = 5.0
    b.joint("lead").X_PF.p[0] = 7.0
    b.body("x").mass, b.body("x").com[0] = 55.0, 9.0
    b.body("d").inertia[:] = np.eye(3)
    b.frame("tip").X_BF.p[0], b.frame("tip").tags["gripper"] = 4.0, False
    for element in b.description.force_elements:
        element.parameters[:] = 3.0
    b.add_body("more", 1.0)


def numbers(model):
    """What a model computes and says of itself."""
    state = model.default_state()
    return [state.q, state.damping, state.gravity, state.friction, model.mass_matrix(state), model.pose(state, "e").matrix,
            model.forward_dynamics(state, np.ones(model.nv)), model.pose(state, "tip").p, model.joint("pl").limits.position.lower,
            [body.mass for body in model.bodies], model.body("x").com, [model.frame("tip").tags["gripper"]]]


@pytest.mark.seed("PJ-43", "RM-23", "RM-25")
def test_a_model_does_not_change_with_its_builder(b):
    model, want = b.build(), numbers(b.build())
    spoil(b)
    part = mbros.ModelBuilder("hall")
    part.add_robot(model, "r")
    for other in (model, mbros.ModelBuilder(model).build(), pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.deepcopy(model),
                  mbros.ModelBuilder(pickle.loads(pickle.dumps(model))).build()):
        for got, value in zip(numbers(other), want, strict=True):
            assert np.array_equal(got, value)
    hall = part.build()
    assert hall.default_state().damping.tolist() == model.default_state().damping.tolist()
    assert [body.mass for body in hall.bodies] == [body.mass for body in model.bodies]
    assert mbros.ModelBuilder.subtree(model.joint("lead")).build().body("d").inertia.tolist() == model.body("d").inertia.tolist()


@pytest.mark.seed("PJ-43")
def test_the_description_of_a_model_is_a_copy(b):
    model = b.build()
    assert model.description.joints[0] is not b.joint("pl") and model.description.world is not b.world
    want = numbers(model)
    spoil_me = model.description
    spoil_me.joints[0].damping[:], spoil_me.bodies[0].mass = 9.0, 9.0
    for got, value in zip(numbers(mbros.ModelBuilder(model).build()), want, strict=True):
        assert np.array_equal(got, value)


def test_what_users_wrote_in_code_is_shared(b):
    """mbros does not copy joint laws and force elements in Python: the objects that a user holds are those that run."""
    law, tie = b.joint("slope").kind.law, b.description.force_elements[2]
    model = b.build()
    assert model.joint("slope")._row.kind.law is law
    state = model.default_state()
    before = model.force_elements["tie"].wrench(state).force
    tie.k = 200.0
    assert np.array_equal(model.force_elements["tie"].wrench(state).force, 2 * before) and before.any()
    other = mbros.ModelBuilder(model).build()
    assert np.array_equal(other.force_elements["tie"].wrench(other.default_state()).force, 2 * before)


FROZEN = {
    "model": (lambda m: m, ("joints", "bodies", "frames", "force_elements", "description", "name", "spec", "anything")),
    "joint": (lambda m: m.joint("pl"), ("lower", "upper", "effort_limit", "velocity_limit", "model", "q_slice", "parent", "mimic", "index",
                                        "default_damping", "placement", "name", "anything")),
    "body": (lambda m: m.body("x"), ("mass", "com", "inertia", "model", "name", "frame")),
    "frame": (lambda m: m.frame("tip"), ("name", "body_name", "index", "tags")),
    "force element": (lambda m: m.force_elements["spring"], ("stiffness", "frame_a", "model", "robot")),
}


@pytest.mark.seed("PJ-30", "PJ-39", "PJ-43")
@pytest.mark.parametrize("what", FROZEN)
def test_parts_refuse_to_change(b, what):
    model = b.build()
    find, names = FROZEN[what]
    for name in names:
        with pytest.raises(mbros.FrozenModelError, match=f"{what} .*{name} cannot change.*ModelBuilder"):
            setattr(find(model), name, 55)
    with pytest.raises(mbros.FrozenModelError, match="cannot change"):
        delattr(find(model), names[0])


@pytest.mark.parametrize("made", ["built", "clone", "pickle"])
def test_arrays_of_parts_are_read_only(b, made):
    model = {"built": lambda m: m, "clone": lambda m: copy.deepcopy(m), "pickle": lambda m: pickle.loads(pickle.dumps(m))}[made](b.build())
    joint, spring = model.joint("pl"), model.force_elements["spring"]
    for array in (model.body("x").com, model.body("x").inertia, joint.placement.p, joint.placement.R, model.joint("lead").placement.p,
                  joint.limits.position.lower, joint.limits.velocity.lower, model.spec.damping, model.spec.inertia, model.spec.q_default,
                  model.spec.gravity, model.spec.force_parameters, joint._row.X_PF.p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 77.0
    with pytest.raises(TypeError):
        model.frame("tip").tags["gripper"] = False
    joint.placement.p = np.ones(3)                               # of a copy
    assert not joint.placement.p.any() and spring.default("stiffness") == 20.0
    with pytest.raises(AttributeError):
        joint._row.damping = np.zeros(3)
    with pytest.raises(AttributeError, match="damping of the spec of model 'rig' cannot be set: the model is built"):
        model.spec.damping = np.zeros(3)
    other = dataclasses.replace(model.spec, damping=np.full(model.nv, 9.0))
    other.friction = np.ones(model.nv)
    assert mbros_core.Model(other).default_state().damping[0] == 9.0 and model.default_state().damping[0] == 0.1


@pytest.mark.seed("PJ-43")
def test_copies_of_parts(b):
    """A copy of a part is the part; a deep copy or a pickle is the same part of another model."""
    model = b.build()
    for part in (model.joint("pl"), model.body("x"), model.frame("tip"), model.force_elements["spring"]):
        assert copy.copy(part) is part
        for other in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
            assert other.name == part.name and other.model is not model
            assert other is getattr(other.model, part._LIST)[part.name]
    both = copy.deepcopy([model, model.joint("pl")])
    assert both[1] is both[0].joint("pl")


@pytest.mark.parametrize("made",
                         [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b)), lambda b: mbros.ModelBuilder(b.build())],
                         ids=["copy", "deepcopy", "pickle", "to_builder"])
def test_copies_of_builders(b, made):
    want = numbers(b.build())
    other = made(b)
    hall = mbros.ModelBuilder("hall")
    hall.add_robot(other, "r")
    assert hall.build().joint("r/pl").defaults.damping.tolist() == [0.1, 0.2, 0.3]
    assert other.joint("pl").owner is other and b.joint("pl").owner is b
    other.joint("pl").add_child(mbros.RevoluteJoint("extra", None, seed_models.box(other, "extra")))
    other.build()
    spoil(other)
    for got, value in zip(numbers(b.build()), want, strict=True):
        assert np.array_equal(got, value)


@pytest.mark.parametrize("made",
                         [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b)), lambda b: mbros.ModelBuilder(b.build()),
                                  lambda b: mbros.ModelBuilder(copy.deepcopy(b.build()))],
                         ids=["copy", "deepcopy", "pickle", "to_builder", "clone"])
def test_joints_of_users_own_classes_are_copied_whole(b, made):
    b.add_joint(Motor("m", b.body("d"), seed_models.box(b, "rotor"), part_number="4711", damping=0.5))
    other = made(b).joint("m")
    assert type(other) is Motor and other is not b.joint("m") and (other.part_number, other.damping.tolist()) == ("4711", [0.5])


def test_copies_of_states(b):
    model = b.build()
    state = model.random_state(1)
    for other in (copy.copy(state), state.copy()):
        assert other is not state and other.model is model and np.array_equal(other.q, state.q)
        other.q[0] += 1.0
        assert other.q[0] != state.q[0]
    for other in (copy.deepcopy(state), copy.deepcopy({"state": state})["state"], pickle.loads(pickle.dumps(state))):
        assert other.model is not model and np.array_equal(other.q, state.q)            # as with parts: of a copy of the model
