"""What strangers on the network may ask of a node: its clock, its log, its memory and its time."""
import json
import os
import struct
import threading
import time
from types import SimpleNamespace as Like

import numpy as np
import pytest
from mbros.errors import MbrosError
from mbros.ros.errors import RequestError
from mbros.simulate import saved
from patience import until
from test_ros_saves import restore, save, sealed
from test_ros_wire import asked

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
BENCH = """
actuators:
  joint*: {type: position_servo, kp: 400, kd: 20}
sources:
  joint[1-3]: {timeout: 0.02, safe: hold}
faults:
  - {name: stuck, kind: stuck, joint: joint4}
"""
MESH = """<robot name="m"><link name="b"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial><visual><geometry><mesh filename="big.stl"/></geometry></visual></link></robot>"""
MOST = 10               # requests that are sent before answers are looked for: the middleware keeps no more


# --- the clock

@pytest.mark.ros
def test_a_node_follows_nobodys_clock(simulate):
    from rosgraph_msgs.msg import Clock

    sim = simulate("arm7", "/no_clock", use_sim_time="true")
    clock = sim.node.create_publisher(Clock, "/clock", 1)
    wrong = Clock()
    wrong.clock.sec = -1
    for _ in range(30):                     # a callback that fails eleven times within a second ends a node
        clock.publish(wrong)
        sim.spin(0.01)
    assert clock.get_subscription_count() == 0
    assert "follows nobody's" in sim.set(use_sim_time=True)
    assert sim.set(use_sim_time=False) == ""
    sim.fresh()
    assert "failed" not in sim.process.text


@pytest.mark.ros
def test_nodes_that_offer_nothing_have_no_services(executor):
    import rclpy
    from mbros.ros.process.strangers import bare_node

    bare, other = bare_node("bare"), rclpy.create_node("beside_bare")
    try:
        assert not list(bare.services)
        until(lambda: ("bare", "/") in other.get_node_names_and_namespaces())
    finally:
        bare.destroy_node()
        other.destroy_node()


# --- the log

@pytest.mark.ros
def test_no_request_writes_a_line_of_the_log(standard, simulate):
    from simulation_interfaces.action import SimulateSteps
    from type_description_interfaces.srv import GetTypeDescription

    sim = simulate("arm7", "/no_line")
    forged = GetTypeDescription.Request(type_name="std_msgs/msg/String", type_hash="x'\n[INFO] [1.0] [mbros]: forged\x1b[2J")
    answer = sim.call(GetTypeDescription, "get_type_description", forged)
    assert not answer.successful and "x'\\n[INFO]" in answer.failure_reason
    known = GetTypeDescription.Request(type_name="mbros_msgs/srv/Step", type_hash="RIHS01_" + "0" * 64)
    assert "expected RIHS01" not in sim.call(GetTypeDescription, "get_type_description", known).failure_reason
    results = SimulateSteps.Impl.GetResultService
    assert sim.call(results, "simulate_steps/_action/get_result").status == 0
    assert "forged" not in sim.process.text and "goal ID" not in sim.process.text


def test_requests_with_too_many_names_are_told_of_once_a_second():
    from mbros.ros.serve.parameter_services import PREFIXES, _bounded

    said = []
    serve = _bounded(lambda request, response: response, "list_parameters", None, said.append)
    for _ in range(1000):
        serve(Like(prefixes=["x"] * (PREFIXES + 1)), Like())
    assert 1 <= len(said) < 100


# --- others wait for nobody

class Executor:
    """Of no node: counts how often it is woken."""

    woken = 0

    def wake(self):
        self.woken += 1


def test_those_in_a_line_are_served_one_after_the_other():
    from mbros.ros.serve.turn import Line, next_round

    node, log = Like(executor=Executor()), []
    line = Line(lambda: node, 2, "requests")

    async def one(name):
        async with line:
            log.append(f"{name} begins")
            await next_round(node.executor, False)
            log.append(f"{name} ends")

    waiting = [one(name) for name in "abc"]
    for coroutine in waiting:
        coroutine.send(None)
    with pytest.raises(RequestError, match="2 requests wait already"):
        one("d").send(None)
    assert log == ["a begins"]
    waiting[1].close()                      # given up while it waits
    for coroutine in (waiting[0], waiting[2], waiting[2]):
        with pytest.raises(StopIteration) if log[-1] in ("a begins", "c begins") else pytest.MonkeyPatch().context():
            coroutine.send(None)
    assert log == ["a begins", "a ends", "c begins", "c ends"] and node.executor.woken


def test_parameters_of_several_requests_are_set_one_request_after_the_other():
    from mbros.ros.serve.parameter_services import MOST_WAITING, TURN, _one_by_one

    set_by, node = [], Like(executor=Executor(), _parameters=dict.fromkeys("abcdefgh"))

    class Request:
        def __init__(self, parameters=()):
            self.parameters = parameters

    def callback(request, response):
        time.sleep(1.2 * TURN)
        set_by.append(request.parameters[0])
        return Like(results=[Like(successful=True)])

    serve = _one_by_one(callback, node, lambda: None)
    coroutines = [serve(Request([k] * 3), Like(results=[])) for k in range(MOST_WAITING + 2)]
    for coroutine in coroutines[:-1]:
        coroutine.send(None)
    with pytest.raises(StopIteration) as refused:
        coroutines[-1].send(None)
    assert all("wait already" in result.reason for result in refused.value.value.results)
    for coroutine in coroutines[:4]:
        with pytest.raises(StopIteration):
            while True:
                coroutine.send(None)
    assert set_by == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    for coroutine in coroutines:
        coroutine.close()


@pytest.mark.ros
def test_a_mesh_is_read_by_one_thread_for_all_that_ask(standard, simulate, tmp_path):
    from simulation_interfaces.srv import GetEntityBounds

    triangles = np.zeros(300_000, dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    triangles["v"] = np.random.default_rng(1).random((len(triangles), 3, 3))
    (tmp_path / "big.stl").write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + triangles.tobytes())
    (tmp_path / "m.urdf").write_text(MESH)
    sim = simulate(str(tmp_path / "m.urdf"), "/one_reader")
    client = sim.node.create_client(GetEntityBounds, f"{sim.name}/get_entity_bounds")
    sim.until(client.service_is_ready, "for the service")
    at_rest, most, futures = threads_of(sim), 0, []
    for _ in range(8):
        futures += [client.call_async(GetEntityBounds.Request(entity="m")) for _ in range(MOST // 2)]
        sim.spin(0.02)
        most = max(most, threads_of(sim))
    sim.until(lambda: any(future.done() for future in futures), "for bounds")
    sim.spin(0.5)
    assert most <= at_rest + 2
    assert all(future.result().result.result == 1 for future in futures if future.done())


def threads_of(sim):
    return len(os.listdir(f"/proc/{sim.process.process.pid}/task"))


@pytest.mark.ros
def test_others_are_served_while_a_goal_waits_for_steps(standard, simulate):
    from mbros_msgs.srv import Step
    from simulation_interfaces.action import SimulateSteps
    from simulation_interfaces.srv import GetSimulationState
    from std_srvs.srv import Trigger
    from unique_identifier_msgs.msg import UUID

    sim = simulate("arm7", "/goal_waits", start_paused="true")
    sim.call(Trigger, "reset")
    goals = SimulateSteps.Impl.SendGoalService
    goal = goals.Request(goal_id=UUID(uuid=[1] * 16), goal=SimulateSteps.Goal(steps=2**63))
    assert sim.call(goals, "simulate_steps/_action/send_goal", goal).accepted
    served = [0, 0, 0]                      # a busy machine may be slow in one of them
    for k in range(len(served)):
        steps = asked(sim, Step, "step", Step.Request(steps=100_000))
        while not steps.done():
            sim.call(GetSimulationState, "get_simulation_state")
            served[k] += 1
        assert steps.result().success
    assert max(served) > 2
    before = sim.call(Step, "step", Step.Request(steps=1)).step
    sim.until(lambda: sim.call(Step, "step", Step.Request(steps=1)).step > before + 1, "for the goal to go on")


def test_a_client_that_has_gone_is_waited_for_once():
    from mbros.ros.serve.steps import TRIES, Steps

    tried = []

    class Direct:
        steps, command, asker = 1, None, b"one"

        def take(self):
            return True

        def refuse(self, text):
            tried.append(self.asker)
            return False

    steps = Steps(Like(ending=False, turn=threading.RLock(), log=Like(warning=lambda text: None), plane=None, node=None))
    steps._direct, steps._whose, steps._follow = Direct(), lambda asker: "nobody", lambda: None
    steps._step = lambda n, read: (_ for _ in ()).throw(RequestError("no"))
    for asker in (b"one", b"one", b"one", b"two"):
        Direct.asker = asker
        assert steps._answer()
    assert tried == [b"one"] * (TRIES + 3) + [b"two"] * (TRIES + 1) and steps.unheard == 4


# --- saves

def parts_of(blob):
    of = saved.read(blob)
    head = json.loads(blob[20:20 + int.from_bytes(blob[12:20], "little")])
    return head, {name: np.array(of.numbers[name]).ravel() for name, _ in head["parts"]}


def with_parts(head, parts):
    head = {**head, "parts": [[name, int(parts[name].size)] for name, _ in head["parts"]]}
    return sealed(head, np.concatenate([parts[name] for name, _ in head["parts"]]))


@pytest.mark.parametrize("what, word", [("REASON", "REASON"), ("TRIPS", "TRIPS"), ("MODE", "MODE"), ("HELD", "HELD"), ("JUDGED", "JUDGED"),
                                        ("safe", "safe state"), ("fault", "count of fault 'stuck'")])
@pytest.mark.parametrize("x", [0.5, -1.0, 1e100, np.inf, np.nan])
def test_the_memory_of_a_bench_in_a_save_is_one(tmp_path, what, word, x):
    import mbros
    from mbros.bench.source import NAMES
    from mbros_core.plant._devices import SOURCE_PLACES
    from mbros_core.plant.faults.registry import TRIGGER_MEMORY

    (tmp_path / "bench.yaml").write_text(BENCH)
    sim = mbros.Simulator(mbros.load("arm7"), bench=str(tmp_path / "bench.yaml"))
    sim.step()
    good = sim.save()
    head, parts = parts_of(good)
    row = sim._bench.sources[1]
    at = (row.numbers + NAMES.index("safe") if what == "safe" else sim._bench.fault_memory(0) + TRIGGER_MEMORY.index("begun")
          if what == "fault" else row.memory + SOURCE_PLACES[what])
    parts["devices"][at] = x
    with pytest.raises(MbrosError, match=f"was not written by mbros: in the memory of its bench .*{word}"):
        sim.restore(with_parts(head, parts))
    sim.restore(good)


@pytest.mark.ros
def test_numbers_of_disturbances_in_a_save_fit_into_answers(simulate, tmp_path):
    from geometry_msgs.msg import Vector3, Wrench
    from mbros_msgs.srv import ApplyWrench

    sim = simulate("arm7", "/numbered", start_paused="true", folder=tmp_path)
    head, parts = parts_of(bytes(save(sim).data))
    for number in (2.0**40, -1.0, 0.5):
        table = np.zeros((32, 16))
        table[5, :5] = 1.0, number, -1.0, -1.0, 1.0
        answer = restore(sim, data=with_parts(head, {**parts, "disturbances": table.ravel()}))
        assert not answer.success and "not numbered" in answer.message
    pushed = sim.call(ApplyWrench, "apply_wrench", ApplyWrench.Request(link_name="link7", wrench=Wrench(force=Vector3(x=1.0))))
    assert pushed.success and pushed.number == 1
