"""The demonstration: a robot on ROS 2 and a controller that commands torques from another process.

    motion       poses and the smooth way between them, within the robot's own limits
    law          efforts from the model: gravity, Coriolis, mass-scaled PD
    controller   the controller as a ROS 2 node: `python -m mbros.cli.demonstration.controller arm7`
    parent       starts both processes, watches them over ROS, shows the table
"""
from __future__ import annotations
