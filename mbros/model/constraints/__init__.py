"""Constraints of a built model."""
