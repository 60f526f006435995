"""Steps while paused: StepSimulation, which answers after the last one, and the action SimulateSteps, with feedback after each.

The action takes its steps in the executor's own thread, a few at a time: between them every other request is served.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.action.server import ActionServer, CancelResponse
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, SimulationState

from ..errors import RequestError, sentence
from mbros.ros.serve.steps import FIRST, MOST_STEPS
from mbros.ros.serve.turn import elsewhere, next_round
from .refusal import Refusal
from .running import NAMES, Running
from .table import ROWS

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.standard.typing import StepSimulationRequest
    from mbros.ros.typing import Goal, Logger

TURN = 2e-3         # s of steps, then the executor has its turn


class Errors:
    """Of a logger its errors alone: rclpy's action server warns of each request for the result of a goal that there is none of, which
    anybody may send. A level set in rcutils instead would have every publication of the node look levels up, which allocates."""

    def __init__(self, logger: Logger):
        self.error = logger.error

    def debug(self, *given: object) -> None:
        """Not said."""

    warn = warning = info = debug


class Stepping:
    """Of a SimNode whose state is `running`."""

    def __init__(self, sim: SimNode, running: Running):
        self.sim, self.running = sim, running
        self._acting = False            # a goal is under way
        topic = next(row.topic for row in ROWS if row.name == "SimulateSteps")
        make: Any = ActionServer        # its types know no protocols
        self._server: Any = make(sim.node, SimulateSteps, f"~/{topic}", self._act,
                                         cancel_callback=lambda request: CancelResponse.ACCEPT)
        self._server._logger = Errors(self._server._logger)

    def close(self) -> None:
        if self._server is not None:
            self._server.destroy()
            self._server = None

    async def step(self, request: StepSimulationRequest, response: object) -> str:
        """StepSimulation. In lockstep, where it may wait for somebody, and where it may take long, other requests are served meanwhile."""
        self._refuse()
        if request.steps > MOST_STEPS:
            raise Refusal(f"steps is {request.steps}; expected {MOST_STEPS} or fewer: the action simulate_steps takes any number")
        if not request.steps:
            return "no step was asked for"
        return await self._in_turn(request.steps)

    async def _in_turn(self, n: int, look: Callable[[], None] = lambda: None) -> str:
        def take() -> str:
            with self.sim.turn:
                return str(self.sim.services.steps.take_steps(n))

        executor, slow = self.sim.node.executor, self.sim.in_lockstep or n > FIRST
        return await elsewhere(executor, take, look) if slow and executor is not None else take()

    def _refuse(self) -> None:
        if self.running.trouble:
            raise Refusal(self.running.trouble)
        state = self.running.state
        if state != SimulationState.STATE_PAUSED:
            raise Refusal(f"the simulation is {NAMES[state]}; set it to paused first (set_simulation_state, state "
                          f"{SimulationState.STATE_PAUSED})")
        if self._acting:
            raise Refusal("simulate_steps is taking steps; wait for it or cancel it")

    async def _act(self, goal: Goal) -> object:
        """A goal of SimulateSteps, from its first step to its result."""
        result = SimulateSteps.Result()
        try:
            self._refuse()
            self._acting = True
            try:
                done = await (self._wait_for(goal) if self.sim.in_lockstep else self._take(goal))
            finally:
                self._acting = False
        except Exception as e:
            goal.abort()
            result.result.result = Result.RESULT_OPERATION_FAILED
            result.result.error_message = "the node is ending" if self.sim.ending else sentence(e)
            return result
        cancelled = done < goal.request.steps
        (goal.canceled if cancelled else goal.succeed)()
        result.result.result = Result.RESULT_OPERATION_FAILED if cancelled else Result.RESULT_OK
        result.result.error_message = (f"{'cancelled after ' if cancelled else ''}{done} of {goal.request.steps} steps; "
                                       f"the time is {self.running.time}")
        return result

    async def _take(self, goal: Goal) -> int:
        """The steps that were taken: all of them, unless it is cancelled."""
        done, feedback, others = 0, SimulateSteps.Feedback(), self.sim.services.steps
        while done < goal.request.steps and not goal.is_cancel_requested:
            if not self.sim.loop.paused:
                raise Refusal(f"the simulation was resumed after {done} of {goal.request.steps} steps")
            with self.sim.turn:
                others.awaited = True               # before it is looked whether they are taking steps, as they look after it
                end = time.monotonic() + TURN       # others, such as ~/step, may have had the loop until now
                while done < goal.request.steps and not others.taking and time.monotonic() < end:
                    self.sim.loop.step_once()
                    done += 1
                    feedback.completed_steps, feedback.remaining_steps = done, goal.request.steps - done
                    goal.publish_feedback(feedback)
            await next_round(self.sim.node.executor, not others.taking)
        return done

    async def _wait_for(self, goal: Goal) -> int:
        """The same in lockstep, one by one: others are served while a step waits for somebody, and a cancelled goal waits no more."""
        done, feedback, steps = 0, SimulateSteps.Feedback(), self.sim.services.steps

        def look() -> None:
            if goal.is_cancel_requested:
                steps.give_up("they were cancelled")

        while done < goal.request.steps and not goal.is_cancel_requested:
            try:
                await self._in_turn(1, look)
            except RequestError as e:
                if goal.is_cancel_requested:
                    break
                raise Refusal(f"{done} of {goal.request.steps} steps were taken: {e}") from e
            done += 1
            feedback.completed_steps, feedback.remaining_steps = done, goal.request.steps - done
            goal.publish_feedback(feedback)
        return done
