"""The convex solver for other compiled modules: compiled once, called through these functions."""
from mbros_core.constraints.newton cimport Report
from mbros_core.constraints.problem cimport Problem

cdef class ConvexProblem:
    cdef Problem c                  # its pointers are into `held`
    cdef Report report
    cdef object held
    cdef int fill(self, b) except -1
    cdef int start(self, object v) except -1
    cdef object solution(self)

cdef int solve_problem(Problem* p, double tolerance, int most_iterations, Report* report) noexcept nogil
cdef int solve_with_factor(Problem* p, double* rhs) noexcept nogil
