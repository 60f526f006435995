"""Operational space (Khatib 1987): the inertia that a task feels, and the ways between its forces and the joints'.

    task = mbros.diff.operational_space(model, state, "hand")
    task.inertia                            # Lambda = (J M^-1 J^T)^-1: task force = Lambda (task acceleration - Jdot v) + ...
    task.consistent_inverse                 # Jbar = M^-1 J^T Lambda: of all joint accelerations of a task acceleration, the one of least
    task.nullspace                          # N = 1 - Jbar J;  tau = J^T f + N^T tau_0 with tau_0 that does not disturb the task
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.arguments import check_model, check_owner, finite, reals
from mbros.describe.robot import WORLD
from mbros.diff.algorithms import forward_dynamics
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

WELL_POSED = 1e-10          # least eigenvalue of J M^-1 J^T over its largest, rows scaled to one, below which a pose is singular


class OperationalSpace(NamedTuple):
    """What a task with n rows is at a state; SI units."""

    jacobian: Array                 # J (n, nv)
    inverse_inertia: Array          # J M^-1 J^T (n, n), without damping
    inertia: Array                  # Lambda (n, n)
    consistent_inverse: Array       # Jbar (nv, n)
    nullspace: Array                # N (nv, nv)


def operational_space(model: Model, state: State, task: FrameLike | ArrayLike, damping: float = 0.0,
                      expressed_in: FrameLike = "world") -> OperationalSpace:
    """Lambda = (J M^-1 J^T)^-1, its inverse, Jbar = M^-1 J^T Lambda and N = 1 - Jbar J.

    task: a frame, all six rows [angular; linear] of its Jacobian in the axes of the world or its own (`expressed_in`), or a Jacobian
    (n, nv) of your own: `model.jacobian(state, "hand")[3:]`, com_jacobian, rows of several frames. damping: Lambda is then
    (J M^-1 J^T + damping^2 1)^-1, in the units of that matrix, bounded by damping^-2 where J loses rank, and Jbar no exact right inverse;
    without it a singular task is refused with MbrosError. M^-1 is that of `mbros.diff.forward_dynamics`: locked joints do not move, of
    closed loops it is that within the loops. Cost: those derivatives, O(nv^2), and O(n nv (n + nv)).
    """
    check_model("operational_space", model)
    check_owner("operational_space", model, state)
    frame: Any = task
    k = model._frame_table[0].get(frame) if type(frame) is str and expressed_in is WORLD else None
    if k is not None:
        J = model._frame_jacobian(state, k)     # the same, for what most calls are
    else:
        J = _rows(model, task) if isinstance(task, (np.ndarray, list, tuple)) else model.jacobian(state, frame, expressed_in)
    found = model._task_space(state, J, damping)
    return _with_another_look(model, state, J, damping) if found is None else tuple.__new__(OperationalSpace, (J, *found))


def _with_another_look(model: Model, state: State, J: Array, damping: Any) -> OperationalSpace:
    """The same for every model and every task, or why there is none."""
    who = f"operational_space of model {model.name!r}"
    amount = finite(who, "damping", reals(who, "damping", damping, "a number, 0 or more"))
    if amount.ndim or amount < 0.0:
        raise MbrosError(f"{who}: damping: expected a number, 0 or more, got {damping!r}")
    M_inv = inverse_mass_matrix(model, state)
    MJ = M_inv @ J.T
    inverse = J @ MJ
    inverse = 0.5 * (inverse + inverse.T)
    if amount == 0.0:
        refuse_singular(who, inverse)
    inertia = np.linalg.inv(inverse + amount**2 * np.eye(len(J)))
    inertia = 0.5 * (inertia + inertia.T)
    Jbar = MJ @ inertia
    return OperationalSpace(J, inverse, inertia, Jbar, np.eye(model.nv) - Jbar @ J)


def inverse_mass_matrix(model: Model, state: State) -> Array:
    """M^-1 (nv, nv): accelerations by efforts; zero where joints are locked or prescribed."""
    return forward_dynamics(model, state, np.zeros(model.nv))["tau"]


def refuse_singular(who: str, inverse: Array) -> None:
    """MbrosError with what is missing, where J M^-1 J^T has no inverse."""
    scale = np.sqrt(np.diag(inverse))
    if not len(scale):
        return
    values = np.linalg.eigvalsh(inverse / np.outer(scale, scale)) if (scale > 0.0).all() else np.zeros(1)
    if values[0] <= WELL_POSED * max(values[-1], 1e-300):
        rank = int(np.linalg.matrix_rank(inverse, tol=WELL_POSED * max(float(scale.max()) ** 2, 1e-300), hermitian=True))
        raise MbrosError(f"{who}: a singular pose: the task has {len(inverse)} rows, of which the joints can accelerate {rank} "
                         "independently here; give damping > 0, fewer rows, or another pose")


def _rows(model: Model, task: Any) -> Array:
    """A Jacobian of the user's own."""
    who = f"operational_space of model {model.name!r}"
    J = finite(who, "task", reals(who, "task", task, f"a frame, or a Jacobian (n, {model.nv})"))
    if J.ndim != 2 or J.shape[1] != model.nv:
        raise MbrosError(f"{who}: task: expected a frame, or a Jacobian (n, {model.nv}), got shape {J.shape}")
    return J
