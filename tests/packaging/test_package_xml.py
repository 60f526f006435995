"""package.xml and the [ros] extra name every ROS package that the code imports."""
import ast
import configparser
import xml.etree.ElementTree as ElementTree

from workshop import ROOT

# Come with rclpy, or (tf2_msgs) are generated; launch exists only where ROS is sourced.
NOT_WHEELS = {"rclpy", "ament_index_python", "rcl_interfaces", "tf2_msgs", "launch", "launch_ros", "lifecycle_msgs"}


def package():
    return ElementTree.parse(ROOT / "package.xml").getroot()


def depends():
    return {element.text for element in package() if element.tag in ("depend", "exec_depend")}


def ros_imports():
    """ROS packages imported anywhere in mbros/ros, mbros/demo and launch/, at the top or inside functions."""
    files = [*(ROOT / "mbros").rglob("*.py"), *(ROOT / "launch").rglob("*.py")]
    names = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(node.module.partition(".")[0])
    return {name for name in names if name.endswith(("_msgs", "_srvs", "_interfaces")) or name in NOT_WHEELS}


def test_it_is_an_ament_python_package_of_format_3():
    assert package().get("format") == "3"
    assert package().findtext("export/build_type") == "ament_python"
    assert package().findtext("license") == "Apache-2.0"


def test_catkin_pkg_accepts_it():
    from catkin_pkg.package import parse_package

    warnings = []
    parsed = parse_package(str(ROOT / "package.xml"), warnings=warnings)
    parsed.validate()
    assert parsed.name == "mbros" and warnings == []


# Optional: generated, built from mbros/ros/interfaces, or installed.
OURS = {"mbros_msgs", "simulation_interfaces"}


def test_every_import_is_declared():
    imported = ros_imports()
    assert {"rclpy", "sensor_msgs"} <= imported
    assert imported - depends() == OURS


def test_every_declared_message_package_is_in_the_extra():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extra = set(config["options.extras_require"]["ros"].split())
    messages = {name for name in depends() if name.endswith(("_msgs", "_srvs", "_interfaces"))} - NOT_WHEELS
    assert {f"ros-{name.replace('_', '-')}" for name in messages} - extra == set()
