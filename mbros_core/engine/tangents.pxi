# Analytic derivatives of the dynamics. Included by the modules of doubles, of lanes and of dual numbers, over which they give second ones.

from mbros_core.algorithms.centroidal_map cimport centroidal_map
from mbros_core.algorithms.columns cimport CARRIED, Carried, Columns, ROWS_OF_COLUMN
from mbros_core.algorithms.frame_derivatives cimport frame_derivatives, turn_wrench
from mbros_core.algorithms.forward_dynamics_derivatives cimport hand_out
from mbros_core.algorithms.jacobian_rate cimport jacobian_rate
from mbros_core.algorithms.kinematics cimport acceleration_step
from mbros_core.algorithms.second_derivatives cimport KINDS, LOADS, ROWS_OF_PAIR, second_derivatives
from mbros_core.algorithms.element_derivatives cimport meeting
from mbros_core.forces.dispatch cimport has_coordinate_slopes, has_wrench_slopes
from mbros_core.forces.element cimport ROWS_ALONG
from mbros_core.joints.dispatch cimport BY_DUALS, OTHERWISE, columns_turn, columns_turn_as_chains
from mbros_core.scalar.pack cimport PACK, matrix_finite


cdef class Tangents:
    """The room in which derivatives of one model are computed, and where in it each column is (algorithms/columns.pxd)."""
    cdef Columns c
    cdef Memory numbers
    cdef Memory places
    cdef Memory pairs               # of second derivatives, once they are asked for

    def __cinit__(self, Model model not None):
        cdef ModelC* m = &model.c
        cdef Py_ssize_t n = m.nc, padded = (max(m.nc, m.nv) + PACK - 1) // PACK * PACK
        cdef Py_ssize_t rows = m.nv
        cdef real* p
        cdef Columns* c = &self.c
        cdef bint on_bodies = False
        for k in range(m.ne):
            on_bodies |= m.elements[k].iv < 0
        c.n, c.rows, c.padded = <int>n, <int>rows, <int>padded
        self.numbers = Memory((ROWS_OF_COLUMN * padded + on_bodies * ROWS_ALONG * padded + 5 * n * padded + 3 * padded + rows * padded * 4
                               + (m.nb + 1) * sizeof(Carried) // sizeof(real) + 16) * LANES)
        p = <real*>self.numbers.p
        c.blocks = p
        p += ROWS_OF_COLUMN * padded
        c.below_q, c.below_v, c.M = p, p + n * padded, p + 2 * n * padded
        c.above_q, c.above_v = p + 3 * n * padded, p + 4 * n * padded
        p += 5 * n * padded
        c.passive_q, c.passive_v, c.D_inverse = p, p + padded, p + 2 * padded
        p += 3 * padded
        c.L, c.R = p, p + rows * padded
        p += 4 * rows * padded
        c.along = p if on_bodies else NULL
        p += on_bodies * ROWS_ALONG * padded
        c.bodies = <Carried*>p
        self.places = Memory((3 * m.nb + 5 * n + 3 * rows + padded // PACK + 8) // 2 + 1)
        self.number(m)
        self.fill_between_branches(m)

    cdef number(self, ModelC* m):
        """Columns depth first."""
        cdef Columns* c = &self.c
        cdef int* p = <int*>self.places.p
        cdef int i, k, at = 0, last
        cdef const Joint* j
        c.first, c.own_end, c.end = p, p + m.nb, p + 2 * m.nb
        p += 3 * m.nb
        c.body, c.at, c.row = p, p + c.n, p + 2 * c.n
        p += 3 * c.n
        c.out, c.up, c.stop = p, p + c.rows, p + 2 * c.rows
        p += 3 * c.rows
        c.path, c.joint_at, c.filled = p, p + c.n, p + 2 * c.n
        c.irregular = False
        children = [[] for _ in range(m.nb)]
        for i in range(m.nb - 1, 0, -1):
            children[m.joints[i].parent].append(i)      # taken from the end: in the order of their numbers
            c.irregular |= columns_turn(m.joints[i].kind) == OTHERWISE
        order, waiting = [], [0]
        while waiting:
            i = waiting.pop()
            order.append(i)
            waiting.extend(children[i])
        for i in order:
            j = &m.joints[i]
            c.first[i] = at
            for k in range(j.nv):
                c.body[at + k], c.at[at + k] = i, j.iv + k
            at += j.nv
            c.own_end[i] = c.end[i] = at
        for i in reversed(order):
            if i:
                c.end[m.joints[i].parent] = max(c.end[m.joints[i].parent], c.end[i])
        c.same = True
        for k in range(c.n):
            c.row[k] = c.at[k] if m.shared else k
            c.same &= m.shared or c.at[k] == k
        for k in range(c.rows):
            c.out[k] = k if m.shared else c.at[k]
            c.up[k], c.stop[k] = k - 1, c.rows
            if not m.shared:
                i = c.body[k]
                c.stop[k] = c.end[i]
                if k == c.first[i]:
                    last = m.joints[i].parent
                    while last > 0 and m.joints[last].nv == 0:
                        last = m.joints[last].parent
                    c.up[k] = c.own_end[last] - 1 if last > 0 else -1

    cdef fill_between_branches(self, ModelC* m):
        """Columns that a force element between two branches brings together."""
        cdef Columns* c = &self.c
        cdef int k, end
        c.crossed = False
        for k in range(0 if m.shared else m.ne):
            if m.elements[k].body_a >= 0:
                end = meeting(m, m.elements[k].body_a, m.elements[k].body_c)
                ways = [self.columns_between(m, body, end) for body in (m.elements[k].body_a, m.elements[k].body_c)]
                if all(ways):
                    c.crossed = True
                    for j in sum(ways, []):
                        c.filled[<int>j // PACK] = True

    cdef list columns_between(self, ModelC* m, int body, int end):
        found = []
        while body != end:
            found.extend(range(self.c.first[body], self.c.own_end[body]))
            body = m.joints[body].parent
        return found


cdef bint has_slopes(const ModelC* m, bint forward) noexcept:
    """Whether derivatives of forward (or inverse) dynamics are analytic: those of all joints and force elements are; forward without
    constraints."""
    cdef int k
    for k in range(m.ne):
        if not (has_coordinate_slopes(m.elements[k].kind) if m.elements[k].iv >= 0 else has_wrench_slopes(m.elements[k].kind)):
            return False
    return columns_known(m) and not (forward and m.nk)


cdef bint columns_known(const ModelC* m) noexcept:
    """Whether how columns turn is known of all joints: of all but those that users write."""
    cdef int k
    for k in range(1, m.nb):
        if columns_turn(m.joints[k].kind) == BY_DUALS:
            return False
    return True


cdef bint has_second_slopes(const ModelC* m) noexcept:
    """Whether second derivatives of inverse dynamics have equations of their own, else there is second_slopes.pxi: of models without force
    elements whose joints turn with their bodies or are chains."""
    cdef int k
    for k in range(1, m.nb):
        if not columns_turn_as_chains(m.joints[k].kind):
            return False
    return m.ne == 0


cdef Tangents tangents_of(State s):
    """Its own, kept with it."""
    if s.tangents is None:
        s.tangents = Tangents(s.model)
    return <Tangents>s.tangents


cdef inline void accelerations_less_gravity(const ModelC* m, Work* s, const real* vdot) noexcept nogil:
    cdef int i
    s.A_WB[0].v = -s.gravity[0]
    s.A_WB[0].w = zero3()
    for i in range(1, m.nb):
        acceleration_step(&m.joints[i], i, vdot, s)


cdef inline void vdot_and_slopes(ModelC* m, Work* s, const real* tau, Columns* c) noexcept nogil:
    """s.vdot under tau, and its derivatives in c.R."""
    vdot_under(m, tau, s.vdot, s)
    if m.shared:
        accelerations_less_gravity(m, s, s.vdot)
    passive_slopes(m, s, c.passive_q, c.passive_v)
    forward_dynamics_derivatives(m, s, s.vdot, c)


cdef inline void put_slopes(const Columns* c, const real* vdot, real* out, Py_ssize_t n) noexcept nogil:
    """(1 + 3 n, n): vdot, and below it dvdot/dq, dvdot/dv and dvdot/dtau of c.R."""
    copy_reals(out, vdot, n)
    hand_out(c, out + n, out + n + n * n, n, out + n + 2 * n * n, n)


cdef void forward_slopes(ModelC* m, Work* s, const real* tau, real* out, Columns* c) noexcept nogil:
    """(1 + 3 nv, nv): vdot under tau and its derivatives, from nothing but q and v."""
    cdef Kernel kernel = kernel_for(m, s, FORWARD_DERIVATIVES)
    if kernel != NULL:
        kernel(s, tau, out, 0.0)
        return
    vdot_and_slopes(m, s, tau, c)
    put_slopes(c, s.vdot, out, m.nv)


cdef void inverse_slopes(ModelC* m, Work* s, const real* vdot, real* out, Columns* c) noexcept nogil:
    """(1 + 3 nv, nv): tau for vdot, and below it dtau/dq, dtau/dv and dtau/dvdot, from nothing but q and v."""
    cdef Kernel kernel = kernel_for(m, s, INVERSE_DERIVATIVES)
    if kernel != NULL:
        kernel(s, vdot, out, 0.0)
        return
    positions(m, s)
    slopes_in_motion(m, s, vdot, out, c)


cdef inline void slopes_in_motion(ModelC* m, Work* s, const real* vdot, real* out, Columns* c) noexcept nogil:
    """The same once positions are in place."""
    cdef Py_ssize_t n = m.nv
    velocities(m, s)
    tau_for(m, vdot, out, s)
    passive_slopes(m, s, c.passive_q, c.passive_v)
    inverse_dynamics_derivatives(m, s, vdot, out + n, out + n + n * n, out + n + 2 * n * n, c)
