# The algorithms over traced numbers: what comes out are expression graphs. Only the traced module includes this file.

from mbros_core.algorithms import kernels
from mbros_core.algorithms.own_axes_derivatives cimport forward_derivatives_in_own_axes, inverse_derivatives_in_own_axes
from mbros_core.algorithms.own_axes_dynamics cimport inverse_in_own_axes, mass_matrix_in_own_axes
from mbros_core.forces.passive cimport passive_torques

cdef extern from "scalar/real.hpp" namespace "mbros" nogil:
    void begin_tape(bint)
    real new_input(int64_t)
    int64_t refusals()
    int64_t nodes()
    void write_tape(void*)

OPERATIONS = ("input", "add", "subtract", "multiply", "divide", "negate", "sqrt", "sine", "cosine", "exp", "tanh", "atan2", "less",
              "nonzero", "select")


cdef class Tracer:
    """The algorithms of one model over traced numbers, and the workspace for them. mbros.specialize is what users call."""
    cdef readonly Model model
    cdef readonly State state
    cdef Memory given
    cdef Memory result

    def __cinit__(self, model):
        self.model = some_model("Tracer", model)

    def trace(self, what, live=(), through_M=False, frame=0):
        """(nodes, outputs): the expression graph of a kernel of mbros_core.algorithms.kernels; frame: row of the frame table, of OF_FRAMES.

        nodes (n, 4) uint64: the number of an operation in OPERATIONS, and the bits of up to three operands: doubles, or 0x7FFD in the
        highest 16 bits and a node below. outputs: [(where, (m,) uint64)], where "y" or a field of State, the bits of what is written.
        An input's operand is a double: the place in State._inputs, or one of kernels.GIVEN (and more) and kernels.STEP. live: places
        of State._inputs that are inputs beside q and v. through_M: forward dynamics by the mass matrix, else by articulated bodies.
        MbrosError where a branch would depend on a live input.
        """
        row = next((row for row in (*kernels.ROWS, *kernels.OF_PLACES) if row.name == what), None)
        if row is None:
            raise UnknownNameError(f"Tracer: no kernel {short(what)}; there are {', '.join(kernels.NAMES)}")
        cdef ModelC* m = &self.model.c
        cdef int nv = m.nv
        cdef int integrator = INTEGRATORS.get(what, 0)
        cdef Py_ssize_t i
        self.state = State(self.model)
        self.state.need_dense()
        self.given = Memory(nv + 1)
        self.result = Memory(row.size(nv) + 1)
        begin_tape(<bint>through_M)
        for name in row.inputs:
            self.mark(self.model.fields[<int>FIELD_NUMBER[name]].at, self.model.fields[<int>FIELD_NUMBER[name]].rows)
        for place in live:
            self.mark(whole(place), 1)
        cdef real* x = <real*>self.given.p
        cdef real* y = <real*>self.result.p
        for i in range(nv if row.given else 0):
            x[i] = new_input(kernels.GIVEN + i)
        if row in kernels.OF_PLACES:
            if not 0 <= whole(frame) < m.nf:
                raise MbrosError(f"Tracer: frame: {short(frame)} is no row of the frame table")
            self.place(what, y, whole(frame))
        else:
            self.run(what, x, y, new_input(kernels.STEP), integrator)
        if refusals():
            raise MbrosError(f"{what} of model {self.model.name!r} branches on the value of a live input: the robot's configuration "
                             "decides there. Locks and what is prescribed cannot be live")
        table = np.empty((nodes(), 4), np.uint64)
        write_tape(cnp.PyArray_DATA(<cnp.ndarray>table))
        outputs = [(name, self.state.field(name).reshape(-1).view(np.uint64).copy()) for name in row.fields]
        if row.numbers:
            outputs = [("y", self.result.view(y, row.size(nv), 1).view(np.uint64).copy())]
        return table, outputs

    cdef int mark(self, Py_ssize_t at, Py_ssize_t n) except -1:
        cdef Py_ssize_t k
        if not 0 <= at <= at + n <= self.model.fields[NUMBER_OF_INPUTS].at:
            raise MbrosError(f"Tracer: live: {at} is no place of State._inputs")
        for k in range(at, at + n):
            (<real*>self.state.memory.p)[k] = new_input(k)
        return 0

    cdef run(self, str what, real* x, real* y, real h, int integrator):
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef int i
        if what == "forward_dynamics":
            vdot_under(m, x, y, s)
        elif what == "inverse_dynamics":
            passive_torques(m, s)
            inverse_in_own_axes(m, x, y, s)
            for i in range(m.nv):
                y[i] = y[i] - s.passive[i]
        elif what == "mass_matrix":
            mass_matrix_in_own_axes(m, y, s)
        elif what == "forward_dynamics_derivatives":
            passive_torques(m, s)
            forward_derivatives_in_own_axes(m, x, y, s)
        elif what == "inverse_dynamics_derivatives":
            passive_torques(m, s)
            inverse_derivatives_in_own_axes(m, x, y, s)
        elif what == "kinematics":
            positions(m, s)
            velocities(m, s)
        else:
            step(m, s, x, h, integrator)

    cdef place(self, str what, real* y, int f):
        """A result of positions alone."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Pose X
        cdef Vec3 c
        positions(m, s)
        if what == "pose":
            X = compose_poses(s.X_WB[m.frame_body[f]], m.X_BF[f])
            memcpy(y, &X, 12 * sizeof(real))
        elif what == "jacobian":
            jacobian(m, m.frame_body[f], rotate(s.X_WB[m.frame_body[f]].R, m.X_BF[f].p), y, s)
        elif what == "center_of_mass":
            c = center_of_mass(m, s)
            memcpy(y, &c, 3 * sizeof(real))
        else:
            center_of_mass_jacobian(m, y, s)
