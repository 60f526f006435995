"""~/step: these commands, so many steps, the state after them.

A request is read from rcl's own struct and the answer written there (`_dataplane.StepService`): to make messages of Python of both took
more than half of a round trip. Where this ROS lays them out in a way that is not known there, messages are read and filled here.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mbros_core.errors import LoopError, LoopTimeoutError

from rclpy.serialization import serialize_message

from mbros.ros.wire import messages
from mbros.ros.wire.commands import NOTHING, About, refusal
from mbros.ros.errors import RequestError, sentence

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.serve.typing import StepRequest, StepResponse
    from mbros.ros.typing import Service
    from mbros.ros.wire._dataplane import CommandInput, StepService
    from mbros.ros.wire.typing import JointState
    from mbros_core.typing import Array
    from mbros.ros.wire.native_plane import NativePlane

MOST_STEPS = 100_000
FIRST, ALONE = 10, 0.02                 # steps that are taken in one go, and s in which others have no turn
TRIES = 20                              # of a tenth of a second each, for a client that the middleware has heard, and not found yet
Command = tuple[str, "Array | None", About] | None         # reason, values or None, what it is about; None: nothing is asked for


class Steps:
    """Steps of a SimNode in a pause, for `~/step` and for others that take some."""

    def __init__(self, sim: SimNode):
        self.sim = sim
        self._direct: StepService | None = None
        self._plane: NativePlane | None = None                 # the one whose robots the direct way reads and writes
        self._reader: CommandInput | None = None         # of commands in messages of Python
        self._read_by: NativePlane | None = None               # the plane that has made it
        self._gone = b""                       # the client that was given up last
        self.taking = False
        self.awaited = False                    # somebody on the executor goes on when they have been taken
        self.given_up = ""                     # why the steps that are being taken come to nothing
        self.unheard = 0                        # answers that were given up

    # --- each says what was done, or raises

    def step(self, request: StepRequest) -> str:
        """Of a message of mbros_msgs/srv/Step."""
        return self._step(request.steps, partial(self._read, request.command))

    def _step(self, asked: int, read: Callable[[], Command]) -> str:
        """The command goes through the loop's own mailbox, which it empties after it has seen how many steps are asked for. Trajectories
        have let go of its joints before: the loop looks at both in a pause too, and one that is under way would have the last word."""
        loop, n = self.sim.loop, asked or self.sim.live.values["step_count"]
        if n > MOST_STEPS:
            raise RequestError(f"steps is {n}; expected {MOST_STEPS} or fewer, 0 for the parameter step_count")
        self._refuse()
        command = read()
        if command is not None:
            reason, values, about = command
            if values is None:
                stamps = self.sim.plane.stamps
                behind = 1e-9 * (time.time_ns() - stamps.stamp_ns) if stamps.simulated else 0.0
                raise RequestError(f"command: {refusal(reason, about, self.sim.robot.map, behind)}")
            nv = self.sim.robot.map.nv
            self.sim.plane.release(k for k in range(nv) if values[-nv + k] == values[-nv + k])
            loop.command(values)
        return self.take_steps(n)

    def _read(self, message: JointState) -> Command:
        """What joint_commands would make of it; every reason to drop it refuses the request."""
        if not (message.name or message.position or message.velocity or message.effort):
            return None
        reader = self._reader
        if reader is None or self._read_by is not self.sim.plane:
            reader, *_ = self.sim.plane.of_steps()
            self._read_by, self._reader = self.sim.plane, reader
        reason, values = reader.decode(serialize_message(message))
        problem = reader.last_problem()
        return reason, values, NOTHING if values is not None or problem is None else problem[1:]

    def take_steps(self, n: int) -> str:
        """So many steps at once. In lockstep others take their time, and many steps take theirs: whatever else acts on the loop has its
        turn meanwhile."""
        sim, loop = self.sim, self.sim.loop
        self._refuse()
        self.taking, self.given_up = True, ""
        try:
            left = n if sim.in_lockstep else self._take_first(n)
            if left:
                with sim.turn.given_up():
                    self._take(left)
        finally:
            self.taking = False
            if self.awaited and sim.node.executor is not None:
                self.awaited = False
                sim.node.executor.wake()
        return f"{n} step{'s' if n > 1 else ''}, simulated time {loop.snapshot()[0].time:.6f} s"

    def _take_first(self, n: int) -> int:
        """Steps that are taken before others have their turn; returns how many are left."""
        begun, left, some = time.monotonic(), n, FIRST
        while left and (spent := time.monotonic() - begun) < ALONE:
            if left < n:
                some = max(1, min(left, int((n - left) * (ALONE / spent - 1.0))))
            some = min(some, left)
            self._take(some)
            left -= some
        return left

    def _take(self, n: int) -> None:
        loop, watch = self.sim.loop, self.sim.watch
        patience = 30.0 + 100.0 * n * self.sim.dt if self.sim.in_lockstep else None
        try:
            if watch is None:
                loop.step_once(n, patience)
            else:
                watch.take_steps(n, patience)
        except (LoopError, LoopTimeoutError) as e:
            if self.given_up:
                raise RequestError(f"the steps were given up: {self.given_up}") from e
            if watch is None:
                raise
            raise RequestError(watch.sentence_of(e)) from e

    def give_up(self, why: str) -> None:
        """Steps that are being taken come to nothing; their request is answered with why."""
        if self.taking:
            self.given_up = why
            self.sim.loop.cancel_steps()

    def _refuse(self) -> None:
        if not self.sim.loop.paused:
            raise RequestError("the simulation is running; pause it first (~/pause)")
        if self.taking:
            raise RequestError("steps of another request are being taken; ask again when it has its answer"
                               + ("" if self.sim.watch is None else self.sim.watch.waits_for()))

    def fill_state(self, response: StepResponse) -> None:
        """The newest snapshot: in a pause nothing moves, and one request is served after the other."""
        sim = self.sim
        header, x = sim.loop.snapshot()
        stamp = sim.plane.clock_of(header, x)
        response.step = header.step
        messages.fill_joint_state(response.joint_state, sim.robot.map, x, stamp)
        if sim.robot.map.base is not None:
            from nav_msgs.msg import Odometry

            response.odometry = [messages.fill_odometry(Odometry(), sim.robot.map, x, stamp)]

    # --- without messages of Python

    def serve_directly(self, service: Service) -> None:
        """Let the data plane read and write; where it cannot, `step` and `fill_state` go on doing it."""
        from mbros.ros.wire._dataplane import DataPlaneError, StepService

        try:
            self._direct = StepService(service)
            self._follow(self._direct)
        except DataPlaneError as e:
            self.close()
            self.sim.log.info(f"~/step takes its messages through Python: {e}")
            return
        self.sim.prompt.serve_directly(self._direct, self._answer)

    def _follow(self, direct: StepService) -> None:
        """In this world: its robots. On the thread that answers, which has an answer under way no longer."""
        plane = self.sim.plane
        if self._plane is not plane:
            direct.follow(*plane.of_steps())
            self._plane = plane

    def _answer(self) -> bool:
        """Serve a request that has come; whether there was one."""
        sim, direct = self.sim, self._direct
        if direct is None or not direct.take():
            return False
        try:
            with sim.turn:
                self._follow(direct)
                done = self._step(direct.steps, direct.command)
                header, x = sim.loop.snapshot()
                direct.write(done, header.step, x, sim.plane.clock_of(header, x))
            say = direct.answer
        except Exception as e:
            say = partial(direct.refuse, "the node is ending" if sim.ending else sentence(e))
        for _ in range(1 if direct.asker == self._gone else TRIES + 1):
            if say() or sim.ending:
                return True
        self.unheard += 1
        if direct.asker == self._gone:      # what it asked before it was given up
            return True
        self._gone = direct.asker
        sim.log.warning(f"an answer of ~/step was given up, as the middleware did not find its client within {0.1 * (TRIES + 1):.1f} s: "
                        f"{self._whose(direct.asker)}. It has ended, or this machine is too busy for discovery")
        return True

    def _whose(self, asker: bytes) -> str:
        """Who may have asked: the nodes with a client of ~/step, and what the middleware calls the one."""
        node = self.sim.node
        name = node.resolve_service_name("~/step")
        nodes = [f"{namespace.rstrip('/')}/{one}" for one, namespace in node.get_node_names_and_namespaces()
                 if any(client == name for client, _ in node.get_client_names_and_types_by_node(one, namespace))]
        return f"{', '.join(nodes) if nodes else 'no node that is known'} (client {asker.hex()})"

    def close(self) -> None:
        """After the last request and before the node is destroyed."""
        if self._direct is not None:
            self._direct.close()
        self._direct = None
