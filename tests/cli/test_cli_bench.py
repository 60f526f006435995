"""Benches on the command line: --bench of run, check, signals and view; what check says of bench files; signals in recordings."""
import json

import pytest

from mbros import cli
from mbros.build.benches import BUILT_IN

pytest.importorskip("yaml", reason="needs PyYAML")

URDF = """<robot name="r" xmlns:mbros="urn:mbros:urdf">
<link name="base"/>
<link name="rod"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><limit lower="-2" upper="2" effort="9" velocity="3"/></joint>
<mbros:actuator joint="hinge" type="position_servo" kp="100" kd="10"/>
</robot>"""


def test_run_moves_a_robot_by_commands_and_records_signals(capsys, tmp_path):
    out = tmp_path / "out.csv"
    words = ["run", "arm7", "--bench", "arm7_servo", "--position", "joint2=0.3", "--duration", "1", "--signals", "joint2.encoder.*",
             "wrist.imu.angular_velocity", "--csv", str(out)]
    assert cli.main(words) == 0
    lines = out.read_text().splitlines()
    names, last = lines[0].split(","), lines[-1].split(",")
    assert names[-6:] == ["joint2.encoder.position", "joint2.encoder.velocity", "joint2.encoder.index",
                          *(f"wrist.imu.angular_velocity/{k}" for k in range(3))]
    assert float(last[names.index("joint2.encoder.position")]) == pytest.approx(0.3, abs=0.02)
    capsys.readouterr()
    assert cli.main([*words, "--realtime"]) == 2
    assert "the real-time loop records the robot alone" in capsys.readouterr().err
    assert cli.main(["run", "arm7", "--position", "joint2=0.3"]) == 2 and "Give one, for example --bench servo" in capsys.readouterr().err
    assert cli.main(["run", "arm7", "--signals", "joint2.*"]) == 2 and "--bench servo" in capsys.readouterr().err
    assert cli.main(["run", "arm7", "--bench", "arm7_serv"]) == 2 and "did you mean 'arm7_servo'" in capsys.readouterr().err
    assert cli.main(["run", "arm7", "--bench", "arm7_servo", "--integrator", "rk4"]) == 2 and "bench=False" in capsys.readouterr().err


def test_a_robots_own_bench_is_used_unless_there_is_none_asked_for(capsys, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    assert cli.main(["run", str(path), "--velocity", "hinge=0", "--duration", "0.1"]) == 0
    assert cli.main(["run", str(path), "--bench", "none", "--position", "hinge=1", "--duration", "0.1"]) == 2
    capsys.readouterr()
    assert cli.main(["signals", str(path)]) == 0 and "hinge.servo.effort" in capsys.readouterr().out
    assert cli.main(["signals", str(path), "--bench", "none"]) == 0 and "servo" not in capsys.readouterr().out
    assert cli.main(["signals", str(path), "--numbers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hinge.servo.kp"] == 100.0
    assert cli.main(["check", str(path)]) == 0 and "hinge.servo" in capsys.readouterr().out
    path.write_text(URDF.replace('kp="100"', 'kp="-1"'))
    assert cli.main(["check", str(path)]) == 1 and "r.urdf:5: <mbros:actuator>" in capsys.readouterr().out


def test_check_reads_bench_files(capsys, tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text("seed: 1\nactuators:\n  joint*: {type: position_servo, kp: -1}\nsensors:\n  i: {type: imuu}\n")
    assert cli.main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "b.yaml:3: " in out and "b.yaml:5: " in out and "2 problems" in out
    path.write_text("channels:\n  - {signal: nothing, loss: 0.1}\n")
    assert cli.main(["check", str(path)]) == 0 and cli.main(["check", "arm7", "--bench", str(path)]) == 1
    assert "b.yaml:2: channel 'nothing'" in capsys.readouterr().out
    assert cli.main(["check", str(tmp_path / "missing.yaml")]) == 1 and "cannot be read" in capsys.readouterr().out
    assert cli.main(["check", "arm7", "--bench", "arm7_servo", "--json"]) == 0
    assert "bus" in json.loads(capsys.readouterr().out)[0]["bench"]
    path.write_text("faults:\n  - {name: jams, kind: stuck, joint: joint2, at: 1.0}\nsources:\n  joint1: {safe: hold}\n")
    assert cli.main(["check", "arm7", "--bench", str(path)]) == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["jams", "stuck"] in rows and ["joint1.interface", "source"] in rows
    assert cli.main(["check", str(path), "--json"]) == 0 and json.loads(capsys.readouterr().out)[0]["bench"] == ["joint1", "jams"]


def test_list_names_the_benches(capsys):
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in BUILT_IN)
    assert cli.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["benches"] == list(BUILT_IN)


@pytest.mark.parametrize("words", [["run", "arm7", "--position", "joint2=0.3", "--duration", "1"], ["signals", "arm7"], ["check", "arm7"]])
def test_servo_is_a_bench_of_every_command(capsys, words):
    """As of the node and of mbros replay: a position servo in every joint."""
    assert cli.main([*words, "--bench", "servo"]) == 0
    out = capsys.readouterr().out
    assert {"run": "0.30", "signals": "joint7.command.position", "check": "joint7.servo"}[words[0]] in out
