"""Nodes that are forked from a process which has imported all that `python -m mbros.ros` imports: four fifths of a node's start.

Every node is a process of its own, and runs mbros/ros/__main__.py from its first line on; so does a program of rclpy, its own file. How
the node starts from nothing, tests look at that use ros_client.Process themselves, and test_ros_ends, test_ros_launch, test_ros_memory and
those of the command line.
"""
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "mbros_msgs", "nav_msgs", "rcl_interfaces", "rosgraph_msgs",
            "sensor_msgs", "service_msgs", "std_msgs", "std_srvs", "tf2_msgs", "trajectory_msgs", "type_description_interfaces",
            "visualization_msgs")


class Nursery:
    """The process that nodes are forked from; it ends, and its nodes with it, when it is closed."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                                        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})

    def ask(self, **question):
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, f"the process that nodes are forked from has ended with {self.process.wait()}"
        return json.loads(answer)

    def start(self, log, arguments, program=None):
        """A node, or a program with these arguments."""
        return Forked(self, self.ask(start=arguments, program=program and str(program), log=str(log), environment=dict(os.environ)))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Forked:
    """A node or a program, with those methods of subprocess.Popen that the tests use."""

    def __init__(self, nursery, pid):
        self.nursery, self.pid, self.returncode = nursery, pid, None
        self.ended = select.poll()                      # tests ask after every message: that a process lives, the kernel says by itself
        self.fd = os.pidfd_open(pid)
        self.ended.register(self.fd, select.POLLIN)

    def poll(self):
        if self.returncode is None and self.ended.poll(0):
            self.returncode = self.nursery.ask(poll=self.pid)
            os.close(self.fd)
        return self.returncode

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(f"node {self.pid}", timeout)
            time.sleep(0.002)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


# ----------------------------------------------------------------------------------------------- in the process they are forked from

def imported():
    """What a node imports until it simulates; nothing of it starts a thread or knows a ROS domain."""
    from importlib import import_module

    from rosidl_generator_py import import_type_support

    import mbros
    from mbros.ros import main, native_plane, node, python_plane, templates  # noqa: F401
    from mbros.ros.interfaces import prepare

    prepare(log=lambda text: print(text, file=sys.stderr), check=lambda: None)
    for package in PACKAGES:
        import_module(package)
        import_type_support(package)
    mbros.load("arm7")


def forked(arguments, program, log, environment):
    """The number of a new process, which is `python -m mbros.ros`, or python and a program, with these arguments from now on."""
    pid = os.fork()
    if pid:
        return pid
    try:
        with open(log, "wb") as out, open(os.devnull, "rb") as nothing:
            for at, file in enumerate((nothing, out, out)):
                os.dup2(file.fileno(), at)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[1:] = arguments
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if program:
            sys.argv[0] = program
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module("mbros.ros", run_name="__main__", alter_sys=True)
        os._exit(0)
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def serve():
    alive = set()
    for line in sys.stdin:
        question = json.loads(line)
        if "start" in question:
            answer = forked(question["start"], question["program"], question["log"], question["environment"])
            alive.add(answer)
        else:
            pid, status = os.waitpid(question["poll"], os.WNOHANG)
            alive.discard(pid)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        print(json.dumps(answer), flush=True)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})       # Ctrl-C ends the tests, and these this
    sys.path[0] = str(ROOT)                                         # as for python -m
    imported()
    serve()
    os._exit(0)         # as nodes do: nobody needs that Python takes its modules down
