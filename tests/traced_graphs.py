"""Expression graphs of robots as numbers, for the tests of what is traced."""
import math

from mbros.build.specialize.graph import Node, is_given
from mbros_core.algorithms import kernels

STEP = 1e-3
OPERATIONS = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b,
              "negate": lambda a: -a, "sqrt": math.sqrt, "sine": math.sin, "cosine": math.cos, "exp": math.exp, "tanh": math.tanh,
              "atan2": math.atan2, "less": lambda a, b: a < b, "nonzero": lambda a: a != 0.0, "select": lambda m, a, b: a if m else b}


def value(graph, state, x):
    """The outputs of a graph at a state, with x for what is given, computed one node after the other."""
    known = {}

    def at(place):
        return STEP if place >= kernels.STEP else x[int(place) - kernels.GIVEN] if is_given(place) else float(state._inputs[int(place)])

    def get(operand):
        return known[operand.number] if isinstance(operand, Node) else operand

    for k in graph.order:
        operation, operands = graph.operations[k], graph.operands[k]
        known[k] = at(operands[0]) if operation == "input" else OPERATIONS[operation](*map(get, operands))
    return [get(operand) for _, _, operand in graph.outputs]
