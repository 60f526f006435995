"""Two robots by one launch file, an arm on the left and a SCARA on the right, each in a namespace with TF frames of its own.

    ros2 launch examples/09_two_robots.launch.py
    ros2 topic pub -r 100 /left/joint_commands sensor_msgs/msg/JointState '{name: [joint2], effort: [5.0]}'

(`ros2 launch mbros sim.launch.py namespace:=left,right robot:=arm6,scara` does the same without a file.)
"""
from launch_ros.actions import Node

from launch import LaunchDescription

ROBOTS = {"left": "arm6", "right": "scara"}


def simulator(namespace, robot):
    """The node of one robot: topics /<namespace>/joint_states, joint_commands, ..., frames <namespace>/<link>."""
    return Node(package="mbros", executable="sim_node", name="mbros", namespace=namespace, output="screen",
                parameters=[{"robot": robot, "rate": 500.0, "frame_prefix": f"{namespace}/"}])


def generate_launch_description():
    return LaunchDescription([simulator(namespace, robot) for namespace, robot in ROBOTS.items()])


# Output of `ros2 topic list` beside it:
# /diagnostics
# /left/effort_commands
# /left/joint_commands
# /left/joint_states
# /left/robot_description
# /parameter_events
# /right/effort_commands
# /right/joint_commands
# /right/joint_states
# /right/robot_description
# /rosout
# /tf
# /tf_static
