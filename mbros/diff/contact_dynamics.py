"""Dynamics with given contacts: frames held on the world, the forces that hold them, and both with their derivatives.

    feet = [mbros.diff.RigidContact("left_foot", 6), mbros.diff.RigidContact("right_foot", 3, kd=20.0)]
    vdot, force, J = mbros.diff.contact_dynamics(model, state, tau, feet)
    dvdot, dforce = mbros.diff.contact_dynamics_derivatives(model, state, tau, feet)        # by "q", "v", "tau"
    v, impulse, J = mbros.diff.contact_impulse(model, state, feet)                          # as they touch down

    M vdot + b = tau + J^T f,   J vdot + Jdot v = -kd J v - kp e - mu f

J are the rows of the frames' Jacobians in world axes, [angular; linear] of six, linear of three; f is on the robot, e how far a frame is
from where it is held. Contacts are given, not found: nothing is unilateral here and nothing slides, as in the phases of a trajectory
(Budhiraja and others 2018). What contact does in a simulation is docs/contact.md.
"""
from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbros_core import NonFiniteError
from mbros_core.errors import explain_not_finite, inputs_of
from mbros_core.support.numbers import short

from mbros.arguments import check_model, check_state, entries, finite, is_whole, reals, vector
from mbros.diff.algorithms import Derivatives, forward_dynamics
from mbros.diff.duals import analytic
from mbros.errors import MbrosError
from mbros.spatial import lie
from mbros.spatial.given import placement
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike, PoseLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

QUIET = partial(np.errstate, over="ignore", invalid="ignore")              # what is not finite is refused
RANK = 1e-12            # eigenvalue of J M^-1 J^T over its largest, below which a direction of the forces moves nothing


class RigidContact(NamedTuple):
    """A frame held on the world: rows 3, its origin (a point foot), or 6, the whole frame (a flat foot, a hand on a rail).

    kp (1/s^2), kd (1/s): Baumgarte's gains, against where it drifts from `pose`, its pose in the world, and against its velocity.
    """

    frame: FrameLike
    rows: int = 3
    kp: float = 0.0
    kd: float = 0.0
    pose: PoseLike | None = None


class ContactMotion(NamedTuple):
    """What is found: accelerations (nv,), or velocities after an impulse; what holds the frames (n,), N m and N in world axes, or N m s
    and N s; and J (n, nv)."""

    motion: Array
    force: Array
    jacobian: Array


def contact_dynamics(model: Model, state: State, tau: ArrayLike, contacts: Iterable[RigidContact], mu: float = 0.0) -> ContactMotion:
    """(vdot (nv,), f (n,), J (n, nv)) with M vdot + b = tau + J^T f and J vdot + Jdot v = -kd J v - kp e - mu f.

    tau (nv,) N m and N. n: all rows of the contacts, in their order; e: origins from where they are held (m) under rotation vectors
    (rad), in world axes. mu (rad/s^2 per N m, m/s^2 per N): compliance, one proximal step of Pinocchio's `constraintDynamics`. Without
    it (0) comes what its iterations lead to: contacts that say the same twice share the least forces; ones that no acceleration keeps are
    kept as nearly as the least forces do. Cost: that of forward dynamics, O(n^2 depth) for rows of the same branch, and of the
    inverse of a matrix (n, n): mbros_core/algorithms/contact_dynamics.pxd. Of models with constraints M^-1 is that within them, d vdot /
    d tau of `mbros.diff.forward_dynamics`: loops stay closed under the forces.
    """
    check_model("contact_dynamics", model)
    contacts = list(contacts) if type(contacts) is tuple else contacts
    found = None if tau is None else model._contact_motion(state, tau, contacts, mu, model._frame_table[0], RigidContact)
    if found is not None:
        return ContactMotion._make(found[:3])
    held = _Held("contact_dynamics", model, state, contacts, mu)        # something is written in another way, not well posed, or wrong
    return held.motion(vector(held.who, "tau", tau, model.nv))


def contact_dynamics_derivatives(model: Model, state: State, tau: ArrayLike, contacts: Iterable[RigidContact],
                                 mu: float = 0.0) -> tuple[Derivatives, Derivatives]:
    """Derivatives of vdot (nv,) and of the forces (n,) of `contact_dynamics` by "q", "v" and "tau", as all of mbros.diff has them.

    The KKT system, differentiated: with D_x = d(forward dynamics under tau + J^T f)/dx and g_x = d(J vdot + Jdot v + kd J v + kp e)/dx at
    the same f and vdot, f_x = -S (J D_x + g_x) and vdot_x = D_x + M^-1 J^T f_x, S = (J M^-1 J^T + mu)^-1. D_x is analytic where forward
    dynamics has analytic derivatives, g_x always (mbros_core/algorithms/frame_derivatives.pxd). With contacts that say the same twice
    they hold where they agree.
    """
    held = _Held("contact_dynamics_derivatives", model, state, contacts, mu)
    vdot, force, J = held.motion(tau := vector(held.who, "tau", tau, model.nv))
    free = forward_dynamics(model, state, tau + force @ J)          # the same motion
    M_inv = free["tau"]
    with QUIET():
        g, turned = held.row_derivatives(vdot, force)
        by = np.concatenate([free["q"] - M_inv @ turned, free["v"], M_inv]).reshape(3, model.nv, model.nv)
        rows = J @ by
        rows[:2] += g
        forces = -held.S @ rows
        by += (M_inv @ J.T) @ forces
    held.check_finite(by, forces)
    return Derivatives(vdot, dict(zip(("q", "v", "tau"), by))), Derivatives(force, dict(zip(("q", "v", "tau"), forces)))


def contact_impulse(model: Model, state: State, contacts: Iterable[RigidContact], restitution: float = 0.0,
                    mu: float = 0.0) -> ContactMotion:
    """(v+ (nv,), impulse (n,), J (n, nv)) as frames meet the world: M (v+ - v) = J^T p, J v+ = -restitution J v - mu p.

    restitution: 0 (they stay) to 1. Gains and poses of the contacts have no part in it. The rest is as of contact_dynamics.
    """
    check_model("contact_impulse", model)
    contacts = list(contacts) if type(contacts) is tuple else contacts
    if type(restitution) is float and 0.0 <= restitution <= 1.0:
        found = model._contact_motion(state, None, contacts, mu, model._frame_table[0], RigidContact, restitution)
        if found is not None:
            return ContactMotion._make(found[:3])
    held = _Held("contact_impulse", model, state, contacts, mu)
    return held.motion(None, held.share("restitution", restitution))


def contact_impulse_derivatives(model: Model, state: State, contacts: Iterable[RigidContact], restitution: float = 0.0,
                                mu: float = 0.0) -> tuple[Derivatives, Derivatives]:
    """Derivatives of v+ (nv,) and of the impulse (n,) of `contact_impulse` by "q" and "v". As of contact_dynamics_derivatives, with
    D = d(M^-1 J^T p)/dx and g = J v+ + restitution J v."""
    held = _Held("contact_impulse_derivatives", model, state, contacts, mu)
    bounce = held.share("restitution", restitution)
    after, impulse, J = held.motion(None, bounce)
    nv = model.nv
    still = state.copy()                            # a change of velocity is the acceleration at rest, without loads
    still.v[:], still.gravity[:], still.external_force[:] = 0.0, 0.0, 0.0
    free = forward_dynamics(model, still, np.zeros(nv))
    M_inv = free["tau"]
    by = forward_dynamics(model, still, impulse @ J)["q"] - free["q"] - M_inv @ held.turned(impulse)
    moved = state.copy()
    moved.v[:] = after + bounce * state.v           # J v+ + e J v is linear in both
    g = held.velocity_derivatives(moved)
    with QUIET():
        forces = {"q": -held.S @ (J @ by + g), "v": -(1.0 + bounce) * (held.S @ J)}
        moving = M_inv @ J.T
        value = {"q": by + moving @ forces["q"], "v": np.eye(nv) + moving @ forces["v"]}
    held.check_finite(*value.values(), *forces.values())
    return Derivatives(after, value), Derivatives(impulse, forces)


class _Held:
    """The rows of contacts at a state."""

    tau: Array | None = None
    jacobian: Array         # J (n, nv), once there is a motion
    S: Array                # (J M^-1 J^T + mu)^-1 (n, n); without mu its pseudo-inverse

    def __init__(self, caller: str, model: Model, state: State, contacts: Any, mu: float) -> None:
        check_model(caller, model)
        self.caller, self.model, self.state = caller, model, state
        check_state(self.who, model, state)
        self.contacts = [self._checked(contact) for contact in _listed(self.who, contacts)]
        self.mu = self._number("mu", mu)
        self.frames = [model._frame_index(contact.frame) for contact in self.contacts]

    @cached_property
    def who(self) -> str:
        return f"{self.caller} of model {self.model.name!r}"

    def motion(self, tau: Array | None, bounce: float | None = None) -> ContactMotion:
        """Under tau, or with `bounce` after an impulse."""
        self.tau = tau
        contacts: list[Any]
        if bounce is None:
            contacts = [(frame, c.rows, float(c.kp), float(c.kd), self._pose(c)) for frame, c in zip(self.frames, self.contacts)]
        else:
            contacts = [(frame, c.rows, 0.0, 0.0, None) for frame, c in zip(self.frames, self.contacts)]
        within, given = None, (self.state, tau, contacts, self.mu, None, None, bounce)
        if len(self.model.constraints):
            free = forward_dynamics(self.model, self.state, np.zeros(self.model.nv) if tau is None else tau)
            within = free.value, free["tau"]
        x, force, J, S = self.model._contact_motion(*given, None, within)
        if x is None:
            self.check_finite(S)
            x, force, J, S = self.model._contact_motion(*given, self._pseudo_inverse(S), within)
            self.check_finite(S)
        self.jacobian, self.S = J, S
        return ContactMotion(x, force, J)

    def _pseudo_inverse(self, D: Array) -> Array:
        values, U = np.linalg.eigh(D)
        moves = values > (0.0 if self.mu else RANK * max(values.max(initial=0.0), 1e-300))
        return (U[:, moves] / values[moves]) @ U[:, moves].T

    def check_finite(self, *results: Array | None) -> None:
        if not all(x is not None and np.isfinite(x).all() for x in results):
            gains = {"kp": [c.kp for c in self.contacts], "kd": [c.kd for c in self.contacts], "mu": [self.mu]}
            inputs = inputs_of(self.state) if self.tau is None else inputs_of(self.state, "tau", self.tau)
            raise NonFiniteError(explain_not_finite(self.model, self.caller, {**inputs, **gains}))

    def _number(self, what: str, value: Any) -> float:
        if type(value) is float and 0.0 <= value < np.inf:
            return value
        number = finite(self.who, what, reals(self.who, what, value, "a number, 0 or more"))
        if number.ndim or number < 0.0:
            raise MbrosError(f"{self.who}: {what}: expected a number, 0 or more, got {short(value)}")
        return float(number)

    def share(self, what: str, value: Any) -> float:
        if not 0.0 <= self._number(what, value) <= 1.0:
            raise MbrosError(f"{self.who}: {what}: expected a number from 0 to 1, got {short(value)}")
        return float(value)

    def _checked(self, contact: Any) -> RigidContact:
        if not isinstance(contact, RigidContact):
            raise MbrosError(f"{self.who}: contacts: expected mbros.diff.RigidContact(frame, rows), got {short(contact)}")
        self.model._frame_index(contact.frame)
        label = f"contact of {short(contact.frame)}"
        if not (is_whole(contact.rows) and contact.rows in (3, 6)):
            raise MbrosError(f"{self.who}: {label}: rows: expected 3 (its origin) or 6 (the whole frame), got {short(contact.rows)}")
        self._number(f"{label}: kp", contact.kp)
        self._number(f"{label}: kd", contact.kd)
        if contact.kp and contact.pose is None:
            raise MbrosError(f"{self.who}: {label}: kp is {contact.kp:g} and there is no pose to hold; give pose=, as "
                             "model.pose(state, frame) was when it was set down")
        return contact

    def _parts(self) -> list[slice]:
        """Where each contact's rows are."""
        ends = [0, *accumulate(contact.rows for contact in self.contacts)]
        return [slice(a, b) for a, b in zip(ends, ends[1:])]

    def _pose(self, contact: RigidContact) -> Placement | None:
        """Where it is to be, which matters where kp is not zero."""
        if not contact.kp:
            return None
        X = placement(f"{self.who}: contact of {short(contact.frame)}", pose=contact.pose)
        return Placement(np.ascontiguousarray(X.R), np.ascontiguousarray(X.p))

    def _away_slope(self, contact: RigidContact) -> Array:
        """d(e)/dt over the frame's velocity (rows, rows)."""
        pose = self._pose(contact)
        if contact.rows == 3 or pose is None:
            return np.eye(contact.rows)
        R = self.model._frame_pose(self.state, self.model._frame_index(contact.frame))[:9].reshape(3, 3)
        slope = np.eye(6)
        slope[:3, :3] = lie.so3_right_inverse(-lie.log(lie.from_matrix(R @ pose.R.T)))
        return slope

    def _slopes(self, state: State, vdot: Array, wrenches: Array | None = None) -> tuple[Array, Any]:
        """Of the frames J, d(J v)/dq, da/dq and da/dv (contacts, 4, 6, nv); -d(J^T wrenches)/dq (nv, nv)."""
        _, slopes, turned = analytic(self.model, self.model._frame_slopes(state, vdot, self.frames, wrenches))
        return slopes.reshape(len(self.frames), 4, 6, self.model.nv), turned

    def _rows(self, full: Array) -> Array:
        """Of (contacts, 6, ...) the rows that are held, one below the other."""
        if not self.contacts:
            return np.zeros((0, *full.shape[2:]))
        return np.concatenate([x[6 - c.rows:] for x, c in zip(full, self.contacts)])

    def turned(self, force: Array) -> Array:
        """-d(J^T f)/dq (nv, nv) of forces that keep their axes."""
        return self._slopes(self.state, np.zeros(self.model.nv), self._split(force))[1]

    def _split(self, force: Array) -> Array:
        """Of each contact [torque; force] (contacts, 6)."""
        out = np.zeros((len(self.contacts), 6))
        for f, contact, part in zip(out, self.contacts, self._parts()):
            f[6 - contact.rows:] = force[part]
        return out

    def row_derivatives(self, vdot: Array, force: Array) -> tuple[Array, Any]:
        """d(J vdot + Jdot v + kd J v + kp e) by q and by v, (2, n, nv); what `turned` gives."""
        slopes, turned = self._slopes(self.state, vdot, self._split(force))
        if not self.contacts:
            return np.zeros((2, 0, self.model.nv)), turned
        by = np.concatenate([x[2:, 6 - c.rows:] for x, c in zip(slopes, self.contacts)], axis=1)
        for contact, part, slope in zip(self.contacts, self._parts(), slopes):
            if contact.kd:
                by[0, part] += contact.kd * slope[1, 6 - contact.rows:]
                by[1, part] += contact.kd * self.jacobian[part]
            if contact.kp:
                by[0, part] += contact.kp * (self._away_slope(contact) @ self.jacobian[part])
        return by, turned

    def velocity_derivatives(self, state: State) -> Array:
        """d(J v)/dq (n, nv)."""
        return self._rows(self._slopes(state, np.zeros(self.model.nv))[0][:, 1])


def _listed(who: str, contacts: Any) -> list[Any]:
    found = None if isinstance(contacts, RigidContact) else entries(contacts)
    if found is None:
        raise MbrosError(f"{who}: contacts: expected a list of mbros.diff.RigidContact(frame, rows), got {short(contacts)}")
    return found
