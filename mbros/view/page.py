"""A page: the scene, the panels beside it, and the one thread that keeps both at the newest sample."""
from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

from mbros.errors import MbrosError
from mbros.view.bench_panel import BenchPanel
from mbros.view.constraint_layer import ConstraintLayer
from mbros.view.contact_layer import ContactLayer
from mbros.view.controls import Controls
from mbros.view.guard import exposure
from mbros.view.inspect_panel import InspectPanel
from mbros.view.motion import Motion
from mbros.view.overlays import Marks, Overlays
from mbros.view.plots_panel import PlotsPanel
from mbros.view.poses import Kinematics
from mbros.view.pull_line import PullLine
from mbros.view.scene import Scene
from mbros.view.server import open_server, stop, url
from mbros.view.simulate_panel import SimulatePanel
from mbros.view.time_bar import TimeBar

RATE = 50.0             # looks per second at where the robot is; at most so many pictures
LOST = "#d6202a"        # of the icon of a page that hears nothing of what it shows
SLOW = 0.25             # s between two changes of numbers and curves, which users read


class Page:
    """A robot on a page, moved by a Motion, until close(). `url` is where it is, for those who have it; `exposure` says who could reach
    it beside this machine, "" for nobody; `wait()` returns at Ctrl-C."""

    def __init__(self, motion: Motion, host: str = "127.0.0.1", port: int | None = None, title: str = ""):
        self.motion, self.model = motion, motion.model
        self._acting = threading.Lock()
        self.title = title or self.model.name
        self.server = open_server(self.title, host, port)
        self.url, self.exposure = url(self.server), exposure(self.server.get_host(), self.server.get_port())
        first = motion.sample()
        self.kinematics = Kinematics(self.model)
        self.scene = Scene(self.server, self.model, first.q)
        self.overlays, self.marks = Overlays(self.scene), Marks(self.scene)
        self.contacts = ContactLayer(self.scene) if first.contacts is not None else None
        self.constraints = ConstraintLayer(self.scene, motion) if len(self.model.constraints) else None
        self.line = PullLine(self.scene, motion) if "pull" in motion.can else None
        gui = self.server.gui
        self.controls = Controls(gui)
        self.bar = TimeBar(self) if "seek" in motion.can else None
        tabs = gui.add_tab_group()
        with tabs.add_tab("Simulate" if "effort" in motion.can else "Play"):
            self.simulate = SimulatePanel(self)
        self.bench = None
        if motion.bench is not None:
            with tabs.add_tab("Bench"):
                self.bench = BenchPanel(self, motion.bench)
        with tabs.add_tab("Inspect"):
            self.inspect = InspectPanel(self)
        self.plots_tab = tabs.add_tab("Plots")
        with self.plots_tab:
            self.plots = PlotsPanel(self)
        self._alive = True
        self.shown = -1.0               # time of the newest sample on the page
        self._ending, self._soon, self._closed = threading.Event(), threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="mbros-page", daemon=True)
        self._thread.start()
        atexit.register(self.close)     # of a script that ends: the thread goes before the server

    def when(self, register: Callable[[Any], Any], act: Callable[[Any], None]) -> None:
        """Do `act` when a user changes a control; what is refused is reported on the page. Changes by the program itself do nothing.

        One change at a time: viser calls from many threads, and of a box that is ticked and cleared at once the first half would come last.
        """
        def react(event: Any) -> None:
            if event.client_id is None:
                return
            try:
                with self._acting:
                    act(event)
            except (MbrosError, RuntimeError, ValueError, TimeoutError, OSError) as error:
                self.say(str(error))
            self._soon.set()

        register(react)

    def say(self, text: str, title: str = "Not done") -> None:
        """A note on every page that is open."""
        for client in self.server.get_clients().values():
            client.add_notification(title, text, auto_close_seconds=8.0, color="red")

    # ---------------------------------------------------------------------------------------------------------- the newest state

    def _run(self) -> None:
        slow = 0.0
        while not self._ending.wait(1.0 / RATE):
            try:
                self.look()
                if self._soon.is_set() or time.monotonic() - slow > SLOW:       # what somebody has done is said at once
                    self._soon.clear()
                    slow = time.monotonic()
                    self.tell()
            except (MbrosError, RuntimeError, ValueError) as error:
                if self._ending.is_set():
                    return
                self.say(str(error), "Trouble")
                time.sleep(1.0)

    def look(self) -> None:
        """Draw the newest sample."""
        sample = self.motion.sample()
        self.kinematics.put(sample.q, sample.v)
        with self.server.atomic():
            self.scene.update(self.kinematics.bodies())
            self.overlays.update(self.kinematics)
            if self.contacts is not None:
                self.contacts.update(sample)
            if self.constraints is not None:
                self.constraints.update(self.kinematics)
            if self.line is not None:
                self.line.update(sample)
        self.plots.record(sample, self.kinematics)
        self.shown = sample.time

    def tell(self) -> None:
        """Numbers, curves, sliders, trouble."""
        count_late = getattr(self.motion, "count_late", None)
        if count_late is not None:
            count_late()
        self._connected()
        sample = self.motion.sample()
        self.simulate.update(sample, self.marks.update(sample))
        self.inspect.update(sample)
        if self.bench is not None:
            self.bench.update(sample)
        self.plots.draw()
        if self.bar is not None:
            self.bar.update(sample)

    def _connected(self) -> None:
        """Icon and title beside it, which are viser's and of this page, as it is with what the page shows."""
        alive = self.motion.connection().alive
        if alive != self._alive:
            self._alive = alive
            self.server.gui.set_panel_label(self.title if alive else f"{self.title} (not connected)")
            self.controls.status("" if alive else LOST)

    # --------------------------------------------------------------------------------------------------------------------- end

    def end(self) -> None:
        """Let wait() return."""
        self._ending.set()

    def wait(self) -> None:
        """Until Ctrl-C, end() or close(); then the page is closed."""
        try:
            while not self._ending.wait(0.5):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Take the page down and end what it moved."""
        self._ending.set()
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            if threading.current_thread() is not self._thread:
                self._thread.join(2.0)
            self.motion.close()
            stop(self.server)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Page of {self.model.name!r} at {self.url}>"
