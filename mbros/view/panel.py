"""What a panel may know of the page it stands on."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from mbros.view.constraint_layer import ConstraintLayer
from mbros.view.contact_layer import ContactLayer
from mbros.view.controls import Controls
from mbros.view.motion import Motion
from mbros.view.overlays import Overlays
from mbros.view.scene import Scene


class OnPage(Protocol):
    """mbros.view.page.Page, as panels see it. plots_tab: where curves stand."""

    motion: Motion
    model: Any
    server: Any
    controls: Controls
    scene: Scene
    overlays: Overlays
    contacts: ContactLayer | None
    constraints: ConstraintLayer | None
    plots_tab: Any

    def when(self, register: Callable[[Any], Any], act: Callable[[Any], None]) -> None: ...

    def say(self, text: str, title: str = ...) -> None: ...


def plain(text: str) -> str:
    """Text for a Markdown field of viser, which takes HTML, too, scripts included: names in a robot's description are anybody's."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
