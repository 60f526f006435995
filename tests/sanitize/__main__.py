"""python -m tests.sanitize [--quick] [address] [thread] [-- words for pytest]

The compiled parts built once more with the sanitizers of gcc, in a copy of the sources under build/sanitize, and the tests that exercise
them. address: memory errors and undefined behaviour, over the plain builds of the engine (double, two lanes, one direction), the loop and
the data plane. thread: data races, over the loop. --quick is what CI does: one engine, and tests that take a minute.

Reports end the run. What is not ours is named, with its reason, in tests/sanitize/*.supp and OPTIONS below.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

MODULES = {"address": "double,lanes2,dual2,callbacks,loop,jitter,dataplane", "thread": "double,callbacks,loop,jitter,dataplane"}
QUICK_MODULES = {"address": "double,callbacks,loop,dataplane", "thread": "double,callbacks,loop"}
TESTS = {"address": [["tests/engine", "tests/forces", "tests/identities"], ["tests/realtime"], ["tests/ros"]],
         "thread": [["tests/realtime"], ["tests/engine/test_threads.py"]]}
QUICK_TESTS = {"address": [["tests/engine/test_plant.py", "tests/engine/test_checked_arguments.py", "tests/realtime/test_loop_engine.py",
                            "tests/realtime/test_loop_life.py", "tests/ros/test_ros_dataplane.py", "-m", "not slow and not ros"]],
               "thread": []}
FUZZ = {"address": [["decoder", "--count", "200000"], ["operations", "--count", "40000"]], "thread": []}
QUICK_FUZZ = {"address": [["decoder", "--count", "20000"]], "thread": []}

LIBRARIES = {"address": ["libasan.so", "libstdc++.so"], "thread": ["libtsan.so"]}
OPTIONS = {
    # Leaks are not looked for: CPython and its extension modules keep memory to the end. What is asked for too much gives
    # NULL, as malloc does, so that MemoryError can be tested. rclpy's libraries free with another function than they
    # allocate with (alloc_dealloc_mismatch).
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=20000:alloc_dealloc_mismatch=0:"
                    f"detect_stack_use_after_return=0:exitcode=99:suppressions={HERE}/address.supp",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:suppressions={HERE}/undefined.supp",
    # Races between two places that were not compiled for this (CPython, NumPy, Fast DDS) cannot be judged.
    "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66:suppressions={HERE}/thread.supp",
}


def say(*words):
    print(*words, flush=True)


def copy_sources(tree: Path) -> None:
    """The files of the repository, with their times, so that only what has changed is compiled again."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = ROOT / name, tree / name
        if source.is_file() and not (copy.exists() and copy.stat().st_mtime == source.stat().st_mtime):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


def library(name: str) -> str:
    """The path of a library of the compiler's, to be loaded before Python itself."""
    path = subprocess.run([os.environ.get("CXX", "g++").split()[0], f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"{name} was not found: the sanitizers need g++ (on Debian or Ubuntu: sudo apt install g++)")
    return path


def environment(kind: str, tree: Path) -> dict:
    return {**os.environ, **OPTIONS, "PYTHONPATH": str(tree), "PYTHONMALLOC": "malloc", "MBROS_ENGINE": "baseline",
            "LD_PRELOAD": " ".join(map(library, LIBRARIES[kind]))}


def build(kind: str, tree: Path, modules: str) -> None:
    say(f"sanitize {kind}: compiling {modules}")
    log = tree / "build.txt"
    with log.open("w") as file:
        done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=tree, stdout=file, stderr=subprocess.STDOUT,
                              env={**os.environ, "MBROS_SANITIZE": kind, "MBROS_ONLY": modules})
    if done.returncode:
        raise SystemExit(log.read_text()[-4000:])


def run(kind: str, tree: Path, command: list) -> int:
    """One command in the sanitized tree; whoever is started by it is sanitized as well."""
    say(f"sanitize {kind}: {' '.join(command[1:])}")
    fixed = ["setarch", "-R"] if kind == "thread" and shutil.which("setarch") else []      # its shadow memory has a fixed place
    return subprocess.run([*fixed, *command], cwd=tree, env=environment(kind, tree), stdin=subprocess.DEVNULL).returncode


def loaded(kind: str, tree: Path) -> int:
    """Whether the tests will see the sanitized modules, and whether a report ends a process at all."""
    where = "import mbros_core, sys; sys.exit(not mbros_core.Model.__module__.endswith('._double') or sys.argv[1] not in mbros_core.__file__)"
    return run(kind, tree, [sys.executable, "-c", where, str(tree)])


def main() -> int:
    words = sys.argv[1:]
    extra = words[words.index("--") + 1:] if "--" in words else []
    words = words[:words.index("--")] if "--" in words else words
    quick = "--quick" in words
    kinds = [word for word in words if word in MODULES] or (["address"] if quick else list(MODULES))
    if set(words) - {"--quick", *MODULES}:
        raise SystemExit(__doc__)
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--durations=0", "--durations-min=20", "-o", "timeout=1200"]
    for kind in kinds:
        tree = ROOT / "build" / "sanitize" / kind
        copy_sources(tree)
        build(kind, tree, (QUICK_MODULES if quick else MODULES)[kind])
        commands = [[*pytest, *tests, *extra] for tests in (QUICK_TESTS if quick else TESTS)[kind]]
        commands += [[sys.executable, "-m", "tests.fuzz", *words] for words in (QUICK_FUZZ if quick else FUZZ)[kind]]
        if loaded(kind, tree):
            raise SystemExit(f"the modules in {tree} are not those that would be tested, or do not load")
        for command in commands:
            if run(kind, tree, command):
                return 1
    say(f"sanitize: nothing found ({', '.join(kinds)}{', the quick part' if quick else ''})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
