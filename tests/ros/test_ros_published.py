"""robot_description as it is published, and the layouts that are installed: meshes that RViz finds, frames that stand still."""
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

import mbros
from mbros.ros.wire.published import fixed_frame, known_to_ament, published

CONFIG = Path(__file__).parents[2] / "launch" / "config"


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """The file of a robot in package `my_robot`, which ament does not know, beside one which it does."""
    package = tmp_path / "src" / "my robot & co" / "my_robot"
    (package / "meshes").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>my_robot</name></package>")
    (package / "meshes" / "hand.stl").write_bytes(b"")
    (package / "robot.urdf").write_text("<robot/>")
    index = tmp_path / "prefix" / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "known").write_text("")
    (tmp_path / "prefix" / "share" / "known").mkdir()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    return package / "robot.urdf"


def names(text):
    return [mesh.get("filename") for mesh in ET.fromstring(text).iter("mesh")]


def robot_with(*meshes):
    return "<robot name='r'>" + "".join(f"<mesh filename={mesh} scale='1 1 1'/>" for mesh in meshes) + "</robot>"


def test_names_that_only_we_can_resolve_become_files(robot):
    text = published(robot_with('"package://my_robot/meshes/hand.stl"', "'meshes/hand.stl'"), str(robot), [str(robot.parent)])
    for name in names(text):
        assert name.startswith("file:///") and name.endswith("/my%20robot%20%26%20co/my_robot/meshes/hand.stl")


def test_names_that_rviz_resolves_and_names_that_lead_nowhere_stay(robot):
    assert known_to_ament("known") and not known_to_ament("my_robot")
    stay = ["package://known/meshes/hand.stl", "file:///etc/hand.stl", "http://x/y.stl?a=1&b=2", "package://nobody/x.stl",
            "meshes/none.stl",
            "package://my_robot/../../../../etc/passwd"]
    text = robot_with(*(f'"{name}"'.replace("&", "&amp;") for name in stay))
    assert names(published(text, str(robot), [str(robot.parent)])) == stay


def test_everything_else_of_the_text_stays(robot):
    text = "<robot name='r'><!-- <link/> --><link name='a'/>\n<mesh\n  scale='2 2 2'\n  filename = 'meshes/hand.stl' /></robot>"
    shown = published(text, str(robot))
    assert re.sub(r'"file://[^"]*"', "'meshes/hand.stl'", shown) == text and "file://" in shown


@pytest.mark.parametrize("name, base, frame", [("arm7", None, None), ("cartpole", None, None), ("quadruped", None, "odom"),
                                               ("quadruped", "fixed", None), ("mobile_arm", None, "odom"), ("arm7", "floating", "odom")])
def test_the_frame_that_stands_still(name, base, frame):
    """The root link on a fixed base, odom on one that moves; each is a frame that the node publishes, with its prefix on links."""
    model = mbros.load(name) if base is None else mbros.load(name, base=base)
    root = ET.fromstring(model.description.text)
    children = {joint.find("child").get("link") for joint in root.iter("joint")}
    top = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
    assert fixed_frame(model) == (frame or top)
    assert fixed_frame(model, "left/") == (frame or f"left/{top}")


# --------------------------------------------------------------------------------------------------------------------- layouts


def test_rviz_shows_robot_frames_and_axes():
    """With the QoS of the node: robot_description is kept for who comes late."""
    config = yaml.safe_load((CONFIG / "mbros.rviz").read_text(encoding="utf-8"))["Visualization Manager"]
    shown = {display["Class"].rpartition("/")[2]: display for display in config["Displays"]}
    assert {"RobotModel", "TF", "Axes", "Grid"} <= {kind for kind, display in shown.items() if display["Enabled"]}
    markers = [display for display in config["Displays"] if display["Class"].endswith("/MarkerArray")]
    assert all(display["Enabled"] for display in markers)
    assert [display["Topic"]["Value"] for display in markers] == ["mbros/contact_markers", "mbros/constraint_markers"]
    topic = shown["RobotModel"]["Description Topic"]
    assert topic["Value"] == "robot_description" and topic["Durability Policy"] == "Transient Local"      # relative: in any namespace
    assert shown["Axes"]["Reference Frame"] == "<Fixed Frame>" and config["Views"]["Current"]["Target Frame"] == "<Fixed Frame>"


def test_plotjuggler_draws_every_joint_of_arm7():
    curves = {curve.get("name") for curve in ET.parse(CONFIG / "plotjuggler.xml").getroot().iter("curve")}
    assert curves == {f"/joint_states/{joint.name}/{part}" for joint in mbros.load("arm7").joints if joint.nv
                      for part in ("position", "velocity", "effort")}


def test_foxglove_shows_any_robot():
    """Every panel of the layout is configured; the frame is its own choice, so that it fits robots that stand and robots that move."""
    layout = json.loads((CONFIG / "foxglove.json").read_text(encoding="utf-8"))

    def panels(part):
        return {part} if isinstance(part, str) else panels(part["first"]) | panels(part["second"])

    assert panels(layout["layout"]) == set(layout["configById"])
    scene = layout["configById"]["3D!mbros"]
    assert "followTf" not in scene and scene["layers"]["robot"]["topic"] == "/robot_description"
    for part in ("position", "velocity", "effort"):
        paths = [path["value"] for path in layout["configById"][f"Plot!{part}"]["paths"]]
        assert paths == [f"/joint_states.{part}[{k}]" for k in range(mbros.load("arm7").nv)]
