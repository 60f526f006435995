"""ModelBuilder: what it makes, and every refusal with the element's name, the value and a remedy."""
import numpy as np
import pytest

from mbros.build.builder import ContinuousJoint, FloatingJoint, ModelBuilder, PlanarJoint, PrismaticJoint, RevoluteJoint, WeldJoint
from mbros.build.compile.tree import compile_robot
from mbros.errors import MbrosError, ModelError, UnknownNameError
from mbros.spatial.inertia import solid_box

INERTIA = solid_box(2.0, (0.2, 0.3, 0.4))


@pytest.fixture
def b():
    return ModelBuilder("rig")


def body(b, name="plate", **options):
    return b.add_body(name, **{"mass": 2.0, "inertia": INERTIA, **options})


def test_listing_of_the_api_page():
    b = ModelBuilder("rig", gravity=(0, 0, -9.81))
    plate = b.add_body("plate", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.1, 0.2]))
    b.add_joint(PlanarJoint("slide", b.world, plate, damping=(0.1, 0.1, 0.01)))
    compiled = compile_robot(b.describe())
    assert compiled.spec.name == "rig" and compiled.spec.joint_kind == ["weld", "planar"]
    assert compiled.spec.damping.tolist() == [0.1, 0.1, 0.01]
    assert compiled.spec.gravity.tolist() == [0, 0, -9.81]
    assert plate.frame.body is plate


def test_every_option_of_a_joint_arrives(b):
    b.add_joint(RevoluteJoint("hinge", b.world, body(b), axis=(0, 0.6, 0.8), lower=-1, upper=2, velocity=3, effort=4,
                              damping=0.5, friction=0.25, rotor_inertia=1e-3, gear_ratio=-20, default=0.75,
                              stop_stiffness=900, stop_damping=7))
    joint = b.joint("hinge")
    assert joint.axis.tolist() == [0, 0.6, 0.8]
    spec = compile_robot(b.describe()).spec
    for name, value in {"q_lower": -1, "q_upper": 2, "velocity_limit": 3, "effort_limit": 4, "damping": 0.5, "friction": 0.25,
                        "q_default": 0.75, "stop_stiffness": 900, "stop_damping": 7}.items():
        assert getattr(spec, name).tolist() == [value], name
    assert spec.rotor_inertia[0] == pytest.approx(0.4, rel=1e-15)


def test_limits_default_to_none_and_stops_to_zero(b):
    b.add_joint(PrismaticJoint("s", b.world, body(b)))
    spec = compile_robot(b.describe()).spec
    assert spec.q_lower[0] == -np.inf and spec.q_upper[0] == np.inf and spec.effort_limit[0] == np.inf
    assert spec.stop_stiffness[0] == 0 and spec.stop_damping[0] == 0


def test_free_bodies_get_a_floating_joint_of_their_name(b):
    one, two = body(b, "one"), body(b, "two")
    b.add_joint(WeldJoint("w", one, two))
    description = b.describe()
    assert [(j.name, j.kind, j.parent.name, j.child.name) for j in description.joints] == [
        ("w", "weld", "one", "two"), ("one", "floating", "world", "one")]
    assert compile_robot(description).spec.joint_names == ["world", "one"]
    b.describe()            # once more: the builder itself has not changed
    assert len(b.description.joints) == 1


def test_frames_and_offsets(b):
    plate, arm = body(b, "plate"), body(b, "arm")
    corner = b.add_frame("corner", plate, p=(1, 0, 0), rpy=(0, 0, np.pi / 2))
    tip = b.add_frame("tip", corner, p=(1, 0, 0))
    assert np.allclose(tip.X_BF.p, (1, 1, 0), atol=1e-16) and tip.body is plate
    joint = b.add_joint(RevoluteJoint("j", tip, arm, p=(0, 1, 0)))
    assert np.allclose(joint.X_PF.p, (0, 1, 0), atol=1e-15)
    assert joint.parent is plate
    assert [f.name for f in compile_robot(b.describe()).frames][-2:] == ["corner", "tip"]


def test_poses_in_every_spelling(b):
    plate = body(b)
    R = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, (1, 2, 3)
    half = np.sqrt(0.5)

    class Pose:
        pass
    pose = Pose()
    pose.R, pose.p = R, (1, 2, 3)
    for k, how in enumerate(({"rpy": (0, 0, np.pi / 2)}, {"quat_wxyz": (half, 0, 0, half)}, {"R": R}, {"pose": X}, {"pose": pose})):
        xyz = {} if "pose" in how else {"p": (1, 2, 3)}
        frame = b.add_frame(f"f{k}", plate, **xyz, **how)
        assert np.allclose(frame.X_BF.matrix(), X, atol=1e-15)


def test_axes_along_coordinates_are_exact(b):
    for k, axis in enumerate(np.vstack([np.eye(3), -np.eye(3)]) * 1e-300):
        joint = RevoluteJoint(f"j{k}", b.world, body(b, f"b{k}"), axis, normalize_axis=True)
        assert set(np.abs(joint.axis)) == {0.0, 1.0} and not np.signbit(joint.axis[joint.axis == 0]).any()


REFUSALS = {
    "zero axis": (lambda b: RevoluteJoint("j", b.world, body(b), axis=(0, 0, 0)), ["joint 'j'", "no direction", "(0, 0, 1)"]),
    "nan axis": (lambda b: RevoluteJoint("j", b.world, body(b), axis=(0, np.nan, 0)), ["joint 'j'", "axis", "finite"]),
    "flat axis": (lambda b: RevoluteJoint("j", b.world, body(b), axis=(0, 1)), ["joint 'j'", "axis has shape (2,)", "expected (3,)"]),
    "text axis": (lambda b: RevoluteJoint("j", b.world, body(b), axis="z"), ["joint 'j'", "axis is 'z'", "3 numbers"]),
    "nan limit": (lambda b: RevoluteJoint("j", b.world, body(b), lower=np.nan), ["joint 'j'", "lower", "NaN"]),
    "infinite damping": (lambda b: RevoluteJoint("j", b.world, body(b), damping=np.inf), ["joint 'j'", "damping", "finite"]),
    "damping of wrong size": (lambda b: PlanarJoint("j", b.world, body(b), damping=(1, 2)),
                              ["joint 'j'", "damping has shape (2,)", "(3,)"]),
    "default of wrong size": (lambda b: FloatingJoint("j", b.world, body(b), default=(0, 0, 0)), ["joint 'j'", "default", "(7,)"]),
    "no name": (lambda b: RevoluteJoint("", b.world, body(b)), ["joint", "name is ''"]),
    "parent is a number": (lambda b: RevoluteJoint("j", 3, body(b)), ["joint 'j'", "parent is 3", "b.add_body"]),
    "mimic of a number": (lambda b: RevoluteJoint("j", b.world, body(b), mimic=3), ["joint 'j'", "mimic is 3", "(joint, ratio, offset)"]),
    "infinite mass": (lambda b: body(b, mass=np.inf), ["body 'plate'", "mass", "finite"]),
    "com of two": (lambda b: body(b, com=(0, 0)), ["body 'plate'", "com has shape (2,)"]),
    "inertia of six": (lambda b: body(b, inertia=[1, 2, 3, 4, 5, 6]), ["body 'plate'", "inertia has shape (6,)", "3 x 3"]),
    "joint that is none": (lambda b: b.add_joint("hinge"), ["'rig'", "add_joint() was given 'hinge'"]),
    "gravity": (lambda b: ModelBuilder("m", gravity=(0, 0)), ["model 'm'", "gravity", "3 numbers"]),
    "mirror": (lambda b: b.add_frame("f", body(b), R=np.diag([1, 1, -1])), ["frame 'f'", "not a rotation matrix"]),
    "two rotations": (lambda b: b.add_frame("f", body(b), R=np.eye(3), rpy=(0, 0, 0)), ["frame 'f'", "more than one rotation"]),
    "long quaternion": (lambda b: b.add_frame("f", body(b), quat_wxyz=(1, 1, 0, 0)), ["frame 'f'", "length 1.41421356", "w first"]),
    "pose and xyz": (lambda b: b.add_frame("f", body(b), p=(0, 0, 0), pose=np.eye(4)), ["frame 'f'", "both"]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused_where_it_is_given(b, name):
    make, words = REFUSALS[name]
    with pytest.raises(ModelError) as caught:
        make(b)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert isinstance(caught.value, ValueError)


def tree_problems():
    def lower_above_upper(b):
        b.add_joint(RevoluteJoint("j", b.world, body(b), lower=2, upper=1))

    def negative(option, joint=RevoluteJoint, value=-1):
        return lambda b: b.add_joint(joint("j", b.world, body(b), **{option: value}))

    def same_body_names(b):
        body(b, "twin"), body(b, "twin")

    def same_joint_names(b):
        b.add_joint(RevoluteJoint("j", b.world, body(b, "one")))
        b.add_joint(RevoluteJoint("j", b.world, body(b, "two")))

    def frame_named_as_body(b):
        b.add_frame("plate", body(b))

    def world(b):
        body(b, "world")

    def loop(b):
        one, two = body(b, "one"), body(b, "two")
        b.add_joint(RevoluteJoint("j", one, two)), b.add_joint(RevoluteJoint("k", two, one))

    def twice(b):
        plate = body(b)
        b.add_joint(RevoluteJoint("j", b.world, plate)), b.add_joint(RevoluteJoint("k", b.world, plate))

    def onto_itself(b):
        plate = body(b)
        b.add_joint(RevoluteJoint("j", plate, plate))

    def moving_world(b):
        b.add_joint(RevoluteJoint("j", body(b), b.world))

    def foreign(b):
        b.add_joint(RevoluteJoint("j", b.world, ModelBuilder("other").add_body("alien", 1.0, inertia=INERTIA)))

    def foreign_frame(b):
        alien = ModelBuilder("other").add_body("alien")
        b.add_frame("f", alien)

    def mimic_missing(b):
        b.add_joint(RevoluteJoint("finger", b.world, body(b), mimic=("fingr", 2.0)))

    def mimic_circle(b):
        b.add_joint(RevoluteJoint("j", b.world, body(b, "one"), mimic="k"))
        b.add_joint(RevoluteJoint("k", b.world, body(b, "two"), mimic="j"))

    def mimic_of_planar(b):
        b.add_joint(PlanarJoint("k", b.world, body(b, "one")))
        b.add_joint(RevoluteJoint("j", b.world, body(b, "two"), mimic="k"))

    def bad_quaternion(b):
        b.add_joint(FloatingJoint("j", b.world, body(b), default=np.zeros(7)))

    return {
        "limits": (lower_above_upper, ["joint 'j', limit", "lower limit 2 is above its upper limit 1", "Swap"]),
        "damping": (negative("damping"), ["joint 'j'", "damping is -1", "zero or positive"]),
        "damping of three": (negative("damping", PlanarJoint, (0, -0.5, 0)), ["joint 'j'", "damping of coordinate 1 is -0.5"]),
        "friction": (negative("friction"), ["joint 'j'", "friction is -1"]),
        "effort": (negative("effort"), ["joint 'j', limit", "effort is -1"]),
        "velocity": (negative("velocity"), ["joint 'j', limit", "velocity is -1"]),
        "rotor": (negative("rotor_inertia"), ["joint 'j'", "rotor_inertia is -1"]),
        "stop": (negative("stop_stiffness"), ["joint 'j'", "stop_stiffness is -1"]),
        "gear": (negative("gear_ratio", value=0), ["joint 'j'", "gear_ratio is 0"]),
        "body names": (same_body_names, ["body 'twin'", "already taken by body 'twin'"]),
        "joint names": (same_joint_names, ["joint 'j'", "already taken by joint 'j'"]),
        "frame names": (frame_named_as_body, ["frame 'plate'", "already taken by body 'plate'"]),
        "world": (world, ["body 'world'", "reserved", "Rename"]),
        "loop": (loop, ["closed loop", "one", "two", "Take one joint out"]),
        "carried twice": (twice, ["joint 'k'", "'plate' is already carried by joint 'j'"]),
        "onto itself": (onto_itself, ["joint 'j'", "the same body 'plate'"]),
        "moving world": (moving_world, ["joint 'j'", "the world, which does not move", "Swap"]),
        "foreign body": (foreign, ["joint 'j'", "child 'alien' belongs to another model"]),
        "foreign frame": (foreign_frame, ["frame 'f'", "'alien' belongs to another model"]),
        "mimic of nobody": (mimic_missing, ["joint 'finger', mimic", "'fingr', which does not exist; did you mean 'finger'?"]),
        "mimic circle": (mimic_circle, ["mimic", "in a circle: j -> k -> j"]),
        "mimic of planar": (mimic_of_planar, ["joint 'j', mimic", "'k', which is planar"]),
        "quaternion": (bad_quaternion, ["joint 'j'", "no unit quaternion"]),
        "negative mass": (lambda b: body(b, mass=-2), ["body 'plate', inertial", "mass is -2 kg"]),
        "asymmetric": (lambda b: body(b, inertia=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), ["body 'plate'", "not symmetric"]),
        "triangle": (lambda b: body(b, inertia=(1, 1, 3)), ["body 'plate', inertial", "3 > 1 + 1", "triangle"]),
    }


@pytest.mark.parametrize("name", tree_problems())
def test_refused_by_describe(b, name):
    make, words = tree_problems()[name]
    make(b)
    with pytest.raises(ModelError) as caught:
        b.describe()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.file is None and caught.value.remedy


def test_all_problems_at_once(b):
    b.add_joint(RevoluteJoint("j", b.world, body(b, "one", inertia=(1, 1, 9)), damping=-1, lower=1, upper=0))
    b.add_joint(RevoluteJoint("k", b.world, body(b, "two", mass=-1)))
    with pytest.raises(ModelError) as caught:
        b.describe()
    assert len(caught.value.problems) == 4 and str(caught.value).startswith("4 problems")


MASSLESS = {
    "leaf": (lambda b, m: b.add_joint(RevoluteJoint("j", b.world, m)), True),
    "leaf with rotor": (lambda b, m: b.add_joint(RevoluteJoint("j", b.world, m, rotor_inertia=1e-4)), False),
    "welded to a mass": (lambda b, m: (b.add_joint(RevoluteJoint("j", b.world, m)), b.add_joint(WeldJoint("w", m, body(b)))), False),
    "before a mass": (lambda b, m: (b.add_joint(RevoluteJoint("j", b.world, m, (0, 0, 1))),
                                    b.add_joint(RevoluteJoint("k", m, body(b), (1, 0, 0)))), False),
    "twice about one axis": (lambda b, m: (b.add_joint(RevoluteJoint("j", b.world, m, (0, 0, 1))),
                                           b.add_joint(ContinuousJoint("k", m, body(b), (0, 0, 1)))), True),
    "two axes before a point": (lambda b, m: (b.add_joint(RevoluteJoint("j", b.world, m, (0, 0, 1))),
                                              b.add_joint(RevoluteJoint("k", m, b.add_body("point", 1.0, (1, 0, 0)), (0, 1, 0)))), False),
    "point on its axis": (lambda b, m: (b.add_joint(WeldJoint("w", b.world, m)),
                                        b.add_joint(RevoluteJoint("k", m, b.add_body("point", 1.0, (0, 0, 1)), (0, 0, 1)))), True),
    "sliding point": (lambda b, m: (b.add_joint(WeldJoint("w", b.world, m)),
                                    b.add_joint(PrismaticJoint("k", m, b.add_body("point", 1.0)))), False),
    "follower of a mass": (lambda b, m: (b.add_joint(RevoluteJoint("j", b.world, body(b))),
                                         b.add_joint(RevoluteJoint("k", b.world, m, mimic="j"))), False),
    "floating": (lambda b, m: None, True),
    "floating with a load": (lambda b, m: b.add_joint(WeldJoint("w", m, body(b))), False),
    "planar": (lambda b, m: b.add_joint(PlanarJoint("j", b.world, m)), True),
}


@pytest.mark.parametrize("name", MASSLESS)
def test_massless_bodies_are_refused_only_where_motion_is_undefined(b, name):
    make, refused = MASSLESS[name]
    make(b, b.add_body("ghost"))
    description = b.describe()
    if not refused:
        compile_robot(description)
        return
    with pytest.raises(ModelError) as caught:
        compile_robot(description)
    assert "mass" in caught.value.reason and "rotor_inertia" in caught.value.remedy
    assert "joint '" in caught.value.element


def test_impossible_part_of_a_possible_assembly_is_a_warning(b):
    """A sensor with a nonsense tensor, welded to a heavy base."""
    base, sensor = body(b, "base"), body(b, "sensor", mass=1e-3, inertia=(1e-6, 1e-6, 1e-3))
    b.add_joint(WeldJoint("w", base, sensor))
    description = b.describe()
    assert [n.severity for n in description.notes] == ["warning"]
    assert "sensor" in str(description.notes[0]) and "make up for it" in str(description.notes[0])


def test_looking_up_names(b):
    body(b, "left_arm")
    with pytest.raises(UnknownNameError, match="no body 'left_arn' in model 'rig'; did you mean 'left_arm'?"):
        b.body("left_arn")
    with pytest.raises(MbrosError):
        b.joint("x")
    with pytest.raises(KeyError):
        b.frame("x")
    assert b.body("world") is b.world


@pytest.mark.parametrize("com, inertia, warned", [(300.0, 1e-3, False), (3000.0, 1e-3, True), (60.0, 1e-6, False), (70.0, 1e-8, True),
                                                  (3000.0, 1.0, False), (1e9, 0.0, False)])
def test_a_centre_of_mass_that_loses_the_inertia_is_a_warning(com, inertia, warned):
    """A description in mm, say: it is built, and says so."""
    b = ModelBuilder("far")
    body = b.add_body("body", 1.0, (com, 0.0, 0.0), (inertia, inertia, inertia))
    b.add_joint(RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1)))
    notes = [str(note) for note in b.build().description.notes if note.severity == "warning"]
    assert len(notes) == warned
    assert all("body 'body', inertial: the centre of mass is" in note and "expected at most" in note for note in notes)
