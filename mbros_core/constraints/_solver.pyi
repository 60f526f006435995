from collections.abc import Iterable, Sequence
from typing import Any

from mbros_core.constraints.results import ConvexSolution
from mbros_core.typing import Array, ArrayLike

class ConvexProblem:
    """v = argmin 1/2 (v - v*)^T M (v - v*) + sum of l(y), y = J v - target.

    M (nv, nv): symmetric, positive definite. v_star (nv,). blocks: a list of (J (rows, nv), target (rows,), terms) of 1 to 6 rows;
    terms: a list of (potential, first row in the block, rows, weight, bound):
    "equality"    1/2 weight |y|^2
    "one_sided"   1/2 weight min(y, 0)^2, of one row
    "friction"    1/2 weight |y|^2 up to |y| = bound / weight, beyond it bound |y| and a constant, of 1 to 3 rows
    tree (nv,): the coordinate before each on the way to the root or -1, whose paths hold all of M; None finds one."""
    def __new__(cls, M: ArrayLike, v_star: ArrayLike, blocks: Iterable[Sequence[Any]] = ...,
                tree: ArrayLike | None = None) -> ConvexProblem: ...
    def solve(self, v: ArrayLike | None = None, tolerance: float = 1e-8, iterations: int = 50) -> ConvexSolution:
        """The ConvexSolution by Newton's method from v (nv,) (default: v_star), to a residual of `tolerance` in at most so many
        iterations."""
    def solve_bilateral(self, tolerance: float = 1e-8, iterations: int = 50) -> ConvexSolution:
        """The same of a problem whose terms are all equalities, at once."""
    def solve_linear(self, rhs: ArrayLike) -> Array:
        """H^-1 rhs (nv,), H = M + J^T d2l/dy2 J at the last solution."""
    def poison(self, value: float = ...) -> None:
        """Put `value` into every number of the workspace, for tests: no result may depend on it."""
    def refuses_more(self) -> tuple[int, int]:
        """What add_block and add_term return where the room is used up, as it is here from the beginning, for tests."""
    def nanoseconds(self, v: ArrayLike | None = None, tolerance: float = 1e-8, iterations: int = 50, rounds: int = 1,
                    forget: bool = False) -> float:
        """ns of this thread's CPU time of one solution from v, on the mean of `rounds` without the interpreter. forget: also make the
        pattern of the factor again in each."""
