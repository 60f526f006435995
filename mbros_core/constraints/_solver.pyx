# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, embedsignature=True, auto_pickle=False
"""The convex problem of contact and constraints, solved (docs/contact.md)."""
import numpy as np
cimport numpy as cnp

from libc.string cimport memcpy
from posix.time cimport CLOCK_THREAD_CPUTIME_ID, clock_gettime, timespec

from mbros_core.engine.arrays cimport constants_of, doubles_of, ints_of
from mbros_core.constraints.newton cimport Report, cost_of, solve, solve_bilateral, solve_linear
from mbros_core.constraints.problem cimport EQUALITY, Problem, add_block, add_term, lay_out, problem_doubles

from mbros_core.constraints.given import block_of, mass_of, numbers, tree_of
from mbros_core.constraints.results import ConvexSolution
from mbros_core.errors import MbrosError
from mbros_core.support.numbers import is_whole, short

cnp.import_array()


# ------------------------------------------------------------------------------------------------ for compiled modules

cdef int solve_problem(Problem* p, double tolerance, int most_iterations, Report* report) noexcept nogil:
    """newton.pxd"""
    return solve(p, tolerance, most_iterations, report)


cdef int solve_with_factor(Problem* p, double* rhs) noexcept nogil:
    """rhs := H^-1 rhs at the solution (newton.pxd)."""
    return solve_linear(p, rhs)


# ----------------------------------------------------------------------------------------------------------- for Python

cdef class ConvexProblem:
    """v = argmin 1/2 (v - v*)^T M (v - v*) + sum of l(y), y = J v - target.

    M (nv, nv): symmetric, positive definite. v_star (nv,). blocks: a list of (J (rows, nv), target (rows,), terms) of 1 to 6 rows;
    terms: a list of (potential, first row in the block, rows, weight, bound):
    "equality"    1/2 weight |y|^2
    "one_sided"   1/2 weight min(y, 0)^2, of one row
    "friction"    1/2 weight |y|^2 up to |y| = bound / weight, beyond it bound |y| and a constant, of 1 to 3 rows
    tree (nv,): the coordinate before each on the way to the root or -1, whose paths hold all of M; None finds one.
    """

    def __cinit__(self, M, v_star, blocks=(), tree=None):
        mass = mass_of(M)
        cdef int nv = len(mass)
        free = numbers("v_star", v_star, (nv,))
        paths = tree_of(tree, mass)
        rows = [block_of(k, block, nv) for k, block in enumerate(blocks)]
        sizes = [len(rows), sum(len(b.J) for b in rows), sum(len(b.terms) for b in rows), sum(len(b.dofs) for b in rows),
                 sum(b.J.size for b in rows)]
        cdef int nb = sizes[0], nr = sizes[1], nt = sizes[2], nd = sizes[3], ne = sizes[4]
        memory = np.zeros(problem_doubles(nv, nb, nr, nt, nd, ne) + 1)
        lay_out(&self.c, doubles_of(memory, 1), nv, nb, nr, nt, nd, ne)
        self.held = (mass, free, paths, memory)
        self.c.M, self.c.v_star, self.c.tree = doubles_of(mass, 2), doubles_of(free, 1), ints_of(paths, 1)
        for b in rows:
            self.fill(b)

    cdef int fill(self, b) except -1:
        cdef Problem* p = &self.c
        cdef int n = add_block(p, len(b.J), len(b.dofs))
        cdef int k
        for k in range(p.block[n].dofs):
            p.dof[p.block[n].first_dof + k] = b.dofs[k]
        memcpy(p.J + p.block[n].first_entry, constants_of(b.J, 2), <size_t>b.J.size * sizeof(double))
        memcpy(p.target + p.block[n].row, constants_of(b.target, 1), <size_t>b.target.size * sizeof(double))
        for term in b.terms:
            add_term(p, term.potential, p.block[n].row + <int>term.row, term.rows, term.weight, term.bound)
        return 0

    cdef int start(self, object v) except -1:
        guess = self.held[1] if v is None else numbers("v", v, (self.c.nv,))
        memcpy(self.c.v, constants_of(guess, 1), self.c.nv * sizeof(double))
        return 0

    def solve(self, v=None, tolerance=1e-8, iterations=50):
        """The ConvexSolution by Newton's method from v (nv,) (default: v_star), to a residual of `tolerance` in at most so many
        iterations."""
        cdef double most = tolerance_of(tolerance)
        cdef int times = times_of("iterations", iterations)
        self.start(v)
        with nogil:
            solve(&self.c, most, times, &self.report)
        return self.solution()

    def solve_bilateral(self, tolerance=1e-8, iterations=50):
        """The same of a problem whose terms are all equalities, at once."""
        cdef double most = tolerance_of(tolerance)
        cdef int times = times_of("iterations", iterations)
        cdef int k
        for k in range(self.c.nterms):
            if self.c.term[k].potential != EQUALITY:
                raise MbrosError(f"ConvexProblem.solve_bilateral: term {k} is one-sided or friction; expected equalities alone; use solve")
        self.start(None)
        with nogil:
            solve_bilateral(&self.c, most, times, &self.report)
        return self.solution()

    cdef object solution(self):
        cdef Problem* p = &self.c
        cdef int k
        v, y, impulses = np.empty(p.nv), np.empty(p.nrows), np.empty(p.nrows)
        for k in range(p.nv):
            v[k] = p.v[k]
        for k in range(p.nrows):
            y[k], impulses[k] = p.y[k], p.impulse[k]
        return ConvexSolution(v, y, impulses, self.report.iterations, self.report.evaluations, bool(self.report.converged),
                              self.report.residual, cost_of(p))

    def solve_linear(self, rhs):
        """H^-1 rhs (nv,), H = M + J^T d2l/dy2 J at the last solution."""
        x = numbers("rhs", rhs, (self.c.nv,))
        cdef double* out = doubles_of(x, 1)
        cdef int done
        with nogil:
            done = solve_linear(&self.c, out)
        if not done:
            raise MbrosError("ConvexProblem: H is not positive definite at the last solution; solve first")
        return x

    def poison(self, value=float("nan")):
        """Put `value` into every number of the workspace, for tests: no result may depend on it."""
        cdef double x = value
        cdef Py_ssize_t k
        for k in range(self.c.ndoubles):
            self.c.doubles[k] = x
        self.c.factored = 0

    def refuses_more(self):
        """What add_block and add_term return where the room is used up, as it is here from the beginning, for tests."""
        return add_block(&self.c, 1, 1), add_term(&self.c, 0, 0, 1, 1.0, 0.0)

    def nanoseconds(self, v=None, tolerance=1e-8, iterations=50, rounds=1, forget=False):
        """ns of this thread's CPU time of one solution from v, on the mean of `rounds` without the interpreter. forget: also make the
        pattern of the factor again in each."""
        cdef double most = tolerance_of(tolerance)
        cdef int times = times_of("iterations", iterations)
        cdef int many = times_of("rounds", rounds)
        cdef bint again = forget
        self.start(v)
        guess = np.array(self.held[1] if v is None else v, dtype=float)
        cdef const double* first = constants_of(guess, 1)
        cdef long long start
        cdef long long took
        cdef int k
        with nogil:
            start = thread_ns()
            for k in range(many):
                memcpy(self.c.v, first, self.c.nv * sizeof(double))
                if again:
                    self.c.known = 0
                solve(&self.c, most, times, &self.report)
            took = thread_ns() - start
        return took / <double>many


cdef double tolerance_of(tolerance) except -1.0:
    cdef double found = float(numbers("tolerance", tolerance, ()))
    if found < 0.0:
        raise MbrosError(f"ConvexProblem: tolerance is {found:g}; expected zero or more")
    return found


cdef int times_of(str what, n) except -1:
    if not is_whole(n) or not 0 <= n < 10**9:
        raise MbrosError(f"ConvexProblem: {what}: expected a whole number from 0 to 1e9, got {short(n)}")
    return n


cdef long long thread_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return 1000000000 * <long long>now.tv_sec + now.tv_nsec
