"""Contact and constraints in one problem: what stands on the ground by a constraint stands on the ground."""
import dataclasses

import mbros
import mbros_core
import numpy as np
from mbros_core.constraints.touches import FORCE, WRENCH
from mbros_core.geometry import half_space, sphere
from tolerance import assert_close


def two_on_the_ground(kind):
    """A ball of 1 kg on the ground, and a weight of 3 kg that only the constraint holds, 0.3 m above its centre."""
    b = mbros.ModelBuilder("two")
    ball, weight = b.add_body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01)), b.add_body("weight", mass=3.0, inertia=(0.1, 0.1, 0.1))
    for body in (ball, weight):
        b.add_joint(mbros.PrismaticJoint(f"lift {body.name}", b.world, body, axis=(0, 0, 1)))
    top = b.add_frame("top", ball, p=(0, 0, 0.3))
    b.add_constraint({"weld": mbros.WeldConstraint, "ball": mbros.BallConstraint}[kind]("on", top, weight) if kind != "rod" else
                     mbros.DistanceConstraint("on", ball, weight, 0.3))
    spec = b.build().spec
    X = np.tile(np.eye(3, 4).T.ravel(), (2, 1)) * 0.0
    X[:, [0, 4, 8]] = 1.0
    numbers = np.array([[1e5, 0.01, 0.5, 0.0, 0.0, 0.0]] * 2)
    return mbros_core.Model(dataclasses.replace(
        spec, shape_names=["ground", "ball"], shape_geometry=[half_space(), sphere(0.1)],
        shape_body=np.array([0, spec.body_names.index("ball")]), shape_X=X, shape_parameters=numbers))


def test_the_ground_carries_both_and_the_constraint_the_upper_one():
    for kind in ("weld", "ball", "rod"):
        model = two_on_the_ground(kind)
        state = model.default_state()
        state.q = [0.105, 0.405]
        plant = mbros_core.Plant(model, state)
        plant.steps(np.zeros(2), 1500)
        rows = model._contact_rows(state)
        assert len(rows) == 1
        assert_close(rows[0, FORCE], [0.0, 0.0, 4.0 * 9.81], 1e-6)
        assert_close(model._constraint_efforts(state)[0, WRENCH], [0.0, 0.0, 0.0, 0.0, 0.0, 3.0 * 9.81], 1e-6)
        assert abs(state.q[1] - state.q[0] - 0.3) < 1e-8 and np.abs(state.v).max() < 1e-9
        assert state.field("contact_memory")[0, 3] == 0.0                                       # every problem was solved


def test_a_fall_apart_from_the_ground_is_free():
    model = two_on_the_ground("weld")
    state = model.default_state()
    state.q = [1.0, 1.3]
    mbros_core.Plant(model, state).steps(np.zeros(2), 100)
    assert_close(state.q, [1.0 - 9.81 / 2 * 0.01, 1.3 - 9.81 / 2 * 0.01], 1e-9)
    assert np.abs(model._constraint_efforts(state)).max() < 1e-9
