"""Processes that are forked from one which has imported all that they import: four fifths of a node's start, and of a command's.

Every one is a process of its own, and runs mbros/ros/__main__.py or mbros/cli/__main__.py from its first line on; so does a program of
rclpy, its own file. How they start from nothing, tests look at that start them so: test_ros_ends, test_ros_launch, test_ros_memory and
those that use ros_client.Process themselves; of the command line, those of its imports, of its streams and all that `command.start`.
"""
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "mbros_msgs", "nav_msgs", "rcl_interfaces", "rosgraph_msgs",
            "sensor_msgs", "service_msgs", "std_msgs", "std_srvs", "tf2_msgs", "trajectory_msgs", "type_description_interfaces",
            "visualization_msgs")


class Nursery:
    """The process that others are forked from; it ends, and they with it, when it is closed. module: what each of them runs, "mbros.ros" or
    "mbros.cli"."""

    def __init__(self, module="mbros.ros"):
        self.process = subprocess.Popen([sys.executable, __file__, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})

    def ask(self, **question):
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, f"the process that others are forked from has ended with {self.process.wait()}"
        return json.loads(answer)

    def start(self, log, arguments, program=None, errors=None, folder=ROOT, environment=os.environ):
        """The module, or a program, with these arguments. log: the file that what it prints is added to; errors: that of its errors."""
        return Forked(self, self.ask(start=arguments, program=program and str(program), log=str(log), errors=str(errors or log),
                                     folder=str(folder), environment=dict(environment)))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Forked:
    """A process, with those methods of subprocess.Popen that the tests use."""

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
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.002)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


# ----------------------------------------------------------------------------------------------- in the process they are forked from

def import_node():
    """What a node imports until it simulates; nothing of it starts a thread or knows a ROS domain."""
    from rosidl_generator_py import import_type_support

    from mbros.ros.process import main  # noqa: F401
    from mbros.ros.wire import native_plane, templates  # noqa: F401
    from mbros.ros import node  # noqa: F401
    from mbros.ros.interfaces import prepare

    prepare(log=lambda text: print(text, file=sys.stderr), check=lambda: None)
    for package in PACKAGES:
        import_module(package)
        import_type_support(package)


def import_commands():
    """What the commands import, without ROS and without what only a few of them look for."""
    from mbros.cli import COMMANDS, make_parser
    from mbros.bench import bench  # noqa: F401
    from mbros.record import recorder  # noqa: F401
    from mbros.simulate import simulator  # noqa: F401

    for command in COMMANDS:
        make_parser(command)


def forked(module, start, program, log, errors, folder, environment):
    """The number of a new process, which is `python -m module`, or python and a program, with these arguments from now on."""
    pid = os.fork()
    if pid:
        return pid
    try:
        with open(os.devnull, "rb") as nothing, open(log, "ab") as out, open(errors, "ab") as err:       # both may be one file
            for at, file in enumerate((nothing, out, err)):
                os.dup2(file.fileno(), at)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.path[0] = str(Path(program).parent) if program else folder      # as Python does
        sys.argv[1:] = start
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if program:
            sys.argv[0] = program
            runpy.run_path(program, run_name="__main__")
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        end_process(0)
    except SystemExit as end:
        end_process(end.code if isinstance(end.code, int) else 1 if end.code else 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    end_process(1)


def end_process(code):
    """Nobody needs that Python takes its modules down."""
    sys.stdout.flush()
    os._exit(code)


def serve(module):
    alive = set()
    for line in sys.stdin:
        question = json.loads(line)
        if "start" in question:
            answer = forked(module, **question)
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
    sys.path[0] = str(ROOT)
    import_node() if sys.argv[1] == "mbros.ros" else import_commands()
    import_module("mbros").load("arm7")
    serve(sys.argv[1])
    os._exit(0)
