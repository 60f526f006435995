"""Operations at random on everything a Python caller can hold of the engine, with right and with wrong arguments.

    python tests/fuzz/operations.py --operations 1000000 --seed 5

What must hold of every one: it does what it says, or raises an MbrosError or a TypeError; then no state and no array that was handed in
has changed by a bit. Nothing that is not finite is returned. Nothing ends the process. `run` raises AssertionError with the operation's
number, which with the seed repeats it.
"""
import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mbros
from fuzz import calls, hostile
from fuzz.subjects import all_subjects

ALLOWED = (mbros.MbrosError, TypeError)
ONE_STEP = ("Plant.step", "Simulator.step")


def run(seed: int, count: int, report=None) -> dict[str, int]:
    """`count` operations; how many were done, refused with words, and refused by Python. report: called with a line now and then."""
    rng = np.random.default_rng(seed)
    subjects = all_subjects(rng)
    counts = {"done": 0, "refused": 0}
    for number in range(count):
        subject = subjects[rng.integers(len(subjects))]
        operation = Operation(subject, rng)
        try:
            counts[operation.perform()] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, operation {number}: {operation}: {error}") from error
        if operation.spoiled or rng.random() < 0.1:
            subject.restore()
        if report is not None and number % 10_000 == 0:
            report(f"{number} operations: {counts}")
    return counts


class Operation:
    """One call, with right arguments, of which some have been exchanged for others."""

    def __init__(self, subject, rng):
        self.subject, self.rng, self.changes, self.spoiled = subject, rng, [], False
        choices = calls.of(subject)
        self.name = list(choices)[rng.integers(len(choices))]
        self.call = choices[self.name]
        self.arguments = list(self.call.arguments(subject, rng))
        for _ in range(rng.integers(3)):
            self.exchange(self.call)
        if rng.random() < 0.05:
            self.spoil_state()

    def exchange(self, call):
        """One argument for something else; what stands for a number of steps or seconds only for what is refused or small."""
        if len(self.arguments) <= call.fixed:
            return
        k = int(self.rng.integers(call.fixed, len(self.arguments)))
        given, bounded = self.arguments[k], k in call.bounded
        if isinstance(given, np.ndarray) and given.dtype == float and self.rng.random() < 0.7:
            name, self.arguments[k] = hostile.array(self.rng, given)
        elif self.rng.random() < 0.2:
            name = "of the state's memory"
            self.arguments[k] = self.subject.state.field(self.rng.choice(["q", "v", "tau", "vdot", "U", "X_WB"]))
        else:
            name, self.arguments[k] = "a thing", hostile.thing(self.rng)
            if bounded and isinstance(self.arguments[k], (int, float, np.generic)) and abs(self.arguments[k]) > 1:
                self.arguments[k] = -1
        self.changes.append((k, name))

    def spoil_state(self):
        """Numbers that are not finite, and those that no memory can count, come in by the views, which are the user's own memory."""
        view = self.subject.state._inputs
        view[self.rng.integers(len(view))] = self.rng.choice([np.nan, np.inf, 1e200, 1e6, -1e6])
        self.spoiled = True

    def perform(self) -> str:
        """"done" or "refused"; AssertionError when something is wrong."""
        before = self.bits()
        try:
            result = self.call.function(self.subject, *self.arguments)
        except ALLOWED as error:
            right = not (self.changes or self.spoiled or self.call.may_refuse)
            assert not right or isinstance(error, mbros.NonFiniteError | mbros.FaultError), f"right arguments were refused: {error!r}"
            changed = [what for what, bits in self.bits().items() if bits != before[what]]
            if isinstance(error, mbros.FaultError | mbros.GimbalLockError):     # of a step, or seen after one; those before were good
                changed = [what for what in changed if what not in ("plants", "last step") and self.name in ONE_STEP]
            assert not changed, f"{hostile.words(error)} was raised, and this has changed: {', '.join(changed)}"
            return "refused"
        except Exception as error:
            raise AssertionError(f"raised {hostile.words(error)}") from error
        assert self.name in calls.UNGUARDED or finite(result), f"returned {result!r:.300}"
        self.subject.check()
        return "done"

    def bits(self) -> dict[str, bytes]:
        """What a refusal must leave alone: states, plants, and the arrays handed in, but for the state's own workspace."""
        found = {"states": self.subject.states(), "last step": self.subject.last_step(), "plants": self.subject.plants()}
        for k, x in enumerate(self.arguments):
            if isinstance(x, np.ndarray) and x.dtype != object and x.base is not self.subject.memory:
                found[f"argument {k}"] = x.tobytes()
        return found

    def __str__(self):
        words = ", ".join(hostile.words(x) for x in self.arguments)
        state = ", in a state with a wild number" * self.spoiled
        return f"{self.subject.name}: {self.name}({words}), exchanged {self.changes}{state}"


def finite(x) -> bool:
    """Whether no number in a result is NaN or infinite."""
    if isinstance(x, (float, complex, np.floating)):
        return bool(np.isfinite(x))
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "fc" or bool(np.isfinite(x).all())
    if isinstance(x, (list, tuple)):
        return all(map(finite, x))
    if isinstance(x, dict):
        return all(map(finite, x.values()))
    return all(finite(getattr(x, name)) for name in ("R", "p", "values") if isinstance(getattr(x, name, None), np.ndarray))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int, default=100_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")         # NumPy's, about numbers that are cut and arrays that are bent
    start = time.monotonic()
    counts = run(options.seed, options.operations, print)
    print(f"{options.operations} operations with seed {options.seed} in {time.monotonic() - start:.0f} s: {counts}")


if __name__ == "__main__":
    main()
