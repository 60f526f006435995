"""Shapes: what they are made of, what is refused, hulls."""
import copy
import pickle

import numpy as np
import pytest
from geometry_rigs import poses, rotations
from scipy.spatial import ConvexHull

from mbros_core import geometry
from mbros_core.errors import MbrosError, NonFiniteError, WrongTypeError
from mbros_core.geometry import hull
from mbros_core.geometry._geometry import nanoseconds
from mbros_core.geometry.hull import convex_hull
from mbros_core.geometry.registry import BY_NAME, ROWS

CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
MADE = {"half_space": geometry.half_space(), "height_field": geometry.height_field(np.zeros((3, 4)), (1.0, 2.0)),
        "sphere": geometry.sphere(0.1),
        "capsule": geometry.capsule(0.1, 0.3), "box": geometry.box((0.1, 0.2, 0.3)), "cylinder": geometry.cylinder(0.1, 0.3),
        "convex": geometry.convex(CUBE)}


def test_every_kind_has_a_function_and_is_what_it_was_when_copied():
    assert list(MADE) == [row.name for row in ROWS] and set(MADE) < set(geometry.__all__)
    for kind, shape in MADE.items():
        again = pickle.loads(pickle.dumps(shape))
        assert again.kind == shape.kind == kind and again.sizes == shape.sizes and repr(again) == repr(shape)
        assert np.array_equal(again.points, shape.points) if BY_NAME[kind].points else again.points is shape.points is None
        assert copy.copy(shape) is shape and copy.deepcopy(shape) is shape and kind in repr(shape)


def test_a_shape_does_not_change():
    vertices = CUBE.copy()
    shape = geometry.convex(vertices)
    vertices[:] = 0.0
    assert np.ptp(shape.points) == 1.0
    with pytest.raises(ValueError):
        shape.points[0, 0] = 2.0
    with pytest.raises(AttributeError):
        shape.sizes = (1.0,)


@pytest.mark.parametrize("make, error, words", [
    (lambda: geometry.sphere(-1.0), MbrosError, "sphere: radius is -1 m; expected 1e-09 to 1e.09 m"),
    (lambda: geometry.sphere(0.0), MbrosError, "radius is 0 m"),
    (lambda: geometry.sphere(1e10), MbrosError, "at most 1e.09"),
    (lambda: geometry.sphere(float("nan")), NonFiniteError, "sphere: radius is nan"),
    (lambda: geometry.sphere("big"), WrongTypeError, "sphere: radius: expected .* got 'big'"),
    (lambda: geometry.box((1, 2)), MbrosError, "box: size: expected 3 numbers"),
    (lambda: geometry.box((1, 2, -3)), MbrosError, r"box: size\[2\] is -3 m"),
    (lambda: geometry.capsule(0.1, float("inf")), NonFiniteError, "capsule: length is inf"),
    (lambda: geometry.cylinder(0.1, True), WrongTypeError, "cylinder: length"),
    (lambda: geometry.convex([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), MbrosError, "convex: its 4 vertices lie in one plane"),
    (lambda: geometry.convex([]), MbrosError, "convex: vertices"),
    (lambda: geometry.convex(np.full((5, 3), np.nan)), NonFiniteError, r"vertices\[0, 0\] is nan"),
    (lambda: geometry.height_field(np.zeros((1, 5)), (1, 1)), MbrosError, "at least 2 in x and in y"),
    (lambda: geometry.height_field(np.zeros((3, 3)), (1, 0)), MbrosError, r"height_field: size\[1\] is 0 m"),
    (lambda: geometry.height_field([[0, np.inf], [0, 0]], (1, 1)), NonFiniteError, r"heights\[0, 1\] is inf"),
    (lambda: geometry.Shape("ball"), MbrosError, "expected one of half_space"),
    (lambda: geometry.Shape("sphere", (0.1,), CUBE), MbrosError, "expected no points"),
])
def test_what_is_no_shape_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("change, error, words", [
    (dict(shape_a="box"), WrongTypeError, "shape_a: expected a shape"),
    (dict(shape_b=None), WrongTypeError, "shape_b"),
    (dict(X_WA=np.diag([1, 1, -1, 1])), MbrosError, "X_WA: its R is no rotation"),
    (dict(X_WA=np.diag([1, 1, 1.001, 1])), MbrosError, "is no rotation"),
    (dict(X_WB=(0, 0, np.nan)), NonFiniteError, r"X_WB\[2\] is nan"),
    (dict(X_WB=(0, 0, 1e12)), MbrosError, "at most"),
    (dict(X_WB=np.zeros((3, 3))), MbrosError, "X_WB: expected"),
    (dict(X_WB=np.ones((4, 4))), MbrosError, "last row"),
    (dict(X_WB="there"), WrongTypeError, "X_WB"),
    (dict(margin=-1.0), MbrosError, "margin is -1 m"),
    (dict(margin=np.inf), NonFiniteError, "margin is inf"),
    (dict(shape_a=MADE["half_space"], shape_b=MADE["height_field"]), MbrosError, "a half_space and a height_field do not touch"),
])
@pytest.mark.parametrize("query", [geometry.contacts, geometry.contacts_of_many, nanoseconds])
def test_what_is_no_pair_of_placed_shapes_is_refused(query, change, error, words):
    given = dict(shape_a=MADE["box"], X_WA=np.eye(4), shape_b=MADE["sphere"], X_WB=(0, 0, 0.1)) | change
    with pytest.raises(error, match=words):
        query(**given)


def test_poses_are_given_in_three_ways():
    class Placed:
        R, p = np.eye(3), (0.0, 0.0, 0.1)

    X = np.eye(4)
    X[2, 3] = 0.1
    depths = [geometry.contacts(MADE["box"], (0, 0, 0), MADE["sphere"], given).depths[0] for given in ((0, 0, 0.1), X, Placed())]
    assert depths == [depths[0]] * 3 and depths[0] == pytest.approx(0.15)
    with pytest.raises(MbrosError, match="got 3 and 2"):
        geometry.contacts_of_many(MADE["box"], np.tile(X, (3, 1, 1)), MADE["sphere"], np.tile(X, (2, 1, 1)))
    assert geometry.contacts_of_many(MADE["box"], X, MADE["sphere"], np.zeros((0, 4, 4))).counts.shape == (0,)


def test_many_are_one_after_another():
    rng = np.random.default_rng(5)
    A, B = poses(rng, 20, 0.1), poses(rng, 20, 0.1)
    many = geometry.contacts_of_many(MADE["box"], A, MADE["convex"], B, 0.1)
    for k in range(20):
        one = geometry.contacts(MADE["box"], A[k], MADE["convex"], B[k], 0.1)
        n = many.counts[k]
        assert len(one.depths) == n and all(np.array_equal(getattr(one, name), getattr(many, name)[k, :n])
                                            for name in ("points", "normals", "depths", "features"))


# ---------------------------------------------------------------------------------------------------------------- hulls

def clouds():
    rng = np.random.default_rng(3)
    yield "sphere", rng.normal(size=(200, 3))
    yield "filled cube", rng.uniform(-1, 1, (500, 3))
    yield "grid", np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3), -1).reshape(-1, 3)
    yield "turned grid", np.stack(np.meshgrid(*[np.linspace(-1, 1, 4)] * 3), -1).reshape(-1, 3) @ rotations(rng, 1)[0].T * (1, 1, 1) + 7.0
    yield "thin", rng.uniform(-1, 1, (60, 3)) * (1.0, 1.0, 1e-4)
    yield "long", rng.uniform(-1, 1, (60, 3)) * (1e4, 1.0, 1.0)
    ball = rng.normal(size=(3000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    yield "ball", ball
    yield "duplicates", np.concatenate([ball[:500], ball[:500], ball[:500] * (1 - 1e-13), ball[:300] + 1e-14])
    yield "edges with points on them", np.array([(x, y, z) for x in np.linspace(0, 1, 9) for y, z in ((0, 0), (1, 0), (0, 1))]) + 0.1
    yield "lathe", np.array([(r * np.cos(t), r * np.sin(t), z) for r, z in ((1, 0), (1, 1), (0.5, 1.5), (0.5, -0.5))
                             for t in np.arange(96) * np.pi / 48])
    yield "prism", np.array([(np.cos(t), np.sin(t), z) for t in np.arange(40) * np.pi / 20 for z in (0, 1)])


def test_a_hull_that_is_too_much_work_is_refused(monkeypatch):
    """Of a mesh of a million triangles, all of them on the hull, it took minutes; of points that see each other badly, hours."""
    ball = np.random.default_rng(1).normal(size=(60_000, 3))
    with pytest.raises(MbrosError, match="119996 triangles, more than the 100000 allowed. Simplify the mesh"):
        geometry.convex(ball / np.linalg.norm(ball, axis=1)[:, None])
    monkeypatch.setattr(hull, "MOST_COMPARISONS", 30_000)
    t = np.linspace(0.0, 1.0, 3000)
    assert geometry.convex(ball[:100]).kind == "convex"
    with pytest.raises(MbrosError, match="more than 30000 comparisons of a point with a plane. Simplify the mesh"):
        geometry.convex(np.stack([np.cos(7.0 * t), np.sin(7.0 * t), 1e-9 * ball[:3000, 0]], axis=1))


@pytest.mark.parametrize("points", [each[1] for each in clouds()], ids=[each[0] for each in clouds()])
def test_a_hull_is_scipys_with_flat_faces(points):
    vertices, faces = convex_hull(points)
    size = np.ptp(points, axis=0).max()
    hull = ConvexHull(points)
    assert ConvexHull(vertices).volume == pytest.approx(hull.volume, rel=1e-8)
    edges = {(i, k) for face in faces for i, k in zip(face, face[1:] + face[:1])}
    assert len(edges) == sum(map(len, faces)) and {(k, i) for i, k in edges} == edges                 # closed, each edge twice
    assert len(vertices) - len(edges) // 2 + len(faces) == 2                                          # Euler
    for face in faces:
        corners = vertices[face]
        n = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
        n /= np.linalg.norm(n)
        assert np.abs((corners - corners[0]) @ n).max() < 1e-9 * size                                 # flat
        assert ((points - corners[0]) @ n).max() < 2e-9 * size                                        # outward, nothing beyond


def test_a_hull_has_scipys_vertices():
    ball = dict(clouds())["ball"]
    assert np.array_equal(convex_hull(ball)[0], np.unique(ball[ConvexHull(ball).vertices], axis=0))


def test_near_coplanar_points_stay_within_tolerance():
    """Noise about as large as the tolerance on flat faces: which point is seen from where is then a matter of rounding."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1, 1, (300, 3))
        points[:, seed % 3] = np.sign(points[:, seed % 3])
        points += rng.normal(size=points.shape) * 10.0 ** rng.uniform(-12, -8)
        vertices, faces = convex_hull(points)
        edges = {(i, k) for face in faces for i, k in zip(face, face[1:] + face[:1])}
        assert {(k, i) for i, k in edges} == edges
        assert ConvexHull(vertices).volume == pytest.approx(ConvexHull(points).volume, rel=1e-7)


def test_a_mesh_of_thousands_of_vertices_keeps_them_all():
    """0.1 s here for what took 5. On a sphere every point is a vertex, and Euler's formula holds."""
    points = np.random.default_rng(5).normal(size=(5000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    vertices, faces = convex_hull(points)
    corners = sum(map(len, faces))
    assert len(vertices) == len(points) and len(vertices) - corners // 2 + len(faces) == 2


def test_a_grid_has_six_faces_and_a_prism_many_corners():
    assert sorted(map(len, convex_hull(dict(clouds())["turned grid"])[1])) == [4] * 6
    assert sorted(map(len, convex_hull(dict(clouds())["prism"])[1])) == [4] * 40 + [40, 40]
