"""The command as users run it: a process of its own, in a folder of its own."""
import os
import subprocess
import sys
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
    """command("run", "arm7") runs it to the end; .start(...) starts it and gives the Popen."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *words, timeout=600, **env):
        return subprocess.run([sys.executable, "-m", "mbros.cli", *map(str, words)], cwd=self.folder, env=environment(**env),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def start(self, *words, stdout=subprocess.PIPE, **env):
        return subprocess.Popen([sys.executable, "-m", "mbros.cli", *map(str, words)], cwd=self.folder, env=environment(**env),
                                stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True)


def one_paragraph(text):
    """Whether an error is told as it should be: by mbros, in one paragraph, without a traceback."""
    return text.startswith("mbros") and "Traceback" not in text and "\n\n" not in text.strip() and text.endswith("\n")
