"""Random trees over every registered kind of joint, 1 to 30 degrees of freedom: the identities hold."""
from dataclasses import dataclass

import numpy as np
import zoo
from hypothesis import given, settings, strategies as st
from tolerance import EPS, assert_close, condition

import mbros_core
import reference as ref
from mbros_core.joints.registry import BY_NAME, ROWS

CHECK = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@dataclass
class Drawn:
    """A random robot: its shape, and the seed of its numbers. Short enough to be read in a failure report."""

    bodies: list
    seed: int
    rough: bool

    def make(self):
        """Spec, engine model, a poisoned state of it under random wrenches, and the generator for more numbers."""
        rng = np.random.default_rng(self.seed)
        spec = zoo.build("random", self.bodies, rng=rng, friction=self.rough, stops=self.rough)
        model = mbros_core.Model(spec)
        state = model.default_state()
        state._poison()
        state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv)
        state.external_force[:] = rng.normal(size=state.external_force.shape)
        return spec, model, state, rng


@st.composite
def trees(draw, rough=None, largest=30):
    """Robots with 1 to `largest` degrees of freedom, with welds and followers among the joints."""
    bodies, dof = [], 0
    for i in range(draw(st.integers(1, 20))):
        kind = draw(st.sampled_from([row.name for row in ROWS]))
        parent = draw(st.integers(0, i))
        leaders = [k + 1 for k, b in enumerate(bodies) if BY_NAME[b.kind].nq == 1 and b.leader < 0]
        leader = -1
        if leaders and BY_NAME[kind].nq == 1 and draw(st.integers(0, 3)) == 0:
            leader = draw(st.sampled_from(leaders))
        if leader < 0 and dof + BY_NAME[kind].nv > largest:
            continue
        ratio, offset = (draw(st.sampled_from([-1.0, 0.5, 2.0])), 0.1) if leader >= 0 else (1.0, 0.0)
        bodies.append(zoo.Body(kind, min(parent, len(bodies)), leader, ratio, offset))
        dof += 0 if leader >= 0 else BY_NAME[kind].nv
    if dof == 0:
        bodies.append(zoo.Body("revolute", len(bodies)))
    return Drawn(bodies, draw(st.integers(0, 2**32 - 1)), draw(st.booleans()) if rough is None else rough)


@CHECK
@given(trees())
def test_forward_dynamics_undoes_inverse_dynamics(drawn):
    spec, model, state, rng = drawn.make()
    vdot = rng.normal(size=model.nv)
    tau = model.inverse_dynamics(state, vdot)
    loss = condition(model.mass_matrix(state))
    # what is lost is relative to the largest torque that went in and came out again
    size = max(1.0, np.abs(np.linalg.solve(model.mass_matrix(state), tau)).max())
    assert_close(model.forward_dynamics(state, tau), vdot, 256 * EPS * loss, scale=size)


@CHECK
@given(trees())
def test_engine_is_the_textbook(drawn):
    spec, model, state, rng = drawn.make()
    tree, q, v = ref.Tree(spec), state.q.copy(), state.v.copy()
    wrenches, vdot = state.external_force.copy(), rng.normal(size=model.nv)
    M, passive = ref.crba(tree, q), model.passive_torques(state)
    assert_close(model.mass_matrix(state), M, 512 * EPS)
    tau = ref.rnea(tree, q, v, vdot, wrenches)
    assert_close(model.inverse_dynamics(state, vdot), tau - passive, 1024 * EPS)
    again = model.forward_dynamics(state, tau - passive)
    size = max(1.0, np.abs(np.linalg.solve(M, tau)).max(), np.abs(np.linalg.solve(M, passive)).max())
    assert_close(again, vdot, 512 * EPS * condition(M), scale=size)
    k = len(model.spec.frame_body) - 1
    assert_close(model._frame_jacobian(state, k), ref.frame_jacobian(tree, q, k), 512 * EPS, scale=1.0)
    assert_close(model._frame_velocity(state, k), ref.frame_velocity(tree, q, v, k), 1024 * EPS, scale=1.0)


@CHECK
@given(trees())
def test_mass_matrix_columns_are_inverse_dynamics(drawn):
    spec, model, state, rng = drawn.make()
    M = model.mass_matrix(state)
    assert (M == M.T).all() and np.linalg.eigvalsh(M)[0] > 0
    for name in ("gravity", "external_force", "v", "stop_stiffness"):
        state.field(name)[:] = 0
    columns = [model.inverse_dynamics(state, e) for e in np.eye(model.nv)]
    assert_close(np.array(columns).T, M, 512 * EPS)


@CHECK
@given(trees())
def test_configurations_form_a_space(drawn):
    """integrate and difference are each other's inverse; zero moves nothing; normalize is a projection."""
    spec, model, state, rng = drawn.make()
    q, dv = state.q.copy(), rng.uniform(-0.9, 0.9, model.nv)
    scale = 256 * EPS * (1 + np.abs(q).max())
    assert np.abs(model.integrate(q, np.zeros(model.nv)) - q).max() <= scale
    moved = model.integrate(q, dv)
    assert np.abs(model.difference(q, moved) - dv).max() <= scale
    if not any(row.group.endswith("as rpy") for row, _, _ in zoo.slices(spec)):
        # where increments are those of the group, the way back is the way there reversed
        assert np.abs(model.difference(moved, q) + dv).max() <= scale
    stretched = moved.copy()
    for part in zoo.unit_parts(spec):
        stretched[part] *= 1.7
    once = model.normalize(stretched)
    assert np.abs(once - moved).max() <= scale
    assert np.abs(model.normalize(once) - once).max() <= 4 * EPS


@CHECK
@given(trees(rough=False))
def test_one_small_step_follows_the_accelerations(drawn):
    """A semi-implicit step of a smooth robot is v + h vdot, to the first order that it promises."""
    spec, model, state, rng = drawn.make()
    h = 1e-6
    tau = rng.normal(size=model.nv)
    vdot = model.forward_dynamics(state, tau)
    q, v = state.q.copy(), state.v.copy()
    mbros_core.Plant(model, state, dt=h, integrator="semi_implicit_euler").step(tau)
    slope = (state.v - v) / h
    # damping at the end of the step instead of its start: h M^-1 d vdot, with every part bounded
    M = model.mass_matrix(state)
    late = h * np.linalg.norm(np.linalg.inv(M), 2) * spec.damping.max() * np.linalg.norm(vdot)
    # a floating joint's velocity is carried along with its turning axes: terms of the order h w (vdot + w v)
    late += h * np.linalg.norm(v) * (np.linalg.norm(vdot) + np.linalg.norm(v) ** 2)
    room = late + 64 * EPS * (1 + np.abs(v).max()) / h + 512 * EPS * condition(M) * np.abs(vdot).max()
    assert np.abs(slope - vdot).max() <= 2 * room
    moved = model.difference(q, state.q) / h
    assert np.abs(moved - state.v).max() <= 2 * late + 64 * EPS * (1 + np.abs(q).max() + np.abs(v).max()) / h
