"""Constraints as users describe them: what closes a loop of the tree, or couples coordinates."""
