"""What a request of the standard is refused with."""
from __future__ import annotations

from simulation_interfaces.msg import Result

from ..errors import RequestError


class Refusal(RequestError):
    """`code` is one of simulation_interfaces/msg/Result, or one of the service's own, above 100."""

    def __init__(self, text: str, code: int = Result.RESULT_OPERATION_FAILED):
        super().__init__(text)
        self.code = code


def unsupported(text: str) -> Refusal:
    """It is asked for what the features do not announce."""
    return Refusal(text, Result.RESULT_FEATURE_UNSUPPORTED)
