"""What a user does to a simulated robot: efforts, holding it against gravity, pulling at a body with a spring.

A thread of its own looks at the newest state 200 times a second and sends what follows from it. The simulation does not wait for it.
"""
from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple, Protocol

import numpy as np

from mbros.view.motion import Sample

PERIOD = 0.005          # s
SETTLING = 1.0          # s in which the damping of a held robot brings it to rest
STIFFEST = 0.3          # of a spring over the period: k <= m (STIFFEST / PERIOD)^2, or sampling would feed it energy


class Driven(Protocol):
    """mbros.view.drive.Drive, as hands see it. tuned: a State with the live parameters."""

    model: Any
    tuned: Any

    def sample(self) -> Sample: ...

    def command(self, tau: np.ndarray) -> None: ...

    def push(self, frame: int, torque: np.ndarray, force: np.ndarray) -> None: ...


class Grip(NamedTuple):
    """A spring from a point of a body (frame row, point in its axes) to a target in the world."""

    frame: int
    point: np.ndarray
    target: np.ndarray
    stiffness: float
    damping: float


class Hands:
    """Of a Drive. hold: gravity compensation with some damping, within the effort limits. efforts (nv,): added to it."""

    def __init__(self, drive: Driven):
        self.drive, self.model = drive, drive.model
        self.hold, self.efforts = True, np.zeros(self.model.nv)
        self.stiffness = 0.0            # N/m; 0: by the weight of the robot
        self._state = self.model.default_state()
        self._limit = np.asarray(self.model.spec.effort_limit, float)
        self._grip: Grip | None = None
        self._pushing = False
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()

    # ---------------------------------------------------------------------------------------------------------------- efforts

    def efforts_now(self, sample: Sample) -> np.ndarray:
        """(nv,) for the state of a sample."""
        tau = self.efforts.copy()
        if self.hold:
            tau += self._holding(sample)
        return tau

    def _holding(self, sample: Sample) -> np.ndarray:
        """tau = g(q) - D v with D = diag(M) / SETTLING, within the effort limits."""
        state = self._as_tuned(sample)
        damping = np.diag(self.model.mass_matrix(state)) / SETTLING
        return np.clip(self.model.gravity_torques(state) - damping * sample.v, -self._limit, self._limit)

    def _as_tuned(self, sample: Sample) -> Any:
        """A State at the sample, with the live gravity and masses."""
        for name in ("gravity", "inertia"):
            self._state.field(name)[:] = self.drive.tuned.field(name)
        self._state.q[:], self._state.v[:] = self.model.normalize(sample.q), sample.v
        return self._state

    # ------------------------------------------------------------------------------------------------------------------ pulling

    def grip(self, frame: int, point: np.ndarray, target: np.ndarray) -> None:
        """Take hold of a point of a body (world axes, m) and pull it to the target."""
        sample = self.drive.sample()
        state = self._as_tuned(sample)
        X = np.asarray(self.model._frame_pose(state, frame))
        in_body = X[:9].reshape(3, 3).T @ (point - X[9:])
        mass = self._felt_mass(state, frame, point - X[9:])
        weight = max(9.81 * sum(body.mass for body in self.model.bodies if np.isfinite(body.mass)), 1e-3)
        k = min(self.stiffness or 5.0 * weight, mass * (STIFFEST / PERIOD) ** 2)
        self._grip = Grip(frame, in_body, np.asarray(target, float), k, float(np.sqrt(k * mass)))

    def move(self, target: np.ndarray) -> None:
        """Pull to another place."""
        grip = self._grip
        if grip is not None:
            self._grip = grip._replace(target=np.asarray(target, float))

    def release(self) -> None:
        self._grip = None

    def spring(self, sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(held point, target, force), world axes; None when nothing is held."""
        grip = self._grip
        if grip is None:
            return None
        state = self._as_tuned(sample)
        X = np.asarray(self.model._frame_pose(state, grip.frame))
        arm = X[:9].reshape(3, 3) @ grip.point
        V = np.asarray(self.model._frame_velocity(state, grip.frame))
        velocity = V[3:] + np.cross(V[:3], arm)
        return X[9:] + arm, grip.target, grip.stiffness * (grip.target - X[9:] - arm) - grip.damping * velocity

    def _felt_mass(self, state: Any, frame: int, arm: np.ndarray) -> float:
        """The least mass that a force at the point can feel: 1 / the largest eigenvalue of J M^-1 J'."""
        J = np.asarray(self.model._frame_jacobian(state, frame))
        J = J[3:] + np.cross(J[:3], arm, axis=0)
        inverse_inertia = J @ np.linalg.solve(self.model.mass_matrix(state) + 1e-9 * np.eye(self.model.nv), J.T)
        return 1.0 / max(float(np.linalg.eigvalsh(inverse_inertia).max()), 1e-6)

    # --------------------------------------------------------------------------------------------------------------- the thread

    def prepare(self) -> None:
        """Command what the present state needs, before the first step."""
        self.drive.command(self.efforts_now(self.drive.sample()))

    def start(self) -> None:
        if self._thread is None:
            self._ending.clear()
            self._thread = threading.Thread(target=self._run, name="mbros-hands", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._grip = None
        if self._pushing:
            self._push(None)

    def _run(self) -> None:
        while not self._ending.wait(PERIOD):
            try:
                sample = self.drive.sample()
                self.drive.command(self.efforts_now(sample))
                pulled = self.spring(sample)
                if pulled is not None or self._pushing:
                    self._push(pulled)
            except (RuntimeError, TimeoutError, ValueError):        # a fault, or an end, between two lines: the samples show it
                time.sleep(0.05)

    def _push(self, pulled: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> None:
        grip, zero = self._grip, np.zeros(3)
        self._pushing = pulled is not None and grip is not None
        if pulled is None or grip is None:
            self.drive.push(0, zero, zero)
            return
        # the wrench about the frame's origin
        X = np.asarray(self.model._frame_pose(self._state, grip.frame))
        self.drive.push(grip.frame, np.cross(pulled[0] - X[9:], pulled[2]), pulled[2])
