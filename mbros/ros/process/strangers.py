"""What rclpy gives every node beside its parameters, kept from strangers: a clock that any node may set, and descriptions of types."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from mbros.names import printable

if TYPE_CHECKING:
    from mbros.ros.serve.typing import GetTypeDescriptionRequest, GetTypeDescriptionResponse
    from mbros.ros.typing import Callback, Executor, Node, Values

CLOCK, SIMULATED = "use_sim_time", "simulated_time"
HASH = re.compile(r"RIHS01_[0-9a-f]{64}")


def rclpy_node(name: str, **options: Any) -> Node:
    """An rclpy node, as what is used of it."""
    from rclpy.node import Node as Made

    return cast("Node", Made(name, **options))


def rclpy_executor() -> Executor:
    """An executor with one thread, as what is used of it."""
    from rclpy.executors import SingleThreadedExecutor

    return cast("Executor", SingleThreadedExecutor())


def bare_node(name: str, **options: Any) -> Node:
    """An rclpy node that nobody sets parameters of, or asks for anything."""
    from rclpy.parameter import Parameter

    none = [Parameter("start_type_description_service", value=False)]
    node = rclpy_node(name, start_parameter_services=False, parameter_overrides=none, **options)
    follow_no_clock(node)
    return node


def follow_no_clock(node: Node) -> None:
    """System time, also where the node was started with use_sim_time: rclpy raises on times on /clock that are none, and any node may
    publish there."""
    source = getattr(node, "_time_source", None)
    if source is not None:
        source.ros_time_is_active = False


def takes_clocks_for_its_own(node: Node) -> None:
    """A simulator that is started with use_sim_time, as launch files start all nodes of a graph, is the one that makes that time:
    simulated_time, unless that is given, too."""
    from rclpy.parameter import Parameter

    overrides = node._parameter_overrides
    if node.get_parameter(CLOCK).value is True and SIMULATED not in overrides:
        overrides[SIMULATED] = Parameter(SIMULATED, value=True)
        node.get_logger().info(f"{CLOCK}: this node makes the time that others follow, and follows nobody's: {SIMULATED} is true")


def clock_refused(changes: Values) -> str:
    """Why a node that follows no clock cannot have these parameters, or ""."""
    return (f"{CLOCK}: this node makes the time that others follow, and follows nobody's; started with {SIMULATED}:=true it says /clock"
            if changes.get(CLOCK) is True else "")


def check_type_hashes(node: Node) -> None:
    """~/get_type_description answers what is no hash by itself: rcl would write it into the log as it is."""
    for service in node.services:
        if service.srv_name.rpartition("/")[2] == "get_type_description":
            service.callback = _checked(service.callback)


def _checked(callback: Callback) -> Callback:
    def serve(request: GetTypeDescriptionRequest, response: GetTypeDescriptionResponse) -> object:
        if HASH.fullmatch(request.type_hash):
            return callback(request, response)
        response.failure_reason = f"type_hash is '{printable(request.type_hash, 100)}'; expected RIHS01_ and 64 hexadecimal digits"
        return response

    return serve
