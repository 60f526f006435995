"""Good URDFs: what is read, what is noted, and the robots of the wild."""
import numpy as np
import pytest

import mbros
from mbros.build.compile.tree import compile_robot
from mbros.build.load import check
from mbros.describe import urdf
from mbros.describe.urdf.numbers import parse_finite_float
from mbros.describe.urdf.packages import example_robot_data
from mbros.errors import MissingPackageError, UrdfError
from mbros.spatial.placement import rotation_from_rpy

FULL = """<?xml version="1.0"?>
<robot name="full" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="root"/>
  <link name="arm">
    <inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2.5"/>
      <inertia ixx="0.3" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial>
    <visual name="shell"><origin xyz="0 0 1" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
    <visual><geometry><mesh filename="package://p/m.stl" scale="2 2 2"/></geometry>
      <material name="own"><color rgba="0 1 0 0.5"/></material></visual>
    <collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
    <collision><geometry><capsule radius="0.3" length="1"/></geometry></collision>
  </link>
  <link name="tool"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="slider"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><parent link="root"/><child link="arm"/><axis xyz="0 0 -2"/>
    <limit lower="-1.5" upper="+.5" effort="1e2" velocity="3."/><dynamics damping="0.7" friction="0.2"/>
    <drake:rotor_inertia value="0.001"/><drake:gear_ratio value="50"/>
    <safety_controller k_velocity="1"/><calibration rising="0"/>
  </joint>
  <joint name="wrist" type="continuous"><parent link="arm"/><child link="tool"/><axis xyz="0.6 0 0.8"/>
    <limit effort="5" velocity="6"/></joint>
  <joint name="slide" type="prismatic"><parent link="tool"/><child link="slider"/>
    <limit lower="0" upper="0.1" effort="7" velocity="8"/><mimic joint="wrist" multiplier="0.01" offset="0.05"/></joint>
  <transmission name="t"><type>x</type><joint name="wrist"/>
    <actuator name="m"><drake:rotor_inertia value="0.02"/><drake:gear_ratio value="3"/></actuator></transmission>
  <gazebo reference="arm"/><gazebo/><gazebo><plugin><deep><deeper/></deep></plugin></gazebo>
  <ros2_control name="c" type="system"/>
  <joint_limits/>
</robot>
"""


@pytest.fixture
def full():
    return urdf.parse(FULL)


def test_links(full):
    arm = next(b for b in full.bodies if b.name == "arm")
    R = rotation_from_rpy((0.4, -0.5, 0.6))
    I = np.array([[0.3, 0.01, -0.02], [0.01, 0.4, 0.03], [-0.02, 0.03, 0.5]])
    assert arm.mass == 2.5 and arm.com.tolist() == [0.1, 0.2, 0.3]
    assert np.allclose(arm.inertia, R @ I @ R.T, rtol=1e-15)
    assert (arm.source.file, arm.source.line) == ("<text>", 5)
    box, mesh = arm.visuals
    assert (box.geometry.kind, box.geometry.size, box.rgba, box.name) == ("box", (1, 2, 3), (1, 0, 0, 1), "shell")
    assert box.X_BG.p.tolist() == [0, 0, 1] and np.allclose(box.X_BG.R, rotation_from_rpy((0, 0, 1)))
    assert (mesh.geometry.filename, mesh.geometry.scale, mesh.rgba) == ("package://p/m.stl", (2, 2, 2), (0, 1, 0, 0.5))
    assert [c.geometry.kind for c in arm.collisions] == ["cylinder", "sphere", "capsule"]


def test_joints(full):
    base, shoulder, wrist, slide = full.joints
    assert (base.name, base.kind, base.parent.name, base.child.name) == ("base", "weld", "world", "root")
    assert shoulder.axis.tolist() == [0, 0, -1] and shoulder.X_PF.p.tolist() == [1, 2, 3]
    assert np.allclose(shoulder.X_PF.R, rotation_from_rpy((0.1, 0.2, 0.3)))
    assert [float(x[0]) for x in (shoulder.lower, shoulder.upper, shoulder.effort, shoulder.velocity, shoulder.damping,
                                  shoulder.friction, shoulder.rotor_inertia, shoulder.gear_ratio)] == [
        -1.5, 0.5, 100, 3, 0.7, 0.2, 0.001, 50]
    assert (wrist.kind, wrist.lower[0], wrist.effort[0], wrist.rotor_inertia[0], wrist.gear_ratio[0]) == ("continuous", -np.inf, 5, 0.02, 3)
    assert slide.axis.tolist() == [1, 0, 0] and slide.mimic.leader == "wrist"
    assert (slide.mimic.ratio, slide.mimic.offset) == (0.01, 0.05)
    compiled = compile_robot(full)
    assert compiled.spec.joint_names == ["world", "shoulder", "wrist", "slide"]
    assert compiled.joints[1].axis.tolist() == [0, 0, -1] and compiled.joints[1].line == 17


def test_everything_left_out_is_noted_once(full):
    notes = {n.element: n for n in full.notes}
    assert all(n.severity in ("note", "warning") and n.line and n.file == "<text>" for n in full.notes)
    assert "3 times" in notes["<gazebo> in <robot>"].reason and notes["<gazebo> in <robot>"].line == 29
    assert "normalised" in notes["joint 'shoulder', <axis>"].reason
    assert "x is taken" in notes["joint 'slide'"].reason
    assert {"<safety_controller> in <joint>", "<calibration> in <joint>", "<ros2_control> in <robot>"} <= set(notes)
    assert "unknown element" in notes["<joint_limits> in <robot>"].reason
    assert not any("transmission" in element or "deep" in element or "xmlns" in str(n) for element, n in notes.items())
    assert len(full.notes) == len({(n.element, n.reason) for n in full.notes})


def simple(inside="", kind="revolute", child='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', root="a"):
    return (f'<robot name="r"><link name="{root}"/><link name="b">{child}</link><joint name="j" type="{kind}">'
            f'<parent link="{root}"/><child link="b"/>{inside}</joint></robot>')


@pytest.mark.parametrize("text, words, severity", [
    (simple('<limit effort="1" velocity="1"/>'), "neither lower nor upper", "warning"),
    (simple('<limit lower="0" upper="0" effort="0" velocity="0"/>'), "taken as without limits", "warning"),
    (simple('<limit lower="-1e16" upper="1" effort="1" velocity="2"/>'), "a limit of -1e+16 is taken as none", "note"),
    (simple('<limit lower="-1" upper="1" effort="0" velocity="2"/>'), "every command to this joint is clamped to 0", "warning"),
    (simple('<limit lower="-1" upper="1" effort="1" velocity="2"/><dynamics dampin="1"/>'),
     "'dampin' is not used; did you mean 'damping'?", "warning"),
    (simple('<limits/>', "continuous"), "did you mean <limit>?", "warning"),
    (simple('<limit effort="1" velocity="1" jerk="5"/>', "continuous"), "'jerk' is not used", "note"),
    (simple('<axis xyz="0 0 1"/>', "floating"), "no effect on a floating joint", "note"),
    (simple('<limit effort="1" velocity="1"/><axis xyz="0 0 1"/>', "planar"), "not used on a planar joint", "note"),
    (simple('<mimic joint="x"/>', "fixed"), "no effect on a fixed joint", "note"),
    (simple(kind="fixed").replace('<robot name="r">', '<robot><xacro:arg name="x"/>'), "load the .xacro file", "warning"),
    (simple(kind="fixed").replace(' name="r"', ""), "it has no name; 'robot' is taken", "warning"),
    (simple(kind="fixed").replace('<link name="b">', '<link name="b"><drake:proximity/>'), "drake: extension", "note"),
])
def test_notes(text, words, severity):
    description = urdf.parse(text)
    assert [n.severity for n in description.notes if words in n.reason] == [severity], description.notes


def test_limits_as_large_as_doubles_are_none():
    joint = urdf.parse(simple('<limit lower="-1.7e308" upper="1e16" effort="3.4e38" velocity="1e15"/>')).joints[1]
    assert [float(x[0]) for x in (joint.lower, joint.upper, joint.effort, joint.velocity)] == [-np.inf, np.inf, np.inf, np.inf]


def test_zero_limits_do_not_freeze_the_joint():
    joint = urdf.parse(simple('<limit lower="0" upper="0" effort="0" velocity="0"/>')).joints[1]
    assert (joint.limits.position.lower[0], joint.limits.position.upper[0]) == (-np.inf, np.inf)
    assert (joint.effort[0], joint.velocity[0]) == (np.inf, np.inf)
    joint = urdf.parse(simple('<limit lower="0" upper="0" effort="1" velocity="1"/>')).joints[1]
    assert (joint.limits.position.lower[0], joint.limits.position.upper[0]) == (0, 0)


@pytest.mark.parametrize("axis, normal", [("", (1, 0, 0)), ('<axis xyz="0 1 0"/>', (0, 1, 0)), ('<axis xyz="0 0 1"/>', (0, 0, 1)),
                                          ('<axis xyz="0 3 4"/>', (0, 0.6, 0.8))])
def test_planar_joints_move_across_their_axis(axis, normal):
    from forward_kinematics import body_poses

    description = urdf.parse(simple('<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/>' + axis, "planar"))
    X_WF = np.eye(4)
    X_WF[:3, :3], X_WF[:3, 3] = rotation_from_rpy((0.3, 0.2, 0.1)), (1, 2, 3)
    zero = body_poses(description, {"base": (), "j": np.zeros(3)})["b"]
    assert np.allclose(zero, X_WF, atol=1e-15)                  # the child frame is the joint frame at q = 0
    moved = np.linalg.inv(X_WF) @ body_poses(description, {"base": (), "j": np.array([0.3, -0.4, 0.5])})["b"]
    assert moved[:3, 3] @ normal == pytest.approx(0, abs=1e-15) and np.linalg.norm(moved[:3, 3]) == pytest.approx(0.5)
    assert np.allclose(moved[:3, :3] @ normal, normal, atol=1e-15)
    assert np.trace(moved[:3, :3]) == pytest.approx(1 + 2 * np.cos(0.5))


@pytest.mark.parametrize("base, kind, nq", [(None, "weld", 1), ("fixed", "weld", 1), ("floating", "floating", 8), ("planar", "planar", 4)])
def test_bases(base, kind, nq):
    text = simple('<axis xyz="0 0 1"/>', "continuous", root="root").replace('<link name="root"/>', '<link name="root"><inertial><mass '
                  'value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>')
    description = urdf.parse(text, base=base)
    assert description.joints[0].kind == kind
    assert len(compile_robot(description).spec.q_default) == nq


def test_base_by_another_name():
    with pytest.raises(ValueError, match="base is 'floatin'.*did you mean 'floating'"):
        urdf.parse(FULL, base="floatin")
    description = urdf.parse(simple("", "continuous").replace('joint name="j"', 'joint name="base"'))
    assert [j.name for j in description.joints] == ["world_a", "base"]


def test_root_called_world_is_the_world():
    text = simple("", "continuous", root="world")
    description = urdf.parse(text)
    assert [j.name for j in description.joints] == ["j"] and [b.name for b in description.bodies] == ["b"]
    assert description.joints[0].parent is description.world
    with pytest.raises(UrdfError, match="link 'world'.*floating base.*base='fixed'"):
        urdf.parse(text, base="floating")


def test_text_with_byte_order_mark_and_declared_encoding(tmp_path):
    for text in ("\ufeff" + FULL, "\n  " + FULL, FULL.replace('"1.0"?', '"1.0" encoding="UTF-8"?'),
                 FULL.replace('"1.0"?', '"1.0" encoding="us-ascii"?')):
        assert urdf.parse(text).name == "full"
    path = tmp_path / "latin.urdf"
    path.write_bytes(FULL.replace('"1.0"?', '"1.0" encoding="iso-8859-1"?').replace('"tool"', '"t\xf6ol"').encode("latin-1"))
    latin = urdf.parse(path)
    assert "t\xf6ol" in [b.name for b in latin.bodies] and 't\xf6ol' in latin.text
    path.write_bytes(b"\xef\xbb\xbf" + FULL.replace('"tool"', '"\u624b"').encode())
    assert "\u624b" in [b.name for b in urdf.parse(path).bodies]


def test_the_text_is_kept_for_viewers(full):
    assert full.text == FULL and full.file == "<text>"


@pytest.mark.parametrize("text, value", [("1", 1.0), ("-0", 0.0), ("+.5", 0.5), ("5.", 5.0), ("1e-3", 1e-3), ("1E+3", 1000.0),
                                         ("1e-400", 0.0), ("0" * 300 + "7", 7.0), ("1.7976931348623157e308", 1.7976931348623157e308)])
def test_numbers(text, value):
    assert parse_finite_float(text) == value


def test_inertia_as_given():
    text = simple("", "continuous", child='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial>')
    with pytest.raises(UrdfError, match="triangle"):
        urdf.parse(text)
    description = urdf.parse(text, inertia="as_given")
    assert description.bodies[1].inertia[2, 2] == 3 and description.notes[-1].severity == "warning"
    with pytest.raises(ValueError, match="expected 'check' or 'as_given'"):
        urdf.parse(text, inertia="no")


def test_a_long_chain_of_links(tmp_path):
    n = 3000
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    text = '<robot name="long">' + "".join(f'<link name="l{k}">{inertial}</link>' for k in range(n)) + "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>' for k in range(n - 1)) + "</robot>"
    problems, notes = check(text)
    assert not problems and not notes


# --- xacro

def test_xacro_files(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "arm.urdf.xacro"
    path.write_text("""<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m" default="1"/>
      <link name="a"/><link name="b"><inertial><mass value="$(arg m)"/><inertia ixx="${1/2}" iyy="0.5" izz="0.5"/></inertial></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>""")
    assert urdf.parse(path).bodies[1].mass == 1
    description = urdf.parse(path, xacro_args={"m": 2.5})
    assert description.bodies[1].mass == 2.5 and description.bodies[1].inertia[0, 0] == 0.5
    (problem,), _ = check(path, xacro_args={"m": "heavy"})
    assert "'heavy' is not a number" in problem.reason and (problem.file, problem.line) == (str(path), 2)
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:missing_macro/></robot>')
    (problem,), _ = check(path)
    assert "cannot be expanded" in problem.reason and problem.remedy


def test_xacro_is_never_run_on_text_or_other_files(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xacro", None)      # importing it would raise
    text = simple("", "continuous").replace('value="1"', 'value="${1}"')
    (problem,), _ = check(text)
    assert "unexpanded xacro" in problem.reason
    path = tmp_path / "a.urdf"
    path.write_text(text)
    assert "unexpanded xacro" in check(path)[0][0].reason
    with pytest.raises(MissingPackageError, match=r"pip install 'mbros\[xacro\]'"):
        path.rename(tmp_path / "a.xacro")
        urdf.parse(tmp_path / "a.xacro")


# --- the robots of the wild

# Each refusal has a reason that stands on its own: these files do not describe a possible robot.
REFUSED = {
    "alex_psyonic_hands.urdf": "mimics joint 'index_q1', which does not exist",       # the joint is called Left_index_q1
    "romeo.urdf": "has no mass, and nothing massive behind it",                       # RHand and LHand move empty fingers
    "romeo_laas_small.urdf": "is negative, which no distribution of mass has",
    "romeo_small.urdf": "triangle inequality",
    "ur3.urdf": "it has no <link>",                                                   # an empty file
}
WILD = sorted(file for root in example_robot_data()[:1] for file in (root / "robots").glob("**/*.urdf"))


@pytest.mark.skipif(not WILD, reason="example-robot-data is not installed: pip install example-robot-data")
def test_example_robot_data_is_complete():
    assert len(WILD) >= 60 and set(REFUSED) <= {file.name for file in WILD}


@pytest.mark.parametrize("file", WILD, ids=lambda file: file.name)
def test_example_robot_data(file):
    problems, notes = check(file)
    if file.name in REFUSED:
        assert any(REFUSED[file.name] in p.reason for p in problems), problems
        return
    assert not problems
    assert all(n.line and n.file == str(file) for n in notes)
    for base in ("floating", "planar"):
        if urdf.read_source(file).bodies[0].name != "world" and "world" not in {b.name for b in urdf.read_source(file).bodies}:
            assert check(file, base=base)[0] == []


def test_trial_H14_a_material_that_one_link_defines_holds_for_all():
    """As urdfdom has it; the spheres of arm7, two at each joint, have one colour."""
    bodies = {body.name: body for body in mbros.load("arm7").description.bodies}
    for first, second in zip("135", "246"):
        colours = [shape.rgba for k in (first, second) for shape in bodies[f"link{k}"].visuals if shape.geometry.kind == "sphere"]
        assert len(colours) == 2 and colours[0] == colours[1] == (0.15, 0.35, 0.65, 1.0)
