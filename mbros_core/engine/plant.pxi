# Plant: a model and a state that advance in time under commands. What mbros.Simulator steps and what the real-time loop drives.

from mbros_core.realtime.capsule cimport plug_of

from mbros_core.constraints import registry as contact_registry
from mbros_core.spec import one_axis_joints

# What may change while it moves: the parameter arrays of a State, the wrenches from outside, and the motion of prescribed joints.
TUNABLE = tuple(row.name for row in FIELDS if row.stage == "parameter") + ("external_force", "motion_q", "motion")


cdef class Plant:
    """A robot in motion: `step(tau)` advances it by dt; commands are clamped to the effort limits and the clamps counted.

    A step that would leave a coordinate not finite, or beyond 1e10 in SI units, is a fault: the state stays the last good
    one and nothing moves until reset(). `capsule` is the plug for the real-time loop (realtime/ports.hpp); `layout` says
    where things stand in its snapshots and `parameters` where they stand in its block of live parameters, as
    name -> (offset, size).

    joint_rows: (iq, iv, ratio, offset, drives) of each joint with one degree of freedom, followers too.
    transform_pairs: (frame a, frame b) table indices; snapshots carry the pose of b in a as x y z qx qy qz qw. Those of a model with
    shapes carry its contacts too, 32 at most: rows as mbros_core.constraints.touches reads them, of which the first is the head.
    max_contact_iterations: bound on the iterations of a step's contact problem, for a bound on its time; steps that end there are counted.
    tolerances: (rtol, atol) of the integrator dormand_prince, None for one that is not given.
    While a real-time loop runs it, plant and state are the loop's: calls from Python that would touch them raise BusyError, as
    they do during a call of steps() in another thread. NumPy views of the state cannot be guarded: leave them alone meanwhile.
    What a call runs on its way (progress, the law of efforts, joints and force elements in Python) may look and copy; step, steps and
    reset raise BusyError there.
    """
    cdef readonly Dynamics model
    cdef readonly State state
    cdef readonly double dt
    cdef readonly str integrator
    cdef readonly dict layout
    cdef readonly dict parameters
    cdef PlantC c
    cdef mbros_plant port
    cdef mbros_inside within
    cdef readonly object devices    # what stands between commands and the mechanics (mbros_core.plant), or None
    cdef mbros_memory port_memory
    cdef Memory memory
    cdef Memory snapshot
    cdef Memory checked             # the parameters for which rk4 was found to be stable; None where nothing is to be checked
    cdef Memory adaptive            # of dormand_prince, else None
    cdef object laws                # of prescribed joints, asked at every stage of dormand_prince (_callbacks.LawsCallback), or None
    cdef readonly tuple tolerances  # (rtol, atol) of it, else (0, 0)
    cdef object rest                # the row that reset() goes to, once it was asked for
    cdef Door door
    cdef long moving                # the thread whose step(), steps() or under() has not returned yet; 0: none

    def __cinit__(self, Dynamics model not None, State state=None, double dt=1e-3, str integrator=integrators.DEFAULT,
                  joint_rows=None, transform_pairs=(), max_contact_iterations=contact_registry.MOST_ITERATIONS,
                  tolerances=None):
        given.choice("Plant", "integrator", integrator, tuple(PLANT_INTEGRATORS))
        given.step_length("Plant", dt)
        check_contact(&model.c, f"model {model.name!r}", PLANT_INTEGRATORS[integrator])
        if state is not None and state.model is not model:
            raise foreign_state(model, state)
        self.model, self.dt, self.integrator = model, dt, integrator
        if state is not None:
            state.refuse_held()
        self.state = State(model) if state is None else state
        if model.c.shared:
            self.state.need_dense()
        self.state.need_contacts()
        rows = one_axis_joints(model.spec) if joint_rows is None else list(joint_rows)
        allocate_plant(self, rows, list(transform_pairs))
        self.c.most_iterations = given.count("Plant", "max_contact_iterations", max_contact_iterations, least=1, most=1000)
        describe_snapshot(self)
        describe_parameters(self)
        fill_port(self)
        fill_inside(self)
        self.tolerances = given.tolerances("Plant", integrator, tolerances)
        if self.c.integrator == DORMAND_PRINCE:
            self.adaptive = Memory(adaptive_doubles(&model.c))
            place_adaptive(&model.c, &self.c.adaptive, self.adaptive.p)
            self.c.adaptive.rtol, self.c.adaptive.atol = self.tolerances
        if self.c.integrator == RK4:
            self.checked = Memory(parameter_doubles(self))
            watch_friction(self)

    # ------------------------------------------------------------------------------------------------ copies

    def __copy__(self):
        """A plant of the same model that goes on by itself, from a copy of the state."""
        return plant_of(type(self), self.model, self.state.copy(), self.settings(), self.last_step())

    def __reduce__(self):
        # a deep or pickled copy is one of copies of the model and the state
        self.refuse_driven()
        return plant_of, (None if type(self) is Plant else type(self), self.model, self.state, self.settings(), self.last_step())

    cdef tuple settings(self):
        """What it was made with, besides model and state."""
        rows = [(row.iq, row.iv, row.ratio, row.offset, bool(row.drives)) for row in self.c.joints[:self.c.nj]]
        return (self.dt, self.integrator, rows, [(pair.a, pair.b) for pair in self.c.pairs[:self.c.npairs]], self.c.most_iterations,
                self.tolerances if self.adaptive is not None else None)

    cdef tuple last_step(self):
        """What the last step left behind outside the state: the efforts it applied, the clamps so far, a fault."""
        return self.effort, self.c.clamped, self.c.fault, self.c.fault_index

    def _take_over(self, effort, double clamped, int fault, int fault_index):
        """What last_step() said of another plant of such a model."""
        cdef cnp.ndarray x = self.model.vector(effort, self.model.c.nv, "effort")
        self.refuse_moving()
        memcpy(self.c.effort, cnp.PyArray_DATA(x), self.model.c.nv * sizeof(double))
        self.c.clamped, self.c.fault, self.c.fault_index = clamped, fault, fault_index

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps the plant. MbrosError where the state violates a constraint, and for dormand_prince."""
        if self.adaptive is not None:
            raise MbrosError(f"the real-time loop: the integrator {self.integrator} takes as many substeps as errors ask for, without a bound "
                             f"on their time; use {integrators.DEFAULT!r}, or simulate offline: advance_to, run")
        if not self.state.is_held:
            check_closed(self.model, self.state)
        return plug_of(self, &self.port, "mbros_core.plant", &self.port_memory)

    @property
    def _inside(self):
        """What devices work on (plant/inside.hpp), in a capsule that does not keep the plant."""
        return PyCapsule_New(&self.within, "mbros_core.inside", NULL)

    def _attach(self, devices):
        """From now on steps go through devices: an object whose `capsule` is a mbros_devices on this plant's inside."""
        cdef mbros_devices* x = <mbros_devices*>PyCapsule_GetPointer(devices.capsule, "mbros_core.plant")
        self.refuse_moving()
        self.c.devices = x
        self.devices = devices

    @cython.final
    cdef inline int refuse_driven(self) except -1:
        """Whoever works on this memory without the GIL is alone."""
        self.state.begin()
        return 0

    @cython.final
    cdef inline int refuse_moving(self) except -1:
        """Nobody moves it while it is being moved: not what the moving call runs itself, and no other thread in between."""
        if self.moving == 0 or self.moving != this_thread():
            self.refuse_driven()
        if self.moving:
            raise BusyError(f"the simulation of model {self.model.name!r} is in the middle of a call (run, advance_to, steps, step): "
                            "progress, a law of efforts and code of joints and force elements may look at it, and not step or reset it")
        return 0

    def under(self, law):
        """law(time, state), the command of the step to come. What it does with the state's numbers is its own affair."""
        self.refuse_moving()
        self.moving = this_thread()
        try:
            return law(self.state.time, self.state)
        finally:
            self.moving = 0

    def step(self, tau=None, progress=None):
        """Advance by dt under tau (nv,), N m or N (None: no effort). Raises FaultError on a fault; the state is then the
        last good one. Raises NonFiniteError, and does nothing, when tau is not finite. progress: see steps()."""
        cdef int code
        self.refuse_moving()
        if self.model.c.nk:
            check_closed(self.model, self.state)
        if self.checked is not None:
            watch_friction(self)
        if tau is None and self.c.devices == NULL:
            if self.c.fault == NO_FAULT:
                memset(self.c.effort, 0, self.model.c.nv * sizeof(double))
            self.moving = this_thread()
            code = advance(&self.c, self.c.effort, self.dt)
            self.moving = 0
        else:
            code = self.step_under(self.model.vector(np.zeros(self.model.c.nv) if tau is None else tau, self.model.c.nv, "tau"))
        if code != NO_FAULT:
            self.fail()
        if progress is not None and knock(&self.door):
            self.moving = this_thread()
            try:
                let_in(&self.door, progress, self.state.time)
            finally:
                self.moving = 0

    cdef object fail(self):
        """Raise for the fault of the last step. Ctrl-C inside a joint or element written in Python is not the plant's fault, nor is code
        there that asks the engine for itself; a law of motion raises what it raised."""
        self.raise_of_laws()
        self.moving = this_thread()                          # the cause is looked for in users' code, too
        try:
            failed = raised(self.model)
            text = self.say_fault(self.c.fault_index, failed[0] if failed else "")
            raised(self.model)                      # an interrupt while the cause was looked for
        except BaseException as error:
            if not isinstance(error, Exception) or isinstance(error, BusyError):
                self.c.fault, self.c.fault_index = NO_FAULT, -1
            raise
        finally:
            self.moving = 0
        raise FaultError(text) from (failed[1] if failed else None)

    cdef int step_under(self, cnp.ndarray tau) except -1:
        cdef double* x = <double*>cnp.PyArray_DATA(tau)
        if not all_finite(<real*>x, self.model.c.nv):
            raise NonFiniteError(explain_not_finite(self.model, "step", {"tau": tau}))
        self.moving = this_thread()
        cdef int code = self.port.step(&self.c, x, self.dt)
        self.moving = 0
        return code

    def steps(self, tau, n, progress=None):
        """n steps under the same tau (nv,) with the GIL released; the same errors as step().

        Ctrl-C ends it after a whole step, and so does what progress(time) raises, which is called every 20 ms or so of work.
        """
        self.refuse_moving()
        cdef cnp.ndarray t = self.model.vector(tau, self.model.c.nv, "tau")
        cdef int code
        cdef long long count = step_count("steps", n)
        if not all_finite(<real*>cnp.PyArray_DATA(t), self.model.c.nv):
            raise NonFiniteError(explain_not_finite(self.model, "steps", {"tau": t}))
        if self.model.c.nk and count:
            check_closed(self.model, self.state)
        if self.checked is not None:
            watch_friction(self)
        self.moving = this_thread()
        try:
            code = self.run_steps(<double*>cnp.PyArray_DATA(t), count, progress)
        finally:
            self.moving = 0
        if code != NO_FAULT:
            self.fail()

    cdef int run_steps(self, const double* tau, long long count, progress) except? -1:
        """Steps in stretches. Between two of them the state is free and the door open: for Ctrl-C, and for progress(time)."""
        cdef int code = NO_FAULT
        cdef long long k = 0
        cdef bint knocked = False
        approach(&self.door)
        while k < count and code == NO_FAULT:
            self.state.hold()
            with nogil:
                while k < count and code == NO_FAULT and not knocked:
                    code = self.port.step(&self.c, tau, self.dt)
                    k += 1
                    knocked = knock(&self.door)
            self.state.let_go()
            if knocked and code == NO_FAULT:
                knocked = False
                let_in(&self.door, progress, self.state.time)
        return code

    def observe(self, out=None):
        """The present snapshot (layout says what stands where). Raises NonFiniteError when a number of it would not be finite."""
        self.refuse_driven()
        cdef cnp.ndarray x = self.model.result(out, self.port.snapshot_size, -1)
        if not all_finite(self.c.s.time, 1) or plant_observe(&self.c, <double*>cnp.PyArray_DATA(x)) != 0:
            raise NonFiniteError(explain_not_finite(self.model, "observe", inputs_of(self.state)))
        return x

    # -------------------------------------------------------------------------------- what may be put into it

    def check_friction(self, state=None):
        """Raise MbrosError where the Coulomb friction in a state, by default the plant's own, is too stiff for rk4 at its dt.
        Returns whether rk4 has any friction to deal with."""
        return check_plant_friction(self, self.state if state is None else state)

    def parameter_block(self, state=None):
        """The live parameters of a state of the model, by default the plant's own, laid out as `parameters` says."""
        return parameters_of(self, self.state if state is None else self.model.own(state))

    def check_parameters(self, block):
        """Raise MbrosError where a block of live parameters holds a number that cannot be, such as a negative damping, or (for the
        default configuration) a friction that rk4 cannot step."""
        check_plant_parameters(self, self.model.vector(block, self.port.parameter_size, "block"))

    def check_state(self, q, v):
        """Raise MbrosError where the plant cannot be put at q (nq,), v (nv,): a number of 1e10 or more, a quaternion or
        (cos, sin) without a direction or given in part, positions that violate a constraint. NaN stands for a coordinate that stays as it
        is; what constraints say then shows only in motion."""
        cdef cnp.ndarray a = self.model.vector(q, self.model.c.nq, "q")
        check_state(self.model, a, self.model.vector(v, self.model.c.nv, "v"))
        check_start(self, a)

    def reset(self, q=None, v=None):
        """Put the plant at (q, v), by default the model's default configuration at rest; time 0, no fault, no clamps."""
        cdef cnp.ndarray x
        self.refuse_moving()
        if q is not None or v is not None:
            x = self.start_of(q, v)
            if q is not None:
                check_start(self, x[:self.model.c.nq])
        else:
            if self.rest is None:
                self.rest = self.start_of(None, None)
            x = self.rest
        self.port.reset(&self.c, <double*>cnp.PyArray_DATA(x))

    @cython.final
    cdef cnp.ndarray start_of(self, q, v):
        """(q, v) as one row, of unit quaternions; refused where no simulation can be put there."""
        cdef cnp.ndarray a = self.model.vector(self.model.spec.q_default if q is None else q, self.model.c.nq, "q")
        cdef cnp.ndarray b = self.model.vector(np.zeros(self.model.c.nv) if v is None else v, self.model.c.nv, "v")
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise NonFiniteError(explain_not_finite(self.model, "reset", {"q": a, "v": b}))
        check_state(self.model, a, b)
        return np.concatenate([self.model.normalize(a), b])

    @property
    def needs_gil(self):
        """Whether a joint or force element enters Python; such a plant cannot run in the real-time loop."""
        return bool(self.model._needs_gil)

    @property
    def fault(self):
        """(code, index of the velocity coordinate); code 0: none."""
        return self.c.fault, self.c.fault_index

    @property
    def clamped(self):
        """Commands clamped to an effort limit since the last reset: one per coordinate and step."""
        return <long long>self.c.clamped

    @property
    def max_contact_iterations(self):
        """Bound on the iterations of a step's contact problem, 1 to 1000."""
        return self.c.most_iterations

    @max_contact_iterations.setter
    def max_contact_iterations(self, n):
        self.refuse_driven()
        self.c.most_iterations = given.count("Plant", "max_contact_iterations", n, least=1, most=1000)

    @property
    def effort(self):
        """Efforts applied in the last step (nv,), N m or N: the command after clamping."""
        cdef cnp.npy_intp n = self.model.c.nv
        cdef cnp.ndarray x = new_array(1, &n)
        memcpy(cnp.PyArray_DATA(x), self.c.effort, n * sizeof(double))
        return x

    def fault_text(self, code, index):
        """The fault in a sentence. index: of a velocity coordinate, or -1."""
        cdef Py_ssize_t k = whole(index)
        if whole(code) == NO_FAULT:
            return "no fault"
        return self.say_fault(k, "")

    def still_state(self):
        """A copy of the state, also while a loop has it: of one moment where nothing moves, as in a fault until the reset."""
        return self.state.twin()

    def at(self, time):
        """The state, a copy, at a time within the last step of dormand_prince: by the dense output of its substeps, taken again. Parameters
        and efforts are those of the state now. StateError where no such step led here; MbrosError for a time outside it."""
        return state_at(self, time)

    def _ask_laws(self, laws):
        """From now on dormand_prince asks a LawsCallback for the motion of prescribed joints at its own times; None: that of the state."""
        cdef Laws* asked = NULL
        self.refuse_moving()
        if laws is not None:
            asked = <Laws*>PyCapsule_GetPointer(laws.capsule, "mbros_core.laws")
        self.c.adaptive.laws, self.laws = asked, laws

    cdef object raise_of_laws(self):
        """What a law of motion raised when it was asked."""
        failure = None if self.laws is None else self.laws.take_failure()
        if failure is not None:
            self.c.fault, self.c.fault_index = NO_FAULT, -1
            raise failure

    @property
    def substeps(self):
        """Of dormand_prince, since this plant was made: substeps taken, substeps given up for their error, evaluations of the dynamics."""
        return <long long>self.c.adaptive.taken, <long long>self.c.adaptive.refused, <long long>self.c.adaptive.evaluations

    cdef str say_fault(self, int index, str cause):
        from mbros_core.support.faults import step_fault     # start-up time: who has no fault does not pay

        if self.c.adaptive.outcome != TAKEN and not cause:
            cause = ("its tolerances (rtol {:g}, atol {:g}) could not be kept: {}".format(
                *self.tolerances, "no substep is short enough for what happens here" if self.c.adaptive.outcome == TOO_SHORT else
                "a million substeps did not reach the end of the step; what is that stiff is for 'midpoint', or for a shorter dt"))
        return step_fault(self.model, self.state.twin(), self.dt, self.effort, index, cause)
