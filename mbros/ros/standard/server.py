"""The services of simulation_interfaces on the node: each answers with a Result, whatever it is asked for."""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import simulation_interfaces.srv
from rclpy.callback_groups import ReentrantCallbackGroup
from simulation_interfaces.msg import Result, SimulatorFeatures

from mbros import __version__

from ..errors import sentence
from .entities import Entities
from .placing import Placing
from .refusal import Refusal, unsupported
from .running import Running
from .spawning import Spawning
from .stepping import Stepping
from .table import ROWS, Row, features

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.typing import Callback, StandardAction
    from mbros.ros.standard.typing import GetSimulatorFeaturesResponse

# of request and response: fills it; what is to be said beside, if anything



class Standard:
    """All of table.ROWS, at `~/get_entities` and so on. An older package may lack some of the types: those are left out."""

    def __init__(self, sim: SimNode):
        self.sim = sim
        running, entities = Running(sim), Entities(sim.robot, sim)
        self.stepping, spawning = Stepping(sim, running), Spawning(sim, entities)
        running.spawning = self._spawning = spawning
        actions: dict[str, StandardAction] = {
            "GetSimulatorFeatures": self._features, "SetEntityState": Placing(sim, entities).set_state,
            "GetSimulationState": running.get_state, "SetSimulationState": running.set_state, "ResetSimulation": running.reset,
            "StepSimulation": self.stepping.step, "GetEntities": entities.names, "GetEntitiesStates": entities.states,
            "GetEntityState": entities.state, "GetEntityInfo": entities.info, "GetEntityBounds": entities.bounds,
            "GetNamedPoses": entities.named_poses, "GetSpawnables": spawning.spawnables, "SpawnEntity": spawning.spawn,
            "SpawnEntities": spawning.spawn_several, "DeleteEntity": spawning.delete}
        waits = ReentrantCallbackGroup()        # of what may wait for others: the node's own group has one callback at a time
        for row in ROWS:
            kind, action = getattr(simulation_interfaces.srv, row.name, None), actions.get(row.name)
            if kind is not None:
                sim.node.create_service(kind, f"~/{row.topic}", self._served(row, action),
                                        callback_group=waits if inspect.iscoroutinefunction(action) else None)

    def close(self) -> None:
        """Let go of the action; the services go with the node."""
        self.stepping.close()

    def _served(self, row: Row, action: StandardAction | None) -> Callback:
        async def serve(request: object, response: Any) -> object:
            code, text = Result.RESULT_OK, None
            try:
                if action is None:
                    raise unsupported(f"{row.name} is not supported: {row.doc}")
                if inspect.iscoroutinefunction(action):         # takes its turn itself
                    text = await action(request, response)
                else:
                    with self.sim.turn:
                        text = action(request, response)
            except Exception as e:
                code = getattr(e, "code", Result.RESULT_OPERATION_FAILED)
                text = "the node is ending" if self.sim.ending and not isinstance(e, Refusal) else sentence(e)
            if hasattr(response, "result"):
                response.result.result, response.result.error_message = code, text or ""
            return response

        return serve

    def _features(self, request: object, response: GetSimulatorFeaturesResponse) -> None:
        changes = not self._spawning.why_never
        known = (getattr(SimulatorFeatures, name, None) for name in features(changes))     # an older package may lack some
        if changes:
            response.features.spawn_formats = ["urdf"]
        response.features.features = sorted(number for number in known if number is not None)
        response.features.custom_info = f"mbros {__version__}; what each does: docs/simulation_interfaces.md"
