"""The same controller as hold.py in a process of its own, on ROS 2: an answer on joint_commands to every joint_states, with its stamp."""
import mbros
import numpy as np
import rclpy
from hold import Hold
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node("hold")
law = Hold(mbros.load("arm7"))
commands = node.create_publisher(JointState, "joint_commands", 10)


def answer(state):
    q, v = np.array(state.position), np.array(state.velocity)
    command = JointState(name=law.names)
    command.header.stamp = state.header.stamp                   # which state this is the answer to
    if not (np.isnan(q).any() or np.isnan(v).any()):
        command.effort = list(law.efforts(q, v))
    commands.publish(command)


node.create_subscription(JointState, "joint_states", answer, 10)
rclpy.spin(node)
