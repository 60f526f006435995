"""What moves the robot on the page: the shape of a sample, and what the panels may request of their source."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """The newest state. effort (nv,): applied in the last step. clamped: efforts cut so far. fault: a sentence, or "".
    late: seconds by which 99 of 100 recent steps began too late, NaN where it is not measured. contacts: what a plant's snapshot says of
    them (mbros.model.contacts.contacts_in), None of a source without. bench: values of the readings of the motion's bench, where it has
    one."""

    time: float
    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    clamped: int = 0
    playing: bool = False
    fault: str = ""
    late: float = float("nan")
    contacts: np.ndarray | None = None
    bench: np.ndarray | None = None


class Connection(NamedTuple):
    """What a page is connected to, in words, and whether it hears of it."""

    words: str
    alive: bool = True


class Motion:
    """A source of samples of the robot: `sample()` never waits, and may be called from one thread at any rate.

    can: what else there is of "play", "step", "reset", "speed", "effort", "parameters", "place", "pull", "seek"; the panels show
    nothing that is not in it. Each is a method of that name or said below; they raise MbrosError or RuntimeError, with a sentence.
    """

    can: frozenset[str] = frozenset()
    model: Any
    hands: Any                  # mbros.view.hands.Hands, of a motion that is driven
    tuned: Any = None           # a State with the live parameters ("parameters")
    bench: Any = None           # mbros.view.bench.LiveBench, of a motion with one
    duration: float = 0.0       # s, of what can be sought in

    def sample(self) -> Sample:
        raise NotImplementedError

    def connection(self) -> Connection:
        """Where the samples come from."""
        return Connection("")

    def history(self) -> np.ndarray | None:
        """All that there is of a motion that was, (n, ...): time, q, v, effort, energy, kinetic, potential, lateness, readings; None of
        one that goes on."""
        return None

    def play(self) -> None:
        """Go on."""

    def pause(self) -> None:
        """Stand still ("play")."""

    def step(self, n: int = 1) -> None:
        """Pause, and take n steps."""

    def reset(self) -> None:
        """Back to the start."""

    def speed(self, factor: float) -> None:
        """Seconds shown per second."""

    def place(self, q: np.ndarray) -> None:
        """Put the robot at q (nq,), at rest."""

    def seek(self, time: float) -> None:
        """Show this time, s."""

    def parameter_names(self) -> Sequence[str]:
        """Those that can be asked for and set."""
        return self.model.parameter_names

    def parameter(self, name: str) -> Any:
        """A live parameter by name ("parameters")."""

    def set_parameter(self, name: str, value: Any) -> None:
        """Change it, at once."""

    def close(self) -> None:
        """End what was begun. Closing twice does no harm."""
