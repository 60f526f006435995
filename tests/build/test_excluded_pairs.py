"""Pairs of shapes that never touch, each by its cause."""
import numpy as np
import pytest
from mbros_core.geometry import contacts
from shape_rigs import I, arm, excluded, pose

import mbros
from mbros import shapes
from mbros.errors import ModelError


def test_neighbours():
    assert excluded(arm().build()) == {("link0", "link1"): "joint", ("link1", "link2"): "joint"}


def test_joints_with_two_directions_keep_nothing_together():
    b = arm((0.4,))
    for k, joint in enumerate((mbros.FloatingJoint, mbros.PlanarJoint, mbros.TranslationJoint)):
        b.add_joint(joint(f"free{k}", b.body("link0"), b.add_body(f"box{k}", 1.0, (0, 0, 0), I)))
        b.add_collision(b.body(f"box{k}"), shapes.sphere(0.1))         # they overlap, but are not of one robot
    model = b.build()
    assert excluded(model) == {} and model.description.notes == []


def test_welded_bodies_that_are_not_merged():
    b = arm((0.4,))
    b.add_joint(mbros.WeldJoint("weld", b.body("link0"), b.add_body("tool", 1.0, (0, 0, 0), I)))
    b.add_collision(b.body("tool"), shapes.sphere(0.1))
    assert excluded(b.build(merge_welds=False)) == {("link0", "tool"): "welded"} and excluded(b.build()) == {}


def test_groups():
    b = arm((0.4, 0.4, 0.4, 0.4))
    for name in ("link0", "link2", "link3"):
        b.body(name).collisions[0].group = "g"
    found = excluded(b.build())
    assert found.pop(("link0", "link2")) == found.pop(("link0", "link3")) == "group" and found.pop(("link2", "link3")) == "group"
    assert set(found.values()) == {"joint"} and b.build().shapes["link2"].group == "g"


def test_exclusion_by_name_and_by_object():
    b = arm((0.4,) * 5)
    extra = b.add_collision(b.body("link4"), shapes.sphere(0.05), name="tip")
    b.exclude_contact("link0", b.body("link2"))
    b.exclude_contact(extra, "link1")
    b.exclude_contact("tip", b.body("link0"))
    named = {pair for pair, why in excluded(b.build()).items() if why == "named"}
    assert named == {("link0", "link2"), ("link1", "tip"), ("link0", "tip")}
    b.body("link2").name = "renamed"
    assert ("link0", "renamed") in excluded(b.build())


def test_exclusions_of_nothing():
    b = arm()
    with pytest.raises(ModelError, match="exclude_contact.* was given 3"):
        b.exclude_contact("link0", 3)
    b.exclude_contact("link0", "lnk2")
    b.exclude_contact(b.world, mbros.ModelBuilder("other").add_body("x", 1.0))
    with pytest.raises(ModelError) as caught:
        b.build()
    assert len(caught.value.problems) == 2 and "no body or shape 'lnk2'; did you mean 'link2'?" in str(caught.value)
    assert "'x' belongs to another model" in str(caught.value)


def test_exclusions_of_an_srdf(tmp_path):
    (tmp_path / "r.srdf").write_text('<robot name="q"><disable_collisions link1="FL_foot" link2="FR_foot" reason="Never"/></robot>')
    model = mbros.load("quadruped", ground=True, srdf=tmp_path / "r.srdf")
    assert model.shapes["FL_foot"].excluded["FR_foot"] == "Never"
    assert "FR_foot" not in mbros.load("quadruped", ground=True).shapes["FL_foot"].excluded


def test_overlap_at_the_default_position_is_noted_once():
    b = arm((0.4, 0.3, 0.4))
    b.joint("j1").defaults.positions = np.pi / 2
    b.joint("j2").defaults.positions = np.pi / 2
    b.add_collision(b.body("link2"), shapes.sphere(0.3), name="bulge")
    model = b.build()
    assert excluded(model)[("link0", "bulge")] == "overlap" and ("link0", "link2") not in excluded(model)
    note, = model.description.notes
    depth = contacts(*(x for s in ("link0", "bulge") for x in (model.shapes[s].geometry,
                                                               pose(model, model.default_state(), model.shapes[s])))).depths.max()
    assert note.severity == "note" and note.element == "shapes 'link0' and 'bulge'" and f"{1e3 * depth:.3g} mm" in note.reason
    assert len(mbros.ModelBuilder(model).build().description.notes) == 1


def test_touching_is_no_overlap():
    b = arm((0.4, 0.1, 0.4))
    b.body("link0").collisions[0].X_BG.p[0] = 0.18 + 1e-9
    b.body("link2").collisions.clear()
    b.add_collision(b.body("link2"), shapes.box((0.2, 0.1, 0.1)), (-0.04, 0, 0))
    assert ("link0", "link2") not in excluded(b.build())


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e3])
def test_overlap_is_the_same_in_any_unit_of_length(unit):
    """Balls in a row that overlap by a fiftieth of their radius, and by a ten millionth."""
    for overlap, expected in ((0.002, {("s0", "s2"): "overlap"}), (1e-8, {})):
        b = mbros.ModelBuilder("row")
        on = b.world
        for k, x in enumerate((0.0, 0.1, 0.1 - overlap)):
            body = b.add_body(f"s{k}", 1.0, (0, 0, 0), unit**2 * np.array(I))
            b.add_joint(mbros.RevoluteJoint(f"s{k}", on, body, p=(x * unit, 0, 0)))
            if k != 1:
                b.add_collision(body, shapes.sphere(0.1 * unit))
            on = body
        assert excluded(b.build()) == expected


def test_the_ground_is_met_by_first_bodies_and_overlaps_with_it_are_kept():
    """A pendulum on the world hits the ground; one that is in it at its default does not push itself out for ever; a link further out
    does, because a robot that stands in the ground is a mistake to be seen."""
    assert excluded(arm((0.4,), ground=True).build()) == {}
    assert excluded(arm((0.4,), ground=0.98).build()) == {("floor", "link0"): "overlap"}
    found = excluded(arm((0.4, 0.4), ground=0.98).build())
    assert found == {("floor", "link0"): "overlap", ("link0", "link1"): "joint"}
