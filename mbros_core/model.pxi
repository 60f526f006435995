# Model: a compiled robot. Included by every module of the engine.

cdef struct FieldC:             # where a row of fields.FIELDS stands in a State
    Py_ssize_t at               # in reals
    Py_ssize_t rows
    Py_ssize_t columns

cdef dict FIELD_NUMBER = {row.name: k for k, row in enumerate(FIELDS)}
cdef int NUMBER_OF_INPUTS = next(k for k, row in enumerate(FIELDS) if row.stage not in ("input", "parameter"))


cdef class Model:
    """A compiled robot: constants only, shared by any number of states and threads.

    `Model(spec)` takes a `mbros_core.spec.ModelSpec` as it is at that moment. MbrosError naming the element when it is malformed.
    """
    cdef ModelC c
    cdef list tables                         # the Memory of every table of c
    cdef FieldC* fields                      # (len(FIELDS))
    cdef Memory defaults                     # the inputs and parameters of a new State
    cdef list plugs                          # the owners of what the users' functions work on
    cdef readonly object spec                # frozen
    cdef readonly tuple velocity_names       # "joint4", "base.wx", ... one per velocity coordinate
    cdef readonly tuple position_names
    cdef readonly bint needs_gil             # a joint or force element enters Python: not for the real-time loop
    cdef Py_ssize_t state_reals

    def __cinit__(self, spec):
        self.spec = check_spec(spec)
        self.tables, self.plugs = [], []
        self.count(self.spec)
        self.allocate()
        self.fill_joints(self.spec)
        self.fill_frames(self.spec)
        fill(self.c.q_lower, self.c.nq, self.spec.q_lower)
        fill(self.c.q_upper, self.c.nq, self.spec.q_upper)
        self.fill_elements(self.spec)
        self.lay_out_states()
        self.fill_defaults(self.spec)

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

    cdef void* table(self, Py_ssize_t rows, size_t size) except NULL:
        """Zeroed memory for that many structs, as long as the model lives."""
        cdef Memory memory = Memory(rows * <Py_ssize_t>size // 8 + 1)
        self.tables.append(memory)
        return memory.p

    cdef allocate(self):
        self.c.joints = <Joint*>self.table(self.c.nb, sizeof(Joint))
        self.c.q_of_v = <int*>self.table(self.c.nv, sizeof(int))
        self.c.frame_body = <int*>self.table(self.c.nf, sizeof(int))
        self.c.X_BF = <Pose*>self.table(self.c.nf, sizeof(Pose))
        self.c.elements = <ForceElement*>self.table(self.c.ne, sizeof(ForceElement))
        self.c.q_lower = <real*>self.table(self.c.nq + 1, sizeof(real))
        self.c.q_upper = <real*>self.table(self.c.nq + 1, sizeof(real))
        self.fields = <FieldC*>self.table(len(FIELDS), sizeof(FieldC))

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
            fill(<real*>&j.X_PF, 12, spec.X_PF[i])
            j.grounded = row.nv == 0 and (i == 0 or self.c.joints[j.parent].grounded)
            j.follows = spec.leader[i] >= 0
            j.user = NULL
            j.place = place_other
            if spec.joint_kind[i] == "user":
                j.user = self.user_joint(f"joint {spec.joint_names[i]!r}", spec.user_joints[i], row)
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
            raise ArgumentError(f"{who}: expected an object with a PyCapsule named '{name.decode()}' as .capsule, got {shown(owner)}")
        self.plugs += owner, capsule
        return PyCapsule_GetPointer(capsule, name)

    cdef const void* user_joint(self, str who, object owner, object row) except NULL:
        """A copy of the joint's struct: what is written into it later changes nothing here."""
        cdef mbros_user_joint* u = <mbros_user_joint*>self.table(1, sizeof(mbros_user_joint))
        u[0] = (<mbros_user_joint*>self.plug(who, owner, "mbros_core.user_joint"))[0]
        cdef int maps = (u.qdot != NULL) + (u.velocity != NULL) + (u.integrate != NULL) + (u.difference != NULL) + (u.normalize != NULL)
        if u.evaluate == NULL or maps not in (0, 5) or u.nq != row.nq or u.nv != row.nv or (maps == 0) != row.velocities_are_rates:
            raise MbrosError(f"{who}: {shown(owner)} says nq {row.nq}, nv {row.nv}, velocities_are_rates {row.velocities_are_rates}, and the "
                             f"struct in its capsule nq {u.nq}, nv {u.nv} and {maps} of the 5 maps, "
                             f"{'with' if u.evaluate != NULL else 'without'} evaluate; see mbros_core/user.hpp: the sizes are the same, "
                             "and there is no map where v is qdot, else all five")
        self.needs_gil |= u.needs_gil != 0
        return u

    cdef const void* user_force(self, str who, object owner) except NULL:
        """The same for a force element."""
        cdef mbros_user_force* u = <mbros_user_force*>self.table(1, sizeof(mbros_user_force))
        u[0] = (<mbros_user_force*>self.plug(who, owner, "mbros_core.user_force"))[0]
        if u.evaluate == NULL:
            raise MbrosError(f"{who}: the struct in the capsule of {shown(owner)} has no function evaluate; see mbros_core/user.hpp")
        self.needs_gil |= u.needs_gil != 0
        return u

    cdef fill_frames(self, spec):
        cdef int i
        for i in range(self.c.nf):
            self.c.frame_body[i] = spec.frame_body[i]
            fill(<real*>&self.c.X_BF[i], 12, spec.X_BF[i])

    cdef fill_elements(self, spec):
        cdef int k
        cdef ForceElement* e
        for k in range(self.c.ne):
            e = &self.c.elements[k]
            e.kind = force_row_of(spec, k).number
            e.user = NULL
            if spec.force_kind[k] == "user":
                e.user = self.user_force(f"force element {spec.force_names[k]!r}", spec.user_forces[k])
            e.body_a, e.body_c = spec.force_body[k]
            e.iq, e.iv = spec.force_coordinate[k]
            fill(<real*>&e.X_A, 12, spec.force_X[k, 0])
            fill(<real*>&e.X_C, 12, spec.force_X[k, 1])

    cdef lay_out_states(self):
        cdef Py_ssize_t at = 0
        for k, (rows, columns, reals) in enumerate(field_sizes(self.c.nb, self.c.nq, self.c.nv, self.c.nc, self.c.ne)):
            self.fields[<int>k].at, self.fields[<int>k].rows, self.fields[<int>k].columns = at, rows, columns
            at += reals
        self.state_reals = at

    cdef fill_defaults(self, spec):
        cdef FieldC* f
        self.defaults = Memory(self.fields[NUMBER_OF_INPUTS].at * LANES)
        for name, values in (("q", spec.q_default), ("gravity", spec.gravity), ("inertia", spec.inertia), ("damping", spec.damping),
                             ("friction", spec.friction), ("rotor_inertia", spec.rotor_inertia), ("stop_stiffness", spec.stop_stiffness),
                             ("stop_damping", spec.stop_damping), ("lock", spec.lock), ("force_parameters", spec.force_parameters)):
            f = &self.fields[<int>FIELD_NUMBER[name]]
            if values is not None:
                fill(<real*>self.defaults.p + f.at, f.rows * f.columns, values)

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
