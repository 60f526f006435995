"""Services that are answered at once, by a thread that waits for nothing else.

rclpy's executor hands all that its nodes have, some sixty entities here, to the middleware each time before it waits, and looks at all of
them afterwards: for `~/step` that was more than half of a round trip. These services are the node's like all others, under its name in the
graph; only no executor takes from them. What they do is kept apart from what the executor's callbacks do by `SimNode.turn`.

Where the data plane reads and writes the messages of a service, it also says when one has come, and nothing is handed over at all.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from mbros.ros.wire.topics import unserved_group

if TYPE_CHECKING:
    from mbros.ros.typing import Callback, Guard, Node, Service
    from mbros.ros.wire._dataplane import StepService

LOOK = 1.0              # s: whether all is over is looked at that often, should nobody say so


class Prompt:
    """`serve(...)` creates such services on an rclpy node, `start()` begins to answer them, `close()` ends that, before the node is
    destroyed. failed: says in the log what a service raised."""

    def __init__(self, node: Node, failed: Callable[[str], None]):
        self._node, self._failed = node, failed
        self._group = unserved_group()
        self._services: list[Service] = []
        self._blank: dict[Service, object] = {}      # an answer to be filled in, by service
        self._direct: StepService | None = None
        self._over = False
        self._guard: Guard | None = None
        self._thread: threading.Thread | None = None

    def serve(self, kind: type, name: str, callback: Callback) -> Service:
        """As node.create_service; before `start()`."""
        self._services.append(self._node.create_service(kind, name, callback, callback_group=self._group))
        return self._services[-1]

    def serve_directly(self, door: StepService, answer: Callable[[], bool]) -> None:
        """Of the service that was created: door.wait(s) and door.wake() are what the thread waits with, and answer() takes and answers a
        request, or says that there is none; before `start()`."""
        self._direct, self._answer_directly = door, answer

    def start(self) -> None:
        """Once; without services nothing happens."""
        if not self._services or self._thread is not None:
            return
        from rclpy.guard_condition import GuardCondition

        context = self._node.context
        if self._direct is None:
            self._guard = cast("Guard", GuardCondition(callback=None, callback_group=None, context=cast("Any", context)))
        context.on_shutdown(self._wake)
        self._thread = threading.Thread(target=self._run, name="mbros-prompt", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Waits for a service that is being answered: what it waits for itself has to be set free before (`SimNode.end`)."""
        self._over = True
        if self._thread is not None:
            self._wake()
            self._thread.join()
            self._thread = None
            if self._guard is not None:
                self._guard.destroy()

    def _wake(self) -> None:
        """Also where ROS is shut down first."""
        if self._thread is not None:
            if self._guard is not None:
                self._guard.trigger()
            elif self._direct is not None:
                self._direct.wake()

    def _run(self) -> None:
        if self._direct is not None:
            self._run_directly(self._direct)
        elif self._guard is not None:
            self._run_waiting(self._guard)

    def _run_directly(self, door: StepService) -> None:
        context = self._node.context
        while not self._over and context.ok():
            door.wait(LOOK)
            try:
                while not self._over and self._answer_directly():
                    pass
            except Exception as e:
                if not self._over and context.ok():
                    self._failed(f"a request of ~/step was not answered: {e}")

    def _run_waiting(self, guard: Guard) -> None:
        from rclpy.impl.implementation_singleton import rclpy_implementation

        rcl: Any = rclpy_implementation         # its types know no protocols
        context = self._node.context
        try:
            with ExitStack() as held:       # their handles, for as long as the thread waits for them
                for handle in (context.handle, guard.handle, *(service.handle for service in self._services)):
                    held.enter_context(handle)
                waits = rcl.WaitSet(0, 1, 0, 0, len(self._services), 0, context.handle)
                while not self._over and context.ok():
                    waits.clear_entities()
                    waits.add_guard_condition(guard.handle)
                    for service in self._services:
                        waits.add_service(service.handle)
                    waits.wait(-1)
                    ready = waits.get_ready_entities("service")
                    for service in self._services:
                        if service.handle.pointer in ready:
                            self._answer(service)
        except Exception as e:
            if not self._over and context.ok():
                self._failed(f"~/step and what else is served at once is served no more: {e}")

    def _answer(self, service: Service) -> None:
        """Take one request, if there is one, and answer it. The next one is there in the next round."""
        try:
            request, header = service.handle.service_take_request(service.srv_type.Request)
            if header is not None:
                service.send_response(service.callback(request, self._blank.pop(service, None) or service.srv_type.Response()), header)
                self._blank[service] = service.srv_type.Response()          # for the next one, while nobody waits
        except Exception as e:
            if not self._over:
                self._failed(f"a request of {service.srv_name} was not answered: {e}")
