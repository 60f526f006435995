"""The expression graph of an algorithm of one robot, in the order in which it is computed."""
from __future__ import annotations

import copy
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mbros_core.algorithms import kernels
from mbros_core.joints.registry import BY_NAME

PER_CYCLE = 4
SHORT = 1000                    # operations, of which a processor has most in view
LONGEST = 40                    # coordinates of a chain, up to which its mass matrix is tried: the graph of longer ones is very large
BY_EITHER_WAY = ("forward_dynamics", "midpoint", "semi_implicit_euler", "rk4")      # in mbros_core/algorithms/own_axes_dynamics.pxd
NODE = 0x7FFD                   # the highest 16 bits of an operand that is a node (mbros_core/scalar/traced.hpp)


@dataclass(frozen=True)
class Node:
    """The result of an operation, by its number."""

    number: int


class Graph:
    """operations[k] on operands[k] gives node k; outputs: (where, index, operand) of what is written.

    `order` has the nodes that some output needs, each after its operands. through_M: forward dynamics by the mass matrix.
    """

    def __init__(self, table: np.ndarray, outputs: Iterable[tuple[str, np.ndarray]], names: tuple[str, ...],
                 through_M: bool = False) -> None:
        self.through_M = through_M
        self.operations = [names[k] for k in table[:, 0]]
        operands = _operands(table[:, 1:])
        self.operands: list[list[Any]] = [row[:_ARITY.get(name, 2)] for name, row in zip(self.operations, operands, strict=True)]
        self.outputs: list[tuple[str, int, Any]] = [(where, i, row[0]) for where, bits in outputs
                                                    for i, row in enumerate(_operands(bits[:, None]))]
        self.order = self._needed()

    def _needed(self) -> list[int]:
        """The nodes that outputs need, in the order of the algorithm, in which few are alive at a time."""
        return sorted(self._below([root.number for _, _, root in self.outputs if isinstance(root, Node)]))

    def _below(self, stack: list[int], made: Container[int] = ()) -> set[int]:
        """These nodes and all that they need, but what is made already."""
        found: set[int] = set()
        while stack:
            k = stack.pop()
            if k not in found and k not in made:
                found.add(k)
                stack += [x.number for x in self.operands[k] if isinstance(x, Node)]
        return found

    def ordered(self, lanes: bool) -> Graph:
        """The same in an order that runs quicker, where it goes by the mass matrix: pivot by pivot, each just after what it needs, so that
        rows of M are eliminated while they are at hand. A short one for one robot begins with all that given torques are needed for: its
        chain waits for results, as that of the pivots does, and the processor looks far enough ahead to compute both at once."""
        if not self.through_M:
            return self
        given = {k for k in self.order if self.operations[k] == "input" and is_given(self.operands[k][0])}
        first = [] if lanes or len(self) > SHORT else [k for k in self.order if any(isinstance(x, Node) and x.number in given
                                                                                    for x in self.operands[k])]
        made: dict[int, None] = {}
        for root in [*first, *(k for k in self.order if self.operations[k] == "divide"), *self.order]:
            made.update(dict.fromkeys(sorted(self._below([root], made))))
        other = copy.copy(self)
        other.order = list(made)
        return other

    def __len__(self) -> int:
        return len(self.order)

    def cost(self) -> float:
        """An estimate of the cycles it takes: its operations, PER_CYCLE at a time, and its longest chain, which waits for results."""
        ready: dict[int, int] = {}
        for k in self.order:
            operands = [ready[x.number] for x in self.operands[k] if isinstance(x, Node)]
            ready[k] = max(operands, default=0) + _LATENCY.get(self.operations[k], 3)
        return len(self.order) / PER_CYCLE + max(ready.values(), default=0)


_LATENCY = {"input": 0, "negate": 0, "divide": 13, "sqrt": 20, "sine": 40, "cosine": 40, "exp": 40, "tanh": 40, "atan2": 40}
_ARITY = {"input": 1, "negate": 1, "sqrt": 1, "sine": 1, "cosine": 1, "exp": 1, "tanh": 1, "nonzero": 1, "select": 3}


def _operands(bits: np.ndarray) -> list[list[Any]]:
    bits = np.ascontiguousarray(bits)
    nodes, numbers, values = (bits >> np.uint64(48)) == NODE, bits & np.uint64(0xFFFFFFFF), bits.view(float)
    return [[Node(int(n)) if is_node else float(x) for is_node, n, x in zip(*rows, strict=True)]
            for rows in zip(nodes, numbers, values, strict=True)]


def trace(spec: Any, what: str, live: Iterable[int] = (), frame: int = 0) -> Graph:
    """The graph of a kernel (mbros_core.algorithms.kernels) of a compiled robot, the quickest there is; live: places of State._inputs that
    stay inputs; frame: row of the frame table, of a kernel of one frame."""
    return min(ways(spec, what, live, frame), key=Graph.cost)


def ways(spec: Any, what: str, live: Iterable[int] = (), frame: int = 0) -> Iterator[Graph]:
    """Its graphs: forward dynamics and steps, by the articulated bodies, and by the mass matrix where chains are not long."""
    from mbros_core.engine import _traced

    tracer = _traced.Tracer(_traced.Model(spec))
    for through_M in (False, True) if what in BY_EITHER_WAY and _depth(spec) <= LONGEST else (False,):
        yield Graph(*tracer.trace(what, tuple(live), through_M, frame), _traced.OPERATIONS, through_M)


def _depth(spec: Any) -> int:
    """The most coordinates that are between a body and the world."""
    depth = [0]
    for kind, parent in zip(spec.joint_kind[1:], spec.parent[1:], strict=True):
        depth.append(depth[parent] + BY_NAME[kind].nv)
    return max(depth)


def is_given(place: float) -> bool:
    return kernels.GIVEN <= place < kernels.STEP
