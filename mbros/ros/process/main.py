"""Starting and ending the node: `mbros node`, `sim_node`, `python -m mbros.ros`.

Signals are never handled, only waited for (`ending`), while the executor spins in a thread of its own. So a second SIGINT,
which `ros2 launch` sends during shutdown, finds nothing to interrupt, and the process ends with 0 whenever it was asked to
end. It ends with something else only when it could not start, or when what it consists of failed.
"""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mbros.ros.process.ending import Asked, Ending, follow

if TYPE_CHECKING:
    import argparse
    from mbros.ros.node import SimNode
    from mbros.ros.typing import Executor, Future

Beside = Callable[["SimNode"], contextlib.AbstractContextManager[object]]
MOST_FAILURES = 10      # callbacks that fail within a second, beyond which going on is no use


def main(argv: Sequence[str] | None = None, ending: Ending | None = None, beside: Beside | None = None) -> int:
    """Run the node until a signal; returns the exit code. argv: without the program's name. ending: of an entry point that has
    taken the signals already. beside: opens something in this process that lives as long as the node, such as a viewer."""
    ending = ending or Ending()
    argv = list(sys.argv[1:] if argv is None else argv)
    # The node multiplies no large matrices; each of the threads that NumPy would start for that has 40 MB of buffers, and locks them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mbros.ros import require_rclpy
    from mbros.ros.process.arguments import check_given_once, own_arguments, parser
    from mbros.ros.errors import ParameterError, RosNotFound
    from mbros.ros.interfaces import InterfaceError, prepare

    try:
        require_rclpy()
        arguments = parser().parse_args(own_arguments(argv))
        check_given_once(argv, arguments)
        from mbros.ros import node  # noqa: F401  most of what is to be imported, while a signal still ends the process at once
        if arguments.end_with is not None:
            follow(arguments.end_with)
        ending.in_order()
        prepare(log=lambda text: print("mbros:", text, file=sys.stderr, flush=True), check=ending.check)
        return run(argv, arguments, ending, beside)
    except (RosNotFound, InterfaceError, ParameterError) as e:
        return _refuse(e)
    except Asked:
        return 0


def run(argv: list[str], arguments: argparse.Namespace, ending: Ending, beside: Beside | None = None) -> int:
    """The node from rclpy.init to shutdown."""
    import rclpy

    from mbros.ros.process import middleware
    from mbros.ros.process.arguments import overrides
    from mbros.ros.node import SimNode

    ending.check("starting ROS")
    try:
        middleware.init(argv)
    except Exception as e:                  # rcl's own words: what it could not parse
        return _refuse(f"ROS does not know {e}, after --ros-args" if type(e).__name__ == "UnknownROSArgsError" else e)
    try:
        ending.check("creating the node")
        try:
            sim = SimNode(overrides(arguments), check=ending.check, argv=argv)
        except (ValueError, OSError, RuntimeError) as e:
            return _refuse(e)
        try:
            opened = contextlib.nullcontext() if beside is None else beside(sim)
        except (ValueError, OSError, RuntimeError) as e:
            sim.close()
            return _refuse(e)
        with opened:
            return serve(sim, ending)
    finally:
        ending.now("leaving ROS")
        rclpy.try_shutdown()


def serve(sim: SimNode, ending: Ending) -> int:
    """Run the loop, and the executor in a thread of its own, until a signal arrives; then take everything down in order.

    One thread at a time waits for another: this one for the executor's, whose callbacks are set free by `sim.end()`, and only
    then for the loop's.
    """
    from mbros.ros.process.strangers import rclpy_executor
    from rclpy.task import Future as Task

    executor, refused = rclpy_executor(), 0
    over: Future = Task()
    failures: list[BaseException] = []
    executor.add_node(sim.node)
    sim.quit = ending.ask
    server = threading.Thread(target=spin, args=(executor, over, sim, ending, failures), name="mbros-executor")
    try:
        ending.check("starting the loop")
        sim.start()
        ending.now("serving")
        server.start()
        ending.wait()
    except (ValueError, OSError, RuntimeError) as e:
        refused = _refuse(e)
    finally:
        ending.now("ending what its callbacks were doing")
        sim.end()
        over.set_result(None)
        if server.is_alive():
            server.join()
        ending.now("ending the loop and closing the node")
        executor.shutdown()                 # no thread spins it any more, which rclpy does not survive
        sim.close()
    for failure in failures:
        print("mbros: the node failed:\n" + "".join(traceback.format_exception(failure)), file=sys.stderr, flush=True)
    return 1 if failures else refused


def spin(executor: Executor, over: Future, sim: SimNode, ending: Ending, failures: list[BaseException]) -> None:
    """Serve the node until `over`. What a callback raises is logged and ends nothing; what is raised once the end was
    asked for is of no interest; what is raised again and again goes into `failures` and ends the node."""
    recent: list[float] = []
    while not over.done():
        try:
            executor.spin_until_future_complete(over)
            break
        except BaseException as e:
            if ending.asked:
                break
            recent = [t for t in recent if t > time.monotonic() - 1.0] + [time.monotonic()]
            if not isinstance(e, Exception) or len(recent) > MOST_FAILURES or not executor.context.ok():
                failures.append(e)
                break
            sim.log.error(f"a callback failed, the node goes on: {''.join(traceback.format_exception(e))}")
    ending.ask(failed=bool(failures))


def _refuse(why: BaseException | str) -> int:
    """Say why the node does not start; the texts are made for users."""
    from mbros.errors import shown

    print(f"mbros: {why if isinstance(why, str) else shown(why)}", file=sys.stderr, flush=True)
    return 1
