# Mass, momentum and energy of a whole robot. Only the double modules include this file.

cdef class Momentum(Conventions):
    """Mass, centre of mass, momentum and energy. The words of Dynamics hold for arguments, results and cost."""

    def total_mass(self, state):
        """Mass of everything that can move, kg."""
        cdef State s = self.own(state)
        return self.one(total_mass(&self.c, &s.c), "total_mass", s)

    def center_of_mass(self, state, out=None, *, q=None, v=None):
        """p_WoScm_W (3,), m: centre of mass of everything that is not welded to the world."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, -1)
        self.need_mass(s)
        self.place(s, q, v)
        s.need_positions()
        cdef Vec3 c = center_of_mass(&self.c, &s.c)
        return self.finished(x, <real*>&c, 3, "center_of_mass", s, "", None)

    @cython.final
    cdef need_mass(self, State s):
        if not self.one(total_mass(&self.c, &s.c), "total_mass", s) > 0.0:
            raise MbrosError(f"model {self.name!r} has no mass that can move, so it has no centre of mass")

    def com_jacobian(self, state, out=None, *, q=None, v=None):
        """J (3, nv): velocity of the centre of mass = J v, in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 3, self.c.nv)
        cdef real* J = <real*>cnp.PyArray_DATA(x) if out is None else <real*>s.c.U
        self.need_mass(s)
        self.place(s, q, v)
        s.need_positions()
        center_of_mass_jacobian(&self.c, J, &s.c)
        return self.delivered(x, J, "com_jacobian", s)

    def centroidal_momentum(self, state, out=None, *, q=None, v=None):
        """(6,): angular momentum about the centre of mass (N m s), then linear momentum (N s), in W axes."""
        cdef State s = self.own(state)
        cdef cnp.ndarray x = self.result(out, 6, -1)
        self.need_mass(s)
        self.place(s, q, v)
        s.need_velocities()
        cdef Force L = centroidal_momentum(&self.c, &s.c)
        return self.finished(x, <real*>&L, 6, "centroidal_momentum", s, "", None)

    def kinetic_energy(self, state, *, q=None, v=None):
        """Of all bodies and rotors, J."""
        cdef State s = self.own(state)
        self.place(s, q, v)
        s.need_velocities()
        return self.one(kinetic_energy(&self.c, &s.c), "kinetic_energy", s)

    def potential_energy(self, state, *, q=None, v=None):
        """Of gravity (zero with every centre of mass at the world's origin), of the stops, of the force elements and of contacts, J.

        Contacts: of the step that led to this state, what their springs can give back; where none did, 1/2 k depth^2 of every point
        (docs/contact.md)."""
        cdef State s = self.own(state)
        self.place(s, q, v)
        s.need_contacts()
        s.need_velocities()
        return self.one(gravity_energy(&self.c, &s.c) + stop_energy(&self.c, &s.c) + elements_energy(&self.c, &s.c)
                        + energy_in_touch(&self.c, &s.c), "potential_energy", s)
