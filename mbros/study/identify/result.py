"""What an identification found: values and uncertainties by the names of parameters, as a table, in a state, in a file."""
from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import State

from mbros.arguments import check_model
from mbros.errors import MbrosError
from mbros.model.parameters import limits, put_all
from mbros.study.identify import parameter_file

if TYPE_CHECKING:
    from mbros import Model
    from mbros.study.identify.base import BaseParameters
    from mbros_core.typing import Array

COVERAGE = 2.0          # an uncertainty is so many standard deviations: 95 % of a normal distribution (GUM)


@dataclass
class Found:
    """values and deviations {name: a number or (k,)}: what was found, and its standard deviation; before: what the model had."""

    model: Model
    values: dict[str, Any]
    deviations: dict[str, Any]
    before: dict[str, Any]

    def apply(self, target: Model | State) -> State:
        """Set the values in a state, all of them or none; of a model, in a new state of it. Returns the state."""
        if not isinstance(target, State):
            check_model("apply", target)
        state = target if isinstance(target, State) else target.default_state()
        model: Any = state.model
        put_all(model, state.copy(), self.parameters)
        put_all(model, state, self.parameters)
        return state

    @property
    def parameters(self) -> dict[str, Any]:
        """The values that are parameters of a model."""
        return {name: value for name, value in self.values.items() if name != "delay"}

    def write(self, path: str | PathLike[str]) -> None:
        """A parameter file: for `mbros run --parameters`, and for the node (--ros-args --params-file). The table is in its comments."""
        parameter_file.write(path, self.parameters, str(self))

    def rows(self) -> list[tuple[str, float, float, float, str]]:
        """(name, before, now, standard deviation, unit) of every number."""
        found = []
        for name, value in self.values.items():
            unit = "s" if name == "delay" else limits(self.model, name)[1].partition(" or ")[0]
            triples = [np.atleast_1d(x) for x in (self.before[name], value, self.deviations[name])]
            for k, numbers in enumerate(zip(*(x.tolist() for x in triples))):
                found.append((name if len(triples[0]) == 1 else f"{name}[{k}]", *numbers, unit))
        return found

    def table(self) -> list[str]:
        """The lines of a table of all values, with their uncertainties."""
        width = max([len(row[0]) for row in self.rows()] + [9])
        lines = [f"{'parameter':{width}s} {'before':>12s} {'found':>12s} {'+- (2 sd)':>10s}  unit"]
        return lines + [f"{name:{width}s} {old:12.5g} {new:12.5g} {COVERAGE * sd:10.2g}  {unit}"
                        for name, old, new, sd, unit in self.rows()]


@dataclass
class Identification(Found):
    """What torques say of a robot's parameters (mbros.identify).

    base: the combinations of parameters that torques show, with base_values (r,), base_covariance (r, r) and base_deviations (r,).
    condition: of the base columns divided by their norms; about 1 to 100 is good excitation. weak: base parameters that this motion does
    not show, whose uncertainty is more than their size. unseen: parameters that none shows: their values are the model's.
    residual (nv,): root mean square of what is left of tau, N m or N. values are those of a body that can be.
    """

    base: BaseParameters = field(repr=False)
    base_values: Array = field(repr=False)
    base_covariance: Array = field(repr=False)
    condition: float
    residual: Array
    samples: int

    @property
    def base_deviations(self) -> Array:
        return np.sqrt(np.diag(self.base_covariance))

    @property
    def weak(self) -> tuple[str, ...]:
        wrong = COVERAGE * self.base_deviations > np.abs(self.base_values)
        return tuple(name for name, is_weak in zip(self.base.names, wrong) if is_weak)

    @property
    def unseen(self) -> tuple[str, ...]:
        return self.base.unseen

    def base_table(self) -> str:
        """Values and uncertainties of the base parameters."""
        return "\n".join(f"{value:13.6g} +- {COVERAGE * sd:8.2g}  {name}" for value, sd, name in
                         zip(self.base_values, self.base_deviations, self.base.names))

    def __str__(self) -> str:
        lines = [f"{self.samples} samples, {len(self.base)} base parameters of {len(self.base.columns)}, condition {self.condition:.3g}; "
                 f"left of tau: {', '.join(f'{x:.3g}' for x in self.residual)}", *self.table()]
        if self.weak:
            lines.append(f"weak in this motion ({len(self.weak)}): {'; '.join(self.weak)}")
        if self.unseen:
            lines.append(f"seen in no motion: {', '.join(self.unseen)}")
        return "\n".join(lines)


def chosen_names(who: str, model: Model, parameters: Any, known: tuple[str, ...],
                 more: tuple[str, ...] = ()) -> list[str]:
    """Names of parameters out of names and kinds: "friction" stands for friction of every joint. more: words that are taken as they are."""
    from mbros.arguments import entries
    from mbros.errors import unknown

    words = [parameters] if isinstance(parameters, str) else entries(parameters)
    if not words:
        raise MbrosError(f"{who}: parameters: expected names such as 'friction' or 'mass.link7', got {parameters!r}")
    found: dict[str, None] = {}
    for word in words:
        kind = word.partition(".")[0] if isinstance(word, str) else ""
        of_kind = [name for name in model.parameter_names if name.partition(".")[0] == kind]
        if word in more:
            found[word] = None
        elif kind in known and (word == kind and of_kind or word in of_kind):
            found.update(dict.fromkeys(of_kind if word == kind else [word]))
        else:
            names = (*more, *known, *(name for name in model.parameter_names if name.partition(".")[0] in known))
            raise unknown("parameter", word, who, names)
    return list(found)
