"""Sliders with a unit that fill from where nothing is, lamps, and controls grouped by robot: what panels are made of."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from mbros.describe.members import ROBOT

LAMP = {True: "#d6202a", False: "#c3c8ce"}
T = TypeVar("T")


class Controls:
    """Of one page. What viser has no word for is a rule of a style sheet of its own, which names the control (mbros.view.dressing)."""

    def __init__(self, gui: Any):
        self.gui = gui
        self._sheet = gui.add_html("")
        self._rules: dict[str, str] = {}

    def slider(self, label: str, low: float, high: float, value: float, *, unit: str = "", step: float | None = None,
               none: float | None = None, disabled: bool = False, hint: str | None = None) -> Any:
        """A slider with a box for the number and its unit behind it. It fills from `none`, by default 0, or the end that is nearest to 0.
        step: by default a fine one, a power of ten."""
        step = 10.0 ** np.floor(np.log10(max((high - low) / 2000.0, 1e-6))) if step is None else step
        slider = self.gui.add_slider(label, low, high, step, float(np.clip(value, low, high)), disabled=disabled, hint=hint,
                                     marks=tuple((end, f"{end:.4g}") for end in (low, high)))
        nothing = float(np.clip(0.0 if none is None else none, low, high))
        text = re.sub(r"[\\\"<]", "", unit)
        wide = max(0.5 * len(text) + 0.9, 2.4) if text else 0.0
        self._rule(slider, f'[id="{slider._impl.uuid}"] {{ --none: {100.0 * (nothing - low) / (high - low):.4g}%; }} '
                   + f'[id="{slider._impl.uuid}"] + * {{ --unit: "{text}"; --unit-width: {wide:.2g}em; }}')
        return slider

    def faint(self, control: Any, faint: bool) -> None:
        """Whether a slider stands back: what it shows is not in force."""
        self._rule(control, f'[id="{control._impl.uuid}"] {{ opacity: .35; }}' if faint else "", "faint")

    def lamp(self, control: Any, lit: bool) -> None:
        """A lamp before the label of a control."""
        glow = f"box-shadow: 0 0 .5em {LAMP[True]};" if lit else ""
        self._rule(control, f'label[for="{control._impl.uuid}"]::before {{ content: ""; display: inline-block; width: .7em; height: .7em; '
                   f'margin-right: .45em; border-radius: 50%; background: {LAMP[lit]}; {glow} }}', "lamp")

    def status(self, colour: str) -> None:
        """The colour of the icon of the page's connection; "" for its own."""
        self._put("status", f".tabler-icon-cloud-check {{ stroke: {colour}; }}" if colour else "")

    def _rule(self, control: Any, rule: str, what: str = "") -> None:
        self._put(f"{control._impl.uuid} {what}", rule)

    def _put(self, key: str, rule: str) -> None:
        if self._rules.get(key, "") != rule:
            self._rules[key] = rule
            self._sheet.content = f"<style>{''.join(self._rules.values())}</style>"


def by_robot(model: Any, items: Mapping[str, T]) -> list[tuple[str, dict[str, T]]]:
    """[(robot, {name without it: item})] of items by the names of their joints or devices, in a scene of robots; else [("", items)]."""
    robots = [member.name for member in model.description.members if member.kind == ROBOT]
    if len(model.description.members) < 2 or not robots:
        return [("", dict(items))]
    found: dict[str, dict[str, T]] = {}
    for name, item in items.items():
        of = next((robot for robot in robots if name.startswith(f"{robot}/")), "")
        found.setdefault(of, {})[name.removeprefix(f"{of}/") if of else name] = item
    return sorted(found.items(), key=lambda each: each[0] == "")


def units(of: Iterable[str]) -> str:
    """", rad" where that is the unit of all, for the title of their folder."""
    found = set(of)
    return f", {found.pop()}" if len(found) == 1 and "" not in found else ""
