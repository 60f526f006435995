from collections.abc import Iterable
from typing_extensions import Self

class Signals:
    """Takes these signals, which every thread of the process blocks, from now to its end.

    door: of a pipe, written to when the end is asked for. patience: how long an orderly end may take (s, in steps of 0.1; a time in which
    the whole computer stood still counts as 0.1 s); then the process ends with code 0 all the same, and says what it was doing."""
    def __new__(cls, signals: Iterable[int], door: int, patience: float) -> Self: ...
    def in_order(self) -> None:
        """From here on a signal asks for an orderly end; before, it ends the process at once, with code 0."""
    def ask(self, failed: bool = False) -> None:
        """What a signal does. failed: an end that was not orderly has code 1 from then on."""
    def asked(self) -> bool:
        """Whether an orderly end was asked for."""
    def say_doing(self, what: str) -> None:
        """What is under way, for the sentence of an end that was not orderly; 127 bytes of it are kept."""
