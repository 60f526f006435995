"""Real ROS 2 processes for the tests, in this process's domain (tests/conftest.py): one context for the whole run."""
from __future__ import annotations

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
    rclpy.init(args=[])
    executor = SingleThreadedExecutor()
    yield executor
    executor.shutdown()
    rclpy.try_shutdown()


@pytest.fixture(scope="module")
def simulate(executor, tmp_path_factory):
    """simulate(robot, namespace, **parameters) -> (Client, Process) of a node that is up; all are ended after the module."""
    from ros_client import Client, Process

    folder, running = tmp_path_factory.mktemp("nodes"), []

    def start(robot, namespace, *arguments, **parameters):
        given = [word for name, value in parameters.items() for word in ("-p", f"{name.replace('__', '.')}:={value}")]
        process = Process(folder, robot, "--ros-args", "-r", f"__ns:={namespace}", *given, *arguments)
        client = Client(executor, namespace, process)
        running.append((client, process))
        client.ready()
        return client

    yield start
    for client, _ in running:
        client.close()
    try:
        for _, process in running:
            if process.process.poll() is None:
                process.end()
    finally:
        for _, process in running:
            process.kill()
