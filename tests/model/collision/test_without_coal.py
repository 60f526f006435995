"""Without the package coal, mbros.CollisionPairs says what to install."""
import subprocess
import sys
from pathlib import Path

import mbros


def test_without_coal_a_sentence_says_what_to_install():
    code = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "coal":
            raise ImportError("No module named 'coal'", name="coal")
sys.meta_path.insert(0, Blocker())
import mbros
mbros.shapes.sphere(1)
try:
    mbros.CollisionPairs(mbros.load("pendulum"))
except mbros.MissingPackageError as error:
    print(error)
"""
    root = Path(mbros.__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert 'pip install "mbros[collision]"' in done.stdout and "coal" in done.stdout
