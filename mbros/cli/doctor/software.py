"""Python, NumPy, the engine, and the extras that bring robots."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from mbros.cli.doctor.machine import NOTE, OK, PROBLEM, Finding, Machine

REBUILD = "Build mbros again: pip install ."
COMPLETE = "For the rest, in the source folder: make build"


def python(machine: Machine) -> Iterator[Finding]:
    """The interpreter and NumPy."""
    version = ".".join(map(str, sys.version_info[:3]))
    where = "virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment"
    yield Finding(OK, "python", "Python", f"{version}, {where} ({sys.prefix})")
    numpy = machine.module("numpy")
    if isinstance(numpy, Exception):
        yield Finding(PROBLEM, "python", "NumPy", f"it cannot be imported: {numpy}", "pip install numpy")
    else:
        yield Finding(OK, "python", "NumPy", numpy.__version__)


def engine(machine: Machine) -> Iterator[Finding]:
    """Which builds of the engine this process chose, and that they compute."""
    from mbros.cli import version
    from mbros.errors import NotBuiltError

    core = machine.module("mbros_core")
    if isinstance(core, Exception):
        yield Finding(PROBLEM, "mbros", "engine", f"it cannot be imported: {core}",
                      "Build it: pip install . (or `make build` in the source folder).")
        return
    yield Finding(OK, "mbros", "version", f"{version()} in {Path(__file__).parents[1]}")
    there, missing = parts()
    if missing:
        yield Finding(NOTE, "mbros", "modules", f"{len(there)} of {len(there) + len(missing)} are compiled, as after `make demo`; not "
                      f"{', '.join(name.rpartition('._')[2] for name in missing)}", COMPLETE)
    double, chosen = core.Model.__module__.rpartition(".")[2], {}
    for subject, load, use, needs in (("lanes", core.lanes, "for many robots at once", "mbros.rollout needs it. "),
                                      ("dual", core.dual, "for derivatives", "mbros.diff and model.linearize need it. ")):
        try:
            chosen[subject] = load().__name__.rpartition(".")[2]
        except ImportError as error:
            chosen[subject] = "no module"
            if not (missing and isinstance(error, NotBuiltError)):
                yield Finding(PROBLEM, "mbros", subject, f"the engine {use} cannot be imported: {error}", needs + REBUILD)
    has = core.cpu.flags()
    best = "_double_v4" if has >= core.cpu.AVX512 else "_double_v3" if has >= core.cpu.AVX2 else "_double"
    vector = "AVX-512" if has >= core.cpu.AVX512 else "AVX2" if has >= core.cpu.AVX2 else "neither AVX2 nor AVX-512"
    builds = f"{double} for one robot, {chosen['lanes']} for many at once, {chosen['dual']} for derivatives (CPU: {vector})"
    if machine.env.get("MBROS_ENGINE") == "baseline":
        yield Finding(NOTE, "mbros", "engine build", builds + "; MBROS_ENGINE=baseline asks for the slowest",
                      "Unset MBROS_ENGINE, unless you compare builds.")
    elif double != best:
        yield Finding(NOTE, "mbros", "engine build", f"{builds}; this CPU could run {best}, which was not built",
                      "Install again on this machine: pip install --force-reinstall --no-deps .")
    else:
        yield Finding(OK, "mbros", "engine build", builds)
    yield smoke()


def parts() -> tuple[list[str], list[str]]:
    """(those that are there, those that are not) of the compiled modules, engines apart."""
    from mbros_core.support.not_built import modules

    return modules()


def smoke() -> Finding:
    """A simulation whose outcome is known: a pendulum keeps its energy."""
    import mbros

    try:
        sim = mbros.Simulator(mbros.load("pendulum"), integrator="rk4")
        sim.state.q[0] = 1.0
        log = sim.run(0.5)
        drift = abs(log.energy[-1] - log.energy[0])
    except Exception as error:
        return Finding(PROBLEM, "mbros", "engine", f"it does not simulate: {error}", REBUILD)
    if not drift < 1e-9:
        return Finding(PROBLEM, "mbros", "engine", f"a pendulum's energy changed by {drift:.3g} J in 0.5 s", REBUILD)
    return Finding(OK, "mbros", "engine", "simulates a pendulum and keeps its energy")


def extras(machine: Machine) -> Iterator[Finding]:
    """Extras that bring robots."""
    from mbros.describe.urdf.packages import example_robot_data

    if example_robot_data():
        yield Finding(OK, "extras", "example-robot-data", "there: panda, ur5, talos, ... by name")
    else:
        yield Finding(NOTE, "extras", "example-robot-data", "not here: only the robots shipped with mbros, and files",
                      'pip install "mbros[robots]"')
    if machine.has("xacro"):
        yield Finding(OK, "extras", "xacro", "there")
    else:
        yield Finding(NOTE, "extras", "xacro", "not here: .xacro files cannot be read", 'pip install "mbros[xacro]"')
