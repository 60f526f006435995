"""Who is left of a process group: of what was started with start_new_session=True, and of all that it started in turn."""
import contextlib
import os
from pathlib import Path


def living(group):
    """Its processes that have not ended; one that has ended may wait for a while until somebody asks for its exit code."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:                     # it has just gone
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found


def busy(group, seconds):
    """Those that have taken so much time of a processor."""
    found = []
    for pid in living(group):
        with contextlib.suppress(OSError):          # it has ended since
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if int(fields[11]) + int(fields[12]) > seconds * os.sysconf("SC_CLK_TCK"):
                found.append(pid)
    return found
