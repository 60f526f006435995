"""The launch file: with the real launch where it can be imported, read by a parser in any case."""
import ast
from pathlib import Path

import pytest

from mbros.ros.parameters import TABLE, yaml

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
FILE = LAUNCH / "sim.launch.py"
TREE = ast.parse(FILE.read_text())


def arguments():
    """(name, default or None where it is computed, meaning) of every launch argument, from the source."""
    [table] = [node.value for node in TREE.body if isinstance(node, ast.Assign) and node.targets[0].id == "ARGUMENTS"]
    return [tuple(field.value if isinstance(field, ast.Constant) else None for field in row.elts) for row in table.elts]


def subscripts_of(name):
    """Constant keys that are looked up in the dictionary `name`."""
    return {node.slice.value for node in ast.walk(TREE) if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.slice, ast.Constant)}


def test_the_arguments_are_those_the_readme_may_use():
    names = [name for name, _, _ in arguments()]
    assert len(names) == len(set(names))
    assert {"robot", "rate", "base", "namespace", "frame_prefix", "params_file", "rviz", "record", "publish_tf",
            "robot_state_publisher", "start_paused", "real_time_factor"} <= set(names)
    assert all(text for _, _, text in arguments())


def test_every_argument_is_used_and_every_used_one_declared():
    names = {name for name, _, _ in arguments()}
    [numbers] = [ast.literal_eval(node.value) for node in TREE.body
                 if isinstance(node, ast.Assign) and node.targets[0].id == "NUMBERS"]
    assert subscripts_of("given") | set(numbers) == names


def test_an_argument_that_is_not_given_leaves_its_parameter_to_the_file():
    """Arguments overrule params_file, so none that is a parameter may have a value by itself."""
    rows = {row.name for row in TABLE}
    assert [name for name, default, _ in arguments() if name in rows and default != ""] == []


def test_the_default_robot_is_the_nodes():
    [robot] = [node.value.value for node in TREE.body if isinstance(node, ast.Assign) and node.targets[0].id == "DEFAULT_ROBOT"]
    assert robot == next(row.default for row in TABLE if row.name == "robot")


def test_the_parameters_it_sets_exist():
    rows = {row.name: row for row in TABLE}
    keys = subscripts_of("parameters") | {"robot", "frame_prefix", "publish_tf", "rate", "real_time_factor"}
    assert keys <= set(rows)
    assert {"base", "start_paused"} <= keys
    source = FILE.read_text()
    assert all(f'"{key}"' in source for key in keys)


def test_the_parameter_file_is_the_table():
    """Remedy: python -c "from mbros.ros.parameters import yaml; print(yaml(), end='')" > launch/config/mbros.yaml"""
    assert (LAUNCH / "config" / "mbros.yaml").read_text() == yaml()


def test_the_parameter_file_says_what_the_node_would_do_without_it():
    parser = pytest.importorskip("yaml", reason="needs PyYAML")
    values = parser.safe_load(yaml())["/**"]["ros__parameters"]
    assert values == {row.name: row.default for row in TABLE if row.default is not None}
    assert all(type(values[row.name]) is type(row.default) for row in TABLE if row.default is not None)


def test_rviz_shows_what_the_node_publishes():
    parser = pytest.importorskip("yaml", reason="needs PyYAML")
    displays = parser.safe_load((LAUNCH / "config" / "mbros.rviz").read_text())["Visualization Manager"]["Displays"]
    robot = next(d for d in displays if d["Class"].endswith("RobotModel"))
    assert robot["Description Topic"]["Value"] == "robot_description"
    assert robot["Description Topic"]["Durability Policy"] == "Transient Local"


@pytest.fixture
def launched():
    """launched(name=value, ...) -> the actions that the real launch would execute."""
    launch = pytest.importorskip("launch", reason="launch is not on PyPI; a sourced ROS 2 has it")
    pytest.importorskip("launch_ros.actions", reason="launch_ros is not on PyPI; a sourced ROS 2 has it")
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    def run(**given):
        context = launch.LaunchContext()
        description = get_launch_description_from_python_launch_file(str(FILE))
        declared = [e for e in description.entities if isinstance(e, launch.actions.DeclareLaunchArgument)]
        assert {d.name for d in declared} == {name for name, _, _ in arguments()}
        context.launch_configurations.update(given)
        actions = []
        for entity in description.entities:
            actions += entity.execute(context) or []
        return context, actions

    return run


def test_one_node_by_default(launched):
    _, [node] = launched()
    assert (node.node_package, node.node_executable) == ("mbros", "sim_node")


def test_beside_robot_state_publisher_tf_is_left_alone(launched):
    context, actions = launched(robot_state_publisher="true", rviz="true", record="bag")
    assert [a.node_package for a in actions[:3]] == ["mbros", "robot_state_publisher", "rviz2"]
    assert parameters(context, actions[0])["publish_tf"] is False
    assert "<robot" in parameters(context, actions[1])["robot_description"]


def test_a_parameter_file_is_not_overruled(launched, tmp_path):
    from launch_ros.utilities import evaluate_parameters
    file = tmp_path / "p.yaml"
    file.write_text("/**:\n  ros__parameters: {robot: arm6}\n")
    context, [node] = launched(params_file=str(file))
    assert not any(isinstance(values, dict) for values in evaluate_parameters(context, node._Node__parameters))
    with pytest.raises(ValueError, match="give robot:=... beside"):
        launched(params_file=str(file), robot_state_publisher="true")


def test_two_robots_from_one_launch(launched):
    context, actions = launched(namespace="left,right", robot="arm6,scara", rate="500")
    assert [parameters(context, a) for a in actions] == [
        {"robot": "arm6", "frame_prefix": "left/", "rate": 500.0},
        {"robot": "scara", "frame_prefix": "right/", "rate": 500.0}]
    with pytest.raises(ValueError, match="3 robots were given for 2 namespaces"):
        launched(namespace="left,right", robot="a,b,c")


def parameters(context, node):
    from launch_ros.utilities import evaluate_parameters
    [values] = evaluate_parameters(context, node._Node__parameters)
    return dict(values)
