"""A fault script in cases that any process can run: from its file, its robot and its controller, and back as text."""
from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbros_core.support.fingerprint import fingerprint

from mbros.build.load import load
from mbros.build.one_robot import named_by_data
from mbros.build.readers import ALL_ENDINGS
from mbros.describe.devices.script import BASE, read_script
from mbros.errors import MbrosError, unknown
from mbros.names import printable
from mbros.study.faults.report import Report, Result, judged
from mbros.study.faults.runs import CalledController, FaultTrial, NoController, of_controller
from mbros.study.sweep.sweep import sweep

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.script import Script
    from mbros.study.faults.runs import Controller, Trace

MOST_BYTES = 1 << 26        # of a file that a campaign's digest is made of


class FaultCampaign:
    """What sweep() calls with each case, {case, repetition}; another process reads the script anew. Arguments: those of trial_of."""

    changed = "the script, its robot, its bench, its controller or mbros itself has changed since"

    def __init__(self, *given: Any) -> None:
        self.given, self.trial = given, trial_of(*given)
        self._base: tuple[int, Trace] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self.given}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(*state["given"])        # type: ignore[misc]

    @property
    def digest(self) -> str:
        """Of everything that decides the results."""
        from mbros import __version__

        script = self.trial.script
        parts: list[Any] = [__version__, fingerprint(self.trial.model.spec), repr(self.trial.rows)]
        programs = [word.rpartition(":")[0] if ".py:" in word else word for words in (script.controller or {}).values() for word in words]
        files = [script.file, *(script.near(name) for name in [*programs, *([] if script.bench is None else [script.bench])])]
        parts += [hashlib.sha256(Path(file).read_bytes()).hexdigest() if os.path.isfile(file) and os.path.getsize(file) < MOST_BYTES
                  else file for file in files]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    def cases(self) -> list[dict[str, Any]]:
        """By repetition, so that a process runs what is without a fault as seldom as can be."""
        return [{"case": name, "repetition": k} for k in range(self.trial.script.repetitions)
                for name in (BASE, *(case.name for case in self.trial.cases))]

    def base(self, repetition: int) -> Trace:
        if self._base is None or self._base[0] != repetition:
            self._base = repetition, self.trial.run(None, repetition)
        return self._base[1]

    def __call__(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name, k = given["case"], given["repetition"]
        base = self.base(k)
        case = next((case for case in self.trial.cases if case.name == name), None)
        run = base if case is None else self.trial.run(case, k)
        return {"result": json.dumps(judged(self.trial, run, base, name, k).packed())}

    def run(self, workers: int | None = 1, checkpoint: str | None = None, progress: Callable[[int, int], Any] | None = None) -> Report:
        """All of it. MbrosError where a run without a fault, or a controller before any, could not be."""
        script = self.trial.script
        if script.controller is not None and "ros" in script.controller and workers != 1:
            raise MbrosError("faults run: a controller on ROS 2 is alone in its domain: expected one worker; leave --workers out")
        if checkpoint is None or workers == 1:
            self.base(0)                    # what is wrong without a fault is said at once
        table = sweep(self.cases(), self, workers=workers, checkpoint=checkpoint, progress=progress or False)
        for text in table.errors.values():
            raise MbrosError(text.partition(": ")[2])
        results = [Result.unpacked(json.loads(str(text))) for text in table["result"]]
        names = [script.limits_of] if script.limits_of else []
        return Report(self.trial.model.name, script.duration, [one for one in results if one.name == BASE and not one.kinds],
                      [one for one in results if one.name != BASE or one.kinds],
                      list(dict.fromkeys([*names, *(one.name for one, _ in self.trial.criteria)])))


def trial_of(path: str, pattern: str = "*", robot: str | None = None, programs: bool = False,
             package_dirs: Sequence[str] = ()) -> FaultTrial:
    """The script on its robot or another one, checked, with the cases of that pattern. programs: whether the controller that it names may
    be run."""
    script = read_script(path, robot)
    model = load(robot or named_by_data(path, script.near(script.robot) if script.robot.endswith(ALL_ENDINGS) else script.robot),
                 package_dirs=package_dirs)
    holder: list[FaultTrial] = []
    trial = FaultTrial(script, model, controller_of(script, lambda: holder[0], programs))
    holder.append(trial)
    names = [case.name for case in trial.cases]
    trial.cases = [case for case in trial.cases if fnmatchcase(case.name, pattern)]
    if not trial.cases:
        raise unknown("case", pattern, script.file, names)
    return trial


def controller_of(script: Script, trial: Callable[[], FaultTrial], programs: bool) -> Callable[[Model], Controller]:
    """What makes a controller for each run."""
    if script.controller is None:
        return lambda model: NoController()
    if not programs:
        named = script.controller.get("python") or script.controller.get("ros")
        shown = printable(" ".join(map(str, named or [])), 100)
        raise MbrosError(f"{script.file} names a controller, which is a program ({shown}); a script may be somebody else's: read "
                         "it, and say --controller to run it")
    if "python" in script.controller:
        made = function_of(script, script.controller["python"][0])
        return lambda model: CalledController(made, model)
    words = script.controller["ros"]

    def start(model: Model) -> Controller:
        from mbros.ros.process.controller_process import LockstepController, folder_of, measured

        command = [sys.executable if word == "python3" and k == 0 else word for k, word in enumerate(words)]
        return LockstepController(command, folder_of(script.file), measured(trial().rows, trial().joints), script.timeout)

    return start


def function_of(script: Script, text: str) -> Any:
    """What "file.py:name" names; the file stands beside the script."""
    file, _, name = text.rpartition(":")
    path = script.near(file)
    if not os.path.isfile(path):
        raise MbrosError(f"controller, python: there is no file {path!r}; it is sought beside the script")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    of_controller("when it is read", spec.loader.exec_module, module)
    if not callable(getattr(module, name, None)):
        raise unknown("function or class", name, path, [word for word in vars(module) if callable(vars(module)[word])])
    return getattr(module, name)
