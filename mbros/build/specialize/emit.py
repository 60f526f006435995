"""Straight-line C of expression graphs: one statement a node, over a type R that the text around it defines.

R is a double, or a vector of doubles (gcc's vector extension); the same text is compiled with both. Contractions to fma are the
compiler's. Graphs longer than CHUNK become several functions, which hand numbers on through an array: compilers take much more than
twice as long for a block of twice the length, and what they keep on the stack in it is more code than the array.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isinf, isnan

from mbros.build.specialize.graph import Graph, Node

CHUNK = 1000                    # statements in a function
SHALLOW = 3                     # operations from the inputs to an angle whose sine is taken with the others

_BINARY = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_CALLS = {"sqrt": "ROOT", "exp": "EXP", "tanh": "TANH", "atan2": "ATAN2"}


def literal(x: float) -> str:
    """A constant that reads back as the same double."""
    if isnan(x):
        return "(double)NAN"
    if isinf(x):
        return "(double)INFINITY" if x > 0 else "(-(double)INFINITY)"
    return repr(x) if x >= 0 and str(x)[0] != "-" else f"({x!r})"


class Emitter:
    """The functions of one graph. read(place): C of an input; write(where, index): C of what an output is assigned to; late: outputs
    are written after all has been read, as a step writes over what it began from."""

    def __init__(self, graph: Graph, read: Callable[[float], str], write: Callable[[str, int], str], late: bool,
                 gather: bool = True) -> None:
        self.graph, self.read, self.write, self.late = graph, read, write, late
        self.pairs = self._sines_and_cosines()
        self.gathered = self._known_at_once() if gather else []
        self.masks = {k for k in graph.order if graph.operations[k] in ("less", "nonzero")}
        self.spelled: dict[int, str] = {}                      # of nodes that have a name of their own now

    def _sines_and_cosines(self) -> dict[int, tuple[int, int]]:
        """{node: (sine, cosine)} of the same angle, where both are needed."""
        of: dict[tuple[str, int], int] = {}
        for k in self.graph.order:
            if self.graph.operations[k] in ("sine", "cosine"):
                of[self.graph.operations[k], self.graph.operands[k][0].number] = k
        pairs = {}
        for (kind, angle), k in of.items():
            other = of.get(("cosine" if kind == "sine" else "sine", angle))
            if other is not None:
                pairs[k] = (k, other) if kind == "sine" else (other, k)
        return pairs

    def _known_at_once(self) -> list[int]:
        """The sines of pairs whose angle takes a few operations on inputs: they are computed first, all together."""
        depth: dict[int, int] = {}
        for k in self.graph.order:
            steps = [depth.get(x.number, 0) for x in self.graph.operands[k] if isinstance(x, Node)]
            depth[k] = 0 if self.graph.operations[k] == "input" else 1 + max(steps, default=0)
        sines = dict.fromkeys(self.pairs[k][0] for k in self.graph.order if k in self.pairs)
        chosen = [k for k in sines if depth[self.graph.operands[k][0].number] <= SHALLOW]
        return chosen if len(chosen) > 1 else []

    def _order(self) -> list[tuple[str, int]]:
        """("node", k) of all nodes; where some angles are gathered, these first, then ("angles", 0)."""
        first: list[int] = []
        for k in self.gathered:
            stack = [self.graph.operands[k][0].number]
            while stack:
                first.append(stack.pop())
                stack += [x.number for x in self.graph.operands[first[-1]] if isinstance(x, Node)]
        before = dict.fromkeys(reversed(first))
        made = {n for k in self.gathered for n in self.pairs[k]}
        rest = [("node", k) for k in self.graph.order if k not in before and k not in made]
        return [*(("node", k) for k in before), *([("angles", 0)] if self.gathered else []), *rest]

    def text(self, name: str, parameters: str, arguments: str, head: str) -> str:
        """The C of function `name`, and of the parts it is made of. parameters: as declared; arguments: as handed on; head: what each
        function begins with."""
        chunks = self._chunks()
        if len(chunks) == 1:
            body = self._body(chunks[0], {})
            return f"void {name}({parameters})\n{{\n{head}{body}}}\n"
        kept = self._handed_on(chunks)
        parts = [f"static NOINLINE void {name}_part{i}({parameters}, R* z)\n{{\n{head}{self._body(chunk, kept)}}}\n\n"
                 for i, chunk in enumerate(chunks)]
        calls = "".join(f"    {name}_part{i}({arguments}, z);\n" for i in range(len(chunks)))
        return f"{''.join(parts)}void {name}({parameters})\n{{\n    R z[{max(kept.values(), default=0) + 1}];\n{calls}}}\n"

    def _chunks(self) -> list[list[tuple[str, int]]]:
        """("node", k) and ("output", i) in order, in lists of about CHUNK."""
        after: dict[int, list[int]] = {}
        rest = []
        for i, (_, _, operand) in enumerate(self.graph.outputs):
            if isinstance(operand, Node) and not self.late:
                after.setdefault(operand.number, []).append(i)
            else:
                rest.append(i)
        items = []
        for kind, k in self._order():
            items.append((kind, k))
            for n in [k] if kind == "node" else [n for sine in self.gathered for n in self.pairs[sine]]:
                items += [("output", i) for i in after.get(n, ())]
        items += [("output", i) for i in rest]
        count = max(1, -(-len(items) // CHUNK))
        size = -(-len(items) // count) if items else 1
        return [items[i:i + size] for i in range(0, len(items), size)] or [[]]

    def _needed(self, item: tuple[str, int]) -> list[int]:
        """The nodes that an item reads, through masks and inputs, which are spelled out where they are used."""
        kind, k = item
        if kind == "output":
            operands = [self.graph.outputs[k][2]]
        elif kind == "angles":
            operands = [self.graph.operands[sine][0] for sine in self.gathered]
        else:
            operands = list(self.graph.operands[k]) if self.graph.operations[k] != "input" else []
        found = []
        for x in operands:
            if isinstance(x, Node):
                found += self._needed(("node", x.number)) if x.number in self.masks else [x.number]
        return [k for k in found if self.graph.operations[k] != "input" or self.late]

    def _handed_on(self, chunks: list[list[tuple[str, int]]]) -> dict[int, int]:
        """{node: place in z} of what another chunk than its own reads."""
        home: dict[int, int] = {}
        last: dict[int, int] = {}
        for c, chunk in enumerate(chunks):
            for kind, k in chunk:
                made = [n for sine in self.gathered for n in self.pairs[sine]] if kind == "angles" else []
                if kind == "node" and k not in self.masks:
                    made = [k, *self.pairs.get(k, ())]
                for n in made:
                    home.setdefault(n, c)
                for x in self._needed((kind, k)):
                    last[x] = c
        crossing = sorted((k for k in last if last[k] > home[k]), key=lambda k: home[k])
        places: dict[int, int] = {}
        free: list[int] = []
        alive: list[tuple[int, int]] = []
        used = 0
        for k in crossing:
            for entry in [entry for entry in alive if entry[0] < home[k]]:
                alive.remove(entry)
                free.append(entry[1])
            place = free.pop() if free else used
            used += place == used
            places[k] = place
            alive.append((last[k], place))
        return places

    def _body(self, chunk: list[tuple[str, int]], kept: dict[int, int]) -> str:
        lines: list[str] = []
        self.spelled = {}
        for kind, k in chunk:
            if kind == "node":
                if k not in self.masks and k not in self.spelled:
                    self._state(k, lines, kept)
            elif kind == "angles":
                self._state_angles(lines, kept)
            else:
                where, index, operand = self.graph.outputs[k]
                target = self.write(where, index)
                value = self._spell(operand, lines, kept)
                lines.append(f"    {target} = {value if isinstance(operand, Node) else f'CONSTANT({value})'};\n")
        return "".join(lines)

    def _spell(self, x: Node | float, lines: list[str], kept: dict[int, int]) -> str:
        """An operand in C; what is not at hand yet is fetched first."""
        if not isinstance(x, Node):
            return literal(x)
        k = x.number
        if k in self.masks:
            operands = [self._spell(y, lines, kept) for y in self.graph.operands[k]]
            return f"{operands[0]} < {operands[1]}" if self.graph.operations[k] == "less" else f"{operands[0]} != 0.0"
        if k not in self.spelled:
            if self.graph.operations[k] == "input" and k not in kept:
                self._state(k, lines, kept)
            else:
                lines.append(f"    const R t{k} = z[{kept[k]}];\n")
                self.spelled[k] = f"t{k}"
        return self.spelled[k]

    def _state(self, k: int, lines: list[str], kept: dict[int, int]) -> None:
        """The statement of node k."""
        operation = self.graph.operations[k]
        made = [k]
        if operation == "input":
            lines.append(f"    const R t{k} = {self.read(self.graph.operands[k][0])};\n")
        elif k in self.pairs:
            made = list(self.pairs[k])
            angle = self._spell(self.graph.operands[k][0], lines, kept)
            lines.append(f"    R t{made[0]}, t{made[1]};\n    SINCOS({angle}, t{made[0]}, t{made[1]});\n")
        else:
            lines.append(f"    const R t{k} = {self._expression(operation, k, lines, kept)};\n")
        self._keep(made, lines, kept)

    def _state_angles(self, lines: list[str], kept: dict[int, int]) -> None:
        """All that are gathered."""
        n = len(self.gathered)
        angles = [self._spell(self.graph.operands[k][0], lines, kept) for k in self.gathered]
        lines.append(f"    const R angles[{n}] = {{{', '.join(angles)}}};\n    R sines[{n}], cosines[{n}];\n"
                     "    SINES(angles, sines, cosines);\n")
        for i, sine in enumerate(self.gathered):
            for k, name in zip(self.pairs[sine], ("sines", "cosines"), strict=True):
                lines.append(f"    const R t{k} = {name}[{i}];\n")
            self._keep(self.pairs[sine], lines, kept)

    def _keep(self, made: Iterable[int], lines: list[str], kept: dict[int, int]) -> None:
        """Nodes have their names now; those that another part reads are handed on."""
        for n in made:
            self.spelled[n] = f"t{n}"
            if n in kept:
                lines.append(f"    z[{kept[n]}] = t{n};\n")

    def _expression(self, operation: str, k: int, lines: list[str], kept: dict[int, int]) -> str:
        x = [self._spell(operand, lines, kept) for operand in self.graph.operands[k]]
        if operation in _BINARY:
            return f"{x[0]} {_BINARY[operation]} {x[1]}"
        if operation == "negate":
            return f"-{x[0]}"
        if operation == "select":
            values = [text if isinstance(operand, Node) else f"CONSTANT({text})"
                      for text, operand in zip(x[1:], self.graph.operands[k][1:], strict=True)]
            return f"SELECT({x[0]}, {values[0]}, {values[1]})"
        if operation in ("sine", "cosine"):
            return f"{'SINE' if operation == 'sine' else 'COSINE'}({x[0]})"
        arguments = [text if isinstance(operand, Node) else f"CONSTANT({text})"
                     for text, operand in zip(x, self.graph.operands[k], strict=True)]
        return f"{_CALLS[operation]}({', '.join(arguments)})"
