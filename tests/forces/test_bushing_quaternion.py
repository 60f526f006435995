"""The bushing on the quaternion: the others for small angles, smooth for all, no gimbal lock."""
import numpy as np
import pytest
from tolerance import assert_close

import mbros

pytestmark = pytest.mark.seed("BU-15")
K, D, KX, DX = (40.0, 55.0, 70.0), (0.4, 0.5, 0.6), (300.0, 500.0, 900.0), (3.0, 4.0, 5.0)


def held(law, k=K, d=D, kx=KX, dx=DX):
    """A weightless free body on a bushing to the world, whose frame C is the body's."""
    b = mbros.ModelBuilder("rig", gravity=(0.0, 0.0, 0.0))
    body = b.add_body("body", 2.0, (0, 0, 0), (0.1, 0.2, 0.25))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.Bushing(b.world, body, k, d, kx, dx, law=law, name="it"))
    return b.build()


def at(model, axis, angle, p=(0, 0, 0), v=(0,) * 6):
    state = model.default_state()
    axis = np.array(axis) / np.linalg.norm(axis)
    state.q[:] = [*p, np.cos(angle / 2), *(np.sin(angle / 2) * axis)]
    state.v[:] = v
    return state


def wrench(model, state):
    return model.force_elements["it"].wrench(state).values


def test_small_angles_are_the_other_laws(rng):
    """The difference shrinks with the square of the angle: roll, pitch, yaw are a sequence."""
    quaternion, rpy = held("quaternion"), held("energy_consistent")
    axis, p, v = rng.normal(size=3), rng.uniform(-0.1, 0.1, 3), rng.normal(size=6)
    off = [np.abs(wrench(quaternion, at(quaternion, axis, a, a * p, a * v)) - wrench(rpy, at(rpy, axis, a, a * p, a * v))).max()
           for a in (1e-2, 1e-3)]
    assert off[0] < 0.1 and off[1] / off[0] == pytest.approx(1e-2, rel=0.1)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("angle", [0.3, 1.5, np.pi / 2, 3.0, np.pi, 3.5, -2.0])
def test_about_one_axis_the_torque_is_a_sine(axis, angle):
    model, rate = held("quaternion"), 0.7
    e = np.eye(3)[axis]
    F = wrench(model, at(model, e, angle, v=[*(rate * e), 0, 0, 0]))
    assert_close(F, np.array([*(-(K[axis] * np.sin(angle) + D[axis] * np.cos(angle / 2) ** 2 * rate) * e), 0, 0, 0]), 1e-13, scale=100.0)


def test_there_is_no_gimbal_lock(rng):
    """At a pitch of 90 degrees the others refuse; here everything is finite and the torque still pulls back."""
    lock = at(held("quaternion"), (0, 1, 0), np.pi / 2).q
    for law in ("drake", "energy_consistent"):
        model = held(law)
        with pytest.raises(mbros.GimbalLockError, match="law='quaternion'"):
            wrench(model, at(model, (0, 1, 0), np.pi / 2))
    model = held("quaternion")
    for _ in range(20):
        state = at(model, (0, 1, 0), np.pi / 2, rng.normal(size=3), rng.normal(size=6))
        assert np.array_equal(state.q[3:], lock[3:]) and np.isfinite(model.forward_dynamics(state, np.zeros(6))).all()
    assert wrench(model, at(model, (0, 1, 0), np.pi / 2))[1] == pytest.approx(-K[1], rel=1e-14)


def test_half_a_turn_is_passed_without_a_jump(rng):
    """For equal force stiffnesses without force damping, which the half-way frame does not touch; both signs of the quaternion are one
    rotation."""
    model = held("quaternion", kx=500.0, dx=0.0)
    axis, p, v = rng.normal(size=3), rng.normal(size=3), rng.normal(size=6)
    before, after = (wrench(model, at(model, axis, np.pi + e, p, v)) for e in (-1e-9, 1e-9))
    assert_close(before, after, 1e-7, scale=np.abs(after).max())
    state = at(model, axis, 2.0, p, v)
    other = state.copy()
    other.q[3:] *= -1.0
    assert_close(wrench(model, state), wrench(model, other), 1e-14)


def test_a_tumbling_body_keeps_its_energy():
    """Undamped, unequal stiffnesses, through every attitude below half a turn, past the poles of roll, pitch, yaw."""
    model = held("quaternion", d=0.0, dx=0.0)
    state = at(model, (0.02, 1.0, -0.01), 0.3, (0.05, -0.02, 0.03), (0.3, 24.0, 0.5, 0.2, -0.1, 0.3))
    log = mbros.Simulator(model, dt=2e-4, integrator="rk4", state=state).run(5.0, every=20)
    pitch_cosines = np.array([np.hypot(1 - 2 * (y * y + z * z), 2 * (x * y + w * z)) for w, x, y, z in log.q[:, 3:]])
    assert pitch_cosines.min() < 0.05                       # roll, pitch, yaw would have been near their lock
    assert np.abs(log.energy / log.energy[0] - 1.0).max() < 1e-8


def test_its_name_is_read_from_a_urdf():
    text = """<robot name="r" xmlns:mbros="urn:mbros:urdf"><link name="base"/>
      <mbros:bushing name="mount" frame_A="world" frame_C="base" law="quaternion" torque_stiffness="1 2 3"/></robot>"""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    model = mbros.load(text.replace('<link name="base"/>', f'<link name="base">{inertial}</link>'), base="floating")
    assert model.force_elements["mount"].law == "quaternion" and "law='quaternion'" not in repr(model.force_elements["mount"])
    with pytest.raises(mbros.MbrosError, match="law is 'quaternions'; did you mean 'quaternion'"):
        b = mbros.ModelBuilder("rig")
        mbros.Bushing(b.world, b.add_body("x", 1.0, (0, 0, 0), (1, 1, 1)), law="quaternions")
