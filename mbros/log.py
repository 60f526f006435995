"""Log: what happened in a simulation, as arrays."""
from __future__ import annotations

import numpy as np

from mbros.names import unknown


class JointLog:
    """One joint over time: position and velocity (n, nq) and (n, nv), flat for joints with one degree of freedom."""

    def __init__(self, log, joint):
        ratio, offset = joint.mimic[1:] if joint.follows else (1.0, 0.0)
        self.name = joint.name
        self.position = ratio * log.q[:, joint.q_slice] + offset
        self.velocity = ratio * log.v[:, joint.v_slice]
        self.effort = (0.0 if joint.follows else 1.0) * log.effort[:, joint.v_slice]
        if joint.nv == 1:
            self.position, self.velocity, self.effort = self.position[:, 0], self.velocity[:, 0], self.effort[:, 0]

    def __repr__(self):
        return f"<JointLog of {self.name!r}: {len(self.position)} rows>"


class Log:
    """Rows over time: time (n,) s, q (n, nq), v (n, nv), effort (n, nv) as applied, kinetic and potential energy (n,) J.

    `log["joint4"]` is one joint's part; `log.energy` the total energy.
    """

    def __init__(self, model, capacity: int):
        self.model = model
        self._rows = np.empty((max(capacity, 1), 1 + model.nq + 2 * model.nv + 2))
        self._n = 0

    def append(self, time: float, plant):
        """Add the plant's present state."""
        if self._n == len(self._rows):
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        x = plant.observe()
        row = self._rows[self._n]
        n = self.model.nq + 2 * self.model.nv
        row[0] = time
        row[1:1 + n] = x[:n]
        start, size = plant.layout["energy"]
        row[1 + n:] = x[start:start + size]
        self._n += 1

    def _columns(self, start, size):
        return self._rows[:self._n, start:start + size]

    @property
    def time(self):
        return self._rows[:self._n, 0]

    @property
    def q(self):
        return self._columns(1, self.model.nq)

    @property
    def v(self):
        return self._columns(1 + self.model.nq, self.model.nv)

    @property
    def effort(self):
        return self._columns(1 + self.model.nq + self.model.nv, self.model.nv)

    @property
    def kinetic_energy(self):
        return self._rows[:self._n, -2]

    @property
    def potential_energy(self):
        return self._rows[:self._n, -1]

    @property
    def energy(self):
        return self.kinetic_energy + self.potential_energy

    def __getitem__(self, name: str) -> JointLog:
        if name not in self.model.joints:
            raise unknown("joint", name, f"the log of model {self.model.name!r}", self.model.joints.names)
        return JointLog(self, self.model.joint(name))

    def __len__(self):
        return self._n

    def __repr__(self):
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if self._n else ""
        return f"<Log of {self.model.name!r}: {self._n} rows{span}>"
