"""The node's door for controllers on the same machine: what goes through it is what goes through topics."""
import contextlib
import os
import threading

import mbros
import numpy as np
import pytest
from mbros_core.errors import LoopTimeoutError
from mbros_core.realtime._shared import names

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
NAME = f"test-ros-{os.getpid()}"


@pytest.mark.ros
def test_a_controller_beside_the_node(simulate):
    sim = simulate("arm7", "/shared", shared_memory=NAME, max_command="50.0", watchdog_timeout="0.0")
    with mbros.connect(NAME) as arm:
        arm.wait(30.0)
        number = arm.command({"joint2": 7.5})
        while arm.command_taken < number:
            arm.wait(30.0)
        sim.until(lambda: sim.fresh().effort[1] == 7.5, "the effort on joint_states")
        assert arm.command(np.full(7, 51.0)) == 2
        sim.until(lambda: sim.fresh_status("shared memory")["too large"] == "1", "what was left out")
        assert sim.pause(True).success
        sim.fresh()
        arm.read()
        assert list(arm.q) == list(sim.fresh().position) and arm.paused


@pytest.mark.ros
def test_lockstep_with_the_node(simulate):
    sim = simulate("arm7", "/shared_lockstep", shared_memory=f"'{NAME}-steps 1/2'", start_paused="true", real_time_factor="0.0",
                   watchdog_timeout="0.0", initial_positions__joint2="0.5", ready=False)
    sim.until(lambda: f"{NAME}-steps" in names(), "the simulation")
    ended = threading.Event()

    def control():
        with mbros.connect(f"{NAME}-steps") as arm:
            assert arm.lockstep == (1, 2)
            while not ended.is_set():
                with contextlib.suppress(LoopTimeoutError):
                    arm.wait(0.1)
                    arm.command(-20.0 * arm.q - 2.0 * arm.v)

    controller = threading.Thread(target=control)
    controller.start()
    try:
        answer = sim.take_steps(100)
    finally:
        ended.set()
        controller.join()
    assert answer.success, answer.message
    twin = mbros.Simulator(mbros.load("arm7"))
    twin.state.q[1] = 0.5
    mbros.Lockstep(twin, {lambda state: -20.0 * state.q - 2.0 * state.v: (1, 2)}).run(0.1)
    assert list(answer.joint_state.position) == list(twin.state.q)


@pytest.mark.ros
@pytest.mark.parametrize("text, words", [("a b", "expected a name"), ("a 1/2 x", "expected a name"), ("a 3/2", "3 of 2 steps"),
                                         ("a 0/2", "0 of 2 steps")])
def test_what_cannot_be_is_refused(text, words):
    from mbros.ros.errors import ParameterError
    from mbros.ros.serve.shared import ratio_of

    with pytest.raises(ParameterError, match=words):
        ratio_of(text)
