"""No data race between the loop's thread and those who ask it: the module itself under the ThreadSanitizer."""
import os
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
import rig as rigs
from test_loop_thread import program

import mbros_core

CORE = os.path.dirname(mbros_core.__file__)
EVERYBODY_ASKS = """
    import threading
    assert loop_module.__file__.startswith(sys.argv[1]), loop_module.__file__
    loop = Loop(rig, 1e-3, rt="off", record=64, warmup=10, real_time_factor=100.0, watchdog_timeout=0.05)

    def ask():
        for k in range(30):
            loop.statistics(), loop.state, loop.snapshot(), loop.fault, loop.privileges, loop.stop_reason, loop.paused, loop.drain()
            loop.command([0.1 * k, float("nan")])
            loop.reset([0.0, 0.0], [0.0, 0.0])
            loop.reset_statistics()

    for slots in (200, None, 1, None):
        loop.start(slots)
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        ends = [threading.Thread(target=end) for end in (loop.stop, loop.stop, lambda: loop.wait(60.0))]
        for t in ends: t.start()
        for t in ends: t.join()
        assert loop.state == "stopped"
"""


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory):
    """A folder with this mbros_core, whose _loop is built with the ThreadSanitizer."""
    pytest.importorskip("Cython")
    source, compiler = os.path.join(CORE, "realtime", "_loop.pyx"), rigs.compiler("c++", "g++")
    if compiler is None or not os.path.exists(source):
        pytest.skip("needs a C++ compiler and the sources")
    folder = tmp_path_factory.mktemp("sanitized")
    os.makedirs(folder / "mbros_core" / "realtime")
    for below in ("", "realtime"):
        for name in os.listdir(os.path.join(CORE, below)):
            if name != "realtime" and not (name.startswith("_loop") and below):
                os.symlink(os.path.join(CORE, below, name), folder / "mbros_core" / below / name)
    made = folder / "_loop.cpp"
    subprocess.run([sys.executable, "-m", "cython", "--cplus", "-3", "-I", os.path.dirname(CORE), source, "-o", made], check=True)
    includes = [f"-I{path}" for path in (os.path.dirname(CORE), CORE, os.path.join(CORE, "realtime"), np.get_include(),
                                         sysconfig.get_paths()["include"])]
    module = folder / "mbros_core" / "realtime" / ("_loop" + sysconfig.get_config_var("EXT_SUFFIX"))
    flags = ["-std=c++17", "-O0", "-fsanitize=thread", "-fPIC", "-shared", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
    done = subprocess.run([compiler, *flags, *includes, made, "-o", module], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this compiler has no ThreadSanitizer" if "tsan" in done.stderr else done.stderr)
    preload = subprocess.run([compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True).stdout.strip()
    return str(folder), preload


def test_trial_A11_no_data_race_whatever_is_asked_of_a_running_loop(sanitized, library):
    folder, preload = sanitized
    text = program(EVERYBODY_ASKS, library).replace("from mbros_core.realtime import Loop\n",
                                                    "from mbros_core.realtime import Loop, _loop as loop_module\n")
    text = text.replace("sys.path[:0] = [", f"sys.path[:0] = [{folder!r}, ")
    done = subprocess.run([sys.executable, "-c", text, folder], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LD_PRELOAD": preload, "TSAN_OPTIONS": "exitcode=66"})
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not run on this kernel")
    assert done.returncode == 0 and "WARNING: ThreadSanitizer" not in done.stderr, done.stderr[-6000:]
