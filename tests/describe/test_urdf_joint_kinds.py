"""<drake:joint>, <mbros:joint>, <mbros:lock/> and <mbros:default/>: what they mean, and every refusal with its line."""
from pathlib import Path

import drake_peer
import numpy as np
import pytest
from tolerance import EPS, assert_close

import mbros
from mbros.describe import urdf
from mbros.describe.joints.abilities import has_axis
from mbros.describe.joints.kinds import KINDS, row_of
from mbros.describe.urdf.joint_kinds import tilt
from mbros.errors import UrdfError

INERTIAL = ('<inertial><origin xyz="0.1 -0.2 0.05"/><mass value="1.3"/><inertia ixx="0.3" ixy="0.02" ixz="-0.03" iyy="0.4" iyz="0.01" '
            'izz="0.5"/></inertial>')


def text(joint, tag="mbros:joint", kind="ball", name="j"):
    return (f'<robot name="r" xmlns:mbros="urn:mbros:urdf" xmlns:drake="http://drake.mit.edu">\n<link name="world"/>\n'
            f'<link name="B">{INERTIAL}</link>\n<{tag} name="{name}" type="{kind}">\n<parent link="world"/><child link="B"/>\n'
            f'<origin xyz="0.3 0.2 0.1" rpy="0.4 -0.5 0.6"/>\n{joint}</{tag}>\n</robot>')


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][1]])
def test_every_kind_by_its_name(kind):
    inside = '<mbros:pitch value="0.02"/>' if kind == "screw" else ""
    inside += '<axis xyz="0 0.6 0.8"/>' if has_axis(kind) or kind == "planar" else ""
    nq, nv = KINDS[kind]
    inside += (f'<dynamics damping="0.5" friction="{" ".join(["0.25"] * nv)}"/><limit velocity="2" effort="3" acceleration="4" '
               'lower="-1.5" upper="1.5"/>')
    model = mbros.load(text(inside, kind=kind))
    joint = model.joint("j")
    assert joint.kind == kind and (joint.nq, joint.nv) == (nq, nv)
    assert joint.defaults.damping.tolist() == [0.5] * nv and joint._row.friction.tolist() == [0.25] * nv
    assert joint.limits.velocity.upper.tolist() == [2] * nv and joint.limits.effort.upper.tolist() == [3] * nv
    assert joint.limits.acceleration.lower.tolist() == [-4] * nv
    assert joint.limits.position.lower.tolist() == [-1.5] * nq
    assert joint._row.parameters == ((0.02,) if kind == "screw" else ())
    if has_axis(kind):
        assert_close(joint.axis, [0, 0.6, 0.8], EPS)
    state = model.default_state()
    X = model.pose(state, "B")
    assert_close(X.p, [0.3, 0.2, 0.1], EPS)
    assert not model.description.notes
    assert_close(state.q, row_of(kind).neutral, 0.0)


def test_fixed_and_one_number_each():
    assert mbros.load(text("", kind="fixed")).joint("j").kind == "weld"
    model = mbros.load(text('<dynamics damping="1 2 3"/><limit lower="-1 -2 -3" upper="1 2 3" effort="4 5 6"/><mbros:default q="0.1 '
                            '0.2 0.3"/>',
                            kind="planar"))
    joint = model.joint("j")
    assert joint.defaults.damping.tolist() == [1, 2, 3]
    assert joint.limits.position.lower.tolist() == [-1, -2, -3] and joint.limits.effort.upper.tolist() == [4, 5, 6]
    assert model.default_state().q.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("tag, kind, inside", [("joint", "continuous", ""), ("mbros:joint", "ball", '<mbros:default q="0.6 0 0.8 0"/>'),
                                               ("drake:joint", "universal", "")])
def test_locks(tag, kind, inside):
    model = mbros.load(text(inside + "<mbros:lock/>", tag, kind))
    joint, state = model.joint("j"), model.default_state()
    assert joint.is_locked(state)
    q = state.q.copy()
    mbros.Simulator(model, state=state).advance_to(0.05)
    assert_close(state.q, q, 4 * EPS)
    other = mbros.load(text(inside, tag, kind))
    assert not other.joint("j").is_locked(other.default_state())
    assert joint.is_locked(model.random_state(3)) and np.array_equal(model.random_state(3).q, q)


@pytest.mark.parametrize("kind, inside", [
    ("ball", '<dynamics damping="0.4"/>'), ("universal", '<dynamics damping="0.4"/>'),
    ("screw", '<axis xyz="0 0.6 0.8"/><dynamics damping="0.4"/><drake:screw_thread_pitch value="0.3"/>'),
    ("planar", '<axis xyz="0 0.6 0.8"/><dynamics damping="0.1 0.2 0.3"/>'), ("planar", '<axis xyz="1 0 0"/>'), ("planar", "")])
def test_drake_reads_its_joints_alike(kind, inside, rng):
    """The same text in Drake's parser: pose, mass matrix, gravity and free motion at the same q and v."""
    drake_peer.available()
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    source = text(inside, "drake:joint", kind)
    model = mbros.load(source, gravity=(1, 2, -9.81))
    assert model.joint("j").kind == {"ball": "ball_rpy"}.get(kind, kind)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(source, "urdf")
    plant.mutable_gravity_field().set_gravity_vector([1, 2, -9.81])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for _ in range(10):
        state = model.default_state()
        state.set_q(rng.uniform(-1.2, 1.2, model.nq)), state.set_v(rng.normal(size=model.nv))
        q, v = model.to_convention(state, "drake")
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        X = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("B"))
        assert_close(model.pose(state, "B").matrix, X.GetAsMatrix4(), 1e-13)
        assert_close(model.mass_matrix(state), plant.CalcMassMatrix(context), 1e-12)
        assert_close(model.gravity_torques(state), -plant.CalcGravityGeneralizedForces(context), 1e-12, 1.0)
        vdot = plant.EvalTimeDerivatives(context).CopyToVector()[model.nq:]
        assert_close(model.forward_dynamics(state, np.zeros(model.nv)), vdot, 1e-10)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.48, -0.6, 0.64), (0.6, 0, -0.8), (1e-9, 0, -1)])
def test_the_smallest_tilt(axis):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    R = tilt(axis)
    assert_close(R[:, 2], axis, 8 * EPS, 1.0)
    assert_close(R @ R.T, np.eye(3), 1e-12, 1.0)
    assert np.linalg.det(R) > 0 and np.trace(R) == pytest.approx(1 + 2 * axis[2], abs=1e-12)


# text, line, words of the problem
BAD = {
    "unknown type": (text("", kind="bal"), 4, ["joint 'j'", "type 'bal' is unknown; did you mean 'ball'?", "mbros has"]),
    "standard type in drake": (text("", "drake:joint", "revolute"), 4,
                               ["type 'revolute' is unknown in <drake:joint>; write <joint> or <mbros:joint>"]),
    "ball in urdf": (text("", "joint", "ball"), 4, ["type 'ball' is unknown in <joint>; write <drake:joint> or <mbros:joint>"]),
    "no type": (text("").replace(' type="ball"', ""), 4, ["attribute 'type' is missing in <mbros:joint>"]),
    "no name": (text("").replace(' name="j"', ""), 4, ["attribute 'name' is missing"]),
    "screw without pitch": (text("", kind="screw"), 4, ["joint 'j'", "<mbros:pitch> is missing", "metres per radian"]),
    "drake screw without pitch": (text("", "drake:joint", "screw"), 4, ["<drake:screw_thread_pitch> is missing", "metres per revolution"]),
    "pitch without value": (text("<mbros:pitch/>", kind="screw"), 7, ["<mbros:pitch>", "attribute 'value' is missing"]),
    "pitch nan": (text('<mbros:pitch value="nan"/>', kind="screw"), 7, ["<mbros:pitch>", "not a finite number"]),
    "two pitches": (text('<mbros:pitch value="1"/>\n<mbros:pitch value="1"/>', kind="screw"), 8, ["2 <mbros:pitch> elements"]),
    "damping of two": (text('<dynamics damping="1 2"/>'), 7, ["<dynamics>", "has 2 numbers, expected 3"]),
    "negative damping": (text('<dynamics damping="1 -2 3"/>'), 7, ["damping", "below 0"]),
    "limits of two": (text('<limit lower="0 0"/>', kind="planar"), 7, ["<limit>", "has 2 numbers, expected 3"]),
    "crossed limits": (text('<limit lower="0 2 0" upper="1"/>', kind="planar"), 7, ["lower 2 of coordinate 1 is above upper 1", "Swap"]),
    "default of three": (text('<mbros:default q="1 0 0"/>'), 7, ["<mbros:default>", "3 numbers, expected 4"]),
    "default too long": (text('<mbros:default q="1 1 0 0"/>'), 4, ["joint 'j'", "no unit quaternion"]),
    "two locks": (text("<mbros:lock/>\n<mbros:lock/>"), 8, ["2 <mbros:lock> elements"]),
    "zero axis": (text('<axis xyz="0 0 0"/>', kind="cylindrical"), 7, ["<axis>", "no direction"]),
    "no child": (text("").replace('<child link="B"/>', ""), 4, ["<child> is missing"]),
    "unknown link": (text("").replace('<child link="B"/>', '<child link="b"/>'), 5, ["there is no link 'b'", "'B'"]),
    "mimic of a ball": (text('<mimic joint="k"/>', "joint", "continuous").replace(
        "</robot>",
        f'<link name="C">{INERTIAL}</link><mbros:joint name="k" type="ball"><parent link="B"/><child link="C"/></mbros:joint></robot>'),
        4, ["it mimics joint 'k', which is ball"]),
    "misspelt lock": (text("<mbros:lok/>"), 7, ["<mbros:lok> in <mbros:joint>", "no such element; did you mean <mbros:lock>?"]),
    "misspelt joint": (text("").replace("</robot>", "<mbros:jont/></robot>"), 8,
                       ["<mbros:jont> in <robot>", "did you mean <mbros:joint>?"]),
    "nothing like it": (text("<mbros:zzzzzz/>"), 7, ["mbros has no such element", "There are <mbros:", "<mbros:lock>"]),
    "pitch in drake": (text('<mbros:pitch value="1"/>', "drake:joint"), 7,
                       ["<mbros:pitch> in <drake:joint>: it is not allowed", "<mbros:joint>"]),
    "misspelt attribute": (text('<mbros:default p="1 0 0 0" q="1 0 0 0"/>'), 7, ["<mbros:default>: attribute 'p' is unknown", "It has q."]),
    "attribute of a lock": (text('<mbros:lock value="0"/>'), 7, ["<mbros:lock>: attribute 'value' is unknown", "no attributes"]),
    "attribute of ours elsewhere": (text("").replace("<parent ", '<parent mbros:lock="1" '), 5,
                                    ["<parent>: attribute 'mbros:lock' is unknown"]),
    "text in a lock": (text("<mbros:lock>\nfalse <!-- x --> or true\n</mbros:lock>"), 7,
                       ["<mbros:lock>: there is text in it: 'false  or true'"]),
    "text in a joint": (text("stiff"), 4, ["<mbros:joint>: there is text in it: 'stiff'"]),
    "lock of a follower": (text('<mimic joint="k"/>\n<mbros:lock/>', "joint", "continuous"), 8,
                           ["<mbros:lock>", "follows joint 'k'", "Lock 'k'"]),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_with_line_and_remedy(name):
    source, line, words = BAD[name]
    with pytest.raises(UrdfError) as caught:
        urdf.parse(source)
    match = [p for p in caught.value.problems if all(word in str(p) for word in words)]
    assert match, str(caught.value)
    assert match[0].line == line and match[0].remedy


@pytest.mark.parametrize("source, words, severity", [
    (text('<axis xyz="0 0 1"/>'), "has no effect on a ball joint", "note"),
    (text("<mbros:lock/>", kind="fixed"), "<mbros:lock> has no effect", "note"),
    (text('<limit lower="0" upper="1" effort="1" velocity="1"/>', "drake:joint"), "<limit> is not used on a ball_rpy joint", "note"),
    (text("<drake:lok/>"), "<drake:lok> in <mbros:joint>: not used: this drake: extension is not read", "note")])
def test_notes(source, words, severity):
    notes = urdf.parse(source).notes
    assert severity in [note.severity for note in notes if words in str(note)], notes


def test_order_is_that_of_the_file():
    source = text("").replace("</robot>", f'<link name="C">{INERTIAL}</link><joint name="k" type="continuous"><parent link="B"/>'
                              f'<child link="C"/></joint><link name="D">{INERTIAL}</link><drake:joint name="l" type="universal">'
                              '<parent link="B"/><child link="D"/></drake:joint></robot>')
    assert [joint.name for joint in mbros.load(source).joints] == ["j", "k", "l"]


def test_the_page_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "urdf.md").read_text()
    model = mbros.load(page.split("```xml\n")[1].split("```")[0])
    assert not model.description.notes
    shoulder, spindle, state = model.joint("shoulder"), model.joint("spindle"), model.default_state()
    assert shoulder.is_locked(state) and state.q[:4].tolist() == [0.8, 0, 0.6, 0] and shoulder.defaults.damping[2] == 0.2
    assert spindle._row.parameters == (0.001,) and spindle.limits.acceleration.upper[0] == 100
    for kind in (*KINDS, "fixed"):
        assert kind in page
