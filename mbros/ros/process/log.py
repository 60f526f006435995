"""What the node says: one line an entry."""
from __future__ import annotations

from typing import TYPE_CHECKING


from mbros.names import printable

if TYPE_CHECKING:
    from mbros.ros.typing import Node


class Log:
    """The log of an rclpy node. Every entry is one line: whatever a name in it holds, it shows and does nothing else."""

    def __init__(self, node: Node):
        self._logger = node.get_logger()

    def info(self, text: str) -> None:
        self._logger.info(printable(text))

    def warning(self, text: str) -> None:
        self._logger.warning(printable(text))

    def error(self, text: str) -> None:
        self._logger.error(printable(text))
