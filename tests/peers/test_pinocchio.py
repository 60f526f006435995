"""Against Pinocchio, from the same URDF text: dynamics, mass matrix, Jacobians and centre of mass to 1e-10 relative."""
import numpy as np
import pytest
import robots
import zoo
from optional import CASES
from robots import pose
from tolerance import EPS, assert_close

import reference as ref

pinocchio_peer = pytest.importorskip("pinocchio_peer", reason="peer tests need Pinocchio (pip install pin)")

RELATIVE = 1e-10


def states(robot, peer, rng):
    """`CASES` random states of the robot: the engine's State, and q, v, an acceleration and efforts."""
    state = robot.model.default_state()
    for _ in range(CASES):
        q, v, vdot, tau = robot.random_q(rng), *rng.normal(size=(3, robot.model.nv))
        state._poison()
        state.q[:], state.v[:] = q, v
        yield state, q, v, vdot, 10 * tau


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_robot_from_a_file(name, base, rng):
    robot = robots.loaded(name, base, mimic=False)
    peer, model = pinocchio_peer.from_urdf(robot, mimic=False), robot.model
    assert peer.nv == model.nv
    bodies = [b for b in robot.compiled.bodies if b.name not in ("world", "universe")]
    for state, q, v, vdot, tau in states(robot, peer, rng):
        passive = model.passive_torques(state)
        assert_close(model.forward_dynamics(state, tau - passive), peer.forward_dynamics(q, v, tau), RELATIVE)
        assert_close(model.inverse_dynamics(state, vdot) + passive, peer.inverse_dynamics(q, v, vdot), RELATIVE)
        assert_close(model.mass_matrix(state), peer.mass_matrix(q), RELATIVE)
        for k in rng.integers(0, len(bodies), 3):
            body = bodies[k]
            assert_close(model._frame_jacobian(state, body.frame), peer.frame_jacobian(q, body.name), RELATIVE, scale=1.0)
            R, p = pose(model._frame_pose(state, body.frame))
            assert_close(np.column_stack([R, p]), np.column_stack(peer.frame_pose(q, body.name)), RELATIVE)
        assert_close(model.center_of_mass(state), peer.center_of_mass(q), RELATIVE, scale=1.0)
        assert_close(model.com_jacobian(state), peer.com_jacobian(q), RELATIVE)
        assert_close(model.centroidal_momentum(state), peer.centroidal_momentum(q, v), RELATIVE)
        kinetic, potential = peer.energies(q, v)
        assert_close(model.kinetic_energy(state), kinetic, RELATIVE)
        assert_close(model.potential_energy(state), potential, RELATIVE, scale=1.0)      # q is within the limits: no stop acts


def test_panda_with_its_mimic_finger(rng):
    """Pinocchio's own mimic joints: inverse dynamics and mass matrix (its ABA does not know them)."""
    robot = robots.loaded("panda", "fixed", mimic=True)
    peer, model = pinocchio_peer.from_urdf(robot, mimic=True), robot.model
    assert peer.nv == model.nv == 8
    for state, q, v, vdot, tau in states(robot, peer, rng):
        passive = model.passive_torques(state)
        M = peer.mass_matrix(q)
        assert_close(model.mass_matrix(state), M, RELATIVE)
        assert_close(model.inverse_dynamics(state, vdot) + passive, peer.inverse_dynamics(q, v, vdot), RELATIVE)
        bias = peer.inverse_dynamics(q, v, np.zeros(8))
        assert_close(model.forward_dynamics(state, tau - passive), np.linalg.solve(M, tau - bias), RELATIVE)
        assert_close(model.center_of_mass(state), peer.center_of_mass(q), RELATIVE)


def known_to_pinocchio(name):
    """Its mimic joints must come after their leaders; some of our kinds it does not have."""
    return name != "follower_first" and set(zoo.spec(name).joint_kind) <= {"weld", *pinocchio_peer.JOINT_MODELS}


@pytest.mark.parametrize("name", [n for n in zoo.NAMES if known_to_pinocchio(n)])
def test_zoo(name, rng):
    """Engine and textbook against Pinocchio's model of the same ugly robot, built joint by joint."""
    spec, model, tree = zoo.spec(name), robots.model(name), robots.tree(name)
    peer = pinocchio_peer.from_spec(spec)
    state = model.default_state()
    for _ in range(10):
        state._poison()
        q, v, vdot = zoo.random_q(spec, rng), *rng.normal(size=(2, model.nv))
        state.q[:], state.v[:] = q, v
        passive = model.passive_torques(state)
        M, tau = peer.mass_matrix(q), peer.inverse_dynamics(q, v, vdot)
        assert_close(model.mass_matrix(state), M, 512 * EPS)
        assert_close(ref.crba(tree, q), M, 512 * EPS)
        assert_close(model.inverse_dynamics(state, vdot) + passive, tau, 1024 * EPS)
        assert_close(ref.rnea(tree, q, v, vdot), tau, 1024 * EPS)
        for k in range(1, len(model.spec.frame_body)):
            J = peer.frame_jacobian(q, spec.frame_names[k])
            assert_close(model._frame_jacobian(state, k), J, 512 * EPS, scale=1.0)
            assert_close(ref.frame_jacobian(tree, q, k), J, 512 * EPS, scale=1.0)


@pytest.mark.parametrize("name, base", [("talos", "floating"), ("mobile_arm", "planar"), ("ur5", "fixed"), ("scara", "fixed")])
def test_the_mapping_itself_is_invertible(name, base, rng):
    """q there and back by this file's own mapping, which judges that of `mbros.conventions.convention`."""
    robot = robots.loaded(name, base, mimic=False)
    peer = pinocchio_peer.from_urdf(robot, mimic=False)
    for _ in range(CASES):
        q = robot.random_q(rng)
        assert_close(peer.q_back(peer.q(q), len(q)), q, 8 * EPS, scale=np.pi)
