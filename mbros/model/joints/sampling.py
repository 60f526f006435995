"""Random states of a model: joints with a distribution of their own draw from it, the others as asked."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import choice, generator
from mbros.describe.joints.distributions import UniformRotation
from mbros.describe.joints.kinds import row_of, unit_parts
from mbros.describe.joints.random import RandomPositions
from mbros.errors import MbrosError
from mbros.model.constraints.assemble import assemble

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, Rng

MOST_DRAWS = 20             # of a state whose constraints can be closed


def random_state(model: Model, rng: Rng | None = None, others: str = "uniform") -> State:
    """A State with random q and v; see Model.random_state."""
    choice("random_state", "others", others, ("uniform", "default"))
    rng = generator("random_state", rng)
    if not len(model.constraints):
        return drawn_state(model, rng, others)
    for _ in range(MOST_DRAWS - 1):
        try:
            return assemble(model, drawn_state(model, rng, others))
        except MbrosError:                                      # out of reach: another one
            pass
    return assemble(model, drawn_state(model, rng, others))


def drawn_state(model: Model, rng: np.random.Generator, others: str) -> State:
    """The same whatever constraints say."""
    state = model.default_state()
    if others == "uniform":
        state.q[:] = model.random_configuration(rng)
        state.v[:] = random_velocity(model, rng)
    drawn: dict[Any, Any] = {}
    for joint in model._drawn_apart:
        if joint.defaults.random is not None and not joint.follows:
            state.q[joint.q_slice] = joint.defaults.random.draw(joint._label, joint.defaults.positions, drawn, rng)
        if joint.nv and not joint.follows and joint.is_locked(state):
            state.q[joint.q_slice], state.v[joint.v_slice] = joint.defaults.positions, 0.0
    return state


def random_velocity(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Uniform within the velocity limits, +-1 (rad/s, m/s) without them."""
    low, span = model._velocity_range
    if span is None:                            # limits further apart than the largest double: in NumPy's words
        return rng.uniform(low, np.inf)
    return low + span * rng.random(model.nv)


def velocity_range(model: Model) -> tuple[Array, Array | None]:
    """(lowest, highest less lowest) (nv,) of what random_velocity draws; None where that is beyond the largest double."""
    lower, upper = -np.ones(model.nv), np.ones(model.nv)
    for joint in model.joints:
        if joint.nv and not joint.follows:
            low, high = joint.limits.velocity
            lower[joint.v_slice] = np.where(np.isfinite(low), low, np.minimum(-1.0, high))
            upper[joint.v_slice] = np.where(np.isfinite(high), high, np.maximum(1.0, low))
    with np.errstate(over="ignore"):
        span = upper - lower
    return lower, span if np.isfinite(span).all() else None


def state_box(model: Model) -> tuple[Array, Array] | None:
    """(low, span) of the uniform numbers of a configuration and of a velocity, one after the other; None: there is more to a state."""
    box, (low, span) = getattr(model.space(), "_box", None), model._velocity_range
    if box is None or span is None or len(model.constraints) or model._drawn_apart:
        return None
    return np.concatenate([box[0], low]), np.concatenate([box[1], span])


def drawn_apart(model: Model) -> list[Joint]:
    """The joints whose positions are drawn from a distribution of their own, or which are locked in new states."""
    own = [joint for joint in model.joints if not joint.follows]
    locked = np.asarray(model.spec.lock) == 1.0
    return [joint for joint in own if joint.defaults.random is not None or joint.nv and locked[joint.v_slice].all()]


def random_positions(joint: Joint, rng: Rng) -> np.ndarray:
    """q (nq,) of one joint: from its distribution; without one: standard normal lengths and uniform angles
    where there are no limits, uniform within limits, rotations uniform. A user's joint with maps of its own and without
    units goes from neutral by a standard normal increment."""
    rng = generator(joint._label, rng)
    row, parts = row_of(joint._exact_kind), unit_parts(joint._exact_kind)
    if joint.defaults.random is not None:
        return joint.defaults.random.draw(joint._label, joint.defaults.positions, {}, rng)
    if row.name == "user" and not row.velocities_are_rates and not any(row.position_units) and not parts:
        return joint._kinematics.model.integrate(joint.defaults.neutral, rng.normal(size=joint.nv))
    q = RandomPositions(joint._exact_kind, (None,) * joint.nq, UniformRotation()).draw(joint._label, joint.defaults.neutral, {}, rng)
    for k, unit in enumerate(row.position_units):
        low, high = joint.limits.position[k]
        if any(part.start <= k < part.stop for part in parts):
            continue
        if np.isfinite(low) and np.isfinite(high):
            q[k] = rng.uniform(low, high)
        else:
            q[k] = np.clip(rng.uniform(-np.pi, np.pi) if unit == "rad" else rng.normal(), low, high)
    return q
