"""The Coriolis matrix, the inverse mass matrix, and motion as seen from any frame (L12)."""
import mbros
import numpy as np
import pytest
from mbros.describe.urdf.packages import example_robot_data

ROBOTS = ("arm7", "ur5", "quadruped", "mobile_arm", "four_bar", "humanoid")


def made(name, seed=3):
    if name == "ur5" and not example_robot_data():
        pytest.skip("needs example-robot-data")
    model = mbros.load(name)
    state = model.random_state(np.random.default_rng(seed)) if not model.constraints else model.default_state()
    state.v[:] = np.random.default_rng(seed).normal(size=model.nv)
    return model, state


def moved(model, state, h):
    other = state.copy()
    return other.set(model.integrate(state.q, h * np.asarray(state.v)), state.v)


@pytest.mark.parametrize("name", ROBOTS)
def test_trial_L12_the_coriolis_matrix(name):
    """C v by inverse dynamics, and dM/dt = C + C^T by differences of M."""
    model, state = made(name)
    C, M = model.coriolis_matrix(state), model.mass_matrix(state)
    torques = model.coriolis_torques(state)
    assert np.abs(C @ state.v - torques).max() < 1e-12 * max(1.0, np.abs(C).max() * np.abs(state.v).max() * model.nv)
    h = 1e-5
    rate = (model.mass_matrix(moved(model, state, h)) - model.mass_matrix(moved(model, state, -h))) / (2.0 * h)
    assert np.abs(rate - C - C.T).max() < 1e-7 * max(1.0, np.abs(M).max())
    out = np.full_like(C, np.nan)
    assert model.coriolis_matrix(state, out=out) is out and np.array_equal(out, C)


def test_trial_L12_the_coriolis_matrix_is_of_christoffel_symbols():
    """c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, of an arm."""
    model, state = made("arm7")
    n, h = model.nv, 1e-5
    slopes = np.zeros((n, n, n))                            # [i, j, k]: dM_ij/dq_k
    for k in range(n):
        e = np.zeros(n)
        e[k] = h
        slopes[:, :, k] = (model.mass_matrix(state, q=state.q + e) - model.mass_matrix(state, q=state.q - 2.0 * e)) / (2.0 * h)
        state.set_q(state.q + e)
    C = np.einsum("ijk,k->ij", 0.5 * (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 1, 0).transpose(0, 2, 1)), state.v)
    assert np.abs(C - model.coriolis_matrix(state)).max() < 1e-8


@pytest.mark.parametrize("name", ROBOTS)
def test_trial_L12_the_inverse_mass_matrix(name):
    model, state = made(name)
    M, inverse = model.mass_matrix(state), model.inverse_mass_matrix(state)
    assert np.array_equal(inverse, inverse.T)
    assert np.abs(M @ inverse - np.eye(model.nv)).max() < 1e-16 * np.linalg.cond(M) * model.nv * 10.0
    assert np.allclose(inverse, np.linalg.inv(M), rtol=0, atol=1e-14 * np.linalg.cond(M) * np.abs(inverse).max())


@pytest.mark.parametrize("name", ["arm7", "quadruped", "mobile_arm"])
def test_trial_L12_velocities_are_seen_from_any_frame(name):
    """Against differences of the relative pose, in the axes of three frames."""
    model, state = made(name)
    names = model.frames.names
    frame, other, axes = names[-1], names[len(names) // 2], names[len(names) // 3]
    h = 1e-5
    X, Y = (model.pose(moved(model, state, s), frame, other) for s in (h, -h))
    W = (X.R @ Y.R.T - np.eye(3)) / (2.0 * h)
    R = model.pose(state, other, axes).R
    want = np.concatenate([R @ np.array([W[2, 1], W[0, 2], W[1, 0]]), R @ (X.p - Y.p) / (2.0 * h)])
    V = model.velocity(state, frame, relative_to=other, expressed_in=axes)
    assert np.abs(V.values - want).max() < 1e-4 * max(1.0, np.abs(want).max()) and V.frame == frame and V.expressed_in == axes
    assert np.allclose(model.jacobian(state, frame, axes, relative_to=other) @ state.v, V.values, rtol=0, atol=1e-12)
    assert np.allclose(model.velocity(state, frame, "world", "world").values, model.velocity(state, frame).values, rtol=0, atol=1e-13)


def test_trial_L12_jacobians_of_any_point():
    """Of a point: that of a frame there; in local axes of the frame's own; of linear rows first; into out=."""
    model, state = made("arm7")
    b = mbros.ModelBuilder(model)
    b.add_frame("tip", b.body("flange"), p=(0.1, -0.2, 0.3))
    with_tip = b.build()
    other = with_tip.default_state()
    other.set(state.q, state.v)
    for axes in ("world", "local", "link2"):
        J = model.jacobian(state, "flange", axes, point=(0.1, -0.2, 0.3))
        assert np.allclose(J, with_tip.jacobian(other, "tip", "flange" if axes == "local" else axes), rtol=0, atol=1e-13)
    out = np.empty((6, 7))
    assert model.jacobian(state, "flange", out=out, rows="linear_angular", point=(0.1, -0.2, 0.3)) is out
    assert np.array_equal(out[3:], model.jacobian(state, "flange", point=(0.1, -0.2, 0.3))[:3])
    moved_on = model.jacobian(state, "flange", point=(0.1, 0, 0), q=np.full(7, 0.1))
    assert np.array_equal(moved_on, model.jacobian(state, "flange", point=(0.1, 0, 0))) and state.q[0] == 0.1


@pytest.mark.parametrize("given, words", [
    ({"point": (1.0, 2.0)}, "point"), ({"point": (0.0, np.nan, 0.0)}, "point"), ({"relative_to": "nowhere"}, "'nowhere'"),
    ({"expressed_in": "nowhere"}, "'nowhere'")])
def test_trial_L12_what_is_not_there_is_said(given, words):
    model, state = made("arm7")
    before = np.array(state.q)
    with pytest.raises(mbros.MbrosError, match=words):
        model.jacobian(state, "flange", q=before + 0.1, **given)
    assert np.array_equal(state.q, before)
