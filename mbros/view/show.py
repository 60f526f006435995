"""show(x): a model, a simulation or a log in the browser, or inside a notebook. What `.show()` of each of them calls."""
from __future__ import annotations

import html
from typing import Any

from mbros_core.support.numbers import short

from mbros.errors import MbrosError, MbrosWarning, warn
from mbros.simulate.log import Log
from mbros.simulate.simulator import Simulator
from mbros.view.drive import Drive
from mbros.view.export import save_html
from mbros.view.motion import Motion
from mbros.view.page import Page
from mbros.view.player import Player

__all__ = ["motion_of", "save_html", "show"]

HEIGHT = 560            # of a view in a notebook, pixels


def show(shown: Any, host: str = "127.0.0.1", port: int | None = None) -> Page:
    """A page with the model, simulator or log; the URL is printed, in a notebook the page stands below the cell.

    Returns at once. The page lives until its close(), or the end of the program: `show(model).wait()` waits for Ctrl-C.
    port: None takes 8080, or the next one that is free.
    """
    page = Page(motion_of(shown), host, port)
    if page.exposure:
        warn(page.exposure, MbrosWarning)
    if in_notebook():
        _inline(f'<iframe src="{html.escape(page.url)}" width="100%" height="{HEIGHT}" style="border:none"></iframe>')
    else:
        print(f"{page.model.name}: {page.url}", flush=True)
    return page


def motion_of(shown: Any) -> Motion:
    """Who moves the robot."""
    if isinstance(shown, Motion):
        return shown
    if isinstance(shown, Simulator):
        return Drive(shown.plant, shown.start, layout=lambda: shown._bench)
    if isinstance(shown, Log):
        return Player(shown)
    if hasattr(shown, "joints") and hasattr(shown, "default_state"):
        return drive_of(Simulator(shown))
    raise MbrosError(f"show: expected a model, a Simulator or a Log, got {short(shown)}")


def drive_of(sim: Simulator) -> Drive:
    """A simulator that was made for a page: what its actuators drive stays where it starts until it is commanded elsewhere."""
    return Drive(sim.plant, sim.start, layout=lambda: sim._bench, steady=True)


def in_notebook() -> bool:
    """Whether the program runs below cells that can show HTML."""
    try:
        from IPython import get_ipython  # optional package: a notebook brings it
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def _inline(document: str) -> None:
    from IPython.display import HTML, display  # optional package: a notebook brings it

    display(HTML(document))      # type: ignore[no-untyped-call]    # of IPython
