"""mbros on ROS 2: messages, parameters, the data plane and the node. Nothing here knows physics.

Importing this package needs no ROS; `require_rclpy()` says what to do where there is none.
"""
from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import RosNotFound as RosNotFound


def __getattr__(name: str) -> object:
    # looked up when it is needed: errors come with the engine, and the node's first line is not to wait for that
    if name == "RosNotFound":
        from .errors import RosNotFound
        return RosNotFound
    raise AttributeError(f"module 'mbros.ros' has no attribute {name!r}")


ROOM = 1 << 14          # bytes of /dev/shm


def require_rclpy() -> ModuleType:
    """rclpy, or an error that users can act on."""
    _need_room()
    try:
        import rclpy
    except ImportError as e:
        from .errors import RosNotFound
        raise RosNotFound(
            f"ROS 2 is not there ({e}); source it (. /opt/ros/<distro>/setup.bash) with the Python it was built for, "
            f"or install it from PyPI: pip install \"mbros[ros]\"") from e
    return rclpy


def _need_room() -> None:
    """The tracing of ROS (LTTng) maps files there as rclpy is imported: where the first of them has no room, SIGBUS ends the process."""
    try:
        about = os.statvfs("/dev/shm")
    except OSError:
        return
    if about.f_blocks > 0 and about.f_bavail * about.f_frsize < ROOM:
        from .errors import RosNotFound
        raise RosNotFound("ROS 2 cannot start: /dev/shm is full; remove what nobody uses there (mbros doctor), or give it more room "
                          "(in a container: --shm-size=1g)")
