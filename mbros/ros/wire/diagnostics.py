"""What /diagnostics says: pure functions from the loop's and the data plane's counters to (level, sentence, values)."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbros_core.realtime import WATCHDOG

from mbros.model.contacts import ContactCounts
from mbros.names import plural, printable
from mbros.ros.wire.commands import FREE, REASONS, Bounds, shown
from mbros.ros.wire.messages import set_time

if TYPE_CHECKING:
    from mbros.ros.wire.typing import DiagnosticArray
    from mbros_core.realtime import SnapshotHeader, Statistics

OK, WARN, ERROR = 0, 1, 2           # levels of diagnostic_msgs/DiagnosticStatus


@dataclass(frozen=True)
class Report:
    """One status: `name` without the node's name, values in the order they are shown."""

    name: str
    level: int
    message: str
    values: dict[str, str]


@dataclass(frozen=True)
class Seen:
    """The counters at one moment; two of them make a report about the time between."""

    time: float                     # monotonic, s
    statistics: Statistics
    header: SnapshotHeader
    energy: tuple[float, float]     # kinetic and potential, J
    clamped: float                  # commands clamped since the last reset
    state: str                      # of the loop: running, paused, fault, stopped
    fault: str                      # why the robot stands still, or ""
    counts: dict[str, dict[str, int]]
    beside: dict[str, int]          # for each command topic of JointStates, messages that carried positions or velocities too
    followers: dict[str, int]       # the same of messages with numbers for joints that follow another
    publishers: dict[str, list[str]]    # the nodes that publish on each command topic; "" where the graph does not know yet
    robots: dict[str, list[str]]    # for each topic of joint states, the nodes that publish there, this one among them
    contacts: ContactCounts | None = None       # of a robot with collision shapes
    unheard: int = 0                # answers of ~/step that were given up
    silent: tuple[str, ...] = ()    # of several robots, those on which the watchdog acts
    beyond: tuple[int, str, float] = (0, "", 0.0)     # commands of shared memory left out for a joint's limits; newest: joint and value
    unrecorded: int = 0             # steps that the recording that runs should have, and has not


def reports(now: Seen, before: Seen, rate: float, privileges: list[str]) -> list[Report]:
    """The three statuses of a node."""
    return [_loop(now, before, rate, privileges), _commands(now, before), _robot(now, before)]


def filled(array: DiagnosticArray, reports: list[Report], node: str, robot: str, wall_ns: int) -> DiagnosticArray:
    """The reports of the node of this full name into a diagnostic_msgs/DiagnosticArray."""
    from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

    set_time(array.header.stamp, wall_ns)
    for r in reports:
        values = [KeyValue(key=printable(k), value=printable(v)) for k, v in r.values.items()]       # names of other nodes are among them
        array.status.append(DiagnosticStatus(level=bytes([r.level]), name=f"{node}: {r.name}", message=printable(r.message),
                                             hardware_id=robot, values=values))
    return array


def dropped(counts: dict[str, int]) -> int:
    return sum(n for reason, n in counts.items() if reason != "accepted")


def _loop(now: Seen, before: Seen, rate: float, privileges: list[str]) -> Report:
    s, old = now.statistics, before.statistics
    measured = (s.slots - old.slots) / max(now.time - before.time, 1e-9)
    late = (s.overruns - old.overruns) + (s.missed - old.missed)
    lost = s.lost - old.lost
    level, text = OK, f"{now.state} at {measured:.1f} Hz"
    if now.state in ("fault", "stopped"):
        level, text = ERROR, now.fault or "the loop has ended"
    elif lost:
        level, text = WARN, f"{plural(lost, 'step')} of simulated time lost since the last report"
    elif now.unrecorded > before.unrecorded:
        level, text = WARN, f"{plural(now.unrecorded - before.unrecorded, 'step')} left out of the recording since the last report"
    elif rate and late > 0.01 * rate * (now.time - before.time):
        level, text = WARN, f"{plural(late, 'slot')} passed without a step of their own since the last report"
    values = {
        "state": now.state, "rate (Hz)": f"{measured:.1f}", "wanted rate (Hz)": f"{rate:g}" if rate else "as fast as possible",
        **{f"lateness {p} (ms)": f"{1e3 * x:.3f}" for p, x in (
            ("p50", s.lateness.p50), ("p99", s.lateness.p99), ("p99.9", s.lateness.p999), ("max", s.lateness.max))},
        "slot work p50 (ms)": f"{1e3 * s.work.p50:.3f}", "slot work p99 (ms)": f"{1e3 * s.work.p99:.3f}",
        "step p99 (ms)": f"{1e3 * s.plant.p99:.3f}", "step max (ms)": f"{1e3 * s.plant.max:.3f}",
        "on time (%)": f"{100 * s.on_time:.3f}", "steps": str(s.steps), "overruns": str(s.overruns), "missed": str(s.missed),
        "made up": str(s.made_up), "lost (s)": f"{s.lost_time:.3f}",
        "steps left out of the recording": str(now.unrecorded),
        "page faults": str(s.minor_faults + s.major_faults),
        "allocations": "not counted" if s.allocations is None else str(s.allocations),
        "privileges": " ".join(privileges) or "all that were asked for",
    }
    return Report("real time", level, text, values)


def _commands(now: Seen, before: Seen) -> Report:
    age, flags = now.header.command_age_ns, now.header.flags
    new = {topic: dropped(counts) - dropped(before.counts[topic]) for topic, counts in now.counts.items()}
    crowded = [topic for topic, nodes in now.publishers.items() if len(nodes) > 1]
    level, text = OK, "no command yet" if age < 0 else f"command in force, {age * 1e-6:.1f} ms old"
    if flags & WATCHDOG:
        level, text = WARN, (f"no valid command for {', '.join(now.silent)}: the watchdog has taken over there" if now.silent else
                             f"no valid command for {age * 1e-9:.2f} s: the watchdog has taken over")
    if crowded:
        level, text = WARN, several_publishers(crowded[0], now.publishers[crowded[0]])
    if any(new.values()):
        level, text = WARN, f"{plural(sum(new.values()), 'command')} dropped since the last report"
    values = {"age (ms)": "none" if age < 0 else f"{age * 1e-6:.3f}", "watchdog": "active" if flags & WATCHDOG else "quiet",
              "watchdog trips": str(now.statistics.watchdog_trips), "clamped efforts": f"{now.clamped:.0f}",
              "answers of ~/step given up": str(now.unheard)}
    if now.silent:
        values["watchdog acts on"] = ", ".join(now.silent)
    for topic, counts in now.counts.items():
        values[f"{topic} publishers"] = str(len(now.publishers.get(topic, ())))
        values[f"{topic} accepted"] = str(counts["accepted"])
        if topic in now.beside:
            values[f"{topic} with positions or velocities, which are not used"] = str(now.beside[topic])
            values[f"{topic} with numbers for joints that follow another, which are not used"] = str(now.followers[topic])
        values[f"{topic} dropped"] = str(dropped(counts))
        values.update((f"{topic} dropped: {reason}", str(n)) for reason, n in counts.items() if reason != "accepted" and n)
    return Report("commands", level, text, values)


def _robot(now: Seen, before: Seen) -> Report:
    kinetic, potential = now.energy
    values = {"simulated time (s)": f"{now.header.time:.6f}", "step": str(now.header.step),
              "kinetic energy (J)": f"{kinetic:.9g}", "potential energy (J)": f"{potential:.9g}",
              "total energy (J)": f"{kinetic + potential:.9g}", "fault": now.fault or "none",
              "resets": str(now.statistics.resets)}
    trouble = ""
    if now.contacts is not None:
        c = now.contacts
        values.update({"contacts": str(c.points), "contact iterations": str(c.iterations),
                       "steps at the bound on iterations": str(c.unsolved), "contacts without room": str(c.lost)})
        trouble = contact_trouble(c, before.contacts)
    return Report("robot", ERROR if now.fault else WARN if trouble else OK, now.fault or trouble or "no fault", values)


def contact_trouble(now: ContactCounts, before: ContactCounts | None) -> str:
    """The sentence about contacts that were counted since the last report, or ""."""
    unsolved, lost = (now.unsolved - before.unsolved, now.lost - before.lost) if before is not None else (0, 0)
    if lost > 0:
        return f"{plural(lost, 'contact point')} since the last report found no room, and went without"
    if unsolved > 0:
        return f"{plural(unsolved, 'step')} since the last report ended at the bound on contact iterations (max_contact_iterations)"
    return ""


def complaint(topic: str, now: dict[str, int], before: dict[str, int], problem: tuple[str, str, float] | None, behind: float = 0.0,
              bounds: Mapping[str, Bounds] | None = None) -> str:
    """One line for the log about the commands dropped between two counts, or "". behind: as of `shown`; bounds: of all joints."""
    new = {reason: n - before[reason] for reason, n in now.items() if reason != "accepted" and n > before[reason]}
    if not new:
        return ""
    text = "; ".join(f"{n} because {REASONS[reason]}" for reason, n in new.items())
    robot, _, name = topic.rpartition("/")
    timed = bounds is None or name == "joint_trajectory"
    joint = "" if problem is None else f"{robot}/{problem[1]}" if robot else problem[1]
    limits = None if timed or bounds is None else bounds.get(joint, FREE)
    example = "" if problem is None else shown(problem[0], problem[1:], behind, limits)
    return f"dropped on {topic}: {text}" + (f" (newest: {example})" if example else "")


class Trips:
    """The watchdog's, in the log: the first one at once, those of a controller that is slower than the time-out as seldom as AGAIN; none
    where trajectories were what commanded last: they have ended as they should."""

    AGAIN = 10.0
    """s."""

    def __init__(self) -> None:
        self.told: int | None = None        # of how many
        self.at = -math.inf
        self.heard = (0, 0)                 # messages of trajectories and of all else, at the last report
        self.ended = False                  # whether trajectories were what was heard last

    def remarks(self, now: Seen, before: Seen, watchdog: tuple[float | None, str, float]) -> list[str]:
        """watchdog: its time-out, s, and action (Live.watchdog)."""
        trips, (timeout, action, _) = now.statistics.watchdog_trips, watchdog
        new = trips - (trips if self.told is None else self.told)
        if self.told is None or new < 0 or timeout is None:
            self.told = trips
            return []
        heard = of_trajectories(now)
        if heard != self.heard:
            self.ended, self.heard = heard[0] > self.heard[0] and heard[1] == self.heard[1], heard
        if not new or not self.ended and now.time - self.at < self.AGAIN:
            return []
        self.told = trips
        if self.ended:
            return []
        self.at = now.time
        return [watchdog_tripped(new, commands_per_second(now, before), timeout, action)]


def of_trajectories(now: Seen) -> tuple[int, int]:
    """Messages accepted: trajectories, and all else."""
    of = [sum(counts["accepted"] for topic, counts in now.counts.items() if (topic.rpartition("/")[2] == "joint_trajectory") == which)
          for which in (True, False)]
    return of[0], of[1]


ACTIONS = {"zero": "commands were withdrawn (efforts end, position servos hold)", "hold": "the last effort was held",
           "damp": "joints were braked"}


def watchdog_tripped(trips: int, rate: float, timeout: float, action: str) -> str:
    """The sentence about commands that came too seldom. rate: Hz, as they came of late."""
    seen = f"they came at {rate:.3g} Hz" if rate else "none came since"
    times = f"{trips} time{'s' if trips > 1 else ''}"
    return (f"no valid command for watchdog_timeout, {timeout:g} s, {times} ({seen}): {ACTIONS[action]} until the next. Command faster "
            f"than {1.0 / timeout:.3g} Hz, or set watchdog_timeout longer (0: never)")


def commands_per_second(now: Seen, before: Seen) -> float:
    """Commands accepted between two reports, per second of simulated time, in which the watchdog counts."""
    accepted = sum(counts["accepted"] - before.counts[topic]["accepted"] for topic, counts in now.counts.items() if topic in before.counts)
    time = now.header.time - before.header.time
    return accepted / (time if time > 0.0 else max(now.time - before.time, 1e-9))


def several_publishers(topic: str, nodes: list[str]) -> str:
    """The sentence about several publishers on one command topic."""
    names = ", ".join(node or "a node unknown so far" for node in nodes)
    return f"{len(nodes)} publishers command {topic} ({names}); the newest message wins"


def several_robots(topic: str, nodes: list[str]) -> str:
    """The sentence about several nodes whose states go to one topic."""
    names = ", ".join(node or "a node unknown so far" for node in nodes)
    return f"{len(nodes)} nodes publish {topic} ({names}); readers see them mixed: give each a namespace (-r __ns:=/left)"


class Once:
    """What is said in the log once, not every second."""

    PATIENCE = 10
    """Reports in a row. A publisher without a name is reported without one only after so many, as discovery brings names last; a crowd is
    reported anew when it has been gone for so many, as on a busy machine the graph loses somebody for a moment."""

    def __init__(self) -> None:
        self.crowds: dict[str, set[tuple[str, ...]]] = {}
        self.nameless: dict[str, int] = {}
        self.alone: dict[str, int] = {}
        self.beside: set[str] = set()
        self.followers: set[str] = set()
        self.beyond = False

    def remarks(self, now: Seen, before: Seen) -> list[str]:
        """Positions that are no commands; several publishers, or robots, once the graph has settled."""
        said = []
        for topic, n in now.beside.items():
            if n and topic not in self.beside:
                self.beside.add(topic)
                said.append(f"commands on {topic} carry positions or velocities beside their efforts, which are not used; they are "
                            "commands of joints with a servo, which bench:=servo gives to every joint (said once)")
        for topic, n in now.followers.items():
            if n and topic not in self.followers:
                self.followers.add(topic)
                said.append(f"commands on {topic} carry numbers for joints that follow another, which are not used: their leaders decide, "
                            "and take their share of the load (said once)")
        if now.beyond[0] and not self.beyond:
            self.beyond = True
            said.append(f"a command of shared memory is left out: joint '{now.beyond[1]}', value {now.beyond[2]:g}, is beyond its limits "
                        "(said once; /diagnostics counts them)")
        for topic, nodes in now.publishers.items():
            if self._crowded(topic, nodes, before.publishers.get(topic)):
                said.append(several_publishers(topic, nodes))
        said += [several_robots(topic, nodes) for topic, nodes in now.robots.items()
                 if self._crowded(topic, nodes, before.robots.get(topic))]
        return said

    def _crowded(self, topic: str, nodes: list[str], before: list[str] | None) -> bool:
        """Whether several nodes publish, as a moment ago and with their names, and that has not been said of them."""
        said = self.crowds.setdefault(topic, set())
        self.alone[topic] = self.alone.get(topic, 0) + 1 if len(nodes) < 2 else 0
        self.nameless[topic] = self.nameless.get(topic, 0) + 1 if nodes == before and not all(nodes) else 0
        if self.alone[topic] >= self.PATIENCE:
            said.clear()
        known = any(nodes == list(crowd) or (not all(nodes) and len(nodes) == len(crowd)) for crowd in said)
        if len(nodes) < 2 or nodes != before or known or 0 < self.nameless[topic] < self.PATIENCE:
            return False
        said.add(tuple(nodes))
        return True
