"""Every error case the catalogue names for joints and models: the exception, what its sentence says, and that nothing has changed.

A row: seed id, the call on a Rig, the exception, words that must be in its sentence (element, index, value, what was expected or
what to do). Bushings, spaces and conventions: test_error_cases_beyond.py.
"""
import copy

import numpy as np
import pytest
from error_rig import Rig, build, check, table

import mbros
from mbros.errors import UnbuiltError

NAN, INF = np.nan, np.inf
Error, Model, Frozen, Index, Kind, State, NotFinite, Unknown = (
    mbros.MbrosError, mbros.ModelError, mbros.FrozenModelError, mbros.CoordinateIndexError, mbros.JointKindError, mbros.StateError,
    mbros.NonFiniteError, mbros.UnknownNameError)


def put(element, **attributes):
    for name, value in attributes.items():
        setattr(element, name, value)


def planar(r, **options):
    return mbros.PlanarJoint("new", r.world, r.body(), **options)


def revolute(r, axis, **options):
    return mbros.RevoluteJoint("new", r.world, r.body(), axis, **options)


def twice(kind):
    """A model with two elements of one name."""
    b = build()
    if kind == "body":
        b.add_body("r_body", 1.0, (0, 0, 0), (1, 1, 1))
    elif kind == "joint":
        b.add_joint(mbros.RevoluteJoint("r", b.world, b.add_body("more", 1.0, (0, 0, 0), (1, 1, 1))))
    elif kind == "frame":
        b.add_frame("r_body", b.world)
    else:
        b.add_force_element(mbros.JointSpring(b.joint("ci"), stiffness=1.0, name="spring"))
    return b.build()


def loop(mimic=False):
    b = mbros.ModelBuilder("loop")
    x, y = (b.add_body(name, 1.0, (0, 0, 0), (1, 1, 1)) for name in "xy")
    parents = (b.world, b.world) if mimic else (x, y)
    b.add_joint(mbros.RevoluteJoint("a", parents[0], y, mimic="b" if mimic else None))
    b.add_joint(mbros.RevoluteJoint("b", parents[1], x, mimic="a" if mimic else None))
    return b.build()


def described(r, name, value):
    """A description with an attribute that cannot be, when it is built."""
    b = build()
    setattr(b.joint("pl"), name, value)
    return b.build()


@pytest.fixture(scope="module")
def rig():
    return Rig()


ROWS = [
    # ------------------------------------------------------------------------------------------------ planar joint, joints
    ("PJ-05", lambda r: planar(r, damping=(0.1, -0.25, 0.3))._label and described(r, "damping", np.array([0.1, -0.25, 0.3])), Model,
     ["joint 'pl'", "damping of coordinate 1 is -0.25", "zero or positive"]),
    ("PJ-05", lambda r: described(r, "damping", np.array([0, 0, NAN])), Model, ["joint 'pl'", "damping", "coordinate 2", "nan"]),
    ("PJ-06", lambda r: put(r.d("pl").defaults, damping=(1, 1, -1)), Model, ["joint 'pl'", "damping of coordinate 2 is -1"]),
    ("PJ-09", lambda r: r.j("pl").set_translation(r.s, (1, 2, 3)), Error, ["joint 'pl'", "translation", "2 numbers", "(3,)"]),
    ("PJ-10", lambda r: r.j("pl").set_rotation(r.s, "x"), Error, ["joint 'pl'", "rotation", "1 number", "'x'"]),
    ("PJ-11", lambda r: r.j("pl").set_pose(r.s, xy=(1, 2), theta=NAN), NotFinite, ["joint 'pl'", "nan", "finite"]),
    ("PJ-11", lambda r: r.j("pl").set_pose(r.s, xy=(INF, 2), theta=1), NotFinite, ["joint 'pl'", "[0] is inf", "finite"]),
    ("PJ-12", lambda r: r.j("pl").set_translational_velocity(r.s, 1.0), Error, ["joint 'pl'", "translational_velocity", "2 numbers"]),
    ("PJ-13", lambda r: r.j("pl").set_angular_velocity(r.s, (1, 2)), Error, ["joint 'pl'", "angular_velocity", "1 number", "(2,)"]),
    ("PJ-14", lambda r: r.d("pl").defaults.set_planar_pose((1, NAN), 0), Model, ["joint 'pl'", "[1] is nan", "finite"]),
    ("PJ-15", lambda r: r.d("pl").defaults.set_random(tehta=mbros.Uniform(0, 1)), Error, ["joint 'pl'", "'tehta'", "did you mean 'theta'"]),
    ("PJ-15", lambda r: mbros.Uniform(2, 1), Error, ["Uniform", "low 2", "high 1"]),
    ("PJ-15", lambda r: mbros.Normal(0, -1), Error, ["Normal", "std is -1", "zero or more"]),
    ("PJ-15", lambda r: mbros.Exponential(10**400), Error, ["Exponential", "rate is 1000", "finite number"]),
    ("PJ-15", lambda r: r.j("pl").defaults.set_random(x=0.0), Frozen, ["joint 'pl'", "set_random", "ModelBuilder(model)"]),
    ("PJ-15", lambda r: r.m.random_state("x"), Error, ["rng", "a seed", "'x'"]),
    ("PJ-15", lambda r: r.m.random_state(1, np.zeros(2)), Error, ["others", "'uniform' or 'default'"]),
    ("PJ-17", lambda r: planar(r, limits=mbros.JointLimits(position=([0, 0], [1, 1]))), Model,
     ["joint 'new'", "lower position", "(2,)", "3 numbers"]),
    ("PJ-17", lambda r: planar(r, limits=mbros.JointLimits(acceleration=(1, 0))), Model, ["joint 'new'", "acceleration", "Swap"]),
    ("PJ-20", lambda r: twice("joint"), Model, ["joint 'r'", "already taken by joint 'r'", "name of its own"]),
    ("PJ-20", lambda r: mbros.PlanarJoint("", r.world, r.body()), Model, ["name is ''", "non-empty string"]),
    ("PJ-21", lambda r: mbros.PlanarJoint("new", 3, r.body()), Model, ["joint 'new'", "is 3", "body"]),
    ("PJ-25", lambda r: r.j("pl").names.position_suffixes[3], Index, ["joint 'pl'", "coordinate 3", "0 to 2"]),
    ("PJ-25", lambda r: r.j("pl").names.velocity_suffixes[-1], Index, ["joint 'pl'", "coordinate -1", "0 to 2"]),
    ("PJ-27", lambda r: r.j("pl").add_force(r.s, 3, 1.0, r.forces), Index, ["joint 'pl'", "coordinate 3", "0 to 2"]),
    ("PJ-27", lambda r: r.j("pl").add_force(r.s, 0, NAN, r.forces), NotFinite, ["joint 'pl'", "force", "nan"]),
    ("PJ-28", lambda r: r.j("pl").add_damping(r.s, np.zeros(3)), Error, ["joint 'pl'", "forces", "17 numbers", "(3,)"]),
    ("PJ-29", lambda r: r.j("pl").lock(r.foreign), State, ["joint 'pl'", "another model of that name", "default_state()"]),
    ("PJ-30", lambda r: put(r.j("pl").defaults, damping=(1, 1, 1)), Frozen, ["joint 'pl'", "defaults.damping", "ModelBuilder(model)"]),
    ("PJ-30", lambda r: put(r.d("pl").defaults, damping=(1, 1)), Model, ["joint 'pl'", "damping", "(2,)", "3 numbers"]),
    ("PJ-31", lambda r: r.j("pl").set_damping(r.s, (1, 1, -2)), Error, ["joint 'pl'", "damping[2] is -2", "zero or more"]),
    ("PJ-31", lambda r: r.j("pl").set_damping(r.s, 1.0), Error, ["joint 'pl'", "damping", "3 numbers"]),
    ("PJ-33", lambda r: r.d("pl").set_position_limits((0, 5, 0), (1, 1, 1)), Model, ["joint 'pl'", "limit 5 of coordinate 1", "Swap"]),
    ("PJ-33", lambda r: r.d("pl").set_velocity_limits((0, 0), 1), Model, ["joint 'pl'", "velocity", "(2,)", "3 numbers"]),
    ("PJ-33", lambda r: r.d("pl").set_acceleration_limits(NAN, 1), Model, ["joint 'pl'", "nan", "limit"]),
    ("PJ-33", lambda r: r.j("pl").set_velocity_limits(0, 1), Frozen, ["joint 'pl'", "set_velocity_limits", "ModelBuilder(model)"]),
    ("PJ-34", lambda r: put(r.d("pl").defaults, positions=(0, 1)), Model, ["joint 'pl'", "default", "(2,)", "3 numbers"]),
    ("PJ-34", lambda r: r.m.default_state().set_q(np.full(r.m.nq, NAN)), NotFinite, ["'rig'", "q[0]", "joint 'r'", "finite"]),
    ("PJ-35", lambda r: r.d("pl").defaults.set_pose(np.diag([1, 1, -1, 1])), Model, ["joint 'pl'", "determinant is -1", "right-handed"]),
    ("PJ-35", lambda r: r.j("pl").defaults.set_pose(np.eye(4)), Frozen, ["joint 'pl'", "ModelBuilder(model)"]),
    ("PJ-36", lambda r: r.d("fl").defaults.set_pose_pair(quat_wxyz=(2, 0, 0, 0), p=(0, 0, 0)), Model, ["joint 'fl'", "length 2", "unit"]),
    ("PJ-39", lambda r: r.d("pl").model, UnbuiltError, ["joint 'pl'", "no model yet", "build()"]),
    ("PJ-40", lambda r: r.m.parameter(r.s, "damping.rr"), Unknown, ["'damping.rr'", "'rig'", "did you mean 'damping.r'"]),
    ("PJ-40", lambda r: r.m.set_parameter(r.s, "damping.pl", (1, -1, 1)), Error, ["'rig'", "damping.pl", "[1] is -1", "zero or more"]),
    ("PJ-40", lambda r: r.m.set_parameter(r.s, ["gravity"], 1), Unknown, ["['gravity']", "'rig'"]),
    ("PJ-43", lambda r: put(copy.deepcopy(r.m).joint("r"), name="x"), Frozen, ["joint 'r'", "name", "ModelBuilder(model)"]),
    # ---------------------------------------------------------------------------------------------------- revolute mobilizer
    ("RM-03", lambda r: revolute(r, (1, 2, 2)), Model, ["joint 'new'", "[1.0, 2.0, 2.0]", "length 3", "1e-06", "normalize_axis"]),
    ("RM-03", lambda r: revolute(r, (0, 0, 1 + 2e-6)), Model, ["joint 'new'", "length 1.000002", "1e-06"]),
    ("RM-03", lambda r: revolute(r, (0, 0, 0), normalize_axis=True), Model, ["joint 'new'", "(0, 0, 0)", "no direction", "(0, 0, 1)"]),
    ("RM-03", lambda r: revolute(r, (0, NAN, 1)), Model, ["joint 'new'", "axis[1] is nan", "finite"]),
    ("RM-03", lambda r: revolute(r, (0, 1)), Model, ["joint 'new'", "axis", "(2,)", "3 numbers"]),
    ("RM-05", lambda r: r.j("r").set_angle(r.foreign, 1.0), State, ["joint 'r'", "another model of that name", "default_state()"]),
    ("RM-05", lambda r: r.j("r").set_angle(r.s, NAN), NotFinite, ["joint 'r'", "angle", "nan", "finite"]),
    ("RM-06", lambda r: r.j("r").set_angular_rate(r.s, (1, 2)), Error, ["joint 'r'", "angular_rate", "1 number", "(2,)"]),
    ("RM-07", lambda r: r.j("r").set_zero(r.s, velocity=np.zeros(2)), Error, ["joint 'r'", "velocity", "True or False"]),
    ("RM-07", lambda r: r.j("r").set_zero(r.foreign), State, ["joint 'r'", "another model of that name"]),
    ("RM-09", lambda r: r.j("r").spatial_velocity(r.s, (1, 2)), Error, ["joint 'r'", "v:", "1 number of the joint or 17", "(2,)"]),
    ("RM-10", lambda r: r.j("r").spatial_acceleration(r.s, [NAN]), NotFinite, ["joint 'r'", "vdot[0] is nan", "finite"]),
    ("RM-11", lambda r: r.j("r").project_force(r.s, np.zeros(3)), Error, ["joint 'r'", "wrench", "6 numbers", "(3,)"]),
    ("RM-14", lambda r: r.j("r").mobilizer.velocity_to_qdot(r.s, []), Error, ["joint 'r'", "1 number", "(0,)"]),
    ("RM-14", lambda r: r.j("r").mobilizer.qdot_to_velocity(r.s, [1, 2]), Error, ["joint 'r'", "qdot", "1 number", "(2,)"]),
    ("RM-17", lambda r: r.m.pose(r.foreign, "r_body"), State, ["'rig'", "another model of that name", "default_state()"]),
    ("RM-17", lambda r: r.m.mass_matrix(r.foreign), State, ["another model of that name", "'rig'", "default_state()"]),
    ("RM-17", lambda r: r.j("r").transform(3), State, ["joint 'r'", "3 was given", "default_state()"]),
    ("RM-22", lambda r: r.j("r").of(np.zeros(3)), Error, ["joint 'r'", "20 (nq) or 17 (nv)", "(3,)"]),
    ("RM-24", lambda r: r.j("fl").set_position(r.s, np.zeros(7)), Error, ["joint 'fl'", "q[3:7]", "unit length", "neutral"]),
    # --------------------------------------------------------------------------------------- quaternion floating joint
    ("QF-01", lambda r: r.j("fl").set_rotation(r.s, quat=(1, 0, 0, 0)), Error, ["joint 'fl'", "quat_wxyz", "quat_xyzw"]),
    ("QF-01", lambda r: r.j("fl").set_pose(r.s, p=(1, 2, 3), quat_xyzw=(0, 0, 0, 3)), Error, ["joint 'fl'", "quat_xyzw", "length 3"]),
    ("QF-09", lambda r: r.j("fl").mobilizer.velocity_from_qdot_matrix(r.s, normalize="sead"), Error,
     ["joint 'fl'", "'sead'", "'physical' or 'drake'"]),
    ("QF-04", lambda r: r.j("fl").mobilizer.origin_acceleration(r.s, np.zeros(6), np.zeros(3)), Error, ["joint 'fl'", "'F' or 'M'"]),
    ("QF-11", lambda r: r.j("fl").set_damping(r.s, (1, 2, 3)), Error, ["joint 'fl'", "damping", "6 numbers", "(3,)"]),
    ("QF-11", lambda r: r.j("fl").set_damping(r.s, (1, -2)), Error, ["joint 'fl'", "damping[3] is -2", "zero or more"]),
    ("QF-11", lambda r: r.j("fl").set_damping(r.s, [[1], [1, 2]]), Error, ["joint 'fl'", "damping", "6 numbers"]),
    ("QF-13", lambda r: r.j("fl").names.positions[7], Index, ["joint 'fl'", "coordinate 7", "0 to 6"]),
    ("QF-14", lambda r: r.j("fl").names.velocities["wx"], Index, ["joint 'fl'", "'wx'", "0 to 5"]),
    ("QF-16", lambda r: r.m.random_configuration(-1), Error, ["'rig'", "rng", "a seed", "-1"]),
    # ------------------------------------------------------------------------------------------------------ whole models
    ("HJ-42", lambda r: twice("body"), Model, ["body 'r_body'", "already taken", "name of its own"]),
    ("HJ-47", lambda r: twice("frame"), Model, ["frame 'r_body'", "already taken by body 'r_body'", "name of its own"]),
    ("BU-18", lambda r: twice("element"), Model, ["force element 'spring'", "already taken", "name of its own"]),
    ("HJ-20", lambda r: loop(), Model, ["joint 'a'", "closed loop: y -> x -> y", "Take one joint out"]),
    ("HJ-20", lambda r: loop(mimic=True), Model, ["joint 'a'", "circle: a -> b -> a", "ordinary joint"]),
]


@table(ROWS)
def test_refused_in_words_and_nothing_has_changed(rig, row):
    check(rig, row)
