"""~/save_state and ~/restore_state: all that decides the future, between two steps, to a file and back (docs/saving.md)."""
from __future__ import annotations

import time
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.engine.fields import FIELDS
from mbros_core.support.files import replace_file
from mbros_core.support.fingerprint import digest

from mbros.model import parameters
from mbros.bench.disturbances import NUMBER
from mbros.simulate.saved import Saved, blob_of, no_save, read, unpacked

from mbros.ros.wire import messages
from mbros.ros.errors import RequestError
from mbros.ros.serve.folder import file_in, folder_of, made, read_file

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.serve.typing import RestoreStateRequest, SaveStateRequest, SaveStateResponse
    from mbros.ros.typing import Values
    from mbros_core import State

SUFFIX = ".mbros"
ROOM = 1 << 20          # bytes, of what a save holds beside the numbers of a state
LAST_STAMP = 2**31 - 10**6      # s: builtin_interfaces/Time ends at 2^31, and the simulation is to go on for days
LAST_NUMBER = 2**31       # of a disturbance or payload: answers have room for as many more
WATCHDOG = ("watchdog_timeout", "watchdog_action", "watchdog_damping")
LOOP = {"step": int, "commanded": bool, "tripped": bool, "age_steps": int, "age_ns": int, "held": list, "watchdog": list, "watched": list}
WATCHED = [bool, bool, int, int]            # of each robot of a scene: is it commanded, does the watchdog act, the age of its command


class Saves:
    """The two services of a SimNode. What they save is what Simulator.save() does, and in the header, under "loop", the command in
    force with its age and the watchdog."""

    def __init__(self, sim: SimNode):
        self.sim = sim
        self.path, self.data = "", b""

    def save(self, request: SaveStateRequest) -> str:
        sim = self.sim
        path = file_in(folder_of(sim.live.values), request.file, SUFFIX) if request.file else None
        with sim.loop.aside():
            blob = self.blob()
        self.path, self.data = str(path or ""), b"" if path else blob
        if path is None:
            return f"saved in this answer, {len(blob)} bytes"
        made(folder_of(sim.live.values))
        replace_file("save_state", path, blob)
        return f"saved to {path}, {len(blob)} bytes"

    def blob(self) -> bytes:
        """The bytes of a save; the loop stands aside meanwhile. Payloads are in the state's inertias, and not in those of its start."""
        sim, values, bench = self.sim, self.sim.live.values, self.sim.robot.bench
        pushing = sim.services.disturbances.in_force() if sim.services is not None and sim.services.disturbances is not None else None
        if bench is not None:
            bench.devices._settle()
        in_force = {**sim.loop.commands_in_force(), "watchdog": [values[name] for name in WATCHDOG]}
        if not in_force["watched"]:             # one watchdog for all: as it was before there were several
            del in_force["watched"]
        start = sim.live.tuned.copy()
        start.q[:], start.v[:] = sim.robot.initial_state(values)
        return blob_of(sim.robot.model, sim.robot.plant, start, True, self.bench_digest(), [],
                       devices=None if bench is None else bench.memory, disturbances=pushing, loop=in_force)

    def bench_digest(self) -> str:
        bench = self.sim.robot.bench
        return "" if bench is None else digest(bench.tables)

    def restore(self, request: RestoreStateRequest) -> str:
        self.path, self.data = "", b""
        if bool(request.file) == bool(request.data):
            raise RequestError("restore_state: expected the name of a file, or data; one of the two")
        return self.put_back(*self.given(request))

    def put_back(self, blob: bytes, of: Saved | None = None) -> str:
        """Go on from these bytes; SaveError, and nothing changed, where that cannot be. of: the same, read already."""
        sim, plant, model = self.sim, self.sim.robot.plant, self.sim.robot.model
        of = read(blob) if of is None else of
        of.check(model, plant.dt, plant.integrator)
        of.check_company(self.bench_digest(), None if sim.robot.bench is None else sim.robot.bench.layout, ())
        disturbances, pushing = sim.services.disturbances if sim.services is not None else None, of.disturbances()
        if (numbers := pushing[:, NUMBER]).max() > LAST_NUMBER or (numbers != np.floor(numbers)).any() or numbers.min() < 0.0:
            raise no_save(of.who, f"its disturbances are not numbered, with whole numbers from 0 to {LAST_NUMBER}")
        if disturbances is not None:
            sim.robot.pushes.check(pushing)
        elif pushing.any():
            raise RequestError("restore_state: disturbances and payloads are in it, whose services need mbros_msgs; build it (docs/ros.md)")
        loop = in_force(of, sim.robot.map.command_size, len(sim.loop.silent))
        self._check_time(of, loop["step"])
        start = model.default_state()
        watchdog: Values = dict(zip(WATCHDOG, loop.pop("watchdog") or [sim.live.values[name] for name in WATCHDOG], strict=True))
        _, reason = sim.live.checked(watchdog)
        if reason:
            raise no_save(of.who, reason)
        sim.plane.stamps.refuse_before(time.time_ns())
        if sim.services is not None:
            sim.services.steps.give_up("another state was restored meanwhile")
        with sim.loop.aside(), sim.recording.change("start", data=blob):
            of.put_into(plant, start)
            sim.plane.stamps.go_on()
            sim.loop.recall(**loop)
            sim.live.tuned = at_its_start(plant.state)
            if disturbances is not None:
                disturbances.go_on(pushing, start, plant.state.time)
            if sim.services is not None and sim.services.sources is not None:
                sim.services.sources.free(sim.live.tuned)
            sim.loop.set_watchdog(watchdog["watchdog_timeout"] or None, watchdog["watchdog_action"], watchdog["watchdog_damping"])
        if sim.loop.state == "stopped" and not sim.ending:          # overrun_policy `stop`
            sim.loop.start()
        refused = self.adopt(start, watchdog)
        header, other = sim.loop.snapshot()[0], of.another_engine(model)
        return (f"restored: step {header.step}, simulated time {header.time:.6f} s; stamps go on"
                + (f"; {other}: last digits may differ from now on" if other else "")
                + (f"; beyond what these parameters allow, and in force: {', '.join(refused)}" if refused else ""))

    def _check_time(self, of: Saved, step: int) -> None:
        """SaveError for a time, or a count of steps, behind which stamps of messages would begin anew."""
        there, stamps = self.sim.robot.model.default_state(), self.sim.plane.stamps
        there._inputs[...] = of.numbers["state"]
        at = max(there.time, step * self.sim.dt)
        newest = max(stamps.clock_ns, 0 if stamps.simulated else time.time_ns()) * 1e-9
        if not (there.time >= 0.0 and newest + at < LAST_STAMP):
            raise no_save(of.who, f"its simulated time is {at:.6g} s, at step {step}; expected 0 to {max(LAST_STAMP - newest, 0.0):.6g} s: "
                          "stamps of ROS messages end at 2^31 s and go on from those of now")

    def given(self, request: RestoreStateRequest) -> tuple[bytes, Saved]:
        """The bytes of what is to be restored, and what they say."""
        if request.data:
            if len(request.data) > self._most():
                raise RequestError(f"restore_state: data has {len(request.data)} bytes, more than the {self._most()} that a save of this "
                                   "robot can have")
            return bytes(request.data), read(bytes(request.data))
        path = file_in(folder_of(self.sim.live.values), request.file, SUFFIX)
        blob = read_file(path, self._most())
        return blob, unpacked(str(path), blob)

    def _most(self) -> int:
        """Bytes that a save of this robot can have: its numbers, what the header says of each coordinate, and room for all else. More
        is none, and is not read."""
        model, bench = self.sim.robot.model, self.sim.robot.bench
        numbers = 2 * int(model.default_state()._inputs.size) + (0 if bench is None else len(bench.memory))
        return 8 * numbers + 256 * model.nv + ROOM

    def adopt(self, start: State, watchdog: Values) -> list[str]:
        """The node's parameters say what is in force again."""
        sim, live = self.sim, self.sim.live
        values: Values = {}
        for name, row in live.rows.items():
            if parameters.is_one(name):
                value = sim.robot.model.parameter(live.tuned, name)
                values[name] = tuple(map(float, value)) if row.kind == "doubles" else value
        for joint in sim.robot.own:
            q = start.q[joint.q_start:joint.q_start + joint.nq]
            values[f"initial_positions.{joint.name}"] = float(q[0]) if joint.nq == 1 else tuple(map(float, q))
        return live.adopt(sim.node, {**values, **watchdog, **sim.robot.device_values()})

    def fill(self, response: SaveStateResponse) -> None:
        """What time it is: steps, and the stamp of the newest state."""
        sim = self.sim
        header, x = sim.loop.snapshot()
        response.step = header.step
        messages.set_time(response.stamp, sim.plane.clock_of(header, x))
        if hasattr(response, "file"):
            response.file, response.data = self.path, self.data


def at_its_start(state: State) -> State:
    """The parameters of a state, and wrenches from outside, in one that nothing has happened to."""
    found, fresh = state.copy(), state.model.default_state()
    for row in FIELDS:
        if row.stage == "input" and row.name not in ("external_force", "motion_q", "motion"):
            found.field(row.name)[...] = fresh.field(row.name)
    return found


def in_force(of: Saved, nv: int, robots: int = 0) -> dict[str, Any]:
    """Arguments of Loop.recall, and the watchdog's settings (None: as they are). A simulator's save has no commands in force."""
    header = of.header
    if "loop" not in header:
        if not 0.0 <= header.get("time", 0.0) / header["dt"] < 2**53:
            raise no_save(of.who, f"its time is {header['time']!r}")
        step = round(header.get("time", 0.0) / header["dt"])
        return {"step": step, "commanded": False, "tripped": False, "age_steps": 0, "age_ns": 0, "held": [0.0] * nv, "watchdog": None}
    loop = {"watched": [], **header["loop"]} if type(header["loop"]) is dict else None
    if type(loop) is not dict or {name: type(value) for name, value in loop.items()} != LOOP or not 0 <= loop["step"] < 2**53:
        raise no_save(of.who, "its commands in force are none")
    if len(loop["held"]) != nv or len(loop["watchdog"]) != len(WATCHDOG) or not all(type(x) is float and isfinite(x) for x in loop["held"]):
        raise no_save(of.who, f"its commands in force are not {nv} numbers")
    if not (0 <= loop["age_steps"] < 2**53 and 0 <= loop["age_ns"] < 2**62):
        raise no_save(of.who, "the age of its command is none")
    rows = loop.pop("watched")
    if rows and not (len(rows) == robots and all(map(_is_watched, rows))):
        raise no_save(of.who, f"it does not say of {robots} robots what commands them")
    return {**loop, "watched": rows or None}


def _is_watched(row: object) -> bool:
    """Of one robot: is it commanded, does the watchdog act, the age of its command in steps and in ns beside them."""
    return type(row) is list and [type(x) for x in row] == WATCHED and 0 <= row[2] < 2**53 and 0 <= row[3] < 2**62
