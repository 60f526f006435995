"""show() and from_state(): methods of what lies below the viewer and the builder. Models know that they can be shown and made, not by what.

These stand above them (they import them), so they are not imported here. `mbros/__init__.py`, which knows every room, says where
they are.
"""
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

_viewer: list[Callable[[], ModuleType]] = []
_maker: list[Callable[[], ModuleType]] = []


def shown_by(viewer: Callable[[], ModuleType]) -> None:
    """Say where the viewer is: a function that returns the module mbros.view.show, called when something is shown."""
    _viewer[:] = [viewer]


def made_by(maker: Callable[[], ModuleType]) -> None:
    """Say where models are made of states: a function that returns the module mbros.build.from_state."""
    _maker[:] = [maker]


def maker() -> ModuleType:
    """mbros.build.from_state."""
    return _maker[0]()


def viewer() -> ModuleType:
    """mbros.view.show."""
    return _viewer[0]()


class Shown:
    """Part of mbros.Model, Simulator and Log."""

    __slots__ = ()

    def show(self, host: str = "127.0.0.1", port: int | None = None) -> Any:
        """In the browser: prints the URL, in a notebook shows the page below the cell. Returns the page at once; its wait() waits for
        Ctrl-C. Needs mbros[viewer]."""
        return viewer().show(self, host, port)
