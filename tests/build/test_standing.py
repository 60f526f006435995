"""Where the default of a robot with ground stands."""
import numpy as np
import pytest
from mbros_core.geometry import contacts
from shape_rigs import I, lowest, pose

import mbros
from mbros import shapes


@pytest.mark.parametrize("name, contact", [("quadruped", 4), ("humanoid", 2), ("diff_drive", 3)])
@pytest.mark.parametrize("height", [0.0, -1.7])
def test_robots_stand_on_their_ground(name, contact, height):
    model = mbros.load(name, ground=height)
    state, floor = model.default_state(), model.shapes["floor"]
    depths = [contacts(floor.geometry, pose(model, state, floor), s.geometry, pose(model, state, s), 9.0).depths.max() for s in model.shapes
              if s is not floor]
    assert max(depths) == pytest.approx(0.0, abs=1e-12) and sum(depth > -1e-9 for depth in depths) == contact
    plain = mbros.load(name).default_state().q
    assert np.array_equal(np.delete(plain, 2), np.delete(state.q, 2)) and state.q[2] != plain[2]
    assert np.array_equal(model.joints[0].defaults.positions, state.q[:7])
    assert np.array_equal(mbros.ModelBuilder(model).build().default_state().q, state.q)


@pytest.mark.parametrize("joint", [mbros.FloatingJoint, mbros.FloatingRpyJoint])
def test_a_base_with_a_frame_of_its_own_is_lifted_along_the_world(joint):
    b = mbros.ModelBuilder("ball", ground=0.3)
    ball = b.add_body("ball", 1.0, (0, 0, 0), I)
    b.add_joint(joint("free", b.world, ball, p=(1, 2, 3), rpy=(0.3, 0.4, 0.5)))
    b.add_collision(ball, shapes.capsule(0.1, 0.5))
    model = b.build()
    X = model.pose(model.default_state(), "ball")
    assert lowest(model) == [pytest.approx(0.0, abs=1e-12)] and np.allclose(X.p[:2], (1, 2), atol=1e-15)


@pytest.mark.parametrize("geometry", [shapes.sphere(0.2), shapes.box((0.3, 0.2, 0.1)), shapes.cylinder(0.1, 0.3), shapes.capsule(0.1, 0.3),
                                      shapes.convex(np.random.default_rng(0).normal(size=(20, 3)) * 0.1)], ids=lambda g: g.kind)
def test_standing_on_a_height_field(geometry):
    heights = np.random.default_rng(3).normal(size=(12, 9)) * 0.3
    b = mbros.ModelBuilder("rolling", ground=(heights, (3.0, 2.0)))
    body = b.add_body("body", 1.0, (0, 0, 0), I)
    b.add_collision(body, geometry, mbros.Pose.make((0.1, -0.2, 5.0), rpy=(0.1, 0.2, 0.3)))
    depth, = lowest(b.build())
    assert depth == pytest.approx(0.0, abs=1e-9)


def test_whose_default_stays():
    """One that the user gave; those of several robots; of bases that are not free."""
    b = mbros.ModelBuilder("two", ground=True)
    for name, default in (("a", None), ("b", (0, 0, 1, 1, 0, 0, 0))):
        body = b.add_body(name, 1.0, (0, 0, 0), I)
        b.add_joint(mbros.FloatingJoint("free " + name, b.world, body, default=default))
        b.add_collision(body, shapes.sphere(0.1))
    assert b.build().default_state().q[[2, 9]].tolist() == [0.0, 1.0]
    b.joint("free a").defaults.positions = (0, 0, 2, 1, 0, 0, 0)
    assert b.build().default_state().q[[2, 9]].tolist() == [2.0, 1.0]
    one = mbros.ModelBuilder("one", ground=True)
    body = one.add_body("a", 1.0, (0, 0, 0), I)
    one.add_collision(body, shapes.sphere(0.1))
    one.add_joint(mbros.FloatingJoint("free", one.world, body, default=(0, 0, 3, 1, 0, 0, 0)))
    assert one.build().default_state().q[2] == 3.0
    off = mbros.ModelBuilder("beside", ground=(np.zeros((2, 2)), (1, 1)))
    off.add_collision(off.add_body("a", 1.0, (0, 0, 0), I), shapes.sphere(0.1), (5, 0, 0))
    assert off.build().default_state().q[2] == 0.0
    fixed = mbros.load("quadruped", base="fixed", ground=True)
    assert np.array_equal(fixed.default_state().q, mbros.load("quadruped").default_state().q[7:])


def test_several_robots_in_the_ground_are_noted():
    scene = mbros.ModelBuilder("scene", ground=True)
    for k, name in enumerate(("left", "right")):
        scene.add_robot(mbros.load("quadruped"), name, p=(k, 0, 0))
    note, = [note for note in scene.build().description.notes if note.element == "ground"]
    assert "'left/base', 'right/base'" in note.reason and note.severity == "note" and "set_pose" in note.remedy
