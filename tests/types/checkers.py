"""mypy, pyright and stubtest, as people run them."""
import json
import os
import subprocess
import sys
from pathlib import Path

from optional import needs

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "pyproject.toml"
needs_mypy = needs("mypy", "pip install mypy")
needs_pyright = needs("pyright", "pip install 'pyright[nodejs]'")

# For code of users: mbros as they find it, with its types, and not looked into. Their own functions need no annotations.
FOR_USERS = f"""
[mypy]
mypy_path = {ROOT}
strict = True
allow_untyped_defs = True
allow_incomplete_defs = True
allow_untyped_calls = True
ignore_missing_imports = True
[mypy-mbros.*,mbros_core.*]
follow_imports = silent
"""


def run(*words, cwd=ROOT, path=()):
    """(exit code, what it says) of a module of this Python. path: further folders to import from."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path))), "MYPYPATH": os.pathsep.join(map(str, path)),
           "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run([sys.executable, "-m", *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def mypy(*words, cache, cwd=ROOT):
    return run("mypy", "--cache-dir", cache, "--no-error-summary", *words, cwd=cwd)


def user_mypy(folder, *files, cache):
    """Of files in a folder of their own."""
    config = folder / "mypy.ini"
    config.write_text(FOR_USERS, encoding="utf-8")
    return mypy("--config-file", config, *files, cache=cache, cwd=folder)


def pyright(*paths):
    """["file:line: message"] of every error."""
    code, text = run("pyright", "--outputjson", "--pythonpath", sys.executable, *paths)
    found, _ = json.JSONDecoder().raw_decode(text[text.index("{"):])
    assert found["summary"]["filesAnalyzed"] > 0, text
    return [f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}: {each['message']}" for each in found["generalDiagnostics"]
            if each["severity"] == "error"]


def stubtest(*modules, path):
    """(exit code, output) of mypy's comparison of stubs with compiled modules, and with those of a folder."""
    return run("mypy.stubtest", "--concise", "--ignore-disjoint-bases", "--ignore-unused-allowlist", "--mypy-config-file", CONFIG,
               "--allowlist", Path(__file__).with_name("stubtest.txt"), *modules, path=[path])
