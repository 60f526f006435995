"""model.batch: the algorithms of n robots side by side, in SIMD lanes, on all cores, without the interpreter lock."""
from __future__ import annotations

import threading
from math import inf, prod
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import NonFiniteError
from mbros_core.engine._small import rows as plain_rows
from mbros_core.algorithms.registry import OF_LANES
from mbros_core.support.available import Room
from mbros_core.errors import BusyError
from mbros_core.support.given import room
from mbros_core.support.numbers import is_whole, short
from mbros_core.support.threads import shares, side_by_side
from mbros_core.engine.user_code import raised

from mbros.arguments import rows
from mbros.describe.robot import WORLD
from mbros.errors import MbrosError, OwnAttributes
from mbros.model.own_parameters import engines, own_parameters, repeated, robot_state
from mbros.names import plural
from mbros.spatial.poses import Poses

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbros import Model
    from mbros.diff import Derivatives
    from mbros.names import FrameLike
    from mbros_core.typing import Array, ArrayLike

ALONE = 512             # robots that one thread computes before another one could join in
SLOPES = {f"{what}_derivatives": what for what in ("forward_dynamics", "inverse_dynamics")}      # what mbros.diff has of one robot


class Batch(OwnAttributes):
    """n robots of one model, at configurations `q` (n, nq) and velocities `v` (n, nv). Made by model.batch.

    Every algorithm is the model's of that name, for all robots at once: results have a first axis of n, and `out=` takes a C-contiguous
    array for them. tau and vdot are (n, nv), or (nv,) for all. `q` and `v` are the batch's own arrays; writing into them moves the robots.

    Results equal those of single calls but for rounding, and do not depend on the number of threads. A number that is not finite is refused
    as in a single call, and the robot named; where it is an input's, nothing has been written. One thread at a time may use a batch.
    """

    model: Model
    _q: Array
    _v: Array
    _start: mbros_core.State
    _own: tuple[np.ndarray, Array] | None
    _each: int
    _threads: int | None
    _parts: list[slice]
    _engines: list[Any]
    _alone: threading.Lock

    def __init__(self, model: Model, q: Array, v: Array, state: mbros_core.State, own: tuple[np.ndarray, Array] | None = None,
                 each: int = 1, threads: int | None = None) -> None:
        # at once: setting attributes one by one asks for each whether it is one
        self.__dict__.update(model=model, _q=q, _v=v, _start=state, _own=own, _each=each, _threads=threads, _engines=[],
                             _parts=shares(len(q), threads, mbros_core.lanes().Batch.lanes, ALONE), _alone=threading.Lock())

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of the batch has arrays of its own; copy.deepcopy and pickle take the model along."""
        return Batch, (self.model, self.q.copy(), self.v.copy(), self._start.copy(), self._own, self._each, self._threads)

    @property
    def n(self) -> int:
        """How many robots there are."""
        return len(self.q)

    def __len__(self) -> int:
        return len(self.q)

    @property
    def q(self) -> Array:
        """Configurations (n, nq); the batch's own array. Setting it writes into that array."""
        return self._q

    @q.setter
    def q(self, q: ArrayLike) -> None:
        self._put(self._q, "q", q)

    @property
    def v(self) -> Array:
        """Velocities (n, nv); the batch's own array. Setting it writes into that array."""
        return self._v

    @v.setter
    def v(self, v: ArrayLike) -> None:
        self._put(self._v, "v", v)

    def _put(self, to: Array, name: str, given: ArrayLike) -> None:
        """Numbers for every robot, or one row for all, into `to`."""
        to[:] = rows(f"batch of model {self.model.name!r}", name, given, to.shape[1], self.n)

    def state(self, k: int) -> mbros_core.State:
        """A State of robot k alone, with its parameters."""
        if not is_whole(k) or not -self.n <= k < self.n:
            raise MbrosError(f"batch of model {self.model.name!r}: robot: expected a number from 0 to {self.n - 1}, got {short(k)}")
        state = robot_state(self._start, self._own, range(self.n)[k] // self._each)
        state.q[:], state.v[:] = self.q[k], self.v[k]
        return state

    # ------------------------------------------------------------------------------------------- dynamics

    def forward_dynamics(self, tau: ArrayLike, out: Array | None = None) -> Array:
        """Accelerations vdot (n, nv) under the generalized forces tau, N m or N."""
        return self._compute("forward_dynamics", (self.model.nv,), out, tau)

    def inverse_dynamics(self, vdot: ArrayLike, out: Array | None = None) -> Array:
        """Generalized forces tau (n, nv), N m or N, that cause the accelerations vdot."""
        return self._compute("inverse_dynamics", (self.model.nv,), out, vdot)

    def forward_dynamics_derivatives(self, tau: ArrayLike, out: Derivatives | None = None) -> Derivatives:
        """What mbros.diff.forward_dynamics gives, of all robots: vdot (n, nv), and its derivatives by "q", "v" and "tau", (n, nv, nv) each.

        out: what an earlier call for as many robots returned, to be written over and returned. Models whose derivatives are not analytic
        (docs/analytic_derivatives.md) take dual numbers, one robot at a time with the interpreter lock held.
        """
        return self._derivatives("forward_dynamics", tau, out)

    def inverse_dynamics_derivatives(self, vdot: ArrayLike, out: Derivatives | None = None) -> Derivatives:
        """tau (n, nv), and its derivatives by "q", "v" and "vdot" (the mass matrices), (n, nv, nv) each. out: as above."""
        return self._derivatives("inverse_dynamics", vdot, out)

    def _derivatives(self, what: str, given: ArrayLike, out: Derivatives | None) -> Derivatives:
        from mbros.model.batch_derivatives import derivatives      # start-up time: who does not use it does not pay

        return derivatives(self, what, given, out)

    def mass_matrix(self, out: Array | None = None) -> Array:
        """M(q) (n, nv, nv), rotors included."""
        return self._compute("mass_matrix", (self.model.nv, self.model.nv), out)

    def gravity_torques(self, out: Array | None = None) -> Array:
        """g(q) (n, nv): the generalized forces that hold the robots still."""
        return self._compute("gravity_torques", (self.model.nv,), out)

    def bias_torques(self, out: Array | None = None) -> Array:
        """C(q, v) v + g(q) (n, nv)."""
        return self._compute("bias_torques", (self.model.nv,), out)

    def coriolis_torques(self, out: Array | None = None) -> Array:
        """C(q, v) v (n, nv)."""
        return self._compute("coriolis_torques", (self.model.nv,), out)

    def passive_torques(self, out: Array | None = None) -> Array:
        """What acts in the joints themselves (n, nv): damping, Coulomb friction, stops, force elements on joint coordinates."""
        return self._compute("passive_torques", (self.model.nv,), out)

    # ----------------------------------------------------------------------------- kinematics, energy

    def pose(self, frame: FrameLike, relative_to: FrameLike = WORLD) -> Poses:
        """X_AF of `frame` in `relative_to`: .p (n, 3), m, and .R (n, 3, 3)."""
        k, a = self.model._frame_index(frame), self.model._frame_index(relative_to)
        names = self.model.frames.names
        return Poses.from_rows(self._compute("frame_pose", (12,), None, None, k, a or -1), names[k], names[a])

    def velocity(self, frame: FrameLike) -> Array:
        """V_WF (n, 6), [angular; linear]: spatial velocities of the frame's origin in world axes."""
        return self._compute("frame_velocity", (6,), None, None, self.model._frame_index(frame))

    def acceleration(self, frame: FrameLike, vdot: ArrayLike) -> Array:
        """A_WF (n, 6): their time derivatives, for the accelerations vdot."""
        return self._compute("frame_acceleration", (6,), None, vdot, self.model._frame_index(frame))

    def jacobian(self, frame: FrameLike, expressed_in: str = "world", out: Array | None = None) -> Array:
        """J (n, 6, nv), rows [angular; linear]: V_WF = J v, in the axes of the world or of the frame itself ("local")."""
        if not isinstance(expressed_in, str) or expressed_in not in ("world", "local"):
            raise MbrosError(f"jacobian: expressed_in: expected 'world' or 'local', got {short(expressed_in)}")
        return self._compute("frame_jacobian", (6, self.model.nv), out, None, self.model._frame_index(frame), local=expressed_in == "local")

    def center_of_mass(self, out: Array | None = None) -> Array:
        """p_WScm_W (n, 3), m: centres of mass of everything that is not welded to the world."""
        return self._compute("center_of_mass", (3,), out)

    def com_jacobian(self, out: Array | None = None) -> Array:
        """J (n, 3, nv): velocities of the centres of mass are J v, in world axes."""
        return self._compute("com_jacobian", (3, self.model.nv), out)

    def centroidal_momentum(self, out: Array | None = None) -> Array:
        """(n, 6): angular momentum about the centre of mass, N m s, then linear momentum, N s, in world axes."""
        return self._compute("centroidal_momentum", (6,), out)

    def kinetic_energy(self, out: Array | None = None) -> Array:
        """Of all bodies and rotors (n,), J."""
        return self._compute("kinetic_energy", (), out)

    def potential_energy(self, out: Array | None = None) -> Array:
        """Of gravity, of the stops, of the force elements and of contacts (n,), J."""
        return self._compute("potential_energy", (), out)

    def __repr__(self) -> str:
        return f"<Batch of {plural(self.n, 'robot')} of model {self.model.name!r}>"

    # ------------------------------------------------------------------------------------------ the engine

    def _compute(self, what: str, shape: tuple[int, ...], out: Array | None, x: Any = None, k: int = -1, relative_to: int = -1,
                 local: bool = False) -> Array:
        """The result (n, *shape) of an algorithm of mbros_core.Batch."""
        who = self._called(what)
        given = x if x is None else self._vectors(what, x)
        result = self._room(who, shape) if out is None else room(who, "out", out, (self.n, *shape))
        flat = result if len(shape) == 1 else result.reshape(self.n, prod(shape))
        inputs = [self._q, None if OF_LANES[what].reads == "q" else self._v, given]
        if out is not None and len(self._parts) > 1:            # one engine alone looks for itself
            inputs = [a if a is None or not np.may_share_memory(a, out) else a.copy() for a in inputs]
        finite = mbros_core.lanes().Batch.finite
        bad = [_first_bad(a) for a in inputs if a is not None and not finite(a)]

        def run(engine: Any, part: slice) -> None:
            first = engine.compute(what, *(None if a is None else a[part] for a in inputs), flat[part], k, relative_to, local)
            if first >= 0:
                bad.append(part.start + first)

        if not bad:
            self._run(who, run)
        if bad:
            self._explain(what, min(bad), given, k, relative_to, local)
        return result

    def _room(self, who: str, shape: tuple[int, ...]) -> Array:
        """A new array for results."""
        with Room(who, self.n, *shape):
            return np.empty((self.n, *shape))

    def _called(self, what: str) -> str:
        """An algorithm of this batch, in messages: by the name of its method."""
        return f"{what.removeprefix('frame_')} of a batch of model {self.model.name!r}"

    def _run(self, who: str, run: Callable[[Any, slice], None]) -> None:
        """run(engine, part) for each part; no other thread does so meanwhile."""
        if not self._alone.acquire(blocking=False):
            raise BusyError(f"{who}: another thread computes with this batch now; give each thread a batch of its own")
        try:
            side_by_side(run, self._ready(), self._parts)
        except BaseException:
            self._engines = []                  # they were asked to end
            raise
        finally:
            self._alone.release()

    def _ready(self) -> list[Any]:
        """An engine for each part, with what its robots have of their own."""
        if not self._engines:
            self._engines = engines(self.model, self._start, self._parts, self._own, self._each)
        return self._engines

    def _vectors(self, what: str, given: Any) -> np.ndarray:
        """tau or vdot of every robot."""
        if type(given) is np.ndarray and given.shape == self._v.shape and given.dtype == np.float64:
            return given                                        # the same, for what most calls are
        return np.broadcast_to(rows(self._called(what), OF_LANES[what].given, given, self.model.nv, self.n), self._v.shape)

    def _explain(self, what: str, b: int, given: np.ndarray | None, k: int, relative_to: int, local: bool) -> None:
        """Raise what a single call of robot b raises, with its number."""
        model, state, name = self.model, self.state(b), what.removeprefix("frame_")
        of_frame = OF_LANES[what].of == "frame"
        own = {"frame_pose": (k, relative_to), "frame_jacobian": (k, local)}.get(what, (k,)) if of_frame else ()
        x = () if given is None else (np.array(given[b]),)
        who = f"robot {b} of {self.n}"
        failed = raised(model) if model._needs_gil else None         # an interrupt goes on from here
        if failed:
            raise NonFiniteError(f"{name} of model {model.name!r}: {who}, or one beside it: {failed[0]}") from failed[1]
        try:
            if what in SLOPES:
                from mbros.diff import derivatives      # start-up time: who does not use it does not pay

                derivatives(model, SLOPES[what], state, None if given is None else given[b])
            else:
                getattr(mbros_core.Model, f"_{what}" if of_frame else what)(model, state, *own, *x)
        except MbrosError as error:
            error.args = (f"{who}: {error.args[0]}", *error.args[1:])
            raise
        raise NonFiniteError(f"{who}: {name} of model {model.name!r} is not finite, though a single call of it is: its numbers are at the "
                             "end of what can be computed")


def make_batch(model: Model, q: ArrayLike, v: ArrayLike | None = None, *, state: mbros_core.State | None = None, parameters: Any = None,
               threads: int | None = None) -> Batch:
    """See Model.batch."""
    if state is None:
        start = model.default_state()
    else:
        model._check_state(state)
        start = state.copy()
    mine = plain_rows(q, model.nq, inf, None, True)
    if mine is not None and parameters is None:
        yours = np.zeros((len(mine), model.nv)) if v is None else plain_rows(v, model.nv, inf, len(mine), True)
        if yours is not None:
            return Batch(model, mine, yours, start, threads=threads)    # the same, for what most calls are
    who = f"batch of model {model.name!r}"
    q = rows(who, "q", q, model.nq)
    v = rows(who, "v", np.zeros(model.nv) if v is None else v, model.nv)
    counts = {len(x) for x in (q, v) if x.ndim == 2}
    if len(counts) != 1:
        wrong = f"got q {q.shape} and v {v.shape}"
        raise MbrosError(f"{who}: expected q (n, {model.nq}) and v (n, {model.nv}), one of them for all where it is a single row, {wrong}")
    n, = counts
    own = None if parameters is None else own_parameters(who, model, start, parameters, n)
    with Room(who, n, model.nq + model.nv):
        return Batch(model, repeated(q, n, copy=True), repeated(v, n, copy=True), start, own, threads=threads)


def _first_bad(a: np.ndarray) -> int:
    """The first row with a number that is not finite."""
    return int(np.flatnonzero(~np.isfinite(a).all(axis=1))[0])
