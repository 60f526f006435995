"""Live parameters: checked together, then put in force between two steps, or refused together with the reason."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbros.parameters import BY_NAME

from .parameters import Row, check
from .robot import Robot
from .topics import every


class Live:
    """Values of every parameter, and what has to happen when one changes."""

    def __init__(self, rows: Iterable[Row], values: dict[str, Any], robot: Robot):
        self.rows = {row.name: row for row in rows}
        self.values, self.robot = dict(values), robot
        self.loop: Any = None
        self.plane: Any = None

    def start(self, loop: Any, plane: Any) -> None:
        """From now on changes act on this loop and this data plane."""
        self.loop, self.plane = loop, plane
        self._rates()

    # --- checks

    def checked(self, changes: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """(values as the node uses them, "") or ({}, reason); parameters that are not ours pass unseen."""
        good = {}
        for name, value in changes.items():
            if name not in self.rows:
                continue
            value, reason = check(self.rows[name], value)
            if not reason and name.startswith("initial_positions."):
                reason = self.robot.limit_problem(name, value)
            if reason:
                return {}, reason
            good[name] = value
        return good, ""

    def change(self, changes: dict[str, Any]) -> str:
        """Check all, then act on all. Returns the reason why nothing was changed, or ""."""
        good, reason = self.checked(changes)
        if reason:
            return reason
        before, self.values = self.values, {**self.values, **good}
        try:
            self._act(set(good))
        except (ValueError, RuntimeError, TimeoutError) as e:
            self.values = before
            return str(e)
        return ""

    # --- actions

    def _act(self, names: set[str]) -> None:
        if any(name.partition(".")[0] in BY_NAME for name in names):
            self.loop.set_parameters(self.robot.parameter_block(self.values))
        if any(name.startswith("watchdog_") for name in names):
            self.loop.set_watchdog(*self.watchdog())
        if "real_time_factor" in names:
            self.loop.set_real_time_factor(self.values["real_time_factor"])
        if any(name == "real_time_factor" or name.endswith("_rate") for name in names):
            self._rates()

    def watchdog(self) -> tuple[float | None, str, float]:
        """Arguments of Loop.set_watchdog."""
        v = self.values
        return v["watchdog_timeout"] or None, v["watchdog_action"], v["watchdog_damping"]

    def _rates(self) -> None:
        """Steps between publications. Rates count in simulated time, except that of /clock."""
        v = self.values
        factor = v["real_time_factor"]
        self.plane.stamps.set_scaled(factor != 1.0)
        for topic in ("joint_states", "tf", "odom"):
            self.plane.set_every(topic, every(v["rate"], v[f"{topic}_rate"]))
        self.plane.set_every("clock", every(v["rate"] * (factor or 1.0), v["clock_rate"]))
