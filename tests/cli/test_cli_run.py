"""mbros run: the same numbers as the library, recorded whole, summed up right."""
import csv
import math
import re
import signal
import sys

import numpy as np
import pytest
from shell import one_paragraph

import mbros


def read(path):
    """Header and rows of a CSV file as an outside reader sees them."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, float)


def test_the_csv_holds_the_simulation_to_the_last_bit(command):
    done = command("run", "arm6", "--duration", "0.5", "--effort", "joint2=20", "joint3=-3", "--q", "joint1=0.2", "--v", "joint5=-1",
                   "--dt", "0.002", "--integrator", "rk4", "--gravity", "-1,0,-3", "--csv", "out.csv")
    assert done.returncode == 0, done.stderr
    header, rows = read(command.folder / "out.csv")
    model = mbros.load("arm6", gravity=(-1, 0, -3))
    sim = mbros.Simulator(model, dt=0.002, integrator="rk4")
    model.joint("joint1").set_position(sim.state, 0.2)
    model.joint("joint5").set_velocity(sim.state, -1.0)
    log = sim.run(0.5, effort={"joint2": 20.0, "joint3": -3.0})
    assert header[0] == "time" and len(set(header)) == len(header)
    assert len(rows) == 251 and np.array_equal(rows[:, 0], log.time)
    for joint in model.joint_state_names:
        for part in ("position", "velocity", "effort"):
            assert np.array_equal(rows[:, header.index(f"{joint}/{part}")], getattr(log[joint], part)), (joint, part)
    assert np.array_equal(rows[:, header.index("energy/kinetic")], log.kinetic_energy)
    assert np.array_equal(rows[:, header.index("energy/potential")], log.potential_energy)
    last = log["joint3"].position[-1]
    assert f"  joint3  {last:.4f} rad" in done.stdout.replace("  joint3   ", "  joint3  ")
    assert "clamped  no effort" in done.stdout and "fault    none" in done.stdout
    assert f"recorded 251 rows of {len(header)} columns in out.csv" in done.stdout


def test_every_and_the_columns_of_a_floating_base(command):
    done = command("run", "quadruped", "--duration", "0.1", "--every", "10", "--q", "base=0,0,1,1,0,0,0", "--v",
                   "base=0.1,0,0,0,0,2", "--csv", "out.csv")
    assert done.returncode == 0, done.stderr
    header, rows = read(command.folder / "out.csv")
    assert np.allclose(rows[:, 0], np.arange(11) * 0.01, atol=1e-12)
    for name in ("base/x", "base/z", "base/qw", "base/wx", "base/vz", "base/vz/effort", "FL_hip_joint/position"):
        assert name in header
    assert rows[0, header.index("base/z")] == 1.0 and rows[0, header.index("base/wx")] == 0.1
    t = 0.1
    assert rows[-1, header.index("base/z")] == pytest.approx(1 + 2 * t - 9.81 / 2 * t**2, abs=2e-3)
    assert "base" in done.stdout and "qw 1.0000" in done.stdout


def test_mimic_joints_are_recorded(command):
    inertial = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    urdf = f"""<robot name="r"><link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j" multiplier="2" offset="0.5"/></joint>
    </robot>"""
    (command.folder / "r.urdf").write_text(urdf)
    done = command("run", "r.urdf", "--duration", "0.1", "--v", "j=1", "--csv", "out.csv")
    header, rows = read(command.folder / "out.csv")
    j, k = (rows[:, header.index(f"{name}/position")] for name in "jk")
    assert j[-1] == pytest.approx(0.1) and np.allclose(k, 2 * j + 0.5) and "follows j" in done.stdout
    refused = command("run", "r.urdf", "--effort", "k=1")
    assert refused.returncode == 2 and "command 'j'" in refused.stderr


def test_clamped_efforts_are_counted(command):
    done = command("run", "arm7", "--duration", "0.05", "--effort", "joint2=1e5", "joint7=-1e5")
    assert done.returncode == 0
    assert "clamped  100 efforts were beyond" in done.stdout and done.stdout.count("effort at its limit") == 2


def test_a_fault_ends_the_run_with_code_1_and_its_reason(command):
    done = command("run", "double_pendulum", "--v", "elbow=300", "--dt", "0.5", "--duration", "1000", "--csv", "out.csv")
    assert done.returncode == 1
    assert "fault    the state of joint " in done.stdout and "reset" in done.stdout and " of 1000 s simulated" in done.stdout
    _, rows = read(command.folder / "out.csv")
    assert len(rows) >= 1 and np.isfinite(rows).all()


def test_csv_to_standard_output_is_nothing_but_csv(command):
    done = command("run", "pendulum", "--duration", "0.01", "--csv", "-")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "time,hinge/position,hinge/velocity,hinge/effort,energy/kinetic,energy/potential,clamped_efforts"
    assert len(lines) == 12 and "simulated in" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux")
def test_a_full_disk_is_a_sentence(command):
    done = command("run", "arm7", "--csv", "/dev/full")
    assert done.returncode == 2 and one_paragraph(done.stderr) and "no space left on device" in done.stderr


def test_real_time_runs_the_loop_and_records_every_step(command):
    done = command("run", "arm6", "--realtime", "--duration", "0.3", "--effort", "joint2=10", "--csv", "out.csv")
    assert done.returncode == 0, done.stderr
    header, rows = read(command.folder / "out.csv")
    log = mbros.Simulator(mbros.load("arm6")).run(0.3, effort={"joint2": 10.0})
    assert len(rows) == 301 and math.isclose(rows[-1, 0], 0.3) and np.allclose(np.diff(rows[:, 0]), 1e-3, atol=1e-12)
    at = header.index("joint2/position")
    assert np.array_equal(rows[:, at], log["joint2"].position)
    assert "lateness: n " in done.stdout and "began" in done.stdout
    assert re.search(r"^after warm-up: allocations (\d+|not counted), page faults \d+ minor, \d+ major$", done.stdout, re.MULTILINE)


def test_a_start_beyond_a_limit_is_told(command):
    done = command("run", "arm7", "--duration", "0.01", "--q", "joint1=3.0")
    assert done.returncode == 0
    assert done.stderr == ("mbros: note: joint 'joint1': its position of 3 rad is beyond its upper limit 2.9, and its stop will throw it "
                           "back\n")


def test_trial_A4_ctrl_c_ends_a_run_of_years_in_the_middle_of_a_block(command):
    """Once is enough, however many steps there are between two rows; the summary tells how far it came."""
    running = command.start("run", "pendulum", "--duration", "1e9", "--every", 10**9, "--csv", "out.csv")
    try:
        begun = running.stderr.readline()                   # how far it is, told in the middle of the block
        running.send_signal(signal.SIGINT)
        out, said = running.communicate(timeout=240)
    finally:
        running.kill()
    assert " of 1e+09 s, 0 %" in begun
    assert running.returncode == 130 and "Traceback" not in said
    assert " of 1e+09 s simulated" in out and "fault    none" in out and "recorded 1 row" in out


def test_trial_A14_a_duration_that_cannot_be_counted_is_a_sentence(command):
    done = command("run", "pendulum", "--duration", "1e300")
    assert done.returncode == 2 and one_paragraph(done.stderr)
    assert "--duration: 1e+300 s is 1e+303 steps of 0.001 s; expected 2^53" in done.stderr


def test_a_robot_on_a_ground_starts_where_it_stands(command):
    done = command("run", "diff_drive", "--ground", "1.5", "--duration", "0.001")
    assert done.returncode == 0 and "z 1.5600" in done.stdout


def test_contacts_are_summed_up_for_each_pair_of_bodies(command):
    """A brick at rest: its weight on the ground, and a tenth of it pushed along."""
    (command.folder / "brick.urdf").write_text("""<robot name="brick"><link name="brick"><inertial><mass value="2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link></robot>""")
    done = command("run", "brick.urdf", "--base", "floating", "--ground", "--duration", "0.5", "--gravity=1,0,-10")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    at = lines.index("contacts 4 points")
    assert lines[at + 1].split() == ["points", "normal", "force", "friction"]
    assert lines[at + 2].split() == ["brick", "on", "world", "4", "20", "N", "2", "N"]


def test_no_contact_is_said_and_of_a_robot_without_shapes_nothing(command):
    done = command("run", "quadruped", "--ground", "--duration", "0.01", "--q", "base=0,0,2,1,0,0,0")
    assert "contacts none" in done.stdout.splitlines()
    assert "contacts" not in command("run", "arm6", "--duration", "0.01").stdout
