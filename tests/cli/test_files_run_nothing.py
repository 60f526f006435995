"""Scenes, fault scripts and sweep files are data: what they name is never run, unless this machine's user says so."""
import pytest

import mbros
from mbros import cli

XACRO = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="${run()}"/>
<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>"""
FILES = {
    "scene.yaml": (["check"], "robots: {x: {robot: robot.urdf.xacro}}\n"),
    "script.yaml": (["faults", "run"], "robot: robot.urdf.xacro\nduration: 0.1\n"
                    "cases: [{name: jam, kind: stuck, joint: joint2, at: 0.05}]\n"),
    "sweep.yaml": (["sweep"], "robot: robot.urdf.xacro\nduration: 0.1\ncases: {mass.base: [1.0]}\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_trial_X6_no_file_of_data_has_xacro_expanded(name, tmp_path, monkeypatch, capsys):
    """Named beside it, by its whole path, or in capitals."""
    expanded = []
    monkeypatch.setattr("mbros.describe.urdf.expand.expand", lambda *given: expanded.append(given))
    (tmp_path / "robot.urdf.xacro").write_text(XACRO)
    words, text = FILES[name]
    for named in ("robot.urdf.xacro", str(tmp_path / "robot.urdf.xacro"), "robot.urdf.XACRO"):
        (tmp_path / name).write_text(text.replace("robot.urdf.xacro", named))
        monkeypatch.chdir(tmp_path)
        assert cli.main([*words, str(tmp_path / name)]) in (1, 2)
        assert "expanding it would run code from it" in "".join(capsys.readouterr())
    assert expanded == []


def test_a_xacro_file_that_the_user_names_is_expanded(tmp_path):
    scene = mbros.Scene("mine")
    harmless = XACRO.replace('<xacro:include filename="${run()}"/>', '<xacro:property name="a" value="1"/>')
    (tmp_path / "robot.urdf.xacro").write_text(harmless)
    scene.add_robot(str(tmp_path / "robot.urdf.xacro"), "x")
    assert len(scene.build().bodies) == 2


@pytest.mark.parametrize("controller", ['{python: "law.py:law"}', "{ros: [python3, law.py]}"])
def test_a_controller_of_a_script_is_run_when_the_user_says_so(controller, tmp_path, capsys):
    (tmp_path / "law.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef law(time, signals): return None\n")
    script = tmp_path / "script.yaml"
    script.write_text(f"robot: arm7\nbench: arm7_servo\nduration: 0.05\ncontroller: {controller}\n"
                      "cases: [{name: jam, kind: stuck, joint: joint2, at: 0.02}]\n")
    assert cli.main(["faults", "run", str(script)]) == 2
    said = capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    assert "names a controller, which is a program" in said and "--controller" in said
    if "python" in controller.split(":")[0]:
        cli.main(["faults", "run", "--controller", str(script)])
        assert (tmp_path / "ran").exists()


PATHS = ("/etc/x.urdf", "../x.urdf", "a/../../x.urdf", "link.urdf")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("path", PATHS)
def test_no_file_of_data_opens_what_lies_elsewhere(name, path, tmp_path, monkeypatch, capsys):
    """By an absolute path, through .., and by a link that leads there."""
    folder = tmp_path / "sent"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "x.urdf").write_text("<robot name='x'><link name='a'/></robot>")
    (folder / "link.urdf").symlink_to("../x.urdf")
    words, text = FILES[name]
    (folder / name).write_text(text.replace("robot.urdf.xacro", path))
    monkeypatch.chdir(folder)
    assert cli.main([*words, str(folder / name)]) in (1, 2)
    assert "leads out of the folder" in "".join(capsys.readouterr())
