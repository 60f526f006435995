"""Services that disturb the robot: wrenches and joint efforts from outside, payloads. Names are those of Gazebo's services of the kind."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.engine.checks import LARGEST

from mbros.bench import disturbances as made

from mbros.ros.errors import RequestError

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.serve.typing import (
        ApplyJointEffortRequest, ApplyWrenchRequest, ApplyWrenchResponse, AttachPayloadRequest, ClearDisturbancesRequest,
        DropPayloadRequest)
    from mbros.ros.wire.typing import Time, Vector3
    from mbros_core import State
    from mbros_core.typing import Array

MARGIN = 1.0        # s of simulated time after its end, after which the place of a disturbance is free again


class DisturbanceServices:
    """~/apply_wrench, ~/apply_joint_effort, ~/clear_disturbances, ~/attach_payload and ~/drop_payload of a SimNode.

    The loop's thread takes a whole table between two steps (mbros_core.plant._pushes); what is in it already goes on.
    """

    def __init__(self, sim: SimNode, offer: Callable[..., object]):
        from mbros_msgs.srv import ApplyJointEffort, ApplyWrench, AttachPayload, ClearDisturbances, DropPayload

        self.sim = sim
        self.table: Array = np.zeros((made.MOST, made.WIDTH))
        self.ends = np.zeros(made.MOST)             # simulated time from which on a row may be forgotten
        self.number = 0
        sim.of_worlds.append(self._begin_anew)
        for kind, name, action in ((ApplyWrench, "~/apply_wrench", self.apply_wrench),
                                   (ApplyJointEffort, "~/apply_joint_effort", self.apply_joint_effort),
                                   (AttachPayload, "~/attach_payload", self.attach_payload)):
            offer(kind, name, action, self._fill)
        offer(ClearDisturbances, "~/clear_disturbances", self.clear)
        offer(DropPayload, "~/drop_payload", self.drop_payload)

    def _begin_anew(self) -> None:
        """In another world: what is over is not posted again, on a body of that number there. Nothing is in force then."""
        self.table[:], self.ends[:] = 0.0, 0.0

    def _fill(self, response: ApplyWrenchResponse) -> None:
        response.number = self.number

    # --- each says what was done, or raises

    def apply_wrench(self, request: ApplyWrenchRequest) -> str:
        w, p, steps = request.wrench, request.reference_point, self._steps(request.duration)
        row = made.wrench_row(self.sim.robot.model, request.link_name, _xyz(w.torque), _xyz(w.force),
                              self._frame(request.reference_frame), _xyz(p), steps, self._most())
        return self._add([row], steps, f"on {request.link_name}")

    def _frame(self, name: str) -> str:
        """The model's name of a frame, which may be given as TF has it."""
        robot, prefix = self.sim.robot, self.sim.live.values["frame_prefix"]
        if name in ("", robot.map.odom_frame):
            return "world"
        known = {frame.name for frame in robot.model.frames}
        return name.removeprefix(prefix) if name not in known and name.removeprefix(prefix) in known else name

    def apply_joint_effort(self, request: ApplyJointEffortRequest) -> str:
        steps = self._steps(request.duration)
        rows = made.effort_rows(self.sim.robot.model, {request.joint_name: request.effort}, steps, self._most())
        if not rows:
            raise RequestError(f"effort of '{request.joint_name}' is 0, which does nothing")
        return self._add(rows, steps, f"in {request.joint_name}")

    def clear(self, request: ClearDisturbancesRequest) -> str:
        if request.name and request.number:
            raise RequestError("give a name or a number, not both")
        if request.number > self.number:
            raise RequestError(f"there is no disturbance {request.number}; the newest one is {self.number or 'none'}")
        which = made.chosen(self.sim.robot.model, self.table, int(request.number) or request.name or None)
        self._forget_over()
        count = len(set(self.table[which & (self.table[:, made.KIND] != 0.0), made.NUMBER]))
        self.table[which, made.KIND] = 0.0
        self._post()
        return f"{count} cleared"

    def attach_payload(self, request: AttachPayloadRequest) -> str:
        i = request.inertia
        moments = [[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]]
        row = made.payload_row(self.sim.robot.model, request.link_name, i.m, _xyz(i.com), None if not np.any(moments) else moments)
        self.number += 1
        self.sim.live.carry({**self.sim.live.payloads, self.number: row})
        return f"payload {self.number}: {i.m:g} kg on {request.link_name}"

    def drop_payload(self, request: DropPayloadRequest) -> str:
        carried = self.sim.live.payloads
        if request.number and request.number not in carried:
            raise RequestError(f"there is no payload {request.number}; there are {', '.join(map(str, carried)) or 'none'}")
        gone = [request.number] if request.number else list(carried)
        self.sim.live.carry({number: row for number, row in carried.items() if number not in gone})
        return f"{len(gone)} dropped"

    def forget(self) -> None:
        """At a reset: nothing pushes any more. Payloads stay, as parameters do."""
        if (self.table[:, made.KIND] != 0.0).any():
            self.table[:, made.KIND] = 0.0
            self._post()

    def in_force(self) -> Array | None:
        """The whole table as the next step begins with it, payloads among it, or None where nothing pushes; the loop stands aside."""
        table, there = self.table.copy(), self.sim.robot.pushes.table
        goes_on = (table[:, made.NUMBER] == there[:, made.NUMBER]) & (table[:, made.KIND] != 0.0)       # as take_mail of _pushes has it
        table[goes_on] = there[goes_on]
        free = np.flatnonzero(table[:, made.KIND] == 0.0)
        payloads = self.sim.live.payloads
        if len(payloads) > len(free):
            raise RequestError(f"{len(payloads)} payloads and {made.MOST - len(free)} disturbances: a file holds {made.MOST} of them "
                               "together; end some first (~/clear_disturbances, ~/drop_payload)")
        table[free] = 0.0
        for place, (number, row) in zip(free.tolist(), payloads.items()):
            table[place] = row
            table[place, made.NUMBER] = number
        return table if table.any() else None

    def go_on(self, table: Array, start: State, now: float) -> None:
        """This table from the next step on, of a save whose state is on the plant and in live.tuned; start: its start; now:
        its time. The loop stands aside."""
        live, rows = self.sim.live, sorted((row for row in table if row[made.KIND] == made.PAYLOAD), key=lambda row: row[made.NUMBER])
        self.number = int(table[:, made.NUMBER].max())
        live.payloads = {int(row[made.NUMBER]): row.copy() for row in rows}
        made.unload(live.tuned, start, rows)
        self.table = np.where(table[:, made.KIND, None] == made.PAYLOAD, 0.0, table)
        began, steps = self.table[:, made.BEGAN], self.table[:, made.STEPS]
        self.ends = np.where(steps < 0.0, np.inf, np.where(began < 0.0, now, began) + steps * self.sim.dt + MARGIN)
        self.sim.robot.pushes.put(self.table)
        self.sim.robot.pushes.post(self.table)          # over what was on its way

    # --- the table

    def _most(self) -> float:
        """The largest wrench or effort that is believed: as of commands, and in Python."""
        return float(min(LARGEST, self.sim.live.values["max_command"]))

    def _steps(self, duration: Time) -> int:
        return made.steps_of(duration.sec + 1e-9 * duration.nanosec, self.sim.dt)

    def _add(self, rows: list[Array], steps: int, where: str) -> str:
        now = self._forget_over()
        free = np.flatnonzero(self.table[:, made.KIND] == 0.0)
        self.table[free, made.NUMBER] = self.number
        self.number = made.added(self.table, rows)
        self.ends[free] = np.inf if steps < 0 else now + steps * self.sim.dt + MARGIN
        self._post()
        until = "until it is cleared" if steps < 0 else "for 1 step" if steps == 1 else f"for {steps} steps"
        return f"disturbance {self.number} {where}, {until}"

    def _forget_over(self) -> float:
        """Takes out what is over; returns the simulated time."""
        now: float = self.sim.loop.snapshot()[0].time
        self.table[self.ends < now, made.KIND] = 0.0
        return now

    def _post(self) -> None:
        with self.sim.recording.change("disturbances", table=self.table):
            self.sim.robot.pushes.post(self.table)


def _xyz(v: Vector3) -> tuple[float, float, float]:
    return v.x, v.y, v.z
