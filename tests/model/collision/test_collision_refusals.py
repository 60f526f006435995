"""What mbros.CollisionPairs refuses, and which mesh files it opens."""
import copy
import pickle

import numpy as np
import pytest
from collision_rigs import CUBE, arm, free_pair
from optional import needs

import mbros
from mbros import shapes
from mbros.describe.robot import Geometry

pytestmark = [pytest.mark.seed("HJ-46"), needs("coal", "pip install 'mbros[collision]'")]


# ------------------------------------------------------------------------------------------------------------ meshes

def write_obj(file):
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    file.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in CUBE) + "".join("f {} {} {} {}\n".format(*f) for f in faces))


def write_stl(file):
    corner = np.array(CUBE)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
             (1, 5, 7), (1, 7, 3)]
    text = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex {} {} {}\n".format(*corner[i]) for i in face)
                   + "endloop\nendfacet\n" for face in faces)
    file.write_text(f"solid cube\n{text}endsolid cube\n")


@pytest.mark.parametrize("name, write", [("cube.obj", write_obj), ("cube.STL", write_stl)])
def test_meshes_of_a_package_count_as_their_hull(tmp_path, name, write):
    (tmp_path / "props").mkdir()
    write(tmp_path / "props" / name)
    model, _ = free_pair(shapes.sphere(0.2), shapes.sphere(0.2))
    pairs = mbros.CollisionPairs(model, package_dirs=[tmp_path])
    pairs.add_obstacle("prop", shapes.mesh(f"package://props/{name}", (2, 1, 1)), (2, 0, 0), bodies=["a"])
    assert pairs.distances(model.default_state())[0].distance == pytest.approx(2 - 1 - 0.2, abs=1e-9)


def test_meshes_outside_packages_are_not_opened(tmp_path):
    (tmp_path / "props").mkdir()
    write_obj(tmp_path / "cube.obj")
    (tmp_path / "props" / "link.obj").symlink_to(tmp_path / "cube.obj")
    (tmp_path / "props" / "hand.dae").write_text("<COLLADA/>")
    (tmp_path / "props" / "cut.stl").write_text("solid cu")
    model, _ = free_pair(shapes.sphere(0.2), shapes.sphere(0.2))
    pairs = mbros.CollisionPairs(model, package_dirs=[tmp_path / "props"])
    for uri, reason in [("package://props/../cube.obj", "leads outside its package"), ("package://props/link.obj", "leads outside"),
                        (str(tmp_path / "cube.obj"), "leads outside"), ("package://prop/cube.obj", "no package 'prop'"),
                        ("http://example.org/cube.obj", "not supported"), ("package://props/hand.dae", "no STL or OBJ file"),
                        ("package://props/cut.stl", "cannot be read")]:
        with pytest.raises(mbros.MbrosError, match=reason) as caught:
            pairs.add_obstacle("prop", shapes.mesh(uri))
        assert "obstacle 'prop'" in str(caught.value)
    assert pairs.obstacles == () and pairs.pairs == ()


# ------------------------------------------------------------------------------------------------------------ errors

def test_names_that_nothing_has():
    pairs = mbros.CollisionPairs(arm().build())
    for call in (lambda: pairs.add("link1", "tol"), lambda: pairs.remove("tol"), lambda: pairs.add_shape("tol", shapes.sphere(1)),
                 lambda: pairs.add_obstacle("post", shapes.sphere(1), bodies=["tol"])):
        with pytest.raises(mbros.UnknownNameError, match="no body or obstacle 'tol' in model 'arm'; did you mean 'tool'?"):
            call()
    pairs.add_obstacle("table", shapes.sphere(1))
    with pytest.raises(mbros.UnknownNameError, match="did you mean 'table'"):
        pairs.remove_obstacle("tabel")


def test_what_cannot_be_a_pair():
    model = arm().build()
    pairs = mbros.CollisionPairs(model)
    pairs.add_obstacle("post", shapes.sphere(1), bodies=[])
    for call, reason in [(lambda: pairs.add("tool", "tool"), "cannot be paired with itself"),
                         (lambda: pairs.add("tool", "world"), "body 'world' has no collision shape.*add_shape"),
                         (lambda: pairs.add("tool", 3), "got 3"),
                         (lambda: pairs.add("tool", arm().build().body("link1")), "expected a body of this model"),
                         (lambda: pairs.remove("tool", "link1"), "'link1' and 'tool' are no pair"),
                         (lambda: pairs.remove("tool"), "'tool' is in no pair"),
                         (lambda: pairs.add_obstacle("tool", shapes.sphere(1)), "a body has this name already"),
                         (lambda: pairs.add_obstacle("post", shapes.sphere(1)), "an obstacle has this name already"),
                         (lambda: pairs.add_obstacle("ball", shapes.sphere(1), bodies=["tool", "world"]), "'world' has no collision"),
                         (lambda: pairs.add_obstacle("", shapes.sphere(1)), "its name is ''"),
                         (lambda: pairs.add_shape("post", shapes.sphere(1)), "obstacle 'post' has its shape")]:
        with pytest.raises(mbros.MbrosError, match=reason):
            call()
    assert pairs.pairs == () and pairs.obstacles == ("post",)
    pairs.add("link1", "tool")
    for query in (pairs.distances, pairs.in_collision):
        with pytest.raises((TypeError, ValueError), match="[Ss]tate"):
            query(mbros.load("pendulum").default_state())


def test_shapes_that_are_none():
    pairs = mbros.CollisionPairs(arm().build())
    for make, reason in [(lambda: shapes.box((1, 1)), "size has shape"), (lambda: shapes.sphere(0), "must be positive"),
                         (lambda: shapes.capsule(1, -1), "length is -1"), (lambda: shapes.convex(np.eye(3)), "lie in one plane"),
                         (lambda: shapes.convex([(x, y, 2 * x - y) for x, y, _ in CUBE]), "8 vertices lie in one plane"),
                         (lambda: shapes.convex(np.full((4, 3), np.nan)), "finite"), (lambda: shapes.convex(5), "vertices"),
                         (lambda: pairs.add_obstacle("o", Geometry("sphere")), r"obstacle 'o': its sphere has the sizes \[0.0\]"),
                         (lambda: pairs.add_obstacle("o", Geometry("sphare", radius=1.0)), "did you mean 'sphere'"),
                         (lambda: pairs.add_obstacle("o", "sphere"), "Give a shape of mbros.shapes"),
                         (lambda: pairs.add_obstacle("o", shapes.sphere(1), 2 * np.eye(4)), "last row of the pose"),
                         (lambda: pairs.add_obstacle("o", shapes.sphere(1), np.diag([2, 2, 2, 1])), "not a rotation matrix: R R.T is 3")]:
        with pytest.raises(mbros.MbrosError, match=reason):
            make()
    assert pairs.obstacles == ()


def test_pairs_say_that_they_cannot_be_pickled_and_whose_states_they_take():
    model, other = arm().build(), arm().build()
    pairs = mbros.CollisionPairs(model)
    for take in (pickle.dumps, copy.deepcopy):
        with pytest.raises(mbros.MbrosError, match="cannot be pickled or copied: keep the model and `pairs.pairs`"):
            take(pairs)
    for wrong in (other.default_state(), None, model):
        for query in (pairs.in_collision, pairs.distances):
            with pytest.raises(mbros.StateError, match="was expected"):
                query(wrong)


def test_a_search_that_finds_nothing_is_an_error(monkeypatch):
    """coal reports the largest double then."""
    model, pairs = free_pair(shapes.box((1, 1, 1)), shapes.capsule(0.1, 1))
    monkeypatch.setattr("coal.distance", lambda *args: None)
    with pytest.raises(mbros.MbrosError, match="no distance between a box at .* and a capsule at"):
        pairs.distances(model.default_state())


@pytest.mark.parametrize("query", ["in_collision", "distances"])
def test_trial_L2_nothing_is_free_that_was_not_checked(query):
    """in_collision was [] before add_all, and for robots without shapes."""
    bare, shaped = mbros.load("scara"), arm().build()
    for model, remedy in [(bare, "no body that moves has shapes: add_shape"), (shaped, "no pair was added: add_all()")]:
        pairs = mbros.CollisionPairs(model)
        with pytest.raises(mbros.MbrosError, match=remedy.replace("(", r"\(").replace(")", r"\)")):
            getattr(pairs, query)(model.default_state())
        pairs.add_all()
        if model is shaped:
            getattr(pairs, query)(model.default_state())
    with pytest.raises(mbros.MbrosError, match="obstacle 'wall': no body that moves has shapes: .*; bodies=\\[\\] adds it"):
        mbros.CollisionPairs(bare).add_obstacle("wall", shapes.sphere(1.0))
    with pytest.raises(mbros.MbrosError, match="nothing is free that was not checked"):
        pairs = mbros.CollisionPairs(bare)
        pairs.add_all()
        getattr(pairs, query)(bare.default_state())
