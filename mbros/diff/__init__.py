"""Exact derivatives: of everything the engine computes (algorithms), of motion as a linear system (linear), of single joints (joints,
custom_joints)."""
from mbros.diff.algorithms import Derivatives, derivatives, forward_dynamics, inverse_dynamics
from mbros.diff.linear import linearize, linearize_step

__all__ = ["Derivatives", "derivatives", "forward_dynamics", "inverse_dynamics", "linearize", "linearize_step"]
