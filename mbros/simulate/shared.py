"""A loop whose states and commands other processes of this machine share (docs/shared_memory.md)."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mbros_core.support.given import choice, count, number
from mbros_core.realtime._shared import SharedDoor
from mbros_core.realtime.settings import POLICIES

from mbros.errors import MbrosError, WrongTypeError
from mbros.simulate.connection import MOST_SPIN, SPIN
from mbros.simulate.lockstep import MOST

if TYPE_CHECKING:
    from mbros_core.typing import Capsule


class SharedMemory:
    """What a Loop needs to serve controllers of other processes, which mbros.connect(name) or mbros_client.h bring there:

        door = SharedMemory("arm7", plant)
        loop = Loop(plant, inputs=[door.input], outputs=[door.output], gate=door.gate)

    name: 1 to 100 letters, digits, or one of _ - .; of one running simulation of this user
    plant: the plant of the loop, mbros_core.Plant or a plant with devices
    dt: s, of a step; None: the plant's own
    lockstep: (n, m): a step waits for the answer to the state before it, in n of m steps; None: for nobody
    timeout: s, after which the one that is waited for is late; 0: never. policy: what then, "wait" on, "hold" the command in force until
        something is heard again, or "stop" (a pause)
    limit: a command with a larger number is taken for a mistake and left out
    spin: s, in lockstep: how long the loop looks for an answer without sleep before it naps; 0: not at all. Seldom where that was in
        vain, and never on the core of the client
    BusyError where a simulation of that name runs, SystemRefusedError where something else stands in /dev/shm under it. Costs the loop
    some 0.1 us a step, and a system call where a client sleeps until the next state.
    """

    def __init__(self, name: str, plant: Any, dt: float | None = None, *, lockstep: tuple[int, int] | None = None, timeout: float = 1.0,
                 policy: str = "wait", limit: float = 1e300, spin: float = SPIN) -> None:
        step = float(plant.dt if dt is None else number("SharedMemory", "dt", dt, 0.0, unit="s"))
        _check_ratio(lockstep)
        size = sum(n for _, n in plant.layout.values())
        command = command_layout(plant)
        masks_at = command["commanded"][0] if "commanded" in command else -1
        self._door = SharedDoor(name, (size, sum(n for _, n in command.values())), step, json.dumps(described(plant, step)), lockstep,
                                number("SharedMemory", "timeout", timeout, 0.0, 3600.0, "s"),
                                choice("SharedMemory", "policy", policy, POLICIES), number("SharedMemory", "limit", limit, 0.0),
                                number("SharedMemory", "spin", spin, 0.0, MOST_SPIN, "s"), masks_at)

    @property
    def name(self) -> str:
        return str(self._door.name)

    @property
    def input(self) -> Capsule:
        """For the loop's `inputs`."""
        return self._door.input

    @property
    def output(self) -> Capsule:
        """For the loop's `outputs`."""
        return self._door.output

    @property
    def gate(self) -> Capsule | None:
        """For the loop's `gate`; None without lockstep."""
        return self._door.gate

    def counts(self) -> dict[str, int]:
        """Commands taken, too large, out of turn (in lockstep: they answered no state that was asked about), time-outs, and the step of the
        newest."""
        return dict(self._door.counts())

    @property
    def spun(self) -> float:
        """Seconds that the loop has looked for answers without sleep so far."""
        return float(self._door.spun)

    def set_patience(self, timeout: float, policy: str) -> None:
        """See the class; while the loop runs."""
        self._door.set_patience(number("set_patience", "timeout", timeout, 0.0, 3600.0, "s"),
                                choice("set_patience", "policy", policy, POLICIES))

    def close(self) -> None:
        """Clients see that the simulation has ended, and the name is free. It needs no close(): the end of the process does as much."""
        self._door.close()

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SharedMemory {self.name!r}: {self.counts()['taken']} commands taken>"


def _check_ratio(lockstep: Any) -> None:
    if lockstep is None:
        return
    if not isinstance(lockstep, tuple) or len(lockstep) != 2:
        raise WrongTypeError(f"SharedMemory: lockstep is {lockstep!r}; expected (n, m): answered in n of m steps, or None")
    n, m = (count("SharedMemory", "lockstep", x, most=None) for x in lockstep)
    if not 1 <= n <= m <= MOST:
        raise MbrosError(f"SharedMemory: lockstep is {lockstep!r}; expected 1 <= n <= m <= {MOST}")


def command_layout(plant: Any) -> dict[str, tuple[int, int]]:
    """{name: (start, count)} of a command's numbers. `commanded` is 1 position + 2 velocity + 4 effort, of each coordinate."""
    nv = plant.model.nv
    if not hasattr(plant, "plant"):
        return {"effort": (0, nv)}
    return {name: (k * nv, nv) for k, name in enumerate(("effort", "position", "velocity", "commanded"))}


def described(plant: Any, dt: float) -> dict[str, Any]:
    """What a client is given to know of the robot."""
    from mbros import __version__

    model = plant.model
    takes = {"takes": plant.takes.tolist()} if hasattr(plant, "plant") else {}
    return {"mbros": __version__, "robot": model.name, "dt": dt, "layout": plant.layout, "command": command_layout(plant), **takes,
            "positions": list(model.position_names), "velocities": list(model.velocity_names)}
