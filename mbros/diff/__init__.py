"""Exact derivatives: of everything the engine computes (algorithms), of motion as a linear system (linear), of single joints (joints,
custom_joints), inverse dynamics as a matrix over inertial parameters (regressor), and its second derivatives (second_derivatives). What
optimal control puts together from them: rates of Jacobians and momentum (rates), operational space (operational_space), motion with given
contacts (contact_dynamics), and what is driven (actuation)."""
from mbros.diff.actuation import actuated, transmission
from mbros.diff.algorithms import Derivatives, derivatives, forward_dynamics, inverse_dynamics
from mbros.diff.contact_dynamics import (ContactMotion, RigidContact, contact_dynamics, contact_dynamics_derivatives, contact_impulse,
                                         contact_impulse_derivatives)
from mbros.diff.linear import linearize, linearize_step
from mbros.diff.operational_space import OperationalSpace, operational_space
from mbros.diff.rates import centroidal_map, jacobian_rate
from mbros.diff.regressor import regressor, regressor_names, regressor_parameters
from mbros.diff.second_derivatives import SecondDerivatives, inverse_dynamics_second_derivatives

__all__ = ["ContactMotion", "Derivatives", "OperationalSpace", "RigidContact", "SecondDerivatives", "actuated", "centroidal_map",
           "contact_dynamics", "contact_dynamics_derivatives", "contact_impulse", "contact_impulse_derivatives", "derivatives",
           "forward_dynamics", "inverse_dynamics", "inverse_dynamics_second_derivatives", "jacobian_rate", "linearize", "linearize_step",
           "operational_space", "regressor", "regressor_names", "regressor_parameters", "transmission"]
