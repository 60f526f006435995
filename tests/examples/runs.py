"""The numbered examples: running them as a reader does, and the output pasted at their end.

    python tests/examples/runs.py 01 05        # runs these (without numbers: all) and pastes what they print
"""
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 240.0        # s, for anything that is waited for
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NUMBERED = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
ROS = {"08_ros_controller.py", "09_two_robots.launch.py"}
MARK = re.compile(r"^# Output[^\n]*:\n", re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}


def run(path, *arguments):
    """What `python <path>` prints; it must end well and say nothing on standard error."""
    done = subprocess.run([sys.executable, str(path), *arguments], cwd=EXAMPLES, env=environment(), capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout


def pasted(path):
    """The output that the example's last comment shows."""
    text = path.read_text(encoding="utf-8")
    mark = MARK.search(text)
    assert mark, f"{path.name} ends without '# Output:'"
    lines = text[mark.end():].splitlines()
    assert all(line.startswith("#") for line in lines), f"{path.name}: something follows the output"
    return "\n".join(line[2:] for line in lines) + "\n"


def paste(path, output):
    """Writes the output to the example's end."""
    text = path.read_text(encoding="utf-8")
    mark = MARK.search(text)
    path.write_text(text[:mark.end()] + "".join(f"# {line}".rstrip() + "\n" for line in output.rstrip("\n").splitlines()), encoding="utf-8")


def differences(expected, found):
    """Lines that differ: in their words, or in a number by more than 2 % and 2 units of its last shown place."""
    if len(expected.splitlines()) != len(found.splitlines()):
        return [f"{len(expected.splitlines())} lines are pasted, {len(found.splitlines())} were printed:\n{found}"]
    return [f"pasted  {a}\nprinted {b}" for a, b in zip(expected.splitlines(), found.splitlines()) if not alike(a, b)]


def alike(a, b):
    if " ".join(NUMBER.sub("#", a).split()) != " ".join(NUMBER.sub("#", b).split()):
        return False
    return all(abs(float(x) - float(y)) <= max(0.02 * abs(float(x)), 2.0 * unit(x)) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def unit(number):
    """One unit of the last place a number is written with."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


@contextmanager
def node(log, *arguments):
    """A simulation node in a process of its own, ended with SIGINT."""
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen([sys.executable, "-m", "mbros.ros", "--ros-args", *arguments], cwd=ROOT, env=environment(), stdout=out,
                                   stderr=out)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def controlled(folder):
    """What the ROS controller prints beside a node, both in a namespace of their own."""
    names = ["-r", "__ns:=/example_08"]
    with node(folder / "node.txt", *names, "-p", "robot:=arm6", "-p", "rate:=500.0"):
        return run(EXAMPLES / "08_ros_controller.py", "--ros-args", *names)


def topics(*wanted):
    """Names of the topics on the graph, as `ros2 topic list` shows them, once all of `wanted` are there."""
    import rclpy

    context = rclpy.Context()
    context.init()
    observer = rclpy.create_node("example_observer", context=context)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            names = {name for name, _ in observer.get_topic_names_and_types()}
            if names >= set(wanted) or time.monotonic() > deadline:
                time.sleep(1.0)                 # whatever else there is comes with them
                return sorted(name for name, _ in observer.get_topic_names_and_types() if "/_" not in name)      # hidden: of actions
            time.sleep(0.2)
    finally:
        observer.destroy_node()
        context.shutdown()


if __name__ == "__main__":
    for path in NUMBERED:
        if path.name not in ROS and (len(sys.argv) == 1 or path.name[:2] in sys.argv[1:]):
            paste(path, run(path))
            print("pasted", path.name)
