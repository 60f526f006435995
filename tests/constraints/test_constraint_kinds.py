"""Constraints that are joints of the same name: a body that flies and is held, beside the same body on the joint."""
import mbros
import numpy as np
import pytest
from tolerance import assert_close

TURNED = mbros.Pose.make((0.1, -0.2, 0.3), rpy=(0.4, -0.3, 0.5))
ON = mbros.Pose.make((-0.1, 0.15, 0.05), rpy=(-0.2, 0.6, 0.1))
KINDS = {
    "universal": (lambda f, m: mbros.UniversalJoint("joint", f, m), lambda f, m: mbros.UniversalConstraint("held", f, m)),
    "prismatic": (lambda f, m: mbros.PrismaticJoint("joint", f, m, axis=(0, 0, 1)), lambda f, m: mbros.PrismaticConstraint("held", f, m)),
    "cylindrical": (lambda f, m: mbros.CylindricalJoint("joint", f, m, axis=(0, 0, 1)),
                    lambda f, m: mbros.CylindricalConstraint("held", f, m)),
    "planar": (lambda f, m: mbros.PlanarJoint("joint", f, m), lambda f, m: mbros.PlanarConstraint("held", f, m)),
    "hinge": (lambda f, m: mbros.RevoluteJoint("joint", f, m, axis=(0, 0, 1)), lambda f, m: mbros.HingeConstraint("held", f, m)),
}


def pair(make, held):
    """A body that flies and carries another one, on a joint or held."""
    b = mbros.ModelBuilder("pair")
    one = b.add_body("one", mass=2.0, com=(0.02, 0.01, -0.03), inertia=(0.02, 0.03, 0.04))
    two = b.add_body("two", mass=1.0, com=(0.1, -0.05, 0.02), inertia=(0.01, 0.02, 0.015))
    b.add_joint(mbros.FloatingJoint("base", b.world, one))
    ends = b.add_frame("F", one, pose=TURNED), b.add_frame("M", two, pose=ON)
    if held:
        b.add_joint(mbros.FloatingJoint("free", b.world, two))
        b.add_constraint(make(*ends))
    else:
        b.add_joint(make(*ends))
    return b.build()


def states(kind):
    """(tree, its state, held, its state) in the same motion."""
    tree, held = pair(KINDS[kind][0], False), pair(KINDS[kind][1], True)
    rng = np.random.default_rng(3)
    one, two = tree.default_state(), held.default_state()
    for joint in tree.joints:
        if joint.name == "joint":
            one.q[joint.q_slice] = rng.normal(scale=0.5, size=joint.nq)
    one.v[:] = rng.normal(size=tree.nv)
    tree.joint("base").set_pose(one, p=(0.3, -0.2, 1.0), rpy=(0.3, 0.2, -0.4))
    for name, body in (("base", "one"), ("free", "two")):
        held.joint(name).set_pose(two, tree.pose(one, body))
    for name, body in (("base", "one"), ("free", "two")):
        V = tree._frame_jacobian(one, tree.frame(body).index) @ one.v
        J = held._frame_jacobian(two, held.frame(body).index)[:, held.joint(name).v_slice]
        two.v[held.joint(name).v_slice] = np.linalg.solve(J, V)
    return tree, one, held, two


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integrator, bound", [("rk4", 1e-9), ("midpoint", 1e-3)])
def test_a_held_body_moves_as_on_the_joint(kind, integrator, bound):
    """rk4, of fourth order: 1e-3 to the fourth at some rad/s. midpoint, of second: 1e-3 squared, times some hundred rad^2/s^2."""
    tree, one, held, two = states(kind)
    assert np.abs(held.constraints["held"].gap(two)).max() < 1e-14
    assert np.abs(held.constraints["held"].jacobian(two) @ two.v).max() < 1e-13
    sims = [mbros.Simulator(model, state=state, integrator=integrator) for model, state in ((tree, one), (held, two))]
    for sim in sims:
        sim.advance_to(1.0)
    for body in ("one", "two"):
        X, Y = (model.pose(sim.state, body) for model, sim in zip((tree, held), sims))
        assert_close(Y.p, X.p, bound, scale=1.0)
        assert_close(Y.R, X.R, bound, scale=1.0)
    assert np.abs(held.constraints["held"].gap(sims[1].state)).max() < 5e-5


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_carries_is_what_the_joint_carries(kind):
    """The reaction on the second body about M, in accelerations (rk4), against its own Newton-Euler balance."""
    tree, one, held, two = states(kind)
    sim = mbros.Simulator(held, state=two, integrator="rk4", dt=1e-6)
    sim.step()
    F = held.constraints["held"].reaction(sim.state)
    J = held._frame_jacobian(sim.state, held.frame("M").index)
    missing = held.inverse_dynamics(two, held.forward_dynamics(two, np.zeros(held.nv)))
    at = held.joint("free").v_slice
    assert_close(J[:, at].T @ np.concatenate([F.torque, F.force]), missing[at], 1e-4)
