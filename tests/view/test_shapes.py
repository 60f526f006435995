"""What bodies look like: primitives, shapes of the same inertia, colours, edges; poses."""
import numpy as np
import pytest
import trimesh

import mbros
from mbros.describe.robot import BodyDescription, Geometry, Shape
from mbros.spatial.inertia import rotate, solid_box, solid_ellipsoid
from mbros.spatial.placement import rotation_from_quat_wxyz, rotation_from_rpy
from mbros.view.dials import dials
from mbros.view.poses import Kinematics, quaternions
from mbros.view.shading import creased
from mbros.view.shapes import Looks, inertia_box, inertia_ellipsoid, primitive


@pytest.mark.parametrize("geometry, extent", [
    (Geometry("box", size=(1.0, 2.0, 3.0)), (1, 2, 3)), (Geometry("sphere", radius=0.5), (1, 1, 1)),
    (Geometry("cylinder", radius=0.5, length=3.0), (1, 1, 3)), (Geometry("capsule", radius=0.5, length=3.0), (1, 1, 4))])
def test_primitives_are_centred_and_of_their_size(geometry, extent):
    part = primitive(geometry)
    low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
    assert np.allclose(high - low, extent, rtol=1e-2) and np.allclose(low + high, 0.0, atol=1e-2)


def test_the_box_and_the_ellipsoid_have_the_inertia_they_stand_for(rng):
    for _ in range(20):
        edges, R, com = rng.uniform(0.2, 1.0, 3), rotation_from_rpy(rng.uniform(-3, 3, 3)), rng.normal(size=3)
        part, X = inertia_box(2.0, com, rotate(solid_box(2.0, edges), R))
        found = np.ptp(part.vertices, axis=0)
        assert np.allclose(sorted(found), sorted(edges)) and np.allclose(X.p, com)
        assert np.allclose(rotate(solid_box(2.0, found), X.R), rotate(solid_box(2.0, edges), R))
        part, X = inertia_ellipsoid(2.0, com, rotate(solid_ellipsoid(2.0, edges), R))
        found = np.abs(part.vertices).max(axis=0)
        assert np.allclose(rotate(solid_ellipsoid(2.0, found), X.R), rotate(solid_ellipsoid(2.0, edges), R), rtol=0.02)
        assert np.linalg.det(X.R) == pytest.approx(1.0)


def test_a_point_mass_can_be_seen():
    part, _ = inertia_box(1.0, np.zeros(3), np.zeros((3, 3)))
    assert np.ptp(part.vertices, axis=0).min() >= 1e-3


def test_a_body_without_shapes_is_drawn_from_its_inertia():
    look = Looks().of(BodyDescription("bare", mass=2.0, inertia=solid_box(2.0, (0.1, 0.2, 0.3))), 0)
    assert len(look.pieces) == 1 and np.allclose(sorted(np.ptp(look.pieces[0].vertices, axis=0)), (0.1, 0.2, 0.3))


def test_a_mesh_that_cannot_be_read_leaves_the_inertia_and_a_sentence():
    body = BodyDescription("hand", mass=2.0, inertia=solid_box(2.0, (0.1, 0.2, 0.3)), visuals=[Shape(Geometry("mesh", filename="http://x/y.stl"))])
    look = Looks().of(body, 0)
    assert len(look.pieces) == 1 and len(look.problems) == 1 and "not supported" in look.problems[0]


@pytest.mark.parametrize("shape", [Shape(Geometry("sphere", radius=1e30)), Shape(Geometry("box", size=(1.0, 1.0, 1e308))),
                                   Shape(Geometry("mesh", filename="package://p/cube.stl", scale=(1e300, 1.0, 1.0)))])
def test_what_reaches_to_the_moon_leaves_the_inertia_and_a_sentence(shape, tmp_path):
    (tmp_path / "p").mkdir()
    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "p" / "cube.stl")
    body = BodyDescription("hand", mass=2.0, inertia=solid_box(2.0, (0.1, 0.2, 0.3)), visuals=[shape])
    look = Looks(package_dirs=(str(tmp_path / "p"),)).of(body, 0)
    assert len(look.pieces) == 1 and look.pieces[0].name == "inertia"
    assert len(look.problems) == 1 and "expected 1e+06 m at most" in look.problems[0]


def test_edges_stay_sharp_and_round_stays_round():
    box = primitive(Geometry("box", size=(1.0, 1.0, 1.0)))
    vertices, faces = creased(box.vertices, box.faces)
    assert len(vertices) == 24 and len(faces) == 12                 # four corners of their own for each of six sides
    assert np.allclose(vertices[faces], box.vertices[box.faces])
    ball = primitive(Geometry("sphere", radius=1.0))
    assert len(creased(ball.vertices[ball.faces].reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))[0]) == len(ball.vertices)


def test_a_fan_of_very_many_triangles_ends():
    n = 20_000
    angles = np.linspace(0, 2 * np.pi, n)
    vertices = np.vstack([[0, 0, 0], np.stack([np.cos(angles), np.sin(angles), np.zeros(n)], 1)])
    faces = np.stack([np.zeros(n - 1, int), np.arange(1, n), np.arange(2, n + 1)], 1)
    assert len(creased(vertices, faces)[1]) == n - 1


def test_quaternions_of_rotations(rng):
    for kind in ("any", "half turns"):
        q = rng.normal(size=(200, 4)) * ([1, 1, 1, 1] if kind == "any" else [0, 1, 1, 1])
        R = np.array([rotation_from_quat_wxyz(x) for x in q])
        again = np.array([rotation_from_quat_wxyz(x) for x in quaternions(R)])
        assert np.allclose(R, again, atol=1e-12)


@pytest.mark.parametrize("name", ["arm7", "quadruped", "mobile_arm", "cartpole"])
def test_every_dial_turns_what_it_reads(name, rng):
    model = mbros.load(name)
    q = model.random_configuration(rng)
    for dial in dials(model, 1.0):
        value = dial.low + rng.uniform(0.2, 0.8) * (dial.high - dial.low)
        dial.put(q, value)
        assert dial.get(q) == pytest.approx(value, abs=1e-9), dial.label
        assert model.space().is_same(q, model.normalize(q), tol=1e-9)
    assert len(dials(model, 1.0)) == model.nv


def test_poses_are_those_of_the_model(rng):
    model = mbros.load("quadruped")
    state = model.random_state(rng)
    kinematics = Kinematics(model)
    kinematics.put(np.array(state.q))
    for body, pose in zip(model.bodies, kinematics.bodies()):
        X = model.pose(state, body)
        assert np.allclose(pose[4:], X.p) and np.allclose(rotation_from_quat_wxyz(pose[:4]), X.R)


def test_grounds():
    """A half-space is where the scene's grid is; a height field is drawn as the engine has it."""
    heights = np.arange(12.0).reshape(4, 3)
    model = mbros.load("diff_drive", ground=(heights, (3.0, 4.0)))
    look = Looks().of(model.description.world, 0)
    piece, = look.pieces
    assert not look.problems and piece.name == "floor" and piece.faces.shape == (12, 3)
    assert np.allclose(np.ptp(piece.vertices, axis=0), (3.0, 4.0, 11.0)) and (np.cross(
        *(piece.vertices[piece.faces[:, k]] - piece.vertices[piece.faces[:, 0]] for k in (1, 2)))[:, 2] > 0.0).all()
    assert Looks().of(mbros.load("diff_drive", ground=0.5).description.world, 0) == ([], [])


def test_the_grid_is_at_the_ground():
    from mbros.view.scene import _floor

    def floor(**options):
        description = mbros.load("diff_drive", **options).description
        return _floor([description.world, *description.bodies])

    assert floor() is None and floor(ground=0.5) == 0.5 and floor(ground=(np.zeros((2, 2)), (1, 1))) is None
