"""What is used of the requests and responses of the node's own services. Only type checkers read it (mbros.ros.typing)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mbros.ros.wire.typing import Inertia, JointState, MultiDOFJointState, Odometry, Time, Wrench, Vector3


class TriggerResponse(Protocol):
    """std_srvs.srv.Trigger.Response; every response of mbros_msgs has these"""

    success: bool
    message: str


class SetBoolRequest(Protocol):
    """std_srvs.srv.SetBool.Request"""

    data: bool


class SetJointLockRequest(Protocol):
    """mbros_msgs.srv.SetJointLock.Request"""

    joints: Sequence[str]
    lock: bool


class SetStateRequest(Protocol):
    """mbros_msgs.srv.SetState.Request"""

    joint_state: JointState
    multi_dof_joint_state: MultiDOFJointState


class StepRequest(Protocol):
    """mbros_msgs.srv.Step.Request"""

    steps: int
    command: JointState


class StepResponse(Protocol):
    """mbros_msgs.srv.Step.Response"""

    step: int
    joint_state: JointState
    odometry: Sequence[Odometry]


class SaveStateRequest(Protocol):
    """mbros_msgs.srv.SaveState.Request"""

    file: str


class SaveStateResponse(Protocol):
    """mbros_msgs.srv.SaveState.Response"""

    step: int
    stamp: Time
    file: str
    data: Sequence[int]


class RestoreStateRequest(Protocol):
    """mbros_msgs.srv.RestoreState.Request"""

    file: str
    data: Sequence[int]


class RecordRequest(Protocol):
    """mbros_msgs.srv.Record.Request"""

    record: bool
    file: str


class RecordResponse(Protocol):
    """mbros_msgs.srv.Record.Response"""

    file: str


class SetFaultRequest(Protocol):
    """mbros_msgs.srv.SetFault.Request"""

    names: Sequence[str]
    start: bool


class ListFaultsResponse(Protocol):
    """mbros_msgs.srv.ListFaults.Response"""

    names: Sequence[str]
    kinds: Sequence[str]
    active: Sequence[bool]
    counts: Sequence[int]
    began: Sequence[float]
    ended: Sequence[float]


class SetSourceRequest(Protocol):
    """mbros_msgs.srv.SetSource.Request"""

    joints: Sequence[str]
    mode: str


class SetSourceResponse(Protocol):
    """mbros_msgs.srv.SetSource.Response"""

    names: Sequence[str]
    modes: Sequence[str]
    trips: Sequence[int]
    reasons: Sequence[str]
    ages: Sequence[float]
    efforts: Sequence[float]
    residuals: Sequence[float]


class ApplyWrenchRequest(Protocol):
    """mbros_msgs.srv.ApplyWrench.Request"""

    link_name: str
    reference_frame: str
    reference_point: Vector3
    wrench: Wrench
    duration: Time


class ApplyJointEffortRequest(Protocol):
    """mbros_msgs.srv.ApplyJointEffort.Request"""

    joint_name: str
    effort: float
    duration: Time


class ClearDisturbancesRequest(Protocol):
    """mbros_msgs.srv.ClearDisturbances.Request"""

    name: str
    number: int


class AttachPayloadRequest(Protocol):
    """mbros_msgs.srv.AttachPayload.Request"""

    link_name: str
    inertia: Inertia


class DropPayloadRequest(Protocol):
    """mbros_msgs.srv.DropPayload.Request"""

    number: int


class ApplyWrenchResponse(Protocol):
    """mbros_msgs.srv.ApplyWrench.Response; those of the efforts and payloads have it, too"""

    number: int


class SetParametersRequest(Protocol):
    """rcl_interfaces.srv.SetParameters.Request"""

    parameters: Sequence[object]


class SetParametersResponse(Protocol):
    """rcl_interfaces.srv.SetParameters.Response"""

    results: Sequence[object]


class GetTypeDescriptionRequest(Protocol):
    """type_description_interfaces.srv.GetTypeDescription.Request"""

    type_hash: str


class GetTypeDescriptionResponse(Protocol):
    """type_description_interfaces.srv.GetTypeDescription.Response"""

    failure_reason: str
