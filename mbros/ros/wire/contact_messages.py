"""Contacts to messages: pure functions, as those of `messages`. Lengths in m, forces in N, in the frame that does not move."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mbros.model.contacts import Contact

from mbros.ros.wire.messages import fill_xyz, set_time

if TYPE_CHECKING:
    from mbros.ros.wire.typing import ContactMessage, Contacts, Marker, MarkerArray, Vector3

FORCES, POINTS = "forces", "points"         # namespaces of the markers, which RViz shows and hides one by one
ORANGE, RED = (0.95, 0.62, 0.10), (0.84, 0.16, 0.16)
BALL, SHAFT, HEAD = 0.02, 0.008, 0.02       # diameters, m
SHORTEST = 1e-3                             # m of an arrow that is drawn
ARROW, SPHERE_LIST, ADD, DELETE = 0, 7, 0, 2        # visualization_msgs/Marker


def fill_contacts(message: Contacts, contacts: Sequence[Contact], count: int, frame: str, stamp_ns: int,
                  contact: Callable[[], ContactMessage]) -> Contacts:
    """mbros_msgs/Contacts; `contact` makes an empty mbros_msgs/Contact."""
    set_time(message.header.stamp, stamp_ns)
    message.header.frame_id, message.count = frame, count
    message.contacts = [_fill_contact(contact(), c) for c in contacts]
    return message


def fill_markers(message: MarkerArray, contacts: Sequence[Contact], before: int, scale: float, frame: str, stamp_ns: int,
                 marker: Callable[[], Marker], point: Callable[[], Vector3]) -> MarkerArray:
    """visualization_msgs/MarkerArray: the points, and an arrow of force at each, `scale` m long per N. before: how many arrows the last
    message may have left behind. `marker` and `point` make an empty Marker and geometry_msgs/Point."""
    points = empty_marker(marker(), POINTS, 0, SPHERE_LIST, RED, (BALL, BALL, BALL), frame, stamp_ns)
    points.points = [point_of(point(), c.point) for c in contacts]
    if not contacts:
        points.action = DELETE
    message.markers = [points]
    for k in range(max(len(contacts), before)):
        arrow = empty_marker(marker(), FORCES, k, ARROW, ORANGE, (SHAFT, HEAD, 0.0), frame, stamp_ns)
        ends = (contacts[k].point, contacts[k].point + scale * contacts[k].force) if k < len(contacts) else None
        if ends is None or abs(ends[1] - ends[0]).max() < SHORTEST:
            arrow.action = DELETE
        else:
            arrow.points = [point_of(point(), end) for end in ends]
        message.markers.append(arrow)
    return message


def _fill_contact(m: ContactMessage, c: Contact) -> ContactMessage:
    m.body_a, m.body_b, m.shape_a, m.shape_b = c.body_a, c.body_b, c.shape_a, c.shape_b
    fill_xyz(m.point, c.point)
    fill_xyz(m.normal, c.normal)
    fill_xyz(m.force, c.force)
    fill_xyz(m.slip_velocity, c.slip_velocity)
    m.depth, m.sticks = c.depth, c.sticks
    return m


def empty_marker(m: Marker, namespace: str, number: int, kind: int, rgb: tuple[float, float, float], size: tuple[float, float, float],
                 frame: str, stamp_ns: int) -> Marker:
    """A marker without points yet."""
    set_time(m.header.stamp, stamp_ns)
    m.header.frame_id, m.ns, m.id, m.type, m.action = frame, namespace, number, kind, ADD
    m.pose.orientation.w = 1.0
    m.color.r, m.color.g, m.color.b, m.color.a = *rgb, 1.0
    fill_xyz(m.scale, size)
    return m


def point_of(p: Vector3, xyz: Iterable[float]) -> Vector3:
    fill_xyz(p, xyz)
    return p
