"""What the node's log says: once, in one line, nothing that others forged, nothing that is not true."""
import pytest

from mbros.errors import Problem, shown
from mbros.names import MOST, printable
from mbros.ros.wire import diagnostics

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

FORGED = "x\n[ERROR] [0.0] [mbros]: forged \x1b[2J\u202e"
SHOWN = "x\\n[ERROR] [0.0] [mbros]: forged \\x1b[2J\\u202e"
URDF = '<robot name="%s"><link name="base"/><link name="arm"><inertial><mass value="1"/>' \
       '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>' \
       '<child link="arm"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>%s</joint></robot>'


def test_trial_A15_every_character_of_another_is_shown_and_does_nothing():
    assert printable(FORGED) == SHOWN
    assert printable("joint_1 \u00e4\u00f6 \u5173\u8282") == "joint_1 \u00e4\u00f6 \u5173\u8282"
    assert printable("\udc80\x00\r\t\x9b") == "\\udc80\\x00\\r\\t\\x9b"
    assert len(printable("x" * 10**6)) < MOST + 40
    assert str(Problem(f"joint '{FORGED}'", "is odd")) == f"joint '{SHOWN}': is odd."
    assert shown(ValueError(FORGED)) == SHOWN


def test_trial_A15_a_joint_s_name_in_a_command_forges_no_line():
    counts = dict.fromkeys(("accepted", "unknown_name"), 0)
    line = diagnostics.complaint("joint_commands", counts | {"unknown_name": 1}, counts, ("unknown_name", FORGED, 1.0))
    assert SHOWN in line and line.isprintable()


def test_a_stamp_of_simulated_time_is_as_old_as_simulated_time_says():
    counts = dict.fromkeys(diagnostics.REASONS, 0)
    now, wall = counts | {"stale_stamp": 1}, 1.8e9
    late = diagnostics.complaint("joint_commands", now, counts, ("stale_stamp", "", wall - 29.5), wall - 31.0)
    assert late.endswith("(newest: 1.500 s old)"), late
    late = diagnostics.complaint("joint_commands", now, counts, ("stale_stamp", "", 2.0), wall - 31.0)
    assert late.endswith("(newest: 2.000 s old)"), late



def test_trial_A15_nor_one_of_a_table(capsys):
    from mbros.cli.terminal import paint, table
    lines = table(["joint"], [[FORGED]])
    assert len(lines) == 2 and SHOWN in lines[1] and paint(FORGED, "bold") == SHOWN


def test_trial_A15_nor_a_robot_s_name_on_a_terminal(tmp_path, capsys):
    from mbros.cli import main
    file = tmp_path / "forged.urdf"
    file.write_text(URDF % ("x&#10;forged.urdf: ok", ""))
    assert main(["check", str(file)]) == 1                      # such a name is refused, and shown as it is
    out = capsys.readouterr().out
    assert "x\\nforged.urdf: ok" in out and not [line for line in out.splitlines() if line.startswith("forged.urdf: ok")]


@pytest.mark.ros
def test_trial_A15_no_name_forges_a_line_of_the_node(simulate):
    sim = simulate(URDF % ("honest", ""), "/forged", diagnostics_rate=10.0)
    sim.until(lambda: "dropped on joint_commands" in sim.process.text, every=lambda: sim.send(["y\n[ERROR] forged \x1b[2J"], [1.0]))
    assert "\x1b[2J" not in sim.process.text
    assert not [line for line in sim.process.text.splitlines() if line.startswith("[ERROR]")]
    assert "'y\\n[ERROR] forged \\x1b[2J'" in sim.process.text


@pytest.mark.ros
def test_trial_A15_nor_does_a_value_that_is_refused(nursery, tmp_path):
    from ros_client import Process
    for words_ in (["x\n[ERROR] forged\x1b[2J"], ["arm7", "--ros-args", "-p", "overrun_policy:=\"y\\n[ERROR] forged\\e[2J\""]):
        process = Process(tmp_path, *words_, nursery=nursery)
        try:
            assert process.wait() == 1 and "forged" in process.text
            assert len(process.text.splitlines()) == 1 and "\x1b" not in process.text, process.text
        finally:
            process.kill()


@pytest.mark.ros
def test_trial_C13_notes_on_the_robot_s_file_are_one_line(simulate):
    odd = '<dynamics damping="1" D="1" K="2" mu_coulomb="3" mu_viscous="4"/><safety_controller k_velocity="1"/>'
    sim = simulate(URDF % ("odd", odd), "/notes")
    lines = [line for line in sim.process.text.splitlines() if "is not used" in line or "notes on" in line]
    assert len(lines) == 1 and "5 notes on the robot's file" in lines[0] and lines[0].startswith("[INFO]")


@pytest.mark.ros
def test_trial_C5_positions_beside_efforts_are_counted_and_said_once(simulate):
    for plane in ("native", "python"):
        sim = simulate("pendulum", f"/beside_{plane}", plane=plane, diagnostics_rate=10.0)
        [name] = sim.fresh().name
        key = "joint_commands with positions or velocities, which are not used"
        sim.until(lambda s=sim, n=name: s.effort(n) == 0.5, every=lambda s=sim, n=name: s.send([n], [0.5], position=[float("nan")]))
        status = sim.fresh_status("commands")
        assert status[key] == "0" and [name for name in status if "positions" in name] == [key], "an array has room for efforts alone"
        sim.until(lambda s=sim: int(s.status.get("commands", {}).get(key, 0)) >= 3,
                  every=lambda s=sim, n=name: s.send([n], [0.25], position=[1.0]))
        assert sim.effort(name) == 0.25
        sim.fresh_status("commands")
        assert sim.process.text.count("carry positions or velocities beside their efforts") == 1


@pytest.mark.ros
def test_trial_C12_two_publishers_on_a_command_topic_are_said_once_by_name(simulate):
    import rclpy
    from sensor_msgs.msg import JointState
    sim = simulate("pendulum", "/crowd", diagnostics_rate=10.0)
    other = rclpy.create_node("other_controller", namespace="/crowd")
    other.create_publisher(JointState, "joint_commands", 1)
    wanted = f"2 publishers command joint_commands (/crowd/{sim.node.get_name()}, /crowd/other_controller); the newest message wins"
    sim.until(lambda: wanted in sim.process.text, "for the log")
    for _ in range(3):
        sim.fresh_status("commands")
    assert sim.process.text.count("publishers command") == 1
    assert sim.status["commands"]["message"] == wanted
    other.destroy_node()


@pytest.mark.ros
def test_two_robots_on_one_topic_are_said_once_by_name(simulate):
    sim, other = (simulate("pendulum", "/mixed", diagnostics_rate=10.0) for _ in range(2))
    wanted = "2 nodes publish joint_states (/mixed/mbros, /mixed/mbros)"
    for node in (sim, other):
        node.until(lambda: wanted in node.process.text, "for the log")
    for _ in range(3):
        sim.fresh_status("robot")
    assert sim.process.text.count(wanted) == 1 and "__ns:=" in sim.process.text


def test_a_crowd_is_reported_with_its_names_once_for_as_long_as_it_is_there():
    once, alone, unknown, known = diagnostics.Once(), ["/a/mbros"], ["", "/a/mbros"], ["/a/mbros", "/b/mbros"]
    before, told, many = None, [], diagnostics.Once.PATIENCE
    lists = [unknown] * 5 + [known] * 5 + [unknown] * 30 + [alone] * 2 + [known] * 5 + [alone] * many + [unknown] * 30 + [known] * 5
    for k, nodes in enumerate(lists):
        if once._crowded("joint_states", nodes, before):
            told.append(k)
        before = nodes
    again = 47 + many
    assert told == [6, again + many, again + 31]


@pytest.mark.ros
def test_trial_C3_a_loop_that_the_node_itself_has_ended_is_no_error(executor, capfd):
    """The report that runs between the end of the loop and the end of the executor."""
    import time

    from rclpy.parameter import Parameter

    from mbros.ros.node import SimNode
    sim = SimNode([Parameter("robot", value="pendulum")], namespace="/ending")
    try:
        sim.start()
        sim.end()
        while sim.loop.state != "stopped":
            time.sleep(0.001)
        sim._report()
    finally:
        sim.close()
    said = capfd.readouterr()
    assert "simulating" in said.err and "[ERROR]" not in said.err + said.out


@pytest.mark.ros
def test_a_loop_that_has_ended_by_itself_is_said(simulate):
    sim = simulate("humanoid", "/by_itself", rate=20000.0, overrun_policy="stop", diagnostics_rate=20.0)
    sim.until(lambda: "call ~/reset to go on" in sim.process.text, "for the loop to fall behind")


def test_what_is_dropped_on_several_topics_at_once_is_said_of_each(executor):
    from dataclasses import replace
    from types import SimpleNamespace

    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    sim = SimNode([Parameter("robot", value="pendulum"), Parameter("priority", value=0)], namespace="/several_dropped")
    said = []
    try:
        sim.log = SimpleNamespace(warning=said.append, info=said.append, error=said.append)
        sim._seen = sim._said = replace(sim._look(), time=0.0)
        for plug in sim.plane.inputs:
            assert plug.decode(b"no message")[0] == "malformed"
        sim._report()
        assert [line.partition(":")[0] for line in said] == ["dropped on joint_commands", "dropped on effort_commands"]
        sim._report()
        assert len(said) == 2
    finally:
        sim.end()
        sim.close()
