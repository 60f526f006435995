# Code compiled for one robot, as its model has it. model.pxi includes this file.

from mbros_core.algorithms import kernels as kernel_table
from mbros_core.algorithms.kernels cimport (FIRST_STEP, FORWARD_DERIVATIVES, FORWARD_DYNAMICS as FORWARD_SLOT, INVERSE_DERIVATIVES,
                                            INVERSE_DYNAMICS as INVERSE_SLOT, KINEMATICS as KINEMATICS_SLOT, MASS_MATRIX as MASS_SLOT,
                                            as_compiled, kernel_for)

agree("algorithms/kernels.py", [row.name for row in kernel_table.ROWS], "the slots of kernels.pxd", dict(
    forward_dynamics=FORWARD_SLOT, inverse_dynamics=INVERSE_SLOT, mass_matrix=MASS_SLOT, kinematics=KINEMATICS_SLOT,
    midpoint=FIRST_STEP + MIDPOINT, semi_implicit_euler=FIRST_STEP + SEMI_IMPLICIT_EULER, rk4=FIRST_STEP + RK4,
    forward_dynamics_derivatives=FORWARD_DERIVATIVES, inverse_dynamics_derivatives=INVERSE_DERIVATIVES))

KERNEL_NUMBER = {row.name: k for k, row in enumerate(kernel_table.ROWS)}


cdef class Specialised:
    """The functions compiled for a model, and which of its parameters are constants in them."""
    cdef Kernels c
    cdef object library         # keeps the code
    cdef Memory pieces
    cdef Memory constants

    def __cinit__(self, addresses, live, library, Memory constants, Py_ssize_t begin, Py_ssize_t end):
        """addresses: {kernel: address}. Parameters are from `begin` to `end` in a state, as in `constants`; live: places among them that
        the code reads from the state."""
        cdef Py_ssize_t at
        cdef Piece* piece
        self.library, self.constants = library, constants
        memset(&self.c, 0, sizeof(Kernels))
        for name, address in addresses.items():
            self.c.of[<int>KERNEL_NUMBER[name]] = <Kernel><size_t>address
        stops = [at for at in sorted(set(live)) if begin <= at < end] + [end]
        self.pieces = Memory(2 * len(stops))
        self.c.pieces = <Piece*>self.pieces.p
        self.c.constants = <const real*>constants.p
        for at in stops:
            if at > begin:
                piece = &self.c.pieces[self.c.npieces]
                piece.at, piece.n = begin, at - begin
                self.c.npieces += 1
            begin = at + 1

    cdef bint fixes(self, Py_ssize_t place) noexcept:
        """Whether this place of a state is a constant of the code."""
        cdef int i
        for i in range(self.c.npieces):
            if self.c.pieces[i].at <= place < self.c.pieces[i].at + self.c.pieces[i].n:
                return True
        return False
