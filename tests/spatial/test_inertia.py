"""Inertias: primitives against numerical integration, the two theorems, and the messages about impossible ones."""
import numpy as np
import pytest

from mbros.spatial import inertia
from mbros.spatial.placement import rotation_from_rpy


def by_points(inside, box, n=80):
    """Inertia about the origin, per unit mass, of the part of a box where `inside` holds: a sum over a fine grid."""
    axes = [(np.arange(n) + 0.5) / n * 2 * b - b for b in box]
    x, y, z = (g.ravel() for g in np.meshgrid(*axes, indexing="ij"))
    keep = inside(x, y, z)
    p = np.stack([x[keep], y[keep], z[keep]], 1)
    return (np.sum(p**2, 1)[:, None, None] * np.eye(3) - p[:, :, None] * p[:, None, :]).mean(0)


@pytest.mark.parametrize("tensor, inside, box", [
    (inertia.solid_box(1.0, (0.4, 0.6, 1.0)), lambda x, y, z: x == x, (0.2, 0.3, 0.5)),
    (inertia.solid_sphere(1.0, 0.5), lambda x, y, z: x**2 + y**2 + z**2 < 0.25, (0.5, 0.5, 0.5)),
    (inertia.solid_ellipsoid(1.0, (0.2, 0.3, 0.5)), lambda x, y, z: (x / 0.2)**2 + (y / 0.3)**2 + (z / 0.5)**2 < 1, (0.2, 0.3, 0.5)),
    (inertia.solid_cylinder(1.0, 0.3, 1.0), lambda x, y, z: x**2 + y**2 < 0.09, (0.3, 0.3, 0.5)),
    (inertia.solid_capsule(1.0, 0.3, 0.8), lambda x, y, z: x**2 + y**2 + np.maximum(abs(z) - 0.4, 0)**2 < 0.09, (0.3, 0.3, 0.7)),
])
def test_solids_equal_their_integral(tensor, inside, box):
    assert np.abs(tensor - by_points(inside, box)).max() < 3e-3 * tensor.max()
    assert inertia.why_impossible(1.0, np.zeros(3), tensor) is None


def test_shells_and_rods():
    # a shell is the derivative of solid balls: (d/dr r^5 2/5) / (d/dr r^3)
    assert inertia.hollow_sphere(3.0, 0.5)[0, 0] == pytest.approx(3.0 * (2.0 / 5.0 * 5 / 3) * 0.25, rel=1e-15)
    assert np.allclose(inertia.thin_rod(2.0, 3.0), inertia.solid_cylinder(2.0, 0.0, 3.0), rtol=1e-15)
    assert inertia.why_impossible(2.0, np.zeros(3), inertia.thin_rod(2.0, 3.0)) is None


def test_box_from_eight_boxes():
    """Composition and the parallel-axis theorem: a box is its eight octants."""
    whole, size = 4.0, np.array([0.2, 0.6, 1.0])
    parts = [(whole / 8, size / 4 * s, inertia.solid_box(whole / 8, size / 2))
             for s in np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T]
    mass, com, tensor = inertia.compose(parts)
    assert mass == pytest.approx(whole, rel=1e-15)
    assert np.abs(com).max() < 1e-16
    assert np.allclose(tensor, inertia.solid_box(whole, size), rtol=1e-14, atol=1e-16)


def test_about_point_and_rotate_by_definition():
    """Both against point masses, whose inertia is sum m (d^2 1 - d d^T)."""
    rng = np.random.default_rng(1)
    m, p = rng.uniform(0.1, 1, 9), rng.normal(size=(9, 3))
    com = m @ p / m.sum()

    def about(o, points):
        return sum(mi * ((r - o) @ (r - o) * np.eye(3) - np.outer(r - o, r - o)) for mi, r in zip(m, points))

    central, o = about(com, p), rng.normal(size=3)
    assert np.allclose(inertia.about_point(m.sum(), com, central, o), about(o, p), rtol=1e-13)
    R = rotation_from_rpy((0.3, -1.2, 2.0))
    assert np.allclose(inertia.rotate(central, R), about(R @ com, p @ R.T), rtol=1e-13)
    assert inertia.compose([(0.0, com, np.zeros((3, 3)))])[0] == 0.0


@pytest.mark.parametrize("mass, tensor, words", [
    (-1.0, np.eye(3), ["mass is -1 kg", "cannot be negative"]),
    (0.0, np.eye(3), ["mass is 0", "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"]),
    (1.0, np.diag([1.0, 2.0, 3.5]), ["[[1, 0, 0], [0, 2, 0], [0, 0, 3.5]]", "principal moments 1, 2, 3.5", "3.5 > 1 + 2", "triangle"]),
    (1.0, np.diag([-0.1, 2.0, 2.0]), ["principal moments -0.1, 2, 2", "-0.1 is negative"]),
    (1.0, [[1, 2, 0], [2, 1, 0], [0, 0, 1]], ["[[1, 2, 0], [2, 1, 0], [0, 0, 1]]", "principal moments -1, 1, 3", "-1 is negative"]),
    (1.0, [[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]], ["not symmetric", "0.2"]),
    (np.nan, np.eye(3), ["not all finite"]),
    (1.0, np.diag([np.inf, 1, 1]), ["not all finite"]),
])
def test_message_prints_tensor_moments_and_rule(mass, tensor, words):
    message = inertia.why_impossible(mass, np.zeros(3), np.array(tensor, float))
    assert all(word in message for word in words), message


def test_edges_are_accepted():
    """Flat plates and rods sit on the edge of the triangle inequality; printing with three digits may cross it."""
    plate = np.diag([1.0, 2.0, 3.0])
    R = rotation_from_rpy((0.4, 1.0, -2.0))
    assert inertia.why_impossible(1.0, np.zeros(3), plate) is None
    assert inertia.why_impossible(1.0, np.zeros(3), inertia.rotate(plate, R)) is None
    assert inertia.why_impossible(1.0, np.zeros(3), np.diag([0.333, 0.666, 0.9999])) is None
    assert inertia.why_impossible(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0 + 3.1e-3])) is not None
    assert inertia.why_impossible(1e-300, np.zeros(3), np.eye(3) * 1e-302) is None
    assert inertia.why_impossible(1.0, np.zeros(3), np.diag([0.0, 0.0, 2e-35])) is None
