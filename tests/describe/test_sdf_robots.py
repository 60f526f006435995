"""SDF: masses, joints, loops, gravity, and what never touches; against closed forms and against the same robot as URDF."""
import numpy as np
import pytest
from sdf_texts import collision, joint, link, model, sdf

import mbros
from mbros.build.load import check


def notes(text):
    found, said = check(text)
    assert not found, [str(problem) for problem in found]
    return [str(note) for note in said]


def the_problem(text):
    found, _ = check(text)
    assert found, "nothing is wrong"
    return str(found[0])


def test_a_robot_is_what_the_same_urdf_is():
    urdf = """<robot name="m"><link name="a"><inertial><origin xyz="0.1 0.02 0.03" rpy="0 0 0.3"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.11" izz="0.12" ixy="0.01" ixz="0" iyz="0"/></inertial></link><link name="b"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link><joint name="j" type="revolute"><origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/>
      <parent link="a"/><child link="b"/><axis xyz="0 0.6 0.8"/><limit lower="-1" upper="2" effort="3" velocity="4"/>
      <dynamics damping="0.5" friction="0.25"/></joint></robot>"""
    own = sdf(model("""<link name="a"><inertial><pose>0.1 0.02 0.03 0 0 0.3</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.11</iyy>
      <izz>0.12</izz><ixy>0.01</ixy></inertia></inertial></link><link name="b"><pose relative_to="j"/><inertial><mass>1</mass><inertia>
      <ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link><joint name="j" type="revolute"><pose relative_to="a">
      0 0 0.5 0.1 0.2 0.3</pose><parent>a</parent><child>b</child><axis><xyz>0 0.6 0.8</xyz><limit><lower>-1</lower><upper>2</upper>
      <effort>3</effort><velocity>4</velocity></limit><dynamics><damping>0.5</damping><friction>0.25</friction></dynamics></axis>
      </joint>"""))
    mine, theirs = mbros.load(own), mbros.load(urdf, base="floating")
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v, vdot = rng.normal(size=mine.nq), rng.normal(size=mine.nv), rng.normal(size=mine.nv)
        q[3:7] /= np.linalg.norm(q[3:7])
        states = [robot.default_state() for robot in (mine, theirs)]
        for state in states:
            state.set(q=q, v=v)
        for what in (lambda robot, state: robot.mass_matrix(state), lambda robot, state: robot.inverse_dynamics(state, vdot),
                     lambda robot, state: robot.pose(state, "b").p):
            np.testing.assert_allclose(what(mine, states[0]), what(theirs, states[1]), atol=1e-13)
    limits = mine.joint("j").limits
    assert (limits.position.lower[0], limits.position.upper[0], limits.effort.upper[0], limits.velocity.upper[0]) == (-1, 2, 3, 4)


def test_a_model_floats_unless_it_is_static_or_is_told_otherwise():
    text = sdf(model("<pose>1 2 3 0 0 0</pose>", link("a")))
    assert mbros.load(text).joint("base").kind == "floating"
    assert mbros.load(text).default_state().q.tolist() == [1, 2, 3, 1, 0, 0, 0]
    for fixed in (mbros.load(text, base="fixed"), mbros.load(text.replace("<link", "<static>true</static><link", 1))):
        assert fixed.nv == 0
        assert fixed.pose(fixed.default_state(), "a").p.tolist() == [1, 2, 3]
    assert mbros.load(text, base="planar").joint("base").kind == "planar"
    with pytest.raises(mbros.MbrosError, match="base is 'floatin'; expected .* did you mean 'floating'"):
        mbros.load(text, base="floatin")


def test_a_floating_model_without_a_pose_stands_on_the_ground_it_is_given():
    text = sdf(model(link("a", collision())))
    robot = mbros.load(text, ground=True)
    assert robot.default_state().q[2] == pytest.approx(0.5)
    posed = mbros.load(text.replace("<link", "<pose>0 0 2 0 0 0</pose><link", 1), ground=True)
    assert posed.default_state().q[2] == 2.0, "where the file puts it"


def test_every_kind_of_joint():
    limit = "<limit><lower>-1</lower><upper>1</upper></limit>"
    two = f"<axis><xyz>0 0 1</xyz>{limit}<dynamics><damping>0.1</damping></dynamics></axis><axis2><xyz>0 1 0</xyz><dynamics><damping>0.2"\
          "</damping></dynamics></axis2>"
    kinds = {"revolute": "", "continuous": "", "prismatic": "", "fixed": "",
             "ball": "<axis><dynamics><damping>0.3</damping></dynamics></axis>",
             "screw": "<screw_thread_pitch>0.5</screw_thread_pitch>", "universal": two, "revolute2": two}
    names = list(kinds)
    parts = [link("base")] + [link(f"l_{name}") for name in names]
    robot = mbros.load(sdf(model(*parts, *(joint(name, "base", f"l_{name}", name, inside) for name, inside in kinds.items()))))
    found = {joint.name: joint.kind for joint in robot.joints}
    assert found == {"base": "floating", "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "weld",
                     "ball": "ball", "screw": "screw", "universal": "universal", "revolute2": "universal"}
    universal, ball = robot.description.joints[7], robot.description.joints[5]
    assert universal.damping.tolist() == [0.1, 0.2] and universal.lower.tolist() == [-1, -np.inf] and ball.damping.tolist() == [0.3] * 3
    state = robot.default_state()
    q = state.q.copy()
    q[robot.joint("screw").q_slice], q[robot.joint("universal").q_slice] = 2.0, (0.3, 0.7)
    state.set(q=q)
    np.testing.assert_allclose(robot.pose(state, "l_screw").p, [0, 0, 2.0 * 0.5 / (2.0 * np.pi)], atol=1e-15)
    c, s = np.cos, np.sin           # about z by 0.3, then about the turned y by 0.7
    wanted = np.array([[c(0.3), -s(0.3), 0], [s(0.3), c(0.3), 0], [0, 0, 1]]) @ [[c(0.7), 0, s(0.7)], [0, 1, 0], [-s(0.7), 0, c(0.7)]]
    np.testing.assert_allclose(robot.pose(state, "l_universal").R, wanted, atol=1e-15)


def test_springs_stops_mimic_and_drake_rotors():
    inside = """<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><stiffness>1e4</stiffness><dissipation>10</dissipation>
      </limit><dynamics><spring_reference>0.2</spring_reference><spring_stiffness>7</spring_stiffness></dynamics></axis>
      <drake:rotor_inertia>0.01</drake:rotor_inertia><drake:gear_ratio>20</drake:gear_ratio>"""
    follow = """<axis><mimic joint="j"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis>"""
    robot = mbros.load(sdf(model(link("a"), link("b"), link("c"), joint("j", "world", "b", inside=inside),
                                 joint("k", "world", "c", inside=follow), joint("w", "world", "a", "fixed", "")), version="1.11"))
    j = robot.description.joints[0]
    assert (j.stop_stiffness[0], j.stop_damping[0], j.rotor_inertia[0], j.gear_ratio[0]) == (1e4, 10, 0.01, 20)
    spring = robot.force_elements["j.spring"]
    state = robot.default_state()
    state.set(q=[0.5])
    np.testing.assert_allclose(robot.passive_torques(state), robot.gravity_torques(state) * 0.0 - 7.0 * (0.5 - 0.2), atol=1e-12)
    assert spring is not None and robot.joint("k").mimic[1:] == (2.0, 0.5 - 0.2)


def test_a_joint_that_closes_a_loop_is_a_constraint():
    """A four-bar linkage as a square of rods of 1 m: two degrees of freedom less than its three joints of a tree."""
    bars = [link("a"), link("b", pose="<pose>0 0 1 0 0 0</pose>"), link("c", pose="<pose>1 0 0 0 0 0</pose>")]
    y = "<axis><xyz>0 1 0</xyz></axis>"
    text = sdf(model(*bars, joint("j1", "world", "a", inside=y), joint("j2", "a", "b", inside=y), joint("j3", "world", "c", inside=y),
                     joint("j4", "b", "c", inside=y + "<pose relative_to='b'>1 0 0 0 0 0</pose>")))
    robot = mbros.load(text)
    assert [joint.name for joint in robot.joints] == ["j1", "j2", "j3"] and robot.constraints["j4"].kind == "hinge"
    assert np.abs(robot.constraints["j4"].gap(robot.default_state())).max() < 1e-15
    assert any("joint 'j4': it closes a loop" in note for note in notes(text))


def test_a_second_joint_of_a_link_turns_its_parent_round():
    """a hangs at b, which the world carries: the same motion as with a below b, and the same coordinate."""
    parts = link("a", mass=2.0), link("b")
    z = joint("w", "world", "b", inside="<axis><xyz>0 1 0</xyz></axis>")
    round_ = mbros.load(sdf(model(*parts, z, joint("j", "a", "b", inside="<axis><xyz>1 0 0</xyz></axis>",
                                                   pose="<pose>0 0 1 0 0 0</pose>"))))
    plain = mbros.load(sdf(model(*parts, z, joint("j", "b", "a", inside="<axis><xyz>-1 0 0</xyz></axis>",
                                                 pose="<pose relative_to='b'>0 0 1 0 0 0</pose>"))))
    assert round_.joint("j").child.name == "a"
    states = [robot.default_state() for robot in (round_, plain)]
    for state in states:
        state.set(q=[0.3, 0.4])
    np.testing.assert_allclose(round_.mass_matrix(states[0]), plain.mass_matrix(states[1]), atol=1e-14)


def test_a_gearbox_couples_the_joints_of_its_parent_and_child():
    gear = """<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>
      <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"""
    parts = (link("base"), link("small"), link("large"), joint("s", "base", "small"),
             joint("l", "base", "large", inside="<axis><xyz>0 0 -1</xyz></axis>"))
    robot = mbros.load(sdf(model(*parts, joint("g", "small", "large", "gearbox", gear))))
    row = robot.description.constraints[0]
    # theta_large = -3 theta_small; the joint of the large wheel counts the other way
    assert (row.joint_a.name, row.joint_b.name, row.ratio) == ("l", "s", 3.0)
    wrong = sdf(model(link("base"), link("small"), link("large"), joint("g", "small", "large", "gearbox", gear)))
    assert "no revolute joint between its gearbox_reference_body" in the_problem(wrong)


def test_inertia_by_density_is_that_of_the_solids():
    """Two boxes of different density, one apart from the other; with a mass, scaled to it."""
    boxes = collision("<box><size>0.2 0.4 0.6</size></box>", "<density>500</density>", "c1") + \
        "<collision name='c2'><pose>1 0 0 0 0 0</pose><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>"
    robot = mbros.load(sdf(model(f"<link name='a'><inertial auto='true'><density>1200</density></inertial>{boxes}</link>"), version="1.11"))
    m1, m2 = 500 * 0.2 * 0.4 * 0.6, 1200 * 4.0 / 3.0 * np.pi * 0.1**3
    body = robot.body("a")
    assert body.mass == pytest.approx(m1 + m2, rel=1e-14)
    np.testing.assert_allclose(body.com, [m2 / (m1 + m2), 0, 0], rtol=1e-14)
    along, reduced = m1 / 12.0 * (0.4**2 + 0.6**2) + 0.4 * m2 * 0.1**2, m1 * m2 / (m1 + m2)
    np.testing.assert_allclose(np.diag(body.inertia), [along, m1 / 12 * (0.2**2 + 0.6**2) + 0.4 * m2 * 0.01 + reduced,
                                                       m1 / 12 * (0.2**2 + 0.4**2) + 0.4 * m2 * 0.01 + reduced], rtol=1e-13)
    scaled = mbros.load(sdf(model(f"<link name='a'><inertial auto='true'><mass>5</mass><density>1200</density></inertial>{boxes}</link>")))
    np.testing.assert_allclose(scaled.body("a").inertia, body.inertia * (5.0 / body.mass), rtol=1e-13)
    mesh = collision("<mesh><uri>x.stl</uri></mesh>")
    assert "a mesh has no mass by its density" in the_problem(sdf(model(f"<link name='a'><inertial auto='true'/>{mesh}</link>")))


@pytest.mark.parametrize("shape, volume, com_z", [
    ("<cylinder><radius>0.2</radius><length>0.5</length></cylinder>", np.pi * 0.04 * 0.5, 0.0),
    ("<capsule><radius>0.2</radius><length>0.5</length></capsule>", np.pi * 0.04 * (0.5 + 4 / 3 * 0.2), 0.0),
    ("<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>", 4 / 3 * np.pi * 0.006, 0.0),
    ("<cone><radius>0.2</radius><length>0.5</length></cone>", np.pi * 0.04 * 0.5 / 3, -0.125),
])
def test_inertia_of_round_solids_is_that_of_a_cloud_of_points(shape, volume, com_z):
    """Mass, centre and moments by sampling the solid: another route to the same numbers."""
    inertial = "<inertial auto='true'><density>1000</density></inertial>"
    robot = mbros.load(sdf(model(f"<link name='a'>{inertial}{collision(shape)}</link>"), version="1.12"))
    body = robot.body("a")
    assert body.mass == pytest.approx(1000 * volume, rel=1e-12)
    assert body.com[2] == pytest.approx(com_z, abs=1e-12)
    n = 60
    grid = (np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n * 2 - 1] * 3), -1).reshape(-1, 3)) * (0.3, 0.3, 0.5)
    x, y, z = grid.T
    r = np.hypot(x, y)
    inside = {"cylinder": (r < 0.2) & (abs(z) < 0.25), "capsule": r**2 + np.maximum(abs(z) - 0.25, 0)**2 < 0.04,
              "ellipsoid": (x / 0.1)**2 + (y / 0.2)**2 + (z / 0.3)**2 < 1,
              "cone": (abs(z) < 0.25) & (r < 0.2 * (0.25 - z) / 0.5)}[shape[1:shape.index(">")]]
    points = grid[inside] - (0, 0, com_z)
    each = points**2
    moments = np.array([each[:, 1] + each[:, 2], each[:, 0] + each[:, 2], each[:, 0] + each[:, 1]]).mean(1) * body.mass
    np.testing.assert_allclose(np.diag(body.inertia), moments, rtol=0.02)


def test_a_link_without_gravity_weighs_nothing():
    parts = link("a"), link("b", "<gravity>false</gravity>", mass=3.0)
    text = sdf(model(*parts, joint("w", "world", "a", "fixed", ""), joint("j", "a", "b", inside="<axis><xyz>0 1 0</xyz></axis>")))
    for robot in (mbros.load(text), mbros.load(text, gravity=(0, 0, -1.62))):
        assert robot.forward_dynamics(robot.default_state(), np.zeros(1))[0] == pytest.approx(0.0, abs=1e-13)
    weighs = mbros.load(text.replace("<gravity>false</gravity>", ""))
    assert abs(weighs.forward_dynamics(weighs.default_state(), np.zeros(1))[0]) > 1.0


def touching(text):
    robot = mbros.load(text, collisions=True)
    names = [shape.name for shape in robot.shapes]
    return {(a, b) for a in names for b in names if a < b and b not in robot.shapes[a].excluded
            and robot.shapes[a].index not in robot.shapes[b].excluded and robot.shapes[b].index not in robot.shapes[a].excluded}


def test_links_of_a_model_touch_each_other_only_where_they_say_so():
    def text(*flags, own=""):
        return sdf(model(own, *(link(name, said + collision(name=name)) for name, said in zip("abc", flags))))

    yes = "<self_collide>true</self_collide>"
    assert touching(text("", "", "")) == set()
    assert touching(text("", "", "", own=yes)) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert touching(text(yes, yes, "")) == {("a", "b")}


def test_what_is_not_given_has_the_defaults_of_sdf_and_is_noted():
    said = notes(sdf(model("<link name='a'/>", link("b", "<collision name='n'/>" + collision("<box/>")))))
    assert any("<box>: it has no <size>: taken as SDF has it, 1 m" in note for note in said)
    assert any("link 'b', collision: not used: it has no <geometry>" in note for note in said)
    assert any("link 'a': it has no <inertial>: 1 kg" in note for note in said)
    assert mbros.load(sdf(model("<link name='a'/>"))).body("a").mass == 1.0


@pytest.mark.parametrize("text, said", [
    (sdf(model(link("a"), joint("j", "a", "bb"))), "there is no 'bb' in model 'm'"),
    (sdf(model(link("a"), joint("j", "a", "world"))), "there is no 'world' in model 'm'"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "b", "revolut"))), "type 'revolut' is unknown; did you mean 'revolute'?"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "a"))), "the same link 'a'"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "b", inside="<axis><xyz>0 0 0</xyz></axis>"))), "its xyz has no direction"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "b", "universal"))), "<axis2> is missing"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "b", "universal", "<axis/><axis2><xyz>0 1 1</xyz></axis2>"))), "its axes are at 45"),
    (sdf(model(link("a"), link("b"), joint("j", "a", "b", inside="<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"))),
     "lower 2 is above upper 1"),
    (sdf(model(link("a", mass=-1))), "'-1' is below 0"),
    (sdf(model(link("a", mass="1,5"))), "has a comma"),
    (sdf(model(link("a"), link("a"))), "already taken by a link (line 1)"),
    (sdf(model(link("a", collision("<box/><sphere/>")))), "it holds <box>, <sphere>, expected one shape"),
    (sdf(model(link("a", collision("<box><size>1 1</size></box>")))), "has 2 numbers, expected 3"),
    (sdf(model(link("a", collision("<mesh/>")))), "it has no <uri>"),
    (sdf(model(link("a"), "<drake:joint name='j' type='planar'/>")), "the robot would be another one"),
    (sdf(model()), "it has no link"),
    (sdf(), "0 <world> and 0 <model>"),
    (sdf(model(link("a")), version="1.2"), "version='1.2' is not read"),
    ("<sdf><model name='m'/></sdf>", "it has no version"),
    ("<COLLADA/>", "root element is not <robot>"),
])
def test_what_is_wrong_is_said_with_its_line(text, said):
    found = the_problem(text)
    assert said in found and found.startswith("<text>:1: ")
