"""mbros.identify: masses, centres of mass, inertias, friction, damping and rotor inertias from torques, by linear least squares."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import check_model, check_state, vector
from mbros.diff.regressor import OF_A_JOINT
from mbros.errors import MbrosError
from mbros.spatial.body_numbers import SIZES
from mbros.study.identify.base import BaseParameters, triangle
from mbros.study.identify.linear import Problem, reduced, residual_rms
from mbros.study.identify.possible import possible
from mbros.study.identify.result import Identification, chosen_names
from mbros.study.identify.samples import Samples, samples

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

KINDS = (*SIZES, *OF_A_JOINT)
MOST_CONDITION = 1e9        # of columns of length 1: beyond it they are one and the same


def identify(data: Any, model: Model | None = None, *, parameters: str | Iterable[str] = KINDS, noise: Any = None,
             window: float | None = None, state: State | None = None, columns: Mapping[str, str] | None = None) -> Identification:
    """A robot's parameters from its motion and torques: Y(q, v, vdot) pi = tau, by weighted linear least squares.

    data: arrays {"q": (n, nq), "v": (n, nv), "vdot": (n, nv), "tau": (n, nv)}, SI units; or without "vdot", or "v" and "vdot", with "time"
        (n,), s, from which they are had by smoothing over `window` s (default: 20 samples); a Log of Simulator.run; or the path of a
        recording: run.mcap, a bag's folder, or a .csv file as mbros.read_log takes it, with all positions, velocities and efforts.
    model: what is known: the parameters that are not asked for, force elements, and where to begin. For a recording of mbros it may be left
        out.
    parameters: names or kinds: "mass", "com", "inertia" (of a body all three, or its mass alone, whose moments follow in proportion),
        "damping", "friction", "rotor_inertia"; by default all of them. With ".<body>" or ".<joint>", of that one.
    noise: standard deviation of tau, a number or (nv,), N m or N; by default that of the residual of each joint.
    state: whose gravity and other numbers hold; by default the model's.
    columns: of a .csv file, what its columns are called: {"joint1/effort": "tau_1"}.

    The base parameters are the unbiased least squares. The values are the possible bodies (log-Cholesky parameters, so that no mass, second
    moment, friction, damping or rotor inertia is ever negative) that fit best; what torques do not show stays near what the model says.
    Deviations are of noise in tau alone: q, v and vdot are taken to be exact, as they nearly are where they were smoothed.
    Cost: n nv p^2 multiplications. MbrosError where data do not fit or are fewer than the base parameters, and for models with
    constraints, whose reactions no torque sensor tells apart.
    """
    if model is None:
        model = _recorded_model(data)
    check_model("identify", model)
    who = f"identify of model {model.name!r}"
    state = model.default_state() if state is None else state
    check_state(who, model, state)
    names = chosen_names(who, model, parameters, KINDS)
    if model.constraints:
        raise MbrosError(f"{who}: it has constraints ({', '.join(model.spec.constraint_names[:3])}), whose reactions are in measured "
                         "torques and unknown; identify the robot without them, opened, or mbros.diff.regressor and reactions of your own")
    problem = Problem(who, model, state, names)
    given = samples(who, model, data, window, columns)
    sd = None
    if noise is not None:
        sd = vector(who, "noise", np.full(model.nv, noise) if np.ndim(noise) == 0 and not isinstance(noise, str) else noise, model.nv)
        if not (sd > 0).all():
            raise MbrosError(f"{who}: noise: expected standard deviations above zero, N m or N, got {sd.tolist()}")
    return solved(problem, given, sd)


def _recorded_model(data: Any) -> Model:
    from mbros.study.replay.recording_file import RecordingFile      # start-up time: only who reads recordings pays

    if not isinstance(data, (str, PathLike)):
        if hasattr(data, "model"):
            return data.model
        raise MbrosError("identify: expected a model beside arrays: mbros.identify(data, model)")
    file = RecordingFile(data)
    try:
        return file.model()
    finally:
        file.close()


def solved(problem: Problem, given: Samples, noise: Array | None) -> Identification:
    """Least squares in base parameters, again where the noise of each joint is to be had from the residual; then possible bodies."""
    model, base, n = problem.model, problem.base(), len(given)
    nv, r = model.nv, len(base)
    if n * nv <= 2 * r:
        raise MbrosError(f"{problem.who}: {n} samples of {nv} torques are too few for {r} base parameters and their noise; expected "
                         f"{2 * r // nv + 1} at least: record longer")
    smallest = 1e-12 * max(float(np.abs(given.tau).max()), 1e-300)
    freedom = np.sqrt(n * nv / (n * nv - r))        # what the base parameters took of the residual
    weights = np.ones(nv) if noise is None else 1.0 / noise
    for last in (True,) if noise is not None else (False, False, True):
        R, z = reduced(problem, given, weights)
        W, norms = scaled(problem, base, R)
        change = np.linalg.lstsq(W, z, rcond=None)[0] / norms
        x = problem.x0.copy()
        x[base.kept] += change
        residual = residual_rms(problem, given, x)
        if not last:
            weights = 1.0 / np.maximum(freedom * residual, smallest)
    inverse = np.linalg.inv(triangle(W)) / norms[:, None]
    singular = np.linalg.svd(W, compute_uv=False)
    values, deviations = possible(problem, R, z)
    before = {name: model.parameter(problem.state, name) for name in problem.names}
    return Identification(model, values, deviations, before, base, base.factors @ problem.x0 + change, inverse @ inverse.T,
                          float(singular[0] / singular[-1]), residual, n)


def scaled(problem: Problem, base: BaseParameters, R: Array) -> tuple[Array, Array]:
    """(columns of the base parameters, of length 1; their lengths), when they are independent in these samples."""
    norms = np.linalg.norm(R[:, base.kept], axis=0)
    dead = [base.names[k] for k in np.flatnonzero(norms <= 1e-9 * norms.max(initial=1e-300))]
    if not dead and np.linalg.cond(R[:, base.kept] / norms) < MOST_CONDITION:
        return R[:, base.kept] / norms, norms
    raise MbrosError(f"{problem.who}: this motion does not show all of the {len(base)} base parameters"
                     + (f", and nothing of {'; '.join(dead[:3])}" if dead else "") + ". Move every joint, at several speeds and "
                     "accelerations, or ask for fewer: parameters=")
