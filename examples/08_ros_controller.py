"""A ROS 2 controller: joint states in, torques out, with mbros' own model for the dynamics. In two terminals:

    mbros node arm6 --rate 500
    python examples/08_ros_controller.py

The controller would drive a real robot with the same topics and the same URDF.
"""
import sys

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState

import mbros

GOAL = np.array([0.5, -0.3, 0.8, 0.2, 0.6, -0.4])       # rad
CLOSE = 2e-3                                            # rad, rad/s


class Controller(Node):
    """Computed torque: tau = ID(q, v, Kp (goal - q) - Kd v), for every state that comes in."""

    def __init__(self):
        super().__init__("controller")
        self.model = mbros.load("arm6")
        self.state = self.model.default_state()
        self.arrived: Future[None] = Future()
        self.commands = self.create_publisher(JointState, "joint_commands", qos_profile_sensor_data)
        self.create_subscription(JointState, "joint_states", self.control, qos_profile_sensor_data)

    def control(self, message):
        order = [message.name.index(name) for name in self.model.joint_state_names]     # the robot's order is its own
        self.state.q[:] = np.array(message.position)[order]
        self.state.v[:] = np.array(message.velocity)[order]
        error = GOAL - self.state.q
        tau = self.model.inverse_dynamics(self.state, 25.0 * error - 10.0 * self.state.v)
        self.commands.publish(JointState(name=list(self.model.joint_state_names), effort=tau.tolist()))
        if max(np.abs(error).max(), np.abs(self.state.v).max()) < CLOSE and not self.arrived.done():
            self.arrived.set_result(message.position)


rclpy.init()
node = Controller()
rclpy.spin_until_future_complete(node, node.arrived, timeout_sec=30.0)
if not node.arrived.done():
    sys.exit("no robot came to the goal within 30 s: is `mbros node arm6` running, with the same ROS_DOMAIN_ID?")
print("arrived at", np.round(node.state.q, 2), "rad")
print("held there by", np.round(node.model.gravity_torques(node.state), 1) + 0.0, "N m")
rclpy.shutdown()

# Output:
# arrived at [ 0.5 -0.3  0.8  0.2  0.6 -0.4] rad
# held there by [  0.    1.7 -13.5   0.   -0.1   0. ] N m
