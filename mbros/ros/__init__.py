"""mbros on ROS 2: messages, parameters, the data plane and the node. Nothing here knows physics.

Importing this package needs no ROS; `require_rclpy()` says what to do where there is none.
"""
from __future__ import annotations

from types import ModuleType


class RosNotFound(RuntimeError):
    """ROS 2's Python client cannot be imported; the text says how to get it."""


def require_rclpy() -> ModuleType:
    """rclpy, or an error for people."""
    try:
        import rclpy
    except ImportError as e:
        raise RosNotFound(
            f"ROS 2 is not there ({e}); source it (. /opt/ros/<distro>/setup.bash) with the Python it was built for, "
            f"or install it from PyPI: pip install \"mbros[ros]\"") from e
    return rclpy
