"""The panel of curves: signals chosen by name, energies, and how late the steps began, as they come; of a log, all of it at once."""
from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from mbros.view.motion import Motion, Sample
from mbros.view.panel import OnPage
from mbros.view.poses import Kinematics

KEPT = 1500             # samples
COLOURS = ("#2462a8", "#d9730d", "#2e8b57", "#b83280", "#7a5cc4", "#8c6d1f", "#0f8f9c", "#c53030")
NONE = "(choose)"
ENERGIES, LATENESS = ("energy", "energy.kinetic", "energy.potential"), "lateness"
POWERS = {-9: "10⁻⁹ ", -6: "10⁻⁶ ", -3: "10⁻³ ", 0: "", 3: "10³ ", 6: "10⁶ ", 9: "10⁹ "}


class Signals:
    """Everything that can be plotted: names as everywhere (joint2.position, energy, imu.angular_velocity[2]), `units` by name, and rows of
    numbers, (time, then one for each name)."""

    def __init__(self, motion: Motion):
        self.motion, model = motion, motion.model
        self.units: dict[str, str] = {}
        at: list[int] = []
        nq, nv, known = model.nq, model.nv, [joint for joint in model.joints if not joint.follows]
        for joint in known:
            for what, first, begin in (("position", joint.q_slice.start, 0), ("velocity", joint.v_slice.start, nq),
                                       ("effort", joint.v_slice.start, nq + nv)):
                for i, (name, unit) in enumerate(_coordinates(joint, "position" if what == "position" else "velocity")):
                    self.units[f"{name}.{what}"] = unit if what != "effort" else "N" if unit == "m/s" else "N m"
                    at.append(begin + first + i)
        count = nq + 2 * nv
        self.units.update(dict.fromkeys(ENERGIES, "J"))
        at += range(count, count + 3)
        if "effort" in motion.can:
            self.units[LATENESS] = "us"
            at.append(count + 3)
        for reading in motion.bench.readings if motion.bench is not None else ():
            for k in range(reading.size):
                name = reading.name if reading.size == 1 else f"{reading.name}[{k}]"
                if name not in self.units:
                    self.units[name] = reading.unit
                    at.append(count + 4 + reading.at + k)
        self._at = np.array(at, int)
        self.place = {name: 1 + k for k, name in enumerate(self.units)}

    def row(self, sample: Sample, kinematics: Kinematics) -> np.ndarray:
        """Of a sample, at which the kinematics are."""
        model, state = self.motion.model, kinematics.state
        kinetic, potential = model.kinetic_energy(state), model.potential_energy(state)
        bench = np.zeros(0) if sample.bench is None else sample.bench
        x = np.concatenate([sample.q, sample.v, sample.effort, [kinetic + potential, kinetic, potential, 1e6 * sample.late], bench])
        return np.concatenate([[sample.time], x[self._at]])

    def rows(self, table: np.ndarray) -> np.ndarray:
        """Of a motion's history."""
        return np.column_stack([table[:, 0], table[:, 1 + self._at]])


def _coordinates(joint: Any, what: str) -> list[tuple[str, str]]:
    from mbros.describe.joints.kinds import row_of

    row = row_of(joint._exact_kind)
    names, units = getattr(row, f"{what}_names"), getattr(row, f"{what}_units")
    return [(joint.name if len(names) == 1 else f"{joint.name}.{name}", units[k] if k < len(units) else "") for k, name in enumerate(names)]


class Chart:
    """Curves of one unit over time. Hidden as long as there is nothing in it."""

    def __init__(self, gui: Any, signals: Signals, names: tuple[str, ...], title: str | None, order: float | None = None):
        self.names, self._signals, self._unit, self._power, self._flat = names, signals, signals.units[names[0]], 0, False
        self._now = signals.motion.history() is not None
        series: list[dict[str, Any]] = [{"label": "time, s"}]
        series += [{"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5, "points": {"show": False}}
                   for k, name in enumerate(names)]
        if self._now:
            series.append({"label": "now", "stroke": "#495057", "width": 1, "dash": (4, 3), "points": {"show": False}})
        self.handle = gui.add_uplot(tuple(np.zeros(1) for _ in series), tuple(series), title=title, scales={"x": {"time": False}},
                                    axes=self._axes(), height=210, legend={"show": True, "live": False}, padding=(10, 14, 0, 2),
                                    order=order, visible=False)

    def _axes(self) -> tuple[dict[str, Any], ...]:
        label = f"{POWERS[self._power]}{self._unit}".strip()
        same = {"ticks": {"width": 1, "size": 4, "stroke": "#adb5bd"}, "grid": {"width": 1, "stroke": "#e9ecef"},
                "labelGap": 0, "labelSize": 18, "labelFont": "11px sans-serif", "font": "11px sans-serif"}
        return {"label": "time, s", "size": 26, "gap": 2, **same}, {"label": label or "1", "size": 52, "gap": 3, **same}

    def draw(self, table: np.ndarray, now: float) -> None:
        """These rows, of at least two times, and a line where the motion is, in a log. Large and small numbers with a power of ten in the
        unit, so that their digits have room."""
        curves = [table[:, self._signals.place[name]] for name in self.names]
        most = max((float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in curves), default=0.0)
        power = int(np.clip(3 * np.floor(np.log10(most) / 3.0), -9, 9)) if most >= 1e4 or 0.0 < most < 1e-2 else 0
        if power != self._power:
            self._power = power
            self.handle.axes = self._axes()
        t, curves = table[:, 0], [x / 10.0**power for x in curves]
        flat = all(np.ptp(x[np.isfinite(x)]) < 1e-9 for x in curves if np.isfinite(x).any())
        if flat != self._flat:
            self._flat = flat
            self.handle.scales = {"x": {"time": False}, **({"y": {"range": (-1.0, 1.0)}} if flat and most < 1e-9 else {})}
        if self._now:
            t, curves = _with_line(t, curves, now)
        self.handle.data = (t, *curves)
        self.handle.visible = True


def _with_line(t: np.ndarray, curves: list[np.ndarray], now: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """The same with an upright line at a time, a curve more."""
    low = min((float(np.nanmin(x)) for x in curves if np.isfinite(x).any()), default=0.0)
    high = max((float(np.nanmax(x)) for x in curves if np.isfinite(x).any()), default=1.0)
    k = int(np.searchsorted(t, now))
    line = np.full(len(t) + 2, np.nan)
    line[k:k + 2] = low, high if high > low else low + 1e-9
    put = [np.insert(x, k, [np.interp(now, t, x)] * 2) for x in curves]
    return np.insert(t, k, [now, now]), [*put, line]


class PlotsPanel:
    """Charts of the chosen signals, one for each unit, one of the energies, one of the lateness."""

    def __init__(self, page: OnPage):
        self.page, self.gui = page, page.server.gui
        self.signals = Signals(page.motion)
        self.chosen = [name for name in self.signals.units if name.endswith(".position")][:3]
        history = page.motion.history()
        self._history = None if history is None else self.signals.rows(history)
        self._rows: deque[np.ndarray] = deque(maxlen=KEPT)
        self._choice = self.gui.add_dropdown("add", [NONE, *self.signals.units], initial_value=NONE)
        page.when(self._choice.on_update, lambda event: self.add(event.target.value))
        clear = self.gui.add_button("Clear the chart")
        page.when(clear.on_click, lambda event: self.choose([]))
        self._empty = self.gui.add_markdown("Nothing to draw yet: curves begin when time passes. Press *Play*." if self._history is None
                                            else "The recording has one row: there is no curve.")
        self._order = self._empty.order + 0.1
        self._now = float("nan")
        self.charts = self._new_charts()
        energies = [Chart(self.gui, self.signals, ENERGIES, "energy")]
        late = [Chart(self.gui, self.signals, (LATENESS,), "lateness of 99 % of the steps")] if LATENESS in self.signals.units else []
        self._others = [*energies, *late]

    def _new_charts(self) -> list[Chart]:
        by_unit: dict[str, list[str]] = {}
        for name in self.chosen:
            by_unit.setdefault(self.signals.units[name], []).append(name)
        return [Chart(self.gui, self.signals, tuple(names), None, self._order + 0.01 * k) for k, names in enumerate(by_unit.values())]

    def add(self, name: str) -> None:
        """One more signal."""
        if name in self.signals.units and name not in self.chosen:
            self.choose([*self.chosen, name])

    def choose(self, names: list[str]) -> None:
        """These signals."""
        self.chosen = names[-len(COLOURS):]
        for chart in self.charts:
            chart.handle.remove()
        with self.page.plots_tab:
            self.charts = self._new_charts()
        self._now = float("nan")
        self.draw()

    # ------------------------------------------------------------------------------------------------------------------- data

    def record(self, sample: Sample, kinematics: Kinematics) -> None:
        """Keep a sample. Time that has gone back begins anew."""
        if self._history is not None:
            return
        if self._rows and sample.time < self._rows[-1][0]:
            self._rows.clear()
        if not self._rows or sample.time > self._rows[-1][0]:
            self._rows.append(self.signals.row(sample, kinematics))

    def draw(self) -> None:
        """The charts with what was kept, where it is new."""
        table = np.array(self._rows) if self._history is None else self._history
        now = self.page.motion.sample().time if self._history is not None else table[-1, 0] if len(table) else float("nan")
        if len(table) < 2 or now == self._now:
            return
        self._now = now
        self._empty.visible = False
        for chart in (*self.charts, *self._others):
            chart.draw(table, now)
