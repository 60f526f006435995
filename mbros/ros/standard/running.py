"""The state of the simulation and its reset, as the standard has them.

The loop plays or is paused; it is `stopped` where it was asked to be, paused and at the start, and until it is asked for something else.
Time never goes back on any topic: a reset puts the robot back, and says what time it is.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState

from ..errors import sentence, why_still
from .refusal import Refusal, unsupported

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.standard.spawning import Spawning
    from mbros.ros.standard.typing import ResetSimulationRequest, SetSimulationStateRequest
    from mbros_core.realtime import SnapshotHeader
    from mbros_core.typing import Array

QUIT_AFTER = 0.3        # s: the answer is on its way by then
NAMES = {SimulationState.STATE_STOPPED: "stopped", SimulationState.STATE_PLAYING: "playing", SimulationState.STATE_PAUSED: "paused",
         SimulationState.STATE_QUITTING: "quitting"}


def clock_text(sim: SimNode, header: SnapshotHeader, x: Array) -> str:
    """The time on every topic of a snapshot of a SimNode."""
    seconds, nanoseconds = divmod(sim.plane.clock_of(header, x), 1_000_000_000)
    return f"{seconds}.{nanoseconds:09d} s"


class Running:
    """Of a SimNode."""

    def __init__(self, sim: SimNode):
        self.sim = sim
        self.spawning: Spawning
        self._stopped = self._quitting = False

    @property
    def state(self) -> int:
        """One of SimulationState."""
        if self._quitting:
            return SimulationState.STATE_QUITTING
        if self.sim.loop.state == "running":
            return SimulationState.STATE_PLAYING
        if self._stopped and not self.trouble and self.sim.loop.snapshot()[0].step == 0:
            return SimulationState.STATE_STOPPED
        return SimulationState.STATE_PAUSED

    @property
    def trouble(self) -> str:
        """Why nothing moves until a reset, or ""."""
        why = why_still(self.sim.loop)
        return f"{why}; reset_simulation, or STATE_STOPPED, helps" if why else ""

    @property
    def time(self) -> str:
        """The time on every topic, for an answer."""
        return clock_text(self.sim, *self.sim.loop.snapshot())

    # --- services

    def get_state(self, request: object, response: SetSimulationStateRequest) -> None:
        response.state.state = self.state
        if self.trouble:
            raise Refusal(self.trouble)

    def set_state(self, request: SetSimulationStateRequest, response: object) -> str | None:
        wanted, now, codes = request.state.state, self.state, SetSimulationState.Response
        if wanted not in NAMES:
            raise Refusal(f"state {wanted} cannot be asked for; expected one of "
                          f"{', '.join(f'{number} ({name})' for number, name in NAMES.items())}", codes.INCORRECT_TRANSITION)
        if now == SimulationState.STATE_QUITTING:
            raise Refusal("the node is ending", codes.INCORRECT_TRANSITION)
        if wanted == now and not self.trouble:
            raise Refusal(f"the simulation is {NAMES[now]} already", codes.ALREADY_IN_TARGET_STATE)
        if wanted == SimulationState.STATE_STOPPED:
            return self._stop()
        if wanted == SimulationState.STATE_QUITTING:
            self._quit()
            return None
        if self.trouble:
            raise Refusal(self.trouble, codes.STATE_TRANSITION_ERROR)
        self._stopped = False
        if wanted == SimulationState.STATE_PLAYING:
            self.sim.services.resume()
        elif now == SimulationState.STATE_PLAYING:
            self.sim.pause()
        return None

    async def reset(self, request: ResetSimulationRequest, response: object) -> str:
        of, scope, never = ResetSimulation.Request, request.scope, self.spawning.why_never
        both = of.SCOPE_STATE | of.SCOPE_SPAWNED
        known = {of.SCOPE_DEFAULT: both, of.SCOPE_ALL: both, of.SCOPE_STATE: of.SCOPE_STATE}
        if not never:
            known.update({of.SCOPE_SPAWNED: of.SCOPE_SPAWNED, both: both})
        if scope not in known:
            raise unsupported(f"scope {scope} is not supported; expected one of {', '.join(map(str, sorted(known)))}: the time on /clock "
                              f"and in stamps never goes back, it is {self.time}"
                              + (f", and nothing can be spawned: {never}" if never else ""))
        said = []
        if known[scope] & of.SCOPE_STATE:
            with self.sim.turn:
                said.append(self.sim.services.reset(None))
        if known[scope] & of.SCOPE_SPAWNED and not never:
            said.append(await self._despawn(said))
        return "; ".join([*said, f"the time is {self.time}"])

    # --- what they are made of

    async def _despawn(self, said: list[str]) -> str:
        """said: what of the reset has been done already, which a refusal does not take back."""
        try:
            return str(await self.spawning.despawn())
        except Exception as e:
            what = f"the state was reset; what was spawned is still there: {sentence(e)}" if said else sentence(e)
            raise Refusal(what, getattr(e, "code", Result.RESULT_OPERATION_FAILED)) from e

    def _reset(self) -> str:
        return f"{self.sim.services.reset(None)}; the time is {self.time}"

    def _stop(self) -> str:
        if self.trouble:
            self._reset()
        self.sim.pause()
        said = self._reset()
        self._stopped = True
        return said

    def _quit(self) -> None:
        if self.sim.quit is None:
            raise unsupported("this node was not started by a program that it could end")
        if not self.trouble:
            self.sim.pause()
        self._quitting = True
        timer = threading.Timer(QUIT_AFTER, self.sim.quit)
        timer.daemon = True
        timer.start()
