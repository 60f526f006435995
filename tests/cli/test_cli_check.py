"""mbros check: what it says of good robots, and of every malformed one of tests/models, through the real command."""
import importlib.util
import json
from pathlib import Path

import pytest
from shell import one_paragraph

from mbros import cli

TESTS = Path(__file__).resolve().parents[1]


def malformed():
    """name -> URDF text, the cases of tests/describe/test_malformed.py."""
    spec = importlib.util.spec_from_file_location("malformed", TESTS / "describe" / "test_malformed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: case[0] for name, case in module.CASES.items()}


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    """Every malformed robot as a file."""
    folder, files = tmp_path_factory.mktemp("malformed"), []
    for k, text in enumerate(malformed().values()):
        files.append(folder / f"bad{k:03}.urdf")
        files[-1].write_bytes(text.encode())
    assert len(files) >= 100
    return files


def test_every_malformed_robot_is_refused_with_its_place(command, bad_files):
    done = command("check", *bad_files)
    assert done.returncode == 1 and done.stderr == "" and "Traceback" not in done.stdout
    parts = done.stdout.split("\n\n")
    assert len(parts) == len(bad_files)
    for file, part in zip(bad_files, parts):
        errors = [line for line in part.splitlines() if line.startswith("error: ")]
        assert errors and all(line.startswith(f"error: {file}:") for line in errors), part
        assert f"{file}: refused, " in part


def test_run_refuses_every_malformed_robot_with_one_paragraph(bad_files, capsys):
    for file in bad_files:
        assert cli.main(["run", str(file)]) == 2
        said = capsys.readouterr()
        assert said.out == "" and one_paragraph(said.err) and f"{file}:" in said.err, said.err


def test_a_good_robot(command):
    done = command("check", "arm7")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("arm7  (")
    assert lines[1] == "  9 links, 8 joints (7 moving), 7 degrees of freedom, fixed base, 21.55 kg in all"
    assert "  joint2  revolute  link1 -> link2         -2      2    1.7     300        1         0  rad" in lines
    assert lines[-1] == "arm7: ok"


@pytest.mark.parametrize("words, line", [
    (["quadruped"], "(12 moving), 18 degrees of freedom, floating base"),
    (["quadruped", "--base", "fixed"], "12 degrees of freedom, fixed base"),
    (["mobile_arm"], "9 degrees of freedom, planar base"),
    (["pendulum"], "2 links, 1 joint (1 moving), 1 degree of freedom"),
])
def test_bases(command, words, line):
    done = command("check", *words)
    assert done.returncode == 0 and line in done.stdout


ROBOT = """<robot name="r">
<link name="a"/><link name="b"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="0" upper="1" effort="5" velocity="2"/>
<mimic joint="j" multiplier="0.5" offset="-0.1"/></joint>
<gazebo reference="a"/><gazebo reference="b"/><gazebo reference="c"/>
</robot>"""


def test_mimic_joints_limits_and_ignored_tags(command):
    (command.folder / "r.urdf").write_text(ROBOT)
    done = command("check", "r.urdf")
    assert done.returncode == 0
    assert "1 moving, 1 following another" in done.stdout and "prismatic, = 0.5 j -0.1" in done.stdout
    (j,) = (line for line in done.stdout.splitlines() if line.startswith("  j "))
    assert j.split()[-7:] == ["0.2", "2.2", "4", "-", "0", "0", "rad"]         # as its follower allows
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: ")]
    assert len([line for line in notes if "<gazebo>" in line]) == 1 and "3 times" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("r.urdf: ok, ")


def test_several_robots_and_quiet(command):
    (command.folder / "r.urdf").write_text(ROBOT)
    (command.folder / "bad.urdf").write_text("<robot name='x'/>")
    done = command("check", "--quiet", "r.urdf", "bad.urdf", "arm6", "nope")
    assert done.returncode == 1
    verdicts = [line for line in done.stdout.splitlines() if ": ok" in line or ": refused" in line]
    assert [line.split(":")[0] for line in verdicts] == ["r.urdf", "bad.urdf", "arm6", "nope"]
    assert "note:" not in done.stdout and "mass kg" not in done.stdout
    assert "error: bad.urdf:1: " in done.stdout and "no robot 'nope'" in done.stdout


def test_json(command):
    (command.folder / "bad.urdf").write_text("<robot name='x'/>")
    done = command("check", "--json", "panda_of_mine", "bad.urdf", "mobile_arm")
    assert done.returncode == 1
    missing, bad, good = json.loads(done.stdout)
    assert not missing["ok"] and not bad["ok"] and good["ok"]
    assert bad["problems"][0]["file"] == "bad.urdf" and bad["problems"][0]["line"] == 1 and bad["problems"][0]["remedy"]
    robot = good["robot"]
    assert (robot["nq"], robot["nv"]) == (9, 9)
    base, first = (next(joint for joint in robot["joints"] if joint["name"] == name) for name in ("base", "joint1"))
    assert base["kind"] == "planar" and base["lower"] == [None] * 3 and first["effort"] == [250.0]
    assert sum(link["mass"] for link in robot["links"]) == pytest.approx(robot["mass"], rel=1e-15)


def test_impossible_inertias_can_be_taken_as_given(command):
    text = ROBOT.replace('izz="1"', 'izz="9"')
    (command.folder / "r.urdf").write_text(text)
    assert command("check", "r.urdf").returncode == 1
    done = command("check", "r.urdf", "--inertia", "as_given")
    assert done.returncode == 0 and "warning: r.urdf:" in done.stdout


@pytest.mark.parametrize("subcommand", ["check", "run"])
def test_trial_D11_missing_limits_can_be_taken_as_given(command, subcommand):
    (command.folder / "r.urdf").write_text(ROBOT.replace("continuous", "revolute"))
    done = command(subcommand, "r.urdf")
    assert done.returncode != 0 and "<limit> is missing" in done.stdout + done.stderr
    assert command(subcommand, "r.urdf", "--limits", "as_given").returncode == 0


def test_trial_B10_run_takes_impossible_inertias_too(command):
    (command.folder / "r.urdf").write_text(ROBOT.replace('izz="1"', 'izz="9"'))
    assert "inertia='as_given'" in command("run", "r.urdf").stderr
    assert command("run", "r.urdf", "--inertia", "as_given", "--duration", "0.01").returncode == 0


def test_shapes_and_pairs_that_never_touch(command):
    rule = '<disable_collisions link1="FL_foot" link2="FR_foot" reason="Never"/>'
    (command.folder / "q.srdf").write_text(f'<robot name="q">{rule}</robot>')
    plain, done = command("check", "quadruped"), command("check", "quadruped", "--ground", "-0.3", "--srdf", "q.srdf")
    assert plain.returncode == done.returncode == 0 and "friction  stiffness N/m" not in plain.stdout
    assert "29 pairs of shapes never touch: 20 group, 8 joint, 1 Never" in done.stdout
    foot, floor = (next(line.split() for line in done.stdout.splitlines() if line.startswith(f"  {name} ") and "0.8" in line)
                   for name in ("FL_foot", "floor"))
    assert foot == ["FL_foot", "FL_foot", "sphere", "0.022", "0.8", "1e+06", "0.005", "FL"]
    assert floor[:3] == ["floor", "world", "half_space"]
    robot, = json.loads(command("check", "--json", "--collisions", "diff_drive").stdout)
    assert [shape["name"] for shape in robot["robot"]["shapes"]] == ["chassis", "left_wheel", "right_wheel", "caster"]
    assert robot["robot"]["shapes"][3]["friction"] == 0.0 and ["chassis", "left_wheel", "joint"] in robot["robot"]["excluded"]


def test_ground_is_a_height(command):
    done = command("check", "--ground", "quadruped")
    assert done.returncode == 2 and "expected a height in metres, or nothing, got 'quadruped' (the robot stands before" in done.stderr
    (command.folder / "bad.srdf").write_text('<robot name="q">\n<disable_collisions link1="trunk"/></robot>')
    done = command("check", "quadruped", "--ground", "--srdf", "bad.srdf")
    assert done.returncode == 1 and "error: bad.srdf:2: <disable_collisions>: attribute 'link2' is missing" in done.stdout


def test_constraints_are_listed(command):
    lines = command("check", "gripper").stdout.splitlines()
    assert "6 degrees of freedom before 3 constraints" in lines[1]
    table = lines[next(k for k, line in enumerate(lines) if line.split()[:2] == ["constraint", "kind"]) + 1:][:3]
    assert [line.split()[0] for line in table] == ["left_loop", "right_loop", "gears"]
    assert all(float(line.split()[-1]) < 1e-9 for line in table)
    assert "before" not in command("check", "arm6").stdout


def test_models_and_worlds_of_sdf_are_robots_of_every_command(command):
    corpus = TESTS / "fuzz" / "corpus" / "sdf"
    done = command("check", corpus / "everything.sdf", corpus / "world.sdf")
    assert done.returncode == 0, done.stdout
    assert "everything.sdf: ok, 1 warning, 6 notes" in done.stdout and "object box: 1 link, 6 degrees of freedom" in done.stdout
    done = command("run", corpus / "everything.sdf", "--ground", "--duration", "0.05")
    assert done.returncode == 0 and "cardan" in done.stdout, done.stderr
