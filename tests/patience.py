"""How long tests wait for a condition, s: longer than anything takes on a machine that is ten times as busy as it can be. Nothing waits
that long when all is well. tests/sanitize gives more (MBROS_PATIENCE)."""
import os
import time

PATIENCE = float(os.environ.get("MBROS_PATIENCE", "240"))


def until(true, what="what is waited for"):
    """What is true in the end, however busy the machine is."""
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.005)
    return found
