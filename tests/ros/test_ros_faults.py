"""A fault script with a controller of rclpy in a process of its own: the same report twice, and that of the controller in process."""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE, until
from process_groups import living

from mbros import cli

pytest.importorskip("yaml", reason="needs PyYAML")
pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
EXAMPLE = Path(__file__).parents[2] / "examples" / "faults"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The example, of runs that are no longer than what is to be seen in them: every step is an exchange between two processes."""
    shutil.copytree(EXAMPLE, tmp_path / "faults")
    for script in (tmp_path / "faults").glob("arm7_faults*.yaml"):
        text = script.read_text()
        assert "duration: 1.5\n" in text
        script.write_text(text.replace("duration: 1.5\n", "duration: 0.8\n"))
    paths = [str(EXAMPLE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", ":".join(paths))
    return tmp_path / "faults"


def report(capsys, path, cases="[sb]*[n4]"):
    code = cli.main(["faults", "run", "--controller", str(path), "--case", cases, "--report", f"{path}.xml"])
    said = capsys.readouterr()
    assert code == 0, said
    return said.out, Path(f"{path}.xml").read_text()


@pytest.mark.slow
def test_the_same_report_twice_and_as_in_process(capsys, folder):
    first, second = (report(capsys, folder / "arm7_faults_ros.yaml") for _ in range(2))
    assert first == second == report(capsys, folder / "arm7_faults.yaml")
    assert "2 of 2 cases kept" in first[0]


@pytest.mark.parametrize("program, said", [
    ("raise SystemExit('no such robot')", "ended with code 1 at 0 s; it said: no such robot"),
    ("import time; time.sleep(60)", "no answer to the joint_states of 0 s within {} s"),
    ("import rclpy; from sensor_msgs.msg import JointState as J; rclpy.init(); n = rclpy.create_node('x'); p = n.create_publisher(J, "
     "'joint_commands', 10); n.create_subscription(J, 'joint_states', lambda m: p.publish(J()), 10); rclpy.spin(n)",
     "commands came with other stamps")])
def test_a_controller_that_does_not_answer_is_said(capsys, folder, program, said):
    """Within a time that is longer where the program takes longer to start."""
    (folder / "ros_hold.py").write_text(program)
    text, err = (folder / "arm7_faults_ros.yaml").read_text(), ""
    for timeout in (1.5, 5.0, 20.0, 60.0):
        (folder / "short.yaml").write_text(text.replace("rate: 500}", f"rate: 500, timeout: {timeout}}}"))
        assert cli.main(["faults", "run", "--controller", str(folder / "short.yaml")]) == 2
        err = capsys.readouterr().err
        if said.format(timeout) in err:
            return
        assert "ended with" not in err and f"within {timeout:g} s" in err, err
    pytest.fail(err)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP),
                                          (signal.SIGKILL, -signal.SIGKILL)])
def test_no_controller_outlives_the_command(folder, number, code):
    (folder / "ros_hold.py").write_text("import time\nopen('started', 'w').close()\ntime.sleep(100000)")
    text = (folder / "arm7_faults_ros.yaml").read_text()
    (folder / "long.yaml").write_text(text.replace("rate: 500}", "rate: 500, timeout: 100000}"))
    command = subprocess.Popen([sys.executable, "-m", "mbros.cli", "faults", "run", "--controller", "long.yaml"], cwd=folder,
                               start_new_session=True)
    try:
        until(lambda: (folder / "started").exists(), "the controller")
        command.send_signal(number)
        assert command.wait(PATIENCE) == code
        until(lambda: not living(command.pid), "the end of the controller")
    finally:
        for pid in living(command.pid):
            os.kill(pid, signal.SIGKILL)
        command.wait()
