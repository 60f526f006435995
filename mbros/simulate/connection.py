"""mbros.connect: a controller's place beside a simulation in another process of this machine, without middleware."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.given import number, vector
from mbros_core.support.numbers import short
from mbros_core.realtime import FAULT, PAUSED, RESET, WATCHDOG
from mbros_core.realtime._shared import SharedClient

from mbros.errors import MbrosError, unknown
from mbros.simulate.described import read_description

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

WHAT = {"position": 1, "velocity": 2, "effort": 4}
SPIN = 100e-6                   # s, MBROS_SPIN_NS of mbros_client.h
MOST_SPIN = 1e-3                # s
LONGEST_NAME = 100


class Connection:
    """States of, and commands to, a simulation in another process; mbros.connect(name) makes it (docs/shared_memory.md).

        with mbros.connect("arm7") as arm:
            while True:
                arm.wait()                                      # until the next state is there
                arm.command(-20.0 * arm.q - 2.0 * arm.v)        # N m, in force from the next step on

    `q`, `v` and arm["effort"] are views of the state that was read last: the next wait() or read() puts other numbers into them. Reading
    and commanding never wait for the simulation, nor it for them, but in lockstep, where each state that is asked about waits for its
    answer: the first command after wait(). One thread reads a connection; others make their own. One client at a time commands: the
    first that does, until it ends or calls release().
    """

    def __init__(self, name: str, spin: float = SPIN) -> None:
        if not isinstance(name, str) or len(name) > LONGEST_NAME or not name.isprintable():
            raise MbrosError(f"connect: {short(name)} is no name of a simulation; expected 1 to {LONGEST_NAME} letters, digits, or "
                             "one of _ - .")
        self._client = SharedClient(name, number("connect", "spin", spin, 0.0, MOST_SPIN, "s"))
        about = read_description(name, self._client.description, self._client.sizes)
        self.name, self.robot, self.dt = name, about.robot, about.dt
        self.position_names, self.velocity_names = about.positions, about.velocities
        self._parts = {part: self._client.values[place] for part, place in about.layout.items()}
        self._command = about.command
        self._nv = len(self.velocity_names)
        self._takes = np.array(about.takes, int)
        self._answered = 0

    def __repr__(self) -> str:
        return f"<Connection {self.name!r}: {self.robot!r}, {self.time:g} s>"

    # --- the state that was read last

    @property
    def q(self) -> Array:
        """Positions (nq,), rad or m, in the order of position_names."""
        return self._parts["q"]

    @property
    def v(self) -> Array:
        """Velocities (nv,), rad/s or m/s, in the order of velocity_names."""
        return self._parts["v"]

    @property
    def names(self) -> tuple[str, ...]:
        """What connection[name] has: "q", "v", "effort", "joint_position", "energy" ... as plant.layout."""
        return tuple(self._parts)

    def __getitem__(self, name: str) -> Array:
        if name not in self._parts:
            raise unknown("part of a state", name, f"connection {self.name!r}", self._parts)
        return self._parts[name]

    @property
    def number(self) -> int:
        """Of the state, counted from the simulation's start; 0: none was read yet."""
        return int(self._client.number)

    @property
    def step(self) -> int:
        """Steps since the last reset."""
        return int(self._client.step)

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return float(self._client.time)

    @property
    def wall_ns(self) -> int:
        """CLOCK_REALTIME at the slot of the step, ns."""
        return int(self._client.head()[3])

    @property
    def command_age(self) -> float | None:
        """Seconds since the command in force was taken; None: there is none."""
        age = int(self._client.head()[4])
        return None if age < 0 else 1e-9 * age

    @property
    def command_taken(self) -> int:
        """Number of the newest command that the simulation had taken before this step; command() returns those of its own."""
        return int(self._client.head()[5])

    @property
    def paused(self) -> bool:
        return bool(self._client.head()[6] & PAUSED)

    @property
    def fault(self) -> bool:
        """The simulation stands still, as a step would have left the finite numbers; it waits for a reset."""
        return bool(self._client.head()[6] & FAULT)

    @property
    def watchdog(self) -> bool:
        """The watchdog acts: the newest command is too old."""
        return bool(self._client.head()[6] & WATCHDOG)

    @property
    def was_reset(self) -> bool:
        """This is the first state after a reset."""
        return bool(self._client.head()[6] & RESET)

    @property
    def lockstep(self) -> tuple[int, int] | None:
        """(n, m): the simulation waits for the answers to n of m states."""
        return self._client.lockstep

    @property
    def spun(self) -> float:
        """Seconds that wait() has looked for states without sleep so far."""
        return float(self._client.spun)

    # --- reading and commanding

    def wait(self, timeout: float = 1.0) -> None:
        """Sleep until there is a newer state than the one read last, and read it; states between are passed over. LoopTimeoutError after
        `timeout` seconds, LoopError where the simulation has ended. Ctrl-C is seen within 20 ms."""
        self._client.wait(number("wait", "timeout", timeout, 0.0, unit="s"))

    def read(self) -> bool:
        """Read the newest state, without waiting; False: there is none yet. 1 us."""
        return bool(self._client.read())

    def command(self, effort: ArrayLike | Mapping[str, float] | None = None, *, position: ArrayLike | Mapping[str, float] | None = None,
                velocity: ArrayLike | Mapping[str, float] | None = None) -> int:
        """Command from the next step on; returns the number of the command.

        effort: N m or N, (nv,) or {coordinate: value} by velocity_names; what is not named, and NaN, keeps what it has
        position, velocity: the same, rad or m and rad/s or m/s, where the simulation has a bench whose actuators take them
        In lockstep it is the answer to the state that was read last.
        """
        values = self._values(effort, position, velocity)
        self._client.command(values, self.number)
        return int(self._client.newest_command)

    def _values(self, effort: Any, position: Any, velocity: Any) -> Array:
        """The numbers of a command; those that nobody named are NaN."""
        given = {"effort": effort, "position": position, "velocity": velocity}
        values = np.full(self._client.sizes[1], np.nan)
        commanded = np.zeros(self._nv, int)
        for what, numbers in given.items():
            if numbers is None:
                continue
            if what not in self._command:
                raise MbrosError(f"command: {what}: the simulation {self.name!r} has no bench whose actuators take one; it takes efforts")
            own = self._vector(what, numbers)
            values[self._command[what]] = own
            commanded += WHAT[what] * ~np.isnan(own)
        self._refuse_untaken(commanded)
        if "commanded" in self._command:
            self._complete(values, commanded)
        return values

    def _refuse_untaken(self, commanded: Array) -> None:
        """A position or velocity for a joint whose actuator does not take it, as the node refuses one."""
        for k in np.flatnonzero(commanded & ~self._takes & (WHAT["position"] | WHAT["velocity"])):
            what, takes = ([word for word, bit in WHAT.items() if mask & bit] for mask in (commanded[k] & ~self._takes[k], self._takes[k]))
            raise MbrosError(f"command: {what[0]} of {self.velocity_names[k]!r}: no actuator of the joint takes one; it takes "
                             f"{', '.join(takes)}. bench:=servo of the node has a servo for every joint")

    def _complete(self, values: Array, commanded: Array) -> None:
        """A coordinate of which something is commanded has all four numbers; of the others each keeps what it has."""
        some = commanded > 0
        for what in WHAT:
            part = values[self._command[what]]
            part[some & np.isnan(part)] = 0.0
        values[self._command["commanded"]] = np.where(some, commanded, np.nan)

    def _vector(self, what: str, numbers: Any) -> Array:
        if not isinstance(numbers, Mapping):
            return vector("command", what, numbers, self._nv, nan=True)
        found = np.full(self._nv, np.nan)
        for name, value in numbers.items():
            if name not in self.velocity_names:
                raise unknown("coordinate", name, f"connection {self.name!r}", self.velocity_names)
            found[self.velocity_names.index(name)] = number("command", f"{what} of {name}", value)
        return found

    def release(self) -> None:
        """Let another client command; the simulation's watchdog acts unless one does."""
        self._client.release()

    def close(self) -> None:
        """Leave. The views keep the numbers that were read last."""
        self._client.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(name: str, *, spin: float = SPIN) -> Connection:
    """Come to a simulation that runs in another process of this machine and user, by the name under which it shares its memory:
    `mbros node ROBOT --ros-args -p shared_memory:=NAME`, or mbros.simulate.shared.SharedMemory beside a Loop. LoopError where there is
    none. In C: mbros_client.h, in mbros_core.realtime.get_include().

    spin: s, 0 to 1e-3: how long wait() may look without sleep. It sleeps until shortly before the next state is due, so that a state does
        not wait for a core to wake; this costs some 4 % of a core at 1 kHz. It spins seldom where no state came meanwhile, and never on the
        core on which the simulation runs. 0: wait() sleeps all the while.
    """
    return Connection(name, spin)
