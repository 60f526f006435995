"""Round trips of ~/step, one step with a command each, beside those of rclpy services that do nothing, in turns: one without a content, and
one with the messages of ~/step.

    python -m benchmarks.exact_steps [--calls 2000] [--robot arm7]

A node in a process of its own; this process calls it, and a bare node in a third process. Written: median and 99th percentile, ms, their
ratio, and how many of the commands were in their step.
"""
import argparse
import os
import subprocess
import sys
import time

import numpy as np

BARE = """
import rclpy
from array import array
from mbros_msgs.srv import Step
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("bare")
node.create_service(Trigger, "/bare/nothing", lambda request, response: response)
zeros = array("d", bytes(56))
full = Step.Response(joint_state=JointState(name=[f"joint{k}" for k in range(7)], position=zeros, velocity=zeros, effort=zeros))
node.create_service(Step, "/bare/full", lambda request, response: full)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


def round_trip(executor, client, request) -> tuple[float, object]:
    begun = time.perf_counter()
    future = client.call_async(request)
    executor.spin_until_future_complete(future, timeout_sec=10.0)
    return 1e3 * (time.perf_counter() - begun), future.result()


def main() -> None:
    import rclpy
    from mbros_msgs.srv import Step
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--robot", default="arm7")
    arguments = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    node_command = [sys.executable, "-m", "mbros.cli", "node", arguments.robot, "--ros-args", "-p", "start_paused:=true"]
    processes = [subprocess.Popen(node_command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
                 subprocess.Popen([sys.executable, "-c", BARE])]
    rclpy.init()
    node = rclpy.create_node("caller")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        step, full, bare = (node.create_client(*of) for of in ((Step, "/mbros/step"), (Step, "/bare/full"), (Trigger, "/bare/nothing")))
        for client in (step, full, bare):
            if not client.wait_for_service(60.0):
                raise SystemExit(f"{client.srv_name} did not appear within 60 s")
        joint = round_trip(executor, step, Step.Request(steps=1))[1].joint_state.name[0]
        stepped, filled, nothing, right = [], [], [], 0
        for k in range(arguments.calls):
            nothing.append(round_trip(executor, bare, Trigger.Request())[0])
            effort = float(k % 7) - 3.0
            request = Step.Request(steps=1, command=JointState(name=[joint], effort=[effort]))
            filled.append(round_trip(executor, full, request)[0])
            spent, answer = round_trip(executor, step, request)
            stepped.append(spent)
            right += answer.step == k + 2 and answer.joint_state.effort[0] == effort
    finally:
        processes[0].terminate()
        processes[1].kill()                 # rclpy's own end on a signal may hang
        for process in processes:
            process.wait()
        node.destroy_node()
        rclpy.shutdown()
    for name, times in (("~/step", stepped), ("a bare service with its messages", filled), ("a bare service", nothing)):
        print(f"{name:33} p50 {np.median(times):6.3f} ms   p99 {np.percentile(times, 99):6.3f} ms")
    print(f"ratio of the medians {np.median(stepped) / np.median(nothing):.2f}; {right} of {arguments.calls} commands were in their step")


if __name__ == "__main__":
    main()
