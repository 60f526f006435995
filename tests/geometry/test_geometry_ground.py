"""Half-spaces and height fields under every solid."""
import numpy as np
import pytest
from geometry_rigs import SOLIDS, about, deepest, outside, pose, poses, shape, support

from mbros_core import geometry
from mbros_core.geometry import contacts, contacts_of_many

GROUND = geometry.half_space()
FLAT = geometry.height_field(np.zeros((9, 7)), (8.0, 6.0))


@pytest.mark.parametrize("kind", SOLIDS)
def test_a_half_space_sees_the_lowest_point(kind):
    rng = np.random.default_rng(2)
    for _ in range(4):
        s = shape(kind, rng)
        A, B = poses(rng, 300, 1.0), poses(rng, 300, 1.0)
        found = contacts_of_many(GROUND, A, s, B, margin=20.0)
        up = A[:, :3, 2]
        low = np.einsum("ni,ni->n", up, B[:, :3, 3] - A[:, :3, 3]) - support(s, -np.einsum("nji,nj->ni", B[:, :3, :3], up))
        depth, normal, point = deepest(found)
        assert np.abs(depth + low).max() < 1e-14 * 30 and np.abs(normal - up).max() == 0.0
        # midway: half the depth above the lowest point, half below the plane
        assert np.abs(np.einsum("ni,ni->n", point - A[:, :3, 3], up) + 0.5 * depth).max() < 1e-13
        rows, k = np.nonzero(np.arange(4) < found.counts[:, None])
        lowest = found.points[rows, k] - 0.5 * found.depths[rows, k, None] * found.normals[rows, k]
        on = outside(s, np.einsum("nji,nj->ni", B[rows, :3, :3], lowest - B[rows, :3, 3]))
        assert on.max() < 1e-12                             # all of them in the solid, not above it


@pytest.mark.parametrize("kind", SOLIDS)
def test_flat_ground_of_triangles_is_a_half_space(kind):
    """Same deepest point and the same forces, where the solid stands inside the grid."""
    rng = np.random.default_rng(4)
    s = shape(kind, rng, 0.3, 0.6)
    n = 300
    B = poses(rng, n, 0.4)
    down = support(s, -B[:, 2, :3])
    B[:, 2, 3] = down - rng.uniform(-0.02, 0.05, n)
    one, other = contacts_of_many(GROUND, np.eye(4), s, B), contacts_of_many(FLAT, np.eye(4), s, B)
    d, D = deepest(one)[0], deepest(other)[0]
    hit = one.counts > 0
    # a cylinder that leans stands on the polygon of its end or on its line: both have its deepest point
    assert np.array_equal(hit, other.counts > 0) and 100 < hit.sum() < n and np.abs(d[hit] - D[hit]).max() < 1e-13
    assert np.abs(deepest(other)[1][hit] - (0, 0, 1)).max() < 1e-14
    if kind in ("sphere", "capsule"):
        assert np.array_equal(one.counts, other.counts)
        assert np.abs(np.sort(one.points[..., 0]) - np.sort(other.points[..., 0]))[one.counts == 1].max() < 1e-12


@pytest.mark.parametrize("kind", SOLIDS)
def test_a_plane_slope_of_triangles_is_a_half_space(kind):
    rng = np.random.default_rng(6)
    s = shape(kind, rng, 0.3, 0.5)
    x, y = np.meshgrid(np.linspace(-4, 4, 21), np.linspace(-4, 4, 17), indexing="ij")
    slope = geometry.height_field(0.3 * x - 0.2 * y, (8.0, 8.0))
    n = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    X = np.eye(4)
    X[:3, :3] = np.column_stack([(e := np.cross((0, 1.0, 0), n)) / np.linalg.norm(e), np.cross(n, e / np.linalg.norm(e)), n])
    B = poses(rng, 200, 0.3)
    B[:, :3, 3] += (support(s, -np.einsum("nji,j->ni", B[:, :3, :3], n)) - rng.uniform(0.0, 0.04, 200) - B[:, :3, 3] @ n)[:, None] * n
    one, other = contacts_of_many(GROUND, X, s, B), contacts_of_many(slope, np.eye(4), s, B)
    d, D = deepest(one)[0], deepest(other)[0]
    assert (one.counts > 0).all() and (other.counts > 0).all()
    # vertical cuts miss what is deepest beyond a side that leans over: of a cylinder's flat end, seen from above
    assert np.abs(d - D).max() < 1e-12 if kind != "cylinder" else np.median(np.abs(d - D)) < 1e-3
    assert np.abs(deepest(other)[1] - n).max() < 1e-12


def test_a_ball_on_rough_ground_touches_where_it_is_nearest():
    """Against the nearest point of all triangles, sampled densely."""
    rng = np.random.default_rng(8)
    h = rng.normal(size=(7, 7)) * 0.25
    field, ball = geometry.height_field(h, (6.0, 6.0)), geometry.sphere(0.4)
    t = np.array([(a, b) for a in np.linspace(0, 1, 30) for b in np.linspace(0, 1, 30) if a + b <= 1])
    cloud = []
    for i in range(6):
        for j in range(6):
            at = {(u, v): np.array([i + u - 3.0, j + v - 3.0, h[i + u, j + v]]) for u in (0, 1) for v in (0, 1)}
            for corner in (at[1, 0], at[0, 1]):
                cloud.append(at[0, 0] + t[:, :1] * (corner - at[0, 0]) + t[:, 1:] * (at[1, 1] - at[0, 0]))
    cloud = np.concatenate(cloud)
    n = 40
    X = np.tile(np.eye(4), (n, 1, 1))
    X[:, :2, 3] = rng.uniform(-2, 2, (n, 2))
    X[:, 2, 3] = 1.0
    for _ in range(15):                                     # down to a distance of 0.35
        distance = np.array([np.linalg.norm(cloud - x, axis=1).min() for x in X[:, :3, 3]])
        X[:, 2, 3] -= 0.7 * (distance - 0.35)
    found = contacts_of_many(field, np.eye(4), ball, X)
    depth, normal, point = deepest(found)
    assert np.abs(depth - (0.4 - distance)).max() < 2e-3    # the samples are 1/30 apart: at most 1/30^2 / 0.8 too far
    centre = point + (0.4 - 0.5 * depth[:, None]) * normal          # radius less half the depth away
    assert np.abs(centre - X[:, :3, 3]).max() < 1e-12
    assert (found.counts > 1).any() and (found.counts <= 4).all()


def test_a_ball_rolls_over_flat_triangles_without_noticing():
    n = 400
    X = np.tile(np.eye(4), (n, 1, 1))
    X[:, 0, 3], X[:, 1, 3], X[:, 2, 3] = np.linspace(-2, 2, n), np.linspace(-1.1, 1.4, n), 0.29
    found = contacts_of_many(FLAT, np.eye(4), geometry.sphere(0.3), X)
    assert (found.counts == 1).all() and np.abs(found.depths[:, 0] - 0.01).max() < 1e-15
    assert np.abs(found.normals[:, 0] - (0, 0, 1)).max() < 1e-15


def test_a_ball_turns_over_a_ridge_and_a_peak():
    """Over the edge between two slopes the normal turns from the one's to the other's, the depth stays."""
    h = np.zeros((3, 3))
    h[1, :] = 1.0
    roof = geometry.height_field(h, (2.0, 4.0))
    top = np.array([0.0, 0.3, 1.0])
    for angle in np.linspace(-0.78, 0.78, 41):
        d = np.array([np.sin(angle), 0.0, np.cos(angle)])
        one = contacts(roof, (0, 0, 0), geometry.sphere(0.2), top + 0.19 * d)
        assert len(one.depths) == 1 and one.depths[0] == pytest.approx(0.01, abs=1e-15) and np.abs(one.normals[0] - d).max() < 1e-14
    h = np.zeros((3, 3))
    h[1, 1] = 1.0
    peak = geometry.height_field(h, (2.0, 2.0))
    for d in ((0, 0, 1.0), (0.3, 0.1, 0.9), (-0.2, 0.4, 0.8)):
        d = np.array(d) / np.linalg.norm(d)
        one = contacts(peak, (0, 0, 0), geometry.sphere(0.2), (0, 0, 1.0) + 0.15 * d)
        assert one.depths[0] == pytest.approx(0.05, abs=1e-15) and np.abs(one.normals[0] - d).max() < 1e-14


def test_a_capsule_lies_across_a_ridge():
    h = np.zeros((3, 3))
    h[1, :] = 0.3
    ridge = geometry.height_field(h, (4.0, 4.0))
    lying = pose(about((0, 1, 0), np.pi / 2), (0.0, 0.2, 0.3 + 0.09))
    found = contacts(ridge, (0, 0, 0), geometry.capsule(0.1, 1.0), lying)
    k = found.depths.argmax()
    assert found.depths[k] == pytest.approx(0.01, abs=1e-14) and np.abs(found.normals[k] - (0, 0, 1)).max() < 1e-14
    assert np.abs(found.points[k] - (0.0, 0.2, 0.295)).max() < 1e-14


def test_a_cylinder_rolls_over_a_ridge_as_a_capsule_does():
    """Its side has for each slope the line that faces it; between those, the ridge."""
    h = np.zeros((3, 3))
    h[1, :] = 0.3
    ridge = geometry.height_field(h, (4.0, 4.0))
    for x in np.linspace(-0.04, 0.04, 21):              # the ridge up to 0.029, beyond it the slopes
        lying = pose(about((1, 0, 0), np.pi / 2), (x, 0.2, 0.3 + 0.195))
        found = contacts(ridge, (0, 0, 0), geometry.cylinder(0.2, 1.0), lying)
        like = contacts(ridge, (0, 0, 0), geometry.capsule(0.2, 1.0), lying)
        assert found.depths.max() == pytest.approx(like.depths.max(), abs=1e-12)
        n = found.normals[found.depths.argmax()]
        assert np.abs(n - like.normals[like.depths.argmax()]).max() < 1e-9
    across = pose(about((0, 1, 0), np.pi / 2), (0.0, 0.2, 0.3 + 0.19))
    found = contacts(ridge, (0, 0, 0), geometry.cylinder(0.2, 1.0), across)
    k = found.depths.argmax()
    assert found.depths[k] == pytest.approx(0.01, abs=1e-14) and np.abs(found.normals[k] - (0, 0, 1)).max() < 1e-14


def test_below_the_surface_the_way_out_is_up_and_off_the_grid_there_is_nothing():
    for s in (geometry.sphere(0.2), geometry.capsule(0.2, 0.1), geometry.box((0.4,) * 3), geometry.cylinder(0.2, 0.4)):
        deep = contacts(FLAT, (0, 0, 0), s, (0.1, 0.2, -1.0))
        low = -1.0 - (0.25 if s.kind == "capsule" else 0.2)
        assert deep.depths.max() == pytest.approx(-low) and np.abs(deep.normals - (0, 0, 1)).max() < 1e-14
        assert len(contacts(FLAT, (0, 0, 0), s, (4.5, 0.0, 0.0)).depths) == 0
        assert len(contacts(FLAT, (0, 0, 0), s, (0.0, 0.0, 1.0)).depths) == 0


def test_a_box_stands_on_a_peak_under_its_face():
    h = np.zeros((5, 5))
    h[2, 2] = 0.5
    peak = geometry.height_field(h, (4.0, 4.0))
    found = contacts(peak, (0, 0, 0), geometry.box((1.0, 1.0, 0.2)), (0.2, 0.1, 0.59))
    # along the slopes' normals the way out is shorter than along z
    assert len(found.depths) and np.abs(found.points[:, :2]).max() < 0.01 and 0.006 < found.depths.max() <= 0.01
