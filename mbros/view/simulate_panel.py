"""The panel that moves a robot: play, pause, step, reset, speed; efforts, hold, the spring; gravity and every live parameter."""
from __future__ import annotations

import ast
import html
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from mbros.describe.joints.kinds import row_of
from mbros.errors import MbrosError
from mbros.view.controls import by_robot
from mbros.view.motion import Sample
from mbros.view.panel import OnPage, plain

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5", "10")
MOST = 1000                 # characters of a number or a list that is typed
CONNECTION = "font-size:12px;line-height:1.4;margin:-4px 12px 8px;color:#868e96;"
ALARM = "color:#d6202a;font-weight:600"
FREE_EFFORT = 100.0         # N m or N: the range of a slider for a coordinate without an effort limit


class SimulatePanel:
    """Shows what the motion can do, and nothing else."""

    def __init__(self, page: OnPage):
        self.page, self.gui, self.motion = page, page.server.gui, page.motion
        self._clock = self.gui.add_markdown("")
        self._connection = self.gui.add_html("")
        self._play: Any = None
        if "play" in self.motion.can:
            self._transport()
        self._trouble = self.gui.add_markdown("", visible=False)
        if "effort" in self.motion.can:
            with self.gui.add_folder("Efforts" if self.motion.bench is None else "Efforts beside the actuators"):
                self._efforts()
        if "pull" in self.motion.can:
            with self.gui.add_folder("Pull"):
                self._pull()
        if "parameters" in self.motion.can:
            with self.gui.add_folder("Gravity and parameters", expand_by_default=False):
                self._parameters()

    # -------------------------------------------------------------------------------------------------------------- transport

    def _transport(self) -> None:
        self._play = self._button("Play", self._toggle)
        words = [word for word in ("Step", "Reset") if word.lower() in self.motion.can]
        if words:
            group = self.gui.add_button_group("", words)
            self.page.when(group.on_click, lambda event: (self.motion.reset if event.target.value == "Reset" else self.motion.step)())
        if "speed" in self.motion.can:
            speed = self.gui.add_dropdown("speed", SPEEDS, initial_value="1", hint="seconds shown per second")
            self.page.when(speed.on_update, lambda event: self.motion.speed(float(event.target.value)))

    def _button(self, label: str, act: Any) -> Any:
        button = self.gui.add_button(label)
        self.page.when(button.on_click, lambda event: act())
        return button

    def _toggle(self) -> None:
        (self.motion.pause if self.motion.sample().playing else self.motion.play)()

    def update(self, sample: Sample, trouble: list[str]) -> None:
        """Time, whether it plays, what is the matter."""
        state = "**fault**" if sample.fault else "playing" if sample.playing else "paused"
        late = "" if np.isnan(sample.late) or not sample.playing else f" \u00b7 99 % of steps within {1e6 * sample.late:.0f} us"
        self._set(self._clock, "content", f"**{sample.time:.3f} s** \u00b7 {state}{late}")
        words, alive = self.motion.connection()
        said = f'<div style="{CONNECTION}{"" if alive else ALARM}">{html.escape(words)}</div>'
        self._set(self._connection, "content", said if words else "")
        if self._play is not None:
            self._set(self._play, "label", "Pause" if sample.playing else "Play")
        lines = [*([f"**Fault.** {plain(sample.fault)}"] if sample.fault else []), *(f"\u26a0 {plain(text)}" for text in trouble),
                 *([f"{sample.clamped} efforts were clamped since the start"] if sample.clamped else [])]
        self._set(self._trouble, "content", "\n\n".join(lines))
        self._set(self._trouble, "visible", bool(lines))

    @staticmethod
    def _set(handle: Any, name: str, value: Any) -> None:
        if getattr(handle, name) != value:
            setattr(handle, name, value)

    # ---------------------------------------------------------------------------------------------------------------- efforts

    def _efforts(self) -> None:
        hands, model = self.motion.hands, self.page.model
        hold = self.gui.add_checkbox("hold against gravity", hands.hold,
                                     hint="gravity compensation and some damping, within the effort limits")
        self.page.when(hold.on_update, lambda event: setattr(hands, "hold", event.target.value))
        zero = self.gui.add_button("Zero")
        limit, sliders = model.spec.effort_limit, []
        driven = {model.velocity_names[k] if joint.nv > 1 else joint.name: (k, effort_unit(joint, k - joint.v_slice.start))
                  for joint in model.joints if not (joint.follows or joint.is_floating)
                  for k in range(joint.v_slice.start, joint.v_slice.start + joint.nv) if limit[k] != 0.0}
        for robot, of in by_robot(model, driven):
            with self.gui.add_folder(robot, expand_by_default=False) if robot else nullcontext():
                for label, (k, unit) in of.items():
                    most = float(limit[k]) if np.isfinite(limit[k]) else FREE_EFFORT
                    slider = self.page.controls.slider(label, -most, most, 0.0, unit=unit, hint=f"{unit}, added to what holds the robot")
                    self.page.when(slider.on_update, lambda event, k=k: hands.efforts.__setitem__(k, event.target.value))
                    sliders.append(slider)
        self.page.when(zero.on_click, lambda event: self._zero(sliders))

    def _zero(self, sliders: list[Any]) -> None:
        self.motion.hands.efforts[:] = 0.0
        for slider in sliders:
            slider.value = 0.0

    # ------------------------------------------------------------------------------------------------------------------- pull

    def _pull(self) -> None:
        hands = self.motion.hands
        self.gui.add_markdown("Play, then drag a body with the mouse.")
        spring = self.page.controls.slider("spring", 0.0, 5000.0, 0.0, unit="N/m", step=10.0, hint="N/m; 0: by the weight of the robot")
        self.page.when(spring.on_update, lambda event: setattr(hands, "stiffness", event.target.value))
        self.page.scene.on_bodies(self._draggable)

    def _draggable(self, k: int, piece: Any) -> None:
        frame = self.page.model.bodies[k].index

        async def drag(event: Any) -> None:         # async: viser keeps the order of start, updates and end only for these
            if event.phase == "start" and self.motion.sample().playing:
                self.motion.hands.grip(frame, np.array(event.start_position), np.array(event.end_position))
            elif event.phase == "update":
                self.motion.hands.move(np.array(event.end_position))
            elif event.phase == "end":
                self.motion.hands.release()

        piece.on_drag("left")(drag)

    # ------------------------------------------------------------------------------------------------------------- parameters

    def _parameters(self) -> None:
        names = self.motion.parameter_names()
        gravity = self.gui.add_vector3("gravity", tuple(float(x) for x in self.motion.parameter("gravity")), step=0.01,
                                       hint="m/s^2, in the world")
        self.page.when(gravity.on_update, lambda event: self.motion.set_parameter("gravity", list(event.target.value)))
        choose_numbers(self.page, "parameter", [name for name in names if name != "gravity"], self.motion.parameter,
                       self.motion.set_parameter)


def choose_numbers(page: OnPage, label: str, names: Sequence[str], get: Callable[[str], Any], put: Callable[[str, Any], None],
                   hint: Callable[[str], str] = lambda name: "") -> None:
    """One of many numbers by name, with its value, and a button that sets it. hint: what one is, with its unit."""
    gui = page.server.gui
    which = gui.add_dropdown(label, list(names) or ["-"])
    about = gui.add_markdown("", visible=False)
    value = gui.add_text("value", "")
    button = gui.add_button("Set")

    def look(event: Any) -> None:
        value.value = _written(get(which.value)) if which.value in names else ""
        text = hint(which.value) if which.value in names else ""
        about.content, about.visible = plain(text), bool(text)

    page.when(which.on_update, look)
    page.when(button.on_click, lambda event: put(which.value, _read(which.value, value.value)))
    look(None)


def effort_unit(joint: Any, k: int) -> str:
    """Of the k-th effort of a joint."""
    units = row_of(joint._exact_kind).velocity_units
    return "N" if k < len(units) and units[k] == "m/s" else "N m"


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, bool) else str(np.asarray(value).tolist())


def _read(name: str, text: str) -> Any:
    """A number, a list of numbers, True or False, as Python writes them."""
    try:
        return ast.literal_eval(text.strip() if len(text) <= MOST else "")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise MbrosError(f"{name}: expected a number, a list such as [1.0, 2.0], True or False, got {text!r:.60}") from None
