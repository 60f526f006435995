"""python -m benchmarks.elements [contact|devices]: what a robot without force elements, or shapes and constraints, or a bench, pays for
their existence.

The portable engine is compiled twice from this checkout, as it is and with every call of elements (of contact) cut out of the dynamics,
or with steps that nothing can stand before (of devices), which takes a compiler and a minute or two. Both step the same robots in one
process, in turn; the ratio of each pair of neighbours is one measurement. A second copy of the first build is the control: what it
differs by is the machine (where its code and data happen to lie in memory), not the code. With valgrind installed the instructions of a
step are counted, which is exact.
"""
import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mbros
from benchmarks._timing import quiet, table

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = {"pendulum": 20000, "arm7": 4000, "humanoid": 1000}        # steps per measurement
ELEMENTS = re.compile(r"^    if m\.n(?:e|coordinate):\n        [^\n]+\n", re.MULTILINE)
CONTACT = re.compile(r"^ +if m\.scene != NULL(?: and (?:m\.nk|not touching))?:\n +[^\n]+\n", re.MULTILINE)
OF_PLANT = re.compile(r"^ +if c\.m\.scene != NULL:\n(?: +(?:c\.s\.contacts|keep_contacts|put_contacts_back)[^\n]+\n)+", re.MULTILINE)
HOOK = re.compile(r"self\.port\.step(?=\(&self\.c, )")
QUESTION = re.compile(r" and self\.c\.devices == NULL")
THROUGH = re.compile(r"    if c\.devices != NULL:\n        return c\.devices\.step[^\n]+\n")
# file, what is cut out, how often it is there, what is there instead
CUTS = {"elements": [("mbros_core/algorithms/forward_dynamics.pxd", ELEMENTS, 1, ""),
                     ("mbros_core/algorithms/inverse_dynamics.pxd", ELEMENTS, 1, ""), ("mbros_core/forces/passive.pxd", ELEMENTS, 3, "")],
        "contact": [("mbros_core/integrators/steps.pxd", CONTACT, 7, ""), ("mbros_core/engine/plug.pxi", OF_PLANT, 2, "")],
        "devices": [("mbros_core/engine/plant.pxi", HOOK, 2, "plant_step"), ("mbros_core/engine/plant.pxi", QUESTION, 1, ""),
                    ("mbros_core/engine/plug.pxi", THROUGH, 1, "")]}
INTEGRATORS = {"elements": "semi_implicit_euler", "contact": "midpoint", "devices": "midpoint"}
DT = 1e-3


def build(folder: Path, cut) -> Path:
    """<folder>.so: the portable engine, compiled from a copy of the sources in `folder`; cut: what is cut out, or None."""
    skip = shutil.ignore_patterns(".*", "*.so", "*.cpp", "docs", "tests", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=lambda where, names: skip(where, names) | ({"build"} if Path(where) == ROOT else set()))
    for name, guarded, calls, instead in CUTS[cut] if cut else ():
        text, found = guarded.subn(instead, (folder / name).read_text(encoding="utf-8"))
        if found != calls:
            raise RuntimeError(f"{name}: {found} calls of {cut} were found, {calls} expected; CUTS of this file is out of date")
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, text=True, capture_output=True,
                          env={**os.environ, "MBROS_ONLY": "double"})
    if done.returncode:
        raise RuntimeError(f"the engine could not be built:\n{done.stderr[-2000:]}")
    return Path(shutil.copy(next((folder / "mbros_core").rglob("_double.*.so")), folder.with_suffix(".so")))


def engine(path: Path, name: str):
    """The module in that file, beside the engine in use, which must be there first: they share a package."""
    importlib.import_module("mbros_core")
    spec = importlib.util.spec_from_file_location(f"{name}._double", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stepper(module, robot, integrator):
    """run(n): n steps from rest, in C."""
    model = module.Dynamics(mbros.load(robot).spec)
    plant, tau = module.Plant(model, None, DT, integrator), np.zeros(model.nv)

    def run(n):
        plant.reset()
        plant.steps(tau, n)
    return run


def times(engines, robot, integrator, rounds) -> dict[str, np.ndarray]:
    """ns per step of each engine, (rounds,): one after the other, forwards and backwards."""
    n, runs = ROBOTS[robot], {name: stepper(module, robot, integrator) for name, module in engines.items()}
    out = {name: np.empty(rounds) for name in runs}
    for k in range(rounds):
        for name in list(runs)[:: 1 if k % 2 == 0 else -1]:
            start = time.perf_counter_ns()
            runs[name](n)
            out[name][k] = (time.perf_counter_ns() - start) / n
    return out


def spread(ratio) -> str:
    """median [10 %, 90 %]"""
    low, middle, high = np.percentile(ratio, (10, 50, 90))
    return f"{middle:.3f} [{low:.3f} {high:.3f}]"


def instructions(path: Path, robot, integrator, folder: Path):
    """Instructions of a step, by valgrind, counting only what the file at `path` executes; None where that cannot be had."""
    if shutil.which("valgrind") is None:
        return None
    code = (f"import sys; from pathlib import Path; from benchmarks.elements import engine, stepper\n"
            f"stepper(engine(Path({str(path)!r}), 'counted'), {robot!r}, {integrator!r})(int(sys.argv[1]))")
    counted = []
    for n in (100, 300):
        out = folder / f"callgrind.{robot}.{n}"
        done = subprocess.run(["valgrind", "-q", "--trace-children=yes", "--tool=callgrind", f"--callgrind-out-file={out}",
                               os.path.realpath(sys.executable), "-c", code, str(n)], text=True, capture_output=True, cwd=folder,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "present"), *filter(None, sys.path)]),
                                   "MBROS_ENGINE": "baseline"})
        if done.returncode or not out.exists():
            print(f"not counted: valgrind ended with {done.returncode}: {done.stderr[-400:]}", file=sys.stderr)
            return None
        counted.append(own_cost(out.read_text(), path))
    return (counted[1] - counted[0]) / 200


def own_cost(text, path) -> int:
    """Sum of the costs of one object file in callgrind's output: `ob=(id) name` opens a part, the line after `calls=` is its callee's."""
    names, inside, callee, cost = {}, False, False, 0
    for line in text.splitlines():
        named = re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line)
        if named:
            what, ident, name = named.groups()
            names.setdefault(ident, name)
            inside = names[ident] == str(path) if what == "ob" else inside
        elif line.startswith("calls="):
            callee = True
        elif line[:1] in "+-*0123456789" and line:
            cost += int(line.split()[-1]) if inside and not callee else 0
            callee = False
    return cost


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elements", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="measurements per robot (200)")
    parser.add_argument("of", nargs="?", choices=CUTS, default="elements", help="what is cut out (elements)")
    options = parser.parse_args()
    integrator = INTEGRATORS[options.of]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        print("building the engine twice ...", flush=True)
        present, without = build(folder / "present", None), build(folder / "without", options.of)
        control = Path(shutil.copy(present, folder / "control.so"))
        engines = {key: engine(path, key) for key, path in (("present", present), ("without", without), ("control", control))}
        rows = []
        for robot in ROBOTS:
            with quiet():
                t = times(engines, robot, integrator, options.rounds)
            count = [instructions(path, robot, integrator, folder) for path in (present, without)]
            rows.append([robot, f"{t['present'].min():.0f}", f"{t['without'].min():.0f}", spread(t["present"] / t["without"]),
                         spread(t["control"] / t["present"]), *("-" if x is None else f"{x:.0f}" for x in count)])
    table(f"A step without {options.of}: portable engine, {integrator}, ns, best of {options.rounds}; ratios: median [10 % 90 %]",
          ["robot", "as it is", "cut out", "as it is / cut out", "control", "instructions", "cut out"], rows,
          ["Builds of one source differ by a few percent through the compiler's choices alone; instructions are the cost itself."])


if __name__ == "__main__":
    main()
