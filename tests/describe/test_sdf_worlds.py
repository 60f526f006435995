"""SDF: worlds as scenes, includes, what touches, sensors, plug-ins, notes, and files that lead elsewhere."""
import numpy as np
import pytest
from bounded import bounded
from sdf_texts import GROUND, PLANE, collision, joint, link, model, sdf, world

import mbros
from mbros.build.load import check


def notes(text, **options):
    found, said = check(text, **options)
    assert not found, [str(problem) for problem in found]
    return [str(note) for note in said]


def problems(text, **options):
    return [str(problem) for problem in check(text, **options)[0]]


ARM = model(link("a"), link("b"), joint("j", "a", "b"), joint("w", "world", "a", "fixed", ""), name="arm-1")
BOX = model("<pose>1 0 0.5 0 0 0</pose>", link("body", collision()), name="box")


# ------------------------------------------------------------------------------------------------------------- scenes


def test_a_world_is_a_scene_of_robots_and_objects():
    cell = mbros.load(sdf(world("<gravity>0 0 -3.7</gravity>", GROUND, ARM, BOX, name="mars")))
    assert cell.name == "mars" and cell.description.gravity.tolist() == [0, 0, -3.7]
    assert [(member.name, member.kind) for member in cell.description.members] == [("arm_1", "robot"), ("box", "object")]
    assert {joint.name for joint in cell.joints} == {"box", "arm_1/j", "arm_1/w"}
    assert cell.tree.robots["arm_1"].joint("j").name == "arm_1/j"
    assert [(shape.name, shape.body.name) for shape in cell.shapes if shape.kind == "half_space"] == [("ground_plane/link", "world")]
    assert mbros.load(sdf(world(ARM)), gravity=(0, 0, -1)).description.gravity.tolist() == [0, 0, -1]


def test_what_falls_in_a_world_comes_to_rest_on_its_ground():
    cell = mbros.load(sdf(world(GROUND, BOX.replace("0.5 0 0 0", "0.6 0 0 0"))))
    sim = mbros.Simulator(cell, dt=1e-3)
    for _ in range(1500):
        sim.step()
    assert cell.pose(sim.state, "box").p[2] == pytest.approx(0.5, abs=2e-3)


def test_a_world_is_a_scene_file_to_add_to(tmp_path):
    file = tmp_path / "cell.world"
    file.write_text(sdf(world(GROUND, BOX)))
    scene = mbros.Scene.load(file)
    scene.add_robot("pendulum", "swing", p=(0, 0, 2))
    assert [member.name for member in scene.build().description.members] == ["box", "swing"]
    with pytest.raises(mbros.MbrosError, match="is a world of SDF, and no robot"):
        mbros.Scene().add_robot(file, "all")
    with pytest.raises(mbros.MbrosError, match="base is 'fixed', and .* is a world"):
        mbros.load(file, base="fixed")
    one = tmp_path / "one.sdf"
    one.write_text(sdf(ARM))
    assert mbros.Scene().add_robot(one, "arm").kind == "robot"
    with pytest.raises(mbros.MbrosError, match="is one model, and no world"):
        mbros.Scene.load(one)


def test_joints_of_a_world_connect_its_models():
    tool = model("<pose>0 0 1 0 0 0</pose>", link("plate"), name="tool")
    cell = mbros.load(sdf(world(ARM, tool, joint("mount", "arm-1::b", "tool::plate", "fixed", "")), version="1.11"))
    assert cell.joint("mount").parent.name == "arm_1/b" and cell.nv == 1


def test_a_weightless_link_is_so_in_the_gravity_of_its_scene(tmp_path):
    (tmp_path / "balloon.sdf").write_text(sdf(model(link("a", "<gravity>false</gravity>"), name="balloon")))
    scene = mbros.Scene("moon", gravity=(0, 0, -1.62))
    scene.add_robot(tmp_path / "balloon.sdf", "balloon", p=(0, 0, 1))
    moon = scene.build()
    assert np.abs(moon.forward_dynamics(moon.default_state(), np.zeros(6))).max() < 1e-14


def test_a_scene_file_names_an_sdf_robot(tmp_path):
    (tmp_path / "arm.sdf").write_text(sdf(ARM))
    (tmp_path / "cell.yaml").write_text("robots: {left: {robot: arm.sdf}, right: {robot: arm.sdf, p: [1, 0, 0]}}")
    cell = mbros.load(tmp_path / "cell.yaml")
    assert cell.pose(cell.default_state(), "right/a").p[0] == 1.0


# ----------------------------------------------------------------------------------------------------------- includes


def library(tmp_path):
    """models/arm with a model.config and two versions, models/box; the world beside it."""
    arm = tmp_path / "models" / "arm"
    (arm / "meshes").mkdir(parents=True)
    (arm / "model.config").write_text("<model><name>arm</name><sdf version='1.4'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf>"
                                      "<sdf version='2.5'>future.sdf</sdf></model>")
    (arm / "old.sdf").write_text(sdf(model(link("old"), name="arm"), version="1.4"))
    (arm / "new.sdf").write_text(sdf(model("<pose>0 0 1 0 0 0</pose>", link("a"), "<frame name='foot'><pose>0 0 -1 0 0 0</pose></frame>",
                                           name="arm")))
    box = tmp_path / "models" / "box"
    box.mkdir()
    (box / "model.sdf").write_text(sdf(model(link("body"), name="box")))
    return tmp_path / "models"


def include(uri, inside="", more=""):
    return f"<include {more}><uri>{uri}</uri>{inside}</include>"


def test_models_are_included_under_names_poses_and_placement_frames(tmp_path):
    folder = library(tmp_path)
    text = sdf(world(include("model://arm"), include("model://arm", "<name>two</name><pose>5 0 0 0 0 0</pose>"),
                     include("model://arm", "<name>three</name><pose>7 0 0 0 0 0</pose><placement_frame>foot</placement_frame>"),
                     include("model://box", "<static>true</static>")))
    cell = mbros.load(text, package_dirs=[folder])
    state = cell.default_state()
    assert [member.name for member in cell.description.members] == ["arm", "two", "three", "box"]
    assert [cell.pose(state, f"{name}/a").p.tolist() for name in ("arm", "two", "three")] == [[0, 0, 1], [5, 0, 0], [7, 0, 1]]
    assert cell.joint("box").kind == "weld"


def test_gazebos_path_and_the_folder_beside_are_searched(tmp_path, monkeypatch):
    folder = library(tmp_path)
    text = sdf(model(include("model://arm"), link("base")))
    assert "no model 'arm' was found" in problems(text)[0]
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(folder))
    assert mbros.load(text).body("arm::a").mass == 1.0
    monkeypatch.delenv("GZ_SIM_RESOURCE_PATH")
    (folder / "arm" / "with_box.sdf").write_text(sdf(model(include("model://box"), include("new.sdf"), name="both")))
    (folder / "box" / "model.config").write_text("<model><sdf version='1.9'>model.sdf</sdf></model>")
    robot = mbros.load(folder / "arm" / "with_box.sdf")
    assert [body.name for body in robot.bodies[1:]] == ["box::body", "arm::a"]


def test_merged_models_give_their_parts_to_the_outer_one(tmp_path):
    folder = library(tmp_path)
    text = sdf(model(link("base"), include("model://arm", "<pose>0 2 0 0 0 0</pose>", "merge='true'"),
                     joint("w", "base", "a", "fixed", "")))
    robot = mbros.load(text, package_dirs=[folder])
    assert [body.name for body in robot.bodies[1:]] == ["base", "a"]
    assert robot.pose(robot.default_state(), "a").p.tolist() == [0, 2, 0]
    assert robot.pose(robot.default_state(), "foot").p.tolist() == [0, 2, -1]


def test_problems_of_an_included_file_have_its_name_and_line(tmp_path):
    folder = library(tmp_path)
    (folder / "box" / "model.sdf").write_text(sdf("\n", model("\n", link("body", mass="x"), name="box")))
    found = problems(sdf(world(include("model://box"))), package_dirs=[folder])
    assert found[0].startswith(f"{folder / 'box' / 'model.sdf'}:3: link 'box/body', <mass>: 'x' is not a number")


@pytest.mark.parametrize("uri, said", [
    ("model://../secret", "is not the name of a model"), ("model://box/../../secret.sdf", "leads outside its model"),
    ("../secret.sdf", "leads outside its package"), ("/etc/passwd", "leads outside its package"),
    ("https://example.org/x", "nothing is fetched"), ("file:///etc/passwd", "leads outside its package"),
    ("model://nowhere", "no model 'nowhere' was found"), ("", "it is empty"),
    ("model://box/model.txt", "is no SDF file"), ("robot.urdf", "is no SDF file"), ("model://link/x.sdf", "leads outside its model"),
])
def test_includes_lead_nowhere_else(tmp_path, uri, said):
    folder = library(tmp_path)
    (tmp_path / "secret.sdf").write_text(sdf(model(link("secret"))))
    (folder / "box" / "model.txt").write_text("x")
    (folder / "link").mkdir()
    (folder / "link" / "x.sdf").symlink_to(tmp_path / "secret.sdf")
    inside = folder / "box" / "w.sdf"
    (folder / "box" / "robot.urdf").write_text("<robot name='r'/>")
    inside.write_text(sdf(world(include(uri))))
    found = problems(inside, package_dirs=[folder])
    assert len(found) == 1 and said in found[0]


def test_includes_that_never_end_are_bounded(tmp_path):
    (tmp_path / "self.sdf").write_text(sdf(model(link("a"), include("self.sdf", "<name>again</name>"), name="x")))
    assert "nested more than 32 deep" in problems(tmp_path / "self.sdf")[0]
    for i in range(12):                                 # each includes the next four times: 4^12 are 16 million
        inner = "".join(include(f"m{i + 1}.sdf", f"<name>n{k}</name>") for k in range(4))
        (tmp_path / f"m{i}.sdf").write_text(sdf(model(link("a"), inner, name="x")))
    (tmp_path / "m12.sdf").write_text(sdf(model(link("a"), name="x")))
    said, _ = bounded(lambda: mbros.load(tmp_path / "m0.sdf"))
    assert "more than 1000 files are included" in said
    (tmp_path / "bomb.sdf").write_text('<!DOCTYPE x [<!ENTITY a "aaaa">]>' + sdf(model(link("a"))))
    assert "a document type declaration is refused" in problems(tmp_path / "bomb.sdf")[0]


def test_gazebos_sun_and_ground_are_known_without_their_files():
    text = sdf(world(include("model://sun"), include("model://ground_plane"), BOX))
    cell = mbros.load(text)
    assert [shape.kind for shape in cell.shapes if shape.body.name == "world"] == ["half_space"]
    assert any("a ground at z = 0 takes its place" in note for note in notes(text))


# ----------------------------------------------------------------------------------------------------------- surfaces


def test_surfaces_by_the_written_rules():
    surface = """<surface><friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode><torsional><coefficient>0.8</coefficient>
      <patch_radius>0.02</patch_radius></torsional></friction><contact><ode><kp>2e5</kp><kd>400</kd></ode></contact></surface>"""
    shape = mbros.load(sdf(model(link("a", collision(inside=surface)))), collisions=True).shapes[0]
    assert (shape.friction, shape.stiffness, shape.relaxation_time) == (0.5, 2e5, 400 / 2e5)
    assert shape.torsional_radius == pytest.approx(3 * np.pi / 16 * 0.02 * 0.8 / 0.5)
    own = "<drake:proximity_properties><drake:mu_dynamic>0.3</drake:mu_dynamic></drake:proximity_properties>"
    assert mbros.load(sdf(model(link("a", collision(inside=own)))), collisions=True).shapes[0].friction == 0.3
    none = "<surface><contact><collide_bitmask>0x0</collide_bitmask></contact></surface>"
    assert len(mbros.load(sdf(model(link("a", collision(inside=none)))), collisions=True).shapes) == 0


def test_an_ellipsoid_is_touched_as_a_hull_on_it():
    robot = mbros.load(sdf(model(link("a", collision("<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>")))), ground=True)
    assert robot.default_state().q[2] == pytest.approx(0.3, abs=1e-12)
    assert robot.shapes["c"].kind == "convex"


CORNERS = ("0 0 0", "1 0 0", "0 1 0", "0 0 1")
STL = "solid t\n" + "".join("facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {CORNERS[k]}\n" for k in face) + "endloop\nendfacet\n"
                            for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))) + "endsolid t\n"


@pytest.mark.parametrize("uri", ["model://arm/meshes/tip.stl", "meshes/tip.stl", "file://meshes/tip.stl"])
def test_meshes_of_included_models_are_found_from_their_own_file(tmp_path, uri):
    pytest.importorskip("trimesh")
    folder = library(tmp_path)
    (folder / "arm" / "meshes" / "tip.stl").write_text(STL)
    shape = collision(f"<mesh><uri>{uri}</uri><scale>2 2 2</scale></mesh>", name="tip")
    (folder / "arm" / "new.sdf").write_text(sdf(model(link("a", shape), name="arm")))
    cell = mbros.load(sdf(world(include("model://arm"), ARM)), package_dirs=[folder])
    tip, = cell.shapes
    assert tip.kind == "convex" and np.ptp(tip.geometry.points, axis=0).tolist() == [2, 2, 2]
    (tmp_path / "cell.yaml").write_text("robots: {arm: {robot: models/arm/new.sdf}}")
    assert [shape.kind for shape in mbros.load(tmp_path / "cell.yaml", package_dirs=[folder]).shapes] == ["convex"]
    said = notes(sdf(world(include("model://arm"), ARM)).replace("model://arm", str(folder / "arm" / "new.sdf")), package_dirs=[folder])
    assert not any("the mesh is not there" in note for note in said)


def test_a_mesh_that_is_not_there_is_missed_where_it_is_needed():
    text = sdf(model(link("a", collision("<mesh><uri>model://nowhere/x.stl</uri></mesh>"))))
    assert any("the mesh is not there" in note for note in notes(text))
    with pytest.raises(mbros.MbrosError, match="no package 'nowhere' was found"):
        mbros.load(text, collisions=True)


def test_what_is_not_read_is_noted_with_its_line():
    text = sdf(world("\n<light name='l'/>\n<physics type='ode'/>\n", model("\n", link("a", """\n<velocity_decay/>
      <sensor name='s' type='camera'/><visual name='v'><geometry><polyline/></geometry></visual><enable_wind>1</enable_wind><colision/>"""),
        "<plugin filename='libx.so' name='gz::sim::systems::Buoyancy'/>", joint("w", "world", "a", "fixed", ""), name="r"), "<state/>"))
    said = notes(text)
    for line, words in ((2, "<light> in <world>: not used: for viewers"), (3, "<physics> in <world>: not used: the step"),
                        (6, "<velocity_decay> in <link>"), (7, "a sensor of type 'camera' is not simulated"),
                        (7, "an extruded polyline is not read"), (7, "wind and air are not simulated"),
                        (7, "did you mean <collision>?"), (7, "what it does in Gazebo is not done here"), (7, "<state> in <world>")):
        assert any(note.startswith(f"<text>:{line}: ") and words in note for note in said), (words, said)


# ------------------------------------------------------------------------------------------------------ sensors, plug-ins


def test_an_imu_has_the_noise_that_gazebo_would_give_it():
    axis = "<{0}><noise type='gaussian'><stddev>0.02</stddev><bias_mean>0.1</bias_mean></noise></{0}>"
    sensor = ("<sensor name='imu' type='imu'><pose>0 0 0.1 0 0 0</pose><update_rate>100</update_rate><imu><angular_velocity>"
              + "".join(axis.format(name) for name in "xyz") + "</angular_velocity></imu></sensor>")
    robot = mbros.load(sdf(model(link("a", sensor))))
    imu = robot.description.bench.sensors[0]
    assert (imu.name, imu.frame, imu.rate) == ("imu", "a::imu", 100.0)
    assert imu.values["gyro_noise_density"][0] == pytest.approx(0.02 / 10.0) and imu.values["gyro_bias"][0] == 0.1
    sim = mbros.Simulator(robot, dt=1e-3)
    seen = []
    for k in range(10_000):
        sim.step()
        if k % 10 == 9:
            seen.append(sim.signals["imu.angular_velocity"].value[0])
    assert np.mean(seen) == pytest.approx(0.1, abs=3e-3) and np.std(seen) == pytest.approx(0.02, rel=0.1)


def test_a_slow_bias_has_the_spread_that_its_process_has():
    from mbros.describe.sdf.sensors import PEAK

    noise = ("<noise type='gaussian'><dynamic_bias_stddev>0.02</dynamic_bias_stddev>"
             "<dynamic_bias_correlation_time>0.05</dynamic_bias_correlation_time></noise>")
    axes = "".join(f"<{name}>{noise}</{name}>" for name in "xyz")
    sensor = f"<sensor name='imu' type='imu'><imu><linear_acceleration>{axes}</linear_acceleration></imu></sensor>"
    robot = mbros.load(sdf(model("<static>true</static>", link("a", sensor), link("b"))))
    values = robot.description.bench.sensors[0].values
    assert values["accel_correlation_time"][0] == 0.05 and values["accel_bias_instability"][0] == pytest.approx(0.02 * np.sqrt(0.05) / PEAK)


@pytest.mark.parametrize("direction, sign", [("child_to_parent", -1.0), ("parent_to_child", 1.0)])
def test_a_force_torque_sensor_feels_what_hangs_on_its_joint(direction, sign):
    measured = f"<force_torque><measure_direction>{direction}</measure_direction></force_torque>"
    robot = mbros.load(sdf(model(link("a"), link("b", mass=2.0), joint("w", "world", "a"), joint(
        "j", "a", "b", "fixed", f"<sensor name='ft' type='force_torque'>{measured}</sensor>"))))
    sim = mbros.Simulator(robot, dt=1e-3)
    for _ in range(5):
        sim.step()
    np.testing.assert_allclose(sim.signals["ft.force"].value, [0, 0, sign * 2.0 * 9.81], atol=1e-9)


CART = (link("body"), link("l"), link("r"), joint("left", "body", "l", inside="<axis><xyz>0 1 0</xyz></axis>"),
        joint("right", "body", "r", inside="<axis><xyz>0 1 0</xyz></axis>"))


def plugin(kind, inside, vendor="gz::sim"):
    return f"<plugin filename='x' name='{vendor}::systems::{kind}'>{inside}</plugin>"


def devices(*plugins):
    bench = mbros.load(sdf(model(*CART, *plugins))).description.bench
    return {device.name: device for device in (*bench.actuators, *bench.sensors)}


def test_a_differential_drive_is_servos_encoders_and_odometry():
    drive = plugin("DiffDrive", "<left_joint>left</left_joint><right_joint>right</right_joint><wheel_separation>0.4</wheel_separation>"
                   "<wheel_radius>0.1</wheel_radius><odom_publish_frequency>20</odom_publish_frequency><topic>cmd_vel</topic>")
    for vendor in ("gz::sim", "ignition::gazebo"):
        found = devices(drive.replace("gz::sim", vendor))
        assert {name: device.type for name, device in found.items()} == {
            "left.servo": "velocity_servo", "right.servo": "velocity_servo", "left.encoder": "encoder", "right.encoder": "encoder",
            "odometry": "wheel_odometry"}
        odometry = found["odometry"]
        assert (odometry.values["radius"][0], odometry.values["separation"][0], odometry.rate) == (0.1, 0.4, 20.0)
    said = notes(sdf(model(*CART, drive)))
    assert any("not used of it: <topic>" in note for note in said)
    sim = mbros.Simulator(mbros.load(sdf(model(*CART, drive)), base="fixed"), dt=1e-3)
    sim.command(velocity={"left": 2.0, "right": -2.0})
    for _ in range(500):
        sim.step()
    np.testing.assert_allclose(sim.state.v, [2.0, -2.0], rtol=1e-2)


def test_controllers_and_publishers_of_joints():
    found = devices(plugin("JointPositionController", "<joint_name>left</joint_name><p_gain>100</p_gain><d_gain>5</d_gain>"
                           "<i_gain>0</i_gain><cmd_max>30</cmd_max><cmd_min>-30</cmd_min><initial_position>0.3</initial_position>"),
                    plugin("JointController", "<joint_name>right</joint_name><use_force_commands>true</use_force_commands>"
                           "<p_gain>2</p_gain>"),
                    plugin("JointStatePublisher", ""), plugin("OdometryPublisher", ""))
    servo, speed = found["left.servo"], found["right.servo"]
    assert (servo.type, servo.values["kp"][0], servo.values["kd"][0], servo.values["effort_limit"][0]) == ("position_servo", 100, 5, 30)
    assert (speed.type, speed.values["kd"][0]) == ("velocity_servo", 2.0)
    assert found["left.encoder"].joint == "left" and found["right.encoder"].joint == "right" and found["true_odometry"].frame == "body"
    twice = plugin("ApplyJointForce", "<joint_name>left</joint_name>") * 2
    assert any("has a drive of an earlier plug-in" in note for note in notes(sdf(model(*CART, twice))))
    assert any("there is no joint 'lft'; did you mean 'left'?" in note for note in
               notes(sdf(model(*CART, plugin("ApplyJointForce", "<joint_name>lft</joint_name>")))))


def test_ros2_control_of_a_model_is_its_bench():
    block = """<ros2_control name='s' type='system'><joint name='left'><command_interface name='velocity'/>
      <state_interface name='position'/></joint></ros2_control>"""
    plug = ("<plugin filename='gz_ros2_control-system' name='gz_ros2_control::GazeboSimROS2ControlPlugin'><parameters>c.yaml</parameters>"
            "</plugin>")
    found = devices(block, plug)
    assert {name: device.type for name, device in found.items()} == {"left.servo": "velocity_servo", "left.encoder": "encoder"}
    assert any("there is no <ros2_control> in its model" in note for note in notes(sdf(model(*CART, plug))))


def test_devices_of_a_scene_are_called_as_its_robots_are():
    cart = model(*CART, plugin("JointStatePublisher", ""), name="cart")
    inner = model(link("base"), model(link("head", "<sensor name='imu' type='imu'/>"), name="neck"),
                  joint("n", "base", "neck::head", "fixed", ""), name="torso")
    cell = mbros.load(sdf(world(cart, inner)))
    assert [sensor.name for sensor in cell.description.bench.sensors] == ["torso/neck.imu", "cart/left.encoder", "cart/right.encoder"]
    mbros.Simulator(cell, dt=1e-3).step()


def test_a_wrench_on_what_never_moves_is_noted():
    sensor = "<sensor name='ft' type='force_torque'/>"
    text = sdf(model(link("a"), link("b"), link("c", "<sensor name='own' type='force_torque'/>"), joint("w", "world", "a", "fixed", ""),
                     joint("j", "a", "b", "fixed", sensor), joint("k", "b", "c", "fixed", "")))
    assert any("nothing that moves carries it, it is on the world (2 times" in note for note in notes(text))
    mbros.Simulator(mbros.load(text), dt=1e-3).step()


def test_sensors_of_one_name_on_two_links_are_called_after_them():
    imu = "<sensor name='imu' type='imu'/>"
    bench = mbros.load(sdf(model(link("a", imu), link("b", imu), joint("j", "a", "b")))).description.bench
    assert [sensor.name for sensor in bench.sensors] == ["imu", "b.imu"]


def test_many_loops_gears_and_plugins_are_read_in_a_bounded_time():
    """Each of them once took the time of all others: minutes of 6000."""
    n = 3000
    gear = "<gearbox_reference_body>l0</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"
    spring = "<axis><xyz>0 0 1</xyz><dynamics><spring_stiffness>1</spring_stiffness></dynamics></axis>"
    star = [link(f"l{i}") for i in range(n)] + [joint(f"j{i}", "l0", f"l{i}", inside=spring) for i in range(1, n)]
    loops = [joint(f"c{i}", f"l{i}", f"l{i + 1}", "ball", "") for i in range(1, n - 1)]
    gears = [joint(f"g{i}", f"l{i}", f"l{i + 1}", "gearbox", gear) for i in range(1, n - 1)]
    from mbros.describe.sdf import parse

    said, _ = bounded(lambda: parse(sdf(model(*star, *loops, *gears, plugin("JointStatePublisher", "")))))
    assert "3000 bodies, 3000 joints" in said, said
    said, _ = bounded(lambda: mbros.load(sdf(model(*CART, *[plugin("JointStatePublisher", "")] * 1001))))
    assert "more than 1000 of them" in said


def test_hulls_are_counted_before_they_fill_the_memory():
    from mbros.describe.sdf import parse

    many = "".join(collision(f"<ellipsoid><radii>1 2 {k + 1}</radii></ellipsoid>", name=f"c{k}") for k in range(30_000))
    said, grown = bounded(lambda: parse(sdf(model(link("a", many)))))
    assert "more than 5000 ellipsoids and cones" in said and grown < 600, (said[:300], grown)


def test_planes_of_what_moves_are_left_out():
    assert any("its plane is not used" in note for note in notes(sdf(model(link("a", collision(PLANE))))))
