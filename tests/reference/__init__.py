"""The textbook in plain Python: rigid-body dynamics written to be read, and to be the oracle of the engine.

It is deliberately another formulation than the engine's. Here every spatial vector of a body B is expressed in B's own
axes about its own origin, motions are Featherstone's spatial velocities and accelerations, and transforms are 6x6
matrices, as in

    R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008 ("RBDA" below; tables and equations are cited).

The engine (`mbros_core`) works in world axes with plain accelerations. What both say is true twice.

Scalars are duck-typed: floats, complex numbers (for complex-step derivatives), fractions, SymPy expressions, or
any class with `+ - * /` and methods `sin`, `cos`, `sqrt` (for force elements `exp`, `tanh` and `atan2` too). Nothing here
is fast and nothing needs to be.

    tree = Tree(spec)                          # a mbros_core.spec.ModelSpec
    tau = rnea(tree, q, v, vdot)
    M = crba(tree, q)
    vdot = forward_dynamics(tree, q, v, tau)
    tau = rnea(tree, q, v, vdot) - element_forces(tree, q, v)      # with the spec's force elements
"""
from .aba import aba, forward_dynamics
from .crba import crba
from .elements import element_energy, element_forces, element_wrench
from .energy import (
                     center_of_mass,
                     center_of_mass_jacobian,
                     centroidal_momentum,
                     centroidal_momentum_matrix,
                     kinetic_energy,
                     potential_energy,
                     total_mass,
)
from .joints import KINDS
from .kinematics import frame_acceleration, frame_jacobian, frame_pose, frame_velocity, poses, qdot_from_velocity, spatial_velocities
from .rnea import bias_torques, coriolis_torques, gravity_torques, rnea
from .tree import Tree

__all__ = [
    "KINDS", "Tree", "aba", "bias_torques", "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum",
    "centroidal_momentum_matrix", "coriolis_torques", "crba", "element_energy", "element_forces", "element_wrench",
    "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_pose", "frame_velocity", "gravity_torques", "kinetic_energy",
    "poses", "potential_energy", "qdot_from_velocity", "rnea", "spatial_velocities", "total_mass",
]
