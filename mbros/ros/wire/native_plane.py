"""The data plane that the loop's own thread runs, without the interpreter lock."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.realtime import SnapshotHeader

from mbros.ros.wire._dataplane import CommandBoard, CommandInput, Gate, InputBeside, Output, StampClock
from mbros.ros.wire.bench import NodeBench
from mbros.ros.wire.commands import CommandRules
from mbros.ros.wire.lockstep import Consumer, answer_topic, states_for
from mbros.ros.wire.messages import EFFORT, RobotMap
from mbros.ros.wire.parts import Part, part_of_topic
from mbros.ros.wire.sources import TOPIC as HARDWARE, of_part, with_sources
from mbros.ros.wire.templates import make_template
from mbros.ros.wire.topics import InputKind, Outgoing, command_topics, odometry, reliable_subscription, states, subscription, unserved_group

if TYPE_CHECKING:
    from mbros.ros.typing import Publisher, Subscription, Topics
    from mbros_core.realtime import Loop
    from mbros_core.typing import Array, HasCapsule


class NativePlane:
    """Plugs for `mbros_core.realtime.Loop`: `inputs` and `outputs`. DataPlaneError or TemplateError where this ROS is not as it has to be
    for them."""

    def __init__(self, node: Topics, robot: RobotMap, parts: list[Part], topics: list[Outgoing], snapshot_size: int, dt: float,
                 simulated: bool, rules: CommandRules, bench: NodeBench | None = None, lockstep: Sequence[Consumer] = (),
                 stamps: StampClock | None = None):
        self.stamps = StampClock(dt, simulated) if stamps is None else stamps
        asking = [states_for(consumer, node, parts) for consumer in lockstep]
        topics = [*topics, *asking]
        self._clock = topics[0]                 # /clock
        self._rates = [topic.rate for topic in topics]
        self._robot, self._bench, self._rules, self._snapshot_size = robot, bench, rules, snapshot_size
        self._outputs = [self._output(topic) for topic in topics]
        self._beside_topics: InputBeside | None = None
        questions = [output for question in asking for topic, output in zip(topics, self._outputs) if topic is question]
        self.board = None if bench is None else CommandBoard(*bench.places(robot))
        self.outputs: list[Output | CommandBoard] = [*self._outputs, *([] if self.board is None else [self.board])]
        self.group = unserved_group()
        once = partial(reliable_subscription, depth=10)
        asked = [consumer.topic for consumer in lockstep]
        self.inputs = [self._input(node, part.map, rules, once if row[1] == "trajectory" else subscription, *row)
                       for part in parts for row in command_topics(part) if row[0] not in asked]
        answered = [(consumer, part_of_topic(parts, consumer.topic)) for consumer in lockstep]
        answers = [self._input(node, part.map, rules, reliable_subscription, *answer_topic(consumer, part)) for consumer, part in answered]
        self.inputs += answers
        if bench is not None and bench.layout.sources:
            self.inputs += [self._hardware(node, rules, bench, part) for part in with_sources(bench, parts)]
        self.gate = None
        if lockstep:
            self.gate = Gate([(one, c.n, c.m, c.by_stamp, question) for one, c, question in zip(answers, lockstep, questions)], self.stamps)
            self.gate.start()

    def _output(self, topic: Outgoing) -> Output:
        bench, robot = self._bench, self._robot
        memory = 0 if bench is None else len(bench.memory)
        fallback = {} if robot.sensed is None else robot.sensed.fallback
        t = make_template(topic.fill, self._snapshot_size, topic.planar,
                          memory if topic.since or topic.of_joints or topic.of_memory else 0, fallback, topic.yaw, topic.bit)
        return Output(topic.name, topic.publisher, t.message, t.blocks, t.stamps, self.stamps, turn=t.turn,
                      only_simulated=topic.only_simulated, due=topic.due,
                      memory=bench.memory if bench is not None and (t.taps or topic.since) else None,
                      taps=t.taps, since=topic.since, late=topic.late)

    def step_reader(self) -> CommandInput:
        """What reads the command of a request of ~/step; no plug of the loop."""
        return self._input(None, self._robot, self._rules, lambda *_: None, "~/step", "joint_state", None, list(self._robot.commandable),
                           EFFORT)

    def of_steps(self) -> tuple[CommandInput, Output, Output | None]:
        """What reads the command of a request of ~/step, and what writes the state into its answer, of all robots; no plugs of the loop."""
        robot = self._robot
        return self.step_reader(), self._output(states(robot)), self._output(odometry(robot)) if robot.base is not None else None

    def _input(self, node: Topics | None, robot: RobotMap, rules: CommandRules, make: Callable[..., Subscription | None],
               name: str, kind: InputKind, message: type | None, joints: list[str], what: int) -> CommandInput:
        return CommandInput(name, kind, make(node, message, name, self._never, self.group), joints,
                            [robot.commandable[j] for j in joints], robot.command_size, self.stamps, rules.limit, rules.max_age,
                            self.board, [robot.taken(j) for j in joints], what)

    def _hardware(self, node: Topics, rules: CommandRules, bench: NodeBench, part: Part) -> CommandInput:
        """What hardware says of a robot's joints: no command."""
        from sensor_msgs.msg import JointState

        own, topic = of_part(bench, part), part.topic(HARDWARE)
        return CommandInput(topic, "hardware", reliable_subscription(node, JointState, topic, self._never, self.group), list(own.values()),
                            list(own), 4 * len(bench.layout.sources), self.stamps, rules.limit, rules.max_age,
                            feed=bench.devices.feed_capsule)

    @staticmethod
    def _never(message: object) -> None:
        raise AssertionError("a command went to an executor instead of the loop")

    def start(self, loop: Loop) -> None:
        """Nothing to do: the loop calls the plugs."""

    def stop(self) -> None:
        """Nothing to do: the loop has stopped."""

    def clock_of(self, header: SnapshotHeader, x: Array) -> int:
        """The time on /clock of the newest snapshot, ns: the loop gave it its stamp before it showed it."""
        return self.stamps.clock_ns

    def close(self) -> None:
        """Let go of rcl's handles; after the loop has stopped and before the node is destroyed."""
        if self.gate is not None:
            self.gate.close()
        for output in self.outputs:
            output.close()
        for plug in self.inputs:
            plug.close()

    def serve_clock(self, publisher: Publisher) -> None:
        """Publish the time there from now on, while it is simulated."""
        if self._clock.publisher is None:
            self._clock = replace(self._clock, publisher=publisher)
            self._outputs[0].attach(publisher)

    def tell_clock(self) -> None:
        """Once more what time it is; the loop stands aside meanwhile."""
        if self._clock.publisher is not None and self.stamps.clock_ns:
            self._clock.publisher.publish(self._clock.fill(np.empty(0), self.stamps.clock_ns))

    def set_share(self, rate: str, share: float) -> None:
        """Of every topic that has its rate from this parameter."""
        for output, of in zip(self._outputs, self._rates, strict=True):
            if of == rate:
                output.share = share

    def beside_topics(self, plug: HasCapsule) -> HasCapsule:
        """A loop's input that is no topic: trajectories let go of what it commands."""
        if self.board is None:
            return plug
        self._beside_topics = InputBeside(plug, self.board)
        return self._beside_topics

    def beyond(self) -> tuple[int, str, float]:
        """Commands of that input that were left out for a joint's limits: how many, and the newest one's joint and value."""
        count, slot, value = (0, 0, 0.0) if self._beside_topics is None else self._beside_topics.beyond()
        return count, next((name for name, at in self._robot.commandable.items() if at == slot), ""), value

    def release(self, coordinates: Iterable[int]) -> None:
        """These coordinates will be commanded otherwise than by a topic: trajectories let go of them."""
        if self.board is not None:
            self.board.release(coordinates)

    def counts(self) -> dict[str, dict[str, int]]:
        """For each command topic: messages accepted, and dropped by reason."""
        return {plug.name: plug.counts() for plug in self.inputs}

    def beside(self) -> dict[str, int]:
        """For each command topic whose messages have room for them: those accepted that carried positions or velocities too."""
        return {plug.name: plug.beside for plug in self.inputs if plug.name.rpartition("/")[2] == "joint_commands"}

    def followers(self) -> dict[str, int]:
        """The same of numbers for joints that follow another."""
        return {plug.name: plug.followers for plug in self.inputs if plug.name.rpartition("/")[2] == "joint_commands"}

    def problems(self) -> dict[str, tuple[str, str, float] | None]:
        """For each command topic the newest dropped command: (reason, joint, value)."""
        return {plug.name: plug.last_problem() for plug in self.inputs}
