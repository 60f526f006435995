"""Against MuJoCo, the second peer: accelerations of robots on every kind of base."""
import pytest
import robots
import zoo
from tolerance import assert_close

mujoco_peer = pytest.importorskip("mujoco_peer", reason="peer tests need MuJoCo (pip install mujoco)")

ROBOTS = [("ur5", "fixed"), ("panda", "fixed"), ("solo12", "floating"), ("talos", "floating"), ("arm7", "fixed"),
          ("humanoid", "floating"), ("mobile_arm", "planar"), ("scara", "fixed")]


@pytest.mark.parametrize("name, base", ROBOTS)
def test_robot_from_a_file(name, base, rng):
    robot = robots.loaded(name, base, mimic=False)
    peer, model = mujoco_peer.Peer(robot.spec), robot.model
    state = model.default_state()
    for _ in range(25):
        q, v, tau = robot.random_q(rng), *rng.normal(size=(2, model.nv))
        state._poison()
        state.q[:], state.v[:] = q, v
        vdot = model.forward_dynamics(state, tau - model.passive_torques(state))
        assert_close(vdot, peer.forward_dynamics(q, v, tau), 1e-10)


@pytest.mark.parametrize("name", ["branched", "floating_tree", "planar_root", "long_chain", "rotors_only"])
def test_zoo(name, rng):
    spec, model = zoo.spec(name), robots.model(name)
    if name == "floating_tree":                    # MuJoCo's free joint has no placement
        spec.X_PF[1] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
        model = type(model)(spec)
    peer, state = mujoco_peer.Peer(spec), model.default_state()
    for _ in range(10):
        q, v, tau = zoo.random_q(spec, rng), *rng.normal(size=(2, model.nv))
        state._poison()
        state.q[:], state.v[:] = q, v
        vdot = model.forward_dynamics(state, tau - model.passive_torques(state))
        assert_close(vdot, peer.forward_dynamics(q, v, tau), 1e-10)
