"""A node is recorded beside a controller: steps that were lost, memory over time, and a replay of it all.

    python -m benchmarks.recording [--seconds 600] [--robot arm7] [--bench servo] [--no-replay]

The node runs at 1 kHz in a process of its own and records every signal; this process answers each of its states with efforts, as a
controller does. Written: steps recorded and left out, states that were answered, resident memory of the
node over time (MB), the size of the file, and what the replay says.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOKS = 12          # at the memory


def resident(pid: int) -> float:
    """MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def called(executor, client, request):
    if not client.wait_for_service(60.0):
        raise SystemExit(f"{client.srv_name} did not appear within 60 s")
    future = client.call_async(request)
    executor.spin_until_future_complete(future, timeout_sec=60.0)
    if future.result() is None or not future.result().success:
        raise SystemExit(f"{client.srv_name}: {future.result()}")
    return future.result()


def main() -> None:
    import rclpy
    from mbros_msgs.srv import Record
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState

    import mbros

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--robot", default="arm7")
    parser.add_argument("--bench", default="none")
    parser.add_argument("--no-replay", action="store_true")
    arguments = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.executable, "-m", "mbros.cli", "node", arguments.robot, "--ros-args", "-p", f"folder:={folder}",
                                    "-p", f"bench:={arguments.bench}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rclpy.init()
        node, executor = rclpy.create_node("controller"), SingleThreadedExecutor()
        executor.add_node(node)
        commands, answered = node.create_publisher(JointState, "joint_commands", 10), []

        def control(state: JointState) -> None:
            commands.publish(JointState(name=state.name, effort=[-0.5 * v for v in state.velocity]))
            answered.append(0)

        try:
            node.create_subscription(JointState, "joint_states", control, 10)
            record = node.create_client(Record, "/mbros/record")
            called(executor, record, Record.Request(record=True, file="run.mcap"))
            begun, memory = time.monotonic(), []
            while (spent := time.monotonic() - begun) < arguments.seconds:
                if spent >= len(memory) * arguments.seconds / LOOKS:
                    memory.append(resident(process.pid))
                executor.spin_once(timeout_sec=0.1)
            memory.append(resident(process.pid))
            print(called(executor, record, Record.Request(record=False)).message)
        finally:
            process.terminate()
            process.wait()
            node.destroy_node()
            rclpy.shutdown()
        file = Path(folder) / "run.mcap"
        print(f"{len(answered)} states were answered with commands; the file has {file.stat().st_size / 1e6:.1f} MB")
        print(f"resident memory of the node, MB: {' '.join(f'{x:.1f}' for x in memory)}")
        if not arguments.no_replay:
            print(mbros.replay(file))


if __name__ == "__main__":
    main()
