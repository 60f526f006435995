# Each table of mbros.bench.layout, as the structs that a step goes through. Included by _devices.pyx.

cdef class Tables(TableRows):
    """Filled table by table; each number is checked against the sizes of the plant and of the tables before. Not for direct use."""
    cdef mbros_feed fed

    cdef int fill_letter(self) except -1:
        self.check("numbers", [self.c.numbers], BLOCK_HEAD, len(self.block) + 1)
        self.c.nnumbers = <int>(len(self.block) - self.c.numbers)
        self.c.letter = <double*>self.room(self.c.nnumbers * sizeof(double))
        self.c.word = <int64_t*>self.room(sizeof(int64_t))
        memcpy(self.c.letter, self.c.block + self.c.numbers, self.c.nnumbers * sizeof(double))
        return 0

    cdef int fill_signals(self, tables) except -1:
        cdef int n
        x, of = self.table(tables, "signals", SIGNAL)
        n, total = len(x), int(of["size"].sum())
        self.check("signals, size", of["size"], 1, WIDEST + 1)
        self.check("signals, at", of["at"], 0, total)
        self.check("signals, end", of["at"] + of["size"], 1, total + 1)
        self.check("signals, first channel", of["channel"], 0, len(tables["channels"]) + 1)
        self.check("signals, channels", of["channels"], 0, len(tables["channels"]) + 1)
        self.check("signals, last channel", of["channel"] + of["channels"], 0, len(tables["channels"]) + 1)
        for first, count in (("early", "earlies"), ("late", "lates")):
            self.check(f"signals, {first}", of[first], 0, len(tables["signal_faults"]) + 1)
            self.check(f"signals, {count}", of[count], 0, len(tables["signal_faults"]) + 1)
            self.check(f"signals, last {first}", of[first] + of[count], 0, len(tables["signal_faults"]) + 1)
        self.check("commands", [self.c.ncommands], 0, n + 1)
        self.check_piece("places", [self.c.given, self.c.value, self.c.fresh, self.c.sampled, self.c.numbers], [total, total, n, n, 0])
        self.c.nsignals, self.c.signals = n, <Signal*>self.room(n * sizeof(Signal))
        self.fill(<char*>self.c.signals, sizeof(Signal), x)
        y, of_joints = self.table(tables, "joints", JOINT)
        self.check_joint("joints", of_joints, 0)
        self.check("joints, signal", of_joints["signal"], 0, n - 2)
        self.c.njoints, self.c.joints = len(y), <JointSignal*>self.room(len(y) * sizeof(JointSignal))
        self.fill(<char*>self.c.joints, sizeof(JointSignal), y)
        return 0

    cdef int fill_actuators(self, tables) except -1:
        cdef Actuator* a
        cdef int i, n
        x, of = self.table(tables, "actuators", ACTUATOR)
        n = len(x)
        total = int(self.c.value - self.c.given)
        self.check("actuators, kind", of["kind"], 0, len(actuators.ROWS))
        self.check_joint("actuators", of, 0)
        rows = [actuators.ROWS[kind] for kind in of["kind"]]
        self.check_piece("actuators, par", of["par"], [row.size for row in rows])
        self.check_piece("actuators, mem", of["mem"], [row.memory for row in rows])
        for name in actuators.COMMANDS:
            self.check(f"actuators, {name}", of[name], -1, total)
        self.check("actuators, limiter", of["limiter"], -1, n)
        self.check("actuators, signal", of["signal"] + [len(row.readings) for row in rows], 1, self.c.nsignals + 1)
        self.c.nactuators, self.c.actuators = n, <Actuator*>self.room(n * sizeof(Actuator))
        self.c.given_to, self.c.effects = <Given*>self.room(n * sizeof(Given)), <Effect*>self.room(n * sizeof(Effect))
        self.fill(<char*>self.c.actuators, sizeof(Actuator), x)
        self.c.most_passes = MOST_PASSES_ON_CURVES if EFFORT_CURVE in of["kind"] else MOST_PASSES
        for i in range(n):
            a = &self.c.actuators[i]
            if a.limiter >= 0 and (a.limiter >= i or self.c.actuators[a.limiter].kind != LIMITS):
                raise MbrosError(f"bench: table actuators: row {i}: limiter is {a.limiter}; expected limits of commands in a row before it")
        return 0

    cdef int fill_sensors(self, tables) except -1:
        cdef Sensor* s
        cdef int i
        x, of = self.table(tables, "sensors", SENSOR)
        n = len(x)
        self.check("sensors, kind", of["kind"], 0, len(sensors.ROWS))
        self.check_joint("sensors", of, -1)
        self.check_joint("sensors, other", {"iq": of["other_iq"], "iv": of["other_iv"]}, -1)
        self.check("sensors, shape", of["shape"], -1, self.c.plant.ns)
        self.check("sensors, cut", of["cut"], -1, self.fill_cuts(tables["cuts"]))
        rows = [sensors.ROWS[kind] for kind in of["kind"]]
        self.check("sensors, body", of["body"], -1, self.c.plant.nb)
        self.check_piece("sensors, par", of["par"], [row.size for row in rows])
        self.check_piece("sensors, mem", of["mem"], [row.memory for row in rows])
        self.check("sensors, signal", of["signal"] + of["signals"], 1, self.c.nsignals + 1)
        self.check("sensors, out", of["out"] + [sum(r.size for r in row.readings) for row in rows], 1, self.c.value - self.c.given + 1)
        self.check("sensors, drive", of["drive"], -1, self.c.value - self.c.given - 1)
        rates = np.ascontiguousarray(tables["sensor_rates"], np.int64).reshape(n, 2)
        poses = np.ascontiguousarray(tables["sensor_poses"], np.float64).reshape(n, 12)
        keys = np.ascontiguousarray(tables["sensor_keys"], np.int64).reshape(n, 2)
        self.check("sensors, rates", rates.ravel(), 1, 1 << 30)
        self.c.nsensors, self.c.sensors = n, <Sensor*>self.room(n * sizeof(Sensor))
        self.fill(<char*>self.c.sensors, sizeof(Sensor), x)
        for i in range(self.c.nsensors):
            s = &self.c.sensors[i]
            if s.iq < 0 or s.iv < 0 if sight(s.kind) == A_JOINT else s.body < 0 or (sight(s.kind) == CONTACTS and self.c.plant.ns == 0):
                raise MbrosError(f"bench: table sensors: row {i} has not the joint, the body or the shapes that it is for")
            self.c.nwrenches += sight(s.kind) == A_WRENCH
            if accelerates(s.kind):
                self.check_piece("recent", [self.c.recent], [2 * self.c.plant.nv])
            memcpy(s.X_BS, constants_of(poses, 2) + 12 * i, 12 * sizeof(double))
            s.num, s.den = long_longs_of(rates, 2)[2 * i], long_longs_of(rates, 2)[2 * i + 1]
            self.fill_stream(&s.stream, keys, i, s.mem)
        self.fill_felt()
        return 0

    cdef int fill_felt(self) except -1:
        """Which bodies' wrenches the sensors of what joints carry are made of: that of their own body, or, of a weld in it, those of what
        stands on it; and of all bodies beyond these."""
        cdef const Sensor* s
        cdef int i, k, nb = self.c.plant.nb
        cdef int* felt = <int*>self.room(nb * sizeof(int))
        parent = self.plant.model.spec.parent
        for i in range(self.c.nsensors):
            s = &self.c.sensors[i]
            if sight(s.kind) == A_WRENCH and s.cut < 0:
                felt[s.body] = 1
            for k in range(nb if sight(s.kind) == A_WRENCH and s.cut >= 0 else 0):
                felt[k] |= self.c.cuts[s.cut].bodies[k]
        for k in range(1, nb):
            felt[k] |= felt[<int>parent[k]]
        self.c.felt = felt
        return 0

    cdef int fill_cuts(self, cuts) except -1:
        """Parts of bodies beyond welds; returns how many."""
        cdef int k, n = len(cuts), nb = self.c.plant.nb, ns = self.c.plant.ns
        self.c.cuts = <Cut*>self.room(n * sizeof(Cut))
        for k in range(n):
            numbers, bodies, shapes = (np.ascontiguousarray(x, kind) for x, kind in zip(cuts[k], (np.float64, np.intc, np.intc)))
            if numbers.shape != (13,) or bodies.shape != (nb,) or shapes.shape != (ns,):
                raise MbrosError(f"bench: table cuts: row {k} is not of this robot")
            memcpy(&self.c.cuts[k].mass, constants_of(numbers, 1), 13 * sizeof(double))
            self.c.cuts[k].bodies, self.c.cuts[k].shapes = <int*>self.room(nb * sizeof(int)), <int*>self.room(ns * sizeof(int))
            memcpy(self.c.cuts[k].bodies, cnp.PyArray_DATA(bodies), nb * sizeof(int))
            memcpy(self.c.cuts[k].shapes, cnp.PyArray_DATA(shapes), ns * sizeof(int))
        return n

    cdef int fill_channels(self, tables) except -1:
        cdef Channel* c
        cdef int i
        x, of = self.table(tables, "channels", CHANNEL)
        n = len(x)
        self.check("channels, kind", of["kind"], 0, len(channels.ROWS))
        self.check("channels, signal", of["signal"], 0, self.c.nsignals)
        self.check("channels, slots", of["slots"], 0, 1 << 24)
        rows = [channels.ROWS[kind] for kind in of["kind"]]
        sizes = [self.c.signals[<int>k].size for k in of["signal"]]
        self.check_piece("channels, par", of["par"], [row.size for row in rows])
        self.check_piece("channels, mem", of["mem"], [3 + slots * (size + 2) if row.name == "delay" else 2 + size if row.name in
                                                      ("hold", "noise") else row.memory for row, slots, size in zip(rows, of["slots"], sizes)])
        rates = np.ascontiguousarray(tables["channel_rates"], np.int64).reshape(n, 2)
        keys = np.ascontiguousarray(tables["channel_keys"], np.int64).reshape(n, 2)
        self.check("channels, rates", rates.ravel(), 1, 1 << 30)
        self.c.channels = <Channel*>self.room(n * sizeof(Channel))
        self.fill(<char*>self.c.channels, sizeof(Channel), x)
        for i in range(n):
            c = &self.c.channels[i]
            c.num, c.den = long_longs_of(rates, 2)[2 * i], long_longs_of(rates, 2)[2 * i + 1]
            self.fill_stream(&c.stream, keys, i, c.mem)
        self.fill_aheads(n)
        return 0

    cdef int fill_aheads(self, int n) except -1:
        """Groups of the streams of n channels that draw, whose numbers are found together."""
        cdef Ahead* a
        cdef Stream* s
        cdef int i, k = 0
        drawing = [i for i in range(n) if draws(self.c.channels[i].kind)]
        self.c.naheads, self.c.blocks = -(-len(drawing) // ABREAST), widest()
        self.c.aheads = <Ahead*>self.room(self.c.naheads * sizeof(Ahead))
        for k in range(self.c.naheads * ABREAST):
            a = &self.c.aheads[k // ABREAST]
            a.drawn[k % ABREAST] = &a.next[k % ABREAST][0]           # of a place without a stream: nothing new, ever
            if k < len(drawing):
                s = &self.c.channels[<int>drawing[k]].stream
                a.next[k % ABREAST][0] = -1.0
                a.drawn[k % ABREAST], s.ahead = s.drawn, &a.next[k % ABREAST][0]
                a.group.key[0][k % ABREAST], a.group.key[1][k % ABREAST] = s.key[0], s.key[1]
        return 0

    cdef int fill_faults(self, tables) except -1:
        """Triggers, and what faults do to signals."""
        cdef SignalFault* f
        cdef int i
        x, of = self.table(tables, "faults", FAULT)
        self.check_piece("faults, par", of["par"], np.full(len(x), <int>TRIGGER_NUMBERS))
        self.check_piece("faults, mem", of["mem"], np.full(len(x), <int>TRIGGER_MEMORY))
        self.check("faults, place", of["place"], -1, self.c.value - self.c.given)
        self.c.nfaults, self.c.faults = len(x), <Fault*>self.room(len(x) * sizeof(Fault))
        for i in range(self.c.nfaults):
            self.c.faults[i] = Fault(x[i, 0], x[i, 1], x[i, 2])
        x, of = self.table(tables, "signal_faults", SIGNAL_FAULT)
        n = len(x)
        self.check("signal_faults, kind", of["kind"], 0, len(injected.SIGNAL_ROWS))
        self.check("signal_faults, fault", of["fault"], 0, self.c.nfaults)
        self.check("signal_faults, signal", of["signal"], 0, self.c.nsignals)
        self.check("signal_faults, slots", of["slots"], 0, 1 << 24)
        rows = [injected.SIGNAL_ROWS[kind] for kind in of["kind"]]
        sizes = [injected.memory(row, slots, self.c.signals[<int>k].size) for row, slots, k in zip(rows, of["slots"], of["signal"])]
        self.check_piece("signal_faults, par", of["par"], [injected.size(row) for row in rows])
        self.check_piece("signal_faults, mem", of["mem"], sizes)
        keys = np.ascontiguousarray(tables["fault_keys"], np.int64).reshape(n, 2)
        self.c.signal_faults = <SignalFault*>self.room(n * sizeof(SignalFault))
        for i in range(n):
            f = &self.c.signal_faults[i]
            f.kind, f.fault, f.signal, f.par, f.mem, f.memory, f.slots = x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], sizes[i], x[i, 5]
            self.fill_stream(&f.stream, keys, i, f.mem)
        return 0

    cdef int fill_joint_faults(self, tables) except -1:
        cdef JointFault* f
        cdef int i
        x, of = self.table(tables, "joint_faults", JOINT_FAULT)
        self.check("joint_faults, kind", of["kind"], 0, len(injected.JOINT_ROWS))
        self.check("joint_faults, fault", of["fault"], 0, self.c.nfaults)
        rows = [injected.JOINT_ROWS[kind] for kind in of["kind"]]
        self.check("joint_faults, iv", of["iv"], -1, self.c.plant.nv)
        self.check("joint_faults, body", of["body"], -1, self.c.plant.nb)
        self.check_piece("joint_faults, par", of["par"], [injected.size(row) for row in rows])
        for i in range(len(x)):
            if (of["body"] if rows[i].target == "frame" else of["iv"])[i] < 0:
                raise MbrosError(f"bench: table joint_faults: row {i} has no {rows[i].target}")
        self.c.njoint_faults, self.c.joint_faults = len(x), <JointFault*>self.room(len(x) * sizeof(JointFault))
        for i in range(self.c.njoint_faults):
            f = &self.c.joint_faults[i]
            f.kind, f.fault, f.iv, f.body, f.par = x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4]
        return 0

    cdef int fill_sources(self, tables) except -1:
        x, of = self.table(tables, "sources", SOURCE)
        n = len(x)
        self.check_joint("sources", of, 0)
        self.check_piece("sources, mem", of["mem"], np.full(n, <int>SOURCE_MEMORY))
        self.check_piece("sources, effort", of["effort"], np.ones(n, int))
        self.check_piece("sources, residual", of["residual"], np.ones(n, int))
        self.check_piece("sources, par", of["par"], np.full(n, <int>SOURCE_NUMBERS))
        self.c.nsources, self.c.sources = n, <Source*>self.room(n * sizeof(Source))
        self.fill(<char*>self.c.sources, sizeof(Source), x)
        motion, motion_q, a_given = (np.ravel(self.plant.state.field(name)) for name in ("motion", "motion_q", "a_given"))
        self.c.motion, self.c.motion_q, self.c.a_given = doubles_of(motion, 1), doubles_of(motion_q, 1), doubles_of(a_given, 1)
        self.held += [motion, motion_q, a_given]
        self.c.period = self.plant.dt
        self.fed.self, self.fed.feed, self.fed.sources = <void*>&self.c, devices_feed, n
        return 0
