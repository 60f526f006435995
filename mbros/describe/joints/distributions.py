"""Random variables for initial poses: Uniform, Normal, Exponential, and arithmetic with them.

    a = Uniform(-1, 1)
    joint.defaults.set_random(x=a, y=2 * a + Normal(0, 0.1), theta=Exponential(3))

One object is one variable: used twice, it has one value in each draw. NumPy's functions of one or two numbers give expressions too:
np.sin(a), np.minimum(a, 0.5), np.hypot(a, b); so do abs(a) and 2 ** a.
"""
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import floats
from mbros.errors import MbrosError


class RandomExpression:
    """Something with one value per draw. + - * / ** abs() and NumPy's functions, with numbers and other expressions, give expressions."""

    def value(self, drawn: dict[Any, Any], rng: np.random.Generator) -> float:
        """The value in this draw; `drawn` holds the variables drawn so far."""
        raise NotImplementedError

    def __add__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.add, self, other)

    def __radd__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.add, other, self)

    def __sub__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.sub, self, other)

    def __rsub__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.sub, other, self)

    def __mul__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.mul, self, other)

    def __rmul__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.mul, other, self)

    def __truediv__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.truediv, self, other)

    def __rtruediv__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.truediv, other, self)

    def __pow__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.pow, self, other)

    def __rpow__(self, other: RandomExpression | float) -> RandomExpression:
        return _Operation(operator.pow, other, self)

    def __neg__(self) -> RandomExpression:
        return _Operation(operator.sub, 0.0, self)

    def __abs__(self) -> RandomExpression:
        return _Operation(np.abs, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        return _Operation(ufunc, *inputs)


class _Operation(RandomExpression):
    """A function of one or two expressions. The values are NumPy's, so that 1 / 0 is inf and no exception."""

    SIGNS = {"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "truediv": "/", "divide": "/", "pow": "**",
             "power": "**"}

    def __init__(self, apply: Callable[..., Any], *inputs: Any) -> None:
        self.apply, self.inputs = apply, tuple(expression(given) for given in inputs)

    def value(self, drawn: dict[Any, Any], rng: np.random.Generator) -> float:
        with np.errstate(all="ignore"):
            return self.apply(*(np.float64(given.value(drawn, rng)) for given in self.inputs))

    def __repr__(self) -> str:
        name = self.apply.__name__
        if name in self.SIGNS and len(self.inputs) == 2:
            return f"({self.inputs[0]!r} {self.SIGNS[name]} {self.inputs[1]!r})"
        return f"{name}({', '.join(map(repr, self.inputs))})"


class Constant(RandomExpression):
    def __init__(self, number: float) -> None:
        self.number = number

    def value(self, drawn: dict[Any, Any], rng: np.random.Generator) -> float:
        return self.number

    def __repr__(self) -> str:
        return repr(self.number)


class _Variable(RandomExpression):
    if TYPE_CHECKING:
        def draw(self, rng: np.random.Generator) -> float: ...

    def __init__(self, **parameters: Any) -> None:
        for name, given in parameters.items():
            number = floats(given)
            if number is None or number.ndim or not math.isfinite(number):
                raise MbrosError(f"{type(self).__name__}: {name} is {short(given)}; expected a finite number")
            setattr(self, name, float(number))
        self.parameters = tuple(parameters)

    def value(self, drawn: dict[Any, Any], rng: np.random.Generator) -> float:
        key = id(self)
        if key not in drawn:
            drawn[key] = float(self.draw(rng))
        return drawn[key]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{getattr(self, name):g}' for name in self.parameters)})"


class Uniform(_Variable):
    """Uniform on [low, high]."""

    low: float
    high: float

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low=low, high=high)
        if self.low > self.high:
            raise MbrosError(f"Uniform: low {self.low:g} is above high {self.high:g}")
        if not math.isfinite(self.high - self.low):
            raise MbrosError(f"Uniform: from {self.low:g} to {self.high:g} is further than numbers reach")

    def draw(self, rng: np.random.Generator) -> float:
        """A number of this distribution from rng, in the unit of what it is given for."""
        return rng.uniform(self.low, self.high)


class Normal(_Variable):
    """Normal (Gaussian) with that mean and standard deviation."""

    mean: float
    std: float

    def __init__(self, mean: float = 0.0, std: float = 1.0) -> None:
        super().__init__(mean=mean, std=std)
        if self.std < 0.0:
            raise MbrosError(f"Normal: std is {self.std:g}; expected zero or more")

    def draw(self, rng: np.random.Generator) -> float:
        """A number of this distribution from rng, in the unit of what it is given for."""
        return rng.normal(self.mean, self.std)


class Exponential(_Variable):
    """Exponential with that rate: mean 1 / rate."""

    rate: float

    def __init__(self, rate: float = 1.0) -> None:
        super().__init__(rate=rate)
        if not self.rate > 0.0:
            raise MbrosError(f"Exponential: rate is {self.rate:g}; expected more than zero")

    def draw(self, rng: np.random.Generator) -> float:
        """A number of this distribution from rng, in the unit of what it is given for."""
        return rng.exponential(1.0 / self.rate)


class UniformRotation:
    """A rotation without preferred direction, for the quaternion of a ball or floating joint."""

    def __repr__(self) -> str:
        return "UniformRotation()"


def expression(given: Any) -> RandomExpression:
    """`given` as an expression: itself, or a number."""
    if isinstance(given, RandomExpression):
        return given
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise MbrosError(f"{short(given)} is neither a finite number nor a random expression such as Uniform(0, 1)")
    return Constant(number)
