"""A plain rclpy client of simulation_interfaces, for the tests."""
from __future__ import annotations

from mbros.ros.standard.table import ROWS

TOPICS = {row.name: row.topic for row in ROWS}


def call(sim, name, /, **fields):
    """The response of a service of the standard, by the name of its type."""
    import simulation_interfaces.srv
    kind = getattr(simulation_interfaces.srv, name)
    return sim.call(kind, TOPICS[name], kind.Request(**fields))


def ok(response):
    """The response of a request that must be granted."""
    from simulation_interfaces.msg import Result
    assert response.result.result == Result.RESULT_OK, response.result
    return response


def refused(response, code, *words):
    """The sentence of a request that must be refused."""
    assert response.result.result == code, response.result
    for word in words:
        assert word in response.result.error_message
    return response.result.error_message


def nanoseconds(stamp) -> int:
    return stamp.sec * 10**9 + stamp.nanosec
