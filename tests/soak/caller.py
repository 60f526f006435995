"""A client that keeps the services of the soak's nodes busy: `python -m tests.soak.caller 4`, until it is killed."""
from __future__ import annotations

import random
import sys
import time


def main(nodes: int) -> None:
    import rclpy
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter
    from std_srvs.srv import SetBool, Trigger

    from mbros_msgs.srv import Step

    def parameters() -> SetParametersAtomically.Request:
        values = {"gravity": [0.0, 0.0, -random.uniform(1.0, 9.0)], "watchdog_timeout": 0.1, "tf_rate": 100.0}
        return SetParametersAtomically.Request(parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in values.items()])

    rclpy.init()
    node = rclpy.create_node("soak_caller")
    calls = []
    for k in range(nodes):
        for kind, name, request in (
                (SetBool, "pause", lambda: SetBool.Request(data=random.random() < 0.5)), (Trigger, "reset", Trigger.Request),
                (Step, "step", Step.Request), (SetParametersAtomically, "set_parameters_atomically", parameters)):
            calls.append((node.create_client(kind, f"/soak{k}/mbros/{name}"), request))
    while True:
        for client, request in calls:
            if client.service_is_ready():
                client.call_async(request()).add_done_callback(lambda future: None)
        end = time.monotonic() + 0.02
        while time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.005)


if __name__ == "__main__":
    main(int(sys.argv[1]))
