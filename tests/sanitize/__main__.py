"""python -m tests.sanitize [--quick] [address] [thread] [-- words for pytest]

The compiled parts built once more with the sanitizers of gcc, in a copy of the sources under build/sanitize, and the tests that exercise
them. address: memory errors and undefined behaviour, over the plain builds of the engine (double, two lanes, one direction), the loop and
the data plane. thread: data races, over the loop. --quick is what CI does: one engine, and tests that take a minute.

A report of any process, also of one that a test started and expected to fail, ends the run. Each run begins with faults put in on
purpose (faults.cpp), which must be reported. What is not ours is named, with its reason, in tests/sanitize/*.supp and OPTIONS below.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

MODULES = {"address": "double,lanes2,dual2,small,callbacks,loop,jitter,shared,dataplane,ending,geometry,scene,solver,devices,commanded,"
                      "pushes",
           "thread": "double,small,callbacks,loop,jitter,shared,dataplane,ending,devices,commanded,pushes"}
QUICK_MODULES = {"address": "double,small,callbacks,loop,dataplane", "thread": "double,small,callbacks,loop"}
ENGINE = ["tests/engine", "tests/forces", "tests/identities", "tests/geometry", "tests/constraints", "tests/refusals", "tests/diff",
          *(f"tests/{name}.py" for name in (
              "physics/test_contact_laws", "physics/test_reactions", "model/test_model", "model/test_setting_states",
              *(f"simulate/test_{part}" for part in (
                  "fault_words", "interrupts", "simulator", "time", "saving", "prescribed", "motions", "disturbances", "servo_commands",
                  "injected", "sources", "lockstep", "recorder", "recording", "rollout", "rollout_carried", "rollout_parameters", "benches",
                  *(f"bench_{of}" for of in ("actuators", "brake", "channels", "commands", "elastic", "faults", "fault_triggers", "live",
                                             "live_faults", "loads", "sensors", "streams", "threads"))))))]
TESTS = {"address": [ENGINE, ["tests/realtime"], ["tests/ros"]],
         "thread": [["tests/realtime"], ["tests/engine/test_threads.py"], ["tests/ros/test_ending.py"]]}
QUICK_TESTS = {"address": [["tests/engine/test_plant.py", "tests/refusals/test_checked_arguments.py", "tests/realtime/test_loop_engine.py",
                            "tests/realtime/test_loop_life.py", "tests/ros/test_ros_dataplane.py", "-m", "not slow and not ros"]],
               "thread": []}
FUZZ = {"address": [["decoder", "--count", "200000"], ["operations", "--count", "40000"]], "thread": []}
QUICK_FUZZ = {"address": [["decoder", "--count", "20000"]], "thread": []}

# Tests that cannot be right here, and why. Both sanitizers answer mlock, munlock and mlockall themselves and lock nothing. Two tests
# preload a malloc of their own in place of the sanitizer. Two build programs with a thread sanitizer of their own, which another
# sanitizer cannot share a process with. The sanitizers' memory about memory is large and has
# page faults of its own (a process grows by more than what it asks for), and their malloc is not the one that a node's page counts.
LOCKS = [f"tests/realtime/test_loop_memory.py::test_trial_C11_{name}" for name in (
    "a_loop_locks_what_it_touches_and_not_the_process", "pages_that_loops_share_are_unlocked_with_the_last",
    "what_somebody_else_had_locked_stays_locked", "the_loops_stack_is_locked", "a_finite_limit_is_kept_and_may_be_enough",
    "no_page_fault_with_locked_memory_and_an_output")] + ["tests/realtime/test_loop_memory.py::test_devices_and_their_tables_are_locked"]
MALLOC = ["tests/realtime/test_loop_thread.py::test_zero_allocations_by_a_preloaded_malloc_that_counts",
          "tests/geometry/test_geometry_allocates_nothing.py"]
NODES_MEMORY = [f"tests/ros/test_ros_memory.py::test_trial_{name}" for name in (
    "C10_the_page_says_what_the_node_counts", "C11_the_node_locks_what_its_loop_touches")]
STATES_MEMORY = "tests/engine/test_trial_size.py::test_trial_A12_ten_thousand_links_in_little_memory"
FAULTLESS = "tests/realtime/test_loop_thread.py::test_no_page_fault_after_the_warm_up"
NOT_HERE = {"address": [*LOCKS, *MALLOC, *NODES_MEMORY, STATES_MEMORY, FAULTLESS, "tests/realtime/test_loop_races.py",
                        "tests/realtime/test_mailbox_stress.py"],
            "thread": [*LOCKS, *MALLOC, FAULTLESS]}

FAULTS = {"address": {"past_the_end": "heap-buffer-overflow", "overflow": "signed integer overflow"}, "thread": {"race": "data race"}}

LIBRARIES = {"address": ["libasan.so", "libstdc++.so"], "thread": ["libtsan.so"]}
OPTIONS = {
    # Leaks are not looked for: CPython and its extension modules keep memory to the end. What is asked for too much gives
    # NULL, as malloc does, so that MemoryError can be tested. rclpy's libraries free with another function than they
    # allocate with (alloc_dealloc_mismatch).
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=20000:alloc_dealloc_mismatch=0:"
                    f"detect_stack_use_after_return=0:exitcode=99:suppressions={HERE}/address.supp",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:suppressions={HERE}/undefined.supp",
    # Races between two places that were not compiled for this (CPython, NumPy, Fast DDS) cannot be judged. A test starts a loop in a fork.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66:die_after_fork=0:"
                    f"suppressions={HERE}/thread.supp",
}


def say(*words):
    print(*words, flush=True)


def copy_sources(tree: Path) -> None:
    """The files of the repository, with their times, so that only what has changed is compiled again; what is gone, is gone."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = {name for name in filter(None, listed.stdout.split("\0")) if (ROOT / name).is_file()}
    for name in names:
        source, copy = ROOT / name, tree / name
        if not (copy.exists() and copy.stat().st_mtime == source.stat().st_mtime):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    kept = tree / "copied.txt"
    for name in set(kept.read_text().split("\0") if kept.exists() else []) - names:
        (tree / name).unlink(missing_ok=True)
    kept.write_text("\0".join(sorted(names)))


def library(name: str) -> str:
    """The path of a library of the compiler's, to be loaded before Python itself."""
    path = subprocess.run([os.environ.get("CXX", "g++").split()[0], f"-print-file-name={name}"], capture_output=True,
                          text=True).stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"{name} was not found: the sanitizers need g++ (on Debian or Ubuntu: sudo apt install g++)")
    return path


def reports(tree: Path) -> list[Path]:
    """Files with a fault in them; more memory than there is, asked for and refused (a MemoryError), is none."""
    harmless = "AddressSanitizer failed to allocate"
    return [path for path in sorted(tree.glob("report.*"))
            if any(line and harmless not in line for line in path.read_text(errors="replace").splitlines())]


def environment(kind: str, tree: Path) -> dict:
    options = {name: f"{value}:log_path={tree}/report" for name, value in OPTIONS.items()}
    preloaded = [*map(library, LIBRARIES[kind]), *([str(tree / "hear.so")] if kind == "address" else [])]
    return {**os.environ, **options, "PYTHONPATH": str(tree), "PYTHONMALLOC": "malloc", "MBROS_ENGINE": "baseline",
            "MBROS_REPORT": f"{tree}/report", "MBROS_PATIENCE": "300", "LD_PRELOAD": " ".join(preloaded)}


def build(kind: str, tree: Path, modules: str) -> None:
    say(f"sanitize {kind}: compiling {modules}")
    log = tree / "build.txt"
    with log.open("w") as file:
        done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=tree, stdout=file, stderr=subprocess.STDOUT,
                              env={**os.environ, "MBROS_SANITIZE": kind, "MBROS_ONLY": modules})
    if done.returncode:
        raise SystemExit(log.read_text()[-4000:])
    copy_other_modules(tree, modules.split(","))


def copy_other_modules(tree: Path, built: list[str]) -> None:
    """Put the plain build of each module that is not in `built` into the tree, older than every source: a longer run compiles it."""
    for package in ("mbros_core", "mbros"):
        for source in (ROOT / package).rglob("_*.so"):
            copy = tree / source.relative_to(ROOT)
            if source.name.partition(".")[0][1:] not in built and copy.parent.is_dir():
                shutil.copy(source, copy)
                os.utime(copy, (0, 0))


def start(kind: str, tree: Path, command: list, **options) -> int:
    """One command in the sanitized tree; whoever is started by it is sanitized as well."""
    fixed = ["setarch", "-R"] if kind == "thread" and shutil.which("setarch") else []      # its shadow memory has a fixed place
    return subprocess.run([*fixed, *command], cwd=tree, env=environment(kind, tree), stdin=subprocess.DEVNULL, **options).returncode


def run(kind: str, tree: Path, command: list) -> bool:
    """Whether a command ends well and without a report."""
    say(f"sanitize {kind}: {' '.join(command[1:])}")
    code = start(kind, tree, command)
    for report in reports(tree):
        say(report.read_text(errors="replace")[:20_000])
    return code == 0 and not reports(tree)


def shared_library(tree: Path, name: str, *flags: str) -> None:
    """tests/sanitize/NAME.cpp as a library of the sanitized tree."""
    compiler = os.environ.get("CXX", "g++").split()
    subprocess.run([*compiler, "-g", "-O1", "-shared", "-fPIC", "-pthread", *flags, "-o", str(tree / f"{name}.so"),
                    str(HERE / f"{name}.cpp"), "-ldl"],
                   check=True)


def see_faults(kind: str, tree: Path) -> None:
    """Make each fault of faults.cpp: a sanitizer that says nothing about it would say nothing about ours."""
    shared_library(tree, "hear")
    shared_library(tree, "faults", *{"address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
                                     "thread": ["-fsanitize=thread"]}[kind])
    for fault, words in FAULTS[kind].items():
        code = start(kind, tree, [sys.executable, "-c", f"import ctypes; ctypes.CDLL('./faults.so').{fault}(8)"], stderr=subprocess.DEVNULL)
        said = "".join(report.read_text(errors="replace") for report in reports(tree))
        if code == 0 or words not in said:
            raise SystemExit(f"the fault {fault!r} was not reported: exit code {code}, and {said or 'no word'}")
        for report in reports(tree):
            report.unlink()


def see_modules(kind: str, tree: Path) -> None:
    """The tests will see the sanitized modules."""
    where = ("import mbros_core, sys; "
             "sys.exit(not mbros_core.Model.__module__.endswith('._double') or sys.argv[1] not in mbros_core.__file__)")
    if start(kind, tree, [sys.executable, "-c", where, str(tree)]):
        raise SystemExit(f"the modules in {tree} are not those that would be tested, or do not load")


def without_ros(tests: list) -> list:
    """The tests that a machine without ROS 2 can run."""
    if importlib.util.find_spec("rclpy"):
        return tests
    say("sanitize: no ROS 2 here: without tests/ros")
    return [test for test in tests if not test.startswith("tests/ros")]


def main() -> int:
    words = sys.argv[1:]
    extra = words[words.index("--") + 1:] if "--" in words else []
    words = words[:words.index("--")] if "--" in words else words
    quick = "--quick" in words
    kinds = [word for word in words if word in MODULES] or (["address"] if quick else list(MODULES))
    if set(words) - {"--quick", *MODULES}:
        raise SystemExit(__doc__)
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--durations=0", "--durations-min=20", "-o",
              "timeout=1200"]
    for kind in kinds:
        tree = ROOT / "build" / "sanitize" / kind
        copy_sources(tree)
        build(kind, tree, (QUICK_MODULES if quick else MODULES)[kind])
        for report in tree.glob("report.*"):
            report.unlink()
        see_faults(kind, tree)
        see_modules(kind, tree)
        tests = filter(None, map(without_ros, (QUICK_TESTS if quick else TESTS)[kind]))
        commands = [[*pytest, *(f"--deselect={test}" for test in NOT_HERE[kind]), *paths, *extra] for paths in tests]
        commands += [[sys.executable, "-m", "tests.fuzz", *words] for words in (QUICK_FUZZ if quick else FUZZ)[kind]]
        if not all(run(kind, tree, command) for command in commands):
            return 1
    say(f"sanitize: nothing found ({', '.join(kinds)}{', the quick part' if quick else ''})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
