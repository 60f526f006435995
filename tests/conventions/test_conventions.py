"""`model.to_convention` and `from_convention`, both ways: against the mappings that the peer tests are built on."""
import contextlib

import numpy as np
import pytest
import robots
from tolerance import EPS, assert_close

import mbros
from mbros.conventions import convention as conventions

CASES = [("talos", "floating"), ("panda", "fixed"), ("solo12", "floating"), ("humanoid", "floating"), ("mobile_arm", "planar"),
         ("quadruped", "floating"), ("scara", "fixed"), ("ur5", "fixed")]
STATES = 100

WHEELED = """<robot name="cart"><link name="base"><inertial><mass value="3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
{}</robot>"""
WHEEL = """<link name="wheel{0}"><inertial><origin xyz="0.1 0.02 0.3"/><mass value="1"/>
<inertia ixx="1" iyy="1.1" izz="1.2" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
<joint name="{1}" type="continuous"><parent link="base"/><child link="wheel{0}"/><axis xyz="0 1 0"/></joint>"""


def model_of(name, base, mimic=False):
    return robots.loaded(name, base, mimic).model


def random_states(model, rng):
    for _ in range(STATES):
        yield model.random_state(rng)


@pytest.mark.parametrize("convention", conventions.CONVENTIONS)
@pytest.mark.parametrize("name, base", CASES)
def test_there_and_back(name, base, convention, rng):
    model = model_of(name, base)
    for state in random_states(model, rng):
        back = model.from_convention(convention, *model.to_convention(state, convention))
        assert model.space().is_same(back.q, state.q, 64 * EPS * (1 + np.abs(state.q).max()))
        assert_close(back.v, state.v, 16 * EPS, scale=1.0)


@pytest.mark.parametrize("name, base", CASES)
def test_pinocchio_takes_what_we_give(name, base, rng):
    peer_module = pytest.importorskip("pinocchio_peer", reason="needs Pinocchio (pip install pin)")
    model = model_of(name, base)
    peer = peer_module.from_urdf(robots.loaded(name, base, mimic=False), mimic=False)
    for state in random_states(model, rng):
        q, v = model.to_convention(state, "pinocchio")
        assert_close(q, peer.q(state.q), 16 * EPS, scale=1.0)
        assert_close(v, peer.T(state.q) @ state.v, 16 * EPS, scale=1.0)
        theirs = model.from_convention("pinocchio", peer.q(state.q), peer.T(state.q) @ state.v)
        assert model.space().is_same(theirs.q, state.q, 64 * EPS * (1 + np.abs(state.q).max()))


def test_continuous_joints_and_the_order_of_siblings(rng):
    """Pinocchio stores cosine and sine and takes siblings by name; we keep the angle and the file's order."""
    peer_module = pytest.importorskip("pinocchio_peer", reason="needs Pinocchio (pip install pin)")
    text = WHEELED.format("".join(WHEEL.format(k, name) for k, name in enumerate(["rear", "front", "a_spare", "Middle"])))
    model = mbros.load(text, base="planar")
    pin = peer_module.pin
    peer = pin.buildModelFromXML(text, pin.JointModelPlanar())
    for state in random_states(model, rng):
        q, v = model.to_convention(state, "pinocchio")
        data = peer.createData()
        pin.forwardKinematics(peer, data, q, v)
        pin.updateFramePlacements(peer, data)
        for k in range(4):
            frame = peer.getFrameId(f"wheel{k}", pin.FrameType.BODY)
            assert_close(model.pose(state, f"wheel{k}").R, data.oMf[frame].rotation, 64 * EPS)
            V = pin.getFrameVelocity(peer, data, frame, pin.LOCAL_WORLD_ALIGNED)
            ours = model._frame_velocity(state, model._frame_index(f"wheel{k}"))
            assert_close(ours, np.concatenate([V.angular, V.linear]), 64 * EPS, scale=1.0)
        back = model.from_convention("pinocchio", q, v)
        assert model.space().is_same(back.q, state.q, 64 * EPS * np.pi)


@pytest.mark.parametrize("name, base", [case for case in CASES if case[0] != "quadruped"])
def test_mujoco_takes_what_we_give(name, base, rng):
    peer_module = pytest.importorskip("mujoco_peer", reason="needs MuJoCo (pip install mujoco)")
    model = model_of(name, base)
    peer = peer_module.Peer(model.spec)
    for state in random_states(model, rng):
        peer.forward_dynamics(state.q, state.v, np.zeros(model.nv))        # writes qpos and qvel its own way
        q, v = model.to_convention(state, "mujoco")
        assert_close(q, peer.data.qpos, 16 * EPS, scale=1.0)
        assert_close(v, peer.data.qvel, 16 * EPS, scale=1.0)


def test_drake_and_hpp_have_floating_velocities_in_the_parent(rng):
    """By differentiating the pose in time: Drake's w and v are those of M in F, expressed in F."""
    model = model_of("quadruped", "floating")
    for state in random_states(model, rng):
        h = EPS ** (1 / 3)
        ahead, behind = (model.integrate(state.q, sign * h * state.v) for sign in (1, -1))
        pdot = (ahead[:3] - behind[:3]) / (2 * h)
        R, (Ra, Rb) = rotation(state.q), (rotation(ahead), rotation(behind))
        W = (Ra - Rb) / (2 * h) @ R.T
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        scale = 1 + np.abs(state.v[:6]).max() ** 3
        q, v = model.to_convention(state, "drake")
        assert_close(q[:7], [*state.q[3:7], *state.q[:3]], 0.0)
        assert_close(v[:6], [*w, *pdot], 16 * h * h, scale=scale)
        q, v = model.to_convention(state, "hpp")
        assert_close(v[:6], [*pdot, *w], 16 * h * h, scale=scale)


def rotation(q):
    w, x, y, z = q[3:7]
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def test_ros_is_odometry(rng):
    """nav_msgs/Odometry: pose with quaternion xyzw, twist [linear; angular] in the child frame."""
    model = model_of("quadruped", "floating")
    state = model.random_state(rng)
    q, v = model.to_convention(state, "ros")
    assert_close(q[:7], [*state.q[:3], *state.q[4:7], state.q[3]], 0.0)
    assert_close(v[:6], [*state.v[3:6], *state.v[:3]], 0.0)


def test_followers_have_no_coordinates_anywhere(rng):
    model = model_of("panda", "fixed", mimic=True)
    state = model.random_state(rng)
    for convention in conventions.CONVENTIONS:
        q, v = model.to_convention(state, convention)
        assert len(q) == len(v) == 8


def test_batches_are_converted_row_by_row(rng):
    model = model_of("mobile_arm", "planar")
    q = np.array([model.random_configuration(rng) for _ in range(6)]).reshape(2, 3, model.nq)
    v = rng.normal(size=(2, 3, model.nv))
    many = conventions.to_convention(model, q, v, "pinocchio")
    for i in range(2):
        for j in range(3):
            one = conventions.to_convention(model, q[i, j], v[i, j], "pinocchio")
            assert np.array_equal(many[0][i, j], one[0]) and np.array_equal(many[1][i, j], one[1])


def test_wrong_names_and_sizes():
    model = model_of("scara", "fixed")
    state = model.default_state()
    with pytest.raises(ValueError, match="no convention 'pinochio'; did you mean 'pinocchio'"):
        model.to_convention(state, "pinochio")
    with pytest.raises(ValueError, match="q: expected 4 numbers, got shape \\(5,\\)"):
        model.from_convention("drake", np.zeros(5), np.zeros(4))


def test_what_is_too_large_to_be_converted_is_refused():
    """Finite numbers whose squares are not: nothing that is not finite comes back, and no warning of NumPy's."""
    model = mbros.load("quadruped")
    q, v = np.full(model.nq, 1e200), np.full(model.nv, 1e300)
    for name in ("drake", "pinocchio", "mujoco"):
        there = conventions.Convention(name)
        for call in (lambda: there.to(model, q, v), lambda: there.to_acceleration(model, q, v, v), lambda: there.back(model, q, v)):
            with contextlib.suppress(mbros.NonFiniteError):
                assert all(np.isfinite(x).all() for x in call())
    v = 1.7e308 * (-1.0) ** np.arange(model.nv)
    with pytest.raises(mbros.NonFiniteError, match="a number is too large to be converted"):
        conventions.Convention("drake").to(model, model.random_state(0).q, v)
