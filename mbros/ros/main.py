"""Starting and ending the node: `mbros node`, `sim_node`, `python -m mbros.ros`.

Signals are not handled but waited for: SIGINT and SIGTERM are blocked in every thread and the main thread sleeps in
sigwait() while the executor spins in another. So a second SIGINT, which `ros2 launch` sends during shutdown, finds
nothing to interrupt, and the process ends with 0 whenever it was asked to end.
"""
from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def parser() -> argparse.ArgumentParser:
    """Arguments of the node beside ROS's own (--ros-args ...)."""
    p = argparse.ArgumentParser(
        prog="mbros node", description="Simulate a robot in real time as a ROS 2 node.",
        epilog="Everything else is a parameter: --ros-args -p name:=value (docs: parameters). Topics can be remapped and the "
               "node put into a namespace as usual: --ros-args -r __ns:=/left -r /tf:=tf")
    p.add_argument("robot", nargs="?", help="built-in name, path of a URDF or xacro file, or URDF text (default: arm7)")
    p.add_argument("--rate", type=float, help="steps per simulated second, Hz (default: 1000)")
    p.add_argument("--base", choices=("auto", "fixed", "floating", "planar"), help="how the root link stands in the world")
    p.add_argument("--integrator", help="how a step is taken (default: semi_implicit_euler)")
    p.add_argument("--real-time-factor", type=float, help="simulated seconds per second (default: 1)")
    p.add_argument("--paused", dest="start_paused", action="store_true", default=None, help="start paused")
    p.add_argument("--no-tf", dest="publish_tf", action="store_false", default=None,
                   help="leave TF of the links to robot_state_publisher")
    p.add_argument("--frame-prefix", help="put before every link name in TF")
    p.add_argument("--data-plane", choices=("auto", "native", "python"), help="how messages go in and out")
    return p


def own_arguments(argv: Sequence[str]) -> list[str]:
    """What is left without the stretches from --ros-args to -- (or the end), which rclpy.init reads."""
    own, ros = [], False
    for argument in argv:
        ros = (ros or argument == "--ros-args") and argument != "--"
        if not ros and not (argument == "--" and "--ros-args" in argv):
            own.append(argument)
    return own


def overrides(arguments: argparse.Namespace) -> list[Any]:
    """The arguments that were given, as parameters."""
    from rclpy.parameter import Parameter

    return [Parameter(name, value=value) for name, value in vars(arguments).items() if value is not None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit code. argv: without the program's name."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)       # for good: the process ends when this returns
    argv = list(sys.argv[1:] if argv is None else argv)
    from . import RosNotFound, require_rclpy
    from .interfaces import InterfaceError, prepare

    try:
        require_rclpy()
        arguments = parser().parse_args(own_arguments(argv))
        prepare(log=lambda text: print("mbros:", text, file=sys.stderr, flush=True))
    except (RosNotFound, InterfaceError) as e:
        return _refuse(e)
    return run(argv, arguments)


def run(argv: list[str], arguments: argparse.Namespace) -> int:
    """The node from rclpy.init to shutdown, with the signals blocked."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    try:
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as e:                  # rcl's own words: what it could not parse
        return _refuse(e)
    try:
        from .node import SimNode
        try:
            sim = SimNode(overrides(arguments))
        except (ValueError, OSError, RuntimeError) as e:
            return _refuse(e)
        spin(sim)
        return 0
    finally:
        rclpy.try_shutdown()


def spin(sim: Any) -> None:
    """Serve the node from a thread of its own until a signal arrives, then take everything down in order."""
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    executor.add_node(sim.node)
    failure: list[BaseException] = []

    def serve() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            pass
        except BaseException as e:
            failure.append(e)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)        # blocked: only sigwait() below sees it

    server = threading.Thread(target=serve, name="mbros-executor")
    try:
        sim.start()
        server.start()
        signal.sigwait(SIGNALS)
    finally:
        sim.loop.stop()
        executor.shutdown()
        if server.is_alive():
            server.join()
        sim.close()
    if failure:
        raise failure[0]


def _refuse(error: BaseException) -> int:
    """Say why the node does not start; the texts are made for people."""
    print(f"mbros: {error}", file=sys.stderr, flush=True)
    return 1
