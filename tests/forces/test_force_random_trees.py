"""Random trees over all registered joints with force elements of all registered kinds: the identities of dynamics hold."""
import numpy as np
import zoo
from force_rigs import KINDS
from hypothesis import HealthCheck, given, settings, strategies as st
from mbros_core.forces.diagnosis import BUSHINGS, cos_pitch
from mbros_core.forces.registry import BY_NAME as FORCES
from mbros_core.joints.registry import ROWS as JOINTS
from tolerance import condition

import mbros_core

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
trees = st.lists(st.tuples(st.sampled_from([row.name for row in JOINTS if row.name != "user"]), st.integers(0, 100)), min_size=1,
                 max_size=10)
elements = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)


def numbers(kind, rng):
    """Parameters of a kind: positive where they must be, and no wider than that."""
    row = FORCES[kind]
    p = np.zeros(16)
    for i, least in enumerate(row.least):
        p[i] = rng.uniform(0.2, 2.0) if least is not None else rng.uniform(-0.5, 0.5)
    if kind == "stribeck":
        p[1] += p[0]
    if kind == "body_wrench":
        p[:3], p[6] = 0.0, 0.0          # a force in world axes, which has a potential
    if kind == "bushing":
        p[6:9] = p[6]                   # equal stiffnesses, for which the seed's law has one
    return p


def model_of(tree, kinds, seed):
    """(model, random state) of a tree with elements, away from gimbal lock; None when there is no such state or place."""
    rng = np.random.default_rng(seed)
    spec = zoo.build("random", [zoo.Body(kind, at % (i + 1)) for i, (kind, at) in enumerate(tree)], rng=rng, damped=False, rotors=True)
    rated = [(q.start + k, v.start + k) for _, q, v in zoo.rated(spec) for k in range(v.stop - v.start)]
    kinds = [kind for kind in kinds if FORCES[kind].acts_on != "coordinate" or rated]
    if not kinds or not len(spec.damping):
        return None
    n, nb = len(kinds), len(spec.parent)
    spec.force_names, spec.force_kind = [f"e{k}" for k in range(n)], kinds
    spec.force_body, spec.force_coordinate = np.full((n, 2), -1, np.int32), np.full((n, 2), -1, np.int32)
    spec.force_X = np.array([[zoo.placement(rng) for _ in range(2)] for _ in range(n)])
    spec.force_parameters = np.array([numbers(kind, rng) for kind in kinds])
    for k, kind in enumerate(kinds):
        if FORCES[kind].acts_on == "coordinate":
            spec.force_coordinate[k] = rated[int(rng.integers(len(rated)))]
        else:
            spec.force_body[k] = rng.integers(0, nb, 2)
            if FORCES[kind].acts_on == "body":
                spec.force_body[k, 0] = -1
    model = mbros_core.Model(spec)
    for _ in range(20):
        state = model.default_state()
        state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.uniform(-1, 1, model.nv)
        if all(cos_pitch(model, state, k)[1] > 0.3 for k, kind in enumerate(kinds) if kind in BUSHINGS):
            return model, state, rng
    return None


@SETTINGS
@given(trees, elements, st.integers(0, 10**6))
def test_forward_after_inverse_dynamics(tree, kinds, seed):
    made = model_of(tree, kinds, seed)
    if made is None:
        return
    model, state, rng = made
    vdot = rng.normal(size=model.nv)
    back = model.forward_dynamics(state, model.inverse_dynamics(state, vdot))
    M = model.mass_matrix(state)
    assert np.abs(back - vdot).max() <= 1e-10 * max(1.0, np.abs(vdot).max()) + 1e-14 * condition(M) * np.abs(vdot).max()
    assert np.array_equal(M, M.T) and np.linalg.eigvalsh(M)[0] > 0.0


@SETTINGS
@given(trees, elements, st.integers(0, 10**6))
def test_power_balance(tree, kinds, seed):
    """d(kinetic + potential)/dt = tau . v + the powers that are not conservative."""
    made = model_of(tree, kinds, seed)
    if made is None:
        return
    model, state, rng = made
    tau = rng.normal(size=model.nv)
    vdot = model.forward_dynamics(state, tau)
    lost = sum(model._force_element(state, k)[3][5] for k in range(len(model.spec.force_kind)))
    q, v, h, slope, size = state.q.copy(), state.v.copy(), 1e-4, 0.0, 1.0
    for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
        state.q[:] = model.integrate(q, step * h * v)          # right to first order in h, all that the slope at 0 needs
        state.v[:] = v + step * h * vdot
        E = model.kinetic_energy(state) + model.potential_energy(state)
        slope += weight / (12 * h) * E
        size = max(size, abs(E), np.abs(vdot).max())
    assert abs(slope - (tau @ v + lost)) < 1e-6 * size
