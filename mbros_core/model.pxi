# Model and State: memory and checks. Included by every module of the engine; the module's `real` decides what a number is.

cdef class Memory:
    """One aligned, zeroed allocation of doubles; what NumPy views keep alive."""
    cdef double* p
    cdef Py_ssize_t n

    def __cinit__(self, Py_ssize_t n):
        self.n = n
        self.p = <double*>aligned_alloc(64, (n * sizeof(double) + 63) // 64 * 64)
        if self.p == NULL:
            raise MemoryError(f"no memory for {n} doubles")
        memset(self.p, 0, n * sizeof(double))

    def __dealloc__(self):
        free(self.p)

    cdef object view(self, Py_ssize_t start, Py_ssize_t rows, Py_ssize_t columns):
        """A writable (rows,) or (rows, columns) array on this memory; with lanes, a last axis of LANES more."""
        cdef cnp.npy_intp shape[3]
        cdef int n = 1
        shape[0] = rows
        if columns > 1:
            shape[n] = columns
            n += 1
        if LANES > 1:
            shape[n] = LANES
            n += 1
        cdef cnp.ndarray a = cnp.PyArray_SimpleNewFromData(n, shape, cnp.NPY_DOUBLE, self.p + start)
        cnp.set_array_base(a, self)
        return a


cdef void fill(real* to, object values):
    """to[i] = values[i]: in every lane, or with derivatives of zero."""
    cdef cnp.ndarray a = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    cdef double* p = <double*>cnp.PyArray_DATA(a)
    cdef Py_ssize_t i
    for i in range(a.size):
        to[i] = real(p[i])


cdef class Model:
    """A compiled robot: constants only, shared by any number of states and threads.

    `Model(spec)` takes a `mbros_core.spec.ModelSpec`. Raises ValueError naming the element when the spec is malformed.
    """
    cdef ModelC c
    cdef Memory memory
    cdef int* ints
    cdef readonly object spec
    cdef readonly tuple velocity_names      # "joint4", "base.wx", ... one per velocity coordinate
    cdef readonly tuple position_names
    cdef readonly bint needs_gil             # a joint or force element enters Python: not for the real-time loop
    cdef list capsules                       # of users' joints and force elements: their memory stays as long as this
    cdef list offsets                        # of each field in a State, in reals
    cdef Py_ssize_t state_reals

    def __cinit__(self, *args, **kwargs):
        self.ints = NULL

    def __dealloc__(self):
        free(self.ints)

    def __init__(self, spec):
        self.spec = spec
        self.capsules = []
        check_spec(spec)
        self.count(spec)
        self.allocate()
        self.fill_joints(spec)
        self.fill_frames(spec)
        fill(self.c.q_lower, spec.q_lower)
        fill(self.c.q_upper, spec.q_upper)
        self.fill_elements(spec)
        self.lay_out_states()

    cdef count(self, spec):
        cdef int i
        self.c.nb = len(spec.parent)
        self.c.nf = len(spec.frame_body)
        self.c.ne = len(spec.force_kind)
        self.c.apply = apply_elements
        self.c.nq = self.c.nv = self.c.nc = self.c.shared = 0
        positions, velocities = [], []
        for i in range(self.c.nb):
            row = row_of(spec, i)
            self.c.nc += row.nv
            if spec.leader[i] >= 0:
                self.c.shared = 1
                continue
            self.c.nq += row.nq
            self.c.nv += row.nv
            name = spec.joint_names[i]
            positions += [name] if row.nq == 1 else [f"{name}.{suffix}" for suffix in row.position_names]
            velocities += [name] if row.nv == 1 else [f"{name}.{suffix}" for suffix in row.velocity_names]
        self.position_names = tuple(positions)
        self.velocity_names = tuple(velocities)

    cdef allocate(self):
        cdef int nb = self.c.nb
        cdef int reals_per_joint = sizeof(Joint) // sizeof(double) + 1
        cdef Py_ssize_t joints = (nb * reals_per_joint + 7) // 8 * 8
        cdef Py_ssize_t poses = (self.c.nf * 12 * LANES + 7) // 8 * 8
        cdef Py_ssize_t limits = ((self.c.nq + 1) * LANES + 7) // 8 * 8
        cdef Py_ssize_t elements = self.c.ne * (sizeof(ForceElement) // sizeof(double) + 1)
        self.memory = Memory(joints + poses + 2 * limits + elements)
        self.ints = <int*>malloc((self.c.nv + self.c.nf + 1) * sizeof(int))
        if self.ints == NULL:
            raise MemoryError("no memory for the model")
        self.c.joints = <Joint*>self.memory.p
        self.c.X_BF = <Pose*>(self.memory.p + joints)
        self.c.q_lower = <real*>(self.memory.p + joints + poses)
        self.c.q_upper = <real*>(self.memory.p + joints + poses + limits)
        self.c.elements = <ForceElement*>(self.memory.p + joints + poses + 2 * limits)
        self.c.q_of_v = self.ints
        self.c.frame_body = self.ints + self.c.nv

    cdef fill_joints(self, spec):
        cdef int i, k
        cdef int iq = 0, iv = 0, column = 0
        cdef Joint* j
        for i in range(self.c.nb):
            row = row_of(spec, i)
            j = &self.c.joints[i]
            j.kind, j.nq, j.nv = row.number, row.nq, row.nv
            j.parent = spec.parent[i]
            for k in range(row.nv):
                j.pure[k] = row.columns[k]
            j.column = column
            column += row.nv
            j.ratio, j.offset = real(<double>spec.ratio[i]), real(<double>spec.offset[i])
            for k in range(4):
                j.par[k] = real(<double>spec.joint_parameters[i, k])
            fill(<real*>&j.X_PF, spec.X_PF[i])
            j.grounded = row.nv == 0 and (i == 0 or self.c.joints[j.parent].grounded)
            j.follows = spec.leader[i] >= 0
            j.user = NULL
            j.place = place_other
            if spec.joint_kind[i] == "user":
                j.user = self.pointer(spec.user_joints[i].capsule, "mbros_core.user_joint")
                self.needs_gil |= (<const mbros_user_joint*>j.user).needs_gil != 0
            if j.nv == 0 or j.follows:
                j.iq = j.iv = 0
                continue
            j.iq, j.iv = iq, iv
            for k in range(row.nv):
                self.c.q_of_v[iv + k] = iq + k if row.velocities_are_rates else -1
            iq += row.nq
            iv += row.nv
        for i in range(self.c.nb):
            if spec.leader[i] >= 0:
                self.c.joints[i].iq = self.c.joints[<int>spec.leader[i]].iq
                self.c.joints[i].iv = self.c.joints[<int>spec.leader[i]].iv

    cdef const void* pointer(self, object capsule, const char* name) except NULL:
        """What a user's capsule points at; it is kept."""
        self.capsules.append(capsule)
        return PyCapsule_GetPointer(capsule, name)

    cdef fill_frames(self, spec):
        cdef int i
        for i in range(self.c.nf):
            self.c.frame_body[i] = spec.frame_body[i]
            fill(<real*>&self.c.X_BF[i], spec.X_BF[i])

    cdef fill_elements(self, spec):
        cdef int k
        cdef ForceElement* e
        for k in range(self.c.ne):
            e = &self.c.elements[k]
            e.kind = force_row_of(spec, k).number
            e.user = NULL
            if spec.force_kind[k] == "user":
                e.user = self.pointer(spec.user_forces[k].capsule, "mbros_core.user_force")
                self.needs_gil |= (<const mbros_user_force*>e.user).needs_gil != 0
            e.body_a, e.body_c = spec.force_body[k]
            e.iq, e.iv = spec.force_coordinate[k]
            fill(<real*>&e.X_A, spec.force_X[k, 0])
            fill(<real*>&e.X_C, spec.force_X[k, 1])

    cdef lay_out_states(self):
        self.offsets = []
        cdef Py_ssize_t at = 0
        for n in field_sizes(self.c.nb, self.c.nq, self.c.nv, self.c.nc, self.c.ne):
            self.offsets.append(at)
            at += n
        self.state_reals = at

    @property
    def name(self):
        return self.spec.name

    @property
    def nq(self):
        """Number of position coordinates."""
        return self.c.nq

    @property
    def nv(self):
        """Number of velocity coordinates (degrees of freedom)."""
        return self.c.nv

    @property
    def ncompiled(self):
        """Number of compiled bodies, with the world; bodies welded together are one."""
        return self.c.nb

    @property
    def nframes(self):
        return self.c.nf

    @property
    def shares_coordinates(self):
        """True when a joint follows another (mimic); forward dynamics then go through the mass matrix."""
        return bool(self.c.shared)

    def new_state(self):
        """A State at the default configuration, at rest, with the model's parameters."""
        return State(self)

    def __reduce__(self):
        return (type(self), (self.spec,))


cdef class State:
    """Time, q, v, every tunable parameter, and the workspace of results, in one allocation (mbros_core.fields).

    The arrays are views: writing `state.q[2] = 0.5` is allowed at any time. Results that depend on q and v carry the values
    they were computed for and are recomputed when these differ, so a stale result cannot be read.
    """
    cdef readonly Model model
    cdef Work c
    cdef Memory memory
    cdef int stage
    cdef int64_t held                       # who works on it now without the interpreter lock (held.hpp)
    cdef dict views

    def __init__(self, Model model not None):
        self.model = model
        self.memory = Memory(model.state_reals * LANES)
        self.views = {}
        cdef real** pointers = <real**>&self.c
        cdef int i
        for i, at in enumerate(model.offsets):
            pointers[i] = <real*>self.memory.p + <Py_ssize_t>at
        if model.c.ne == 0:
            self.c.applied = self.c.external_force          # nothing to add: the algorithms read the user's wrenches
        spec = model.spec
        fill(self.c.q, spec.q_default)
        fill(self.c.force_parameters, spec.force_parameters)
        fill(<real*>self.c.gravity, spec.gravity)
        fill(<real*>self.c.inertia, spec.inertia)
        fill(self.c.damping, spec.damping)
        fill(self.c.friction, spec.friction)
        fill(self.c.rotor_inertia, spec.rotor_inertia)
        fill(self.c.stop_stiffness, spec.stop_stiffness)
        fill(self.c.stop_damping, spec.stop_damping)
        if spec.lock is not None:
            fill(self.c.lock, spec.lock)
        self.stage = STAGE_NONE

    # ------------------------------------------------------------------------------------- who works on it now

    @cython.final
    cdef inline int refuse_held(self) except -1:
        """While a real-time loop or a long call in another thread works on this memory, nobody else does."""
        if is_held(&self.held):
            self.refuse_holder()
        return 0

    @cython.final
    cdef int refuse_holder(self) except -1:
        cdef int64_t who = holder(&self.held)
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
        if not seize(&self.held, by_a_call()):
            self.refuse_holder()
        return 0

    @cython.final
    cdef void let_go(self) noexcept nogil:
        let_go(&self.held)

    @property
    def is_held(self):
        """A real-time loop, or a call in another thread, works on this state now: whatever else would touch it is refused."""
        return holder(&self.held) != 0

    def check_free(self):
        """Raise BusyError while a real-time loop, or a call in another thread, works on this state."""
        self.refuse_held()

    def field(self, str name not None):
        """The array `name` of mbros_core.fields as a writable view of this state's memory."""
        view = self.views.get(name)
        if view is not None:
            return view
        cdef int i
        counts = {"1": 1, "nb": self.model.c.nb, "nq": self.model.c.nq, "nv": self.model.c.nv, "nc": self.model.c.nc,
                  "ne": self.model.c.ne}
        for i, row in enumerate(FIELDS):
            if row.name == name:
                columns = self.model.c.nv if row.columns < 0 else row.columns
                rows = counts[row.rows]
                if row.rows == "1":
                    rows, columns = columns, 1
                view = self.memory.view(<Py_ssize_t>self.model.offsets[i] * LANES, rows, columns)
                self.views[name] = view
                return view
        raise KeyError(f"no field {name!r} in a State; fields: {', '.join(row.name for row in FIELDS)}")

    @property
    def inputs(self):
        """All input and parameter fields in one writable view (reals,), or (reals, lanes); laid out alike in every build."""
        if "inputs" not in self.views:
            first = next(i for i, row in enumerate(FIELDS) if row.stage not in ("input", "parameter"))
            self.views["inputs"] = self.memory.view(0, self.model.offsets[first], 1)
        return self.views["inputs"]

    @property
    def time(self):
        """Time, s."""
        return value(self.c.time[0])

    @time.setter
    def time(self, double t):
        self.refuse_held()
        if not -1e300 < t < 1e300:
            raise MbrosError(f"time: expected a finite number of seconds, got {t}")
        self.c.time[0] = real(t)

    @property
    def q(self):
        """Positions (nq,), a view. Setting it is set_q."""
        return self.field("q")

    @q.setter
    def q(self, values):
        self.set_q(values)

    @property
    def v(self):
        """Velocities (nv,), a view. Setting it is set_v."""
        return self.field("v")

    @v.setter
    def v(self, values):
        self.set_v(values)

    @property
    def gravity(self):
        """Gravity vector in W (3,), m/s^2, a view."""
        return self.field("gravity")

    @gravity.setter
    def gravity(self, values):
        self.set_view("gravity", values, -np.inf)

    @property
    def damping(self):
        """Viscous damping (nv,), N m s/rad or N s/m, a view."""
        return self.field("damping")

    @damping.setter
    def damping(self, values):
        self.set_view("damping", values, 0.0)

    @property
    def friction(self):
        """Coulomb friction (nv,), N m or N, a view."""
        return self.field("friction")

    @friction.setter
    def friction(self, values):
        self.set_view("friction", values, 0.0)

    @property
    def rotor_inertia(self):
        """Reflected rotor inertia (nv,), kg m^2 or kg, a view."""
        return self.field("rotor_inertia")

    @rotor_inertia.setter
    def rotor_inertia(self, values):
        self.set_view("rotor_inertia", values, 0.0)

    @property
    def external_force(self):
        """Wrenches F_Bo_W applied on the compiled bodies (nb, 6), [torque; force] about Bo in W axes, a view."""
        return self.field("external_force")

    @external_force.setter
    def external_force(self, values):
        self.set_view("external_force", values, -np.inf)

    def set_q(self, q):
        """Set the positions (nq,): finite; quaternions are brought to unit length. On an error nothing has changed."""
        self.set_field("q", self.c.q, self.model.c.nq, q, self.model.position_names, True)
        return self

    def set_v(self, v):
        """Set the velocities (nv,): finite. On an error nothing has changed."""
        self.set_field("v", self.c.v, self.model.c.nv, v, self.model.velocity_names, False)
        return self

    cdef set_view(self, str name, object values, double least):
        """Numbers of a view, all of them: finite, none below `least`. On an error nothing has changed."""
        view = self.field(name)
        who = f"state of model {self.model.name!r}: {name}"
        try:
            a = np.array(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise MbrosError(f"{who}: expected numbers of shape {view.shape}, got {values!r:.80}") from None
        if a.shape != view.shape:
            raise MbrosError(f"{who}: expected numbers of shape {view.shape}, got shape {a.shape}")
        bad = np.argwhere(~np.isfinite(a) | (a < least))
        if len(bad):
            where = [int(k) for k in bad[0]]
            raise (MbrosError if np.isfinite(a[tuple(where)]) else NonFiniteError)(
                f"{who}{where} is {a[tuple(where)]:g}; expected a finite number" + (", zero or more" if least == 0.0 else ""))
        view[...] = a

    cdef set_field(self, str name, real* to, int n, object values, tuple names, bint configuration):
        self.refuse_held()
        if LANES > 1:
            raise TypeError("a state of several lanes is set through its arrays")
        try:
            a = np.array(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise MbrosError(f"state of model {self.model.name!r}: {name}: expected {n} numbers, got {values!r:.80}") from None
        if a.shape != (n,):
            raise MbrosError(f"state of model {self.model.name!r}: {name}: expected {n} numbers, shape ({n},), "
                             f"got shape {a.shape}")
        cdef real* p = <real*>cnp.PyArray_DATA(<cnp.ndarray>a)
        bad = np.flatnonzero(~np.isfinite(a))
        if bad.size:
            raise NonFiniteError(f"state of model {self.model.name!r}: {name}[{bad[0]}] (joint {names[bad[0]]!r}) is "
                                 f"{a[bad[0]]}; expected a finite number")
        if configuration:
            given = a.copy()
            bring_back(&self.model.c, p, NULL)
            if np.abs(a - given).max(initial=0.0) < 1e-15:
                a[...] = given                              # it was of unit length: kept to the bit
            if not all_finite(p, n):
                raise MbrosError(f"state of model {self.model.name!r}: a quaternion of zeros is no rotation; the neutral one is "
                                 "(w, x, y, z) = (1, 0, 0, 0)")
        copy_reals(to, p, n)

    def copy(self):
        """An independent copy (one memcpy)."""
        self.refuse_held()
        return self.twin()

    @cython.final
    cdef State twin(self):
        """A copy, whoever works on this state: for who knows that it stands still."""
        cdef State other = type(self)(self.model)
        memcpy(other.memory.p, self.memory.p, self.memory.n * sizeof(double))
        other.stage = self.stage
        return other

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        """As copy(): the model does not change, so the copy is of the same one."""
        return self.copy()

    def __reduce__(self):
        raise TypeError(f"a state of model {self.model.name!r} is not pickled: pickle the model and the arrays that are needed, such as q "
                        "and v; copy() copies a state")

    def assign(self, State other not None):
        """Take over everything from another state of the same model."""
        if other.model is not self.model:
            raise state_error(f"state of model {self.model.name!r}", self.model, other)
        self.refuse_held()
        other.refuse_held()
        memcpy(self.memory.p, other.memory.p, self.memory.n * sizeof(double))
        self.stage = other.stage

    def poison(self):
        """Fill everything but inputs and parameters with NaN, so that a test sees whatever is read before it is written."""
        self.refuse_held()
        for row in FIELDS:
            if row.stage not in ("input", "parameter"):
                self.field(row.name)[...] = np.nan
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
