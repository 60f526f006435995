"""Nothing is dropped in silence, no remedy harms, and looks refuse no robot. trial-2, M5, M6 and M7."""
import pytest
from bounded import bounded

import mbros
from mbros.build.load import check

ROBOT = ("<robot name='r'>{top}<link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
         "{link}</link><joint name='j' type='{kind}'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>{joint}</joint>{end}</robot>")
LIMIT = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
CONTROL = ("<ros2_control name='c' type='system'><joint name='j'><command_interface name='position'{}/>"
           "<state_interface name='position'{}/>{}</joint></ros2_control>")


def robot(kind="revolute", top="", link="", joint=LIMIT, end=""):
    return ROBOT.format(kind=kind, top=top, link=link, joint=joint, end=end)


@pytest.mark.parametrize(("given", "words"), [
    (robot("continuous"), "lower and upper are not used"),
    (robot(end=CONTROL.format("", " initial_value='0.5'", "")), '<param name="initial_value">'),
    (robot(end=CONTROL.format(" min='0'", "", "")), '<param name="min">'),
    (robot(end=CONTROL.format("", "", "<state_interface name='position'/>")), "a second 'position'"),
    (robot(end=CONTROL.format("", "", "") + CONTROL.format("", "", "").replace("'position'", "'effort'")), "a drive of an earlier <joint>"),
    (robot(top="<material name='m'><color rgba='1 0 0 1'/></material><material name='m'><color rgba='0 0 0 1'/></material>"),
     "the last is taken"),
    (robot(link="<visual><geometry><sphere radius='1'/></geometry><material name='x'/><material name='y'/></visual>"), "2 <material>"),
    (robot("floating", joint="<drake:rotor_inertia value='1'/>"), "<drake:rotor_inertia> has no effect"),
    (robot("fixed", joint="<mbros:default q='1'/>"), "<mbros:default> has no effect"),
    (robot(link="<inertia ixx='1' iyy='1' izz='1'/>"), "<inertia> in <link>: not used")])
def test_trial_M5_what_is_not_used_is_said(given, words):
    problems, notes = check(given)
    assert not problems and [note for note in notes if words in str(note)], [*map(str, notes)]


def test_trial_M5_a_second_inertia_is_refused():
    problems, _ = check(robot().replace("</inertial>", "<inertia ixx='2' iyy='2' izz='2'/></inertial>"))
    assert "2 <inertia> elements" in problems[0].reason


@pytest.mark.parametrize(("joint", "said"), [
    ("<limit velocity='3'/>", ['effort="..."', "N m", "--limits as_given"]),
    ("<limit effort='3'/>", ['velocity="..."', "--limits as_given"]),
    ("", ["<limit> is missing", "--limits as_given"]),
    ("<limit lower='1' effort='1' velocity='1'/>", ["upper is not given", "Write upper."]),
    ("<limit lower='2' upper='1' effort='1' velocity='1'/>", ["Swap them."])])
def test_trial_M6_remedies_do_no_harm(joint, said):
    (problem,), _ = check(robot(joint=joint))
    assert all(word in str(problem) for word in said) and '="0' not in problem.remedy, str(problem)
    if "--limits" in said[-1]:
        assert not check(robot(joint=joint), limits="as_given")[0]


@pytest.mark.parametrize("missing", [("mass value='1'", "mass"), ("ixx='1' ", "")])
def test_trial_M6_no_remedy_names_a_number_that_would_be_taken(missing):
    (problem,), _ = check(robot().replace(*missing))
    assert '"..."' in problem.remedy and '"0"' not in problem.remedy


LOOKS = ["<geometry><mesh filename='a.stl' scale='1 1'/></geometry>", "<geometry><mesh filename='a.stl' scale='x y z'/></geometry>",
         "<geometry><torus/></geometry>", "", "<geometry><box size='-1 1 1'/></geometry>",
         "<origin xyz='nan 0 0'/><geometry><sphere/></geometry>",
         "<geometry><sphere radius='1'/></geometry><material name='m'><color rgba='1 0 0'/></material>"]


@pytest.mark.parametrize("visual", LOOKS)
def test_trial_M7_looks_refuse_no_robot(visual):
    model = mbros.load(robot(link=f"<visual>{visual}</visual>"))
    warning = next(note for note in model.description.notes if "not shown" in note.reason)
    assert warning.severity == "warning" and warning.line == 1 and warning.element.startswith("link 'b'")
    assert check(robot(top=f"<link name='x'><collision>{LOOKS[0]}</collision></link>"))[0]       # what is touched is not only seen


def groups(*texts, links="abcd"):
    """A robot, and groups of "name|attributes|members|ignored"."""
    shape = "<collision><geometry><sphere radius='1'/></geometry></collision>"
    made = "".join(
        f"<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>{shape}</link><joint name='j{name}' "
        f"type='continuous'><parent link='root'/><child link='{name}'/></joint>" for name in links)
    for name, attributes, members, ignored in (text.split("|") for text in texts):
        inside = [f"<drake:member link='{m}'/>" if len(m) == 1 else f"<drake:member_group name='{m}'/>" for m in members.split()]
        inside += [f"<drake:ignored_collision_filter_group name='{m}'/>" for m in ignored.split()]
        made += f"<drake:collision_filter_group name='{name}' {attributes}>{''.join(inside)}</drake:collision_filter_group>"
    return f"<robot name='r'><link name='root'/>{made}</robot>"


@pytest.mark.parametrize(("texts", "pairs"), [
    (["one||a b|one"], {"ab"}), (["one||a b|two", "two||c d|"], {"ac", "ad", "bc", "bd"}), (["one|ignore='true'|a b|one"], set()),
    (["one||a two|one", "two||b one|"], {"ab"}), (["one||a b x|one three"], {"ab"})])
def test_trial_M5_collision_filter_groups_are_read(texts, pairs):
    model = mbros.load(groups(*texts), collisions=True)
    bodies = {shape.name: shape.body.name for shape in model.shapes}
    kept = {"".join(sorted((shape.body.name, bodies[other]))) for shape in model.shapes for other, why in shape.excluded.items()
            if "filter group" in why}
    assert kept == pairs
    said = [str(note) for note in model.description.notes if "there is no" in str(note)]
    assert len(said) == (2 if "x" in texts[0] else 0), said


def test_trial_M5_collision_filter_groups_are_bounded():
    import string

    everyone = " ".join(string.ascii_letters)
    text = groups(*[f"g{k:02}||{everyone} {' '.join(f'g{i:02}' for i in range(99))}|{' '.join(f'g{i:02}' for i in range(99))}"
                    for k in range(99)], links=string.ascii_letters)
    found, _ = bounded(lambda: mbros.load(text))
    assert "the groups have more than 300000 members and pairs" in found


def test_trial_R13_arguments_of_xacro_that_do_nothing_are_refused(tmp_path):
    pytest.importorskip("xacro")
    other = tmp_path / "other.xacro"
    other.write_text("<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arg name='mass' default='1'/></robot>")
    file = tmp_path / "r.xacro"
    file.write_text(f"<robot xmlns:xacro='http://www.ros.org/wiki/xacro' name='r'><xacro:include filename='{other}'/><link name='a'>"
                    "<inertial><mass value='$(arg mass)'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>")
    assert mbros.load(file, base="floating", xacro_args={"mass": 3}).body("a").mass == 3.0
    with pytest.raises(mbros.MbrosError, match="it has no argument 'mas'; did you mean 'mass'"):
        mbros.load(file, base="floating", xacro_args={"mas": 3})
    for source in ("arm7", robot()):
        with pytest.raises(mbros.MbrosError, match="xacro_args: .* is no .xacro file; leave it out"):
            mbros.load(source, xacro_args={"mass": 3})
        assert mbros.load(source, xacro_args={}).nv
