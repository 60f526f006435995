"""The node's services: pause, reset, step, lock joints, put joints elsewhere. Every error is an answer, never the end of the node."""
from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from mbros.bench.faults import Faults

from mbros.ros.serve.disturbances import DisturbanceServices
from mbros.ros.errors import RequestError, sentence, why_still
from mbros.ros.serve.fault_services import FaultServices
from mbros.ros.serve.requests import Requested
from mbros.ros.wire.sources import SourceServices
from mbros.ros.serve.steps import Steps

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.serve.typing import SetBoolRequest, SetJointLockRequest, SetStateRequest, TriggerResponse
    from mbros.ros.typing import Action, Callback, Fill, Service


class Services:
    """Services of a SimNode. Those of mbros_msgs are there where that package is (mbros.ros.interfaces)."""

    def __init__(self, sim: SimNode):
        from std_srvs.srv import SetBool, Trigger

        self.sim = sim
        self.steps = Steps(sim)
        self.disturbances: DisturbanceServices | None = None
        self.sources: SourceServices | None = None
        self.faults: FaultServices | None = None
        self._offer(SetBool, "~/pause", self.pause)
        self._offer(Trigger, "~/reset", self.reset)
        try:
            from mbros_msgs.srv import Record, RestoreState, SaveState, SetJointLock, SetState, Step
        except ImportError as e:
            sim.log.warning(
                f"no services ~/set_joint_lock, ~/set_state, ~/save_state, ~/restore_state and ~/record, "
                f"and ~/step takes no commands: {e}. Build mbros_msgs (docs/ros.md) or run "
                "`python -m mbros.ros.interfaces`; the parameters locked.<joint> do the same as the first")
            self._offer(Trigger, "~/step", lambda request: self.steps.take_steps(sim.live.values["step_count"]), create=sim.prompt.serve)
            return
        self.steps.serve_directly(self._offer(Step, "~/step", self.steps.step, self.steps.fill_state, sim.prompt.serve))
        self._offer(SetJointLock, "~/set_joint_lock", self.set_joint_lock)
        self._offer(SetState, "~/set_state", self.set_state)
        self._offer(SaveState, "~/save_state", sim.saves.save, sim.saves.fill)
        self._offer(RestoreState, "~/restore_state", sim.saves.restore, sim.saves.fill)
        self._offer(Record, "~/record", sim.recording.serve, sim.recording.fill)
        bench = sim.robot.bench
        if bench is not None:
            self.faults = FaultServices(Faults(bench.layout, bench.devices), self._offer, sim.recording.touched)
            sim.of_worlds.append(self._follow_bench)
            if bench.layout.sources:
                self.sources = SourceServices(sim, self._offer)
        self.disturbances = DisturbanceServices(sim, self._offer)

    def _offer(self, kind: type, name: str, action: Action, fill: Fill | None = None,
               create: Callable[[type, str, Callback], Service] | None = None) -> Service:
        def serve(request: object, response: TriggerResponse) -> TriggerResponse:
            try:
                with self.sim.turn:
                    response.success, response.message = True, action(request)
                    if fill is not None:
                        fill(response)
            except Exception as e:
                response.success, response.message = False, "the node is ending" if self.sim.ending else sentence(e)
            return response

        return (create or self.sim.node.create_service)(kind, name, serve)

    def _follow_bench(self) -> None:
        """In another world: faults and sources are of its bench, and the old one is let go of."""
        bench = self.sim.robot.bench
        if self.faults is not None and bench is not None:
            self.faults.faults = Faults(bench.layout, bench.devices)
        if self.sources is not None:
            self.sources.follow(bench)
        elif bench is not None and bench.layout.sources:
            self.sources = SourceServices(self.sim, self._offer)

    # --- each says what was done, or raises

    def pause(self, request: SetBoolRequest) -> str:
        (self.sim.pause if request.data else self.resume)()
        return "paused" if request.data else "running"

    def resume(self) -> None:
        """End a pause; in lockstep who has still to answer is asked again."""
        with nullcontext() if self.sim.watch is None else self.sim.watch.asking_again():
            self.sim.loop.resume()

    def reset(self, request: object) -> str:
        sim = self.sim
        sim.plane.stamps.refuse_before(time.time_ns())
        if self.disturbances is not None:
            self.disturbances.forget()
        q, v = sim.robot.initial_state(sim.live.values)
        self.steps.give_up("the robot was reset meanwhile")
        with sim.recording.change("reset", q=q, v=v):
            sim.loop.reset(q, v)
        if sim.loop.state == "stopped" and not sim.ending:          # overrun_policy `stop`
            sim.loop.start()
        locked = [joint.name for joint in sim.robot.own if sim.live.values[f"locked.{joint.name}"]]
        return ("at the initial positions, at rest; steps and simulated time count from 0 again, stamps go on"
                + (f"; still locked: {', '.join(locked)}" if locked else ""))

    def set_joint_lock(self, request: SetJointLockRequest) -> str:
        """By way of the parameters, so that both always say the same."""
        from rclpy.parameter import Parameter

        joints = list(request.joints) or [joint.name for joint in self.sim.robot.own]
        if len(joints) > len(self.sim.robot.model.joints):
            raise RequestError(f"{len(joints)} joints are named; there are {len(self.sim.robot.model.joints)}")
        for name in joints:
            self.sim.robot.own_joint(name)
            if joints.count(name) > 1:
                raise RequestError(f"joint '{name}' is named twice")
        result = self.sim.node.set_parameters_atomically([Parameter(f"locked.{name}", value=request.lock) for name in joints])
        if not result.successful:
            raise RequestError(result.reason)
        return f"{'locked' if request.lock else 'free'}: {', '.join(joints)}"

    def set_state(self, request: SetStateRequest) -> str:
        wanted = Requested(self.sim.robot, self.sim.live.values)
        wanted.take_joint_state(request.joint_state)
        wanted.take_multi_dof(request.multi_dof_joint_state)
        wanted.check()
        self.put("set_state", wanted)
        return "; ".join([f"set: {', '.join(wanted.joints)}", *wanted.remarks])

    def put(self, what: str, wanted: Requested) -> None:
        """Put the robot where a request of the service `what` has it, between two steps."""
        loop = self.sim.loop
        if why_still(loop):
            raise RequestError(f"{what}: {why_still(loop)}; call ~/reset first")
        wanted.close_loops(loop.snapshot()[1], self.sim.live.tuned)
        with self.sim.recording.change("set_state", q=wanted.q, v=wanted.v):
            loop.set_state(wanted.q, wanted.v)
