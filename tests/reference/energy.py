"""Energies, centre of mass and momentum of a whole tree (RBDA sections 2.12, 2.13; Orin and Goswami 2008 for the centroidal)."""
import numpy as np

from .kinematics import body_jacobians, poses, spatial_velocities
from .scalars import zeros
from .spatial import motion_transform


def kinetic_energy(tree, q, v):
    """Sum of V^T I V / 2 over the bodies, and the rotors; J."""
    V = spatial_velocities(tree, q, v)
    bodies = sum((V[i] @ tree.inertia[i] @ V[i] for i in tree.parents_first()), 0)
    return (bodies + np.sum(tree.rotor_inertia * v * v)) / 2


def potential_energy(tree, q):
    """- sum m g . c of gravity, zero when the centre of mass is at the world's origin; J."""
    return -total_mass(tree) * (tree.gravity @ center_of_mass(tree, q))


def total_mass(tree):
    """Mass of everything that can move (bodies welded to the world do not count); kg."""
    return sum((tree.inertia[i][5, 5] for i in tree.moving), 0)


def center_of_mass(tree, q):
    """p_WoScm_W (3,) of everything that can move, m."""
    X_WB = poses(tree, q)
    moment = zeros(3)
    for i in tree.moving:
        R, p = X_WB[i]
        m, h = tree.inertia[i][5, 5], _first_moment(tree.inertia[i])
        moment = moment + m * p + R @ h
    return moment / total_mass(tree)


def _first_moment(I):
    """h = m c from the 6x6 inertia."""
    return np.array([I[2, 4], I[0, 5], I[1, 3]])


def centroidal_momentum_matrix(tree, q):
    """A_G (6, nv): [angular; linear] momentum about the centre of mass, in world axes, is A_G v."""
    X_WB, J, c = poses(tree, q), body_jacobians(tree, q), center_of_mass(tree, q)
    A = zeros(6, tree.nv)
    for i in tree.moving:
        # a force goes from B to G with the transpose of ^B X_G = (^G X_B)^-1
        R, p = X_WB[i]
        X_GB = (R, p - c)
        A = A + motion_transform(X_GB).T @ tree.inertia[i] @ J[i]
    return A


def centroidal_momentum(tree, q, v):
    """[angular momentum about the centre of mass; linear momentum], world axes; kg m^2/s, kg m/s."""
    return centroidal_momentum_matrix(tree, q) @ v


def center_of_mass_jacobian(tree, q):
    """J (3, nv) with J v the velocity of the centre of mass: the linear momentum divided by the mass."""
    return centroidal_momentum_matrix(tree, q)[3:] / total_mass(tree)
