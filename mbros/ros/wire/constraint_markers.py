"""~/constraint_markers: what closes the robot's loops, for RViz. A line between the two points of each constraint and a ball at the
second, from green (closed) to red (a millimetre or milliradian open)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mbros.model.constraints.ends import Ends, constraint_ends

from mbros.ros.wire.contact_messages import empty_marker, point_of
from mbros.ros.wire.topics import publisher

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.typing import Publish, Publisher
    from mbros.ros.wire.typing import ColorRGBA, Marker, MarkerArray, Vector3
    from mbros_core.typing import Array

NAMESPACE = "constraints"
WIDTH, BALL = 0.006, 0.02               # m
LINE_LIST, SPHERE_LIST = 5, 7           # visualization_msgs/Marker
PLAIN = (1.0, 1.0, 1.0)                 # of the whole marker; its points have colours of their own


def fill_constraint_markers(message: MarkerArray, ends: Sequence[Ends], frame: str, stamp_ns: int, marker: Callable[[], Marker],
                            point: Callable[[], Vector3], colour: Callable[[], ColorRGBA]) -> MarkerArray:
    """visualization_msgs/MarkerArray. `marker`, `point` and `colour` make an empty Marker, geometry_msgs/Point and std_msgs/ColorRGBA."""
    lines = empty_marker(marker(), NAMESPACE, 0, LINE_LIST, PLAIN, (WIDTH, 0.0, 0.0), frame, stamp_ns)
    balls = empty_marker(marker(), NAMESPACE, 1, SPHERE_LIST, PLAIN, (BALL, BALL, BALL), frame, stamp_ns)
    lines.points = [point_of(point(), xyz) for c in ends for xyz in (c.start, c.end)]
    balls.points = [point_of(point(), c.end) for c in ends]
    lines.colors = [_colour(colour(), c.rgb) for c in ends for _ in range(2)]
    balls.colors = [_colour(colour(), c.rgb) for c in ends]
    message.markers = [lines, balls]
    return message


def _colour(c: ColorRGBA, rgb: tuple[float, float, float]) -> ColorRGBA:
    c.r, c.g, c.b, c.a = *rgb, 1.0
    return c


def constraint_markers(sim: SimNode) -> tuple[Publisher, Publish] | None:
    """The publisher and publish(snapshot, stamp) of a SimNode whose robot has constraints; None of another one, and without
    visualization_msgs."""
    if not len(sim.robot.model.constraints):
        return None
    try:
        from visualization_msgs.msg import Marker, MarkerArray
    except ImportError as e:
        sim.log.warning(f"no topic ~/constraint_markers: {e}. Install visualization_msgs "
                        "(ros-$ROS_DISTRO-visualization-msgs, or pip install ros-visualization-msgs)")
        return None
    from geometry_msgs.msg import Point
    from std_msgs.msg import ColorRGBA

    robot, out = sim.robot, publisher(sim.topics, MarkerArray, "~/constraint_markers", 10)
    at, size = robot.plant.layout["q"]

    def publish(x: Array, stamp: int) -> None:
        state = sim.live.tuned.copy()
        state.q[:] = x[at:at + size]
        ends = constraint_ends(robot.model, state)
        out.publish(fill_constraint_markers(MarkerArray(), ends, robot.map.odom_frame, stamp, Marker, Point, ColorRGBA))

    return out, publish
