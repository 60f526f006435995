"""The bench of an SDF: sensors, and what its plug-ins are here."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.sdf.plugins import read_plugins
from mbros.describe.sdf.sensors import read_sensors

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from mbros.describe.sdf.robots import Parts, Placed
    from mbros.describe.urdf.context import Context


def read_bench(context: Context, description: RobotDescription, models: list[Placed], parts: Parts) -> None:
    """Into the description, where there is anything of a bench."""
    if not any(entry.element.all("sensor") for model in models for entry in model.scope.entries.values()) and not any(
            element.tag == "plugin" or element.all("plugin") or element.all("ros2_control")
            for model in models for element, _ in model.scope.elements):
        return
    from mbros.describe.devices.bench import Bench      # start-up time: who does not use it does not pay

    bench = Bench()
    read_sensors(context, description, models, parts, bench)
    read_plugins(context, description, models, parts, bench)
    if bench.actuators or bench.sensors or bench.channels:
        description.bench = bench
    else:
        description.bench = None
