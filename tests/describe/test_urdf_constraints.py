"""Constraints in URDF: mbros' tag, Drake's, the one proposed for URDF; and what is said of those that are wrong."""
import mbros
import numpy as np
import pytest

HEAD = """<robot name="r" xmlns:mbros="urn:mbros:urdf" xmlns:drake="http://drake.mit.edu">
<link name="ground"/>""" + "".join(
    f"""<link name="{name}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="0.001" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>""" for name in "abc") + "".join(
    f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>
    </joint>""" for name, parent, child, x in (("j1", "ground", "a", 0), ("j2", "a", "b", 0.3), ("j3", "ground", "c", 0.7)))
FRAMES = """<mbros:frame name="b_end" link="b" xyz="0.8 0 0"/><mbros:frame name="c_end" link="c" xyz="0.6 0 0"/>"""
ORIGINS = """<parent link="b"/><parent_origin xyz="0.8 0 0"/><parent_axis xyz="{axis}"/>
<child link="c"/><child_origin xyz="0.6 0 0" rpy="0 0 {turn}"/><child_axis xyz="{other}"/>"""


def load(*tags):
    return mbros.load("\n".join([HEAD, *tags, "</robot>"]))


@pytest.mark.parametrize("kind, words, rows", [("ball", "", 3), ("weld", "", 6), ("hinge", 'axis="0 2 0"', 5),
                                               ("universal", 'axis_A="0 2 0" axis_B="0 0 1"', 4), ("prismatic", "", 5),
                                               ("cylindrical", 'axis="0 2 0"', 4), ("planar", 'axis="0 2 0"', 3),
                                               ("distance", 'length="0.25"', 1), ("distance", 'length="0.25" rope="true"', 1)])
def test_own_tag_between_frames(kind, words, rows):
    model = load(FRAMES, f'<mbros:constraint name="loop" type="{kind}" frame_A="b_end" frame_B="c_end" {words}/>')
    c = model.constraints["loop"]
    assert (c.kind, c.frame_a.name, c.frame_b.name) == (kind, "b_end", "c_end") and c.gap(model.default_state()).shape == (rows,)
    if kind == "distance":
        assert c.length == 0.25 and c.rope == ("rope" in words)
        p = [model.pose(model.default_state(), name).p for name in ("b_end", "c_end")]
        gap = np.linalg.norm(p[1] - p[0]) - 0.25
        assert c.gap(model.default_state())[0] == pytest.approx(max(gap, 0.0) if c.rope else gap)
    assert model.description.notes == []


def test_own_tag_between_joints():
    c = load('<mbros:constraint name="gear" type="coupler" joint_A="j1" joint_B="j3" ratio="-2" offset="0.1"/>').constraints[0]
    state = c.model.default_state()
    state.q = [0.5, 0.0, 0.2]
    assert c.gap(state) == pytest.approx([0.5 + 2 * 0.2 - 0.1]) and c.units == ("rad",)
    assert c.jacobian(state).tolist() == [[1.0, 0.0, 2.0]]


def test_drakes_tag_and_the_proposed_one_are_the_same_loop():
    tags = ['<mbros:constraint name="loop" type="ball" frame_A="b_end" frame_B="c_end"/>',
            """<drake:ball_constraint><drake:ball_constraint_body_A name="b"/><drake:ball_constraint_p_AP value="0.8 0 0"/>
            <drake:ball_constraint_body_B name="c"/><drake:ball_constraint_p_BQ value="0.6 0 0"/></drake:ball_constraint>""",
            f'<constraint name="loop" type="spherical">{ORIGINS.format(axis="0 1 0", other="0 1 0", turn=0)}</constraint>']
    found = []
    for tag in tags:
        model = load(FRAMES, tag)
        state = model.default_state()
        state.q = [0.5, 0.3, -0.9]
        found.append(model.constraints[0].gap(state))
    assert np.ptp(found, axis=0).max() < 1e-15


def test_the_proposed_hinge_has_an_axis_on_each_side():
    """c's frame is turned by a right angle about z: its x is the axis that is y on the other side."""
    model = load(f'<constraint name="loop" type="revolute">{ORIGINS.format(axis="0 1 0", other="1 0 0", turn=np.pi / 2)}</constraint>')
    c, state = model.constraints["loop"], model.default_state()
    assert c.kind == "hinge" and np.abs(c.gap(state)[3:]).max() < 1e-15
    closed = model.assemble(state)
    assert np.abs(c.gap(closed)).max() < 1e-12
    wrong = load(f'<constraint name="loop" type="revolute">{ORIGINS.format(axis="0 1 0", other="0 1 0", turn=np.pi / 2)}</constraint>')
    assert np.linalg.norm(wrong.constraints[0].gap(wrong.default_state())[3:]) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("tag, words", [
    ('<mbros:constraint name="x" type="bal" frame_A="b" frame_B="c"/>', "type='bal' is unknown; did you mean 'ball'"),
    ('<mbros:constraint name="x" type="ball" frame_A="b" frame_B="d"/>', "frame_B: there is no link or frame 'd'"),
    ('<mbros:constraint name="x" type="ball" frame_A="b"/>', "attribute 'frame_B' is missing"),
    ('<mbros:constraint name="x" type="ball" frame_A="b" frame_B="c" axis="0 0 1"/>', "attribute 'axis' has no meaning for type 'ball'"),
    ('<mbros:constraint name="x" type="distance" frame_A="b" frame_B="c"/>', "attribute 'length' is missing"),
    ('<mbros:constraint name="x" type="distance" frame_A="b" frame_B="c" length="-1"/>', "length is -1 m"),
    ('<mbros:constraint name="x" type="distance" frame_A="b" frame_B="c" length="1" rope="maybe"/>', "rope='maybe' is neither true nor"),
    ('<mbros:constraint name="x" type="hinge" frame_A="b" frame_B="c" axis="0 0 0"/>', "no direction"),
    ('<mbros:constraint name="x" type="coupler" joint_A="j1" joint_B="j9"/>', "joint_B: there is no joint 'j9'"),
    ('<mbros:constraint name="x" type="coupler" joint_A="j1" joint_B="j1"/>', "joint_a and joint_b are both 'j1'"),
    ('<mbros:constraint type="ball" frame_A="b" frame_B="c"/>', "attribute 'name' is missing"),
    ('<mbros:constraint name="x" type="ball" frame_A="b" frame_B="b"/>', "are both on body 'b'"),
    ('<constraint name="x" type="universal"><parent link="b"/><child link="c"/></constraint>', "type='universal' is not read"),
    ('<constraint name="x" type="ball"><parent link="b"/></constraint>', "<child> is missing"),
    ("<drake:ball_constraint/>", "<drake:ball_constraint_body_A> is missing")])
def test_words_of_what_is_wrong(tag, words):
    with pytest.raises(mbros.MbrosError) as refused:
        load(tag)
    assert words in str(refused.value) and "<text>:" in str(refused.value)


def test_loops_on_the_world_and_under_another_base():
    model = load(FRAMES, '<mbros:constraint name="x" type="ball" frame_A="world" frame_B="c_end"/>')
    assert model.constraints[0].frame_a.name == "world"
    floating = mbros.load("four_bar", base="floating")
    assert np.abs(floating.constraints["loop"].gap(floating.default_state())).max() < 1e-12
