"""The ROS standard simulation_interfaces, as far as the node has it: docs/simulation_interfaces.md.

`Offer(sim)` is all that the node makes of it. What is served stands in one table, `table.ROWS`; the rest of this folder is needed only
where the message package is there.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from ..interfaces import find

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.standard.server import Standard

__all__ = ["Offer"]


class Offer:
    """The services and the action on a SimNode whose parameter `simulation_interfaces` is true.

    Their messages are a tenth of a second of importing: they come when the node is up and its executor has nothing else to do.
    """

    def __init__(self, sim: SimNode):
        from rclpy.clock import Clock
        from rclpy.clock_type import ClockType

        self._sim = sim
        self._standard: Standard | None = None
        self._timer: object = None
        if sim.live.values["simulation_interfaces"]:
            self._timer = sim.node.create_timer(0.0, self._serve, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _serve(self) -> None:
        self._sim.node.destroy_timer(self._timer)
        self._timer = None
        if self._sim.ending:
            return
        try:
            if find("simulation_interfaces") is None:
                raise ImportError("the package is not installed")
            from .server import Standard
        except ImportError as e:
            self._sim.log.info(f"no services of the standard simulation_interfaces: {e}. Install it "
                               "(ros-$ROS_DISTRO-simulation-interfaces) or run `python -m mbros.ros.interfaces`, once, a minute")
            return
        self._standard = Standard(self._sim)

    def close(self) -> None:
        """Before the node is destroyed."""
        if self._standard is not None:
            self._standard.close()
