# Inverse dynamics as a matrix over inertial parameters, at many points in one call. Only the double modules include this file.

from mbros_core.algorithms.regressor cimport OF_A_BODY, joint_torque_regressor
from mbros_core.scalar.real cimport sqrt as real_root


cdef class Regressor:
    """tau = Y (pi, damping, friction, rotor_inertia) of one model on one thread (mbros.diff.regressor is what users call).

    Columns: ten for each compiled body but the world, then nv of damping, nv of friction and nv of rotor inertia. `state` has what does
    not change from point to point: gravity. frames: X_CB (nb, 12), R row by row and p, the frame of each body in which its ten are.
    """
    cdef readonly Dynamics model
    cdef readonly State state
    cdef readonly Py_ssize_t columns
    cdef Memory room            # frames of bodies, then wrenches of one
    cdef Force* wrenches
    cdef str who
    cdef Py_ssize_t gravity_at  # in what a new state begins with

    def __cinit__(self, Dynamics model not None, frames):
        self.model, self.state = model, State(model)
        self.columns = OF_A_BODY * (model.c.nb - 1) + 3 * model.c.nv
        self.gravity_at = model.fields[<int>FIELD_NUMBER["gravity"]].at
        self.who = f"regressor of model {model.name!r}"
        self.room = Memory((model.c.nb * sizeof(Pose) + OF_A_BODY * sizeof(Force)) // sizeof(real))
        fill(<real*>self.room.p, 12 * model.c.nb, given_numbers(self.who, "frames", frames, (model.c.nb, 12)))
        self.wrenches = <Force*>(<Pose*>self.room.p + model.c.nb)

    def compute(self, q, v, vdot, out):
        """out[k] (nv, columns) at point k of n: q (n, nq), v and vdot (n, nv). Returns the first point at which a number is not finite,
        or -1. No allocation; the GIL is released."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef cnp.ndarray at = given_numbers(self.who, "q", q, (None, m.nq))
        cdef Py_ssize_t n = cnp.PyArray_DIM(at, 0), k, size = m.nv * self.columns
        cdef cnp.ndarray speed = given_numbers(self.who, "v", v, (n, m.nv))
        cdef cnp.ndarray rate = given_numbers(self.who, "vdot", vdot, (n, m.nv))
        cdef cnp.ndarray to = given_room(self.who, "out", out, (n, m.nv, self.columns))
        cdef const double* x = <const double*>cnp.PyArray_DATA(at)
        cdef const double* u = <const double*>cnp.PyArray_DATA(speed)
        cdef const double* a = <const double*>cnp.PyArray_DATA(rate)
        cdef double* Y = <double*>cnp.PyArray_DATA(to)
        cdef Py_ssize_t bad = -1
        self.state.hold()
        with nogil:
            memset(Y, 0, n * size * sizeof(double))
            for k in range(n):
                memcpy(s.q, x + k * m.nq, m.nq * sizeof(double))
                memcpy(s.v, u + k * m.nv, m.nv * sizeof(double))
                self.at_point(<const real*>(a + k * m.nv), <real*>(Y + k * size))
                if bad < 0 and not all_finite(<real*>(Y + k * size), size):
                    bad = k
        self.state.let_go()
        self.state.stage = STAGE_NONE
        return bad

    def point(self, q, v, vdot, state=None):
        """A new (nv, columns) at one point, with the gravity of `state`, by default the model's; None for whatever needs another look:
        other than plain vectors, a state that is not the model's own or that somebody works on, numbers that are not finite."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef cnp.ndarray Y
        if not (is_vector(q, m.nq) and is_vector(v, m.nv) and is_vector(vdot, m.nv)) or is_held(&self.state.held) or self.model._needs_gil:
            return None
        if state is not None and (type(state) is not State or (<State>state).model is not self.model or is_held(&(<State>state).held)):
            return None
        Y = self.model.result(None, m.nv, <int>self.columns)
        memset(cnp.PyArray_DATA(Y), 0, cnp.PyArray_NBYTES(Y))
        s.gravity[0] = (<State>state).c.gravity[0] if state is not None else (<Vec3*>(<real*>self.model.defaults.p + self.gravity_at))[0]
        memcpy(s.q, cnp.PyArray_DATA(<cnp.ndarray>q), m.nq * sizeof(double))
        memcpy(s.v, cnp.PyArray_DATA(<cnp.ndarray>v), m.nv * sizeof(double))
        self.state.stage = STAGE_NONE
        self.at_point(<const real*>cnp.PyArray_DATA(<cnp.ndarray>vdot), <real*>cnp.PyArray_DATA(Y))
        return Y if matrix_finite(<real*>cnp.PyArray_DATA(Y), cnp.PyArray_SIZE(Y)) else None

    cdef void at_point(self, const real* vdot, real* Y) noexcept nogil:
        """One point; its Y is zero before."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef int i, width = <int>self.columns, first = OF_A_BODY * (m.nb - 1)
        cdef real v, v_s = real(1.0 / FRICTION_SPEED_PER_S)
        positions(m, s)
        velocities(m, s)
        accelerations_less_gravity(m, s, vdot)
        joint_torque_regressor(m, <const Pose*>self.room.p, Y, width, self.wrenches, s)
        for i in range(m.nv):
            v = s.v[i]
            Y[i * <Py_ssize_t>width + first + i] = v
            Y[i * <Py_ssize_t>width + first + m.nv + i] = v / real_root(v * v + v_s * v_s)
            Y[i * <Py_ssize_t>width + first + 2 * m.nv + i] = vdot[i]
