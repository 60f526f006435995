"""Services of a bench under requests of any kind: each is answered, done or refused with a reason, and the robot goes on after it.

MBROS_CASES=1000000 for a long run."""
import math
import os
import random

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.usefixtures("plugin_nodes_ended")
CASES = int(os.environ.get("MBROS_CASES", "400"))
BENCH = """
actuators:
  joint*: {type: position_servo, kp: 400, kd: 20}
sources:
  joint[1-3]: {timeout: 0.02, safe: hold}
faults:
  - {name: stuck, kind: stuck, joint: joint4}
  - {name: hangs, kind: frozen, signal: "joint2.command.position"}
"""
SERVICES = ("set_source", "apply_wrench", "apply_joint_effort", "attach_payload", "drop_payload", "clear_disturbances", "fault",
            "list_faults")
WORDS = ("", "joint2", "joint[12]", "link7", "flange", "world", "real", "sim", "locked", "prescribed", "stuck", "hangs", "nothing", "*",
         "[", "\0", "joint2\n", "\udcff", "ü" * 300)
NUMBERS = (0.0, 1.0, -1.0, 1e-300, 0.05, 3.0, 1e9, 1e308, math.inf, -math.inf, math.nan)


def filled(message, rng):
    """A message with something in every field."""
    for name, kind in message.get_fields_and_field_types().items():
        old = getattr(message, name)
        if hasattr(old, "get_fields_and_field_types"):
            filled(old, rng)
        elif kind.startswith("sequence"):
            setattr(message, name, [rng.choice(WORDS) for _ in range(rng.randrange(4))])
        elif kind == "string":
            setattr(message, name, rng.choice(WORDS))
        elif kind == "boolean":
            setattr(message, name, rng.random() < 0.5)
        elif kind in ("double", "float"):
            setattr(message, name, rng.choice(NUMBERS) if rng.random() < 0.5 else rng.gauss(0.0, 1.0))
        else:
            bits = int("".join(filter(str.isdigit, kind)))
            low, high = (0, 2**bits - 1) if kind.startswith("u") else (-2**(bits - 1), 2**(bits - 1) - 1)
            setattr(message, name, rng.choice((0, 1, 2, low, high, rng.randint(low, high))))
    return message


@pytest.fixture
def robot(mbros_node, tmp_path):
    file = tmp_path / "bench.yaml"
    file.write_text(BENCH)
    return mbros_node("arm7", bench=str(file))


def test_any_request_is_answered(robot):
    offered = {service.srv_name.rpartition("/")[2]: service for service in robot.sim.node.services}
    rng, seen = random.Random(5), {name: [0, 0] for name in SERVICES}
    for k in range(CASES):
        name = SERVICES[k % len(SERVICES)]
        of = offered[name].srv_type
        answer = offered[name].callback(filled(of.Request(), rng), of.Response())
        assert answer.success or answer.message, f"{name} was refused without a reason"
        seen[name][answer.success] += 1
    assert all(sum(counts) >= CASES // len(SERVICES) for counts in seen.values()), seen
    assert seen["apply_wrench"][0] and seen["set_source"][0] and seen["fault"][0], f"nothing was refused: {seen}"
    assert seen["set_source"][1] and seen["fault"][1] and seen["clear_disturbances"][1], f"nothing was done: {seen}"
    clear = offered["clear_disturbances"]
    assert clear.callback(clear.srv_type.Request(), clear.srv_type.Response()).success
    drop = offered["drop_payload"]
    assert drop.callback(drop.srv_type.Request(), drop.srv_type.Response()).success
    robot.sim.services.reset(None)
    state = robot.step(20)
    assert all(np.isfinite(list(part.values())).all() for part in (state.position, state.velocity))
