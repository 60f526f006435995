"""What <collision> and <gazebo> say of touching, in the words of four simulators, and SRDF files."""
import pytest

import mbros
from mbros.build.load import load_description
from mbros.describe import urdf
from mbros.describe.urdf.srdf import read_srdf
from mbros.errors import UrdfError

LINK = """<robot name="r" xmlns:mbros="urn:mbros:urdf" xmlns:drake="http://drake.mit.edu">
  <link name="a">
    <collision name="ball"><geometry><sphere radius="0.1"/></geometry>
      {}
    </collision>
  </link>
  {}
</robot>"""
DRAKE = "<drake:proximity_properties>{}</drake:proximity_properties>"
NUMBERS = ("stiffness", "relaxation_time", "friction", "static_friction", "torsional_radius", "rolling_radius")


def shape(inside="", beside=""):
    """(the numbers given, the description)."""
    description = urdf.parse(LINK.format(inside, beside))
    found, = description.bodies[0].collisions
    return {name: getattr(found, name) for name in NUMBERS if getattr(found, name) is not None}, description


def test_without_a_word_nothing_is_given():
    numbers, description = shape()
    assert numbers == {} and description.notes == []
    ball, = description.bodies[0].collisions
    assert (ball.name, ball.group, ball.source.line) == ("ball", "", 3)


def test_own_tag():
    numbers, description = shape('<mbros:contact stiffness="2e5" relaxation_time="0.01" friction="0.7" static_friction="0.9" '
                                 'torsional_radius="0.02" rolling_radius="1e-3" group="hand"/>')
    assert numbers == dict(zip(NUMBERS, (2e5, 0.01, 0.7, 0.9, 0.02, 1e-3))) and description.notes == []
    assert description.bodies[0].collisions[0].group == "hand"


def test_drakes_properties():
    numbers, description = shape(DRAKE.format(
        '<drake:mu_dynamic value="0.4"/><drake:mu_static value="0.5"/><drake:point_contact_stiffness value="3e5"/>'
        '<drake:relaxation_time value="0.1"/><drake:hunt_crossley_dissipation value="1.2"/><drake:rigid_hydroelastic/>'))
    assert numbers == {"friction": 0.4, "static_friction": 0.5, "stiffness": 3e5, "relaxation_time": 0.1}
    notes = [str(note) for note in description.notes]
    assert len(notes) == 2 and "hunt_crossley_dissipation" in notes[1] and "drake:relaxation_time is read" in notes[1]
    assert {note.severity for note in description.notes} == {"note"} and {note.line for note in description.notes} == {4}


def test_drakes_capsule():
    text = LINK.format("", "").replace('<sphere radius="0.1"/>', '<drake:capsule radius="0.1" length="0.3"/>')
    description = urdf.parse(text)
    found = description.bodies[0].collisions[0].geometry
    assert (found.kind, found.radius, found.length) == ("capsule", 0.1, 0.3) and description.notes == []


def test_gazebos_link_properties():
    numbers, description = shape(beside='<gazebo reference="a"><mu1>0.6</mu1><mu2 value="0.6"/><kp>1e6</kp><kd>2e3</kd></gazebo>')
    assert numbers == {"friction": 0.6, "stiffness": 1e6, "relaxation_time": pytest.approx(2e-3)}
    note, = description.notes
    assert "relaxation_time = kd / kp" in note.reason and note.severity == "note" and note.line == 7


def test_gazebo_with_two_frictions_and_other_settings():
    numbers, description = shape(beside='<gazebo reference="a"><mu1>0.6</mu1><mu2>0.2</mu2><material>Gazebo/Red</material></gazebo>')
    assert numbers == {"friction": 0.6}
    assert [note.severity for note in description.notes] == ["warning", "note"]
    assert "mu2 is 0.2" in description.notes[0].reason and "<material>" in description.notes[1].reason


@pytest.mark.parametrize("inside, why", [("<mu1>a lot</mu1>", "'a lot' is not a number"), ("<mu1>-1</mu1>", "'-1' is negative"),
                                         ("<mu1/>", "is empty"), ("<kd>5</kd>", "kp must be positive"),
                                         ("<kp>0</kp>", "kp must be positive")])
def test_what_is_wrong_in_gazebo_is_for_another_program(inside, why):
    numbers, description = shape(beside=f'<gazebo reference="a">{inside}</gazebo>')
    assert numbers == {} and why in description.notes[0].reason
    _, description = shape(beside='<gazebo reference="b"><mu1>1</mu1></gazebo>')
    assert "there is no such link" in description.notes[0].reason


@pytest.mark.parametrize("geom, expected", [
    ('friction="0.5 0.01 0.0002"', {"friction": 0.5}),
    ('friction="0.5 0.01 0.0002" condim="4"', {"friction": 0.5, "torsional_radius": 0.02}),
    ('friction="0.5" condim="6"', {"friction": 0.5, "torsional_radius": 0.01, "rolling_radius": 0.0001}),
    ('friction="0.5" condim="1"', {"friction": 0.0}),
    ('condim="1"', {"friction": 0.0}),
    ('solref="0.01 2"', {"relaxation_time": 0.04}),
    ('solref="-1000 -10"', {})])
def test_mujocos_geom(geom, expected):
    numbers, description = shape(f"<mujoco><geom {geom}/></mujoco>")
    assert numbers == pytest.approx(expected)
    assert len(description.notes) == ("solref" in geom)


def test_which_of_several_counts():
    numbers, _ = shape('<mbros:contact friction="0.1"/>' + DRAKE.format('<drake:mu_dynamic value="0.2"/><drake:mu_static value="0.3"/>')
                       + '<mujoco><geom friction="0.4" solref="0.02 1"/></mujoco>',
                       '<gazebo reference="a"><mu1>0.5</mu1><kp>1e5</kp></gazebo>')
    assert numbers == {"friction": 0.1, "static_friction": 0.3, "relaxation_time": 0.02, "stiffness": 1e5}


@pytest.mark.parametrize("inside, why", [
    ('<mbros:contact friction="-0.1"/>', "friction='-0.1' is below 0"), ('<mbros:contact stiffness="0"/>', "stiffness is 0"),
    ('<mbros:contact stifness="1e5"/>', "did you mean 'stiffness'"), ('<mbros:contact friction="nan"/>', "not a finite number"),
    ('<mbros:contact/><mbros:contact/>', "2 <mbros:contact> elements"), ('<mbros:contact group=" "/>', "is empty"),
    ('<mbros:contact>0.5</mbros:contact>', "there is text in it"),
    (DRAKE.format("<drake:mu_dynamic/>"), "attribute 'value' is missing"),
    ('<mujoco><geom friction="1 2 3 4"/></mujoco>', "has 4 numbers, expected 3")])
def test_what_is_wrong_is_said_with_its_line(inside, why):
    with pytest.raises(UrdfError) as caught:
        shape(inside)
    assert why in str(caught.value) and caught.value.line == 4, str(caught.value)


def test_the_numbers_reach_the_model():
    model = mbros.load(LINK.format('<mbros:contact friction="0.3"/>', ""), collisions=True)
    ball = model.shapes["ball"]
    assert (ball.friction, ball.stiffness, ball.relaxation_time) == (0.3, 1e6, 0.005)


# ------------------------------------------------------------------------------------------------------------------ SRDF

SRDF = """<?xml version="1.0"?>
<robot name="r">
  <group name="arm"><chain base_link="a" tip_link="b"/></group>
  <disable_collisions link1="a" link2="b" reason="Adjacent"/>
  <disable_collisions link1="a" link2="tool"/>
  <disable_default_collisions link="a"/>
</robot>"""


@pytest.fixture
def srdf(tmp_path):
    def write(text):
        path = tmp_path / "r.srdf"
        path.write_text(text)
        return path
    return write


def test_srdf(srdf):
    description = urdf.parse(LINK.format("", '<link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'))
    path = srdf(SRDF)
    read_srdf(path, description)
    rule, = description.exclusions
    assert (rule.a, rule.b, rule.reason, rule.source.line, rule.source.file) == ("a", "b", "Adjacent", 4, str(path))
    assert [(note.line, note.severity) for note in description.notes] == [(5, "warning"), (6, "warning")]
    assert "there is no link 'tool'" in str(description.notes[0])


@pytest.mark.parametrize("text, line, why", [
    ('<robot name="r">\n<disable_collisions link1="a"/>\n</robot>', 2, "attribute 'link2' is missing"),
    ('<robot name="r">\n<disable_collisions link1="a" link2="a"/>\n</robot>', 2, "both of its links are 'a'"),
    ('<robot name="r">\n<disable_collisions link1="a" link2="b">\n</robot>', 3, "not well-formed XML"),
    ('<sdf/>', 1, "the root element is not <robot>"), ('<!DOCTYPE x>\n<robot/>', 1, "document type"), ("", None, "it is empty")])
def test_srdf_problems_have_their_line(srdf, text, line, why):
    path = srdf(text)
    with pytest.raises(UrdfError, match=why) as caught:
        load_description("quadruped", srdf=path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_srdf_that_is_not_there():
    with pytest.raises(UrdfError, match="cannot be read: no such file"):
        mbros.load("quadruped", ground=True, srdf="nowhere.srdf")


def test_own_robots_read_without_a_note():
    for name in ("quadruped", "humanoid", "diff_drive"):
        assert load_description(name, ground=True).notes == []


def test_one_of_drakes_frictions_is_both():
    assert shape(DRAKE.format('<drake:mu_static value="0.3"/>'))[0] == {"friction": 0.3, "static_friction": 0.3}
    assert shape(DRAKE.format('<drake:mu_dynamic value="0.3"/>'))[0] == {"friction": 0.3}


def test_what_is_no_srdf_is_called_one(tmp_path):
    with pytest.raises(mbros.MbrosError, match="srdf: expected the path of an SRDF file, got 3"):
        mbros.load("quadruped", ground=True, srdf=3)
    with pytest.raises(UrdfError, match="Give the path of an SRDF file"):
        mbros.load("quadruped", ground=True, srdf=tmp_path)
