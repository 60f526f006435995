"""Recordings of the node: every step, what was changed between two steps, and a replay of it all to the bit; a full disk."""
import resource

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("mcap", reason="needs mbros[record]")


def record(sim, yes, file=""):
    from mbros_msgs.srv import Record
    return sim.call(Record, "record", Record.Request(record=yes, file=file))


def apply_effort(sim, joint, effort):
    from builtin_interfaces.msg import Duration
    from mbros_msgs.srv import ApplyJointEffort
    return sim.call(ApplyJointEffort, "apply_joint_effort", ApplyJointEffort.Request(joint_name=joint, effort=effort,
                                                                                    duration=Duration(sec=-1))).success


def clear(sim):
    from mbros_msgs.srv import ClearDisturbances
    return sim.call(ClearDisturbances, "clear_disturbances", ClearDisturbances.Request()).success


def push(sim):
    """A wrench and an effort while it runs, a payload that is carried and dropped."""
    from builtin_interfaces.msg import Duration
    from geometry_msgs.msg import Inertia, Vector3, Wrench
    from mbros_msgs.srv import ApplyWrench, AttachPayload, DropPayload

    assert apply_effort(sim, "joint3", 2.0)
    wrench = ApplyWrench.Request(link_name="link5", wrench=Wrench(force=Vector3(x=20.0)), duration=Duration(nanosec=50000000))
    payload = AttachPayload.Request(link_name="flange", inertia=Inertia(m=1.0))
    for kind, name, request in ((ApplyWrench, "apply_wrench", wrench), (AttachPayload, "attach_payload", payload),
                                (DropPayload, "drop_payload", DropPayload.Request())):
        answer = sim.call(kind, name, request)
        assert answer.success, answer.message
        sim.spin(0.05)
    assert clear(sim)
    sim.spin(0.05)


@pytest.mark.ros
def test_all_that_happens_is_replayed_to_the_bit(simulate, tmp_path):
    import mbros
    from mbros_msgs.srv import RestoreState, SaveState, SetState
    from sensor_msgs.msg import JointState
    sim = simulate("arm7", "/tape", folder=tmp_path, initial_positions__joint2="0.4")
    assert not record(sim, True, "../x.mcap").success and not record(sim, True, "x.txt").success and not record(sim, False).success
    assert apply_effort(sim, "joint5", 1.0)                     # it pushes already when the recording begins
    answer = record(sim, True, "run.mcap")
    assert answer.success and answer.file == str(tmp_path / "run.mcap"), answer.message
    assert not record(sim, True, "other.mcap").success
    for k in range(30):
        sim.send(["joint2", "joint4"], [3.0 * (k % 5), -1.0])
        sim.spin(0.01)
    assert sim.set(damping__joint2=0.5, locked__joint6=True) == ""
    assert sim.call(SetState, "set_state", SetState.Request(joint_state=JointState(name=["joint1"], position=[0.3]))).success
    sim.spin(0.1)
    saved = sim.call(SaveState, "save_state", SaveState.Request())      # it pushes still, and does again when it is restored
    assert clear(sim)
    sim.spin(0.3)                                               # the watchdog acts
    assert sim.trigger("reset").success
    sim.spin(0.1)
    assert sim.call(RestoreState, "restore_state", RestoreState.Request(data=saved.data)).success
    assert sim.set(gravity=[0.0, 0.0, -1.62]) == ""
    sim.spin(0.1)
    push(sim)
    answer = record(sim, False)
    assert answer.success and "steps of" in answer.message and "left out" not in answer.message, answer.message
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps > 500, report
    assert f" {report.steps:,} steps" in str(report)


@pytest.mark.ros
def test_a_restore_takes_back_what_was_to_push_in_no_step(simulate, tmp_path):
    import mbros
    from mbros_msgs.srv import RestoreState, SaveState
    sim = simulate("arm7", "/tape_pause", folder=tmp_path, start_paused="true")
    assert record(sim, True, "run.mcap").success and sim.take_steps(5).success
    saved = sim.call(SaveState, "save_state", SaveState.Request())
    assert apply_effort(sim, "joint3", 2.0) and sim.take_steps(5).success
    assert apply_effort(sim, "joint2", 5.0)                     # of which no step knows
    assert sim.call(RestoreState, "restore_state", RestoreState.Request(data=saved.data)).success
    assert sim.take_steps(20).success and record(sim, False).success
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 30, report


@pytest.mark.ros
def test_from_the_start_to_the_end_into_a_bag(simulate, tmp_path):
    from pathlib import Path

    import mbros
    sim = simulate("quadruped", "/tape_start", ground="true", record=tmp_path / "bag", start_paused="true")
    for _ in range(5):
        assert sim.take_steps(100).success
    sim.process.end()
    assert "recorded 501 steps" in sim.process.text
    assert (tmp_path / "bag" / "metadata.yaml").is_file()
    report = mbros.replay(tmp_path / "bag")
    assert report.identical and report.steps == 500, report
    rosbags = pytest.importorskip("rosbags.highlevel", reason="another reader; pip install rosbags")
    with rosbags.AnyReader([Path(tmp_path / "bag")]) as reader:
        counts = {c.topic: c.msgcount for c in reader.connections}
        assert counts["/joint_states"] == counts["/mbros/signals"] == 501
        stamps = [reader.deserialize(raw, c.msgtype).step for c, _, raw in reader.messages() if c.topic == "/mbros/signals"]
    assert stamps == list(range(501))


@pytest.mark.ros
def test_a_full_disk_disturbs_nothing(simulate, tmp_path):
    """Beyond a limit on the size of files, which is a full disk to who writes."""
    import mbros
    sim = simulate("arm7", "/tape_full", folder=tmp_path)
    pid = sim.process.process.pid
    assert record(sim, True, "full.mcap").success
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (6 << 20, resource.RLIM_INFINITY))
    before = sim.fresh_status("real time")
    sim.spin(0.5)
    answer = record(sim, False)
    assert answer.success and mbros.replay(tmp_path / "full.mcap").identical
    refused = record(sim, True, "more.mcap")                    # 20 MB are wanted at once, and 5 MB would do
    assert refused.success, refused.message
    assert record(sim, False).success
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    refused = record(sim, True, "none.mcap")
    assert not refused.success and "nothing can be recorded there" in refused.message, refused.message
    after = sim.fresh_status("real time")
    assert after["state"] == "running" and int(after["steps"]) > int(before["steps"])


@pytest.mark.ros
def test_trial_H11_a_slow_disk_costs_steps_of_the_recording_and_a_replay_goes_on_after_them(executor, tmp_path, monkeypatch):
    """The disk stands still, a thousand steps are taken meanwhile, and it goes on: /diagnostics counts them, and a state is recorded."""
    import re
    import threading
    from dataclasses import replace

    import mbros
    from mbros.ros.wire import diagnostics
    from mbros.ros.node import SimNode
    from mbros.record.mcap_file import McapFile
    from rclpy.parameter import Parameter
    from patience import PATIENCE, until
    add, stuck, free, files = McapFile.add, threading.Event(), threading.Event(), []

    def written():
        return files[0].counts.get("/mbros/signals", 0)

    def slow(self, *rows):
        files[:] = [self]
        if written() > 100 and not free.is_set():
            stuck.set()
            free.wait(2.0 * PATIENCE)
        add(self, *rows)

    monkeypatch.setattr(McapFile, "add", slow)
    sim = SimNode([Parameter("record_buffer", value=0.1), Parameter("priority", value=0)], namespace="/tape_slow")
    try:
        sim.start()
        sim.recording.start(tmp_path / "slow.mcap")
        assert stuck.wait(PATIENCE)
        until(lambda begun=sim.loop.snapshot()[0].step: sim.loop.snapshot()[0].step > begun + 1000, "a simulation that does not wait")
        free.set()
        until(lambda: sim.recording._gap is False and sim.recording.left_out, "a state after the gap")
        until(lambda begun=written(): written() > begun + 400, "more of the recording")      # beyond what the buffer has kept
        loop = diagnostics.reports(sim._look(), replace(sim._seen, unrecorded=0), 1000.0, [])[0]
        text = sim.recording.stop()
    finally:
        free.set()
        sim.close()
    assert "steps were left out" in text, text
    report = mbros.replay(tmp_path / "slow.mcap")
    assert report.missing > 0 and not report.identical and "were not recorded" in str(report) and report.first_difference is None, report
    lost = sum(map(int, re.findall(r"(\d+) steps were left out", text)))
    assert report.missing == lost == int(loop.values["steps left out of the recording"]) and report.gaps >= 1, report
    assert report.steps > 500 and report.steps + report.unverified + report.missing > 1300, report        # also behind the gap
