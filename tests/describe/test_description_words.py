"""What descriptions can be asked in the words that the parts of models have: defaults, names, groups, the model itself."""
import numpy as np
import pytest
from tolerance import EPS, assert_close

import mbros
import mbros.describe.joints.defaults
from mbros.model.joints import joint as of_model, kinds, mobilizer, topology


def describe(b, make, name="j", **options):
    return b.add_joint(make(name, b.world, b.add_body(name + " body", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)), **options))


ANGLES = {"revolute": mbros.RevoluteJoint, "continuous": mbros.ContinuousJoint,
          "circular": lambda *a: mbros.ContinuousJoint(*a, representation="cos_sin"),
          "screw": lambda *a: mbros.ScrewJoint(*a, pitch_m_per_rad=0.1), "cylindrical": mbros.CylindricalJoint}
LENGTHS = {"prismatic": (mbros.PrismaticJoint, 0.5), "cylindrical": (mbros.CylindricalJoint, 0.5), "planar": (mbros.PlanarJoint, (1, 2)),
           "translation2": (lambda *a: mbros.TranslationJoint(*a, dim=2), (1, 2)), "translation3": (mbros.TranslationJoint, (1, 2, 3))}


@pytest.mark.seed("PJ-14", "PJ-34")
@pytest.mark.parametrize("kind", ANGLES)
def test_default_angle(kind):
    b = mbros.ModelBuilder("rig")
    joint = describe(b, ANGLES[kind])
    rest = joint.defaults.positions[1:]
    joint.defaults.angle = 0.75
    assert_close([joint.defaults.angle, b.build().joint("j").defaults.angle], [0.75] * 2, 2 * EPS)
    assert kind == "circular" or np.array_equal(joint.defaults.positions[1:], rest)
    with pytest.raises(ValueError, match="joint 'j': defaults.angle is nan"):
        joint.defaults.angle = np.nan
    assert_close(joint.defaults.angle, 0.75, 2 * EPS)


@pytest.mark.seed("PJ-14", "PJ-34")
@pytest.mark.parametrize("kind", LENGTHS)
def test_default_translation(kind):
    make, value = LENGTHS[kind]
    b = mbros.ModelBuilder("rig")
    joint = describe(b, make)
    joint.defaults.translation = value
    for one in (joint, b.build().joint("j")):
        assert np.array_equal(one.defaults.translation, value) and np.ndim(one.defaults.translation) == np.ndim(value)
    with pytest.raises(ValueError, match="joint 'j': defaults.translation has shape"):
        joint.defaults.translation = (1, 2, 3, 4)
    assert np.array_equal(joint.defaults.translation, value)


@pytest.mark.seed("PJ-14")
def test_words_of_other_kinds():
    b = mbros.ModelBuilder("rig")
    ball, turn = describe(b, mbros.BallJoint, "ball"), describe(b, mbros.RevoluteJoint, "turn")
    for joint, word in ((ball, "angle"), (ball, "translation"), (turn, "translation"), (turn, "rotation")):
        for call in (lambda: getattr(joint.defaults, word), lambda: setattr(joint.defaults, word, 1.0)):
            with pytest.raises(TypeError, match=f"joint '{joint.name}' .{joint.kind}.: defaults.{word} is for "):
                call()


@pytest.mark.seed("PJ-24", "PJ-25", "QF-13", "QF-14")
@pytest.mark.parametrize("make", [mbros.RevoluteJoint, mbros.PlanarJoint, mbros.FloatingJoint, mbros.WeldJoint, mbros.UniversalJoint])
def test_names_and_abilities(make):
    b = mbros.ModelBuilder("rig")
    mine = describe(b, make)
    b.add_joint(mbros.RevoluteJoint("more", mine.child, b.add_body("one more", 1.0, inertia=(1, 1, 1))))
    built = b.build().joint("j")
    for word in ("positions", "velocities", "position_suffixes", "velocity_suffixes"):
        assert getattr(mine.names, word) == getattr(built.names, word), word
    for word in ("can_rotate", "can_translate", "nq", "nv"):
        assert getattr(mine, word) == getattr(built, word), word
    if mine.nv:
        assert mine.names.positions[0] == built.names.positions[0] == "j_" + mine.names.position_suffixes[0]
        assert mine.names.velocities[0] == built.names.velocities[0] == "j_" + mine.names.velocity_suffixes[0]
    for joint in (mine, built):
        with pytest.raises(IndexError, match="joint 'j' .*position coordinate 9 does not exist"):
            joint.names.positions[9]


@pytest.mark.parametrize("owner, names", [
    (kinds, [name for name in vars(kinds) if name.startswith("Built")]), (of_model, ["Joint"]), (mobilizer, ["Mobilizer"]),
    (topology, ["Topology"]), (mbros.describe.joints.defaults, ["Defaults", "DescribedDefaults"])],
    ids=lambda x: getattr(x, "__name__", ""))
def test_every_word_has_a_docstring(owner, names):
    """angle, set_angle, defaults.angle, mobilizer.subspace, ...: what help() shows says what it is and in which unit."""
    silent = [f"{name}.{word}" for name in names for word, value in vars(getattr(owner, name)).items()
              if not word.startswith("_") and (callable(value) or isinstance(value, property)) and not value.__doc__]
    assert not silent


@pytest.mark.seed("PJ-38", "PJ-39")
def test_groups_and_the_model_of_elements():
    inner = mbros.ModelBuilder("inner")
    joint = describe(inner, mbros.RevoluteJoint, lower=-1.0)
    frame = inner.add_frame("f", joint.child)
    spring = inner.add_force_element(mbros.JointSpring(joint, 0.0, 5.0, name="coil"))
    for kind, element in (("joint", joint), ("body", joint.child), ("frame", frame)):
        with pytest.raises(mbros.MbrosError, match=f"{kind} '.*' is a description and belongs to no model yet: .*model.{kind}"):
            element.model
        assert not hasattr(element, "model") and element.robot == ""
    with pytest.raises(mbros.MbrosError, match=r"'coil'.* belongs to no model yet: .*model.force_elements\['coil'\]"):
        spring.model
    hall = mbros.ModelBuilder("hall")
    hall.add_robot(inner.build(), "left")
    hall.add_robot(inner.build(), "right")
    own = describe(hall, mbros.RevoluteJoint, "own")
    hall.add_force_element(mbros.JointSpring(own, 0.0, 5.0, name="own"))
    model = hall.build()
    assert {e.name: e.robot for e in model.force_elements} == {
        "left/coil": "left", "right/coil": "right", "own": "", "left/j.stop": "left", "right/j.stop": "right"}
    assert spring.robot == "" and model.force_elements["own"].model is model


@pytest.mark.seed("HJ-08")
def test_a_copied_subtree_says_what_it_leaves_behind():
    b = mbros.ModelBuilder("rig")
    lead = describe(b, mbros.RevoluteJoint, "lead", default=0.5)
    follow = describe(b, mbros.RevoluteJoint, "follow", mimic=("lead", 2.0, 0.25))
    b.add_force_element(mbros.LinearSpringDamper(lead.child, follow.child, 0.1, 20, 2, name="between"))
    part = mbros.ModelBuilder.subtree(b.build().joint("follow"))
    assert [str(note) for note in part.description.notes] == [
        "force element 'between' (spring damper): left out: it touches what is outside the subtree of joint 'follow'.",
        "joint 'follow': independent: its leader 'lead' is outside the subtree."]
    model = part.build()
    assert not model.joint("follow").follows and model.joint("follow").defaults.positions.tolist() == [1.25]
    assert len(model.force_elements) == 0
