"""Starts and stops of the node at random moments: `python -m tests.soak.node_ends --count 2000`.

Every start is stopped by one to three of SIGINT, SIGTERM and SIGHUP, the first at a moment drawn evenly from the node's
start-up and as long again. Several nodes run at once; half of the starts meet busy processes on every processor, and a client
that pauses, resets and sets parameters all the while. What is asked of each: exit code 0, within 2 s, and nothing in its log
that is not on the list of true lines.

A signal counts from the first line of the entry point on, that is, once Python runs and the process has blocked the signals: before
that there is only Python itself, or the shell that looks for it.
"""
from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LATEST = 2.0            # s, wall time from the first signal to the end
PATIENCE = 240.0        # s: longer is a hang
LAST_RESORT = "ended without leaving in order"
ROBOTS = ("pendulum", "arm7", "quadruped")
ENTRIES = {
    "python -m mbros.ros": [sys.executable, "-m", "mbros.ros"],
    "mbros node": [sys.executable, "-m", "mbros.cli", "node"],
    "sim_node": [str(ROOT / "scripts" / "sim_node")],
}
# What the node says of itself and of the machine, when it is asked to end as when not.
TRUE_LINES = [re.compile(text) for text in (
    r"\[INFO\] .*: simulating '\w+' \(\d+ joints?.*\) at \d+ Hz$",
    r"\[INFO\] .*: time is simulated from now on, until this node ends: .*",
    r"\[INFO\] .*: (Real-time scheduling was refused|Memory was not locked|Allocations of the loop's thread are not counted) ?\(.*",
    # rclpy, once, of a client whose request came before the middleware had found where it listens; the second is the line that it shows
    r".*: RuntimeWarning: failed to send response \(timeout\): client will not receive response",
    r"  self\.__service\.service_send_response\(response, header\.request_id\)$",
)]


@dataclass
class End:
    """One start and stop."""

    entry: str
    moment: float           # s from the first line to the first signal
    signals: list[int]
    code: int | None = None
    seconds: float = 0.0    # from the first signal to the end
    cpu: float = 0.0        # s of the process's own from the first signal to the end
    read: float = 0.0       # MB that it had to wait for the disk for, in its whole life
    up: bool = False        # it was simulating when the signal came
    false_lines: list[str] = field(default_factory=list)        # what is not on the list

    @property
    def good(self) -> bool:
        return self.code == 0 and self.seconds <= LATEST and not self.false_lines

    def __str__(self) -> str:
        names = "+".join(signal.Signals(n).name for n in self.signals)
        return (f"{self.entry}, {names} after {self.moment:.3f} s{' (up)' if self.up else ''}: code {self.code} after "
                f"{self.seconds:.2f} s, {self.cpu:.2f} s of its own, {self.read:.0f} MB read"
                f"{''.join(chr(10) + '    ' + line for line in self.false_lines)}")


class Node:
    """A process that simulates, from one of the entry points."""

    def __init__(self, folder: Path, entry: str, robot: str, place: int, *arguments: str):
        self.log = folder / f"{time.monotonic_ns()}_{place}.txt"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"        # for sim_node, which looks for python3 there
        with self.log.open("w") as out:
            self.process = subprocess.Popen([*ENTRIES[entry], robot, *arguments, "--ros-args", "-r", f"__ns:=/soak{place}"],
                                            stdout=out, stderr=out,
                                            cwd=ROOT, env=os.environ | {"PATH": path})
        self.pid = self.process.pid

    def listens(self) -> bool:
        """The entry point's first line has been executed."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith("SigBlk:"):
                    mask = int(line.split()[1], 16)
                    return all(mask >> number - 1 & 1 for number in SIGNALS) and "python" in os.readlink(f"/proc/{self.pid}/exe")
        return False

    def cpu(self) -> float:
        """Seconds of processor time so far; 0 when it has ended."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/stat") as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def threads(self) -> list[str]:
        """Of each: its name, state, times on a processor and waiting for one (ns), and where in the kernel it waits."""
        seen = []
        for task in Path(f"/proc/{self.pid}/task").glob("*"):
            with contextlib.suppress(OSError):
                stat, schedule = (task / "stat").read_text(), (task / "schedstat").read_text()
                name, _, state = stat.partition("(")[2].rpartition(")")
                seen.append(f"{name}: {state[1]}, {schedule.strip()}, {(task / 'wchan').read_text()}")
        return seen

    def lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()

    def until(self, true) -> bool:
        end = time.monotonic() + PATIENCE
        while not true():
            if self.process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def simulates(self) -> bool:
        return any("simulating" in line for line in self.lines())

    def wait(self, look: float | None = None) -> tuple[int | None, resource.struct_rusage | None]:
        """(exit code, what its whole life has used); (None, None) for one that had to be killed. One that still lives after `look`
        seconds is looked at: what its threads wait for is written beside its log."""
        begin = time.monotonic()
        end = begin + PATIENCE
        while True:
            if look is not None and time.monotonic() > begin + look:
                look = None
                self.log.with_suffix(".threads").write_text("\n".join(self.threads()) + "\n")
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                return self.process.returncode, usage
            if time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                return None, None
            time.sleep(0.001)


def one(folder: Path, chance: random.Random, place: int, span: float, look: float | None = None) -> End:
    """Start, signal, wait, look."""
    entry = chance.choice(list(ENTRIES))
    end = End(entry, chance.uniform(0.0, span), chance.choices(SIGNALS, k=chance.choice((1, 1, 2, 3))))
    node = Node(folder, entry, chance.choice(ROBOTS), place)
    node.until(node.listens)
    time.sleep(end.moment)
    end.up, used, begin = node.simulates(), node.cpu(), time.monotonic()
    for number in end.signals:
        with contextlib.suppress(ProcessLookupError):
            os.kill(node.pid, number)
        time.sleep(chance.choice((0.0, 0.001, 0.02)) if number is not end.signals[-1] else 0.0)
    end.code, usage = node.wait(look)
    end.seconds = time.monotonic() - begin
    if usage is not None:
        end.cpu, end.read = max(0.0, usage.ru_utime + usage.ru_stime - used), 512e-6 * usage.ru_inblock
    end.false_lines = [line for line in node.lines() if line.strip() and not any(true.match(line) for true in TRUE_LINES)]
    if end.good:
        node.log.unlink()
    return end


def start_up(folder: Path, parallel: int) -> float:
    """Seconds from the first line until a node simulates, several at once as they will be."""
    def measure(place: int) -> float:
        node = Node(folder, "python -m mbros.ros", "arm7", place)
        node.until(node.listens)
        begin = time.monotonic()
        node.until(node.simulates)
        took = time.monotonic() - begin
        node.process.terminate()
        node.wait()
        return took
    with ThreadPoolExecutor(parallel) as pool:
        return max(pool.map(measure, range(parallel)))


@contextlib.contextmanager
def forgetting(seconds: float):
    """Now and every so many seconds the kernel's memory of files is emptied, as on a computer that is short of memory, or that makes use
    of a quiet minute: what a node needs comes from the disk."""
    over = threading.Event()

    def forget() -> None:
        Path("/proc/sys/vm/drop_caches").write_text("1")

    def forget_again() -> None:
        while not over.wait(seconds):
            forget()
    forget()                                                    # here, where it is heard of if that is not permitted
    thread = threading.Thread(target=forget_again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def company(load: int, parallel: int):
    """Busy processes, and a client that keeps the nodes' services busy."""
    busy = [[sys.executable, "-S", "-c", "while True: pass"]] * load
    children = [subprocess.Popen(command, cwd=ROOT) for command in
                [*busy, *([[sys.executable, "-m", "tests.soak.caller", str(parallel)]] if load else [])]]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def soak(count: int, parallel: int = 4, load: int | None = None, seed: int = 0, folder: Path | None = None, say=print,
         look: float | None = None, idle: int | None = None) -> list[End]:
    """So many ends, the first half idle (or the first so many), the others under load."""
    load = 2 * (os.cpu_count() or 1) if load is None else load
    folder = folder or Path(tempfile.mkdtemp(prefix="mbros_soak_"))
    ends: list[End] = []
    idle = count - count // 2 if idle is None else min(idle, count)
    for what, n, busy in (("idle", idle, 0), (f"under load ({load} busy processes, a client)", count - idle, load)):
        if not n:
            continue
        with company(busy, parallel):
            span = 2.0 * start_up(folder, parallel)
            say(f"{what}: {n} starts, {parallel} at once, signals within {span:.1f} s; logs of bad ends in {folder}")
            places, lock = list(range(parallel)), threading.Lock()

            def run(k: int, span: float = span) -> End:
                with lock:
                    place = places.pop()
                try:
                    return one(folder, random.Random(f"{seed} {len(ends)} {k}"), place, span, look)
                finally:
                    with lock:
                        places.append(place)
            with ThreadPoolExecutor(parallel) as pool:
                batch = []
                try:
                    for end in pool.map(run, range(n)):
                        batch.append(end)
                        if not end.good:
                            say(f"BAD {end}")
                        if len(batch) % 100 == 0:
                            say(f"  {len(batch)} done")
                except BaseException:           # a signal: those that have begun end as they would have, no other begins
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
            say(report(batch))
            ends += batch
    return ends


def report(ends: list[End]) -> str:
    """What was seen, in three lines. What the last resort says is true, and yet no end in order."""
    late = sorted(end.seconds for end in ends)
    codes = ", ".join(f"{n} x {code}" for code, n in Counter(end.code for end in ends).items())
    forced = sum(LAST_RESORT in str(end) for end in ends)
    return (f"  codes {codes}; {sum(end.up for end in ends)} were simulating, {sum(len(end.signals) > 1 for end in ends)} had several "
            f"signals\n  ends after p50 {late[len(late) // 2]:.3f} s, p99 {late[int(0.99 * len(late))]:.3f} s, latest {late[-1]:.3f} s; "
            f"most processor time of its own {max(end.cpu for end in ends):.2f} s, most read {max(end.read for end in ends):.0f} MB\n"
            f"  {sum(bool(end.false_lines) for end in ends)} with a line that is not on the list, of which {forced} by the last resort; "
            f"{sum(not end.good for end in ends)} bad in all")


def stop(number: int, frame: object) -> NoReturn:
    """The soak itself is to end, and no process that it has started is to stay."""
    for again in SIGNALS:                   # not ignored: what is started while this ends would inherit that
        signal.signal(again, lambda number, frame: None)
    sys.exit(128 + number)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], prog="python -m tests.soak.node_ends")
    p.add_argument("--count", type=int, default=200, help="starts, half of them under load (default: 200)")
    p.add_argument("--idle", type=int, help="how many of them not under load (default: half)")
    p.add_argument("--parallel", type=int, default=4, help="nodes at once (default: 4)")
    p.add_argument("--load", type=int, help="busy processes beside the second half (default: two for each processor)")
    p.add_argument("--seed", type=int, default=0, help="of the moments and signals")
    p.add_argument("--look", type=float, metavar="S", help="of a node that has not ended S seconds after its signal, write down "
                   "what its threads wait for")
    p.add_argument("--cold", type=float, metavar="S", help="empty the kernel's memory of files every S seconds (needs root)")
    given = p.parse_args()
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    for number in SIGNALS:                  # what a background job (cmd &, nohup) ignores, the nodes would ignore as well
        signal.signal(number, stop)
    with contextlib.nullcontext() if given.cold is None else forgetting(given.cold):
        ends = soak(given.count, given.parallel, given.load, given.seed, say=lambda text: print(text, flush=True), look=given.look,
                    idle=given.idle)
    print(report(ends))
    return 0 if all(end.good for end in ends) else 1


if __name__ == "__main__":
    sys.exit(main())
