"""The mailbox and the ring between two C++ threads, plain and under ThreadSanitizer."""
import subprocess

import pytest
import rig as rigs

from mbros_core.realtime import get_include


def build(folder, *flags):
    compiler = rigs.compiler("c++", "g++", "clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = str(folder / "stress")
    made = subprocess.run([compiler, "-std=c++17", "-O2", "-Wall", "-Werror", "-pthread", *flags, "-I", get_include(),
                           f"{rigs.HERE}/stress.cpp", "-o", program], capture_output=True, text=True)
    return program if made.returncode == 0 else pytest.fail(made.stderr) if not flags else None


@pytest.mark.parametrize("size", [0, 1, 7, 64, 333])
def test_no_letter_is_torn_lost_in_order_or_seen_twice(tmp_path, size):
    done = subprocess.run([build(tmp_path), "200000", str(size)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"check {done.returncode} failed\n{done.stdout}{done.stderr}"
    assert "200000 posted" in done.stdout


def test_no_data_race_by_the_thread_sanitizer(tmp_path):
    program = build(tmp_path, "-fsanitize=thread", "-g")
    if program is None:
        pytest.skip("this compiler has no ThreadSanitizer")
    done = subprocess.run([program, "20000", "16"], capture_output=True, text=True, timeout=600)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not run on this kernel")
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr
