"""A log as one HTML file that plays offline: the scene and its motion stand in the file, nothing is fetched."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mbros_core.support.files import replace_file

from mbros.arguments import number
from mbros.errors import MbrosError
from mbros.view.dressing import dressed
from mbros.view.player import Player
from mbros.view.poses import Kinematics
from mbros.view.scene import Scene
from mbros.view.server import open_server, stop

MAX_FRAMES = 20_000


def save_html(log: Any, path: str | os.PathLike[str], rate: float = 30.0) -> Path:
    """Write the file; returns its path. rate: pictures per simulated second. A file that is there is replaced, as a whole or not at all."""
    rate = number("save_html", "rate", rate)
    if not 0.0 < rate <= 240.0:
        raise MbrosError(f"save_html: rate is {rate:g}; expected above 0 and up to 240 pictures per second")
    player = Player(log)
    if player.duration * rate > MAX_FRAMES:
        raise MbrosError(f"save_html: {player.duration:g} s at {rate:g} pictures per second are more than {MAX_FRAMES} pictures; give a "
                         f"rate below {MAX_FRAMES / player.duration:.3g}")
    return replace_file("save_html", path, as_html(player, rate).encode())


def as_html(player: Player, rate: float = 30.0) -> str:
    """The document. A server is opened for it on a free port of this machine, and closed again: viser records what a server sends."""
    server = open_server(player.model.name, port=0)
    try:
        first = player.sample().time
        scene, kinematics = Scene(server, player.model, player.at(first).q), Kinematics(player.model)
        record = server.get_scene_serializer()
        pictures = max(1, round(player.duration * rate))
        for k in range(1, pictures + 1):
            record.insert_sleep(player.duration / pictures)
            kinematics.put(player.at(first + player.duration * k / pictures).q)
            scene.update(kinematics.bodies())
        return offline(record.as_html(), player.model.name)
    finally:
        stop(server)


def offline(document: str, title: str) -> str:
    """The document with its title, and forbidden to fetch anything: what it may use is in it."""
    policy = ("default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src data: blob:; "
              "worker-src data: blob:; img-src data: blob:; font-src data:")
    return dressed(document, title).replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
