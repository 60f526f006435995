"""The same of simulation_interfaces. Only type checkers read it (mbros.ros.typing)."""
from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Protocol

from mbros.ros.wire.typing import Header, PoseMessage, PoseStamped, Twist, Vector3


class BoundsMessage(Protocol):
    """simulation_interfaces.msg.Bounds"""

    type: int
    points: Sequence[Vector3]


class TagsFilterMessage(Protocol):
    """simulation_interfaces.msg.TagsFilter"""

    tags: Sequence[str]
    filter_mode: int


class EntityCategoryMessage(Protocol):
    """simulation_interfaces.msg.EntityCategory"""

    category: int


class EntityFilters(Protocol):
    """simulation_interfaces.msg.EntityFilters"""

    filter: str
    categories: Sequence[EntityCategoryMessage]
    tags: TagsFilterMessage
    bounds: BoundsMessage


class ResultMessage(Protocol):
    """simulation_interfaces.msg.Result"""

    result: int
    error_message: str


class EntityStateMessage(Protocol):
    """simulation_interfaces.msg.EntityState"""

    header: Header
    pose: PoseMessage
    twist: Twist


class EntityInfo(Protocol):
    """simulation_interfaces.msg.EntityInfo"""

    category: EntityCategoryMessage
    tags: Sequence[str]
    description: str


class FeaturesMessage(Protocol):
    """simulation_interfaces.msg.SimulatorFeatures"""

    features: Sequence[int]
    spawn_formats: Sequence[str]
    custom_info: str


class GetSimulatorFeaturesResponse(Protocol):
    """simulation_interfaces.srv.GetSimulatorFeatures.Response"""

    features: FeaturesMessage


class GetEntitiesRequest(Protocol):
    """simulation_interfaces.srv.GetEntities.Request"""

    filters: EntityFilters


class GetEntitiesResponse(Protocol):
    """simulation_interfaces.srv.GetEntities.Response"""

    entities: Sequence[str]


class GetEntitiesStatesResponse(Protocol):
    """simulation_interfaces.srv.GetEntitiesStates.Response"""

    entities: Sequence[str]
    states: Sequence[EntityStateMessage]


class GetEntityStateRequest(Protocol):
    """simulation_interfaces.srv.GetEntityState.Request; of others as well"""

    entity: str


class GetEntityStateResponse(Protocol):
    """simulation_interfaces.srv.GetEntityState.Response"""

    state: EntityStateMessage


class GetEntityInfoResponse(Protocol):
    """simulation_interfaces.srv.GetEntityInfo.Response"""

    info: EntityInfo


class GetEntityBoundsResponse(Protocol):
    """simulation_interfaces.srv.GetEntityBounds.Response"""

    bounds: BoundsMessage


class GetNamedPosesRequest(Protocol):
    """simulation_interfaces.srv.GetNamedPoses.Request"""

    tags: TagsFilterMessage


class GetNamedPosesResponse(Protocol):
    """simulation_interfaces.srv.GetNamedPoses.Response"""

    poses: Sequence[object]


class SetEntityStateRequest(Protocol):
    """simulation_interfaces.srv.SetEntityState.Request"""

    entity: str
    state: EntityStateMessage


class SimulationStateMessage(Protocol):
    """simulation_interfaces.msg.SimulationState"""

    state: int


class SetSimulationStateRequest(Protocol):
    """simulation_interfaces.srv.SetSimulationState.Request; GetSimulationState.Response has the same"""

    state: SimulationStateMessage


class ResetSimulationRequest(Protocol):
    """simulation_interfaces.srv.ResetSimulation.Request"""

    scope: int


class StepSimulationRequest(Protocol):
    """simulation_interfaces.srv.StepSimulation.Request; a goal of SimulateSteps has the same"""

    steps: int


class ResourceMessage(Protocol):
    """simulation_interfaces.msg.Resource"""

    uri: str
    resource_string: str


class SpawnEntityRequest(Protocol):
    """simulation_interfaces.srv.SpawnEntity.Request"""

    name: str
    allow_renaming: bool
    entity_namespace: str
    initial_pose: PoseStamped


class SpawnEntityResponse(Protocol):
    """simulation_interfaces.srv.SpawnEntity.Response"""

    entity_name: str


class SpawnResult(Protocol):
    """simulation_interfaces.msg.SpawnResult"""

    result: ResultMessage
    entity_name: str


class SpawnEntitiesRequest(Protocol):
    """simulation_interfaces.srv.SpawnEntities.Request"""

    spawn_requests: Sequence[SpawnEntityRequest]


class SpawnEntitiesResponse(Protocol):
    """simulation_interfaces.srv.SpawnEntities.Response"""

    results: Sequence[SpawnResult]


class GetSpawnablesResponse(Protocol):
    """simulation_interfaces.srv.GetSpawnables.Response"""

    spawnables: MutableSequence[object]
