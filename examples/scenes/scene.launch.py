"""A scene in one node, and a controller's view of one of its robots.

    ros2 launch examples/scenes/scene.launch.py
    ros2 topic echo /left/joint_states --once
    ros2 topic pub -r 100 /right/joint_commands sensor_msgs/msg/JointState '{name: [joint2], effort: [5.0]}'

(`ros2 launch mbros sim.launch.py scene:=examples/scenes/cell.yaml` does the same without a file.)
"""
from pathlib import Path

from launch_ros.actions import Node

from launch import LaunchDescription

CELL = Path(__file__).with_name("cell.yaml")


def generate_launch_description():
    return LaunchDescription([Node(package="mbros", executable="sim_node", name="mbros", output="screen",
                                   parameters=[{"scene": str(CELL), "rate": 500.0}])])
