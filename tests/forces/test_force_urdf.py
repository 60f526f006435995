"""Force elements in robot files: mbros' tags, Drake's, and every way to get them wrong."""
import numpy as np
import pytest
from mbros_core.forces.registry import ROWS
from tolerance import assert_close

import mbros
from mbros.describe.urdf.forces import TAGS

LINK = ('<link name="{}"><inertial><origin xyz="0.01 0.02 0.03"/><mass value="1.5"/><inertia ixx="0.1" iyy="0.2" izz="0.25"/></inertial>'
        '</link>')
ROBOT = """<robot name="rig" xmlns:mbros="https://example.org/mbros" xmlns:drake="https://drake.mit.edu">
  <link name="base"/>
  {plate}
  {door}
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="plate"/><axis xyz="0 0.6 0.8"/><limit lower="-2" upper="2" effort="10" velocity="3"/>
  </joint>
  <mbros:joint name="slide" type="planar"><parent link="plate"/><child link="door"/><axis xyz="0 0 1"/></mbros:joint>
  <frame name="there" link="base" xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
  <mbros:frame name="here" link="plate" xyz="0.1 0 0"/>
  {elements}
</robot>""".replace("{plate}", LINK.format("plate")).replace("{door}", LINK.format("door"))

GOOD = """
  <mbros:bushing name="mount" frame_A="there" frame_C="here" law="energy_consistent" torque_stiffness="10 20 30"
                 torque_damping="1" force_stiffness="1e3 1e3 2e3" force_damping="5"/>
  <mbros:spring_damper name="spring" frame_A="world" frame_C="door" free_length="0.2" stiffness="100" damping="1"/>
  <mbros:joint_spring name="coil" joint="turn" position="0.1" stiffness="5" damping="0.1"/>
  <mbros:joint_spring name="pull" joint="slide" coordinate="1" stiffness="7"/>
  <mbros:door_hinge name="latch" joint="turn" spring_stiffness="1" catch_torque="2" catch_width="0.3" dynamic_friction="0.1"
                    static_friction="0.2" viscous_friction="0.3" motion_threshold="0.01" spring_position="0.5"/>
  <mbros:stribeck name="rub" joint="turn" coulomb="1" breakaway="1.5" stribeck_speed="0.1" smoothing_speed="0.01" viscous="0.2"/>
  <mbros:body_wrench name="jet" frame="here" torque="0 0 0.1" force="0 0 1" expressed_in="body"/>
  <mbros:body_gravity name="lift" frame="door" gravity="0 0 9.81"/>
  <mbros:stop joint="turn" stiffness="1e4" damping="10"/>
"""


def text(elements):
    return ROBOT.replace("{elements}", elements)


def test_every_tag_is_the_class_of_python():
    model = mbros.load(text(GOOD))
    assert not [note for note in model.description.notes if "mbros:" in str(note) or "frame" in str(note)]
    b = mbros.ModelBuilder("rig")
    base = b.add_body("base")
    plate, door = (b.add_body(name, 1.5, (0.01, 0.02, 0.03), (0.1, 0.2, 0.25)) for name in ("plate", "door"))
    b.add_joint(mbros.WeldJoint("base", b.world, base))
    turn = b.add_joint(mbros.RevoluteJoint("turn", base, plate, axis=(0, 0.6, 0.8), lower=-2, upper=2, effort=10, velocity=3))
    slide = b.add_joint(mbros.PlanarJoint("slide", plate, door))
    there = b.add_frame("there", base, p=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3))
    here = b.add_frame("here", plate, p=(0.1, 0, 0))
    for element in (
            mbros.Bushing(there, here, (10, 20, 30), 1, (1e3, 1e3, 2e3), 5, law="energy_consistent", name="mount"),
            mbros.LinearSpringDamper(b.world, door, 0.2, 100, 1, name="spring"), mbros.JointSpring(turn, 0.1, 5, 0.1, name="coil"),
            mbros.JointSpring(slide, 0, 7, coordinate=1, name="pull"),
            mbros.DoorHinge(turn, spring_stiffness=1, catch_torque=2, catch_width=0.3, dynamic_friction=0.1, static_friction=0.2,
                            viscous_friction=0.3, motion_threshold=0.01, spring_position=0.5, name="latch"),
            mbros.StribeckFriction(turn, 1, 1.5, stribeck_speed=0.1, smoothing_speed=0.01, viscous=0.2, name="rub"),
            mbros.BodyWrench(here, (0, 0, 0.1), (0, 0, 1), expressed_in="body", name="jet"),
            mbros.BodyGravity(door, (0, 0, 9.81), name="lift"), mbros.JointStop(turn, 1e4, 10)):
        b.add_force_element(element)
    twin = b.build()
    assert model.force_elements.names == twin.force_elements.names
    one, two = model.default_state(), twin.default_state()
    one.q[:] = two.q[:] = (2.1, 0.2, 0.3, 0.4)
    one.v[:] = two.v[:] = (0.5, -0.2, 0.3, 0.4)
    assert_close(model.forward_dynamics(one, np.zeros(4)), twin.forward_dynamics(two, np.zeros(4)), 1e-12)
    assert model.potential_energy(one) == pytest.approx(twin.potential_energy(two), rel=1e-12)


def test_every_kind_has_a_tag():
    """A kind that is registered can be written in a file (the law of a bushing is an attribute)."""
    kinds = {tag.kind for tag in TAGS.values()}
    assert kinds >= {row.name for row in ROWS} - {"user", "bushing_energy_consistent", "bushing_quaternion"}


DRAKE = """
  <drake:linear_bushing_rpy>
    <drake:bushing_frameA name="{A}"/>
    <drake:bushing_frameC name="here"/>
    <drake:bushing_torque_stiffness value="{k}"/>
    <drake:bushing_torque_damping value="4 5 6"/>
    <drake:bushing_force_stiffness value="7 8 9"/>
    <drake:bushing_force_damping value="10 11 12"/>
  </drake:linear_bushing_rpy>"""


@pytest.mark.seed("BU-18")
def test_drakes_tag():
    model = mbros.load(text(DRAKE.format(A="there", k="1 2 3")))
    f = model.force_elements[0]
    assert (f.frame_a.name, f.frame_c.name, f.law) == ("there", "here", "drake")
    constants = [f.torque_stiffness, f.torque_damping, f.force_stiffness, f.force_damping]
    assert np.array_equal(constants, np.arange(1, 13).reshape(4, 3))


@pytest.mark.seed("BU-18")
def test_drake_reads_the_same_file_the_same_way(rng):
    pytest.importorskip("pydrake", reason="pydrake is not installed: pip install drake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    source = text(DRAKE.format(A="there", k="1 2 3")).replace('mbros:joint name="slide" type="planar"',
                                                              'drake:joint name="slide" type="planar"')
    source = source.replace("</mbros:joint>", "</drake:joint>").replace("mbros:frame", "frame").replace(
        'link="plate" xyz="0.1 0 0"', 'link="plate" xyz="0.1 0 0" rpy="0 0 0"')
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(source, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    model = mbros.load(source)
    for _ in range(10):
        q, v = rng.uniform(-0.5, 0.5, 4), rng.uniform(-1, 1, 4)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        state = model.default_state()
        state.q[:], state.v[:] = q, v
        theirs = plant.get_generalized_acceleration_output_port().Eval(context)
        assert_close(model.forward_dynamics(state, np.zeros(4)), theirs, 1e-11)


WRONG = [
    ('<mbros:bushing name="m" frame_A="ther" frame_C="here"/>', "force element 'm', <mbros:bushing>: frame_A: there is no link or frame "
     "'ther'; did you mean 'there'?"),
    ('<mbros:bushing name="m" frame_C="here"/>', "attribute 'frame_A' is missing"),
    ('<mbros:bushing frame_A="base" frame_C="here" torque_stifness="1"/>', "attribute 'torque_stifness' is unknown; did you mean "
     "'torque_stiffness'?"),
    ('<mbros:bushing frame_A="base" frame_C="here" law="simple"/>', "law is 'simple'"),
    ('<mbros:bushing frame_A="base" frame_C="here" torque_stiffness="1 2"/>', "torque_stiffness='1 2' has 2 numbers, expected 3"),
    ('<mbros:bushing frame_A="base" frame_C="here" force_damping="1 -2 3"/>',
     "force_damping[1] is -2; expected a finite number, zero or more"),
    ('<mbros:bushing frame_A="base" frame_C="here" force_damping="nan"/>', "'nan' is not a finite number"),
    ('<mbros:bushing frame_A="base" frame_C="here"><axis/></mbros:bushing>', "<axis> is not allowed in it"),
    ('<mbros:bushing name="" frame_A="base" frame_C="here"/>', "name='' in <mbros:bushing> is empty"),
    ('<mbros:bushing name="m" frame_A="base" frame_C="here"/><mbros:bushing name="m" frame_A="base" frame_C="here"/>',
     "this name is already taken by another force element at line"),
    ('<mbros:spring_damper frame_A="base" frame_C="here" stiffness="1"/>', "attribute 'free_length' is missing"),
    ('<mbros:joint_spring joint="turn"/>', "attribute 'stiffness' is missing"),
    ('<mbros:joint_spring joint="trun" stiffness="1"/>', "there is no joint 'trun'; did you mean 'turn'?"),
    ('<mbros:joint_spring stiffness="1"/>', "attribute 'joint' is missing"),
    ('<mbros:joint_spring joint="slide" stiffness="1"/>', "joint 'slide' (planar) has 3 velocities and no coordinate was given"),
    ('<mbros:joint_spring joint="slide" coordinate="3" stiffness="1"/>', "coordinate is 3; joint 'slide' (planar) has 3"),
    ('<mbros:joint_spring joint="slide" coordinate="x" stiffness="1"/>', "coordinate='x' is not a whole number"),
    ('<mbros:door_hinge joint="turn" catch_width="0"/>', "catch_width is 0; expected a finite number, 1e-09 or more (rad)"),
    ('<mbros:stribeck joint="turn" coulomb="2" breakaway="1"/>', "breakaway 1 is below coulomb 2"),
    ('<mbros:body_wrench frame="here" expressed_in="sideways"/>', "expressed_in is 'sideways'"),
    ('<mbros:body_gravity frame="here"/>', "attribute 'gravity' is missing"),
    ('<mbros:stop joint="turn" stiffness="-1"/>', "stiffness is -1"),
    ('<frame name="f" link="nowhere"/>', "there is no link 'nowhere'"),
    ('<frame name="f"/>', "attribute 'link' is missing in <frame>"),
    ('<mbros:bushng name="m" frame_A="base" frame_C="here"/>', "<mbros:bushng> in <robot>: mbros has no such element; did you mean "
     "<mbros:bushing>?"),
    ('<mbros:bushing name="m" frame_A="base" frame_C="here"> stiff </mbros:bushing>', "<mbros:bushing>: there is text in it: 'stiff'"),
    ('<mbros:lock/>', "<mbros:lock> in <robot>: it is not allowed in <robot>"),
    ('<mbros:frame name="f" link="base" xzy="0 0 1"/>', "<mbros:frame>: attribute 'xzy' is unknown; did you mean 'xyz'?"),
    ('<frame name="f" link="base"><mbros:lok/></frame>', "<mbros:lok> in <frame>: mbros has no such element; did you mean <mbros:lock>?"),
    (DRAKE.format(A="nowhere", k="1 2 3"), "there is no link or frame 'nowhere'"),
    (DRAKE.format(A="there", k="1 2"), "value='1 2' has 2 numbers, expected 3"),
    (DRAKE.format(A="there", k="1 -2 3"), "torque_stiffness[1] is -2"),
    (DRAKE.format(A="there", k="1 2 3").replace('<drake:bushing_frameC name="here"/>', ""), "<drake:bushing_frameC> is missing"),
]


@pytest.mark.parametrize("elements, said", WRONG, ids=range(len(WRONG)))
def test_mistakes_are_told_with_file_line_and_remedy(elements, said, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(text(elements))
    with pytest.raises(mbros.UrdfError) as caught:
        mbros.load(path)
    problems = [p for p in caught.value.problems if said in str(p)]
    assert problems, caught.value
    first = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if elements.strip()[:25] in line)
    assert problems[0].file == str(path)
    assert first <= problems[0].line <= first + elements.count("\n")


def test_followers_take_no_element(tmp_path):
    source = text('<joint name="gear" type="revolute"><parent link="base"/><child link="extra"/><axis xyz="0 0 1"/>'
                  '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="turn" multiplier="-2"/></joint>'
                  + LINK.format("extra") + '<mbros:joint_spring name="s" joint="gear" stiffness="1"/>')
    with pytest.raises(mbros.UrdfError, match="force element 's'.*joint 'gear' follows 'turn' and has no coordinate of its own. "
                                              "Put the element on 'turn' .* 4\\), or load the robot with mimic=False"):
        mbros.load(source)
    assert mbros.load(source, mimic=False).force_elements["s"].joint.name == "gear"
