"""The panel of curves: signals chosen by name, energies, and how late the steps began, as they come."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.view.motion import Sample
from mbros.view.panel import OnPage
from mbros.view.poses import Kinematics

KEPT = 1500             # samples
COLOURS = ("#2462a8", "#d9730d", "#2e8b57", "#b83280", "#7a5cc4", "#8c6d1f", "#0f8f9c", "#c53030")
NONE = "(choose)"


def signals(model: Any, late: bool = True) -> dict[str, tuple[str, Callable[[Sample, Kinematics], float]]]:
    """{name: (unit, how to read it)} of everything that can be plotted. Names as everywhere: joint2.position, energy, ..."""
    found: dict[str, tuple[str, Callable[[Sample, Kinematics], float]]] = {}
    for joint in model.joints:
        if joint.follows:
            continue
        for i, (name, unit) in enumerate(_coordinates(joint, "position")):
            found[f"{name}.position"] = unit, lambda s, k, at=joint.q_slice.start + i: float(s.q[at])
        for i, (name, unit) in enumerate(_coordinates(joint, "velocity")):
            found[f"{name}.velocity"] = unit, lambda s, k, at=joint.v_slice.start + i: float(s.v[at])
            found[f"{name}.effort"] = ("N" if unit == "m/s" else "N m"), lambda s, k, at=joint.v_slice.start + i: float(s.effort[at])
    found["energy"] = "J", lambda s, k: model.kinetic_energy(k.state) + model.potential_energy(k.state)
    found["energy.kinetic"] = "J", lambda s, k: model.kinetic_energy(k.state)
    found["energy.potential"] = "J", lambda s, k: model.potential_energy(k.state)
    if late:
        found["lateness"] = "us", lambda s, k: 1e6 * s.late
    return found


def _coordinates(joint: Any, what: str) -> list[tuple[str, str]]:
    from mbros.describe.joints.kinds import row_of

    row = row_of(joint._exact_kind)
    names, units = getattr(row, f"{what}_names"), getattr(row, f"{what}_units")
    return [(joint.name if len(names) == 1 else f"{joint.name}.{name}", units[k] if k < len(units) else "") for k, name in enumerate(names)]


class PlotsPanel:
    """One chart of the chosen signals, one of the energies, one of the lateness."""

    def __init__(self, page: OnPage):
        self.page, self.gui = page, page.server.gui
        self.signals = signals(page.model, "effort" in page.motion.can)
        self.chosen = [name for name in self.signals if name.endswith(".position")][:3]
        self._rows: deque[tuple[float, ...]] = deque(maxlen=KEPT)
        self._choice = self.gui.add_dropdown("add", [NONE, *self.signals], initial_value=NONE)
        page.when(self._choice.on_update, lambda event: self.add(event.target.value))
        clear = self.gui.add_button("Clear the chart")
        page.when(clear.on_click, lambda event: self.choose([]))
        self._charts: list[tuple[tuple[str, ...], Any]] = []
        self._chart = self._new(tuple(self.chosen), "chosen")
        self._energies = self._new(("energy", "energy.kinetic", "energy.potential"), "energy, J")
        self._lateness = self._new(("lateness",), "lateness of 99 % of the steps, us") if "lateness" in self.signals else None

    def _new(self, names: tuple[str, ...], title: str, order: float | None = None) -> tuple[tuple[str, ...], Any]:
        names = names or ("energy",)
        series = [{"label": "t"}] + [{"label": self._label(name), "stroke": COLOURS[k % len(COLOURS)], "width": 1.5,
                                      "points": {"show": False}} for k, name in enumerate(names)]
        empty = tuple(np.zeros(1) for _ in series)
        chart = self.gui.add_uplot(empty, tuple(series), title=title, scales={"x": {"time": False}}, height=190,
                                   legend={"show": len(names) <= 8}, order=order)
        return names, chart

    def _label(self, name: str) -> str:
        return f"{name}, {self.signals[name][0]}" if self.signals[name][0] else name

    def add(self, name: str) -> None:
        """One more signal in the chart."""
        if name in self.signals and name not in self.chosen:
            self.choose([*self.chosen, name])

    def choose(self, names: list[str]) -> None:
        """These signals in the chart."""
        self.chosen = names[-len(COLOURS):]
        order = self._chart[1].order
        self._chart[1].remove()
        with self.page.plots_tab:
            self._chart = self._new(tuple(self.chosen), "chosen", order)

    # ------------------------------------------------------------------------------------------------------------------- data

    def record(self, sample: Sample, kinematics: Kinematics) -> None:
        """Keep a sample. Time that has gone back begins anew."""
        if self._rows and sample.time < self._rows[-1][0]:
            self._rows.clear()
        if not self._rows or sample.time > self._rows[-1][0]:
            self._rows.append((sample.time, *(float(read(sample, kinematics)) for _, read in self.signals.values())))

    def draw(self) -> None:
        """The charts with what was kept."""
        if len(self._rows) < 2:
            return
        table, place = np.array(self._rows), {name: 1 + k for k, name in enumerate(self.signals)}
        for names, chart in filter(None, (self._chart, self._energies, self._lateness)):
            chart.data = (table[:, 0], *(table[:, place[name]] for name in names))
