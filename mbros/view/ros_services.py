"""The services of a robot's node, as buttons need them: each call is answered, or says why not."""
from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from mbros.errors import MbrosError

PATIENCE = 5.0          # s for an answer
LOOK = 3.0              # s to look for services


class Remote:
    """Of the node that offers pause, reset and step (docs/ros.md). `can`: which are there. Another thread spins the node."""

    def __init__(self, node: Any, model: Any):
        from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
        from std_srvs.srv import SetBool, Trigger

        self.node, self.model = node, model
        self.name = self._find()
        self._clients: dict[str, Any] = {}
        if self.name:
            for word, kind in (("pause", SetBool), ("reset", Trigger), ("get_parameters", GetParameters),
                               ("list_parameters", ListParameters), ("set_parameters_atomically", SetParametersAtomically)):
                self._clients[word] = node.create_client(kind, f"{self.name}/{word}")
            try:
                from mbros_msgs.srv import SetState, Step       # optional package: generated, or built by colcon
                self._clients["set_state"] = node.create_client(SetState, f"{self.name}/set_state")
                self._clients["step"] = node.create_client(Step, f"{self.name}/step")
            except ImportError:
                pass
        words = {"pause": "play", "reset": "reset", "step": "step", "set_state": "place", "get_parameters": "parameters"}
        self.can = frozenset(words[word] for word in self._clients if word in words)

    def _find(self) -> str:
        """The node with a service <node>/pause in our namespace, or the only one there is; "" for none."""
        end, own = time.monotonic() + LOOK, self.node.get_namespace().rstrip("/") + "/"
        while time.monotonic() < end:
            found = [name.rpartition("/")[0] for name, kinds in self.node.get_service_names_and_types()
                     if name.endswith("/pause") and "std_srvs/srv/SetBool" in kinds]
            inside = [name for name in found if name.startswith(own)]
            if inside:
                return sorted(inside, key=lambda name: (name.count("/"), name))[0]
            time.sleep(0.1)
        return ""

    def call(self, word: str, request: Any) -> Any:
        """The answer. MbrosError when none comes, or the answer is no."""
        client = self._clients[word]
        answered = threading.Event()
        if not client.service_is_ready() and not client.wait_for_service(PATIENCE):
            raise MbrosError(f"{client.srv_name}: the service is not there any more")
        future = client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        if not answered.wait(PATIENCE):
            client.remove_pending_request(future)
            raise MbrosError(f"{client.srv_name}: no answer in {PATIENCE:g} s")
        answer = future.result()
        if getattr(answer, "success", True) is False:
            raise MbrosError(f"{client.srv_name}: {answer.message}")
        return answer

    def pause(self, paused: bool) -> None:
        from std_srvs.srv import SetBool

        self.call("pause", SetBool.Request(data=paused))

    def trigger(self, word: str) -> None:
        from std_srvs.srv import Trigger

        self.call(word, Trigger.Request())

    def step(self, n: int) -> None:
        from mbros_msgs.srv import Step

        self.call("step", Step.Request(steps=n))

    def set_state(self, q: np.ndarray) -> None:
        """Joints with one coordinate to where they are in q; the base stays."""
        from mbros_msgs.srv import SetState
        from sensor_msgs.msg import JointState

        joints = [joint for joint in self.model.joints if joint.nq == 1 and not joint.follows]
        state = JointState(name=[joint.name for joint in joints], position=[float(q[joint.q_slice.start]) for joint in joints],
                           velocity=[0.0] * len(joints))
        self.call("set_state", SetState.Request(joint_state=state))

    def parameter_names(self) -> list[str]:
        """Those of the model that the node has: here its base may be another one."""
        from rcl_interfaces.srv import ListParameters

        there = set(self.call("list_parameters", ListParameters.Request()).result.names)
        return [name for name in self.model.parameter_names if name in there]

    def parameter(self, name: str) -> Any:
        """Of the node; they have the names of mbros.model.parameters."""
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import parameter_value_to_python

        values = self.call("get_parameters", GetParameters.Request(names=[name])).values
        if not values:
            raise MbrosError(f"node {self.name} has no parameter {name!r}")
        value: Any = parameter_value_to_python(values[0])
        return value if isinstance(value, (bool, float)) or value is None else list(value)

    def set_parameter(self, name: str, value: Any) -> None:
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter

        if isinstance(value, (list, tuple)):
            value = [float(x) for x in value]
        elif isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        message = Parameter(name, value=value).to_parameter_msg()
        result = self.call("set_parameters_atomically", SetParametersAtomically.Request(parameters=[message])).result
        if not result.successful:
            raise MbrosError(f"{name}: {result.reason}")
