"""Scenes: several robots and objects in one world, as one model (docs/scenes.md)."""
