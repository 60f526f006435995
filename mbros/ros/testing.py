"""pytest plugin: a robot for tests of controllers, without and with ROS 2, in lockstep, milliseconds a test (docs/testing.md).

    def test_it_holds(mbros_sim):                           mbros.Simulator, fresh; the model is loaded once
    def test_the_node_holds(mbros_node):                    the node in this process, real topics, in a domain of its own
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mbros import Model, Simulator
    from mbros.describe.devices.bench import BenchLike
    from mbros.ros.typing import Node, Values
    from mbros.ros.wire.typing import JointState

DOMAINS = 100           # ROS_DOMAIN_ID 1 to 100: beyond 101 the ports are those of other programs on Linux


@pytest.fixture(scope="session")
def _mbros_models() -> dict[tuple[str, str], Model]:
    return {}


@pytest.fixture
def mbros_sim(_mbros_models: dict[tuple[str, str], Model]) -> Callable[..., Simulator]:
    """mbros_sim("arm7", dt=1e-3, bench=True, ground=True, ...): a Simulator at its start. What mbros.load takes beside the robot is
    given by name; a model is loaded once a session and must not be changed."""
    import mbros

    def make(robot: str = "arm7", *, dt: float = 1e-3, integrator: str = "midpoint", bench: BenchLike = True, **options: Any) -> Simulator:
        key = (str(robot), repr(sorted(options.items())))
        if key not in _mbros_models:
            _mbros_models[key] = mbros.load(robot, **options)
        return mbros.Simulator(_mbros_models[key], dt, integrator, bench=bench)

    return make


class States:
    """The joints after a step: position, velocity and effort by name, and stamp, ns."""

    def __init__(self, message: JointState) -> None:
        self.stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        self.position = dict(zip(message.name, message.position, strict=True))
        self.velocity = dict(zip(message.name, message.velocity, strict=True))
        self.effort = dict(zip(message.name, message.effort, strict=True))


class RobotNode:
    """The node of a robot, in this process, paused: `step(n)` takes steps. `sim` is the mbros.ros.node.SimNode."""

    def __init__(self, parameters: Values) -> None:
        from rclpy.parameter import Parameter

        from .node import SimNode
        from .process.strangers import rclpy_executor

        self.sim = SimNode([Parameter(name, value=value) for name, value in parameters.items()])
        self._robot = self.sim.robot
        self.executor = rclpy_executor()
        self.executor.add_node(self.sim.node)
        self._over = threading.Event()
        self._failures: list[Exception] = []
        self._thread = threading.Thread(target=self._spin, name="mbros-test", daemon=True)
        try:
            self.sim.start()
            with self.sim.loop.aside():
                self._start = self.sim.saves.blob()
        except BaseException:
            self.close()
            raise
        self._thread.start()

    def _spin(self) -> None:
        """What a callback raises ends nothing: `step` and `running` raise it in the test."""
        while not self._over.is_set():
            try:
                self.executor.spin_once(timeout_sec=0.05)
            except Exception as e:
                if not self.executor.context.ok():      # ROS was shut down
                    return
                self._failures = self._failures or [e]

    def _look(self) -> None:
        """Raise what a callback has raised since the last look."""
        failures, self._failures = self._failures, []
        if failures:
            raise failures[0]

    def _in_its_thread(self, work: Callable[[], None]) -> None:
        """rclpy does not stand that a node is destroyed while another thread waits for it."""
        done = threading.Event()

        def task() -> None:
            try:
                work()
            finally:
                done.set()

        self.executor.create_task(task)
        while not done.wait(0.05) and self._thread.is_alive():
            pass

    @property
    def is_of_its_start(self) -> bool:
        """Whether its robots and objects are those that it was made with: a test may spawn others."""
        return self.sim.robot is self._robot

    def restart(self) -> None:
        """The state, the parameters and the counted steps of the start; stamps go on, and never back."""
        self.sim.loop.pause()
        self.sim.saves.put_back(self._start)

    def step(self, n: int = 1, timeout: float = 30.0) -> States:
        """Take n steps, in lockstep with those that are waited for, and return the state after them. LoopTimeoutError where one of them
        does not answer; what a callback of a node beside it has raised is raised here."""
        from sensor_msgs.msg import JointState

        from mbros.errors import LoopTimeoutError

        from mbros.ros.wire import messages

        sim = self.sim
        try:
            sim.loop.step_once(n, timeout)
        except LoopTimeoutError as e:
            if sim.watch is None:
                raise
            raise LoopTimeoutError(sim.watch.sentence_of(e)) from e
        finally:
            self._look()                    # the reason, where it is the reason that one does not answer
        header, x = sim.loop.snapshot()
        return States(messages.fill_joint_state(JointState(), sim.robot.map, x, sim.plane.clock_of(header, x)))

    @contextlib.contextmanager
    def running(self, *nodes: Node) -> Iterator[RobotNode]:
        """with robot.running(controller, ...): rclpy nodes that are spun beside the robot meanwhile, and destroyed afterwards."""
        for node in nodes:
            self.executor.add_node(node)
        if self.sim.watch is not None:
            self.sim.watch.listeners = -1       # those that are there were not when the state was published
        try:
            yield self
        finally:
            for node in nodes:
                self.executor.remove_node(node)
                self._in_its_thread(node.destroy_node)
            self._look()

    def close(self) -> None:
        """End the loop, the thread and the node."""
        self.sim.end()
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self.executor.shutdown()
        self.sim.close()


@pytest.fixture(scope="session")
def _mbros_domain() -> Iterator[None]:
    """rclpy in a domain of this process's own, on this machine only."""
    rclpy = pytest.importorskip("rclpy", reason="mbros_node needs ROS 2: source it, or pip install 'mbros[ros]'")
    from mbros.ros.process import middleware
    from .interfaces import ensure

    ensure("tf2_msgs")
    ensure("mbros_msgs")
    if rclpy.ok():
        yield
        return
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ["ROS_DOMAIN_ID"] = os.environ.get("MBROS_TEST_DOMAIN") or str(1 + os.getpid() % DOMAINS)       # for child processes, too
    middleware.init([], domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    yield
    rclpy.try_shutdown()


@pytest.fixture(scope="session")
def _mbros_nodes(_mbros_domain: None) -> Iterator[dict[str, RobotNode]]:
    nodes: dict[str, RobotNode] = {}
    yield nodes
    for node in nodes.values():
        node.close()


@pytest.fixture
def mbros_node(_mbros_nodes: dict[str, RobotNode]) -> Callable[..., RobotNode]:
    """mbros_node("arm7", lockstep="joint_commands 1/4", initial_positions={"joint2": 0.3}, ...): a RobotNode at its start, paused.
    Parameters of the node are given by name, those of joints as dicts. The node of the test before serves again where it has the same."""

    def make(robot: str = "arm7", **given: Any) -> RobotNode:
        parameters: Values = {"robot": robot, "start_paused": True, "real_time_factor": 0.0, "priority": 0, "watchdog_timeout": 0.0}
        for name, value in given.items():
            parameters.update({f"{name}.{key}": x for key, x in value.items()} if isinstance(value, dict) else {name: value})
        key = repr(sorted(parameters.items()))
        if key in _mbros_nodes and _mbros_nodes[key].is_of_its_start:
            _mbros_nodes[key].restart()
            return _mbros_nodes[key]
        for other in list(_mbros_nodes):
            _mbros_nodes.pop(other).close()
        _mbros_nodes[key] = RobotNode(parameters)
        return _mbros_nodes[key]

    return make
