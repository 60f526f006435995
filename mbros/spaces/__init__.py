"""Configuration spaces as objects: R^n, SO(2), SO(3), SE(2), SE(3), charts by roll-pitch-yaw, and products of them.

    space = mbros.spaces.SO3()                          # Pinocchio's increments, in the moving frame
    space = mbros.spaces.SO3(increments="parent")       # hpp-model's, in the fixed one
    space = mbros.spaces.Rn(3) * mbros.spaces.SO3()
    space = model.joint("elbow").space;  space = model.space();  space = model.space("hpp")

All operations and what the two families mean: `Space`.
"""
from __future__ import annotations

from mbros.spaces.base import FAMILIES, Element, Space
from mbros.spaces.models import ModelSpace, joint_space, model_space
from mbros.spaces.products import Product
from mbros.spaces.rigid import SE2, SE3
from mbros.spaces.rn import Rn
from mbros.spaces.rpy import SE3RollPitchYaw, SO3RollPitchYaw
from mbros.spaces.so2 import SO2
from mbros.spaces.so3 import SO3

__all__ = ["Element", "FAMILIES", "ModelSpace", "Product", "Rn", "SE2", "SE3", "SE3RollPitchYaw", "SO2", "SO3",
           "SO3RollPitchYaw", "Space", "joint_space", "model_space"]
