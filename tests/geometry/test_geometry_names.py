"""Names of contact points: of the shapes' own vertices and edges, whichever faces these were found on (mbros_core/geometry/names.pxd)."""
import numpy as np
import pytest
from geometry_rigs import PAIRS, SOLIDS, about, pose, poses, reach, shape

from mbros_core import geometry
from mbros_core.geometry import contacts, contacts_of_many
from mbros_core.geometry.hull import convex_hull, packed_faces, tables

SIDE = 20                       # bits of the second shape's part
CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
FLAT = geometry.height_field(np.zeros((9, 9)), (1.6, 1.6))


def rough(rng):
    return geometry.height_field(0.15 * rng.normal(size=(12, 12)), (2.2, 2.2))


def swapped(names):
    return names >> SIDE | (names & (1 << SIDE) - 1) << SIDE


@pytest.mark.parametrize("a, b", [*PAIRS, *(("height_field", kind) for kind in SOLIDS), *(("half_space", kind) for kind in SOLIDS)])
def test_no_two_points_of_a_pair_share_a_name(rng, a, b):
    """Deep, touching, and apart within a margin; in order, and exact as doubles."""
    several = 0
    for _ in range(5):
        sb = shape(b, rng)
        sa = rough(rng) if a == "height_field" else geometry.half_space() if a == "half_space" else shape(a, rng)
        A, B = (pose(), poses(rng, 200, 0.2)) if a in ("height_field", "half_space") else (poses(rng, 200, 0.3), poses(rng, 200, 0.3))
        found = contacts_of_many(sa, A, sb, B, 0.3 * reach(sb))
        inside = np.arange(1, 4) < found.counts[:, None]
        assert (np.diff(found.features, axis=1)[inside] > 0).all() and (found.features < 2**52).all()
        several += (found.counts > 1).sum()
    assert several > 20 or "sphere" in (a, b) or a == b == "capsule"


def test_a_box_corner_over_a_grid_point_has_a_name_for_each_triangle():
    """Of a roof: the corner touches triangles with different normals at one place."""
    roof = geometry.height_field(-0.5 * np.abs(np.arange(5.0) - 2)[:, None] * np.ones(5), (0.4, 0.4))
    box = geometry.box((1.0, 1.0, 1.0))
    for p in ((0.0, 0.5, 0.5), (0.5, 0.5, 0.5 - 1e-3), (-0.5, 0.5, 0.49)):
        found = contacts(roof, np.eye(4), box, pose(p=p), 0.05)
        assert len(found.features) > 0 and (np.diff(found.features) > 0).all()


@pytest.mark.parametrize("kind", ["box", "convex", "capsule"])
@pytest.mark.parametrize("apart", [False, True])
def test_the_order_of_two_shapes_swaps_the_parts_of_names(rng, kind, apart):
    """Corners and edges that touch have the same names, whichever shape comes first; also where corner and corner are nearest."""
    a, b = shape(kind, rng), shape(kind, rng)
    margin = 0.1 if apart else 0.0
    A, B = poses(rng, 2000, 0.45), poses(rng, 2000, 0.45)
    one, other = contacts_of_many(a, A, b, B, margin), contacts_of_many(b, B, a, A, margin)
    compared = 0
    for k in np.flatnonzero(one.counts):
        if apart == (one.depths[k, 0] < 0.0) and one.counts[k] < 4:                # of more than four others may be kept
            names = set(one.features[k, :one.counts[k]])
            assert names == set(swapped(other.features[k, :other.counts[k]])), k
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("kind", ["box", "convex"])
def test_an_edge_keeps_its_name_when_another_face_faces_the_normal(kind):
    """A cube on each of its edges, tipped about it through 45 degrees, over another's face and over edges of it."""
    half = 0.1
    cube = geometry.box((2 * half,) * 3) if kind == "box" else geometry.convex(half * CORNERS)
    table, names = geometry.box((1.0, 0.09, 1.0)), set()
    edges = [(i, k) for i in range(8) for k in range(i) if np.abs(CORNERS[i] - CORNERS[k]).sum() == 2]
    for i, k in edges:
        along, out = (CORNERS[i] - CORNERS[k]) / 2, (CORNERS[i] + CORNERS[k]) / np.sqrt(8)
        R = np.array([np.cross(along, -out), along, -out])                          # edge along y, faces at 45 degrees
        found = [contacts(table, np.eye(4), cube, pose(about((0, 1, 0), angle) @ R, (0, 0, 0.5 + np.sqrt(2) * half * np.cos(angle) - 1e-3)))
                 for angle in np.radians((-8, -1, -1e-9, 0, 1e-9, 1, 8))]
        assert all(list(x.features) == list(found[0].features) and len(x.features) == 2 for x in found)
        names.add(tuple(found[0].features))
    assert len(edges) == 12 and len(names) == 12


@pytest.mark.parametrize("kind", ["box", "convex"])
def test_a_corner_keeps_its_name_however_it_turns(rng, kind):
    """Over a table, tipped every way; eight corners have eight names."""
    half, names = 0.1, {}
    cube = geometry.box((2 * half,) * 3) if kind == "box" else geometry.convex(half * CORNERS)
    table = geometry.box((1.0, 1.0, 1.0))
    for k, corner in enumerate(CORNERS):
        for _ in range(40):
            z = -corner / np.sqrt(3) + 0.15 * rng.normal(size=3)
            z /= np.linalg.norm(z)
            x = np.cross(z, rng.normal(size=3))
            x /= np.linalg.norm(x)
            R = np.array([x, np.cross(z, x), z])
            low = (R @ (half * CORNERS.T)).T[:, 2].min()
            found = contacts(table, np.eye(4), cube, pose(R, (0.05, 0.02, 0.5 - low - 1e-3)))
            assert len(found.features) == 1
            names.setdefault(k, set()).add(int(found.features[0]))
    assert all(len(each) == 1 for each in names.values()) and len(set.union(*names.values())) == 8


@pytest.mark.parametrize("kind", ["box", "convex"])
def test_a_capsule_on_a_corner_is_named_by_the_corner(rng, kind):
    """Its side against a corner that is nearest, whichever edges end there."""
    half = 0.1
    cube = geometry.box((2 * half,) * 3) if kind == "box" else geometry.convex(half * CORNERS)
    capsule, names = geometry.capsule(0.05, 0.4), set()
    for _ in range(300):
        n = np.array([1, 1, 1]) + 0.3 * rng.normal(size=3)
        n /= np.linalg.norm(n)
        z = np.cross(n, rng.normal(size=3))
        z /= np.linalg.norm(z)
        if min(abs(z)) < 0.2 or not ((z > 0).any() and (z < 0).any()) or min(n) < 0.2:
            continue
        X = pose(np.column_stack([np.cross(n, z), n, z]), half * np.ones(3) + rng.uniform(0.04, 0.06) * n + rng.uniform(-0.1, 0.1) * z)
        found = contacts(capsule, X, cube, np.eye(4), 0.02)
        if np.linalg.norm(found.normals[0] + n) < 1e-9:
            deepest = found.features[found.depths.argmax()]
            names.add(int(deepest))
    assert len(names) == 1 and names.pop() < 1 << SIDE


@pytest.mark.parametrize("kind", ["box", "convex"])
def test_corners_keep_their_names_from_triangle_to_triangle(kind):
    """Over flat ground of many triangles. A cube that slides and turns there always stands on its own four corners."""
    half = 0.1
    cube = geometry.box((2 * half,) * 3) if kind == "box" else geometry.convex(half * CORNERS)
    s = np.linspace(0, 1, 60)
    X = np.array([pose(about((0, 0, 1), 0.7 * x), (0.013 + 0.4 * x, 0.021 - 0.2 * x, half - 1e-3)) for x in s])
    found = contacts_of_many(FLAT, np.eye(4), cube, X)
    assert (found.counts == 4).all() and (found.features == found.features[0]).all()


@pytest.mark.parametrize("points", [CORNERS, None])
def test_both_faces_at_an_edge_number_it_alike(rng, points):
    vertices, faces = convex_hull(rng.normal(size=(60, 3)) if points is None else points)
    (*_, corners, edges), _ = tables(vertices, *packed_faces(faces))
    assert len(edges) == len(corners) and sorted(set(edges)) == list(range(len(vertices) + len(faces) - 2))
    assert (np.bincount(edges) == 2).all()
    following, ends = np.concatenate([np.roll(face, -1) for face in faces]), {}
    for i, k, edge in zip(corners, following, edges):
        ends.setdefault(int(edge), set()).add(frozenset((int(i), int(k))))
    assert all(len(each) == 1 for each in ends.values())
