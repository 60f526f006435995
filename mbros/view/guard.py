"""Who may use a page: those who have its whole address, from a browser that was led there by nobody else.

The token stands in the address (http://127.0.0.1:8080/<token>/), whose browser sends it again when it reloads, reconnects, and opens the
socket. Beside it, Host has to be an address or a name of this machine, which a page of a site that lets its name lead here (DNS
rebinding) has not; Origin, where there is one, has to be this page's own.
"""
from __future__ import annotations

import contextlib
import http
import importlib
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from mbros.errors import MbrosError
from mbros.view.dressing import dress

_one_at_a_time = threading.Lock()           # of servers that are made


class Guard:
    """What a server asks of every request, for a page or for its socket, before anything else looks at it."""

    def __init__(self, host: str, title: str = "mbros") -> None:
        self.title = title                  # of the pages
        self.token, self.names = secrets.token_urlsafe(24), {"localhost", socket.gethostname().lower(), host.lower().strip("[]")}
        self.asked = False                  # whether a server has been made that asks

    def refusal(self, path: str, hosts: list[str], origins: list[str]) -> str:
        """Why a request is refused; "" where it is not."""
        if len(hosts) != 1 or not self._is_here(hosts[0]):
            return "this machine is not called so; open the page by the address that was printed where it was started"
        if origins and origins not in ([f"http://{hosts[0]}"], [f"https://{hosts[0]}"]):
            return "the page of another site asks"
        given = path.partition("?")[0].split("/")[1:2] or [""]
        if not secrets.compare_digest(given[0].encode(errors="replace"), self.token.encode()):
            return "the address is not whole; open the page by the one that was printed where it was started, with what follows the port"
        return ""

    def _is_here(self, host: str) -> bool:
        """Whether Host is an address, or a name that this machine knows to be its own; ports may be forwarded."""
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        try:
            return bool(ipaddress.ip_address(name))
        except ValueError:
            return name.lower().removesuffix(".local") in self.names or name.lower() in self.names

    def before(self, then: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """A process_request of websockets: `then`, for requests that are not refused, with the token taken off the path."""
        def process_request(connection: Any, request: Any) -> Any:
            why = self.refusal(request.path, request.headers.get_all("Host"), request.headers.get_all("Origin"))
            if why:
                return connection.respond(http.HTTPStatus.FORBIDDEN, f"Not opened: {why}.\n")
            response = then(connection, replace(request, path=request.path[1 + len(self.token):] or "/"))
            if response is not None:
                dress(response, self.title)
                response.headers["Referrer-Policy"] = "no-referrer"         # the token is nobody else's
                response.headers["Cache-Control"] = "no-store"
            return response

        return process_request


@contextlib.contextmanager
def guarded(guard: Guard) -> Iterator[None]:
    """The one server of viser that is made in this block asks the guard. viser has no argument for it: it is what viser's own code calls
    `websockets.asyncio.server.serve` that is another one for so long. MbrosError, and no server, where this viser does not call that."""
    _infra: Any = importlib.import_module("viser.infra._infra")
    with _one_at_a_time:
        own = getattr(_infra, "websockets", None)
        _infra.websockets = _Instead(own, asyncio=_Instead(own and own.asyncio, server=_Instead(
            own and own.asyncio.server, serve=lambda *given, process_request, **more: _serve(own, guard, given, process_request, more))))
        try:
            yield
        finally:
            _infra.websockets = own


class _Instead:
    """A module with one name in it that is another."""

    def __init__(self, of: Any, **names: Any) -> None:
        self._of = of
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def _serve(websockets: Any, guard: Guard, given: Any, process_request: Any, more: dict[str, Any]) -> Any:
    serving = websockets.asyncio.server.serve(*given, process_request=guard.before(process_request), **more)
    guard.asked = True
    return serving


def check(guard: Guard, server: Any) -> None:
    """MbrosError for a server that asks nobody, or lets its clients do what is not theirs; it is stopped."""
    _messages = importlib.import_module("viser._messages")
    kept = getattr(server._websock_server, "_incoming_handlers", {})
    kept.pop(getattr(_messages, "ShareUrlRequest", None), None)             # a client would open the page to the Internet by it
    if not guard.asked or any(kind.__name__.startswith("ShareUrlRequest") for kind in kept):
        import viser

        server.stop()
        raise MbrosError(f"viewer: viser {viser.__version__} serves its pages in a way that mbros does not know how to keep others out of; "
                         "install the one that mbros was tested with: pip install \"viser<=1.1.1\"")


def exposure(host: str, port: int) -> str:
    """What it means that a page is served at this host: a sentence; "" where nobody but this machine reaches it."""
    try:
        here = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        here = host == "localhost"
    return "" if here else (f"the page is open to the network (--host {host}): anyone who reaches port {port} of this machine and has the "
                            "whole address can use it and move the robot; nothing is encrypted, so anyone who listens on the network can "
                            f"read the address. Safer is 127.0.0.1 with a tunnel: ssh -L {port}:127.0.0.1:{port} <this machine>")
