"""The panel of a bench: commands for its actuators, readings, a lamp and buttons for each fault, and the numbers of its devices."""
from __future__ import annotations

import html
from contextlib import nullcontext
from typing import Any

import numpy as np

from mbros.view.bench import Command, FaultState, LiveBench, Reading, hold_here
from mbros.view.controls import by_robot, units
from mbros.view.motion import Sample
from mbros.view.panel import OnPage
from mbros.view.shared import Shared
from mbros.view.simulate_panel import choose_numbers

INJECT, CLEAR = "Inject", "Clear"
HOLD, WITHDRAW = "Hold here", "Withdraw"
TABLE = "width:100%;border-collapse:collapse;font-size:11px;line-height:1.5;margin-bottom:8px;font-variant-numeric:tabular-nums"
HEAD, DIM = "font-weight:600;text-align:right;line-height:1.25;padding:0 0 2px 6px;vertical-align:top", "color:#868e96;font-weight:400"
NUMBER = "text-align:right;white-space:nowrap;padding-left:6px"
NOTE = "font-size:11px;line-height:1.4;color:#868e96;margin:0 10px 8px"


class BenchPanel:
    """Shows what the bench of a motion has, and nothing else."""

    def __init__(self, page: OnPage, bench: LiveBench):
        self.page, self.gui, self.bench, self.motion = page, page.server.gui, bench, page.motion
        self._sliders: list[tuple[int, Shared, bool]] = []
        self._lamps: dict[str, tuple[Any, Any]] = {}
        self._faults: Any = None
        if bench.commands:
            with self.gui.add_folder("Commands"):
                self._commands()
        if "fault" in bench.can:
            self._faults = self.gui.add_folder("Faults")
            self._fault_rows(bench.faults())
        if bench.readings:
            with self.gui.add_folder("Readings"):
                self._tables = [(self.gui.add_html(""), of) for of in self._reading_folders()]
        if "numbers" in bench.can:
            with self.gui.add_folder("Numbers of devices", expand_by_default=False):
                choose_numbers(page, "number", bench.number_names(), bench.number, bench.set_number, bench.about)

    # --------------------------------------------------------------------------------------------------------------- commands

    def _commands(self) -> None:
        can = "command" in self.bench.can
        if can:
            group = self.gui.add_button_group("", (HOLD, WITHDRAW))
            self.page.when(group.on_click, lambda event: self.bench.command(
                hold_here(self.page.model, self.bench.commands, self.motion.sample()) if event.target.value == HOLD else
                dict.fromkeys(range(len(self.bench.commands)), np.nan)))
        by_word: dict[str, dict[str, tuple[int, Command]]] = {}
        for k, command in enumerate(self.bench.commands):
            by_word.setdefault(command.word, {})[command.joint] = k, command
        for n, (word, of) in enumerate(by_word.items()):
            unit = units(command.unit for _, command in of.values())
            with self.gui.add_folder(f"{word.capitalize()}{unit}", expand_by_default=n == 0):
                groups = by_robot(self.page.model, of)
                for robot, joints in groups:
                    with self.gui.add_folder(robot, expand_by_default=len(groups) == 1) if robot else nullcontext():
                        for label, (k, command) in joints.items():
                            self._slider(label, k, command, can)

    def _slider(self, label: str, k: int, command: Command, can: bool) -> None:
        whole = 1.0 if command.word == "brake" else None
        slider = self.page.controls.slider(label, command.low, command.high, 0.0, unit=command.unit, step=whole, disabled=not can,
                                           hint="pale: nothing is commanded" if can else "commanded elsewhere; pale: nothing")
        shared = Shared(slider, slider.value)
        self.page.when(slider.on_update, lambda event: self._given(k, shared, event.target.value))
        self._sliders.append((k, shared, whole is not None))

    def _given(self, k: int, shared: Shared, value: float) -> None:
        shared.touched(value)
        self.bench.command({k: float(value)})

    # ----------------------------------------------------------------------------------------------------------------- faults

    def _fault_rows(self, faults: list[FaultState]) -> None:
        """A row for each fault; made anew when others have come."""
        for group, note in self._lamps.values():
            group.remove()
            note.remove()
        self._lamps = {}
        with self._faults:
            for fault in faults:
                group = self.gui.add_button_group(fault.name, (INJECT, CLEAR))
                self.page.when(group.on_click, lambda event, name=fault.name: self.bench.fault(name, event.target.value == INJECT))
                self._lamps[fault.name] = group, self.gui.add_html("")
        if not faults:
            with self._faults:
                self._lamps[""] = self.gui.add_markdown("This bench has none (docs/faults.md)."), self.gui.add_html("")

    def _show_faults(self, faults: list[FaultState]) -> None:
        if [fault.name for fault in faults] != [name for name in self._lamps if name]:
            self._fault_rows(faults)
        for fault in faults:
            group, note = self._lamps[fault.name]
            self.page.controls.lamp(group, fault.active)
            since = "" if np.isnan(fault.since) else f" since {fault.since:.3f} s"
            acts = (f"<b style='color:#d6202a'>acts{since}</b>" if fault.active else
                    f"has acted {times(fault.begun)}" if fault.begun else "does not act")
            put(note, "content", f'<div style="{NOTE}">{html.escape(fault.about)} · {acts}</div>')

    # --------------------------------------------------------------------------------------------------------------- readings

    def _reading_folders(self) -> list[dict[str, Reading]]:
        """Readings by robot: each in a folder that is open."""
        found = by_robot(self.page.model, {reading.name: reading for reading in self.bench.readings})
        return [{f"{robot}/{name}" if robot else name: reading for name, reading in of.items()} for robot, of in found]

    def update(self, sample: Sample) -> None:
        """Sliders to what is commanded, lamps, numbers."""
        commanded = self.bench.commanded() if self._sliders else np.zeros(0)
        for k, shared, _ in self._sliders:
            there = bool(np.isfinite(commanded[k]))
            self.page.controls.faint(shared.slider, not there)
            if there:
                shared.follow(float(commanded[k]))
        if self._faults is not None:
            self._show_faults(self.bench.faults())
        if self.bench.readings and sample.bench is not None:
            for table, of in self._tables:
                put(table, "content", readings_table(of, sample.bench))


def readings_table(readings: dict[str, Reading], values: np.ndarray) -> str:
    """HTML: what several joints have alike, such as encoders, as one table of a line for each joint; the rest line by line."""
    devices: dict[str, list[Reading]] = {}
    for name, reading in readings.items():
        devices.setdefault(name.rpartition(".")[0], []).append(reading)
    alike: dict[tuple[Any, ...], list[str]] = {}
    for device, of in devices.items():
        key = (device.rpartition(".")[2], *((r.name.rpartition(".")[2], r.unit) for r in of)) if all(r.size == 1 for r in of) else (device,)
        alike.setdefault(key, []).append(device)
    parts = [_matrix(names, devices, values) if len(names) > 1 else _lines(names[0], devices[names[0]], values) for names in alike.values()]
    return f'<div style="margin:0 10px 6px;overflow-x:auto">{"".join(parts)}</div>'


def _matrix(names: list[str], devices: dict[str, list[Reading]], values: np.ndarray) -> str:
    kind, first = names[0].rpartition(".")[2], devices[names[0]]
    head = "".join(f'<th style="{HEAD}">{_word(r)}<br><span style="{DIM}">{html.escape(r.unit) or "&nbsp;"}</span></th>' for r in first)
    rows = "".join(f'<tr><td style="{DIM}">{html.escape(name.rpartition(".")[0])}</td>'
                   + "".join(f'<td style="{NUMBER}">{written(values[r.at])}</td>' for r in devices[name]) + "</tr>" for name in names)
    return f'<table style="{TABLE}"><tr><th style="{HEAD};text-align:left">{html.escape(kind)}</th>{head}</tr>{rows}</table>'


def _lines(name: str, of: list[Reading], values: np.ndarray) -> str:
    rows = "".join(f'<tr><td style="{DIM}">{_word(r)}</td><td style="{NUMBER}">'
                   f'{"&ensp;".join(written(x) for x in values[r.at:r.at + r.size])}</td>'
                   f'<td style="{DIM};padding-left:6px;width:3.5em;white-space:nowrap">{html.escape(r.unit)}</td></tr>' for r in of)
    return f'<table style="{TABLE}"><tr><th colspan="3" style="{HEAD};text-align:left">{html.escape(name)}</th></tr>{rows}</table>'


def _word(reading: Reading) -> str:
    return html.escape(reading.name.rpartition(".")[2].replace("_", " "))


def written(x: float) -> str:
    """A number in at most eight signs; a dash for none."""
    if not np.isfinite(x):
        return "–"
    return f"{x:.0f}" if x == round(x) and abs(x) < 1e6 else f"{x:.4f}" if 1e-3 <= abs(x) < 100.0 else f"{x:.4g}"


def times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def put(handle: Any, name: str, value: Any) -> None:
    """What has not changed is not sent."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
