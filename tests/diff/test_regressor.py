"""The joint-torque regressor is inverse dynamics on every tree of the zoo, and Pinocchio's; bodies' parameters have derivatives."""
import mbros
import mbros_core
import numpy as np
import pytest
import robots
import zoo
from mbros import diff


@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_tree_of_the_zoo(name, rng):
    """Y pi = inverse dynamics less stops, force elements and wrenches: bias torques, M vdot and what damps."""
    case = robots.Case(name, rng)
    engine, state = mbros_core.Regressor(case.model, np.tile(np.eye(3, 4).T.ravel(), (case.tree.nb, 1))), case.state
    for number in ("damping", "friction", "rotor_inertia"):
        state.field(number)[:] = rng.uniform(0.1, 1.0, case.nv)
    Y = np.empty((1, case.nv, engine.columns))
    assert engine.compute(case.q[None], case.v[None], case.vdot[None], Y) == -1
    pi = np.concatenate([state.field("inertia")[1:].ravel(), *(state.field(x) for x in ("damping", "friction", "rotor_inertia"))])
    passive = state.damping * case.v + state.friction * case.v / np.sqrt(case.v**2 + 1e-6)
    tau = case.model.bias_torques(state) + case.model.mass_matrix(state) @ case.vdot + passive
    assert np.abs(Y[0] @ pi - tau).max(initial=0.0) <= 1e-12 * max(np.abs(tau).max(initial=0.0), 1.0)


@pytest.mark.parametrize("name", ["arm7", "quadruped", "humanoid", "mobile_arm"])
def test_many_points_are_each_one(name, rng):
    model = mbros.load(name)
    q = np.array([model.random_configuration(rng) for _ in range(5)])
    v, vdot = rng.normal(size=(2, 5, model.nv))
    Y = diff.regressor(model, q, v, vdot)
    out = np.full_like(Y, np.nan)
    assert diff.regressor(model, q, v, vdot, out=out) is out and np.array_equal(out, Y)
    assert len(diff.regressor_names(model)) == Y.shape[2] == len(diff.regressor_parameters(model))
    for k in range(5):
        assert np.array_equal(diff.regressor(model, q[k], v[k], vdot[k]), Y[k])
        state = model.default_state().set_q(q[k]).set_v(v[k])
        tau = model.inverse_dynamics(state, vdot[k])
        assert np.abs(Y[k] @ diff.regressor_parameters(model) - tau).max() < 1e-12 * np.abs(tau).max()


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_pinocchio(name, base, rng):
    pin = pytest.importorskip("pinocchio", reason="needs pin")
    import pinocchio_peer

    robot = robots.loaded(name, base, mimic=False)
    peer, model = pinocchio_peer.from_urdf(robot, mimic=False), robot.model
    order = np.array([0, 1, 2, 3, 4, 7, 5, 8, 9, 6])                            # theirs: Ixx Ixy Iyy Ixz Iyz Izz
    q, v, vdot = model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    T = peer.T(q)
    Y = pin.computeJointTorqueRegressor(peer.model, peer.data, peer.q(q), T @ v, peer.acceleration(q, v, vdot))
    theirs = T.T @ np.array(Y).reshape(model.nv, -1)
    ours = diff.regressor(model, q, v, vdot)
    for b, joint in enumerate(model.spec.joint_names[1:]):
        name = "root_joint" if not peer.model.existJointName(joint) else joint
        k = 10 * (peer.model.getJointId(name) - 1)
        Y = ours[:, 10 * b:10 * b + 10][:, order]
        assert np.abs(Y - theirs[:, k:k + 10]).max() <= 1e-10 * max(np.abs(Y).max(), 1.0), joint


@pytest.mark.parametrize("what", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_by_bodies(what, rng):
    """By mass, centre of mass and inertia: what the regressor says, and again where the body is another one."""
    model = mbros.load("arm7")
    names = ("mass.link3", "com.link3", "inertia.link5", "damping.joint2", "com.link7", "gravity")
    for _ in range(2):
        state, x = model.random_state(rng), rng.normal(size=7)
        model.set_parameter(state, "com.link3", rng.normal(size=3)).set_parameter(state, "mass.link7", rng.uniform(0.1, 3.0))
        d = diff.derivatives(model, what, state, x, wrt=names)
        vdot = x if what == "inverse_dynamics" else model.forward_dynamics(state, x)
        Y = diff.regressor(model, state.q, state.v, vdot)
        to = np.eye(7) if what == "inverse_dynamics" else -np.linalg.inv(model.mass_matrix(state))
        for name in names[:5]:
            value, steps = np.atleast_1d(model.parameter(state, name)), []
            for k in range(len(value)):
                near = [state.copy(), state.copy()]
                for side, one in zip((1, -1), near):
                    moved = value + side * 1e-6 * np.eye(len(value))[k]
                    model.set_parameter(one, name, moved if len(value) > 1 else moved[0])
                steps.append((diff.regressor_parameters(model, near[0]) - diff.regressor_parameters(model, near[1])) / 2e-6)
            assert np.allclose(d[name], to @ Y @ np.array(steps).T, rtol=1e-7, atol=1e-7 * max(np.abs(d[name]).max(), 1.0)), name


def test_refusals(rng):
    model = mbros.load("arm7")
    for arguments, said in (((np.zeros(6), np.zeros(7), np.zeros(7)), "q: expected 7 numbers"),
                            ((np.zeros((3, 7)), np.zeros((2, 7)), np.zeros(7)), "v: expected 3 rows"),
                            ((np.zeros(7), np.full(7, np.nan), np.zeros(7)), "nan"),
                            ((np.zeros(7), np.full(7, 1e200), np.zeros(7)), "too large")):
        with pytest.raises(mbros.MbrosError, match=said):
            diff.regressor(model, *arguments)
    with pytest.raises(mbros.MbrosError, match="out: expected"):
        diff.regressor(model, *np.zeros((3, 7)), out=np.zeros((7, 90)))
    with pytest.raises(mbros.MbrosError, match="expected a built model"):
        diff.regressor("arm7", *np.zeros((3, 7)))
