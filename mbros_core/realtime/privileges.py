"""What the operating system granted the loop, and a plain sentence with a remedy for each thing it did not."""
from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Any

CAP_IPC_LOCK = 14


@dataclass(frozen=True)
class Privileges:
    """Outcome of asking for real time."""

    fifo: bool                  #: the thread runs under SCHED_FIFO
    priority: int               #: its priority, 0 without SCHED_FIFO
    memory_locked: bool         #: no page that the loop touches can be swapped out: its own memory, plant and plugs, stack, code
    cpu: int | None             #: the processor it is pinned to
    counts_allocations: bool    #: memory allocations of the thread are counted
    refused: tuple[str, ...]    #: what was asked for and not granted, with a remedy; empty: real time as asked for
    sentences: tuple[str, ...]  #: the same, and what else this machine does not allow
    locked_bytes: int = 0       #: memory that is locked for this loop

    def __str__(self) -> str:
        got = [f"SCHED_FIFO priority {self.priority}" if self.fifo else "ordinary scheduling",
               f"{megabytes(self.locked_bytes)} of memory locked" if self.memory_locked else "memory not locked"]
        if self.cpu is not None:
            got.append(f"pinned to processor {self.cpu}")
        return "\n".join([", ".join(got), *self.sentences])


def from_errors(figures: dict[str, Any], asked: bool, priority: int, cpu: int | None) -> Privileges:
    """Privileges from the errno values a loop's thread has left in its figures."""
    fifo_error, memory_error = figures["fifo_error"], figures["memory_error"]
    cpu_error, counter_error = figures["cpu_error"], figures["counter_error"]
    refused = []
    if asked and fifo_error:
        refused.append(fifo_sentence(fifo_error, priority))
    if asked and memory_error:
        refused.append(memory_sentence(memory_error, figures["locked_bytes"]))
    if cpu_error and cpu is not None:
        refused.append(cpu_sentence(cpu_error, cpu))
    others = [counter_sentence(counter_error)] if counter_error > 0 else []        # -1: not requested
    fifo = asked and not fifo_error
    locked = asked and not memory_error
    return Privileges(fifo, priority if fifo else 0, locked, None if cpu_error else cpu, not counter_error, tuple(refused),
                      tuple(refused + others), figures["locked_bytes"] if locked else 0)


def reason(error: int) -> str:
    return os.strerror(error).lower() if error != errno.EPERM else "not permitted"


def fifo_sentence(error: int, priority: int) -> str:
    return (f"Real-time scheduling was refused (SCHED_FIFO priority {priority}: {reason(error)}); the loop runs as an "
            "ordinary thread. Remedy: a line '<user> - rtprio 99' in /etc/security/limits.conf and a new login, or "
            "'docker run --cap-add=SYS_NICE --ulimit rtprio=99'.")


def memory_sentence(error: int, needed: int) -> str:
    limit = memory_limit()
    why = reason(error) if limit is None else f"the loop needs {megabytes(needed)}, the limit is {megabytes(limit)}"
    return (f"Memory was not locked ({why}); a page that was swapped out can delay a step. Remedy: a line "
            f"'<user> - memlock {-(-needed * 5 // 4) // 1024}' (kB) or more in /etc/security/limits.conf and a new login, or "
            "'docker run --ulimit memlock=-1'.")


def megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def cpu_sentence(error: int, cpu: int) -> str:
    return (f"The loop was not pinned to processor {cpu} ({reason(error)}); it runs on any. Remedy: choose one of "
            f"{usable_cpus()}.")


def counter_sentence(error: int) -> str:
    return (f"Allocations of the loop's thread are not counted (hardware breakpoint counters: {reason(error)}). Remedy: "
            "'sysctl kernel.perf_event_paranoid=2' or less, in a container also '--cap-add=PERFMON'; a debugger "
            "attached to the process takes the same registers.")


def usable_cpus() -> str:
    if hasattr(os, "sched_getaffinity"):
        return ", ".join(str(k) for k in sorted(os.sched_getaffinity(0)))
    return ", ".join(str(k) for k in range(os.cpu_count() or 1))


def memory_limit() -> int | None:
    """How much this process may lock, in bytes; None: as much as it likes, by CAP_IPC_LOCK or by its limit."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return None if limit == resource.RLIM_INFINITY or status_number("CapEff", 16) >> CAP_IPC_LOCK & 1 else limit


def may_lock_memory() -> bool:
    """Locking is not limited. Under a limit a loop locks what it touches if that fits, and says what it needs if not."""
    return memory_limit() is None


def status_number(key: str, base: int) -> int:
    """A number from /proc/self/status, 0 where there is none."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith(key + ":"):
                    return int(line.split()[1], base)
    except OSError:
        pass
    return 0
