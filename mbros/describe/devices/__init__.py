"""Actuators, sensors and channels as users describe them, and the bench that they make."""
from __future__ import annotations
