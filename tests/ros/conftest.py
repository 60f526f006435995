"""Real ROS 2 processes for the tests: a private domain, this machine only, one context for the whole run."""
from __future__ import annotations

import os

import pytest

# Before anything imports rclpy. Every process a test starts inherits it, so that no other robot is ever met.
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


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
