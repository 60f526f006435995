"""The launch file, read by a parser, and its own checks; test_ros_launched.py has the real launch."""
import pytest
from launch_file import FILE, LAUNCH, functions, subscripts_of, table

from mbros.ros.parameters import TABLE, yaml


def arguments():
    """(name, default or None where it is computed, meaning) of every launch argument, from the source."""
    return table("ARGUMENTS")


def test_the_arguments_are_those_the_readme_may_use():
    names = [name for name, _, _ in arguments()]
    assert len(names) == len(set(names))
    assert {"robot", "rate", "base", "namespace", "frame_prefix", "params_file", "rviz", "record", "publish_tf",
            "robot_state_publisher", "start_paused", "real_time_factor"} <= set(names)
    assert all(text for _, _, text in arguments())


def test_every_argument_is_used_and_every_used_one_declared():
    names = {name for name, _, _ in arguments()}
    inner = {"start_paused", "ground", "specialize"}          # reach the parameters in a loop over names
    assert subscripts_of("given") | subscripts_of("values") | set(table("NUMBERS")) | inner | {"publish_tf"} == names


def test_an_argument_that_is_not_given_leaves_its_parameter_to_the_file():
    """Arguments overrule params_file, so none that is a parameter may have a value by itself."""
    rows = {row.name for row in TABLE}
    assert [name for name, default, _ in arguments() if name in rows and default != ""] == []


def test_the_default_robot_is_the_nodes():
    assert functions()["DEFAULT_ROBOT"] == next(row.default for row in TABLE if row.name == "robot")


def test_the_parameters_it_sets_exist():
    rows = {row.name: row for row in TABLE}
    keys = subscripts_of("parameters") | set(table("NUMBERS")) | {"robot", "frame_prefix", "publish_tf", "base", "start_paused"}
    assert keys <= set(rows)
    source = FILE.read_text()
    assert all(f'"{key}"' in source for key in keys)
    assert functions()["CHOICES"]["base"] == rows["base"].choices


def test_the_parameter_file_is_the_table():
    """Remedy: python -c "from mbros.ros.parameters import yaml; print(yaml(), end='')" > launch/config/mbros.yaml"""
    assert (LAUNCH / "config" / "mbros.yaml").read_text() == yaml()


def test_the_parameter_file_says_what_the_node_would_do_without_it():
    parser = pytest.importorskip("yaml", reason="needs PyYAML")
    values = parser.safe_load(yaml())["/**"]["ros__parameters"]
    rows = [row for row in TABLE if row.default is not None and not row.follows]    # what follows another is shown, not set
    defaults = {row.name: list(row.default) if row.kind == "doubles" else row.default for row in rows}      # a list is YAML's tuple
    assert values == defaults
    assert all(type(values[name]) is type(value) for name, value in defaults.items())


# --- what is refused, and that it is refused before anything is started


def given(**arguments_):
    """The launch arguments as `start` has them."""
    return {name: default or "" for name, default, _ in arguments()} | arguments_


def checked(**arguments_):
    """What `start` does before it makes an action."""
    names = functions()
    values = {name: names["value_of"](name, text) for name, text in given(**arguments_).items()}
    robots = names["robots_of"](given(**arguments_))
    names["check_time"](values, [namespace for namespace, _, _ in robots])
    names["check_files"](values)
    names["check_packages"](values)
    return values, robots


@pytest.mark.parametrize("wrong, said", [
    ({"start_paused": "maybe"}, "start_paused must be true or false, got 'maybe'"),
    ({"publish_tf": "2"}, "publish_tf must be true or false"),
    ({"rate": "fast"}, "rate must be a number, got 'fast'"),
    ({"base": "swinging"}, "base must be one of auto, fixed, floating, planar, got 'swinging'"),
    ({"log_level": "loud"}, "log_level must be one of"),
    ({"params_file": "/nowhere/p.yaml"}, "params_file: there is no file '/nowhere/p.yaml'"),
    ({"namespace": "left,/left"}, "namespace '/left' is given twice"),
    ({"namespace": "left,right", "frame_prefix": "a/"}, "frame_prefix is for one robot"),
    ({"namespace": "left,right", "robot": "a,b,c"}, "3 robots were given for 2 namespaces"),
    ({"scene": "cell.yaml", "robot": "arm7"}, "scene was given with a robot"),
    ({"scene": "cell.yaml", "robot_state_publisher": "true"}, "publishes TF of a scene itself"),
    ({"scene": "/nowhere/cell.yaml"}, "scene: there is no file '/nowhere/cell.yaml'")])
def test_trial_C4_an_argument_that_cannot_be_is_refused_in_words(wrong, said):
    with pytest.raises(ValueError, match=said):
        checked(**wrong)


def test_trial_C4_an_argument_that_is_not_there_is_refused_unless_another_file_was_launched(monkeypatch):
    refuse = functions()["refuse_unknown"]
    for command, theirs in ((["ros2", "launch", "mbros", "sim.launch.py", "robto:=panda"], False),
                            (["ros2", "launch", str(FILE), "robto:=panda"], False),
                            (["ros2", "launch", "bench", "sim.launch.py", "robto:=panda"], True)):
        monkeypatch.setattr("sys.argv", command)
        if theirs:
            refuse(["robto:=panda"])
        else:
            refuse(["robot:=panda", "launch-prefix:=nice"])
            with pytest.raises(ValueError, match="there is no argument 'robto'; there are robot, rate"):
                refuse(["robto:=panda"])


def test_trial_C1_a_package_that_is_missing_is_found_missing_before_anything_is_started(monkeypatch, tmp_path):
    pytest.importorskip("ament_index_python", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, package in (("rviz", "rviz2"), ("robot_state_publisher", "robot_state_publisher")):
        rviz = {"rviz_config": str(LAUNCH / "config" / "mbros.rviz")}
        with pytest.raises(RuntimeError, match=f"{name}:=true needs the package {package}, which is not installed"):
            checked(**{name: "true", **rviz})
    with pytest.raises(RuntimeError, match="record needs the command ros2"):
        checked(record="bag")


@pytest.mark.parametrize("wrong", [{"real_time_factor": "0.5"}, {"start_paused": "true"}])
def test_trial_R4_the_launch_file_starts_no_two_clocks(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} makes simulated time, and each of /left, /right would publish a /clock"):
        checked(namespace="left,right", **wrong)
    checked(namespace="left,right", real_time_factor="1.0", start_paused="false")


def test_trial_R15_record_needs_the_package_that_records(monkeypatch, tmp_path):
    pytest.importorskip("ament_index_python", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    (tmp_path / "ros2").write_text("#!/bin/sh\n")
    (tmp_path / "ros2").chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="record:=bag needs the package ros2bag, which is not installed .*rosbag2"):
        checked(record="bag")
    (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/ros2bag").touch()
    checked(record="bag")


def test_trial_R11_rviz_shows_robots_with_prefixes_and_scenes(tmp_path):
    """RViz looks for the frames <TF Prefix>/<link>; its topics are relative to its namespace, which is the node's."""
    import mbros
    parser = pytest.importorskip("yaml", reason="needs PyYAML")
    names = functions()
    scene = tmp_path / "cell.yaml"
    scene.write_text("robots:\n  left: {robot: arm7, p: [0, 1, 0]}\n  right: {robot: scara}\n"
                     "objects:\n  box: {shape: box, size: [1, 1, 1], mass: 1}\n")

    def shown(prefix="", **arguments_):
        values = {name: names["value_of"](name, text) for name, text in given(**arguments_).items()}
        path = names["rviz_config"](names["CONFIG"], names["load"](values, arguments_.get("robot", "")), prefix)
        displays = parser.safe_load(open(path).read())["Visualization Manager"]["Displays"]
        return [(d["Description Topic"]["Value"], d["TF Prefix"]) for d in displays if d["Class"].endswith("RobotModel")], displays

    assert shown(robot="panda")[0] == [("robot_description", "")]
    robots, displays = shown(robot="panda", prefix="left/")
    assert robots == [("robot_description", "left")] and len(displays) == 7
    robots, displays = shown(scene=str(scene))
    assert robots == [("left/robot_description", "left"), ("right/robot_description", "right")] and len(displays) == 8
    assert {f"{prefix}/{link.name}" for _, prefix in robots[:1] for link in mbros.load("arm7").bodies} <= {
        body.name for body in mbros.load(str(scene)).bodies} | {"left/world"}
    own = tmp_path / "own.rviz"
    own.write_text("mine")
    assert names["rviz_config"](str(own), mbros.load("arm7"), "left/") == str(own)
    with pytest.raises(ValueError, match="RViz puts a / between prefix and link.*give 'left/'"):
        shown(robot="panda", prefix="left_")


def test_trial_R13_the_launch_file_reads_robots_as_the_node_does(tmp_path):
    xacro = pytest.importorskip("xacro", reason="needs xacro")
    assert xacro
    path = tmp_path / "stick.urdf.xacro"
    path.write_text('<robot name="stick" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="prefix" default=""/>'
                    '<link name="$(arg prefix)base"/></robot>')
    names = functions()
    values = {name: names["value_of"](name, text) for name, text in given(robot=str(path), xacro_args="prefix:=left_",
                                                                           package_dirs=str(tmp_path)).items()}
    model = names["load"](values, str(path))
    assert "left_base" in names["urdf"](model) and names["fixed_frame"](model, "a/") == "a/left_base"


def test_switches_and_numbers_are_read():
    values, robots = checked(ground="Yes", publish_tf="off", rate="500", namespace="/left/, right", robot="arm6,scara")
    assert (values["ground"], values["publish_tf"], values["rate"], values["base"]) == (True, False, 500.0, None)
    assert robots == [("left", "arm6", "left/"), ("right", "scara", "right/")]


def test_rviz_shows_what_the_node_publishes():
    parser = pytest.importorskip("yaml", reason="needs PyYAML")
    displays = parser.safe_load((LAUNCH / "config" / "mbros.rviz").read_text())["Visualization Manager"]["Displays"]
    robot = next(d for d in displays if d["Class"].endswith("RobotModel"))
    assert robot["Description Topic"]["Value"] == "robot_description"
    assert robot["Description Topic"]["Durability Policy"] == "Transient Local"
