"""How long other services wait while one of them is asked for something large or hostile: python -m benchmarks.service_waits [--root DIR].

For each request a node simulates a scene in a process of its own; while the request is under way another client asks for a parameter and
for the simulation's state, one after the other, and listens to /diagnostics. Longest wait of each, s. --root: another checkout to measure.
"""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 20.0         # s that a request may take here
SCENE = "robots:\n  left: {robot: arm7, p: [0, 3, 0], bench: arm7_servo}\n"
INERTIAL = ('<inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>')
LIMIT = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="10"/>'


def chain(n: int) -> str:
    links = "".join(f'<link name="l{k}">{INERTIAL}</link>' for k in range(n))
    joints = "".join(f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>{LIMIT}</joint>'
                     for k in range(n - 1))
    return f'<robot name="chain">{links}{joints}</robot>'


def boxes(n: int) -> str:
    shapes = "".join(f'<collision><origin xyz="{k} 0 5"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>' for k in range(n))
    return f'<robot name="boxes"><link name="b">{INERTIAL}{shapes}</link></robot>'


class Node:
    """A node in a process of its own, and clients in this one."""

    def __init__(self, root: Path, folder: Path):
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.executors import SingleThreadedExecutor

        (folder / "scene.yaml").write_text(SCENE)
        given = {"scene": folder / "scene.yaml", "folder": folder, "diagnostics_rate": 10.0}
        words = [word for name, value in given.items() for word in ("-p", f"{name}:={value}")]
        self.log = (folder / "log.txt").open("w")
        self.process = subprocess.Popen([sys.executable, "-m", "mbros.ros", "--ros-args", *words], cwd=root, stdout=self.log,
                                        stderr=self.log, env={**os.environ, "PYTHONPATH": str(root)})
        self.node, self.executor = rclpy.create_node("waits"), SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.heard: list[float] = []
        self.late = 0
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)
        self.clients: dict[str, object] = {}

    def _hear(self, message) -> None:
        self.heard.append(time.monotonic())
        for status in message.status:
            if status.name.endswith("real time"):
                self.late = sum(int(v.value) for v in status.values if v.key in ("overruns", "missed"))

    def ask(self, kind, name: str, request):
        client = self.clients.get(name)
        if client is None:
            client = self.clients[name] = self.node.create_client(kind, f"/mbros/{name}")
            end = time.monotonic() + 30.0
            while not client.service_is_ready() and time.monotonic() < end:
                self.executor.spin_once(timeout_sec=0.02)
        return client.call_async(request)

    def wait(self, future, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not future.done() and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)
        return bool(future.done())

    def end(self) -> int:
        """The most memory that it had, MB."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            peak = int(next(line for line in status if "VmHWM" in line).split()[1])
        except (OSError, StopIteration):
            peak = 0
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.node.destroy_node()
        self.executor.shutdown()
        self.log.close()
        return peak // 1024


def requests(folder: Path) -> dict[str, tuple]:
    """{what it is: (type, service, request)}; of topics (type, topic, message)."""
    from mbros_msgs.srv import RestoreState, Step
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import GetParameters, SetParameters
    from simulation_interfaces.msg import EntityFilters, Resource
    from simulation_interfaces.srv import GetEntities, SpawnEntity
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    def spawn(text: str, name: str = "x") -> tuple:
        request = SpawnEntity.Request(name=name, entity_resource=Resource(resource_string=text))
        request.initial_pose.pose.position.x = 9.0
        return SpawnEntity, "spawn_entity", request

    def number(name: str) -> Parameter:
        return Parameter(name=name, value=ParameterValue(type=3, double_value=1.0))

    points = [JointTrajectoryPoint(positions=[0.1] * 7) for _ in range(100_000)]
    return {
        "nothing (get_parameters)": (GetParameters, "get_parameters", GetParameters.Request(names=["rate"])),
        "spawn: a chain of 300 links": spawn(chain(300)),
        "spawn: a chain of 1,000 links": spawn(chain(1000)),
        "spawn: a chain of 3,000 links": spawn(chain(3000)),
        "spawn: 2,000 boxes on a link": spawn(boxes(2000)),
        "spawn: '<!--' * 50,000": spawn("<!--" * 50_000),
        "filter (((..|..)+)+)+!": (GetEntities, "get_entities", GetEntities.Request(filters=EntityFilters(
            filter="((([a-z0-9_/]|[a-z0-9_/])+)+)+!"))),
        "restore_state: a FIFO": (RestoreState, "restore_state", RestoreState.Request(file="pipe.mbros")),
        "restore_state: 16 MB": (RestoreState, "restore_state", RestoreState.Request(data=bytes(16_000_000))),
        "set_parameters: 30,000 names": (SetParameters, "set_parameters", SetParameters.Request(
            parameters=[number(f"damping.left/joint{k}") for k in range(30_000)])),
        "set_parameters: 100 numbers": (SetParameters, "set_parameters", SetParameters.Request(
            parameters=[number("damping.left/joint2")] * 100)),
        "get_parameters: 100,000 names": (GetParameters, "get_parameters", GetParameters.Request(names=["rate"] * 100_000)),
        "step: 100,000 steps": (Step, "step", Step.Request(steps=100_000)),
        "joint_trajectory: 100,000 points": (JointTrajectory, "left/joint_trajectory", JointTrajectory(
            joint_names=[f"joint{k}" for k in range(1, 8)], points=points)),
    }


def measured(root: Path, what: str, kind, name: str, request) -> str:
    from rcl_interfaces.srv import GetParameters
    from simulation_interfaces.srv import GetSimulationState

    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(Path(folder) / "pipe.mbros")
        node = Node(root, Path(folder))
        asks = {"parameter": (GetParameters, "get_parameters", GetParameters.Request(names=["tf_rate"])),
                "state": (GetSimulationState, "get_simulation_state", GetSimulationState.Request())}
        for row in asks.values():
            node.wait(node.ask(*row), 30.0)
        if name == "step":
            from std_srvs.srv import SetBool

            node.wait(node.ask(SetBool, "pause", SetBool.Request(data=True)), 10.0)
        is_topic = not hasattr(kind, "Request")
        if is_topic:
            publisher = node.node.create_publisher(kind, f"/{name}", 10)
        else:
            client = node.node.create_client(kind, f"/mbros/{name}")
            ready = time.monotonic() + 10.0
            while not client.service_is_ready() and time.monotonic() < ready:
                node.executor.spin_once(timeout_sec=0.02)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            node.executor.spin_once(timeout_sec=0.02)
        late, node.heard = node.late, [time.monotonic()]
        begun, longest = time.monotonic(), dict.fromkeys(asks, 0.0)
        if is_topic:
            publisher.publish(request)
        else:
            asked = client.call_async(request)
        sent = time.monotonic()
        answered, waiting = None, {}
        while time.monotonic() - begun < MOST and (answered is None or time.monotonic() - begun < 1.0):
            for key, row in asks.items():
                if key not in waiting or waiting[key][0].done():
                    waiting[key] = node.ask(*row), time.monotonic()
                longest[key] = max(longest[key], time.monotonic() - max(waiting[key][1], sent))
            node.executor.spin_once(timeout_sec=0.005)
            if answered is None and (is_topic or asked.done()):
                answered = time.monotonic() - begun
        gaps = [b - a for a, b in zip(node.heard, [*node.heard[1:], time.monotonic()])]
        said = "" if is_topic or not asked.done() else _said(asked.result())
        took = f"{answered:.2f}" if answered is not None else f"> {MOST:.0f}"
        waits = [f"{x:.2f}" if x < MOST - 1 else f"> {MOST:.0f}" for x in (*longest.values(), max(gaps))]
        row = [took, *waits, str(node.late - late)]
        return f"| {what} | {' | '.join(row)} | {node.end()} | {said} |"


def _said(response) -> str:
    text = getattr(response, "message", "") or getattr(getattr(response, "result", None), "error_message", "")
    results = getattr(response, "results", None)
    return (text or (results[0].reason if results else "")).replace("\n", " ")[:70]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service_waits", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--only", default="", help="rows that have this in their name")
    options = parser.parse_args()
    import rclpy

    from mbros.ros.interfaces import ensure

    for package in ("tf2_msgs", "mbros_msgs", "simulation_interfaces"):
        ensure(package)
    rclpy.init()
    print("| while it is asked for | answered after (s) | parameter waits (s) | state waits (s) | diagnostics (s) | late slots | MB "
          "| answer |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for what, row in requests(ROOT).items():
        if options.only in what:
            print(measured(options.root.resolve(), what, *row), flush=True)
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
