"""Publishers and subscriptions of a node that stay where the node goes on with another world: who listens notices nothing."""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mbros.ros.typing import Node, OnMessage, Publisher, Subscription

T = TypeVar("T")
Key = tuple[str, str, int]      # publisher or subscription; the name as it was asked for; the how many-th of these in one world


class KeptTopics:
    """Stands for an rclpy node where topics are made: one that is there already is given again. `again()` begins anew, `settle()` lets go
    of those that were not asked for since, and `undo()` of those that were made since.

    Names are those before remapping: two topics that are remapped to one have a publisher or a subscription each, as ever.
    """

    def __init__(self, node: Node):
        self._node = node
        self._publishers: dict[Key, Publisher] = {}
        self._subscriptions: dict[Key, Subscription] = {}
        self._asked: set[Key] = set()
        self._before: set[Key] = set()

    def create_publisher(self, kind: type, topic: str, qos: object, **options: object) -> Publisher:
        """As of the node."""
        return self._one("publisher", topic, self._publishers, lambda: self._node.create_publisher(kind, topic, qos, **options))

    def create_subscription(self, kind: type, topic: str, callback: OnMessage, qos: object, **options: object) -> Subscription:
        """As of the node."""
        return self._one("subscription", topic, self._subscriptions,
                         lambda: self._node.create_subscription(kind, topic, callback, qos, **options))

    def _one(self, what: str, topic: str, there: dict[Key, T], make: Callable[[], T]) -> T:
        number = sum(key[:2] == (what, topic) for key in self._asked)
        key = what, topic, number
        if key not in there:
            there[key] = make()
        self._asked.add(key)
        return there[key]

    @property
    def _there(self) -> set[Key]:
        return {*self._publishers, *self._subscriptions}

    def again(self) -> None:
        """What is asked for from now on is of another world."""
        self._asked, self._before = set(), self._there

    def settle(self) -> None:
        """The other world is the one: what it did not ask for goes."""
        self._let_go(self._there - self._asked)

    def undo(self) -> None:
        """There is no other world: what it alone asked for goes."""
        self._let_go(self._there - self._before)

    def _let_go(self, gone: set[Key]) -> None:
        """With the parameters of their quality of service, which all of one topic share."""
        for key in gone:
            if key[0] == "publisher":
                self._node.destroy_publisher(self._publishers.pop(key))
            else:
                self._node.destroy_subscription(self._subscriptions.pop(key))
        left = {(what, self._node.resolve_topic_name(topic)) for what, topic, _ in self._there}
        for what, topic in {(what, self._node.resolve_topic_name(topic)) for what, topic, _ in gone} - left:
            for name in self._node.list_parameters([f"qos_overrides.{topic}.{what}"], 0).names:
                forget(self._node, name)


def forget(node: Node, name: str) -> None:
    """Undeclare a parameter, read-only or not: those of a publisher's quality of service are, and rclpy keeps them for good."""
    from rclpy.exceptions import ParameterImmutableException

    described = getattr(node, "_descriptors", {}).get(name)
    if described is not None:
        described.read_only = False
    with contextlib.suppress(ParameterImmutableException):
        node.undeclare_parameter(name)
