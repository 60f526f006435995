"""Channel: what becomes of a signal on its way."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.channels.registry import BY_NAME, DISTRIBUTIONS, ROWS
from mbros_core.support.numbers import short

from mbros.arguments import check_name, choice, count, flag, refuse
from mbros.describe.devices.device import value_of
from mbros.errors import NOWHERE
from mbros.names import hint

if TYPE_CHECKING:
    from typing_extensions import Self

# What makes a kind be there: one of its numbers is given.
GIVEN = {"delay": ("delay", "jitter", "duplication"), "loss": ("loss",), "quantize": ("quantum",), "saturate": ("lower", "upper"),
         "hold": ("hold_rate",), "noise": ("noise", "walk")}
MESSAGES = ("device", "signal", "all")      # which signals of a pattern travel in one message
WORDS = tuple(number.name for kind in ROWS for number in kind.numbers if number.name != "dt")


def first_in_message(message: str, signal: str, signals: list[str]) -> str:
    """The first signal of the pattern that travels in one message with this one: whose name the random numbers have. signals: of the
    pattern."""
    if message == "signal":
        return signal
    device = signal.rpartition(".")[0]
    return signals[0] if message == "all" else next(name for name in signals if name.rpartition(".")[0] == device)


class Channel:
    """Makes every signal of a pattern later or worse. Whatever of it is given acts in this order: delay, loss, quantisation, saturation,
    sample-and-hold, noise; several channels on a signal act in the order in which they were added.

    delay, jitter (s), distribution of the jitter ("uniform", "normal", "exponential"), reordering (True: messages may overtake each
    other), duplication (probability); loss (probability), burst (mean messages lost in a row); quantum; lower, upper; hold_rate (Hz);
    noise (standard deviation), walk (per sqrt(s)). seed: of its random numbers, by default the bench's. message: which signals travel in
    one message (a frame of a bus) and are lost and late together: those of a "device" (position and velocity of an encoder, the commands
    of a joint), "all" of the pattern, or each "signal" by itself. Each message has random numbers of its own, which its first signal's
    name, the channel's and the seed decide and nothing else.
    """

    type = "channel"

    def __init__(self, name: str | None = None, *, signal: str, seed: int | None = None, message: str = "device", **words: Any) -> None:
        if not isinstance(signal, str) or not signal:
            refuse("channel", f"signal is {short(signal)}", "Give the name of a signal, or a pattern such as 'joint*.command.*'.")
        self.name, self.signal, self.source = signal if name is None else name, signal, NOWHERE
        check_name("channel", self.name)
        self.message = choice(self._label, "message", message, MESSAGES)
        self.seed = None if seed is None else count(self._label, "seed", seed, most=None)
        for word in words:
            if word not in WORDS:
                refuse(self._label, f"it has no {word!r}{hint(word, WORDS)}", f"A channel has: {', '.join(WORDS)}.")
        self._words = dict(words)
        if "distribution" in words:
            words["distribution"] = DISTRIBUTIONS.index(choice(self._label, "distribution", words["distribution"], DISTRIBUTIONS))
        if "reordering" in words:
            words["reordering"] = float(flag(self._label, "reordering", words["reordering"]))
        self.stages = self._stages(words)
        if not self.stages:
            refuse(self._label, "it does nothing", f"Give one of {', '.join(word for words in GIVEN.values() for word in words)}.")

    def places_of(self) -> dict[str, Any]:
        """What it stands on: nothing but its name tells channels apart."""
        return {}

    def changed(self, name: str | None = None, **given: Any) -> Self:
        """One that was made with other arguments; refused as it would have been then."""
        words: dict[str, Any] = {"signal": self.signal, "seed": self.seed, "message": self.message, **self._words, **given}
        other = type(self)(self.name if name is None else name, **words)
        other.source = self.source
        return other

    @staticmethod
    def worded(numbers: dict[str, Any]) -> dict[str, Any]:
        """Numbers of stages as arguments: what a user gives as a word is one."""
        words = {name: value for name, value in numbers.items() if name != "dt"}
        if words.get("distribution") in range(len(DISTRIBUTIONS)):
            words["distribution"] = DISTRIBUTIONS[int(words["distribution"])]
        if words.get("reordering") in (0.0, 1.0):
            words["reordering"] = bool(words["reordering"])
        return words

    @property
    def _label(self) -> str:
        return f"channel {self.name!r}"

    def _stages(self, words: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
        """[(kind, {number: value})] of the kinds that are there."""
        stages = []
        for kind in ROWS:
            if any(word in words for word in GIVEN[kind.name]):
                numbers = {n.name: float(value_of(self._label, n, words.get(n.name))[0]) for n in kind.numbers if n.name != "dt"}
                stages.append((kind.name, numbers))
            else:
                lone = next((n.name for n in kind.numbers if n.name in words), None)
                if lone is not None:
                    refuse(self._label, f"it has {lone} and none of {', '.join(GIVEN[kind.name])}", "Give what it belongs to.")
        bounds = dict(stages).get("saturate")
        if bounds is not None and not bounds["upper"] >= bounds["lower"]:
            refuse(self._label, f"upper {bounds['upper']:g} is below lower {bounds['lower']:g}", "Give the larger one as upper.")
        if dict(stages).get("loss", {}).get("burst", 1.0) > 1.0 and dict(stages)["loss"]["loss"] >= 1.0:
            refuse(self._label, "it loses everything, in bursts", "Give a loss below 1.")
        return stages

    @staticmethod
    def row(kind: str, numbers: dict[str, float], dt: float) -> np.ndarray:
        """The numbers of a stage in the order of its row."""
        return np.array([numbers.get(number.name, dt) for number in BY_NAME[kind].numbers])

    def __repr__(self) -> str:
        return f"<Channel {self.name!r} on {self.signal}: {', '.join(kind for kind, _ in self.stages)}>"
