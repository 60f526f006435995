"""What the ROS side refuses. All of the family of MbrosError, so that one `except` will do."""
from __future__ import annotations

from typing import TYPE_CHECKING


from mbros.errors import MbrosError, MissingPackageError, shown
from mbros.names import printable

if TYPE_CHECKING:
    from mbros_core.realtime import Loop


class RosNotFound(MissingPackageError, RuntimeError):
    """ROS 2's Python client cannot be imported; the text says how to get it."""


class ParameterError(MbrosError):
    """A parameter of the node cannot have the value that it was given."""


class RequestError(MbrosError):
    """A service of the node was asked for something that cannot be done; nothing has been changed."""


def why_still(loop: Loop) -> str:
    """Why nothing moves until a reset, or ""."""
    if loop.state not in ("fault", "stopped"):
        return ""
    return str(loop.fault.text if loop.fault else loop.stop_reason)


def sentence(error: Exception) -> str:
    """What went wrong, for an answer: foreign text in it is shown with its escapes, and cut. One that was not made for users says that it
    is a bug."""
    if isinstance(error, (ValueError, RuntimeError, OSError)) and str(error):
        return shown(error)
    return f"an error that should not be, {type(error).__name__}: {printable(error)}. Please report it"
