"""~/fault and ~/list_faults: asked by another node while a real-time loop runs the bench."""
from __future__ import annotations

import time

import mbros
import pytest
from mbros_core.realtime import Loop
from ros_client import PATIENCE

from mbros.ros.errors import sentence


@pytest.fixture
def served(executor):
    """(call, sim): a plant with faults in a running loop, its services on a node, and a client of them."""
    import rclpy
    from mbros_msgs.srv import ListFaults, SetFault

    from mbros.ros.serve.fault_services import FaultServices

    bench = mbros.Bench()
    bench.add(mbros.PositionServo("*.servo", joint="joint*", kp=100.0, kd=10.0))
    bench.add(mbros.Fault("jam", "stuck", joint="joint2"))
    bench.add(mbros.Fault("bus left", "lost", signal="joint[12].command.*"))
    bench.add(mbros.Fault("bus right", "lost", signal="joint[34].command.*", duration=0.01))
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    node, other = rclpy.create_node("bench_with_faults"), rclpy.create_node("asks_for_faults")

    def offer(kind, name, action, fill=None):
        def serve(request, response):
            try:
                response.success, response.message = True, action(request)
                if fill is not None:
                    fill(response)
            except Exception as e:
                response.success, response.message = False, sentence(e)
            return response

        node.create_service(kind, name, serve)

    FaultServices(sim.faults, offer)
    loop = Loop(sim.plant, rt="off", watchdog_timeout=None)
    loop.start()
    names = {SetFault: "fault", ListFaults: "list_faults"}
    clients = {kind: other.create_client(kind, f"/bench_with_faults/{name}") for kind, name in names.items()}
    for each in (node, other):
        executor.add_node(each)

    def call(kind, **words):
        assert clients[kind].wait_for_service(PATIENCE)
        answer = clients[kind].call_async(kind.Request(**words))
        executor.spin_until_future_complete(answer, timeout_sec=PATIENCE)
        return answer.result()

    yield call, SetFault, ListFaults
    loop.stop()
    for each in (node, other):
        executor.remove_node(each)
        each.destroy_node()


def test_faults_are_started_ended_and_listed_while_the_loop_runs(served):
    call, SetFault, ListFaults = served

    def listed(wanted):
        """What is listed once that is so: the loop takes its time."""
        latest = time.monotonic() + PATIENCE
        while not wanted(now := call(ListFaults)):
            assert time.monotonic() < latest, now
        return now

    said = call(ListFaults)
    assert said.success and said.names == ["jam", "bus left", "bus right"] and said.kinds == ["stuck", "lost", "lost"]
    assert not any(said.active)
    assert call(SetFault, names=["jam", "bus*"], start=True).message == "started: jam, bus left, bus right"
    said = listed(lambda now: list(now.active) == [True, True, False] and list(now.counts) == [1, 1, 1])
    assert said.ended[2] - said.began[2] == pytest.approx(0.01) and "active: jam, bus left" in said.message
    assert call(SetFault, names=["jam"], start=False).success
    assert listed(lambda now: list(now.active) == [False, True, False])


@pytest.mark.parametrize("names, text", [([], "no name is given; expected some of jam"), (["jem"], "did you mean 'jam'?"),
                                         (["jam", "b"], "no fault 'b'")])
def test_what_is_asked_for_wrongly_changes_nothing(served, names, text):
    call, SetFault, ListFaults = served
    said = call(SetFault, names=names, start=True)
    assert not said.success and text in said.message
    time.sleep(0.05)
    assert not any(call(ListFaults).active)
