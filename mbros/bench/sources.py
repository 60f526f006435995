"""Where joints take their motion from, while running: simulated, real, prescribed or locked (docs/sources.md)."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, nan
from typing import TYPE_CHECKING

from mbros_core.support.given import any_number
from mbros_core.support.numbers import short

from mbros.arguments import choice
from mbros.errors import MbrosError, WrongTypeError, unknown
from mbros.bench.source import MODES, ActiveSource

if TYPE_CHECKING:
    from mbros import Simulator


class Sources(Mapping[str, ActiveSource]):
    """The sources of the bench by the names of their joints: sim.sources["joint2"] = "real"."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        assert sim._bench is not None
        self._by_joint = {row.joint: ActiveSource(sim, row, k) for k, row in enumerate(sim._bench.sources)}

    def __getitem__(self, joint: str) -> ActiveSource:
        name = getattr(joint, "name", joint)
        if not isinstance(name, str) or name not in self._by_joint:
            raise unknown("joint", name, "this bench with a source", self._by_joint)
        return self._by_joint[name]

    def __setitem__(self, joint: str, mode: str) -> None:
        self._sim.state._check_free()
        self[joint].become(choice(f"source of joint {getattr(joint, 'name', joint)!r}", "mode", mode, MODES))

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_joint)

    def __len__(self) -> int:
        return len(self._by_joint)

    def __repr__(self) -> str:
        return f"<Sources: {', '.join(f'{name} {source.mode}' for name, source in self.items())}>"

    def feed(self, time: float | None, **words: Mapping[str, float] | None) -> None:
        """Simulator.feed."""
        given: dict[str, dict[str, float]] = {}
        for word, values in words.items():
            if values is not None and not isinstance(values, Mapping):
                raise WrongTypeError(f"feed: {word}: expected {{joint: value}}, got {short(values)}")
            given[word] = {self[joint]._row.joint: any_number("feed", f"{word} of {joint}", x) for joint, x in (values or {}).items()}
        lone = sorted((given["velocity"].keys() | given["effort"].keys()) - given["position"].keys())
        if lone:
            raise MbrosError(f"feed: joint {lone[0]!r} has no position; expected one with every velocity and effort")
        now = self._sim.time if time is None else any_number("feed", "time", time)
        if not abs(now) < inf:
            raise MbrosError(f"feed: time is {now}; expected finite seconds of the simulation")
        self._sim.state._check_free()
        for joint, q in given["position"].items():
            self._by_joint[joint].take(now, q, given["velocity"].get(joint, nan), given["effort"].get(joint, nan))

    def heed(self) -> None:
        """Before steps: what happened so far is known."""
        for source in self._by_joint.values():
            source.heed()

    def say(self) -> None:
        """After them: warn of what happened in them."""
        for source in self._by_joint.values():
            source.say()

    def leave(self, joint: str) -> None:
        """A motion has this joint now."""
        if joint in self._by_joint:
            self._by_joint[joint]._memory["MODE"] = 0.0
