"""Robots for the URDF reader, grown by atheris: its coverage of the reader's own code leads the changes.

Whatever the text, the reader gives a robot or an error of the family in bounded time; a robot it gives has accelerations.
"""
import importlib
import subprocess
import sys
from pathlib import Path

from tests.fuzz.findings import CORPUS, FINDINGS, ROOT, keep

LONGEST = 1 << 14                                # of a text, bytes
SLOW_S, LARGE_MB = 20, 2000                      # more for one text is a finding


def check(data: bytes) -> None:
    import numpy as np

    import mbros
    from mbros.describe.urdf import is_text

    text = data.decode("utf-8", "replace")
    if not is_text(text):
        text = "<" + text                        # a path otherwise
    try:
        model = mbros.load(text)
        state = model.default_state()
        found = model.forward_dynamics(state, np.zeros(model.nv))
    except mbros.MbrosError as error:
        assert str(error), "an error without a word"
        return
    assert np.isfinite(found).all(), f"accelerations {found}"


def run(seconds: float, seed: int, count: int | None = None) -> int:
    """Let atheris work for a time; returns how many texts it tried."""
    return grow("urdf", [CORPUS / "urdf", ROOT / "mbros" / "build" / "robots"], seconds, seed, count)


def grow(target: str, seeds: list[Path], seconds: float, seed: int, count: int | None) -> int:
    """run() of the module tests.fuzz.<target>, in a process of its own (its end is not ours to decide). seeds: folders to begin with."""
    grown = FINDINGS.parent / target
    for folder in (grown, FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(FINDINGS.iterdir())
    limits = [f"-max_total_time={max(1, round(seconds))}"] if not count else [f"-runs={count}"]
    command = [sys.executable, "-m", f"tests.fuzz.{target}", *limits, f"-seed={seed}", f"-max_len={LONGEST}", f"-timeout={SLOW_S}",
               f"-rss_limit_mb={LARGE_MB}", f"-dict={Path(__file__).with_name(target)}.dict",
               f"-artifact_prefix={FINDINGS}/", "-print_final_stats=1",
               str(grown), *map(str, seeds)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=seconds + 300)
    new = [path for path in FINDINGS.iterdir() if path not in before and path.name.startswith(("crash-", "timeout-", "oom-", "leak-"))]
    for path in new:
        print(keep(target, path.read_bytes(), done.stdout[-6000:]))
        path.unlink()
    if done.returncode or new:
        print(done.stdout[-3000:] if not new else "", flush=True)
        raise SystemExit(1)
    (tried,) = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("stat::number_of_executed_units")]
    return int(tried)


def repeat(data: bytes) -> None:
    check(data)


def main(reader="mbros.describe.urdf"):
    """What run() starts: libFuzzer's own arguments. reader: the module whose coverage counts."""
    import atheris

    with atheris.instrument_imports(include=["mbros"]):
        import mbros
        importlib.import_module(reader)
        mbros.load("pendulum")                   # what is imported when first used

    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
