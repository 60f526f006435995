"""~/save_state and ~/restore_state: to the bit, in another process too, with the command in force, and no way to another file."""
import hashlib
import json

import mbros
import numpy as np
import pytest
from mbros.simulate import saved

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")


def nanoseconds(stamp) -> int:
    return stamp.sec * 10**9 + stamp.nanosec


def save(sim, file=""):
    from mbros_msgs.srv import SaveState
    return sim.call(SaveState, "save_state", SaveState.Request(file=file))


def restore(sim, file="", data=b""):
    from mbros_msgs.srv import RestoreState
    return sim.call(RestoreState, "restore_state", RestoreState.Request(file=file, data=data))


def sealed(header, numbers):
    text = json.dumps(header).encode()
    body = saved.MAGIC + b"\1\0" + len(text).to_bytes(8, "little") + text + np.asarray(numbers, "<f8").tobytes()
    return body + hashlib.sha256(body).digest()


def state_of(answer):
    return answer.step, list(answer.joint_state.position), list(answer.joint_state.velocity), list(answer.joint_state.effort)


@pytest.mark.ros
def test_what_goes_on_from_a_save_is_to_the_bit_what_went_on_without(simulate, tmp_path):
    sim = simulate("arm7", "/saves", start_paused="true", folder=tmp_path)
    other = simulate("arm7", "/saves_other", start_paused="true", folder=tmp_path)
    assert sim.take_steps(7, name=["joint2"], effort=[3.0]).success
    assert sim.set(damping__joint2=0.7, locked__joint5=True, watchdog_action="damp") == ""
    answer = save(sim, "a.mbros")
    assert answer.success and answer.step == 7 and answer.file == str(tmp_path / "a.mbros") and not answer.data, answer.message
    inside = save(sim)
    assert inside.success and bytes(inside.data) == (tmp_path / "a.mbros").read_bytes()
    goal = state_of(sim.take_steps(300))                 # past the watchdog's time-out
    for s, how in ((sim, dict(file="a.mbros")), (other, dict(data=bytes(inside.data))), (sim, dict(data=bytes(inside.data)))):
        clock = nanoseconds(s.take_steps(1).joint_state.header.stamp)
        answer = restore(s, **how)
        assert answer.success and answer.step == 7 and "simulated time 0.007000 s" in answer.message, answer.message
        assert nanoseconds(answer.stamp) >= clock
        assert (s.get("damping.joint2"), s.get("locked.joint5"), s.get("watchdog_action")) == (0.7, True, "damp")
        later = s.take_steps(300)
        assert state_of(later) == goal
        assert nanoseconds(later.joint_state.header.stamp) == nanoseconds(answer.stamp) + 300 * 10**6


@pytest.mark.ros
@pytest.mark.parametrize("field, at, value, words", [("q", 1, 1e11, "joint2"), ("lock", 2, 0.5, "lock of 'joint3'"),
                                                     ("clock", 1, -1.0, "the count of steps")])
def test_a_state_that_set_state_refuses_is_not_restored(simulate, tmp_path, field, at, value, words):
    sim = simulate("arm7", "/saves_edited", start_paused="true", folder=tmp_path)
    assert sim.take_steps(7, name=["joint2"], effort=[3.0]).success
    blob = bytes(save(sim).data)
    of, there = saved.read(blob), mbros.load("arm7").default_state()
    there._inputs[...] = of.numbers["state"]
    there.field(field)[at] = value
    numbers = np.concatenate(list({**of.numbers, "state": there._inputs}.values()))
    answer = restore(sim, data=sealed(of.header, numbers))
    assert not answer.success and words in answer.message, answer.message
    assert bytes(save(sim).data) == blob and sim.take_steps(1).success


@pytest.mark.ros
def test_a_node_and_a_simulator_go_on_from_each_others_files(simulate, tmp_path):
    twin = mbros.Simulator(mbros.load("quadruped", ground=True))
    twin.advance_to(0.2)
    blob = twin.save()
    sim = simulate("quadruped", "/saves_dog", start_paused="true", ground="true", folder=tmp_path)
    answer = restore(sim, data=blob)
    assert answer.success and answer.step == 200, answer.message
    twin.plant.steps(np.zeros(twin.model.nv), 100)
    after = sim.take_steps(100)
    legs = [joint.q_slice.start for joint in twin.model.joints if joint.nv == 1]
    assert after.step == 300 and list(after.joint_state.position) == list(twin.state.q[legs])
    back = mbros.Simulator(mbros.load("quadruped", ground=True))
    back.restore(bytes(save(sim).data))
    assert (back.state.q == twin.state.q).all() and back.time == twin.time == 0.3


@pytest.mark.ros
def test_it_saves_and_restores_while_it_runs(simulate, tmp_path):
    sim = simulate("arm6", "/saves_running", folder=tmp_path)
    before = nanoseconds(sim.fresh().header.stamp)
    answer = save(sim)
    assert answer.success and nanoseconds(answer.stamp) > before
    of = saved.read(bytes(answer.data))
    assert of.header["time"] == of.header["loop"]["step"] * 1e-3 > 0.0
    stamps, subscription = sim.collect(type(sim.state), "joint_states")
    for _ in range(3):
        answer = restore(sim, data=bytes(answer.data))
        assert answer.success and answer.step >= of.header["loop"]["step"], answer.message
        answer = save(sim)
    sim.fresh()
    sim.node.destroy_subscription(subscription)
    told = [nanoseconds(m.header.stamp) for m in stamps]
    assert len(told) > 3 and told == sorted(set(told))


@pytest.mark.ros
def test_what_is_damaged_foreign_or_elsewhere_is_refused_and_changes_nothing(simulate, tmp_path):
    sim = simulate("arm7", "/saves_refused", start_paused="true", folder=tmp_path / "deep" / "er")
    assert sim.take_steps(5, name=["joint2"], effort=[1.0]).success
    good = save(sim)
    data = bytes(good.data)
    header = saved.read(data).header
    (tmp_path / "secret.mbros").write_bytes(data)
    other = mbros.Simulator(mbros.load("arm6")).save()

    def edited(**loop):
        numbers = np.concatenate(list(saved.read(data).numbers.values()))
        return sealed({**header, "loop": {**header["loop"], **loop}}, numbers)

    for how, words in ((dict(), "the name of a file, or data"), (dict(file="x.mbros", data=data), "one of the two"),
                       (dict(file="../secret.mbros"), "expected the name of a file in"), (dict(file=str(tmp_path / "secret.mbros")), "in"),
                       (dict(file="none.mbros"), "cannot be read"), (dict(file="a.txt"), "ends with .mbros"), (dict(file="."), "in"),
                       (dict(data=data[:-1]), "damaged"), (dict(data=b"x" * 100), "no saved simulation"),
                       (dict(data=other), "another model"),
                       (dict(data=edited(held=[1.0])), "not 7 numbers"), (dict(data=edited(step=-1)), "commands in force are none"),
                       (dict(data=edited(age_steps=2**60)), "age of its command"),
                       (dict(data=edited(watchdog=[-1.0, "zero", 1.0])), "watchdog_timeout must be")):
        answer = restore(sim, **how)
        assert not answer.success and words in answer.message, (words, answer.message)
    assert not save(sim, "../a.mbros").success and not save(sim, "a/../../../b.mbros").success
    assert bytes(save(sim).data) == data
    assert save(sim, "sub.mbros").success and (tmp_path / "deep" / "er" / "sub.mbros").read_bytes() == data


def pushed(sim):
    """A wrench that has begun, another that is on its way, an effort without end, and two payloads on one link."""
    from builtin_interfaces.msg import Duration
    from geometry_msgs.msg import Inertia, Vector3, Wrench
    from mbros_msgs.srv import ApplyJointEffort, ApplyWrench, AttachPayload

    first, later = (ApplyWrench.Request(link_name=link, wrench=Wrench(force=Vector3(x=30.0)), duration=Duration(nanosec=40000000))
                    for link in ("flange", "link3"))
    for kind, name, request in ((ApplyWrench, "apply_wrench", first),
                                (ApplyJointEffort, "apply_joint_effort", ApplyJointEffort.Request(
                                    joint_name="joint4", effort=1.5, duration=Duration(sec=-1))),
                                *((AttachPayload, "attach_payload", AttachPayload.Request(
                                    link_name="flange", inertia=Inertia(m=m, com=Vector3(z=m)))) for m in (0.7, 0.1))):
        answer = sim.call(kind, name, request)
        assert answer.success, answer.message
    assert sim.take_steps(15).success
    assert sim.call(ApplyWrench, "apply_wrench", later).success


def without_payloads_and_pushes(sim):
    from mbros_msgs.srv import ClearDisturbances, DropPayload

    answer = sim.call(ClearDisturbances, "clear_disturbances", ClearDisturbances.Request())
    assert answer.success, answer.message
    answer = sim.call(DropPayload, "drop_payload", DropPayload.Request())
    assert answer.success and answer.message == "2 dropped", answer.message
    return state_of(sim.take_steps(50))


@pytest.mark.ros
def test_what_pushes_the_robot_goes_on_to_the_bit(simulate, tmp_path):
    """With payloads, in another process, in a Simulator, and over what pushes there already; masses are what they were without them."""
    sim = simulate("arm7", "/saves_pushed", start_paused="true", folder=tmp_path)
    other = simulate("arm7", "/saves_pushed_other", start_paused="true", folder=tmp_path)
    pushed(sim)
    mass = sim.get("mass.link7")
    answer = save(sim)
    assert answer.success, answer.message
    data = bytes(answer.data)
    goals = state_of(sim.take_steps(100)), without_payloads_and_pushes(sim)
    pushed(other)
    assert other.take_steps(3).success
    for s in (sim, other):
        answer = restore(s, data=data)
        assert answer.success and answer.step == 15, answer.message
        assert s.get("mass.link7") == mass
        assert bytes(save(s).data) == data
        assert (state_of(s.take_steps(100)), without_payloads_and_pushes(s)) == goals
    twin = mbros.Simulator(mbros.load("arm7"))
    twin.restore(data)
    twin.plant.steps(np.zeros(7), 100)
    assert len(twin.disturbances) == 3 and list(twin.state.q) == goals[0][1]
    back = restore(other, data=twin.save())
    assert back.success and back.step == 115, back.message
    assert without_payloads_and_pushes(other) == goals[1]


@pytest.mark.ros
def test_trial_L7_the_answer_names_the_engine_of_another_save(simulate):
    sim = simulate("pendulum", "/saves_engine", start_paused="true")
    mine = bytes(save(sim).data)
    of = saved.unpacked("it", mine)
    other = sealed({**of.header, "engine": {**of.header["engine"], "build": "_double_v9"}}, np.concatenate(list(of.numbers.values())))
    answer = restore(sim, data=other)
    assert answer.success and "; made with engine _double_v9 of mbros " in answer.message, answer.message
    assert answer.message.endswith("last digits may differ from now on")
    assert "engine" not in restore(sim, data=mine).message
