"""python -m tests.fuzz [urdf] [sdf] [mjcf] [decoder] [operations] [filters] [recordings] [files] [--seconds N] [--count N] [--seed N],
or TARGET --repeat FILE.

Each target works for the given time in a process of its own (or until it has made `count` tries); a finding is kept under
build/fuzz/findings with the command that repeats it, and makes the exit code 1. `make fuzz SECONDS=60` runs all of them.
"""
import argparse
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

from tests.fuzz.findings import ROOT, Journal, journal_of, keep

GROWN = ("urdf", "sdf")                           # by atheris, which keeps its findings itself
TARGETS = (*GROWN, "mjcf", "decoder", "operations", "filters", "recordings", "files")
STEP = 2000                                      # operations of one seed


def operations(seconds: float, seed: int, count: int | None) -> int:
    """Random operations on the library, STEP of each seed."""
    import time

    from tests.fuzz import operations as library
    from tests.fuzz.findings import attempt

    journal, end, tried = Journal(journal_of("operations")), time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        data = b"%d %d" % (seed + tried // STEP, STEP)
        journal.write(data)
        attempt("operations", data, lambda data: library.run(*map(int, data.split())))
        tried += STEP
    return tried


def work(target: str, options) -> int:
    """In this process: the tries, or the one that --repeat names."""
    if options.repeat:
        data = Path(options.repeat).read_bytes()
        module = importlib.import_module(f"tests.fuzz.{target}")
        module.run(*map(int, data.split())) if target == "operations" else module.repeat(data)
        print(f"{target}: nothing found in {options.repeat}")
        return 0
    do = operations if target == "operations" else importlib.import_module(f"tests.fuzz.{target}").run
    print(f"{target}: {do(options.seconds, options.seed, options.count)} tries, nothing found", flush=True)
    return 0


def guarded(target: str, words: list) -> int:
    """In a process of its own: what kills it (a signal) is a finding as well, its input is in the journal."""
    done = subprocess.run([sys.executable, "-m", "tests.fuzz", target, "--inside", *words], cwd=ROOT, stdin=subprocess.DEVNULL)
    if done.returncode < 0 and target not in GROWN:
        print(keep(target, Journal.read(journal_of(target)), f"the process was ended by signal {-done.returncode}"), flush=True)
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], default=[], metavar="target", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=20.0, help="for each target (default 20)")
    parser.add_argument("--count", type=int, help="tries of each target, instead of a time")
    parser.add_argument("--seed", type=int, default=1, help="of the first random choices (default 1)")
    parser.add_argument("--repeat", metavar="FILE", help="one finding again")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    targets = options.targets or TARGETS
    if {*GROWN} & {*targets} and not options.repeat and importlib.util.find_spec("atheris") is None:
        print("the URDF and SDF fuzzers need atheris, which is not installed: pip install 'mbros[test]'", file=sys.stderr)
        return 2
    if options.repeat or options.inside:
        return work(targets[0], options)
    words = ["--seconds", str(options.seconds), "--seed", str(options.seed), *(["--count", str(options.count)] if options.count else [])]
    return max(map(abs, [guarded(target, words) for target in targets]))


if __name__ == "__main__":
    sys.exit(main())
