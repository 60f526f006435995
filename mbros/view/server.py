"""The web server that a page is served by: viser's, opened quietly, on this machine only unless given another host, and to those only
who have its address (mbros.view.guard)."""
from __future__ import annotations

import atexit
import contextlib
import errno
import io
import socket
from typing import Any

from mbros.errors import MbrosError, optional
from mbros.view.guard import Guard, check, guarded

HOST, PORT = "127.0.0.1", 8080
_open: dict[Any, Guard] = {}


def load_viser() -> Any:
    """The module viser."""
    return optional("viser", "pages of the viewer", "viewer")


def open_server(title: str, host: str = HOST, port: int | None = None) -> Any:
    """A running viser.ViserServer. port: None takes 8080 or the next one that is free; 0 any free one; a given one must be free."""
    viser = load_viser()
    if port is not None and not 0 <= port <= 65535:
        raise MbrosError(f"viewer: port is {port}; expected 0 to 65535")
    guard, free = Guard(host, title), _free(host, port)
    with contextlib.redirect_stdout(io.StringIO()), guarded(guard):     # it prints a box of its own, which knows only one of the addresses
        server = viser.ViserServer(host=host, port=free, label=title, verbose=False)
    check(guard, server)
    for farewell in (server.stop, server._websock_server.stop):         # _stop_all does it, quietly
        atexit.unregister(farewell)
    _open[server] = guard
    server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False, brand_color=(36, 98, 168))
    server.gui.main_panel.dock_right()
    return server


def url(server: Any) -> str:
    """Where a browser finds it: the whole address, with the token that it asks for."""
    host = server.get_host()
    name = "localhost" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{server.get_port()}/{_open[server].token}/"


def _free(host: str, port: int | None) -> int:
    """A port on which a server can be opened."""
    tried = range(PORT, PORT + 100) if port is None else [port]
    for candidate in tried:
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, candidate))
                return int(probe.getsockname()[1])
        except OSError as error:
            if error.errno == errno.EADDRINUSE and candidate != tried[-1]:
                continue
            reason = (error.strerror or str(error)).lower()
            raise MbrosError(f"viewer: cannot listen on {host}, port {candidate}: {reason}. Give another --port or --host.") from error
    raise AssertionError("a range of ports is not empty")


def stop(server: Any) -> None:
    """End a server, without its message at the end. Stopping twice does no harm."""
    if server not in _open:
        return
    del _open[server]
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


@atexit.register
def _stop_all() -> None:
    for server in list(_open):
        stop(server)
