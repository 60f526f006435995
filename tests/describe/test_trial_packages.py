"""Robots that other people wrote, as they lie in packages, where no ROS is sourced. trial-2, M1 and M2."""
import pytest

import mbros
from mbros.cli import main
from mbros.describe.urdf.packages import resolve

LINK = "<link name='a'><visual><geometry><mesh filename='{}'/></geometry></visual></link>"
ARM = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
PART = ARM.format('<xacro:macro name="part" params="m"><link name="b"><inertial><mass value="${m}"/>'
                  '<inertia ixx="1" iyy="1" izz="1"/></inertial></link></xacro:macro>')
USER = ARM.format('<xacro:include filename="$(find %s)/urdf/part.xacro"/><xacro:part m="$(arg m)"/><link name="a"/>'
                  '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>').replace(
    "<xacro:include", '<xacro:arg name="m" default="2"/><xacro:include')


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """src/checkout holds the package arm, src/parts the package parts; nothing is sourced."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    src = tmp_path / "src"
    package(src / "checkout", "arm")
    package(src / "parts", "parts")
    (src / "checkout" / "urdf" / "arm.urdf.xacro").write_text(USER % "arm")
    (src / "checkout" / "urdf" / "other.urdf.xacro").write_text(USER % "parts")
    return src


def package(folder, name):
    for below in ("urdf", "meshes"):
        (folder / below).mkdir(parents=True)
    (folder / "package.xml").write_text(f"<?xml version='1.0'?>\n<package format='3'>\n  <name> {name}\n</name></package>")
    (folder / "urdf" / "part.xacro").write_text(PART)
    (folder / "meshes" / "a.stl").write_text("x")


@pytest.mark.parametrize("name", ["arm", "other"])
def test_trial_M1_find_is_answered_by_package_xml(workspace, name):
    pytest.importorskip("xacro")
    assert mbros.load(workspace / f"checkout/urdf/{name}.urdf.xacro", xacro_args={"m": 3}).body("b").mass == 3


@pytest.mark.parametrize("how", ["package_dirs", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "a folder of repositories", "the package"])
def test_trial_M1_find_and_package_are_answered_alike(workspace, tmp_path, monkeypatch, how):
    pytest.importorskip("xacro")
    robot, dirs = tmp_path / "alone.urdf.xacro", ()
    robot.write_text(USER % "far")
    home = {"AMENT_PREFIX_PATH": "ament/share/far", "a folder of repositories": "ws/repository/checkout"}.get(how, "ws/far")
    package(tmp_path / home, "far")
    if how.isupper():
        monkeypatch.setenv(how, str(tmp_path / home.split("/")[0]))
    else:
        dirs = tmp_path / ("ws/far" if how == "the package" else "ws")
    assert mbros.load(robot, package_dirs=dirs).body("b").mass == 2
    assert resolve("package://far/meshes/a.stl", robot, [dirs] if dirs else []) == tmp_path / home / "meshes/a.stl"


def test_trial_M1_a_package_that_is_nowhere_is_said_once_and_where(workspace):
    pytest.importorskip("xacro")
    path = workspace / "checkout/urdf/arm.urdf.xacro"
    path.write_text("\n" + USER % "nobody_has_it")
    with pytest.raises(mbros.UrdfError) as caught:
        mbros.load(path)
    said = str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    assert said.count("nobody_has_it") == 2 and "--package-dir" in said and "class" not in said and "Errno" not in said


@pytest.mark.parametrize("uri", ["../meshes/a.stl", "file://{}/checkout/meshes/a.stl", "{}/checkout/meshes/a.stl",
                                 "file://{}/parts/meshes/a.stl", "package://parts/meshes/a.stl", "package://arm/meshes/a.stl"])
def test_trial_M2_meshes_of_packages_are_found(workspace, uri):
    uri = uri.format(workspace)
    assert resolve(uri, workspace / "checkout/urdf/arm.urdf") == workspace / ("parts" if "parts" in uri else "checkout") / "meshes/a.stl"


@pytest.mark.parametrize("uri", ["../../secret.stl", "file://{}/secret.stl", "{}/secret.stl", "../meshes/link.stl", "/etc/passwd",
                                 "file://{}/etc/package.xml", "package://etc/passwd", "package://arm/%2e%2e/secret.stl",
                                 "..%2f..%2fsecret.stl", "package://arm%2f..%2f..%2fsecret.stl"])
def test_trial_M2_the_bound_is_the_package(workspace, uri):
    (workspace / "secret.stl").write_text("x")
    (workspace / "checkout/meshes/link.stl").symlink_to(workspace / "secret.stl")
    with pytest.raises(mbros.MbrosError, match="outside its package|no package|no such file"):
        resolve(uri.format(workspace), workspace / "checkout/urdf/arm.urdf")


def test_trial_M2_installed_links_to_sources_are_of_the_package(workspace, tmp_path):
    share = tmp_path / "install/arm/share/arm"
    for below in ("package.xml", "meshes/a.stl", "urdf/part.xacro"):
        (share / below).parent.mkdir(parents=True, exist_ok=True)
        (share / below).symlink_to(workspace / "checkout" / below)
    assert resolve("../meshes/a.stl", share / "urdf/part.xacro") == workspace / "checkout/meshes/a.stl"
    assert resolve("package://arm/meshes/a.stl", None, [tmp_path / "install/arm"]) == workspace / "checkout/meshes/a.stl"


@pytest.mark.parametrize("command", ["check", "run", "signals", "codegen"])
def test_trial_M2_every_command_takes_package_dir(workspace, tmp_path, capsys, command):
    pytest.importorskip("xacro")
    robot = tmp_path / "alone.urdf.xacro"
    robot.write_text(USER % "parts")
    words = [command, str(robot), *{"run": ["--duration", "0.01"], "codegen": ["--out", str(tmp_path / "c")]}.get(command, [])]
    assert main(words) != 0 and "--package-dir" in "".join(capsys.readouterr())
    assert main([*words, "--package-dir", str(workspace)]) == 0, capsys.readouterr()
    assert main(["check", "package://parts/urdf/part.xacro", "--package-dir", str(workspace)]) == 1       # a macro alone
    assert "no <link>" in capsys.readouterr().out


def test_trial_M2_a_scene_expands_only_what_is_installed(workspace, tmp_path):
    """Folders are named for meshes of a scene that a stranger may have written: no xacro file of theirs is expanded."""
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: {r: {robot: 'package://parts/urdf/part.xacro'}}")
    with pytest.raises(mbros.MbrosError, match="no package 'parts'"):
        mbros.Scene.load(scene, package_dirs=[workspace])
