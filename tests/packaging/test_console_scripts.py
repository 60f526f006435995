"""Every command that an installation puts on the PATH, and the one it puts where `ros2 run` looks, answers --help."""
import importlib.metadata
import os
import sys
from pathlib import Path

import pytest
from workshop import ROOT, run

PREFIX = Path(sys.prefix)


def commands():
    return sorted(script.name for script in importlib.metadata.distribution("mbros").entry_points if script.group == "console_scripts")


def test_the_commands():
    assert commands() == ["mbros", "sim_node"]


@pytest.mark.parametrize("path", ["bin/mbros", "bin/sim_node", "lib/mbros/sim_node"])
def test_help(path, tmp_path):
    done = run(PREFIX / path, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lower().startswith("usage: ")
    assert "Traceback" not in done.stderr


def test_sim_node_takes_the_python_of_its_prefix(tmp_path):
    """Installed in a venv, lib/mbros/sim_node runs that venv's Python even when another one is first on PATH."""
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho 'the wrong Python'\n")
    other.chmod(0o755)
    done = run(PREFIX / "lib/mbros/sim_node", "--help", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0 and "the wrong Python" not in done.stdout
    elsewhere = run(ROOT / "scripts/sim_node", "--help", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert elsewhere.stdout == "the wrong Python\n"
