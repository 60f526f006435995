"""Random states of a model: joints with a distribution of their own draw from it, the others as asked."""
from __future__ import annotations

import numpy as np

from mbros.arguments import choice, generator
from mbros.describe.joints.distributions import UniformRotation
from mbros.describe.joints.kinds import row_of, unit_parts
from mbros.describe.joints.random import RandomPositions


def random_state(model, rng=None, others="uniform"):
    """A State with random q and v; see Model.random_state."""
    choice("random_state", "others", others, ("uniform", "default"))
    rng = generator("random_state", rng)
    state = model.default_state()
    if others == "uniform":
        state.q[:] = model.random_configuration(rng)
        state.v[:] = random_velocity(model, rng)
    drawn: dict = {}
    for joint in model.joints:
        if joint.random is not None and not joint.follows:
            state.q[joint.q_slice] = joint.random.draw(joint.label, joint.default_positions, drawn, rng)
        if joint.nv and not joint.follows and joint.is_locked(state):
            state.q[joint.q_slice], state.v[joint.v_slice] = joint.default_positions, 0.0
    return state


def random_velocity(model, rng) -> np.ndarray:
    """Uniform within the velocity limits, +-1 (rad/s, m/s) without them."""
    lower, upper = -np.ones(model.nv), np.ones(model.nv)
    for joint in model.joints:
        if joint.nv and not joint.follows:
            low, high = joint.limits.velocity
            lower[joint.v_slice] = np.where(np.isfinite(low), low, np.minimum(-1.0, high))
            upper[joint.v_slice] = np.where(np.isfinite(high), high, np.maximum(1.0, low))
    return rng.uniform(lower, upper)


def random_positions(joint, rng) -> np.ndarray:
    """q (nq,) of one joint: from its distribution; without one, as the seeds do: standard normal lengths and uniform angles
    where there are no limits, uniform within limits, rotations uniform. A user's joint with maps of its own and without
    units goes from neutral by a standard normal increment."""
    rng = generator(joint.label, rng)
    row, parts = row_of(joint.row.kind), unit_parts(joint.row.kind)
    if joint.random is not None:
        return joint.random.draw(joint.label, joint.default_positions, {}, rng)
    if row.name == "user" and not row.velocities_are_rates and not any(row.position_units) and not parts:
        return joint.mobility.model.integrate(joint.neutral, rng.normal(size=joint.nv))
    q = RandomPositions(joint.row.kind, (None,) * joint.nq, UniformRotation()).draw(joint.label, joint.neutral, {}, rng)
    for k, unit in enumerate(row.position_units):
        low, high = joint.bounds[k]
        if any(part.start <= k < part.stop for part in parts):
            continue
        if np.isfinite(low) and np.isfinite(high):
            q[k] = rng.uniform(low, high)
        else:
            q[k] = np.clip(rng.uniform(-np.pi, np.pi) if unit == "rad" else rng.normal(), low, high)
    return q
