"""A controller in a process of its own, in plain rclpy: answers every state on a topic with efforts, stamped as the state is.

python lockstep_controller.py NAMESPACE STATES COMMANDS JOINT KP KD [count|array|silent=NS|log=FILE ...]
silent: no answer to the state of this stamp, ns, however often it is asked.
log: a file of 64-bit words, for each state it saw the stamp, ns, and the bits of the joint's position and velocity.
"""
import array
import signal
import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


def main():
    namespace, states, commands, joint, kp, kd = sys.argv[1:7]
    options = dict(word.partition("=")[::2] for word in sys.argv[7:])
    kp, kd = float(kp), float(kd)
    rclpy.init(args=["--ros-args", "-p", "use_sim_time:=true", "--log-level", "error"], signal_handler_options=SignalHandlerOptions.NO)
    ended = []              # a KeyboardInterrupt in the middle of a message would be another error of rclpy's
    signal.signal(signal.SIGINT, lambda *_: ended.append(True))
    node = rclpy.create_node("controller_" + joint, namespace=namespace)
    as_array = "array" in options
    out = node.create_publisher(Float64MultiArray if as_array else JointState, commands, 10)
    answer = Float64MultiArray() if as_array else JointState(name=[joint], effort=[0.0])
    log = array.array("q")
    at, silent = None, int(options.get("silent", -1))

    def on_state(message):
        nonlocal at
        if at is None:
            at = message.name.index(joint)
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        if "log" in options:
            log.append(stamp)
            log.frombytes(array.array("d", [message.position[at], message.velocity[at]]).tobytes())
        if stamp == silent:
            return
        effort = -kp * message.position[at] - kd * message.velocity[at]
        if as_array:
            answer.data = array.array("d", [effort] * len(message.name))
        else:
            answer.effort = array.array("d", [effort])
            if "count" not in options:
                answer.header.stamp = message.header.stamp
        out.publish(answer)

    node.create_subscription(JointState, states, on_state, QoSProfile(depth=10))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not ended:
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    if "log" in options:
        with open(options["log"], "wb") as file:
            log.tofile(file)


if __name__ == "__main__":
    main()
