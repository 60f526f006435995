"""What the operating system granted the loop, and a plain sentence with a remedy for each thing it did not."""
from __future__ import annotations

import errno
import os
from dataclasses import dataclass

CAP_IPC_LOCK = 14


@dataclass(frozen=True)
class Privileges:
    """Outcome of asking for real time."""

    fifo: bool                  #: the thread runs under SCHED_FIFO
    priority: int               #: its priority, 0 without SCHED_FIFO
    memory_locked: bool         #: no page of the process can be swapped out (mlockall)
    cpu: int | None             #: the processor it is pinned to
    counts_allocations: bool    #: memory allocations of the thread are counted
    refused: tuple[str, ...]    #: what was asked for and not granted, with a remedy; empty: real time as asked for
    sentences: tuple[str, ...]  #: the same, and what else this machine does not allow

    def __str__(self):
        got = [f"SCHED_FIFO priority {self.priority}" if self.fifo else "ordinary scheduling",
               "memory locked" if self.memory_locked else "memory not locked"]
        if self.cpu is not None:
            got.append(f"pinned to processor {self.cpu}")
        return "\n".join([", ".join(got), *self.sentences])


def from_errors(figures: dict, asked: bool, priority: int, tried_to_lock: bool, cpu: int | None) -> Privileges:
    """Privileges from the errno values a loop's thread has left in its figures."""
    fifo_error, memory_error = figures["fifo_error"], figures["memory_error"]
    cpu_error, counter_error = figures["cpu_error"], figures["counter_error"]
    refused = []
    if asked and fifo_error:
        refused.append(fifo_sentence(fifo_error, priority))
    if asked and (memory_error or not tried_to_lock):
        refused.append(memory_sentence(memory_error or errno.EPERM))
    if cpu_error:
        refused.append(cpu_sentence(cpu_error, cpu))
    others = [counter_sentence(counter_error)] if counter_error else []
    fifo = asked and not fifo_error
    return Privileges(fifo, priority if fifo else 0, tried_to_lock and not memory_error, None if cpu_error else cpu,
                      not counter_error, tuple(refused), tuple(refused + others))


def reason(error: int) -> str:
    return os.strerror(error).lower() if error != errno.EPERM else "not permitted"


def fifo_sentence(error: int, priority: int) -> str:
    return (f"Real-time scheduling was refused (SCHED_FIFO priority {priority}: {reason(error)}); the loop runs as an "
            "ordinary thread. Remedy: a line '<user> - rtprio 99' in /etc/security/limits.conf and a new login, or "
            "'docker run --cap-add=SYS_NICE --ulimit rtprio=99'.")


def memory_sentence(error: int) -> str:
    return (f"Memory was not locked ({reason(error)}); a page that was swapped out can delay a step. Remedy: a line "
            "'<user> - memlock unlimited' in /etc/security/limits.conf and a new login, or "
            "'docker run --ulimit memlock=-1'.")


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


def may_lock_memory() -> bool:
    """Locking is safe: unlimited by rlimit, or the process has CAP_IPC_LOCK.

    Under a finite limit mlockall may succeed now and make an unrelated allocation fail later, so it is not tried.
    """
    import resource
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY:
        return True
    return bool(status_number("CapEff", 16) >> CAP_IPC_LOCK & 1)


def memory_is_locked() -> bool:
    """The process has locked pages already."""
    return status_number("VmLck", 10) > 0


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
