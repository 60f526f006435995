"""The data plane that the loop's own thread runs, without the interpreter lock."""
from __future__ import annotations

from typing import Any, cast

from mbros_core.realtime import SnapshotHeader

from ._dataplane import CommandInput, Output, StampClock
from .messages import CommandRules, RobotMap
from .templates import make_template
from .topics import Outgoing, subscription


def unserved_group() -> Any:
    """A callback group that never lets an executor take from its subscriptions: the loop does.

    The subscriptions stay on the node, where `ros2 node info` and remappings expect them.
    """
    from rclpy.callback_groups import CallbackGroup

    class Unserved(CallbackGroup):
        def can_execute(self, entity: Any) -> bool:
            return False

        def beginning_execution(self, entity: Any) -> bool:
            return False

        def ending_execution(self, entity: Any) -> None:
            pass

    return Unserved()


class NativePlane:
    """Plugs for `mbros_core.realtime.Loop`: `inputs` and `outputs`. See `topics`."""

    kind = "native"

    def __init__(self, node: Any, robot: RobotMap, topics: list[Outgoing], snapshot_size: int, dt: float,
                 simulated: bool, rules: CommandRules):
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.stamps = StampClock(dt, simulated)
        templates = [make_template(topic.fill, snapshot_size, topic.planar) for topic in topics]
        self.outputs = [Output(topic.name, topic.publisher, t.message, t.blocks, t.stamps, self.stamps, turn=t.turn,
                               only_simulated=topic.only_simulated) for topic, t in zip(topics, templates)]
        self.group = unserved_group()
        names, order = list(robot.commandable), robot.array_order
        self.inputs = [
            CommandInput(name, cast(Any, kind), subscription(node, message, name, self._never, self.group), joints,
                         [robot.commandable[j] for j in joints], robot.command_size, self.stamps, rules.limit, rules.max_age)
            for name, kind, message, joints in (("joint_commands", "joint_state", JointState, names),
                                                ("effort_commands", "multi_array", Float64MultiArray, order))]

    @staticmethod
    def _never(message: Any) -> None:
        raise AssertionError("a command went to an executor instead of the loop")

    def start(self, loop: Any) -> None:
        """Nothing to do: the loop calls the plugs."""

    def stop(self) -> None:
        """Nothing to do: the loop has stopped."""

    def clock_of(self, header: SnapshotHeader, x: Any) -> int:
        """The time on /clock of the newest snapshot, ns: the loop gave it its stamp before it showed it."""
        return self.stamps.clock_ns

    def close(self) -> None:
        """Let go of rcl's handles; after the loop has stopped and before the node is destroyed."""
        plugs: list[Any] = [*self.outputs, *self.inputs]
        for plug in plugs:
            plug.close()

    def set_every(self, topic: str, steps: int) -> None:
        for output in self.outputs:
            if output.name == topic:
                output.decimation = steps

    def counts(self) -> dict[str, dict[str, int]]:
        """For each command topic: messages accepted, and dropped by reason."""
        return {plug.name: plug.counts() for plug in self.inputs}

    def beside(self) -> dict[str, int]:
        """For each command topic whose messages have room for them: those accepted that carried positions or velocities too."""
        return {plug.name: plug.beside for plug in self.inputs if plug.name == "joint_commands"}

    def problems(self) -> dict[str, tuple[str, str, float] | None]:
        """For each command topic the newest dropped command: (reason, joint, value)."""
        return {plug.name: plug.last_problem() for plug in self.inputs}
