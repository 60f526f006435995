"""Wrenches, joint efforts and payloads by service: the same steps as mbros.Simulator takes, to the bit."""
import numpy as np
import pytest

import mbros


@pytest.fixture(scope="module")
def paused(simulate):
    return simulate("arm7", "/pushed", start_paused="true")


@pytest.fixture
def fresh(paused):
    assert paused.trigger("reset").success
    return paused


def positions(client, steps):
    answer = client.take_steps(steps)
    assert answer.success, answer.message
    return np.array(answer.joint_state.position)


def duration(seconds):
    from builtin_interfaces.msg import Duration
    return Duration(sec=int(np.floor(seconds)), nanosec=round(seconds % 1 * 1e9))


def wrench(client, force=(0, 0, 0), torque=(0, 0, 0), seconds=-1.0, **more):
    from geometry_msgs.msg import Point, Vector3, Wrench
    from mbros_msgs.srv import ApplyWrench
    vector = lambda x: Vector3(**dict(zip("xyz", map(float, x))))       # noqa: E731
    point = Point(**dict(zip("xyz", map(float, more.pop("point", (0, 0, 0))))))
    return client.call(ApplyWrench, "apply_wrench", ApplyWrench.Request(
        link_name=more.pop("link_name", "flange"), reference_point=point, wrench=Wrench(force=vector(force), torque=vector(torque)),
        duration=duration(seconds), **more))


def test_a_wrench_acts_in_exactly_its_steps(fresh):
    assert wrench(fresh, (5.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.004, point=(0.0, 0.0, 0.1), reference_frame="link3").success
    assert wrench(fresh, (0.0, 0.0, 9.0), seconds=0.0).success                # one step
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.disturbances.apply_wrench("flange", (0, 1, 0), (5, 0, 0), duration=0.004, point=(0, 0, 0.1), expressed_in="link3")
    sim.disturbances.apply_wrench("flange", force=(0, 0, 9), duration=0.0)
    for steps in (1, 2, 1, 20):
        sim.advance_to(sim.time + steps * 1e-3)
        assert np.array_equal(positions(fresh, steps), sim.state.q)


def test_efforts_last_until_they_are_cleared(fresh):
    from mbros_msgs.srv import ApplyJointEffort, ClearDisturbances
    answer = fresh.call(ApplyJointEffort, "apply_joint_effort", ApplyJointEffort.Request(joint_name="joint2", effort=1e3,
                                                                                        duration=duration(-1.0)))
    assert answer.success and answer.number > 0
    sim = mbros.Simulator(mbros.load("arm7"))
    number = sim.disturbances.apply_effort({"joint2": 1e3})                  # beyond the joint's limit: nothing clamps it
    sim.advance_to(0.01)
    assert np.array_equal(positions(fresh, 10), sim.state.q)
    done = fresh.call(ClearDisturbances, "clear_disturbances", ClearDisturbances.Request(number=answer.number))
    assert done.message == "1 cleared" and sim.disturbances.clear(number) == 1
    done = fresh.call(ClearDisturbances, "clear_disturbances", ClearDisturbances.Request(number=answer.number))
    assert done.success and done.message == "0 cleared"                      # it has ended, as asked
    done = fresh.call(ClearDisturbances, "clear_disturbances", ClearDisturbances.Request(number=answer.number + 5))
    assert not done.success and f"there is no disturbance {answer.number + 5}; the newest one is {answer.number}" in done.message
    sim.advance_to(0.02)
    assert np.array_equal(positions(fresh, 10), sim.state.q)


def test_a_payload_is_carried_and_dropped(fresh):
    from geometry_msgs.msg import Inertia, Vector3
    from mbros_msgs.srv import AttachPayload, DropPayload
    answer = fresh.call(AttachPayload, "attach_payload", AttachPayload.Request(
        link_name="flange", inertia=Inertia(m=2.0, com=Vector3(z=0.1), ixx=0.01, iyy=0.01, izz=0.01)))
    assert answer.success, answer.message
    sim = mbros.Simulator(mbros.load("arm7"))
    number = sim.disturbances.attach_payload("flange", 2.0, (0, 0, 0.1), (0.01, 0.01, 0.01))
    sim.advance_to(0.01)
    assert np.array_equal(positions(fresh, 10), sim.state.q)
    assert fresh.set(gravity=[0.0, 0.0, -1.0]) == ""                        # parameters and payloads do not know of each other
    sim.state.gravity[:] = 0.0, 0.0, -1.0
    sim.advance_to(0.02)
    assert np.array_equal(positions(fresh, 10), sim.state.q)
    assert fresh.call(DropPayload, "drop_payload", DropPayload.Request(number=answer.number)).success
    sim.disturbances.drop_payload(number)
    sim.advance_to(0.03)
    assert np.array_equal(positions(fresh, 10), sim.state.q)
    assert fresh.set(gravity=[0.0, 0.0, -9.81]) == ""


def test_a_reset_ends_what_pushes(fresh):
    q = positions(fresh, 10)
    assert wrench(fresh, (50.0, 0.0, 0.0)).success
    assert not np.array_equal(positions(fresh, 10), q)
    assert fresh.trigger("reset").success
    assert np.array_equal(positions(fresh, 10), q)


@pytest.mark.parametrize("more, words", [
    ({"link_name": "hand"}, "hand"), ({"reference_frame": "nowhere"}, "nowhere"), ({"force": (np.nan, 0, 0)}, "force"),
    ({"link_name": "world"}, "fixed in the world"),
    ({"force": (0, 0, 1e308)}, "force[2] is 1e+308; expected a finite number, at most 1e+06"),
    ({"torque": (2e6, 0, 0)}, "torque[0] is 2e+06"),
    ({"point": (0, 1e300, 0)}, "point[1] is 1e+300")])
def test_what_cannot_be_is_refused_with_words(fresh, more, words):
    more = dict(more)
    answer = wrench(fresh, more.pop("force", (1, 0, 0)), **more)
    assert not answer.success and words in answer.message


def test_an_effort_beyond_max_command_is_refused(fresh):
    from mbros_msgs.srv import ApplyJointEffort
    answer = fresh.call(ApplyJointEffort, "apply_joint_effort", ApplyJointEffort.Request(joint_name="joint2", effort=-1e7))
    assert not answer.success and "joint 'joint2'[0] is -1e+07; expected a finite number, at most 1e+06" in answer.message
    assert fresh.take_steps(1).success


def test_there_is_room_for_many_and_a_sentence_for_too_many(fresh):
    answers = [wrench(fresh, (1e-3, 0.0, 0.0)) for _ in range(33)]
    assert [a.success for a in answers] == [True] * 32 + [False] and "32 act already" in answers[-1].message
