"""Seed 000, what a planar joint is before and after its model is built: defaults, best match, distributions, parameters."""
import numpy as np
import pytest
import seed_models
from tolerance import EPS, assert_close

import mbros

META = seed_models.load("planar_joint")["meta"]
seed = pytest.mark.seed


@pytest.fixture
def plate():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.PlanarJoint("pl", b.world, seed_models.box(b, "plate"), damping=(0.1, 0.2, 0.3)))
    return b


@seed("PJ-30", "PJ-33", "PJ-34", "PJ-43")
def test_a_built_model_does_not_change(plate):
    model = plate.build()
    joint = model.joint("pl")
    for change in (lambda: setattr(joint, "default_damping", (1, 2, 3)), lambda: setattr(joint, "default_positions", (1, 2, 3)),
                   lambda: setattr(joint, "placement", np.eye(4)), lambda: joint.set_position_limits(0, 1),
                   lambda: joint.set_velocity_limits(0, 1), lambda: joint.set_acceleration_limits(0, 1),
                   lambda: joint.defaults.set_pose(np.eye(4)), lambda: joint.defaults.set_pose_pair((1, 0, 0, 0), (0, 0, 0)),
                   lambda: joint.defaults.set_planar_pose((0, 0), 0), lambda: joint.defaults.set_random(x=1),
                   lambda: joint.set_bounds(0, 0, 1)):
        with pytest.raises(mbros.FrozenModelError, match="joint 'pl'.*model 'rig' is built.*ModelBuilder"):
            change()
    for array in (joint.limits.position.lower, joint.limits.position.upper, joint.limits.velocity.upper, joint._row.damping,
                  joint._row.default):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    plate.joint("pl").defaults.damping = (7, 8, 9)               # the description goes on, the model stays
    plate.joint("pl").limits.position.lower[0] = -5.0
    assert joint.defaults.damping.tolist() == model.default_state().damping.tolist() == [0.1, 0.2, 0.3]
    assert joint.limits.position.lower[0] == -np.inf
    changed = mbros.ModelBuilder(model)
    changed.joint("pl").defaults.damping = (4, 5, 6)
    assert changed.build().default_state().damping.tolist() == [4, 5, 6]
    assert model.default_state().damping.tolist() == [0.1, 0.2, 0.3]


@seed("PJ-14", "PJ-34", "PJ-41")
def test_default_pose(plate):
    want = META["default_pose"]
    joint = plate.joint("pl").set_position_limits(-0.1, 0.1)       # the default is not clipped by limits
    assert joint.defaults.set_planar_pose(want["set"][:2], want["set"][2]) is joint
    model = plate.build()
    state = model.default_state()
    assert state.q.tolist() == want["q"] and not state.v.any()
    built = model.joint("pl")
    assert built.defaults.translation.tolist() == joint.defaults.translation.tolist() == want["get_default_translation"]
    assert built.defaults.rotation == joint.defaults.rotation == want["get_default_rotation"]
    assert built.defaults.positions.tolist() == want["q"]
    for name in ("q", "v", "damping", "friction", "gravity", "inertia", "rotor_inertia", "lock"):
        assert np.array_equal(model.default_state().field(name), state.field(name))
    joint.defaults.translation, joint.defaults.rotation = (3, 4), 5.0
    assert joint.defaults.positions.tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="defaults.rotation is for planar joints"):
        mbros.RevoluteJoint("r", plate.world, plate.body("plate")).defaults.rotation


@seed("PJ-35", "PJ-36")
def test_default_pose_is_the_best_match(plate, rng):
    joint = plate.joint("pl")
    for _ in range(20):
        q = rng.uniform(-3, 3, 3)
        R, p = joint._kinematics.pose(q)
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, p
        assert_close(joint.defaults.set_pose(X).defaults.positions, q, 64 * EPS, what="a pose the joint can reach")
        tilt = mbros.Pose(np.array(R) @ _small_turn(rng), p + rng.normal(size=3))
        got = joint.defaults.set_pose(tilt).defaults.positions
        angle = np.arctan2(tilt.R[1, 0] - tilt.R[0, 1], tilt.R[0, 0] + tilt.R[1, 1])
        assert_close(got, [tilt.p[0], tilt.p[1], angle], 1e-12)
        quat, p = joint.defaults.set_pose_pair(tilt.quat_wxyz, tilt.p).defaults.pose_pair
        assert_close(joint.defaults.positions, got, 1e-12)
        assert joint.defaults.pose.p[2] == 0.0 == p[2]
        assert_close(quat, [np.cos(got[2] / 2), 0, 0, np.sin(got[2] / 2)], 1e-12)      # angles here are within pi
    with pytest.raises(ValueError, match="joint 'pl': R .* is not a rotation matrix"):
        joint.defaults.set_pose(np.diag([2.0, 1, 1, 1]))
    with pytest.raises(ValueError, match="quat_wxyz .* has length 2"):
        joint.defaults.set_pose_pair((2, 0, 0, 0), (0, 0, 0))


def _small_turn(rng):
    from mbros.spatial.placement import rotation_from_rpy

    return rotation_from_rpy(rng.uniform(-0.4, 0.4, 3))


@seed("PJ-15")
def test_random_poses(plate, rng):
    joint = plate.joint("pl")
    shared = mbros.Uniform(1, 2)
    joint.defaults.set_random(x=shared, y=2 * shared + mbros.Normal(0, 0.5), theta=mbros.Exponential(4.0))
    joint.set_position_limits(-0.1, 0.1)                          # not clipped
    plate.add_joint(mbros.RevoluteJoint("tail", plate.body("plate"), seed_models.box(plate, "tail"), (0, 1, 0), default=0.75))
    model = plate.build()
    n = 100000
    draw = mbros_draws(model, n, rng)
    x, y, theta = draw[:, 0], draw[:, 1], draw[:, 2]
    for sample, mean, var in ((x, 1.5, 1 / 12), (y, 3.0, 4 / 12 + 0.25), (theta, 0.25, 1 / 16)):
        assert abs(sample.mean() - mean) < 4 * np.sqrt(var / n)
        spread = np.sqrt(np.mean((sample - mean) ** 4) - var**2)
        assert abs(sample.var() - var) < 4 * spread / np.sqrt(n)
    assert abs(np.cov(x, y)[0, 1] - 2 / 12) < 4 * np.sqrt((1 / 12) * (4 / 12 + 0.25) + (2 / 12) ** 2) / np.sqrt(n), "one variable"
    assert (draw[:, 3] == 0.75).all()
    again, same = (model.random_state(np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(again.q, same.q) and np.array_equal(again.v, same.v)


def mbros_draws(model, n, rng):
    return np.array([model.random_state(rng, others="default").q for _ in range(n)])


@seed("PJ-15")
def test_without_a_distribution_the_default_pose_is_kept_on_request(plate):
    plate.joint("pl").defaults.set_planar_pose((1, 2), 3)
    state = plate.build().random_state(1, others="default")
    assert state.q.tolist() == [1, 2, 3] and not state.v.any()
    with pytest.raises(ValueError, match="no coordinate 'z' to draw"):
        plate.joint("pl").defaults.set_random(z=1)
    with pytest.raises(ValueError, match="neither a finite number nor a random expression"):
        plate.joint("pl").defaults.set_random(x="here")
    for wrong in (lambda: mbros.Uniform(2, 1), lambda: mbros.Normal(0, -1), lambda: mbros.Exponential(0), lambda: mbros.Normal(np.nan)):
        with pytest.raises(ValueError, match="Uniform|Normal|Exponential"):
            wrong()


@seed("PJ-15")
def test_functions_of_random_variables(plate, rng):
    """What Drake's symbolic expressions have: functions of NumPy, abs and powers, of the value that the variable has in the draw."""
    a = mbros.Uniform(-2, -1)
    b = mbros.Normal(0, 1)
    pairs = [(np.sin(a), np.sin), (np.cos(a), np.cos), (abs(a), abs), (2**a, lambda x: 2**x), (np.minimum(a, -1.5), lambda x: min(x, -1.5)),
             (np.maximum(-1.5, a), lambda x: max(-1.5, x)), (np.float64(3) * a, lambda x: 3 * x), (-a, lambda x: -x),
             (np.sqrt(abs(a)) / 2, lambda x: np.sqrt(-x) / 2), (a**2 - 1, lambda x: x**2 - 1)]
    for expression, function in pairs:
        plate.joint("pl").defaults.set_random(x=a, y=expression, theta=np.hypot(a, b))
        for q in mbros_draws(plate.build(), 5, rng):
            assert_close(q[1], function(q[0]), 4 * EPS)
            assert q[2] >= abs(q[0]) - 1e-12
    assert repr(np.minimum(2 ** -a, 0.5)) == "minimum((2.0 ** (0.0 - Uniform(-2, -1))), 0.5)"


@seed("PJ-15")
@pytest.mark.filterwarnings("error")
def test_draws_without_a_finite_value_name_the_joint(plate):
    a = mbros.Uniform(-2, -1)
    for expression, value in ((1 / (a - a), "inf"), (a**0.5, "nan"), (a * 1e308 * 10, "-inf"), (1e300 ** (2 - a), "inf"),
                              (np.log(a), "nan")):
        plate.joint("pl").defaults.set_random(y=expression)
        with pytest.raises(mbros.MbrosError, match=f"joint 'pl': its random y = .*Uniform.* came out as {value}; expected a finite number"):
            plate.build().random_state(1)
    with pytest.raises(mbros.MbrosError, match="Uniform: from -1e.308 to 1e.308 is further than numbers reach"):
        mbros.Uniform(-1e308, 1e308)
    hall = mbros.ModelBuilder("hall")
    hall.add_robot(plate.build(), "left")
    with pytest.raises(mbros.MbrosError, match="joint 'left/pl': its random y"):
        hall.build().random_state(1)


@seed("PJ-40")
def test_every_parameter_has_a_name(plate):
    model = plate.build()
    state = model.default_state()
    names = model.parameter_names
    assert {"gravity", "damping.pl", "friction.pl", "rotor_inertia.pl", "mass.plate"} <= set(names)
    for name in names:
        value = model.parameter(state, name)
        new = not value if isinstance(value, bool) else 2 * np.asarray(value) + 0.5
        assert model.set_parameter(state, name, new) is model
        assert_close(model.parameter(state, name), new, 4 * EPS)
    assert model.joint("pl").damping(state).tolist() == [0.7, 0.9, 1.1]
    assert model.joint("pl")._row.parameters == () and "damping.pl" in model.joint("pl").names.parameters
    with pytest.raises(ValueError, match="no parameter 'dampng.pl'.*did you mean 'damping.pl'"):
        model.parameter(state, "dampng.pl")
    with pytest.raises(ValueError, match=r"damping.pl.\[1\] is -1; expected a finite number, zero or more"):
        model.set_parameter(state, "damping.pl", (1, -1, 1))
    assert model.joint("pl").damping(state).tolist() == [0.7, 0.9, 1.1]


@seed("PJ-40", "BU-21")
def test_force_elements_have_parameters_by_name_too(plate):
    """force.<element>.<parameter>: the very number that the element has, refused by its own rules."""
    body = plate.body("plate")
    plate.add_force_element(mbros.LinearBushingRollPitchYaw(plate.world, body, 3.0, 0.1, 50.0, 0.5, name="mount"))
    model = plate.build()
    state = model.default_state()
    assert "force.mount.force_stiffness" in model.parameter_names
    model.set_parameter(state, "force.mount.force_stiffness", (1.0, 2.0, 3.0))
    assert model.force_elements["mount"].get_force_stiffness(state).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="'mount'.*force_stiffness.1. is -2"):
        model.set_parameter(state, "force.mount.force_stiffness", (1.0, -2.0, 3.0))
    assert model.parameter(state, "force.mount.force_stiffness").tolist() == [1.0, 2.0, 3.0]
    arm = mbros.load("humanoid")                         # the numbers of a stop are its joint's, which have names already
    stop = next(element for element in arm.force_elements if element.kind == "stop")
    assert not any(name.startswith(f"force.{stop.name}") for name in arm.parameter_names)
    assert arm.parameter(arm.default_state(), "stop_stiffness." + stop.name.removesuffix(".stop")) == stop.default("stiffness")


@seed("PJ-40", "PJ-29")
def test_locks_have_a_name(plate):
    model = plate.build()
    state = model.default_state()
    model.joint("pl").set_velocity(state, (1.0, 1.0, 1.0))
    assert model.parameter(state, "locked.pl") is False
    model.set_parameter(state, "locked.pl", True)
    assert model.joint("pl").is_locked(state) and not model.joint("pl").velocity(state).any()
    with pytest.raises(ValueError, match="locked.pl.*expected True or False, got 1.0"):
        model.set_parameter(state, "locked.pl", 1.0)


@seed("PJ-08")
def test_the_deprecated_alias_is_not_offered(plate):
    """damping() without a state was an alias of default_damping in Drake until 2024; here damping is the state's."""
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'state'"):
        plate.build().joint("pl").damping()
