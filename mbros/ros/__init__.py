"""mbros on ROS 2: messages, parameters, the data plane and the node. Nothing here knows physics.

Importing this package needs no ROS; `require_rclpy()` says what to do where there is none.
"""
from __future__ import annotations

from types import ModuleType
from typing import Any


def __getattr__(name: str) -> Any:
    # looked up when it is needed: errors come with the engine, and the node's first line is not to wait for that
    if name == "RosNotFound":
        from .errors import RosNotFound
        return RosNotFound
    raise AttributeError(f"module 'mbros.ros' has no attribute {name!r}")


def require_rclpy() -> ModuleType:
    """rclpy, or an error that users can act on."""
    try:
        import rclpy
    except ImportError as e:
        from .errors import RosNotFound
        raise RosNotFound(
            f"ROS 2 is not there ({e}); source it (. /opt/ros/<distro>/setup.bash) with the Python it was built for, "
            f"or install it from PyPI: pip install \"mbros[ros]\"") from e
    return rclpy
