"""mbros signals: names, units and sizes of a bench on a robot."""
import json

import pytest

from mbros import cli


def test_signals_are_listed(capsys, tmp_path):
    assert cli.main(["signals", "cartpole"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and any(line.split()[1] == "m/s" for line in lines)
    pytest.importorskip("yaml", reason="needs PyYAML")
    path = tmp_path / "bench.yaml"
    path.write_text("actuators:\n  joint*: {type: position_servo, kp: 4e2}\nsensors:\n  wrist.imu: {type: imu, frame: flange}\n")
    assert cli.main(["signals", "arm7", "--bench", str(path), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["wrist.imu.angular_velocity"]["size"] == 3 and rows["joint2.command.position"]["unit"] == "rad"
    path.write_text("sensors:\n  imu: {type: imu, frame: nowhere}\n")
    assert cli.main(["signals", "arm7", "--bench", str(path)]) == 2
    assert f"{path}:2" in capsys.readouterr().err


def test_numbers_of_faults_are_listed_as_the_node_names_them(capsys, tmp_path):
    pytest.importorskip("yaml", reason="needs PyYAML")
    path = tmp_path / "bench.yaml"
    path.write_text("faults:\n  - {name: hangs, kind: offset, signal: joint2.position, offset: 0.5, at: 0.25}\n")
    assert cli.main(["signals", "arm7", "--bench", str(path), "--numbers"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["fault.hangs.offset", "0.5"], ["fault.hangs.at", "0.25"], ["fault.hangs.until", "inf"],
                     ["fault.hangs.duration", "inf"]]
