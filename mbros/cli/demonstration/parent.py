"""The demonstration on ROS 2: a node, a controller, and this process, which looks at both."""
from __future__ import annotations

import os
import sys
import time
from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from mbros.cli.demonstration.processes import Child
from mbros.cli.demonstration.screen import Screen
from mbros.cli.demonstration.table import View, summary

if TYPE_CHECKING:
    from mbros import Model

PATIENCE = 30.0         # s until the first pose; importing ROS on a busy computer takes a while


def run(model: Model, robot: str, duration: float, rate: float, command_rate: float, csv: str | None,
        how: Sequence[str] = ()) -> int:
    """Exit code: 0 when every pose was reached. model: of `robot`, on a fixed base. how: words that say how that is read."""
    from mbros.ros import require_rclpy
    from mbros.ros.interfaces import prepare

    require_rclpy()
    domain = private_domain(os.environ)
    prepare(log=lambda text: print(f"mbros: {text}", file=sys.stderr))
    view = View(robot, rate, f"ROS 2, domain {domain}", duration=duration)
    children: list[Any] = []
    failed: str | None = "stopped by Ctrl-C"
    try:
        children.append(Child("node", "mbros.cli", "node", robot, "--rate", f"{rate:g}", "--base", "fixed", *how))
        children.append(Child("controller", "mbros.cli.demonstration.controller", robot, "--duration", f"{duration:g}",
                              "--rate", f"{command_rate:g}", "--json", "--wait", *how, reports=True))
        failed = watch(model, view, children, csv)
    finally:
        for child in reversed(children):
            child.stop()
        if failed is None or view.report.get("poses"):
            for line in summary(view):
                print(line)
    failed = failed or bad_end(*children)
    if failed:
        print(f"mbros: {failed}", file=sys.stderr)
    return 0 if view.report.get("succeeded") and not failed else 1


def bad_end(node: Child, controller: Child) -> str | None:
    """What was wrong with how the processes ended: the node's code must be 0; the controller's 1 says a pose was missed."""
    for child, good in ((node, (0,)), (controller, (0, 1))):
        if child.code not in good:
            return f"the {child.name} ended with exit code {child.code}: {child.words() or 'without a word'}"
    return None


def private_domain(env: MutableMapping[str, str]) -> str:
    """The ROS domain of the demonstration: one of its own, on this computer only, unless the user has chosen."""
    if "ROS_AUTOMATIC_DISCOVERY_RANGE" not in env and "ROS_LOCALHOST_ONLY" not in env:
        env["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return env.setdefault("ROS_DOMAIN_ID", str(10 + os.getpid() % 90))


def watch(model: Model, view: View, children: Any, csv: str | None) -> str | None:
    """Show what goes on until the controller has done all; returns why not, or None."""
    import rclpy

    from mbros.cli.demonstration.watch import Watch
    from mbros.ros.process import middleware

    middleware.init([])
    recorder, screen = joint_recorder(csv, model), Screen()
    look = Watch(recorder)
    try:
        return follow(view, children, look, screen)
    finally:
        screen.clear()
        look.sum_up(view)
        look.close()
        if recorder is not None:
            recorder.close()
        rclpy.try_shutdown()


def follow(view: View, children: Any, look: Any, screen: Screen) -> str | None:
    """The loop of `watch`."""
    controller, begun, started, moving = children[1], time.monotonic(), None, False
    while True:
        time.sleep(0.02)
        over = controller.code is not None          # asked before its last words are read
        view.report = controller.newest_report() or view.report
        if not view.report.get("done"):
            look.look(view)
        if view.state_rate is not None and not moving:
            moving = True
            look.begin()
            controller.say("go")                    # from here on, all of it is seen
        if view.report.get("poses"):
            started = time.monotonic() if started is None else started
            view.elapsed = min(time.monotonic() - started, view.duration)
        screen.show(view)
        if over and view.report.get("done"):
            return None
        for child in children:
            if child.code is not None and not view.report.get("done"):
                return f"the {child.name} ended early (exit code {child.code}): {child.words() or 'without a word'}"
        if started is None and time.monotonic() > begun + PATIENCE:
            said = "\n".join(f"{child.name}: {child.words() or 'said nothing'}" for child in children)
            return f"the robot did not start to move within {PATIENCE:g} s. `mbros doctor` looks at ROS and the network.\n{said}"


def joint_recorder(path: str | None, model: Model) -> Any:
    """A CsvFile for the joint states, or None."""
    from mbros.record.recorder import CsvFile

    if path is None:
        return None
    parts = ("position", "velocity", "effort")
    return CsvFile(path, ["time", *(f"{name}/{part}" for name in model.joint_state_names for part in parts)])
