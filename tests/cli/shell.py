"""The command as users run it: a process of its own, in a folder of its own."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(**changes):
    """This environment with the source folder importable from anywhere; None takes a variable out."""
    paths = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)]), "COLUMNS": "120"}
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return env


class Command:
    """command("run", "arm7") runs it to the end, forked from the nursery; .start(...) starts it from nothing and gives the Popen."""

    def __init__(self, folder, nursery):
        self.folder, self.nursery = folder, nursery

    def __call__(self, *words, timeout=600, **env):
        with tempfile.TemporaryDirectory(prefix="mbros_said_") as said:
            out, err = Path(said, "out"), Path(said, "err")
            running = self.nursery.start(out, [*map(str, words)], errors=err, folder=self.folder, environment=environment(**env))
            try:
                code = running.wait(timeout)
            finally:
                running.kill()
            return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())

    def start(self, *words, stdout=subprocess.PIPE, **env):
        return subprocess.Popen([sys.executable, "-m", "mbros.cli", *map(str, words)], cwd=self.folder, env=environment(**env),
                                stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True)


def one_paragraph(text):
    """Whether an error is told as it should be: by mbros, in one paragraph, without a traceback."""
    return text.startswith("mbros") and "Traceback" not in text and "\n\n" not in text.strip() and text.endswith("\n")
