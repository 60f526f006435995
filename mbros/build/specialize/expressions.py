"""mbros.symbolic: the equations of a robot as expressions of SymPy or CasADi, for who wants to look at them."""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from mbros_core.algorithms import kernels
from mbros_core.support.numbers import short

from mbros.arguments import check_model
from mbros.build.specialize.graph import Graph, Node, is_given, trace
from mbros.build.specialize.robot import SNAP, check_written, is_possible, kernel_of, live_places, snapped, start, why_not
from mbros.errors import MissingPackageError, MbrosError
from mbros.model.model import Model

WITH = {"sympy": "SymPy", "casadi": "CasADi"}


class Symbolic(NamedTuple):
    """`result` as expressions of `inputs`, {name: symbols}.

    result: (nv,) of forward and inverse dynamics, (nv, nv) of the mass matrix, (1 + 3 nv, nv) of derivatives, whose first row is what
    is differentiated, (12,), (6, nv), (3,), (3, nv) of pose, jacobian, center_of_mass, com_jacobian; {field: (n,)} where the function
    writes several. With SymPy inputs and results are lists of expressions; with CasADi they are SX columns and matrices, as
    casadi.Function takes them.
    """

    inputs: dict[str, Any]
    result: Any

    def __repr__(self) -> str:
        fields = {"result": self.result} if not isinstance(self.result, dict) else self.result
        return f"<Symbolic: {', '.join(f'{name} {np.shape(x)}' for name, x in fields.items())} of {', '.join(self.inputs)}>"


def symbolic(model: Model, function: str, live: Iterable[str] = (), *, using: str = "sympy", snap: float = SNAP) -> Symbolic:
    """The expressions of one function of mbros_core.algorithms.kernels (forward_dynamics, inverse_dynamics, mass_matrix, kinematics,
    forward_dynamics_derivatives, inverse_dynamics_derivatives, steps by the names of integrators, "pose.<frame>": its rotation row by
    row and its position, "jacobian.<frame>" in world axes, center_of_mass and com_jacobian).

    inputs: q, v, tau or vdot as the function has them, h of steps, and one more symbol for each number of the parameters that stay live
    (mbros.specialize). using: "sympy", or "casadi", whose SX expressions share their common parts. snap: as in mbros.specialize.
    SymPy's expressions are trees: those of arms of more than three joints are long. MissingPackageError without the package:
    `pip install mbros[symbolic]`.
    """
    check_model("symbolic", model)
    row, frame = kernel_of("symbolic", model, function)
    if using not in WITH:
        raise MbrosError(f"symbolic: using: expected one of {', '.join(WITH)}, got {short(using)}")
    check_written(model)
    if not is_possible(model, row.name):
        raise MbrosError(f"symbolic: {function} of model {model.name!r} has no expressions: {why_not(row.name)}")
    try:
        package = importlib.import_module(using)
    except ImportError:
        raise MissingPackageError(f"symbolic: needs {WITH[using]}: pip install mbros[symbolic]") from None
    places = live_places(model, (live,) if isinstance(live, str) else tuple(live))
    graph = trace(snapped(model.spec, snap), row.name, places, frame)
    return _expressions(graph, row, _Inputs(model, row.given, places, _symbol(package, using)), package, using)


def _symbol(package: Any, using: str) -> Callable[[str, int], Any]:
    """symbol(name, n): n symbols, name_0 to name_(n - 1)."""
    return package.SX.sym if using == "casadi" else lambda name, n: [package.Symbol(f"{name}_{i}", real=True) for i in range(n)]


class _Inputs:
    """A symbol for each input of a graph."""

    def __init__(self, model: Model, given: str, places: Iterable[int], symbol: Callable[[str, int], Any]) -> None:
        state = model.default_state()
        self.begins = {name: (start(state, name), state.field(name).size) for name in ("q", "v", "a_prev")}
        self.live = {place: i for i, place in enumerate(places)}
        self.all: dict[str, Any] = {name: symbol(name, size) for name, (_, size) in self.begins.items()}
        self.all |= {"given": symbol(given, model.nv), "parameters": symbol("p", len(self.live)), "h": symbol("h", 1)}
        self.nv = model.nv

    def at(self, place: float) -> Any:
        if place >= kernels.STEP:
            return self.all["h"][0]
        if is_given(place):
            return self.all["given"][int(place) - kernels.GIVEN]
        if int(place) in self.live:
            return self.all["parameters"][self.live[int(place)]]
        return next(self.all[name][int(place) - at] for name, (at, size) in self.begins.items() if at <= place < at + size)


def _expressions(graph: Graph, row: kernels.Kernel, inputs: _Inputs, package: Any, using: str) -> Symbolic:
    made: dict[int, Any] = {}
    operations = _operations(package, using)

    def of(x: Node | float) -> Any:
        if isinstance(x, Node):
            return made[x.number]
        return x if using == "casadi" else package.Float(x) if x != int(x) else package.Integer(int(x))

    for k in graph.order:
        name = graph.operations[k]
        operands = graph.operands[k]
        made[k] = inputs.at(operands[0]) if name == "input" else operations[name](*map(of, operands))
    results: dict[str, list[Any]] = {}
    for where, _, operand in graph.outputs:
        results.setdefault(where, []).append(of(operand))
    used = {name: inputs.all[name] for name in row.inputs}
    if row.given:
        used[row.given] = inputs.all["given"]
    if inputs.live:
        used["parameters"] = inputs.all["parameters"]
    if "a_prev" in row.fields:
        used["h"] = inputs.all["h"]
    if using == "casadi":
        columns = {name: package.SX(package.vertcat(*of_it)) for name, of_it in results.items()}
        if not row.numbers:
            return Symbolic(used, columns)
        return Symbolic(used, package.reshape(columns["y"], inputs.nv, -1).T if len(row.shape(inputs.nv)) == 2 else columns["y"])
    if not row.numbers:
        return Symbolic(used, results)
    y, n = results["y"], inputs.nv
    return Symbolic(used, [y[i:i + n] for i in range(0, len(y), n)] if len(row.shape(n)) == 2 else y)


def _operations(package: Any, using: str) -> dict[str, Callable[..., Any]]:
    plain = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b,
             "negate": lambda a: -a, "sine": package.sin, "cosine": package.cos, "sqrt": package.sqrt, "exp": package.exp,
             "tanh": package.tanh, "atan2": package.atan2}
    if using == "casadi":
        return {**plain, "less": lambda a, b: package.SX(a) < b, "nonzero": lambda a: a != 0, "select": package.if_else}
    return {**plain, "less": package.Lt, "nonzero": lambda a: package.Ne(a, 0),
            "select": lambda m, a, b: package.Piecewise((a, m), (b, True))}
