"""Lockstep of the node: who is waited for, and the sentences about who is late (docs/lockstep.md)."""
from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mbros.simulate.lockstep import MOST
from mbros_core.errors import LoopError, LoopTimeoutError

from mbros.ros.wire import diagnostics
from mbros.ros.errors import ParameterError
from mbros.ros.wire.parts import Part, part_of_topic
from mbros.ros.wire.topics import CommandTopic, Outgoing, command_topics, publisher, states

if TYPE_CHECKING:
    from mbros.ros.node import SimNode
    from mbros.ros.typing import Topics
    from mbros.ros.wire._dataplane import Gate
    from mbros.ros.wire.native_plane import NativePlane

FORM = "topic n/m, and then, in any order, `count` (any message is the answer) or `stamp` (the default: the one with the state's " \
       "stamp), and `array` for a Float64MultiArray, such as \"joint_commands 1/3, slow/effort_commands 333/1000 array count\""


@dataclass(frozen=True)
class Consumer:
    """Who commands on a topic and is waited for in n of m steps."""

    topic: str
    n: int = 1
    m: int = 1
    by_stamp: bool = True
    array: bool = False


def consumers(text: str) -> list[Consumer]:
    """What the parameter `lockstep` says; ParameterError with what was meant."""
    found = [_consumer(entry.split()) for entry in text.split(",")] if text.strip() else []
    topics = [consumer.topic for consumer in found]
    for topic in topics:
        if topics.count(topic) > 1:
            raise ParameterError(f"parameter lockstep: topic '{topic}' is named twice; expected a topic of its own for each")
    return found


def ratio_in(word: str) -> tuple[int, int] | None:
    """(n, m) of "n/m", whatever they are; None where it says no two numbers."""
    found = re.fullmatch(r"([0-9]{1,10})/([0-9]{1,10})", word)
    return None if found is None else (int(found[1]), int(found[2]))


def _consumer(words: list[str]) -> Consumer:
    text = " ".join(words)
    ratio = ratio_in(words[1]) if len(words) > 1 else None
    extra = set(words[2:])
    if ratio is None or len(extra) < len(words) - 2 or not extra <= {"stamp", "count", "array"} or extra >= {"stamp", "count"}:
        raise ParameterError(f"parameter lockstep: '{text}' is no consumer; expected {FORM}")
    n, m = ratio
    if not 1 <= n <= m <= MOST:
        raise ParameterError(f"parameter lockstep: '{text}' answers in {n} of {m} steps; expected 1 <= n <= m <= {MOST}")
    if "array" in extra and "count" not in extra:
        raise ParameterError(f"parameter lockstep: '{text}': a Float64MultiArray has no stamp; expected `array count`")
    return Consumer(words[0], n, m, "count" not in extra, "array" in extra)


def states_for(consumer: Consumer, node: Topics, parts: list[Part]) -> Outgoing:
    """<topic>/joint_states: the states that this consumer answers, and no others."""
    from sensor_msgs.msg import JointState

    name, robot = f"{consumer.topic}/joint_states", part_of_topic(parts, consumer.topic).map
    return replace(states(robot, name, publisher(node, JointState, name, 10)), due=(consumer.n, consumer.m))


def answer_topic(consumer: Consumer, part: Part) -> CommandTopic:
    """The row of `command_topics` for its answers: that of the topic of this name, else a JointState's or an array's of efforts."""
    rows = {row[0].rpartition("/")[2]: row for row in command_topics(part)}
    name = consumer.topic.rpartition("/")[2]
    kind = "multi_array" if consumer.array else "joint_state"
    like = rows[name] if name in rows and rows[name][1] == kind else rows["effort_commands" if consumer.array else "joint_commands"]
    return consumer.topic, *like[1:]


class Watch:
    """Says who is late, once for each time somebody is, and what /diagnostics has of it."""

    PERIOD = 0.05       # s
    AGAIN = 1.0
    """s: who has never answered is asked as often as this; afterwards the gate asks, after each five seconds."""
    LEAST = 5.0
    """s: who answers every time, and every time too late, is named as seldom as this."""

    def __init__(self, sim: SimNode, consumers: list[Consumer]):
        self.sim, self.consumers, self.events = sim, consumers, 0
        self.late: dict[str, int] = {}          # who has been named, and the step in whose question
        self.seen = [{"late": 0, "answers": 0} for _ in consumers]      # the gate's rows after the newest time-out
        self.named_at = 0.0
        self.listeners, self.again_at = 0, 0.0
        self.followers, self.tell_until = 0, 0.0

    @property
    def plane(self) -> NativePlane:
        """The data plane of now: without the native one nobody is waited for."""
        return self.sim.plane

    @property
    def gate(self) -> Gate:
        gate = self.plane.gate
        assert gate is not None
        return gate

    def welcome(self) -> None:
        """Who has come since the state was published that is waited for hears it at once. So does who answers by stamp when its answers
        can be heard: one before that is lost. The graph knows of somebody a moment before messages arrive there: who has never answered
        by stamp hears it again and again."""
        node = self.sim.node
        listeners = sum(node.count_subscribers(node.resolve_topic_name(f"{consumer.topic}/joint_states"))
                        + (node.count_publishers(node.resolve_topic_name(consumer.topic)) if consumer.by_stamp else 0)
                        for consumer in self.consumers)
        missing = [(consumer, row) for consumer, row in zip(self.consumers, self.gate.report()[2]) if row["missing"]]
        never = bool(missing) and all(consumer.by_stamp and not row["answers"] for consumer, row in missing)
        if listeners > self.listeners or (never and time.monotonic() >= self.again_at):
            self.gate.welcome()
            self.again_at = time.monotonic() + self.AGAIN
        self.listeners = listeners

    def tell_clock(self) -> None:
        """Who has come to /clock hears what time it is, for AGAIN seconds, until messages surely arrive there: a controller that waits for
        its clock before it looks at anything else would wait for the step that waits for it."""
        node = self.sim.node
        followers = node.count_subscribers(node.resolve_topic_name("/clock"))
        if followers > self.followers:
            self.tell_until = time.monotonic() + self.AGAIN
        self.followers = followers
        if time.monotonic() < self.tell_until and not self.sim.ending:
            with self.sim.loop.aside():
                self.plane.tell_clock()

    def look(self) -> None:
        """Called every PERIOD seconds. Many questions may be answered between two looks: who is late in another than it was named for
        is named again, and who has answered two since, one of them in time, answers again."""
        gate = self.gate
        self.tell_clock()
        self.welcome()
        events = gate.events                    # before the report: what comes between them is seen by the next look
        step, _, rows = gate.report()
        changes = list(zip(self._names(), rows, self.seen))
        if events == self.events or self.sim.ending:
            for name, row, seen in changes:
                if name in self.late and (not row["missing"] or row["answers"] >= seen["answers"] + 2):
                    del self.late[name]
                    self.sim.log.info(f"lockstep: {name} answers again")
            return
        late = [name for name, row, seen in changes if row["late"] > seen["late"]]
        paused = self.sim.live.values["lockstep_policy"] == "stop"          # each time: somebody has to end the pause
        again = paused or time.monotonic() - self.named_at >= self.LEAST
        if any(name not in self.late or (again and (paused or self.late[name] != step)) for name in late):
            self.sim.log.error(self.sentence(late))
            self.late.update({name: step for name in late})
            self.named_at = time.monotonic()
        self.events, self.seen = events, rows

    @contextmanager
    def asking_again(self) -> Iterator[None]:
        """While the loop is resumed. Under the policy `stop` who has not answered before the pause hears the state once more and has the
        whole time-out again; the gate counts time in the pause as waited, which ends with the policy of this moment."""
        gate, values = self.gate, self.sim.live.values
        if values["lockstep_policy"] != "stop":
            yield
            return
        gate.set_patience(values["lockstep_timeout"], "wait")
        gate.welcome(anew=True)
        try:
            yield
        finally:
            gate.set_patience(values["lockstep_timeout"], "stop")
            self.events, self.seen = gate.events, gate.report()[2]

    def take_steps(self, n: int, timeout: float | None) -> None:
        """Steps in a pause, with the same for who has not answered before it: steps that the gate gives up at once are asked for again."""
        values, loop = self.sim.live.values, self.sim.loop
        if values["lockstep_policy"] == "stop":
            self.gate.welcome(anew=True)
            begun, first = time.monotonic(), loop.snapshot()[0].step
            try:
                return loop.step_once(n, timeout)
            except LoopTimeoutError:
                raise
            except LoopError:
                if loop.snapshot()[0].step != first or time.monotonic() - begun >= 0.5 * values["lockstep_timeout"] or not loop.paused \
                        or self.sim.services.steps.given_up:
                    raise
        loop.step_once(n, timeout)

    def sentence_of(self, e: Exception) -> str:
        """What a step that was not taken says of it, and who is waited for."""
        return str(e).replace("step_once", "step") + self.waits_for()

    def waits_for(self) -> str:
        """Who is waited for just now, behind another sentence, or ""."""
        missing = [self._who(name) for name, row in zip(self._names(), self.gate.report()[2]) if row["missing"]]
        return f"; it waits for {', '.join(missing)}" if missing else ""

    def _names(self) -> list[str]:
        return [consumer.topic for consumer in self.consumers]

    def _who(self, name: str) -> str:
        nodes = [node for node in self.sim._publishers(name) if node]
        return f"{name} ({', '.join(nodes) if nodes else 'nobody publishes there'})"

    def sentence(self, late: list[str]) -> str:
        """Who is late, with what, and what happens."""
        step, waited, _ = self.gate.report()
        parts = [self._who(name) for name in late]
        policy = self.sim.live.values["lockstep_policy"]
        then = {"wait": "the simulation waits on", "hold": "the simulation goes on with the command in force, and waits for it no more "
                "until it is heard again", "stop": "the simulation is paused; ~/pause (data: false) goes on"}[policy]
        return f"lockstep: no answer to step {step} within {waited:.3g} s from {', '.join(parts)}; {then}"

    def report(self) -> diagnostics.Report:
        """A status of /diagnostics."""
        rows = self.gate.report()[2]
        values = {f"{name} {word}": str(row[key]) for name, row in zip(self._names(), rows)
                  for word, key in (("answers", "answers"), ("time-outs", "late"), ("out of turn", "out_of_turn"))}
        if self.late:
            return diagnostics.Report("lockstep", diagnostics.ERROR, self.sentence(list(self.late)), values)
        return diagnostics.Report("lockstep", diagnostics.OK, "all answer in time", values)
