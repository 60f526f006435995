# What acts on a robot beside its joints: contacts, constraints, force elements. Only the double modules include this file; how contacts,
# constraints and reactions are read is in contacts.pxi, constraints.pxi and reactions.pxi.

from mbros_core.constraints.touch cimport STUCK, TORQUE

cdef object tuple_of = tuple.__new__


cdef cnp.ndarray three(const double* x):
    cdef cnp.npy_intp n = 3
    cdef cnp.ndarray a = new_array(1, &n)
    memcpy(cnp.PyArray_DATA(a), x, 3 * sizeof(double))
    return a


cdef class Loads(Momentum):
    """Contacts, constraints and force elements, in numbers that mbros.model puts into words."""

    # --------------------------------------------------------------------------- contacts and constraints

    def _contact_rows(self, state):
        """What touches, (n, 21), in the columns of mbros_core.constraints.touches: of the step that led to this state; where none did, of
        now, with normal forces alone."""
        cdef State s = self.own(state)
        cdef cnp.ndarray rows = contact_rows(self, s)
        if not all_finite(<real*>cnp.PyArray_DATA(rows), cnp.PyArray_SIZE(rows)):
            raise not_finite(self, "contacts", s, "", None)
        return rows

    def _constraint_gaps(self, state):
        """The gaps of all constraints, row by row (rows,), m or rad: mbros_core.constraints.opening.row_slices says whose."""
        cdef State s = self.own(state)
        return self.checked_gaps(s, constraint_gaps(self, s) if self.c.nk else np.zeros(0))

    def _constraint_jacobian(self, state):
        """J (rows, nv): the gaps' rates are J v, where the gaps are zero; columns of locked coordinates are zero."""
        cdef State s = self.own(state)
        return self.checked_gaps(s, constraint_jacobian(self, s) if self.c.nk else np.zeros((0, self.c.nv)))

    def _constraint_efforts(self, state):
        """(constraints, 21): what each carried in the step that led to this state, in the columns of mbros_core.constraints.touches; None
        where no step did."""
        cdef State s = self.own(state)
        return constraint_efforts(self, s) if self.c.nk else None

    def _come_to_rest(self, state):
        """Locked coordinates stop at once, by impulses that the rest of the robot feels (impulses.pxi)."""
        cdef State s = self.own(state)
        cdef cnp.ndarray v = np.array(s.v)
        self.need_for_impulses(s)
        come_to_rest(&self.c, &s.c)
        self.check_velocities(s, v)

    def _change_velocities(self, state, change):
        """v changes as `change` (nv,) says of locked and prescribed coordinates, whatever impulses that takes; others follow."""
        cdef State s = self.own(state)
        cdef cnp.ndarray dv = self.vector_beside(s, change, self.c.nv, "change")
        cdef cnp.ndarray v = np.array(s.v)
        self.need_for_impulses(s)
        change_velocities(&self.c, &s.c, <real*>cnp.PyArray_DATA(dv))
        self.check_velocities(s, v)

    cdef int need_for_impulses(self, State s) except -1:
        if self.c.shared:
            s.need_dense()
        if self.c.nk:
            s.need_contacts()
        return 0

    cdef int check_velocities(self, State s, cnp.ndarray before) except -1:
        """Those of before stay where the others are not finite."""
        s.stage = STAGE_NONE
        if not all_finite(s.c.v, self.c.nv):
            s.v[:] = before
            raise not_finite(self, "the velocities after an impulse", s, "", None)
        return 0

    def _reactions(self, state):
        """(F (nb, 6), effort (nv,), X_WB (nb, 12), V_WB (nb, 6), A_WB (nb, 6)) of the step that led to this state, at where it took its
        forces: what the joint of each compiled body exerts on it about its origin, in W axes; what each coordinate was given, and took
        where it is locked or prescribed; the motion of the bodies, accelerations less gravity. None where no step led here."""
        cdef State s = self.own(state)
        cdef tuple found = reactions(self, s)
        cdef cnp.ndarray x
        for x in found or ():
            if not all_finite(<real*>cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)):
                raise not_finite(self, "reactions", s, "", None)
        return found

    def _reaction(self, state, body, child, frame=-1):
        """(6,): what the joint of a compiled body exerts on it, about the origin of frame `child` in W axes, or about that of `frame` in
        its own; None where no step led here."""
        cdef State s = self.own(state)
        cdef int b = self.index(body, self.c.nb, "body"), k = self.index(child, self.c.nf, "frame")
        cdef int f = -1 if is_minus_one(frame) else self.index(frame, self.c.nf, "frame")
        cdef cnp.ndarray x = self.result(None, 6, -1)
        cdef State w = where_forces_were_taken(self, s)
        cdef Force F
        if w is None:
            return None
        F = reaction_about(&self.c, &w.c, b, k, f)
        return self.finished(x, <real*>&F, 6, "reactions", s, "", None)

    def _named_contacts(self, rows, parts, kind):
        """What mbros.model.contacts makes of rows (n, 21): a tuple of `kind` for each of two shapes. parts: (body, shape) of each."""
        cdef const double* row = constants_of(rows, 2)
        cdef Py_ssize_t n = cnp.PyArray_DIM(rows, 0), k
        cdef long long ns = self.c.ns, pair
        cdef list found = []
        cdef tuple a, b
        for k in range(n):
            if 0.0 <= row[PAIR] < <double>(ns * ns):
                pair = <long long>row[PAIR]
                a, b = parts[pair // ns], parts[pair % ns]
                found.append(tuple_of(kind, (a[0], b[0], a[1], b[1], three(row + POINT), three(row + NORMAL), row[DEPTH], three(row + FORCE),
                                             three(row + SLIP), row[STUCK] != 0.0, three(row + TORQUE))))
            row += TOUCH_COLUMNS
        return found

    def _check_closed(self, state):
        """MbrosError naming the constraints that a state violates, unless a step led to it."""
        check_closed(self, self.own(state))

    @cython.final
    cdef cnp.ndarray checked_gaps(self, State s, cnp.ndarray x):
        if not all_finite(<real*>cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)):
            raise not_finite(self, "constraints", s, "", None)
        return x

    # ------------------------------------------------------------------------------------- force elements

    def _force_element(self, state, k):
        """What force element k does: (F_A, F_C, F_own, numbers).

        F_A, F_C (6,): wrenches [torque; force] on its two bodies about the bodies' origins in W axes. F_own (6,): the wrench on
        C about Co in the element's own axes (A's for pairs, W for bodies). numbers (6,): tau, C, K, stored energy (J),
        conservative and nonconservative power (W). Zero where a kind has no such thing. Raises GimbalLockError for a bushing at lock.
        """
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.element_numbers(s, self.index(k, self.c.ne, "force element"))
        if not all_finite(<real*>cnp.PyArray_DATA(x), 24):
            raise not_finite(self, "force_element", s, "", None)
        return x[:6], x[6:12], x[12:18], x[18:]

    def _force_element_or_nan(self, state, k):
        """The same, with NaN where _force_element raises: for those who look for the reason."""
        cdef cnp.ndarray x = self.element_numbers(self.own(state), self.index(k, self.c.ne, "force element"))
        return x[:6], x[6:12], x[12:18], x[18:]

    @cython.final
    cdef cnp.ndarray element_numbers(self, State s, int k):
        cdef cnp.ndarray x = np.zeros(24)
        cdef real* p = <real*>cnp.PyArray_DATA(x)
        cdef ForceOut out
        cdef ForceElement* e = &self.c.elements[k]
        s.need_velocities()
        evaluate(&self.c, &s.c, k, <Force*>p, <Force*>(p + 6), &out)
        if e.iv >= 0:
            p[18], p[19], p[20] = out.tau, out.C, out.K
        else:
            if may_be_stiff(e):
                take_implicit(&self.c, &s.c, k, &out.F, <Force*>p, <Force*>(p + 6))
            copy_reals(p + 12, <real*>&out.F, 6)
            if e.body_a >= 0:
                x[:6] *= -1.0
        p[21], p[22], p[23] = out.energy, out.conservative, out.nonconservative
        return x

    def _implicit_shares(self, state, dt):
        """(elements,): how far each is implicit in a midpoint step of dt (forces/stiff.pxd): 0 where it is explicit, 1 where implicit."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = np.zeros(self.c.ne + 1)
        cdef double h = step_length("implicit_shares", dt)
        if self.c.nsprings:
            s.need_contacts()
            share_out(&self.c, &s.c, real(h), <real*>s.c.contacts.share)
            shares = [s.c.contacts.share[k] for k in range(self.c.nsprings)]
            x[spring_numbers(self.spec)] = shares
        return x[:self.c.ne]
