"""The expression graph of an algorithm of one robot, in the order in which it is computed."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mbros_core.algorithms import kernels
from mbros_core.joints.registry import BY_NAME

PER_CYCLE = 4
LONGEST = 40                    # coordinates of a chain, up to which its mass matrix is tried: the graph of longer ones is very large
BY_EITHER_WAY = ("forward_dynamics", "midpoint", "semi_implicit_euler", "rk4")      # in mbros_core/algorithms/own_axes_dynamics.pxd
NODE = 0x7FFD                   # the highest 16 bits of an operand that is a node (mbros_core/traced.hpp)


@dataclass(frozen=True)
class Node:
    """The result of an operation, by its number."""

    number: int


class Graph:
    """operations[k] on operands[k] gives node k; outputs: (where, index, operand) of what is written.

    `order` has the nodes that some output needs, each after its operands.
    """

    def __init__(self, table: np.ndarray, outputs: Iterable[tuple[str, np.ndarray]], names: tuple[str, ...]) -> None:
        self.operations = [names[k] for k in table[:, 0]]
        operands = _operands(table[:, 1:])
        self.operands: list[list[Any]] = [row[:_ARITY.get(name, 2)] for name, row in zip(self.operations, operands, strict=True)]
        self.outputs: list[tuple[str, int, Any]] = [(where, i, row[0]) for where, bits in outputs
                                                    for i, row in enumerate(_operands(bits[:, None]))]
        self.order = self._needed()

    def _needed(self) -> list[int]:
        """The nodes that outputs need, in the order of the algorithm, in which few are alive at a time."""
        stack = [root.number for _, _, root in self.outputs if isinstance(root, Node)]
        found: set[int] = set()
        while stack:
            k = stack.pop()
            if k not in found:
                found.add(k)
                stack += [x.number for x in self.operands[k] if isinstance(x, Node)]
        return sorted(found)

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


def trace(spec: Any, what: str, live: Iterable[int] = ()) -> Graph:
    """The graph of a kernel (mbros_core.algorithms.kernels) of a compiled robot, the quickest there is; live: places of State._inputs that
    stay inputs."""
    return min(ways(spec, what, live), key=Graph.cost)


def ways(spec: Any, what: str, live: Iterable[int] = ()) -> Iterator[Graph]:
    """Its graphs: forward dynamics and steps, by the articulated bodies, and by the mass matrix where chains are not long."""
    from mbros_core import _traced

    tracer = _traced.Tracer(_traced.Model(spec))
    for through_M in (False, True) if what in BY_EITHER_WAY and _depth(spec) <= LONGEST else (False,):
        yield Graph(*tracer.trace(what, tuple(live), through_M), _traced.OPERATIONS)


def _depth(spec: Any) -> int:
    """The most coordinates that are between a body and the world."""
    depth = [0]
    for kind, parent in zip(spec.joint_kind[1:], spec.parent[1:], strict=True):
        depth.append(depth[parent] + BY_NAME[kind].nv)
    return max(depth)


def is_given(place: float) -> bool:
    return kernels.GIVEN <= place < kernels.STEP
