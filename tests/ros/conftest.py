"""Real ROS 2 processes for the tests, in this process's domain (tests/conftest.py): one context for the whole run."""
from __future__ import annotations

import signal
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def executor():
    """The executor of this process, spun by the tests themselves."""
    rclpy = pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    from rclpy.executors import SingleThreadedExecutor

    from mbros.ros.interfaces import InterfaceError, ensure
    try:
        ensure("tf2_msgs")
        ensure("mbros_msgs")
    except InterfaceError as e:
        pytest.skip(f"the message packages cannot be had: {e}")
    if not rclpy.ok():          # a test of the viewer may have begun in this process
        rclpy.init(args=[])
    executor = SingleThreadedExecutor()
    yield executor
    executor.shutdown()
    rclpy.try_shutdown()


@pytest.fixture(scope="session")
def standard(executor):
    """simulation_interfaces, generated where it is not installed."""
    from mbros.ros.interfaces import InterfaceError, ensure
    try:
        return ensure("simulation_interfaces")
    except InterfaceError as e:
        pytest.skip(f"the messages of simulation_interfaces cannot be had: {e}")


class Running:
    """Nodes, each with its client, in the order of their start."""

    def __init__(self, executor, folder, nursery):
        self.executor, self.folder, self.nursery, self.pairs = executor, folder, nursery, []

    def start(self, robot, namespace, *arguments, ready=True, plane="native", **parameters):
        from ros_client import Client, Process

        parameters = {"diagnostics_rate": 10.0, **parameters}
        given = [word for name, value in parameters.items() for word in ("-p", f"{name.replace('__', '.')}:={value}")]
        if not any(word.startswith("/clock:=") for word in arguments):
            arguments = ("-r", "/clock:=clock", *arguments)      # there is one on a graph, and several nodes here
        process = Process(self.folder, robot, "--ros-args", "-r", f"__ns:={namespace}", *given, *arguments, nursery=self.nursery,
                          program=Path(__file__).with_name("python_plane.py") if plane == "python" else None)
        client = Client(self.executor, namespace, process)
        self.pairs.append((client, process))
        if ready:
            client.ready()
        return client

    def end(self, kept):
        """End all but the first ones: asked together, each leaves in order."""
        ending, self.pairs = self.pairs[kept:], self.pairs[:kept]
        for client, _ in ending:
            client.close()
        alive = [process for _, process in ending if process.process.poll() is None]
        try:
            for process in alive:
                process.send(signal.SIGINT)
            for process in alive:
                process.left_in_order()
        finally:
            for _, process in ending:
                process.kill()


@pytest.fixture(scope="session")
def _nursery(executor):
    from nursery import Nursery

    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(scope="module")
def nursery(_nursery):
    """What nodes are forked from; a module whose nodes are to start from nothing has a fixture of this name that returns None."""
    return _nursery


@pytest.fixture(scope="module")
def _running(executor, nursery, tmp_path_factory):
    running = Running(executor, tmp_path_factory.mktemp("nodes"), nursery)
    yield running
    running.end(0)


@pytest.fixture(scope="module")
def simulate(_running):
    """simulate(robot, namespace, **parameters) -> Client of a node that is up. What a test starts is ended after it, what a module's
    fixture starts, after the module. Nodes report their diagnostics ten times a second unless told otherwise: a test that waits for the
    next report waits for a tenth of one."""
    return _running.start


@pytest.fixture(scope="module")
def plugin_nodes_ended(executor, _mbros_nodes):
    """For modules with mbros_node, whose nodes live as long as the session: these share the domain of the tests that follow."""
    yield
    for node in _mbros_nodes.values():
        node.close()
    _mbros_nodes.clear()


@pytest.fixture(autouse=True)
def _ended_after_the_test(request):
    """Comes after the module's fixtures and before those of the test."""
    running = request.getfixturevalue("_running") if "_running" in request.fixturenames else None
    kept = len(running.pairs) if running else 0
    yield
    if running:
        running.end(kept)
