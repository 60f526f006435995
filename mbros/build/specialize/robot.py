"""mbros.specialize: a model whose algorithms are compiled for this one robot."""
from __future__ import annotations

import ctypes
import dataclasses
import re
import time
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core.algorithms import kernels
from mbros_core.engine.fields import FIELDS
from mbros_core.support.numbers import short

from mbros.arguments import check_model, finite, reals
from mbros.build.specialize import compiler
from mbros.build.specialize.graph import trace
from mbros.build.specialize.source import HEAD, Places, kernel
from mbros.errors import MbrosError, MbrosWarning, UnknownNameError
from mbros.model.model import Model

if TYPE_CHECKING:
    from mbros_core.engine._engine import State

STANDARD = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "kinematics", "midpoint", "forward_dynamics_derivatives",
            "inverse_dynamics_derivatives")
# Velocities up to which these are compiled: where they are quicker than the general engine's, which take vectors, and compile in seconds.
MOST = {"forward_dynamics_derivatives": 12, "inverse_dynamics_derivatives": 18}
SNAP = 1e-15
FIELDS_THAT_LIVE = ("external_force", *(row.name for row in FIELDS if row.stage == "parameter" and row.name not in
                                         ("lock", "contact_parameters", "constraint_parameters")))


@dataclasses.dataclass(frozen=True)
class Code:
    """What was compiled for a model: which functions, which parameters stay live, how long it took (0: found in the cache), s, and how many
    operations each function has."""

    functions: tuple[str, ...]
    live: tuple[str, ...]
    snap: float
    cache: str | None
    seconds: float
    operations: dict[str, int]
    places: tuple[int, ...]
    libraries: dict[str, Any]

    @staticmethod
    def again(make: Any, description: Any, compiled: Any, functions: tuple[str, ...], live: tuple[str, ...], snap: float,
              cache: str | None) -> Model:
        """What a copy or pickle of a specialised model is made of."""
        return specialize(make(description, compiled), functions, live, snap=snap, cache=cache)

    def attach(self, engine: Any, key: str) -> None:
        """Give a compiled robot of the double (key "one") or of the lanes module ("lanes") these functions."""
        library = self.libraries[key]
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in self.functions}
        engine._specialise(addresses, self.places, library)


def specialize(model: Model, functions: Iterable[str] = STANDARD, live: Iterable[str] = (), *, snap: float = SNAP,
               cache: str | PathLike[str] | None = None) -> Model:
    """The same robot as a model whose algorithms are compiled for it alone: straight-line code in which its constants are folded.

    It takes the place of `model` everywhere: calls, batches, Simulator, rollouts, the real-time loop, the node. A state whose external
    wrenches, locks and parameters are the model's own goes through that code, any other through the general engine, with the same
    results to 1e-13; nothing has to be chosen or switched.

    functions: of mbros_core.algorithms.kernels: forward_dynamics, inverse_dynamics, forward_dynamics_derivatives,
        inverse_dynamics_derivatives, mass_matrix, kinematics, and steps by the names of integrators (midpoint, semi_implicit_euler, rk4).
        Steps of models with contact, constraints or springs between bodies, and forward dynamics with constraints, remain general; so do
        derivatives that are not analytic, or of more than 12 velocities (forward) or 18 (inverse), whose code is too long to be quick.
    live: parameters (model.parameter_names) that will change, and stay inputs of the code; or whole fields of a state (external_force,
        gravity, inertia, damping, ...).
    snap: entries of joint frames' rotations that are so close to 0, 1 or -1 become that: 1e-15 is rounding; 1e-7 takes an angle of
        1.5707963 in a file for a right angle, which changes results by as much.
    cache: the folder of compiled robots; by default ~/.cache/mbros/robots, or there in $XDG_CACHE_HOME.
    Takes seconds once, and is read from the cache from then on. Needs a C++ compiler at hand; without one a
    MbrosWarning says so, and the model returned is general. MbrosError for joints and force elements written outside mbros.
    """
    check_model("specialize", model)
    chosen, names = _names("functions", functions), _names("live", live)
    unknown = [name for name in chosen if name not in kernels.BY_NAME]
    if unknown or not chosen:
        raise UnknownNameError(f"specialize: functions: {short(unknown[0]) if unknown else 'none'}; there are "
                               f"{', '.join(kernels.BY_NAME)}")
    distance = float(finite("specialize", "snap", reals("specialize", "snap", snap, "one number"), 0.0))
    if distance > 1e-3:
        raise MbrosError(f"specialize: snap: expected at most 1e-3, beyond which a robot is another one, got {short(snap)}")
    check_written(model)
    made = Model(model._description, dataclasses.replace(model._compiled, spec=snapped(model.spec, distance)))
    places = live_places(made, names)
    possible = tuple(name for name in chosen if is_possible(made, name) and made.nv <= MOST.get(name, made.nv))
    try:
        code = _compile(made, possible, names, places, distance, cache)
    except compiler.NoCompiler as error:
        warnings.warn(f"model {model.name!r} is not specialised, and goes through the general engine: {error}", MbrosWarning, stacklevel=2)
        return made
    if possible:
        code.attach(made, "one")
    made.__dict__["_code"] = code
    return made


def _compile(model: Model, functions: Sequence[str], live: tuple[str, ...], places: tuple[int, ...], snap: float, cache: Any) -> Code:
    where = compiler.folder(cache)
    start = time.perf_counter()
    one, lanes = [HEAD], [HEAD]
    operations = {}
    at = Places(model.default_state())
    for name in functions:
        graph = trace(model.spec, name, places)
        operations[name] = len(graph)
        one.append(kernel(graph.ordered(lanes=False), name, at))
        lanes.append(kernel(graph.ordered(lanes=True), name, at))
    width = f"-DMBROS_LANES={mbros_core.lanes().Batch.lanes}"
    sources = {"one": ("".join(one), (width, "-DMBROS_ONE")), "lanes": ("".join(lanes), (width,))}
    stem = re.sub(r"\W", "_", model.name)[:40] or "robot"
    found = compiler.libraries(sources, stem, where, elsewhere=cache is None) if functions else {}
    libraries = {key: _loaded(path) for key, path in found.items()}
    return Code(tuple(functions), live, snap, None if cache is None else str(cache), time.perf_counter() - start, operations, places,
                libraries)


def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise compiler.NoCompiler(f"{path} cannot be loaded: {error}; delete it") from None


def _names(what: str, given: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise MbrosError(f"specialize: {what}: expected names, got {short(given)}")
    return tuple(dict.fromkeys(names))


def check_written(model: Model) -> None:
    """What only runs as it was compiled elsewhere has no expressions."""
    spec = model.spec
    written = [*(f"joint {name!r}" for name, kind in zip(spec.joint_names, spec.joint_kind, strict=True) if kind == "user"),
               *(f"force element {name!r}" for name, kind in zip(spec.force_names, spec.force_kind, strict=True) if kind == "user")]
    if written:
        raise MbrosError(f"specialize: model {model.name!r}: {written[0]} was written outside mbros, and its equations cannot be traced; "
                         "the general engine calls it: use the model as it is")


def is_possible(model: Model, what: str) -> bool:
    """Whether this function of the robot is straight-line code: contact and constraints are solved by iteration, and prescribed joints
    follow the time."""
    spec = model.spec
    if what not in kernels.BY_NAME:         # of positions alone
        return True
    if kernels.BY_NAME[what].derivatives:
        return model._has_slopes(what == "forward_dynamics_derivatives") and not _on_bodies(spec)
    solved = len(spec.shape_names) + len(spec.constraint_names) + _springs(spec) > 0
    if what == "forward_dynamics":
        return not spec.constraint_names
    return not (solved and kernels.BY_NAME[what].numbers == 0 and what != "kinematics")


def why_not(what: str) -> str:
    """What a model has for which is_possible says no."""
    if what in kernels.BY_NAME and kernels.BY_NAME[what].derivatives:
        return "its constraints have no analytic derivatives, and those of force elements on bodies are the general engine's alone"
    return "its contact, constraints or springs between bodies are solved by iteration"


def kernel_of(who: str, model: Model, name: str) -> tuple[kernels.Kernel, int]:
    """(the kernel that `name` says, the row of its frame in the frame table). UnknownNameError where there is none."""
    row = kernels.find(name) if isinstance(name, str) else None
    if row is None:
        raise UnknownNameError(f"{who}: no function {short(name)}; there are {', '.join(kernels.NAMES)}")
    return row, model._frame_index(row.frame) if row.frame else 0


def _springs(spec: Any) -> int:
    from mbros_core.forces.registry import spring_numbers

    return len(spring_numbers(spec))


def _on_bodies(spec: Any) -> bool:
    """Whether force elements act on bodies."""
    return bool((spec.force_body[:, 1] >= 0).any())


def snapped(spec: Any, distance: float) -> Any:
    """`spec` with the rotations of joint frames freed of what is within `distance` of 0, 1 and -1."""
    frames = np.array(spec.X_PF, float)
    rotations = frames.reshape(len(frames), -1)[:, :9]
    near = np.abs(rotations - np.round(rotations)) <= distance
    rotations[near] = np.round(rotations[near]) + 0.0
    return dataclasses.replace(spec, X_PF=frames)


def live_places(model: Model, names: Sequence[str]) -> tuple[int, ...]:
    """The places of State._inputs of parameters and fields that stay live."""
    state = model.default_state()
    places: set[int] = set()
    for name in names:
        if name in FIELDS_THAT_LIVE:
            places.update(range(start(state, name), start(state, name) + state.field(name).size))
            continue
        if name not in model._parameter_set or name.startswith("lock"):
            raise UnknownNameError(f"specialize: live: {name!r} is no parameter of model {model.name!r} that can stay live; expected one "
                                   f"of model.parameter_names but locks, or a field: {', '.join(FIELDS_THAT_LIVE)}")
        field, at, _ = model._parameter_directions(name)
        places.update(int(start(state, field) + i) for i in at)
    return tuple(sorted(places))


def start(state: State, field: str) -> int:
    """Where a field begins in State._inputs."""
    begin, there = (x.__array_interface__["data"][0] for x in (state._inputs, state.field(field)))
    return (there - begin) // 8
