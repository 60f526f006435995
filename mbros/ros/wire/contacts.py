"""~/contacts, ~/contact_markers and ~/constraint_markers: what the loop's newest snapshot says of contact and of closed loops, some thirty
times a second, through rclpy.

They are for looking on: no data plane has them, and the loop takes no notice.
"""
from __future__ import annotations

from typing import TYPE_CHECKING


from mbros.model.contacts import ContactCounts, contact_part, contacts_in, counts_in, metres_per_newton

from mbros.ros.wire.constraint_markers import constraint_markers
from mbros.ros.wire.contact_messages import fill_contacts, fill_markers
from mbros.ros.wire.topics import publisher

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.robot import Robot
    from mbros.ros.typing import Publish, Publisher
    from mbros_core.typing import Array

Topic = tuple["Publisher", "Publish"]      # its publisher, and publish(snapshot, stamp)


def contact_counts(robot: Robot, x: Array) -> ContactCounts | None:
    """What a snapshot counts; None of a robot without collision shapes."""
    part = contact_part(robot.plant, x)
    return None if part is None else counts_in(part)


class ContactTopics:
    """Of a SimNode, whose robot has collision shapes or constraints, or has not: then there is nothing here. `set_rate(Hz)`, 0: none.
    arrows: how many of them the newest message of markers, maybe of a world before, has left in RViz."""

    def __init__(self, sim: SimNode, arrows: int = 0):
        self.sim, self.robot, self.arrows = sim, sim.robot, arrows
        self._timer: object = None
        topics = [constraint_markers(sim)]
        if len(self.robot.model.shapes):
            topics += [self._contacts(), self._markers()]
        self._topics: list[Topic] = [each for each in topics if each is not None]

    def set_rate(self, rate: float) -> None:
        from rclpy.clock import Clock
        from rclpy.clock_type import ClockType

        if self._timer is not None:
            self.sim.node.destroy_timer(self._timer)
            self._timer = None
        if rate and self._topics:
            self._timer = self.sim.node.create_timer(1.0 / rate, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def publish(self) -> None:
        """All of them that anybody has subscribed to, of the newest snapshot."""
        heard = [publish for out, publish in self._topics if out.get_subscription_count()]
        if self.sim.ending or not heard:
            return
        stamp = self.sim.stamp_ns()
        x = self.sim.loop.snapshot()[1]
        for publish in heard:
            publish(x, stamp)

    def _contacts(self) -> Topic | None:
        try:
            from mbros_msgs.msg import Contact, Contacts
        except ImportError as e:
            self.sim.log.warning(f"no topic ~/contacts: {e}. Build mbros_msgs (docs/ros.md) or run `python -m mbros.ros.interfaces`")
            return None
        robot, out = self.robot, publisher(self.sim.topics, Contacts, "~/contacts", 10)

        def publish(x: Array, stamp: int) -> None:
            part = contact_part(robot.plant, x)
            assert part is not None
            found, count = contacts_in(robot.model, part), counts_in(part).points
            out.publish(fill_contacts(Contacts(), found, count, robot.map.odom_frame, stamp, Contact))

        return out, publish

    def _markers(self) -> Topic | None:
        try:
            from visualization_msgs.msg import Marker, MarkerArray
        except ImportError as e:
            self.sim.log.warning(f"no topic ~/contact_markers: {e}. Install visualization_msgs "
                                 "(ros-$ROS_DISTRO-visualization-msgs, or pip install ros-visualization-msgs)")
            return None
        from geometry_msgs.msg import Point

        robot, out = self.robot, publisher(self.sim.topics, MarkerArray, "~/contact_markers", 10)
        scale = metres_per_newton(robot.model)

        def publish(x: Array, stamp: int) -> None:
            part = contact_part(robot.plant, x)
            assert part is not None
            contacts = contacts_in(robot.model, part)
            out.publish(fill_markers(MarkerArray(), contacts, self.arrows, scale, robot.map.odom_frame, stamp, Marker, Point))
            self.arrows = len(contacts)

        return out, publish
