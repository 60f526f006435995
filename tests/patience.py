"""How long tests wait for a condition, s: longer than anything takes on a machine that is ten times as busy as it can be. Nothing waits
that long when all is well. tests/sanitize gives more (MBROS_PATIENCE)."""
import os
import time

PATIENCE = float(os.environ.get("MBROS_PATIENCE", "240"))


def until(true):
    """Waits for it."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
