"""rclpy's services of parameters, with an answer to whatever is asked, and others served meanwhile.

rclpy raises on some requests, and works on any number of names for as long as that takes. A request has at most as many as the node has
parameters; several that are set one by one are set a few milliseconds at a time.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from rclpy.callback_groups import ReentrantCallbackGroup

from mbros.ros.errors import RequestError, sentence
from mbros.ros.serve.turn import Line, next_round

if TYPE_CHECKING:
    from mbros.ros.typing import Callback, Group, Node
    from mbros.ros.serve.typing import SetParametersRequest, SetParametersResponse

TURN = 5e-3             # s of setting, then others are served
MOST_WAITING = 20       # requests, while one is carried out
PREFIXES = 100          # in a request of names: each is compared with every parameter
LISTS = {"get_parameters": "names", "get_parameter_types": "names", "describe_parameters": "names", "list_parameters": "prefixes"}


def serve_parameters(node: Node, warn: Callable[[str], None], begin: Callable[[], None]) -> None:
    """In place of what rclpy does on this node. warn: says in the log what has no room in an answer. begin: called before each request."""
    for service in node.services:
        kind = service.srv_name.rpartition("/")[2]
        if kind in LISTS:
            service.callback = _bounded(service.callback, kind, node, warn)
        elif kind in ("set_parameters", "set_parameters_atomically"):
            each = _always_answered(service.callback)
            service.callback = _one_by_one(each, node, begin) if kind == "set_parameters" else _together(each, node, begin)
            service.callback_group = group = cast("Group", ReentrantCallbackGroup())     # the node's own has one callback at a time
            group.add_entity(service)


def _too_many(n: int, most: int, what: str = "parameters are to be set") -> str:
    return f"{n} {what}; this node has {most} parameters: ask for at most so many at once" if n > most else ""


def _declared(node: Node) -> int:
    return len(node._parameters)


def _bounded(callback: Callback, kind: str, node: Node, warn: Callable[[str], None]) -> Callback:
    said = -math.inf

    def serve(request: object, response: object) -> object:
        nonlocal said
        n, most = len(getattr(request, LISTS[kind])), PREFIXES if kind == "list_parameters" else _declared(node)
        if n > most:
            if time.monotonic() - said >= 1.0:
                said = time.monotonic()
                warn(f"a request of {kind} with {n} {LISTS[kind]} was answered with nothing; expected at most {most}")
            return response
        return callback(request, response)

    return serve


def _refused(response: Any, text: str, n: int) -> object:
    """For so many parameters of the request."""
    from rcl_interfaces.msg import SetParametersResult

    refused = SetParametersResult(successful=False, reason=text)
    if hasattr(response, "results"):
        response.results = [*response.results, *[refused] * n]
    else:
        response.result = refused
    return response


def _always_answered(callback: Callback) -> Callback:
    """Also where rclpy itself raises."""
    def serve(request: SetParametersRequest, response: object) -> object:
        try:
            return callback(request, response)
        except Exception as e:
            return _refused(response, sentence(e), len(request.parameters))

    return serve


def _together(callback: Callback, node: Node, begin: Callable[[], None]) -> Callback:
    def serve(request: SetParametersRequest, response: object) -> object:
        begin()
        wrong = _too_many(len(request.parameters), _declared(node))
        return _refused(response, wrong, 1) if wrong else callback(request, response)

    return serve


def _one_by_one(callback: Callback, node: Node, begin: Callable[[], None]) -> Callback:
    line = Line(lambda: node, MOST_WAITING, "requests to set parameters")

    async def serve(request: Any, response: SetParametersResponse) -> object:
        wrong = _too_many(len(request.parameters), _declared(node))
        if wrong:
            return _refused(response, wrong, 1)
        try:
            async with line:
                begin()
                results, turn = [], time.monotonic() + TURN
                for parameter in request.parameters:
                    results += callback(type(request)(parameters=[parameter]), type(response)()).results
                    if time.monotonic() > turn and node.executor is not None:
                        await next_round(node.executor, True)
                        turn = time.monotonic() + TURN
        except RequestError as e:
            return _refused(response, str(e), len(request.parameters))
        response.results = results
        return response

    return serve
