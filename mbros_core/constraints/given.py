"""What users give to ConvexProblem, checked, as the arrays that the solver reads."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros_core.errors import MbrosError, WrongTypeError
from mbros_core.support.given import bounded
from mbros_core.support.numbers import counted, floats, is_whole, short

if TYPE_CHECKING:
    from mbros_core.typing import Array, NDArray

POTENTIALS = ("equality", "one_sided", "friction")      # numbers as in problem.pxd
MOST_ROWS = {"equality": 6, "one_sided": 1, "friction": 3}
LARGEST = 1e100                                         # its square is a finite number
WHO = "ConvexProblem"


class TermRow(NamedTuple):
    potential: int
    row: int
    rows: int
    weight: float
    bound: float


class BlockRows(NamedTuple):
    """J (rows, dofs) of the columns that are not zero, which are `dofs`, in descending order."""

    J: Array
    dofs: list[int]
    target: Array
    terms: list[TermRow]


def numbers(what: str, value: object, shape: Sequence[int | None]) -> Array:
    """`value` as float64 of this shape (None: any length), finite, none beyond LARGEST."""
    return np.array(bounded(WHO, what, value, shape, LARGEST), dtype=np.float64, order="C")


def mass_of(M: object) -> Array:
    """M, symmetric and positive definite."""
    found = floats(M)
    n = found.shape[0] if found is not None and found.ndim == 2 else 1
    array = numbers("M", M, (n, n))
    if not n or not (array == array.T).all():
        raise MbrosError(f"{WHO}: M: expected a symmetric matrix, got {short(M)}")
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError:
        raise MbrosError(f"{WHO}: M is not positive definite; its eigenvalues are {short(np.linalg.eigvalsh(array).tolist())}") from None
    return array


def tree_of(tree: object, M: Array) -> NDArray[np.intc]:
    """The coordinate before each on the way to the root; for None the smallest tree on whose paths all of M lies."""
    n = len(M)
    below = [set(np.flatnonzero(M[i, :i]).tolist()) for i in range(n)]
    if tree is None:
        found = np.full(n, -1, dtype=np.intc)
        for k in range(n - 1, -1, -1):
            if below[k]:
                found[k] = max(below[k])
                below[found[k]] |= below[k] - {int(found[k])}
        return found
    found = np.asarray(tree)
    if found.shape != (n,) or found.dtype.kind not in "iu" or not ((found >= -1) & (found < np.arange(n))).all():
        raise MbrosError(f"{WHO}: tree: expected {counted(n)}, each a smaller coordinate or -1, got {short(tree)}")
    for i in range(n):
        path, j = set(), int(found[i])
        while j >= 0:
            path.add(j)
            j = int(found[j])
        if not below[i] <= path:
            raise MbrosError(f"{WHO}: M[{i}, {min(below[i] - path)}] is not zero; expected numbers on the paths of tree only")
    return np.ascontiguousarray(found, dtype=np.intc)


def block_of(k: int, block: Any, nv: int) -> BlockRows:
    """One of blocks: (J (rows, nv), target (rows,), terms)."""
    who = f"blocks[{k}]"
    if not isinstance(block, (tuple, list)) or len(block) != 3:
        raise WrongTypeError(f"{WHO}: {who}: expected (J, target, terms), got {short(block)}")
    J = numbers(f"{who} J", block[0], (None, nv))
    if not 1 <= len(J) <= 6:
        raise MbrosError(f"{WHO}: {who} J: expected 1 to 6 rows, got {len(J)}")
    dofs = np.flatnonzero((J != 0.0).any(axis=0))[::-1].tolist() or [0]
    if not isinstance(block[2], Iterable):
        raise WrongTypeError(f"{WHO}: {who} terms: expected a list, got {short(block[2])}")
    terms = [term_of(f"{who} term {t}", term, len(J)) for t, term in enumerate(block[2])]
    target = numbers(f"{who} target", block[1], (len(J),))
    return BlockRows(np.ascontiguousarray(J[:, dofs]), dofs, target, sorted(terms, key=lambda t: t.row))


def term_of(who: str, term: Any, rows: int) -> TermRow:
    """(potential, first row in the block, rows, weight, bound)."""
    if not isinstance(term, (tuple, list)) or len(term) != 5 or term[0] not in POTENTIALS or not all(map(is_whole, term[1:3])):
        raise WrongTypeError(f"{WHO}: {who}: expected (one of {', '.join(POTENTIALS)}; first row, rows, weight, bound), got {short(term)}")
    kind, first, count = term[:3]
    if not 0 <= first < rows or not 1 <= count <= min(rows - first, MOST_ROWS[kind]):
        raise MbrosError(f"{WHO}: {who}: rows {first} to {first + count - 1} of a block of {rows}; expected some of its rows, "
                         f"at most {MOST_ROWS[kind]} for {kind}")
    weight, bound = (float(numbers(f"{who} {name}", x, ())) for name, x in (("weight", term[3]), ("bound", term[4])))
    if weight < 0.0 or bound < 0.0:
        raise MbrosError(f"{WHO}: {who}: weight {weight:g} and bound {bound:g}; expected zero or more")
    return TermRow(POTENTIALS.index(kind), first, count, weight, bound)
