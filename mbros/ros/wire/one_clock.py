"""One time on a graph: who publishes /clock, who waits for it, and what is said of both (docs/decisions/041-one-time.md).

The publisher is made when time becomes simulated, and not before: on the graph a publisher of /clock is one that says what time it is.
It stays until the node ends, whatever worlds it goes on with.
"""
from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mbros.ros.wire import diagnostics
from mbros.ros.errors import ParameterError, RequestError
from mbros.ros.wire.topics import clock_publisher

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.typing import Publisher

TOPIC = "/clock"
PATIENCE = 1.0          # s to wait for the name of a node whose publisher is known: the graph tells of the two apart
REMEDY = ("robots that share a time are robots of one scene (docs/scenes.md); with -r /clock:=clock a node has one of its own, and those "
          "that follow it need the same")


class OneClock:
    """Of a SimNode. `take()` before its time becomes simulated; `look()` with each report."""

    def __init__(self, sim: SimNode):
        self.sim, self.withheld = sim, False
        self.publisher: Publisher | None = None
        self.wanted = False                     # from the start
        self._conflict: list[str] = []          # what has been said, of publishers
        self._waiting: list[str] = []           # and of those who wait
        self._others: list[str] = []            # as of the newest look
        self._seen: list[str] = []

    def serve(self) -> Publisher:
        """The publisher, made where there is none."""
        if self.publisher is None:
            self.publisher = clock_publisher(self.sim.node)
        return self.publisher

    def others(self) -> list[str]:
        """Full names of the other nodes that publish the time."""
        node, found = self.sim.node, self.sim._publishers(TOPIC)
        own = node.get_fully_qualified_name()
        if self.publisher is not None and own in found:
            found.remove(own)
        return found

    def named_others(self) -> list[str]:
        """others(), once the graph knows their names, or has known one for long enough without; a publisher that ends is gone by then."""
        end = time.monotonic() + PATIENCE
        while not all(found := self.others()) and time.monotonic() < end:
            time.sleep(0.01)
        return found

    def waiters(self) -> list[str]:
        """Full names of the nodes that follow it: clocks of rclcpp and rclpy subscribe with best effort, who only reads or records it
        does so reliably where nobody publishes yet."""
        from rclpy.qos import ReliabilityPolicy

        node = self.sim.node
        found = node.get_subscriptions_info_by_topic(node.resolve_topic_name(TOPIC))
        return sorted({f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in found if "UNKNOWN" not in one.node_name
                       and one.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT})

    def take(self) -> None:
        """Time is simulated from now on. RequestError, and nothing is done, where another node says what time it is."""
        if self.publisher is not None:
            return
        if others := self.named_others():
            raise RequestError(f"{self._taken(others)}, and this would be a second one; {REMEDY}")
        self.sim.plane.serve_clock(self.serve())
        self.sim.log.info("time is simulated from now on, until this node ends: stamps go on from where they are, and /clock is published, "
                          "which nodes with use_sim_time follow")

    def begin(self) -> None:
        """Before the loop starts. ParameterError where the time is simulated from the start, and another node says what time it is. The
        publisher is made after that look: of two that begin at once one may see the other, but not each the other."""
        if not self.wanted:
            return
        if others := self.named_others():
            raise ParameterError(f"{self._taken(others)}, and in simulated time this node does so too; {REMEDY}")
        self.sim.plane.serve_clock(self.serve())

    def look(self) -> list[str]:
        """What is to be said in the log, once: who publishes it beside us, who waits in vain."""
        others, waiters, said = self.others(), self.waiters(), []
        if self.publisher is not None:
            self._yield(others)
            if others and all(others) and others != self._conflict:
                self._conflict = others
                said.append(self._two(others))
        elif waiters and not others and waiters == self._seen and waiters != self._waiting:
            self._waiting = waiters
            said.append(self._in_vain(waiters))
        self._others, self._seen = others, waiters
        return said

    def _yield(self, others: list[str]) -> None:
        """Two that began at once: the one whose name comes first goes on. Who is no mbros does so in any case."""
        own = self.sim.node.get_fully_qualified_name()
        withheld = any(other and (other < own or not self._is_mbros(other)) for other in others)
        if withheld != self.withheld:
            self.withheld = withheld
            self.sim.live.withhold_clock(withheld)

    def _is_mbros(self, name: str) -> bool:
        namespace, _, node = name.rpartition("/")
        try:
            services = self.sim.node.get_service_names_and_types_by_node(node, namespace or "/")
        except Exception:                       # gone meanwhile
            return False
        return any(kind.startswith("mbros_msgs/") for _, kinds in services for kind in kinds)

    @staticmethod
    def _taken(others: list[str]) -> str:
        return f"{', '.join(other or 'a node unknown so far' for other in others)} publishes /clock already"

    def _two(self, others: list[str]) -> str:
        then = "that of this node is withheld, and its stamps are of a time that nobody follows" if self.withheld else "both go on"
        return f"two times on one graph: {self._taken(others)}; {then}. {REMEDY}"

    @staticmethod
    def _in_vain(waiters: list[str]) -> str:
        return (f"{', '.join(waiters)} {'waits' if len(waiters) == 1 else 'wait'} for /clock (use_sim_time), and nobody publishes it: this "
                "simulation follows the wall clock. Start it with simulated_time:=true, or them with use_sim_time:=false")

    def report(self) -> diagnostics.Report:
        """A status of /diagnostics, as of the newest look."""
        simulated, others = bool(self.sim.plane.stamps.simulated), self._others
        values = {"stamps": "simulated time" if simulated else "system time", "nodes that follow /clock": str(len(self._seen)),
                  "others that publish /clock": ", ".join(others) or "none"}
        if self.publisher is not None and others:
            return diagnostics.Report("time", diagnostics.ERROR, self._two(others), values)
        if self.publisher is None and not others and self._waiting and self._seen == self._waiting:
            return diagnostics.Report("time", diagnostics.WARN, self._in_vain(self._waiting), values)
        return diagnostics.Report("time", diagnostics.OK, "one time", values)
