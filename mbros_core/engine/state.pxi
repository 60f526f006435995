# State: the memory of a robot in motion. Included by every module of the engine.

cdef Model some_model(str who, object model):
    """`model`, when it is one of this module."""
    if not isinstance(model, Model):
        raise WrongTypeError(f"{who}: expected a model, got {short(model)}")
    return model


cdef class State:
    """Time, q, v, every tunable parameter, and the workspace of results, in one allocation (mbros_core.engine.fields).

    The arrays are views: writing `state.q[2] = 0.5` is allowed at any time. Results that depend on q and v carry the values
    they were computed for and are recomputed when these differ, so a stale result cannot be read.
    """
    cdef readonly Model model
    cdef Work c
    cdef Memory memory
    cdef Memory dense            # of c.L
    cdef object contacts         # of c.contacts
    cdef object tangents         # Tangents, where derivatives were asked for (tangents.pxi)
    cdef int stage
    cdef bint told_beyond        # that a position of it was beyond a limit
    cdef int64_t held            # who works on it now without the interpreter lock (held.hpp)
    cdef Memory before           # what `keep` keeps, where it was asked for
    cdef bint kept               # in the present call, which not_finite takes back
    cdef State then              # where it took the forces of its step, once that was asked for (reactions.pxi)

    def __cinit__(self, model):
        self.model = some_model("State", model)
        self.memory = Memory(self.model.state_reals * LANES)
        cdef real** pointers = <real**>&self.c
        cdef int k
        for k in range(len(FIELDS)):
            pointers[k] = <real*>self.memory.p + self.model.fields[k].at
        if self.model.c.ne == 0:
            self.c.applied = self.c.external_force          # nothing to add: the algorithms read the user's wrenches
        memcpy(self.memory.p, self.model.defaults.p, self.model.defaults.n * sizeof(double))
        self.stage = STAGE_NONE

    @cython.final
    cdef int need_dense(self) except -1:
        """Memory for the mass matrix. It is asked for once, by whatever is about to go through M: stepping allocates nothing."""
        cdef Py_ssize_t n = self.model.c.nv
        if self.c.L == NULL:
            self.dense = Memory((n * n + 1) * LANES)
            self.c.L = <real*>self.dense.p
        return 0

    @cython.final
    cdef int need_contacts(self) except -1:
        """Memory for steps with contact, where the model has shapes: asked for once, by whoever is about to step."""
        if self.model.c.scene != NULL and self.c.contacts == NULL:
            self.need_dense()
            self.contacts = self.model.scene.workspace(1 if OF_DUALS else LANES, OF_DUALS)
            self.c.contacts = <ContactWorkspace*>PyCapsule_GetPointer(self.contacts.capsule, "mbros_core.contact_workspace")
        return 0

    # ------------------------------------------------------------------------------------- who works on it now

    @cython.final
    cdef inline int refuse_held(self) except -1:
        """While a real-time loop or a long call in another thread works on this memory, nobody else does. Nor does the code of a joint or
        force element that the call asks which works on it."""
        if is_held(&self.held):
            self.refuse_holder()
        if self.model._needs_gil:
            self.refuse_asked()
        return 0

    @cython.final
    cdef int begin(self) except -1:
        """The same, for a call that is about to work on this memory itself."""
        self.refuse_held()
        if self.model._needs_gil:
            work_on(<void*>self)
        return 0

    @cython.final
    cdef int refuse_asked(self) except -1:
        if waits(<void*>self):
            raise BusyError(f"the state of model {self.model.name!r} is in the middle of a call, which has asked this code of a joint or "
                            "force element: it may read q and v, and not use the state otherwise. Compute from the arguments alone")
        return 0

    @cython.final
    cdef int refuse_holder(self) except -1:
        cdef int64_t who = holder(&self.held)
        self.refuse_asked()
        if who == by_a_loop():
            raise BusyError(f"the state of model {self.model.name!r} is being simulated by a real-time loop: command, observe and change "
                            "it through the loop (Loop.command, snapshot, reset, set_state, set_parameters), or stop the loop first")
        if who == by_a_call():
            raise BusyError(f"the state of model {self.model.name!r} is being simulated by a call in another thread: wait for it to "
                            "return, or give each thread a state of its own (state.copy())")
        return 0

    @cython.final
    cdef int hold(self) except -1:
        """Before a call gives up the interpreter lock while it works on this memory; let_go() afterwards."""
        while not seize(&self.held, by_a_call()):
            self.refuse_holder()
        work_on(<void*>self)
        return 0

    @cython.final
    cdef void let_go(self) noexcept nogil:
        let_go(&self.held)

    @property
    def is_held(self):
        """A real-time loop, or a call in another thread, works on this state now: whatever else would touch it is refused."""
        return holder(&self.held) != 0

    def _check_free(self):
        """Raise BusyError while a real-time loop, or a call in another thread, works on this state."""
        self.refuse_held()

    def field(self, name):
        """The array `name` of mbros_core.engine.fields as a writable view of this state's memory."""
        k = FIELD_NUMBER.get(name) if isinstance(name, str) else None
        if k is None:
            raise UnknownNameError(f"no field {short(name)} in a State; fields: {', '.join(FIELD_NUMBER)}")
        cdef FieldC* f = &self.model.fields[<int>k]
        return self.memory.view(<real*>self.memory.p + f.at, f.rows, f.columns)

    @property
    def _inputs(self):
        """All input and parameter fields in one writable view (reals,), or (reals, lanes); laid out alike in every build."""
        return self.memory.view(self.memory.p, self.model.fields[NUMBER_OF_INPUTS].at, 1)

    @property
    def time(self):
        """Time, s."""
        return value(self.c.time[0])

    @time.setter
    def time(self, t):
        self.refuse_held()
        cdef object seconds = floats(t)
        if seconds is None or seconds.size != 1 or not abs(seconds.item()) < 1e300:
            raise MbrosError(f"time: expected a finite number of seconds, got {short(t)}")
        self.c.time[0] = real(<double>seconds.item())

    @property
    def q(self):
        """Positions (nq,), a view. Setting it is set_q."""
        return self.memory.view(self.c.q, self.model.c.nq, 1)

    @q.setter
    def q(self, values):
        self.set_q(values)

    @property
    def v(self):
        """Velocities (nv,), a view. Setting it is set_v."""
        return self.memory.view(self.c.v, self.model.c.nv, 1)

    @v.setter
    def v(self, values):
        self.set_v(values)

    @property
    def _a_prev(self):
        """(v+ - v) / h of the last midpoint step (nv,), a view; zero where there was none. From it a midpoint step takes the velocity
        of its middle. Setting q or v as a whole, and a reset, make it zero; writing into their views does not."""
        return self.memory.view(self.c.a_prev, self.model.c.nv, 1)

    @_a_prev.setter
    def _a_prev(self, values):
        self.set_view("a_prev", values, None)

    @property
    def gravity(self):
        """Gravity vector in W (3,), m/s^2, a view."""
        return self.memory.view(self.c.gravity, 3, 1)

    @gravity.setter
    def gravity(self, values):
        self.set_view("gravity", values, None)

    @property
    def damping(self):
        """Viscous damping (nv,), N m s/rad or N s/m, a view."""
        return self.memory.view(self.c.damping, self.model.c.nv, 1)

    @damping.setter
    def damping(self, values):
        self.set_view("damping", values, 0.0)

    @property
    def friction(self):
        """Coulomb friction (nv,), N m or N, a view."""
        return self.memory.view(self.c.friction, self.model.c.nv, 1)

    @friction.setter
    def friction(self, values):
        self.set_view("friction", values, 0.0)

    @property
    def rotor_inertia(self):
        """Reflected rotor inertia (nv,), kg m^2 or kg, a view."""
        return self.memory.view(self.c.rotor_inertia, self.model.c.nv, 1)

    @rotor_inertia.setter
    def rotor_inertia(self, values):
        self.set_view("rotor_inertia", values, 0.0)

    @property
    def external_force(self):
        """Wrenches F_Bo_W applied on the compiled bodies (nb, 6), [torque; force] about Bo in W axes, a view."""
        return self.memory.view(self.c.external_force, self.model.c.nb, 6)

    @external_force.setter
    def external_force(self, values):
        self.set_view("external_force", values, None)

    def set(self, q=None, v=None):
        """Set the positions q (nq,), the velocities v (nv,) or both, as set_q and set_v do: on an error neither has changed. Returns the
        state."""
        self.refuse_held()
        self.put(q, v, q is not None, v is not None)
        return self

    def set_q(self, q):
        """Set the positions (nq,): finite; quaternions are brought to unit length. On an error nothing has changed. Returns the state.
        Beyond a limit of a joint: done, with a PositionLimitWarning."""
        self.refuse_held()
        self.put(q, None, True, False)
        return self

    def set_v(self, v):
        """Set the velocities (nv,): finite. On an error nothing has changed. Returns the state."""
        self.refuse_held()
        self.put(None, v, False, True)
        return self

    cdef set_view(self, str name, object values, object least):
        """Numbers of a view, all of them: finite, none below `least` (None: any). On an error nothing has changed."""
        self.refuse_held()
        cdef str who = f"state of model {self.model.name!r}"
        cdef cnp.ndarray view = self.field(name)
        cdef cnp.ndarray a = given_numbers(who, name, values, (<object>view).shape)
        given.finite(who, name, a, least)
        view[...] = a

    @cython.final
    cdef int put(self, object q, object v, bint with_q, bint with_v) except -1:
        """What is given becomes the state's, all of it or, where a number is refused, none. No words are made before one is."""
        cdef const ModelC* m = &self.model.c
        cdef cnp.ndarray a, b
        if LANES > 1:
            raise StateError("a state of several lanes is set through its arrays")
        if with_q:
            a = self.finite_vector(q, m.nq, "q")
            self.draft_q(<const real*>cnp.PyArray_DATA(a))
        if with_v:
            b = self.finite_vector(v, m.nv, "v")
            memmove(self.c.v, cnp.PyArray_DATA(b), m.nv * sizeof(real))     # which may have been read from q: that is next
        if with_q:
            copy_reals(self.c.q, self.c.stage_q, m.nq)
        forget_last_step(m, &self.c)
        if with_q and not self.told_beyond and self.model.is_beyond(self.c.q):
            self.told_beyond = True                     # once: a search sets many
            self.model._warn_beyond(self)
        return 0

    @cython.final
    cdef inline cnp.ndarray finite_vector(self, object x, int n, str name):
        """x as a plain vector of n finite numbers: itself where it is one."""
        if is_vector(x, n) and all_finite(<const real*>cnp.PyArray_DATA(<cnp.ndarray>x), n):
            return <cnp.ndarray>x
        return self.made_finite(x, n, name)

    @cython.final
    cdef cnp.ndarray made_finite(self, object x, int n, str name):
        cdef str who = f"state of model {self.model.name!r}"
        cdef cnp.ndarray a = given_numbers(who, name, x, (n,))
        bad = np.flatnonzero(~np.isfinite(a))
        if bad.size:
            owner = (self.model.position_names if name == "q" else self.model.velocity_names)[bad[0]]
            raise NonFiniteError(f"{who}: {name}[{bad[0]}] (joint {owner!r}) is {a[bad[0]]}; expected a finite number")
        return a

    @cython.final
    cdef int draft_q(self, const real* q) except -1:
        """q into stage_q, brought to unit length; to the bit where it was."""
        cdef int n = self.model.c.nq, k
        cdef real* x = self.c.stage_q
        cdef bint same = True
        copy_reals(x, q, n)
        bring_back(&self.model.c, x, NULL)
        for k in range(n):
            same = same and -1e-15 < value(x[k]) - value(q[k]) < 1e-15
        if same:
            copy_reals(x, q, n)
        elif not all_finite(x, n):
            raise MbrosError(f"state of model {self.model.name!r}: a quaternion of zeros is no rotation; the neutral one is "
                             "(w, x, y, z) = (1, 0, 0, 0)")
        return 0

    @cython.final
    cdef int keep(self) except -1:
        """What `put` changes, for `take_back`: the fields from q to the head of contact_memory, which lie side by side, and last_step."""
        cdef Py_ssize_t n = self.c.contact_memory + COUNT_OF_HEAD - self.c.q
        if self.before is None:
            self.before = Memory((n + 2) * LANES)
        memcpy(self.before.p, self.c.q, n * sizeof(real))
        memcpy(<real*>self.before.p + n, self.c.last_step, 2 * sizeof(real))
        self.kept = True
        return 0

    @cython.final
    cdef void take_back(self) noexcept:
        """The state as it was before a call that was given q or v."""
        cdef Py_ssize_t n = self.c.contact_memory + COUNT_OF_HEAD - self.c.q
        if self.kept:
            memcpy(self.c.q, self.before.p, n * sizeof(real))
            memcpy(self.c.last_step, <real*>self.before.p + n, 2 * sizeof(real))
            self.kept = False
        self.stage = STAGE_NONE

    def copy(self):
        """An independent copy (one memcpy)."""
        self.refuse_held()
        return self.twin()

    @cython.final
    cdef State twin(self):
        """A copy, whoever works on this state: for who knows that it stands still."""
        cdef State other = State(self.model)
        memcpy(other.memory.p, self.memory.p, self.memory.n * sizeof(double))
        other.stage = self.stage
        return other

    def __copy__(self):
        return self.copy()

    def __reduce__(self):
        # a deep or pickled copy is one of a copy of the model
        self.refuse_held()
        return state_of, (self.model, np.array(self._inputs))

    def assign(self, other):
        """Take over everything from another state of the same model."""
        if not isinstance(other, State) or (<State>other).model is not self.model:
            raise state_error(f"state of model {self.model.name!r}", self.model, other)
        self.refuse_held()
        (<State>other).refuse_held()
        memmove(self.memory.p, (<State>other).memory.p, self.memory.n * sizeof(double))
        self.stage = (<State>other).stage

    def _poison(self):
        """Fill everything but inputs and parameters with NaN, so that a test sees whatever is read before it is written."""
        self.refuse_held()
        for row in FIELDS:
            if row.stage not in ("input", "parameter"):
                self.field(row.name)[...] = np.nan
        if self.dense is not None:
            self.dense.view(self.dense.p, self.dense.n // LANES, 1)[...] = np.nan
        if self.contacts is not None:
            self.contacts.poison()
        self.stage = STAGE_NONE

    @cython.final
    cdef void need_positions(self) noexcept:
        cdef ModelC* m = &self.model.c
        if self.stage >= STAGE_POSITION and memcmp(self.c.q, self.c.q_seen, m.nq * sizeof(real)) == 0:
            return
        positions(m, &self.c)
        copy_reals(self.c.q_seen, self.c.q, m.nq)
        self.stage = STAGE_POSITION

    @cython.final
    cdef void need_velocities(self) noexcept:
        cdef ModelC* m = &self.model.c
        cdef Kernel kernel = NULL
        if m.kernels != NULL and (self.stage < STAGE_POSITION or memcmp(self.c.q, self.c.q_seen, m.nq * sizeof(real)) != 0):
            kernel = kernel_for(m, &self.c, KINEMATICS_SLOT)
        if kernel != NULL:
            kernel(&self.c, NULL, NULL, 0.0)
            self.kinematics_done()
            return
        self.need_positions()
        if self.stage >= STAGE_VELOCITY and memcmp(self.c.v, self.c.v_seen, m.nv * sizeof(real)) == 0:
            return
        velocities(m, &self.c)
        copy_reals(self.c.v_seen, self.c.v, m.nv)
        self.stage = STAGE_VELOCITY

    @cython.final
    cdef inline void kinematics_done(self) noexcept:
        """An algorithm has just computed positions and velocities for the present q and v."""
        copy_reals(self.c.q_seen, self.c.q, self.model.c.nq)
        copy_reals(self.c.v_seen, self.c.v, self.model.c.nv)
        self.stage = STAGE_VELOCITY

    def __repr__(self):
        return f"<State of {self.model.name!r}: nq {self.model.nq}, nv {self.model.nv}>"

    def __str__(self):
        """The joints with their positions and velocities."""
        return state_text(self) if LANES == 1 else repr(self)

    def _repr_html_(self):
        """The same as a table, for notebooks."""
        return state_html(self) if LANES == 1 else None
