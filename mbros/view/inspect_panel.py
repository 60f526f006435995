"""The panel to look at a robot: a slider per coordinate, layers, the tree, the position to copy."""
from __future__ import annotations

import html
from contextlib import nullcontext
from typing import Any

import numpy as np

from mbros.view.controls import by_robot
from mbros.view.dials import Dial, dials
from mbros.view.motion import Sample
from mbros.view.panel import OnPage, plain
from mbros.view.shared import Shared

CLICK = "Click a body to see what it is."


class InspectPanel:
    """Sliders show where the robot is, and put it elsewhere where the motion can ("place")."""

    def __init__(self, page: OnPage):
        self.page, self.gui = page, page.server.gui
        self.dials = dials(page.model, reach=max(1.0, round(page.scene.size, 1)))
        self._sliders: list[tuple[Dial, Shared]] = []
        self._body: int | None = None           # the one that was clicked
        with self.gui.add_folder("Show"):
            self._layers()
        with self.gui.add_folder("Position"):
            self._positions()
        with self.gui.add_folder("Copy the position", expand_by_default=False):
            self._copies()
        with self.gui.add_folder("Tree", expand_by_default=False):
            self.gui.add_html(f'<pre style="font-size:11px;line-height:1.35;overflow:auto;margin:0 8px">{tree(page.model)}</pre>')
        if page.scene.problems:
            with self.gui.add_folder(f"Not drawn ({len(page.scene.problems)})", expand_by_default=False):
                self.gui.add_markdown("\n".join(f"* {plain(problem)}" for problem in page.scene.problems[:50]))

    def _layers(self) -> None:
        for layer in self.page.overlays.layers:
            box = self.gui.add_checkbox(layer, False)
            self.page.when(box.on_update, lambda event, layer=layer: self.page.overlays.show(layer, event.target.value))
        for name, drawn, hint in (("contacts", self.page.contacts, "where shapes touch, and with what force"),
                                  ("constraints", self.page.constraints, "what closes loops: green, or red where it is open")):
            if drawn is not None:
                box = self.gui.add_checkbox(name, drawn.visible, hint=hint)
                self.page.when(box.on_update, lambda event, drawn=drawn: setattr(drawn, "visible", event.target.value))
        shadows = self.gui.add_checkbox("shadows", True, hint="slow where no graphics card draws")
        self.page.when(shadows.on_update, lambda event: self.page.scene.shadows(event.target.value))
        self._picked = self.gui.add_markdown(CLICK)
        self.page.scene.on_bodies(lambda k, piece: self.page.when(piece.on_click, lambda event, k=k: self.pick(k)))

    def pick(self, k: int) -> None:
        """Say what body k is, and write its name beside it; clicked again, no more."""
        if k == self._body:
            self._body, self._picked.content = None, CLICK
            self.page.overlays.point_out(None)
            return
        self._body = k
        self.page.overlays.point_out(k)
        body = self.page.scene.described[k]
        joint = next((joint for joint in self.page.model.joints if joint.child.name == body.name), None)
        on = ""
        if joint is not None:
            on = f", carried by joint **{plain(joint.name)}** ({plain(joint.kind)}) on **{plain(joint.parent.name)}**"
        com = ", ".join(f"{x:.4g}" for x in body.com)
        self._picked.content = f"**{plain(body.name)}**{on}: {body.mass:.4g} kg, centre of mass ({com}) m"

    # -------------------------------------------------------------------------------------------------------------- positions

    def _positions(self) -> None:
        q = self.page.motion.sample().q
        can = "place" in self.page.motion.can
        for robot, of in by_robot(self.page.model, {dial.label: dial for dial in self.dials}):
            with self.gui.add_folder(robot, expand_by_default=False) if robot else nullcontext():
                for label, dial in of.items():
                    value = float(np.clip(dial.get(q), dial.low, dial.high))
                    slider = self.page.controls.slider(label, dial.low, dial.high, value, unit=dial.unit, disabled=not can,
                                                       hint=f"{dial.low:.4g} to {dial.high:.4g} {dial.unit}")
                    shared = Shared(slider, value)
                    self.page.when(slider.on_update, lambda event, dial=dial, shared=shared: self._turned(dial, shared, event.target.value))
                    self._sliders.append((dial, shared))
        if can:
            button = self.gui.add_button("Default position")
            self.page.when(button.on_click, lambda event: self.page.motion.place(self.page.model.default_state().q))
        if not self.dials:
            self.gui.add_markdown("Nothing moves.")

    def _turned(self, dial: Any, shared: Shared, value: float) -> None:
        shared.touched(value)
        try:
            self.turn(dial, value)
        except BaseException:
            shared.refused()
            raise

    def turn(self, dial: Any, value: float) -> None:
        """Put one coordinate elsewhere, from where the one before has put the robot: one at a time (Page.when)."""
        q = np.array(self.page.motion.sample().q)
        dial.put(q, value)
        self.page.motion.place(q)

    def update(self, sample: Sample) -> None:
        """Sliders to where the robot is."""
        for dial, shared in self._sliders:
            shared.follow(float(dial.get(sample.q)))

    # ----------------------------------------------------------------------------------------------------------------- copies

    def _copies(self) -> None:
        for label, write in (("As YAML", as_yaml), ("As Python", as_python)):
            button = self.gui.add_button(label)
            self.page.when(button.on_click, lambda event, write=write: self._write(write))
        self._text = self.gui.add_text("position", "", multiline=True, hint="select and copy", visible=False)

    def _write(self, write: Any) -> None:
        self._text.value = write(self.page.model, self.page.motion.sample().q)
        self._text.visible = True


def tree(model: Any) -> str:
    """The robot's tree as lines of HTML: joints with their kinds, and the bodies they carry."""
    lines = [html.escape(model.name)]

    def below(joint: Any, depth: int) -> None:
        follows = f" = {joint.mimic[1]:g} {joint.mimic[0]}" if joint.follows else ""
        lines.append(f"{'  ' * depth}<b>{html.escape(joint.child.name)}</b>  {html.escape(joint.name)} "
                     f"({joint.kind}{html.escape(follows)})")
        for child in joint.topology.children:
            below(child, depth + 1)

    for joint in model.joints:
        if joint.topology.parent is None:
            below(joint, 1)
    return "\n".join(lines)


def as_yaml(model: Any, q: np.ndarray) -> str:
    """{joint: position}, as `initial_positions` of the node and --q take it."""
    return "\n".join(f"{joint.name}: {_numbers(joint.of(q))}" for joint in _own(model))


def as_python(model: Any, q: np.ndarray) -> str:
    """Lines that put a state there."""
    return "\n".join(f"model.joint({joint.name!r}).set_position(state, {_numbers(joint.of(q))})" for joint in _own(model))


def _own(model: Any) -> list[Any]:
    return [joint for joint in model.joints if joint.nq and not joint.follows]


def _numbers(x: np.ndarray) -> str:
    words = [f"{value:.6g}" for value in x]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"
