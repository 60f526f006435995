"""What model.inverse_kinematics does not take: each refused with a sentence that says what was expected, and nothing changed."""
import numpy as np
import pytest

import mbros
import mbros_core

HERE = mbros.Pose.make((0.3, 0.2, 0.6), rpy=(3.1, 0, 0))
CASES = {
    "no dict": (lambda m, s: m.inverse_kinematics(HERE, s), "targets: expected {frame: pose} with a frame or more"),
    "no frames": (lambda m, s: m.inverse_kinematics({}, s), "targets: expected {frame: pose} with a frame or more"),
    "empty list": (lambda m, s: m.inverse_kinematics([], s), "targets: expected {frame: pose} with a frame or more"),
    "unknown frame": (lambda m, s: m.inverse_kinematics({"flansh": HERE}, s), "no frame 'flansh' in model 'arm7'; did you mean 'flange'?"),
    "one frame twice": (lambda m, s: m.inverse_kinematics({"flange": HERE, m.frame("flange"): HERE}, s), "a frame is there twice"),
    "other frames": (lambda m, s: m.inverse_kinematics([{"flange": HERE}, {"link3": HERE}], s), "the first has ['flange'], number 1 has"),
    "other weights": (lambda m, s: m.inverse_kinematics([{"flange": HERE}, {"flange": (HERE, 2.0)}], s),
        "weights are those of the first dict"),
    "text": (lambda m, s: m.inverse_kinematics({"flange": "up"}, s), "target of 'flange': expected a Pose, a (4, 4) matrix, a point (3,)"),
    "two numbers": (lambda m, s: m.inverse_kinematics({"flange": [1.0, 2.0]}, s), "expected a Pose, a (4, 4) matrix, a point (3,)"),
    "NaN point": (lambda m, s: m.inverse_kinematics({"flange": (1.0, np.nan, 0.0)}, s), "point[1] is nan; expected a finite number"),
    "NaN pose": (lambda m, s: m.inverse_kinematics({"flange": mbros.Pose(np.eye(3), np.full(3, np.nan))}, s), "p[0] is nan"),
    "no rotation": (lambda m, s: m.inverse_kinematics({"flange": np.diag([2.0, 2.0, 2.0, 1.0])}, s), "is not a rotation matrix"),
    "reflection": (lambda m, s: m.inverse_kinematics({"flange": np.diag([-1.0, -1.0, -1.0, 1.0])}, s), "is not a rotation matrix"),
    "matrix": (lambda m, s: m.inverse_kinematics({"flange": np.ones((4, 4))}, s), "the last row of the pose"),
    "in another frame": (lambda m, s: m.inverse_kinematics({"flange": m.pose(s, "flange", "link2")}, s),
                         "relative to 'link2'; expected one in the world, which is model.pose(state, 'link2') @ pose"),
    "negative weight": (lambda m, s: m.inverse_kinematics({"flange": (HERE, -1.0)}, s),
        "weights is -1; expected a finite number, zero or more"),
    "no weight": (lambda m, s: m.inverse_kinematics({"flange": (HERE, 0.0)}, s), "weights: expected a number, 2 (rotation, position) or 6"),
    "weights of a point": (lambda m, s: m.inverse_kinematics({"flange": ((0, 0, 1), (1, 1))}, s), "weights: expected a number or 3"),
    "q0": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, q0=np.zeros(3)), "q0: expected shape (n, 7), or (7,) for all, got (3,)"),
    "q0 NaN": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, q0=np.full((2, 7), np.nan)), "q0[0, 0] is nan"),
    "q0 rows": (lambda m, s: m.inverse_kinematics([{"flange": HERE}] * 3, s, q0=np.zeros((2, 7))), "q0 has 2 rows and there are 3 targets"),
    "posture": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, posture=[0.0]),
                "posture: expected shape (n, 7), or (7,) for all, got (1,)"),
    "posture rows": (lambda m, s: m.inverse_kinematics([{"flange": HERE}] * 3, s, posture=np.zeros((2, 7))), "posture has 2 rows"),
    "tolerance": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, tolerance=-1e-6), "tolerance"),
    "iterations": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, iterations=0),
        "iterations: expected a whole number, 1 to 1000000, got 0"),
    "very many iterations": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, iterations=2**31), "1 to 1000000, got 2147483648"),
    "very many restarts": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, restarts=2**40), "0 to 1000000, got 1099511627776"),
    "restarts": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, restarts=1.5),
        "restarts: expected a whole number, 0 to 1000000, got 1.5"),
    "seed": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, seed="a"), "seed: expected a whole number, zero or more, got 'a'"),
    "threads": (lambda m, s: m.inverse_kinematics({"flange": HERE}, s, threads=0), "threads: expected a whole number, 1 or more, got 0"),
    "another model's state": (lambda m, s: m.inverse_kinematics({"flange": HERE}, mbros.load("arm6").default_state()), "arm7"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused(case):
    model = mbros.load("arm7")
    state = model.default_state()
    q = state.q.copy()
    call, part = CASES[case]
    with pytest.raises(mbros.MbrosError) as caught:
        call(model, state)
    assert part in str(caught.value)
    assert np.array_equal(state.q, q)


def test_a_quaternion_of_zeros_is_refused():
    model = mbros.load("quadruped")
    q0 = model.default_state().q.copy()
    q0[3:7] = 0.0
    with pytest.raises(mbros.NonFiniteError):
        model.inverse_kinematics({model.bodies[1].name: (0.0, 0.0, 0.0)}, q0=q0)


def test_the_state_is_read_and_not_written():
    model = mbros.load("arm7")
    state = model.random_state(np.random.default_rng(0))
    before = state._inputs.copy()
    assert model.inverse_kinematics({"flange": HERE}, state).solved
    assert np.array_equal(state._inputs, before)


SIZES = {"weights": (1, 6), "lower": (7,), "upper": (7,), "targets": (3, 1, 12), "starts": (2, 7), "posture": (3, 7), "q": (3, 7),
         "errors": (3, 2), "solved": (3,), "steps": (3,)}


@pytest.mark.parametrize("wrong", SIZES)
def test_the_compiled_solver_trusts_no_size(wrong):
    """It reads and writes through pointers: an array that is one row short is refused before the first is touched."""
    model = mbros.load("arm7")
    a = {name: np.zeros(shape, {"solved": np.int8, "steps": np.int32}.get(name, float)) for name, shape in SIZES.items()}
    a["targets"][:, :, :9] = np.eye(3).ravel()
    a[wrong] = a[wrong][..., :-1].copy()
    with pytest.raises(mbros.MbrosError, match=f"InverseKinematics of model 'arm7': {wrong}: expected"):
        solver = mbros_core.InverseKinematics(model, model.default_state(), [1], a["weights"], a["lower"], a["upper"])
        solver.solve(a["q"], a["targets"], a["starts"], a["posture"], 1e-6, 10, a["errors"], a["solved"], a["steps"])
    assert not a["q"].any() and not a["errors"].any()
