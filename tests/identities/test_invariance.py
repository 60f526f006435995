"""What must not matter: where the world's origin is, in which order things are computed, what memory held before."""
import numpy as np
import pytest
import robots
import zoo
from robots import Case, pose
from tolerance import EPS, assert_close, condition

import mbros_core
import reference as ref


def move_world(spec, R, p):
    """The same robot in a world W' with R_W'W, p_W'W: placements on the world, gravity and world frames move."""
    for i in range(1, len(spec.parent)):
        if spec.parent[i] == 0:
            spec.X_PF[i] = _moved(spec.X_PF[i], R, p)
    for k in range(1, len(spec.frame_names)):
        if spec.frame_body[k] == 0:
            spec.X_BF[k] = _moved(spec.X_BF[k], R, p)
    spec.gravity = R @ spec.gravity
    return spec


def _moved(x, R, p):
    return np.concatenate([(R @ x[:9].reshape(3, 3)).ravel(), R @ x[9:] + p])


@pytest.mark.parametrize("name", zoo.NAMES)
def test_a_moved_world_changes_nothing(name, rng):
    c = Case(name, rng)
    R, p = zoo.rotation(rng), rng.uniform(-2, 2, 3)
    other = mbros_core.Model(move_world(zoo.spec(name), R, p))
    state = other.default_state()
    state._poison()
    state.q[:], state.v[:] = c.q, c.v
    loss = condition(c.model.mass_matrix(c.state))
    assert_close(other.mass_matrix(state), c.model.mass_matrix(c.state), 256 * EPS)
    assert_close(other.inverse_dynamics(state, c.vdot), c.model.inverse_dynamics(c.state, c.vdot), 512 * EPS)
    assert_close(other.forward_dynamics(state, c.tau), c.model.forward_dynamics(c.state, c.tau), 64 * EPS * loss)
    assert_close(other.center_of_mass(state), R @ c.model.center_of_mass(c.state) + p, 256 * EPS, scale=1.0)
    assert_close(other.kinetic_energy(state), c.model.kinetic_energy(c.state), 256 * EPS)
    k = len(c.model.spec.frame_body) - 1
    J, J0 = other._frame_jacobian(state, k), c.model._frame_jacobian(c.state, k)
    assert_close(J, np.vstack([R @ J0[:3], R @ J0[3:]]), 128 * EPS, scale=1.0)
    assert_close(pose(other._frame_pose(state, k))[1], R @ pose(c.model._frame_pose(c.state, k))[1] + p, 64 * EPS, scale=1.0)


def results(c, state, order=None):
    """Every quantity of a state, computed in the given order."""
    m, last = c.model, len(c.model.spec.frame_body) - 1
    quantities = {
        "forward_dynamics": lambda: m.forward_dynamics(state, c.tau),
        "inverse_dynamics": lambda: m.inverse_dynamics(state, c.vdot),
        "mass_matrix": lambda: m.mass_matrix(state),
        "gravity_torques": lambda: m.gravity_torques(state),
        "coriolis_torques": lambda: m.coriolis_torques(state),
        "bias_torques": lambda: m.bias_torques(state),
        "passive_torques": lambda: m.passive_torques(state),
        "frame_pose": lambda: m._frame_pose(state, last),
        "frame_velocity": lambda: m._frame_velocity(state, last),
        "frame_acceleration": lambda: m._frame_acceleration(state, last, c.vdot),
        "frame_jacobian": lambda: m._frame_jacobian(state, last),
        "center_of_mass": lambda: m.center_of_mass(state),
        "com_jacobian": lambda: m.com_jacobian(state),
        "centroidal_momentum": lambda: m.centroidal_momentum(state),
        "kinetic_energy": lambda: m.kinetic_energy(state),
        "potential_energy": lambda: m.potential_energy(state),
    }
    names = list(quantities) if order is None else [list(quantities)[k] for k in order]
    return {name: np.array(quantities[name]()) for name in names}


@pytest.mark.parametrize("name", zoo.NAMES)
def test_nothing_depends_on_what_was_computed_before(name, rng):
    """Each quantity from a poisoned workspace equals the one after all others, in any order, to the last bit."""
    c = Case(name, rng, wrenches=True)
    alone = {}
    for k in range(16):
        alone.update(results(c, c.new_state(), [k]))
    assert all(np.isfinite(x).all() for x in alone.values())
    for _ in range(4):
        state = c.new_state()
        for _ in range(2):                                     # a second time on the same workspace
            for quantity, x in results(c, state, rng.permutation(16)).items():
                assert np.array_equal(x, alone[quantity]), quantity


@pytest.mark.parametrize("name", ["branched", "floating_tree", "mimic"])
def test_a_changed_state_gives_changed_results(name, rng):
    """Through the views, by whole arrays and by single numbers: results are those of the present q and v."""
    c, d = Case(name, rng), Case(name, rng)
    results(c, c.state)
    c.state.q[:] = d.q
    c.state.v[:] = d.v
    for quantity, x in results(d, c.state).items():
        assert np.array_equal(x, results(d, d.new_state())[quantity]), quantity
    c.state.q[-1] += 0.1
    d.q[-1] += 0.1
    for quantity, x in results(d, c.state).items():
        assert np.array_equal(x, results(d, d.new_state())[quantity]), quantity


def merged(spec):
    """A weld-free copy of a spec: each welded body's inertia and frames go to the body that carries it (textbook way)."""
    keep, home, X_of = [0], {0: 0}, {0: (np.eye(3), np.zeros(3))}
    inertia = [ref.spatial.spatial_inertia(ten) for ten in spec.inertia]
    total = {0: np.zeros((6, 6))}
    rows = []
    for i in range(1, len(spec.parent)):
        parent = int(spec.parent[i])
        X_PF = (spec.X_PF[i][:9].reshape(3, 3), spec.X_PF[i][9:])
        X = ref.spatial.compose(X_of[parent], X_PF)
        if spec.joint_kind[i] == "weld":
            home[i], X_of[i] = home[parent], X
            B = ref.spatial.motion_transform(X)
            total[home[i]] = total[home[i]] + B.T @ inertia[i] @ B
            continue
        home[i], X_of[i] = len(keep), (np.eye(3), np.zeros(3))
        total[len(keep)] = inertia[i]
        rows.append((zoo.Body(spec.joint_kind[i], home[parent]), np.concatenate([X[0].ravel(), X[1]])))
        keep.append(i)
    new = zoo.build(spec.name, [body for body, _ in rows], extra_frames=0)
    new.gravity = spec.gravity
    new.X_PF[1:] = [x for _, x in rows]
    new.inertia = np.array([_ten(total[k]) for k in range(len(keep))])
    new.inertia[0] = 0
    for name in ("damping", "friction", "rotor_inertia"):
        setattr(new, name, getattr(spec, name))
    new.frame_names = spec.frame_names
    new.frame_body = np.array([home[int(b)] for b in spec.frame_body], np.int32)
    frames = [ref.spatial.compose(X_of[int(b)], (x[:9].reshape(3, 3), x[9:])) for b, x in zip(spec.frame_body, spec.X_BF)]
    new.X_BF = np.array([np.concatenate([R.ravel(), p]) for R, p in frames])
    return new


def _ten(I):
    return np.array([I[5, 5], I[2, 4], I[0, 5], I[1, 3], I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


@pytest.mark.parametrize("name", ["welds", "mixed"])
def test_merged_welds_change_nothing(name, rng):
    c = Case(name, rng)
    other = mbros_core.Model(merged(zoo.spec(name)))
    state = other.default_state()
    state._poison()
    state.q[:], state.v[:] = c.q, c.v
    loss = condition(c.model.mass_matrix(c.state))
    assert_close(other.mass_matrix(state), c.model.mass_matrix(c.state), 256 * EPS)
    assert_close(other.forward_dynamics(state, c.tau), c.model.forward_dynamics(c.state, c.tau), 64 * EPS * loss)
    assert_close(other.inverse_dynamics(state, c.vdot), c.model.inverse_dynamics(c.state, c.vdot), 512 * EPS)
    for k in range(len(c.model.spec.frame_body)):
        assert_close(other._frame_pose(state, k), c.model._frame_pose(c.state, k), 128 * EPS, scale=1.0)
        assert_close(other._frame_jacobian(state, k), c.model._frame_jacobian(c.state, k), 128 * EPS, scale=1.0)


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_merge_welds_changes_nothing(name, base, rng):
    """Welded bodies as one body or apart: the same motion, the same user-level bodies and frames."""
    whole, apart = (robots.loaded(name, base, merge_welds=merge).model for merge in (True, False))
    assert len(apart.spec.parent) >= len(whole.spec.parent) and apart.nv == whole.nv
    a, b = whole.default_state(), apart.default_state()
    for _ in range(5):
        q, (v, x) = whole.random_configuration(rng), rng.normal(size=(2, whole.nv))
        for state in (a, b):
            state._poison()
            state.q[:], state.v[:] = q, v
        M = whole.mass_matrix(a)
        assert_close(apart.mass_matrix(b), M, 1e-12)
        assert_close(apart.forward_dynamics(b, x), whole.forward_dynamics(a, x), max(1e-12, EPS * condition(M)))
        assert_close(apart.inverse_dynamics(b, x), whole.inverse_dynamics(a, x), 1e-12)
        assert_close(apart.center_of_mass(b), whole.center_of_mass(a), 1e-12, scale=1.0)
        assert_close(apart.potential_energy(b), whole.potential_energy(a), 1e-12, scale=1.0)
        assert_close(apart.total_mass(b), whole.total_mass(a), 1e-12)
        for frame in whole.frames:
            assert_close(apart.pose(b, frame.name).matrix, whole.pose(a, frame.name).matrix, 1e-12, scale=1.0)
            assert_close(apart.jacobian(b, frame.name), whole.jacobian(a, frame.name), 1e-12, scale=1.0)
