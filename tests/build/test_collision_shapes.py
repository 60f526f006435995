"""Collision shapes of a model: when there are any, what they are called and where they are; copies; meshes."""
import copy
import pickle

import numpy as np
import pytest
from optional import needs
from shape_rigs import I, arm, excluded, pose

import mbros
from mbros import shapes
from mbros.errors import MbrosError, MissingPackageError, ModelError, UrdfError


# ------------------------------------------------------------------------------------------------------------ whether there are any


@pytest.mark.parametrize("name", ["quadruped", "humanoid", "diff_drive"])
def test_nothing_changes_without_a_ground(name):
    plain, asked = mbros.load(name), mbros.load(name, collisions=True)
    assert len(plain.shapes) == 0 and plain.spec.shape_names == [] and plain.spec.shape_X.shape == (0, 12)
    assert len(asked.shapes) == sum(len(body.collisions) for body in asked.description.bodies) > 3
    for array in ("inertia", "X_PF", "X_BF", "q_default", "damping"):
        assert np.array_equal(getattr(plain.spec, array), getattr(asked.spec, array)), array


@pytest.mark.parametrize("ground, collisions, count", [(None, None, 0), (None, True, 4), (True, None, 5), (0.5, True, 5), (None, False, 0),
                                                       (False, None, 0), (mbros.Ground(), None, 5)])
def test_what_turns_them_on(ground, collisions, count):
    assert len(mbros.load("diff_drive", ground=ground, collisions=collisions).shapes) == count
    assert len(mbros.ModelBuilder(mbros.load("diff_drive"), ground=ground, collisions=collisions).build().shapes) == count


def test_a_ground_without_collisions_is_refused():
    with pytest.raises(MbrosError, match="collisions=False"):
        mbros.load("diff_drive", ground=True, collisions=False)
    with pytest.raises(MbrosError, match="collisions: expected True, False or None, got 1"):
        mbros.load("diff_drive", collisions=1)


@pytest.mark.parametrize("ground", ["floor", (1, 2, 3), ([1, 2], (1, 1)), float("nan"), 1j, [[1.0]]])
def test_what_is_no_ground(ground):
    with pytest.raises(MbrosError, match="ground: expected True, a height in metres"):
        mbros.load("diff_drive", ground=ground)


# ------------------------------------------------------------------------------------------------------- names, places, numbers


def test_names():
    b = arm((0.4,))
    link = b.body("link0")
    for name in (None, "tip", None, "link0.4"):
        b.add_collision(link, shapes.sphere(0.1), name=name)
    assert b.build().shapes.names == ("link0", "link0.2", "tip", "link0.3", "link0.4")
    with pytest.raises(ModelError, match="shape 'tip': this name is already taken"):
        b.add_collision(link, shapes.sphere(0.1), name="tip")


def test_one_name_for_many_elements_of_a_file_is_noted():
    link = '<link name="{0}"><collision name="collision"><geometry><sphere radius="0.1"/></geometry></collision></link>'
    model = mbros.load(f"""<robot name="r">{link.format("a")}{link.format("b")}<joint name="j" type="fixed"><origin xyz="1 0 0"/>
        <parent link="a"/><child link="b"/></joint></robot>""", collisions=True)
    assert model.shapes.names == ("a", "b")
    note, = model.description.notes
    assert note.reason == "several are called 'collision'; they are called after their bodies instead"


@pytest.mark.parametrize("merge_welds", [True, False])
def test_places_on_compiled_bodies(merge_welds):
    """Behind welds and turned axes: the engine's X_CS, seen in the world, is where the user put the shape."""
    b = mbros.ModelBuilder("welded")
    a, c = b.add_body("a", 1.0, (0, 0, 0), I), b.add_body("c", 1.0, (0, 0, 0), I)
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, a, axis=(0.6, 0.0, 0.8), p=(1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    b.add_joint(mbros.WeldJoint("weld", a, c, p=(0, 0, 0.5), rpy=(0.3, 0.2, 0.1)))
    frame = b.add_frame("tip", c, (0.1, 0, 0), rpy=(0, 0, 1))
    b.add_collision(frame, shapes.box((1, 2, 3)), mbros.Pose.make((0, 0.2, 0), rpy=(1, 0, 0)), friction=0.3)
    model = b.build(merge_welds=merge_welds)
    shape, state = model.shapes["c"], model.random_state(1)
    spec = model.spec
    X_WC = np.eye(4)
    row = next(k for k, name in enumerate(spec.frame_names) if spec.frame_body[k] == spec.shape_body[0])
    X_CF, at = np.eye(4), model.pose(state, spec.frame_names[row]).matrix
    X_CF[:3, :3], X_CF[:3, 3] = spec.X_BF[row, :9].reshape(3, 3), spec.X_BF[row, 9:]
    X_CS = np.eye(4)
    X_CS[:3, :3], X_CS[:3, 3] = spec.shape_X[0, :9].reshape(3, 3), spec.shape_X[0, 9:]
    X_WC = at @ np.linalg.inv(X_CF)
    expected = model.pose(state, "tip").matrix @ mbros.Pose.make((0, 0.2, 0), rpy=(1, 0, 0)).matrix
    assert np.allclose(X_WC @ X_CS, expected, atol=1e-14) and np.allclose(pose(model, state, shape), expected, atol=1e-14)
    assert spec.shape_parameters[0].tolist() == [1e6, 0.005, 0.3, 0.0, 0.0, 0.0]
    assert (shape.body, shape.kind, shape.geometry.sizes, shape.friction) == (model.bodies["c"], "box", (1.0, 2.0, 3.0), 0.3)


@pytest.mark.parametrize("numbers, why", [
    ({"friction": -1}, "friction is -1"), ({"stiffness": 0}, "stiffness is 0. It must be positive"),
    ({"relaxation_time": np.nan}, "relaxation_time is nan"), ({"rolling_radius": "x"}, "rolling_radius")])
def test_numbers_that_cannot_be(numbers, why):
    b = arm((0.4,))
    with pytest.raises(ModelError, match=why):
        b.add_collision(b.body("link0"), shapes.sphere(0.1), **numbers)
    with pytest.raises(ModelError, match=why):
        b.add_ground(**numbers)
    b.body("link0").collisions[0].friction = -2.0
    with pytest.raises(ModelError, match="'link0' of body 'link0': friction is -2"):
        b.build()


def test_a_size_of_zero_is_said_with_its_line():
    with pytest.raises(UrdfError, match="radius is 0 m") as caught:
        mbros.load('<robot name="r">\n<link name="a">\n<collision><geometry><sphere radius="0"/></geometry></collision></link></robot>',
                   collisions=True)
    assert caught.value.line == 3 and "of link 'a'" in str(caught.value)


# ---------------------------------------------------------------------------------------------------------- copies, subtrees, robots


def test_copies_keep_shapes():
    model = mbros.load("quadruped", ground=mbros.Ground(friction=0.3))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), mbros.ModelBuilder(model).build(),
                  copy.deepcopy(mbros.ModelBuilder(model)).build()):
        assert other.shapes.names == model.shapes.names and excluded(other) == excluded(model)
        assert np.array_equal(other.spec.shape_X, model.spec.shape_X) and other.shapes["floor"].friction == 0.3
        assert other.shapes[3].body is other.body(model.shapes[3].body.name)


def test_a_subtree_keeps_its_own():
    b = arm((0.4,) * 4, ground=True)
    b.exclude_contact("link1", "link3")
    b.exclude_contact("link0", "link2")
    leg = mbros.ModelBuilder.subtree(b.build().joint("j1")).build()
    assert leg.shapes.names == ("link1", "link2", "link3")
    assert excluded(leg)[("link1", "link3")] == "named"


def test_robots_in_a_scene():
    robot = arm((0.4,) * 3, ground=True)
    robot.exclude_contact("link0", robot.body("link2"))
    robot.exclude_contact("floor", "link2")
    robot.add_collision(robot.world, shapes.box((0.1, 0.1, 0.1)), (0, 0, 0.5), name="stand")
    scene = mbros.ModelBuilder("scene", ground=True)
    for k in range(2):
        scene.add_robot(robot, f"r{k}", p=(0, 3.0 * k, 0))
    model = scene.build()
    assert model.shapes.names == ("floor", "r0/stand", "r1/stand", *(f"r{k}/link{i}" for k in range(2) for i in range(3)))
    assert model.shapes["r1/stand"].X_BG.p.tolist() == [0, 3, 0.5]
    assert excluded(model)[("r1/link0", "r1/link2")] == "named"
    assert sum("does not bring its ground along" in note.reason for note in model.description.notes) == 2


# ------------------------------------------------------------------------------------------------------------------------ meshes


@pytest.fixture
def mesh(tmp_path):
    """URDF text with a mesh in a package of its own."""
    import trimesh

    (tmp_path / "robot").mkdir()
    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "robot" / "box.stl")
    return """<robot name="r">
      <link name="a"><collision><geometry><mesh filename="package://robot/box.stl" scale="0.1 0.1 0.1"/></geometry></collision></link>
      </robot>"""


@needs("trimesh", "reads meshes")
def test_meshes_are_convex_hulls(mesh, tmp_path):
    model = mbros.load(mesh, collisions=True, package_dirs=tmp_path)
    shape, = model.shapes
    assert shape.kind == "convex" and np.allclose(np.abs(shape.geometry.points), (0.05, 0.1, 0.15)) and len(shape.geometry.points) == 8
    assert mbros.ModelBuilder(model).build().shapes[0].kind == "convex"


@needs("trimesh", "reads meshes")
def test_meshes_are_opened_only_when_asked_for_and_only_in_packages(mesh, tmp_path):
    mbros.load(mesh.replace("box.stl", "none.stl"))
    (tmp_path / "x.stl").touch()
    (tmp_path / "robot" / "a.step").touch()
    for text, why in ((mesh.replace("box.stl", "none.stl"), "there is no such file"),
                      (mesh.replace("robot/box", "robot/../x"), "leads outside its package"),
                      (mesh.replace("box.stl", "a.step"), ".step is no mesh that can be read")):
        with pytest.raises(UrdfError, match=why) as caught:
            mbros.load(text, collisions=True, package_dirs=tmp_path)
        assert caught.value.line == 2


@needs("trimesh", "reads meshes")
def test_without_trimesh(mesh, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingPackageError, match=r"meshes need the package trimesh.*mbros\[collision\]"):
        mbros.load(mesh, collisions=True, package_dirs=tmp_path)
    assert len(mbros.load("quadruped", ground=True).shapes) == 19


def test_a_body_of_another_builder_is_refused():
    mine, other = mbros.ModelBuilder("mine"), mbros.ModelBuilder("other")
    with pytest.raises(ModelError, match="body 'b' belongs to another builder"):
        mine.add_collision(other.add_body("b", 1.0, (0, 0, 0), I), shapes.sphere(0.1))
    with pytest.raises(ModelError, match=r"shape 'floor': it is at \(0, 0, 1e\+12\) m"):
        mine.add_ground(1e12)


def test_a_ground_that_nothing_meets_is_noted():
    notes = [str(note) for note in mbros.load("arm6", ground=True).description.notes]
    assert any("nothing but 'floor' has a collision shape" in note for note in notes)
    assert not any("nothing but" in str(note) for note in mbros.load("quadruped", ground=True).description.notes)
