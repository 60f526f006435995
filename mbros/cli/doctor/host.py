"""The computer: privileges, timer, kernel, shared memory."""
from __future__ import annotations

import os
from collections.abc import Iterator

from mbros.cli.doctor.machine import NOTE, OK, Finding, Machine

LIMITS = "a line '{}' in /etc/security/limits.conf and a new login; in a container '{}'"


def real_time(machine: Machine, seconds: float) -> Iterator[Finding]:
    """What the real-time loop may have, and how well this machine keeps time."""
    fifo = may_use_fifo(machine)
    if fifo:
        yield Finding(OK, "real time", "scheduling", "SCHED_FIFO is permitted; the loop uses priority 80")
    else:
        yield Finding(NOTE, "real time", "scheduling", "SCHED_FIFO is refused: the loop will run as an ordinary thread",
                      LIMITS.format("<user> - rtprio 99", "--cap-add=SYS_NICE --ulimit rtprio=99"))
    if machine.may_lock_memory():
        yield Finding(OK, "real time", "memory", "may be locked: no page of the loop is swapped out")
    else:
        yield Finding(NOTE, "real time", "memory", "may not be locked beyond a limit (ulimit -l), which a loop may fit into and a node "
                      "will not: a page that was swapped out can delay a step",
                      LIMITS.format("<user> - memlock unlimited", "--ulimit memlock=-1"))
    cpus = machine.cpus()
    if cpus < 2:
        yield Finding(NOTE, "real time", "processors", "one: the loop shares it with everything else",
                      "Give the container or machine two or more.")
    else:
        isolated = machine.read("sys/devices/system/cpu/isolated")
        apart = f", isolated: {isolated} (the node's parameter cpu pins the loop)" if isolated else ""
        yield Finding(OK, "real time", "processors", f"{cpus} usable{apart}")
    if seconds:
        yield timer(machine, seconds, fifo)


def may_use_fifo(machine: Machine) -> bool:
    """Tried, since no limit shows it for certain."""
    try:
        machine.timer(0.01, 80)
    except PermissionError:
        return False
    return True


def timer(machine: Machine, seconds: float, fifo: bool) -> Finding:
    """The histogram of a bare timer under the conditions of the loop."""
    histogram = machine.timer(seconds, 80 if fifo else 0)
    how = "SCHED_FIFO 80" if fifo else "an ordinary thread"
    text = (f"{histogram.count} wake-ups at 1 kHz as {how}: late by {1e6 * histogram.p50:.0f} us (median), {1e6 * histogram.p99:.0f} us "
            f"(99 %), {1e6 * histogram.max:.0f} us (worst)")
    late = histogram.p99 > 0.5e-3
    return Finding(NOTE if late else OK, "real time", "timer", text,
                   "Stop other work, or see docs/realtime.md: steps of 1 ms will often start late here." if late else "",
                   histogram.text("lateness of the timer"))


def kernel(machine: Machine) -> Iterator[Finding]:
    """The kernel's settings that show in the worst case."""
    version = machine.read("proc/sys/kernel/version") or ""
    if machine.read("sys/kernel/realtime") == "1" or "PREEMPT_RT" in version:
        yield Finding(OK, "machine", "kernel", "PREEMPT_RT")
    else:
        kind = next((word for word in ("PREEMPT_DYNAMIC", "PREEMPT") if word in version), "no preemption named")
        yield Finding(NOTE, "machine", "kernel", f"not a real-time kernel ({kind}): good typical times, outliers of milliseconds",
                      "For guarantees: a PREEMPT_RT kernel (Ubuntu: sudo pro enable realtime-kernel).")
    yield from governor(machine)
    source = machine.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source in ("hpet", "acpi_pm", "jiffies"):
        yield Finding(NOTE, "machine", "clock source", f"{source}: reading the time is slow",
                      "Boot with tsc (the kernel's log says why it was given up).")
    elif source:
        yield Finding(OK, "machine", "clock source", source)
    if (machine.read("proc/sys/kernel/sched_rt_runtime_us") or "").isdecimal():
        share, period = (int(machine.read(f"proc/sys/kernel/sched_rt_{k}_us") or 10**6) for k in ("runtime", "period"))
        if share < 0.5 * period:
            yield Finding(NOTE, "machine", "throttling", f"real-time threads may use {100 * share / period:.0f} % of a processor",
                          "sudo sysctl kernel.sched_rt_runtime_us=950000")
    if " hypervisor" in (machine.read("proc/cpuinfo") or ""):
        yield Finding(NOTE, "machine", "virtual", "a virtual machine: its host can stop it at any time, which shows in the worst case",
                      "Measure real-time claims on the real computer.")


def governor(machine: Machine) -> Iterator[Finding]:
    """Clock speed of the processors; nothing where it cannot be read."""
    cpus = machine.root / "sys/devices/system/cpu"
    files = (f"sys/devices/system/cpu/{cpu.name}/cpufreq/scaling_governor" for cpu in cpus.glob("cpu[0-9]*"))
    names = {name for file in files if (name := machine.read(file)) is not None}
    if names - {"performance"}:
        yield Finding(NOTE, "machine", "governor", f"{', '.join(sorted(names))}: clock speed follows the load, so waking takes longer",
                      "sudo cpupower frequency-set -g performance")
    elif names:
        yield Finding(OK, "machine", "governor", "performance")


def storage(machine: Machine) -> Iterator[Finding]:
    """Shared memory, which the middleware uses, and room for recordings."""
    for subject, path, least, remedy in (
            ("/dev/shm", "dev/shm", 64 << 20, "In a container: --shm-size=1g. Left over from ROS processes that were killed: "
             "rm /dev/shm/fastrtps_* while none runs."),
            ("disk", os.getcwd().lstrip("/") or ".", 1 << 30, "Free some space before recording.")):
        free = machine.free(path)
        if free is None:
            yield Finding(NOTE, "machine", subject, "cannot be looked at", remedy)
        elif free < least:
            yield Finding(NOTE, "machine", subject, f"{free / 1e6:.0f} MB free", remedy)
        else:
            yield Finding(OK, "machine", subject, f"{free / 1e9:.1f} GB free")
