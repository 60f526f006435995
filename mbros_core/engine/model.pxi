# Model: a compiled robot. Included by every module of the engine.

cdef struct FieldC:             # where a row of fields.FIELDS stands in a State
    Py_ssize_t at               # in reals
    Py_ssize_t rows
    Py_ssize_t columns

cdef dict FIELD_NUMBER = {row.name: k for k, row in enumerate(FIELDS)}
cdef int NUMBER_OF_INPUTS = next(k for k, row in enumerate(FIELDS) if row.stage not in ("input", "parameter"))


include "kernels.pxi"


cdef inline Py_ssize_t whole_lines(Py_ssize_t bytes) noexcept:
    """How many doubles hold so many bytes, in whole cache lines."""
    return (bytes + 63) // 64 * 8


cdef class Model:
    """A compiled robot: constants only, shared by any number of states and threads.

    `Model(spec)` takes a `mbros_core.spec.ModelSpec` as it is at that moment. MbrosError naming the element when it is malformed.
    """
    cdef ModelC c
    cdef Memory memory                       # of every table here and in c
    cdef FieldC* fields                      # (len(FIELDS))
    cdef mbros_user_joint* joint_plugs       # copies of the users' structs: what is written into these later changes nothing here
    cdef mbros_user_force* force_plugs
    cdef list owners                         # of what the users' functions work on
    cdef Memory defaults                     # the inputs and parameters of a new State
    cdef object scene                        # of shapes and constraints, mbros_core.constraints._scene.Scene
    cdef readonly object spec                # frozen
    cdef readonly tuple velocity_names       # "joint4", "base.wx", ... one per velocity coordinate
    cdef readonly tuple position_names
    cdef readonly bint _needs_gil            # a joint or force element enters Python: not for the real-time loop
    cdef Specialised specialised             # of c.kernels
    cdef Py_ssize_t state_reals
    cdef Memory reach                        # of positions (2, nq): _reach(), where it was asked for

    def __cinit__(self, spec):
        self.spec = check_spec(spec)
        self.owners = []
        self.count(self.spec)
        self.allocate()
        self.fill_joints(self.spec)
        self.fill_frames(self.spec)
        fill(self.c.q_lower, self.c.nq, self.spec.q_lower)
        fill(self.c.q_upper, self.c.nq, self.spec.q_upper)
        self.fill_elements(self.spec)
        self.make_scene(self.spec)
        self.lay_out_states()
        self.fill_defaults(self.spec)

    cdef count(self, spec):
        cdef int i
        self.c.nb = len(spec.parent)
        self.c.nf = len(spec.frame_body)
        self.c.ne, self.c.ncoordinate = len(spec.force_kind), 0
        self.c.apply = apply_elements
        self.c.ns, self.c.nk = len(spec.shape_names), len(spec.constraint_names)
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
        cdef ModelC* m = &self.c
        cdef void*** tables = [<void**>&m.joints, <void**>&m.q_of_v, <void**>&m.frame_body, <void**>&m.X_BF, <void**>&m.elements,
                               <void**>&m.q_lower, <void**>&m.q_upper, <void**>&self.fields, <void**>&self.joint_plugs,
                               <void**>&self.force_plugs]
        cdef Py_ssize_t* bytes = [m.nb * sizeof(Joint), m.nv * sizeof(int), m.nf * sizeof(int), m.nf * sizeof(Pose),
                                  m.ne * sizeof(ForceElement), (m.nq + 1) * sizeof(real), (m.nq + 1) * sizeof(real),
                                  len(FIELDS) * sizeof(FieldC), len(self.spec.user_joints) * sizeof(mbros_user_joint),
                                  len(self.spec.user_forces) * sizeof(mbros_user_force)]
        cdef Py_ssize_t at = 0
        cdef int k
        for k in range(10):
            at += whole_lines(bytes[k])
        self.memory = Memory(at)
        at = 0
        for k in range(10):
            tables[k][0] = self.memory.p + at
            at += whole_lines(bytes[k])

    cdef fill_joints(self, spec):
        cdef int i, k
        cdef int iq = 0, iv = 0, column = 0, written_by_users = 0
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
            fill(<real*>&j.X_PF, 12, spec.X_PF[i])
            j.grounded = row.nv == 0 and (i == 0 or self.c.joints[j.parent].grounded)
            j.follows = spec.leader[i] >= 0
            j.user = NULL
            j.place = place_other
            if spec.joint_kind[i] == "user":
                j.user = &self.joint_plugs[written_by_users]
                self.plug_joint(&self.joint_plugs[written_by_users], f"joint {spec.joint_names[i]!r}", spec.user_joints[i], row)
                written_by_users += 1
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

    cdef void* plug(self, str who, object owner, const char* name) except NULL:
        """What is in the capsule of a user's joint or force element; both live as long as the model."""
        capsule = owner.capsule
        if not PyCapsule_IsValid(capsule, name):
            raise WrongTypeError(f"{who}: expected an object with a PyCapsule named '{name.decode()}' as .capsule, got {short(owner)}")
        self.owners += owner, capsule
        return PyCapsule_GetPointer(capsule, name)

    cdef int plug_joint(self, mbros_user_joint* u, str who, object owner, object row) except -1:
        u[0] = (<mbros_user_joint*>self.plug(who, owner, "mbros_core.user_joint"))[0]
        cdef int maps = (u.qdot != NULL) + (u.velocity != NULL) + (u.integrate != NULL) + (u.difference != NULL) + (u.normalize != NULL)
        if u.evaluate == NULL or maps not in (0, 5) or u.nq != row.nq or u.nv != row.nv or (maps == 0) != row.velocities_are_rates:
            raise MbrosError(f"{who}: {short(owner)} says nq {row.nq}, nv {row.nv}, velocities_are_rates {row.velocities_are_rates}, "
                             f"and the struct in its capsule nq {u.nq}, nv {u.nv} and {maps} of the 5 maps, "
                             f"{'with' if u.evaluate != NULL else 'without'} evaluate; see mbros_core/user.hpp: the sizes are the same, "
                             "and there is no map where v is qdot, else all five")
        self._needs_gil |= u.needs_gil != 0
        return 0

    cdef int plug_force(self, mbros_user_force* u, str who, object owner) except -1:
        u[0] = (<mbros_user_force*>self.plug(who, owner, "mbros_core.user_force"))[0]
        if u.evaluate == NULL:
            raise MbrosError(f"{who}: the struct in the capsule of {short(owner)} has no function evaluate; see mbros_core/user.hpp")
        self._needs_gil |= u.needs_gil != 0
        return 0

    cdef fill_frames(self, spec):
        cdef int i
        for i in range(self.c.nf):
            self.c.frame_body[i] = spec.frame_body[i]
            fill(<real*>&self.c.X_BF[i], 12, spec.X_BF[i])

    cdef fill_elements(self, spec):
        cdef int k, written_by_users = 0
        cdef ForceElement* e
        for k in range(self.c.ne):
            e = &self.c.elements[k]
            e.kind = force_row_of(spec, k).number
            e.user = NULL
            if spec.force_kind[k] == "user":
                e.user = &self.force_plugs[written_by_users]
                self.plug_force(&self.force_plugs[written_by_users], f"force element {spec.force_names[k]!r}", spec.user_forces[k])
                written_by_users += 1
            e.body_a, e.body_c = spec.force_body[k]
            e.iq, e.iv = spec.force_coordinate[k]
            self.c.ncoordinate += e.iv >= 0
            fill(<real*>&e.X_A, 12, spec.force_X[k, 0])
            fill(<real*>&e.X_C, 12, spec.force_X[k, 1])

    cdef make_scene(self, spec):
        """The shapes, constraints and springs between bodies on this tree."""
        cdef const Joint* j
        cdef int i
        self.c.scene = NULL
        self.c.touch, self.c.nt = with_contact_and_slopes if OF_DUALS else with_contact, 0
        self.c.hold = with_constraints_and_slopes if OF_DUALS else with_constraints
        self.c.nsprings = len(spring_numbers(spec))
        if self.c.ns == 0 and self.c.nk == 0 and self.c.nsprings == 0:
            return
        from mbros_core.constraints._scene import Scene                 # models without them do not load it
        before = list(range(-1, self.c.nv - 1))
        ends = [-1] * self.c.nb
        for i in range(1, self.c.nb):
            j = &self.c.joints[i]
            ends[i] = ends[j.parent] if j.nv == 0 else j.iv + j.nv - 1
            if j.nv and not self.c.shared:
                before[j.iv] = ends[j.parent]
        tree = ([max(0, self.c.joints[i].parent) for i in range(self.c.nb)], [self.c.joints[i].iv for i in range(self.c.nb)],
                [self.c.joints[i].nv for i in range(self.c.nb)], [self.c.joints[i].column for i in range(self.c.nb)])
        self.scene = Scene(spec, tree, before, self.c.nq, self.c.shared)
        self.c.nt = self.scene.rows
        self.c.scene = <ContactScene*>PyCapsule_GetPointer(self.scene.capsule, "mbros_core.scene")

    cdef lay_out_states(self):
        cdef Py_ssize_t at = 0
        for k, (rows, columns, reals) in enumerate(field_sizes(self.c.nb, self.c.nq, self.c.nv, self.c.nc, self.c.ne, self.c.ns,
                                                                  self.c.nk, self.c.nt)):
            self.fields[<int>k].at, self.fields[<int>k].rows, self.fields[<int>k].columns = at, rows, columns
            at += reals
        self.state_reals = at

    cdef fill_defaults(self, spec):
        cdef FieldC* f
        self.defaults = Memory(self.fields[NUMBER_OF_INPUTS].at * LANES)
        for name, values in (("q", spec.q_default), ("gravity", spec.gravity), ("inertia", spec.inertia), ("damping", spec.damping),
                             ("friction", spec.friction), ("rotor_inertia", spec.rotor_inertia), ("stop_stiffness", spec.stop_stiffness),
                             ("stop_damping", spec.stop_damping), ("lock", spec.lock), ("force_parameters", spec.force_parameters),
                             ("contact_parameters", spec.shape_parameters), ("constraint_parameters", spec.constraint_parameters)):
            f = &self.fields[<int>FIELD_NUMBER[name]]
            if values is not None:
                fill(<real*>self.defaults.p + f.at, f.rows * f.columns, values)

    def _specialise(self, addresses, live, library):
        """From now on states like this model's own go through the compiled functions at {kernel: address}, which `library` keeps; live:
        places of State._inputs that they read. For who has just made the model."""
        self.specialised = Specialised(addresses, live, library, self.defaults, self.fields[<int>FIELD_NUMBER["external_force"]].at,
                                       self.fields[<int>FIELD_NUMBER["contact_parameters"]].at)
        self.c.kernels = &self.specialised.c

    @cython.final
    cdef bint is_beyond(self, const real* q) except -1:
        """Whether a position is beyond _reach()."""
        cdef const double* low
        cdef int k
        cdef bint beyond = False
        if self.reach is None:
            self.find_reach()
        low = self.reach.p
        for k in range(self.c.nq):
            beyond = beyond or not low[k] <= value(q[k]) <= low[self.c.nq + k]
        return beyond

    cdef int find_reach(self) except -1:
        cdef Memory found = Memory(2 * self.c.nq)
        bounds = self._reach() or ([-np.inf] * self.c.nq, [np.inf] * self.c.nq)
        for k, bound in enumerate(np.concatenate(bounds).tolist()):
            found.p[<int>k] = bound
        self.reach = found
        return 0

    def _reach(self):
        """(lower, upper), (nq,) each, beyond which a state that is set calls _warn_beyond; None: nowhere. An engine's own has none."""
        return None

    def _warn_beyond(self, state):
        """A state of this model was set beyond _reach()."""

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

    def default_state(self):
        """A State at the default configuration, at rest, with the model's own parameters."""
        return State(self)

    def __reduce__(self):
        return (type(self), (self.spec,))
