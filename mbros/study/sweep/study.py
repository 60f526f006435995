"""Sweep files: a robot, what is done with it, and the numbers that differ. Every problem is reported with its line.

    robot: arm7
    duration: 2.0
    dt: 0.001
    start: {joint2: 0.3}                                       # positions; others as the robot has them
    effort: {joint2: 5.0}
    seed: 0
    cases:                                                     # all combinations; or a list of {name: value}
      mass.link7: [0.5, 1.0, 2.0]                              # a parameter of the model
      start.joint4: {from: -1.0, to: 1.0, count: 5}
      effort.joint2: [0.0, 5.0]

Results: at the end position.<joint> and velocity.<joint> of every joint with one coordinate, energy (J), and over all steps
largest_speed.<joint>.
"""
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import DEFAULT_INTEGRATOR
from mbros_core.support.fingerprint import fingerprint

from mbros.arguments import number
from mbros.build.load import load
from mbros.build.one_robot import named_by_data
from mbros.build.readers import DATA_ENDINGS
from mbros.describe.devices.file import Reader, named
from mbros.describe.urdf.packages import beside
from mbros.errors import MbrosError, Problem
from mbros.model.parameters import is_one
from mbros.names import one_document
from mbros.simulate.simulator import Simulator
from mbros.study.sweep.cases import written

if TYPE_CHECKING:
    from mbros import Model
    from mbros.study.sweep.cases import Case

PARTS = ("robot", "duration", "dt", "integrator", "start", "effort", "seed", "cases", "ground")
NEEDED = ("robot", "duration", "cases")
GIVEN = ("start", "effort")         # of joints, for all cases or, as start.<joint>, for each
MOST_COUNT = 1_000_000              # values of a range


class Study:
    """What `mbros sweep FILE` does with each case; called with one, as sweep()'s run."""

    def __init__(self, model: Model, settings: dict[str, Any]) -> None:
        self.model, self.settings = model, settings

    @property
    def digest(self) -> str:
        """Of everything that decides the results beside the case."""
        return hashlib.sha256((written(fingerprint(self.model.spec)) + written(self.settings)).encode()).hexdigest()

    def __call__(self, case: Case) -> dict[str, Any]:
        sim, effort = self.prepared(dict(case))
        log = sim.run(self.settings["duration"], effort=effort)
        out: dict[str, Any] = {}
        joints = [joint for joint in self.model.joints if joint.nv == 1 and not joint.follows]
        for joint in joints:
            out[f"position.{joint.name}"] = float(log.q[-1, joint.q_slice.start]) if joint.nq == 1 else joint.position(sim.state)
            out[f"velocity.{joint.name}"] = float(log.v[-1, joint.v_slice.start])
        out |= {f"largest_speed.{joint.name}": float(np.abs(log.v[:, joint.v_slice]).max()) for joint in joints}
        return out | {"energy": float(log.energy[-1])}

    def prepared(self, values: dict[str, Any]) -> tuple[Simulator, dict[str, Any]]:
        """A simulator at the start of a case, and its efforts. MbrosError of the first value that cannot be."""
        sim = Simulator(self.model, self.settings["dt"], self.settings["integrator"])
        given = {name: dict(self.settings[name]) for name in GIVEN}
        for name, value in values.items():
            what, _, of = name.partition(".")
            if what in GIVEN and of:
                given[what][of] = value
            elif is_one(name):
                self.model.set_parameter(sim.state, name, value)
            else:
                raise MbrosError(f"case value {name!r}: expected a parameter of the model (mass.<body>, damping.<joint>, ...), "
                                 "start.<joint> or effort.<joint>")
        for joint, position in given["start"].items():
            self.model.joint(joint).set_position(sim.state, position)
        sim.start.assign(sim.state)
        self.model.effort_vector(given["effort"])
        return sim, given["effort"]


@one_document
def read_study(path: str | PathLike[str], package_dirs: Sequence[str] = ()) -> tuple[Any, Study, int]:
    """(cases, run, seed) of a sweep file, for sweep(cases, run, seed=seed)."""
    reader = StudyReader(named(StudyReader.what, path), package_dirs)
    return reader.cases, reader.study, reader.settings["seed"]


class StudyReader(Reader):
    """One reading of one file."""

    what = "sweep file"

    def __init__(self, path: str, package_dirs: Sequence[str] = ()) -> None:
        self.package_dirs = package_dirs
        self.cases: Any = {}
        self.settings: dict[str, Any] = {"robot": None, "ground": None, "duration": None, "dt": 1e-3, "integrator": DEFAULT_INTEGRATOR,
                                         "start": {}, "effort": {}, "seed": 0}
        parts = self.begin(path, PARTS)
        for name, (_, node) in parts.items():
            if name == "cases":
                self.cases = self.all_cases(node)
            elif name in GIVEN:
                self.settings[name] = self.words(name, node) or {}
            else:
                self.attempt(name, node, partial(self.plain, name, node), partial(self.settings.__setitem__, name))
        for name in NEEDED:
            if name not in parts:
                self.problems.append(Problem(name, "it is missing", f"A sweep file has robot, duration and cases, and may have "
                                             f"{', '.join(part for part in PARTS if part not in NEEDED)}", self.file))
        self.end()
        self.study = self.made(parts)
        self.end()

    def made(self, parts: dict[str, tuple[Any, Any]]) -> Study:
        settings = {name: value for name, value in self.settings.items() if name not in ("robot", "ground", "seed")}
        settings["duration"] = number(self.file, "duration", settings["duration"], 0.0)
        robot = named_by_data(self.file, self.settings["robot"])
        if isinstance(robot, str) and robot.endswith(DATA_ENDINGS) and "<" not in robot and "://" not in robot:
            robot = beside(robot, self.file)
        study = Study(load(robot, ground=self.settings["ground"], package_dirs=self.package_dirs), settings)
        node = parts["cases"][1]
        first = {name: values[0] for name, values in self.cases.items()} if isinstance(self.cases, dict) else {}
        self.attempt("the robot", parts["robot"][1], partial(study.prepared, {}), lambda made: None)
        for name, value in first.items():
            self.attempt(f"cases, {name}", self.mapping("cases", node)[name][1], partial(study.prepared, {name: value}), lambda made: None)
        return study

    def all_cases(self, node: Any) -> Any:
        if isinstance(node, self.yaml.SequenceNode):
            return [self.words(f"case {k}", each) or {} for k, each in enumerate(node.value)]
        return {name: self.values(name, value) for name, (_, value) in self.mapping("cases", node).items()}

    def values(self, name: str, node: Any) -> list[Any]:
        """A list, a range {from: a, to: b, count: n}, or one value."""
        if not isinstance(node, self.yaml.MappingNode):
            found: list[Any] = []
            self.attempt(f"cases, {name}", node, partial(self.plain, name, node),
                         lambda value: found.extend(value if isinstance(value, list) else [value]))
            if not found:
                self.note(f"cases, {name}", "it has no values", "Write a list: [0.5, 1.0], or {from: 0, to: 1, count: 5}.", node)
            return found or [0.0]
        words = self.words(f"cases, {name}", node) or {}
        whole = set(words) == {"from", "to", "count"} and isinstance(words["count"], int) and 1 <= words["count"] <= MOST_COUNT
        if not whole or not all(isinstance(words[word], (int, float)) for word in ("from", "to")):
            self.note(f"cases, {name}", f"it is no range: {words}", f"Write {{from: 0.0, to: 1.0, count: 5}}, 1 to {MOST_COUNT} values.",
                      node)
            return [0.0]
        with np.errstate(all="ignore"):             # what is not finite is refused where it is used
            return np.linspace(words["from"], words["to"], words["count"]).tolist()
