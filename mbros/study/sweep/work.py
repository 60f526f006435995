"""What a worker does with some cases of a sweep, and what it sends back."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.errors import MbrosError
from mbros.study.sweep.cases import Case
from mbros.study.sweep.table import Results

Run = Callable[[Case], Any]
KINDS = "biufcU"            # of arrays: truth values, numbers, text


def work(run: Run, cases: list[Case]) -> tuple[Results, dict[int, str]]:
    """(results, errors) of these cases. An error of one case is its own; what ends a program ends this."""
    results: Results = {}
    errors: dict[int, str] = {}
    for case in cases:
        try:
            results[case.index] = arrays(case, run(case))
        except Exception as error:
            errors[case.index] = f"{type(error).__name__}: {error}"
    return results, errors


def arrays(case: Case, result: Any) -> dict[str, np.ndarray]:
    """What run returned, {name: number or array}; a number alone is the result "result"."""
    if not isinstance(result, Mapping):
        result = {"result": result}
    taken = {}
    for name, value in result.items():
        if not isinstance(name, str) or not name or name in case:
            raise MbrosError(f"result {name!r}: expected a name, and one that no value of the case has")
        array = np.asarray(value) if value is not None else np.empty((), object)
        if array.dtype.kind not in KINDS:
            raise MbrosError(f"result {name!r}: expected a number, a word, or an array of numbers, got {short(value)}")
        taken[name] = array.copy()
    return taken
