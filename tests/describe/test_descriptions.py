"""Attributes of descriptions: set to what people write, brought into shape or refused by name; options that mean what they say."""
import numpy as np
import pytest

import mbros

INF = np.inf


@pytest.fixture
def b():
    b = mbros.ModelBuilder("rig")
    x, y = (b.add_body(name, 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)) for name in "xy")
    b.add_joint(mbros.PlanarJoint("pl", b.world, x))
    b.add_joint(mbros.RevoluteJoint("r", x, y))
    return b


def more(b, make, name="new", **options):
    return b.add_joint(make(name, b.world, b.add_body(name + " body", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)), **options))


ATTRIBUTES = ("damping", "default", "friction", "effort", "rotor_inertia", "stop_stiffness", "stop_damping", "gear_ratio", "upper",
              "velocity_upper", "acceleration_upper")


@pytest.mark.seed("PJ-05", "PJ-30", "PJ-34")
@pytest.mark.parametrize("what", ATTRIBUTES)
def test_lists_are_taken_as_arrays(b, what):
    setattr(b.joint("pl"), what, [1, 2, 3])
    model = b.build()
    for twin in (model, mbros.ModelBuilder(model).build()):
        assert getattr(twin.description.joints[0], what).tolist() == [1.0, 2.0, 3.0]
    for wrong, words in (([1, 2], r"has shape \(2,\), expected \(3,\)"), (-1.0, r"has shape \(\), expected \(3,\)"),
                         ([1, "x", 3], "is .1, 'x', 3")):
        setattr(b.joint("pl"), what, wrong)
        with pytest.raises(mbros.ModelError, match=f"joint 'pl': {what} {words}"):
            b.build()
        assert getattr(b.joint("pl"), what) is wrong, "a refused description is not changed"


WRONG = {
    "parent": ("pl", None, "joint 'pl': its parent is None. Give a body"),
    "child": ("pl", "x", "joint 'pl': its child is 'x'. Give a body"),
    "name": ("pl", 3, "joint: its name is 3. Give a non-empty string"),
    "kind": ("pl", "plane", "joint 'pl': its kind is 'plane'. The kinds are"),
    "X_PF": ("pl", np.eye(3), r"joint 'pl': pose has shape \(3, 3\), expected \(4, 4\)"),
    "X_BM": ("pl", None, "joint 'pl': X_BM is None"),
    "axis": ("r", (0, 1), r"joint 'r': axis has shape \(2,\)"),
    "locked": ("r", "no", "joint 'r': locked is 'no'. Give True or False"),
    "mimic": ("r", 3, "joint 'r': mimic is 3"),
    "parameters": ("r", (1.0,), r"joint 'r': its parameters are \(1.0,\). Give 0 numbers"),
    "damping": ("pl", np.array([1, np.nan, 3]), "joint 'pl': damping of coordinate 1 is nan"),
    "friction": ("pl", [1, 2, np.nan], r"joint 'pl': friction\[2\] is nan"),
    "lower": ("r", np.array([np.nan]), "joint 'r', limit: lower limit nan and upper limit inf are not both numbers. NaN is not a limit"),
    "upper": ("pl", np.array([0, -INF, 0]), "joint 'pl', limit: lower limit -inf of coordinate 1 and upper limit -inf leave no position"),
    "acceleration_upper": ("r", np.array([-INF]), "joint 'r', limit: lower acceleration limit -inf and upper limit -inf leave no"),
    "velocity_lower": ("pl", np.array([0, 5.0, 0]), None),
}


@pytest.mark.seed("PJ-05", "PJ-33")
@pytest.mark.parametrize("what", WRONG)
def test_attributes_that_cannot_be(b, what):
    name, value, words = WRONG[what]
    setattr(b.joint(name), what, value)
    if words is None:
        b.joint(name).velocity_upper = np.array([1.0, 4.0, 1.0])
        words = "joint 'pl', limit: lower velocity limit 5 of coordinate 1 is above its upper limit 4. Swap them"
    with pytest.raises(mbros.ModelError, match=words):
        b.build()


def test_crossed_acceleration_limits(b):
    b.joint("r").acceleration_lower, b.joint("r").acceleration_upper = [5.0], [-5.0]
    with pytest.raises(mbros.ModelError, match="lower acceleration limit 5 is above its upper limit -5"):
        b.build()


def test_bodies_and_frames_too(b):
    frame = b.add_frame("f", b.body("x"))
    b.body("x").mass, b.body("x").com, frame.X_BF = 3, [1, 2, 3], np.eye(4)
    assert b.build().body("x").com.tolist() == [1, 2, 3] and type(b.build().body("x").mass) is float
    b.body("x").inertia, frame.body, b.body("y").mass = [1, 2, 3], "x", None
    with pytest.raises(mbros.ModelError) as caught:
        b.build()
    assert [(p.element, p.reason) for p in caught.value.problems] == [
        ("body 'x'", "inertia has shape (3,), expected (3, 3)"), ("body 'y'", "mass is None"), ("frame 'f'", "its body is 'x'")]


@pytest.mark.seed("PJ-30")
def test_names_and_matrices_are_taken_where_they_are_meant(b):
    b.joint("r").X_PF = X = np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]])
    more(b, mbros.RevoluteJoint).mimic = "r"
    model = b.build()
    assert np.array_equal(model.joint("r").placement.matrix(), X) and model.joint("new").mimic == ("r", 1.0, 0.0)


@pytest.mark.seed("HJ-24")
def test_limits_that_leave_nothing(b):
    for lower, upper in ((INF, INF), (-INF, -INF)):
        for call in (lambda: b.joint("pl").set_bounds(0, lower, upper), lambda: b.joint("pl").set_position_limits(lower, upper),
                     lambda: b.joint("pl").set_velocity_limits(lower, upper)):
            with pytest.raises(mbros.ModelError, match="joint 'pl', limit: lower .* of coordinate 0 and upper limit .*inf leave no"):
                call()
    assert b.joint("pl").limits.position[0] == (-INF, INF)


@pytest.mark.seed("PJ-33")
def test_limits_and_default_positions(b):
    """A default that was set stays, as in Drake; one that was not is neutral, or midway between limits that exclude it."""
    joint = b.joint("r")
    joint.defaults.positions = [0.0]
    joint.set_position_limits(1, 2)
    assert joint.defaults.positions.tolist() == [0.0] == b.build().joint("r").defaults.positions.tolist()
    joint = b.joint("pl").set_position_limits((1, -3, -INF), (2, INF, -1))
    assert joint.default is None and joint.defaults.positions.tolist() == [1.5, 0.0, -1.0]
    assert b.build().joint("pl").defaults.positions.tolist() == [1.5, 0.0, -1.0]
    assert joint.set_position_limits(-1, 1).defaults.positions.tolist() == [0, 0, 0]


LIMITS = mbros.JointLimits
OPTIONS = {
    "pair for limits": (mbros.RevoluteJoint, {"limits": ((-1, 1),)}, r"joint 'new': limits is \(\(-1, 1\),\). Give mbros.JointLimits"),
    "limits and lower": (mbros.RevoluteJoint, {"limits": LIMITS(position=(-1, 1)), "lower": -2}, "position limits are given twice.*lower="),
    "limits and velocity": (mbros.RevoluteJoint, {"limits": LIMITS(velocity=(-1, 1)), "velocity": 2}, "velocity limits are given twice"),
    "locked": (mbros.RevoluteJoint, {"locked": "no"}, "joint 'new': locked is 'no'. Give True or False"),
    "tolerance": (mbros.RevoluteJoint, {"axis_tolerance": "x"}, "joint 'new': axis_tolerance is 'x'. Give 1 number"),
    "normalize": (mbros.RevoluteJoint, {"normalize_axis": "yes"}, "joint 'new': normalize_axis is 'yes'"),
}


@pytest.mark.seed("PJ-17", "RM-03")
@pytest.mark.parametrize("what", OPTIONS)
def test_options_that_are_not_what_they_seem(b, what):
    make, options, words = OPTIONS[what]
    with pytest.raises(mbros.ModelError, match=words):
        more(b, make, **options)


@pytest.mark.seed("PJ-17", "HJ-03")
def test_options_are_not_dropped(b):
    with pytest.raises(TypeError, match="PlanarJoint.. got an unexpected option 'axis_tolerance'"):
        more(b, mbros.PlanarJoint, axis_tolerance=1e-3)
    bounded = more(b, mbros.BoundedRotation, "turn", limits=LIMITS(velocity=(-2, 2)))
    assert bounded.limits.position[0] == (-np.pi, np.pi) and bounded.velocity.tolist() == [2.0]
    assert more(b, mbros.BoundedRotation, "half", lower=0.0).limits.position[0] == (0.0, np.pi)
    assert more(b, mbros.BoundedRotation, "given", limits=LIMITS(position=(-1, 1))).limits.position[0] == (-1.0, 1.0)
    both = more(b, mbros.RevoluteJoint, "both", limits=LIMITS(velocity=(-2, 3)), lower=-1.0)
    assert both.limits.position[0] == (-1.0, INF) and both.limits.velocity[0] == (-2.0, 3.0)
    for lost in (lambda: setattr(both.limits.position, "upper", 3), lambda: setattr(both.limits, "velocity", None),
                 lambda: setattr(b.build().joint("both").limits.position, "upper", 3)):
        with pytest.raises(mbros.MbrosError, match="cannot be set.*set_position_limits"):
            lost()


def test_followers_have_nothing_of_their_own_to_lock_draw_or_start_at(b):
    follower = more(b, mbros.RevoluteJoint, mimic=("r", 2.0, 0.5), locked=True, default=0.25)
    follower.defaults.set_random(theta=mbros.Uniform(0, 1))
    with pytest.raises(mbros.ModelError) as caught:
        b.build()
    assert [p.reason.split(",")[0] for p in caught.value.problems] == ["it is locked", "it has a random position"]
    follower.locked, follower.random = False, None
    b.joint("r").defaults.positions = [1.0]
    model = b.build()
    (note,) = model.description.notes
    assert note.severity == "warning" and "its default position is not used" in str(note)
    built = model.joint("new")
    assert built.defaults.positions.tolist() == built.position(model.default_state()).tolist() == [2.5] and built.defaults.angle == 2.5


@pytest.mark.seed("PJ-31", "PJ-06")
def test_damping_of_leader_and_follower_is_one_number(b):
    b.joint("r").defaults.damping = 0.1
    more(b, mbros.RevoluteJoint, mimic=("r", 2.0), damping=3.0)
    model = b.build()
    state = model.default_state()
    lead, follow = model.joint("r"), model.joint("new")
    assert lead.damping(state) == follow.damping(state) == 0.1 + 2.0**2 * 3.0
    assert lead.defaults.damping == 0.1 and follow.defaults.damping == 3.0


@pytest.mark.seed("QF-11")
def test_damping_of_floating_joints_as_a_pair(b):
    for make in (mbros.FloatingJoint, mbros.FloatingRpyJoint):
        joint = more(b, make, make.__name__, damping=(1, 2))
        assert joint.damping.tolist() == [1, 1, 1, 2, 2, 2]
        joint.defaults.damping = (3.0, 4.0)
        model = b.build()
        built, state = model.joint(make.__name__), model.default_state()
        assert built.defaults.damping.tolist() == built.damping(state).tolist() == [3, 3, 3, 4, 4, 4]
        assert built.set_damping(state, (5, 6)).damping(state).tolist() == [5, 5, 5, 6, 6, 6]
        with pytest.raises(ValueError, match=r"damping\[3\] is -1"):
            built.set_damping(state, (5, -1))
        assert built.damping(state).tolist() == [5, 5, 5, 6, 6, 6]
