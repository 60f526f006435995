"""Joints of a model: who they are, what a state says of them, their mobilizer."""
