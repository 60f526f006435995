# The gate of lockstep: a step waits until every consumer that is due has answered the newest state.

cdef enum:
    AGAIN_MS = 5000             # who has not answered for so long is shown the state once more: it may not have been there yet
    LATE_LOOK_NS = 50000000     # asked so much later than wanted, the loop has stood still meanwhile: nobody was late
    LOOK_NS = 20000000          # who has come is on the graph a moment before messages reach it: looked for as often
    ANEW = 2


cdef struct Consumer:
    InputState* input
    OutputState* question       # where the states are published that it answers, or NULL
    int64_t n, m                # asked in n of m steps
    bint by_stamp               # its answer carries the stamp of the state, else the next message is the answer
    bint missing                # has still to answer
    bint absent                 # was late under `hold`, and has not been heard since
    int64_t answers
    int64_t late                # time-outs
    int64_t out_of_turn         # messages that answered nothing


cdef struct GateState:
    mbros_gate port
    StampState* stamps
    Consumer* consumers
    int count
    uint32_t* bell              # of the loop, or NULL
    Patience patience
    bint asked                  # there is a question that is not answered
    uint64_t step               # which: the state after so many steps, of this stamp
    int64_t stamp
    int64_t again_ns
    int64_t looked_ns, until_ns     # when it was asked last, and when it wanted to be asked next
    int64_t newcomer            # somebody has come who has not heard the question; ANEW: the question is asked anew
    int64_t events              # of all: what reports them looks at this number
    int64_t late_step
    int64_t late_ns


cdef void _new_message(const void* data, size_t count) noexcept nogil:
    """Called by the middleware, on a thread of its own."""
    cdef uint32_t* bell = <uint32_t*>load(&(<const GateState*>data).bell)
    if bell != NULL:
        ring(bell)


cdef void _give_bell(void* self, uint32_t* bell) noexcept nogil:
    store(&(<GateState*>self).bell, bell)


cdef void _hear(const GateState* g, Consumer* c) noexcept nogil:
    """Take messages of a consumer up to the answer, if there is one; where none is missing, all of them."""
    cdef int k, reason
    for k in range(MOST_PER_POLL):
        reason = _take_one(c.input)
        if reason == NOTHING:
            return
        c.absent = False
        if reason != ACCEPTED:
            continue
        if not c.missing or (c.by_stamp and c.input.stamp != g.stamp):
            store(&c.out_of_turn, c.out_of_turn + 1)
            continue
        memcpy(c.input.answer, c.input.scratch, <size_t>c.input.command_size * sizeof(double))
        c.input.given, c.missing = True, False
        store(&c.answers, c.answers + 1)
        if not c.by_stamp:
            return


cdef void _ask(GateState* g, const mbros_snapshot* shown, int64_t now) noexcept nogil:
    """A new question: who is due?"""
    cdef int k
    g.asked, g.step, g.stamp = True, shown.step, load(&g.stamps.stamp)
    ask(&g.patience, now)
    g.again_ns, g.until_ns = now + <int64_t>1000000 * AGAIN_MS, now
    for k in range(g.count):
        g.consumers[k].missing = is_due(shown.step, g.consumers[k].n, g.consumers[k].m)
        g.consumers[k].input.given = False


cdef int _time_out(GateState* g, int64_t now) noexcept nogil:
    """Somebody is late: remember who, and do what the policy says."""
    cdef int64_t waited = now - g.patience.asked_ns
    cdef int k, answer = time_out(&g.patience, now)
    for k in range(g.count):
        if g.consumers[k].missing:
            store(&g.consumers[k].late, g.consumers[k].late + 1)
            if answer == MBROS_GO:
                g.consumers[k].absent, g.consumers[k].missing = True, False
    store(&g.late_step, <int64_t>g.step)
    store(&g.late_ns, waited)
    store(&g.events, g.events + 1)
    return answer


cdef inline bint _hears_again(const Consumer* c, bint anew) noexcept nogil:
    """Whether the state is published once more for this consumer. A second answer by stamp is ignored. Who counts would answer the next
    state with it: its state is published once more if subscribers have come since, or, anew, if it has never answered."""
    return c.missing and (c.by_stamp or (anew and c.answers == 0)
                          or (c.question != NULL and _listeners(c.question) > c.question.told))


cdef bint _ask_again(GateState* g, bint anew) noexcept nogil:
    """Whether the state is published once more, and for whom."""
    cdef bint one, some = False
    cdef int k
    for k in range(g.count):
        one = _hears_again(&g.consumers[k], anew)       # once: somebody may subscribe between two looks
        if g.consumers[k].question != NULL:
            g.consumers[k].question.repeats = one
        some |= one
    return some


cdef int _open_gate(void* self, const mbros_snapshot* shown, int64_t now, int64_t* until) noexcept nogil:
    cdef GateState* g = <GateState*>self
    cdef int k, answer = MBROS_WAIT
    cdef bint missing = False
    cdef int64_t newcomer
    if not g.asked or shown.step != g.step or load(&g.stamps.stamp) != g.stamp:
        _ask(g, shown, now)
    elif now > g.until_ns + LATE_LOOK_NS:
        g.patience.asked_ns += now - g.looked_ns
        g.again_ns += now - g.looked_ns
    g.looked_ns = now
    for k in range(g.count):
        if g.consumers[k].missing:
            _hear(g, &g.consumers[k])
            if g.consumers[k].absent:
                g.consumers[k].missing = False
            missing |= g.consumers[k].missing
    if missing and now >= late_at(&g.patience):
        answer = _time_out(g, now)
        missing = answer != MBROS_GO
    if not missing:
        for k in range(g.count):
            _hear(g, &g.consumers[k])
        g.asked = False
        return MBROS_GO
    newcomer = load(&g.newcomer)
    if answer != MBROS_HALT and (now >= g.again_ns or newcomer):
        if _ask_again(g, now >= g.again_ns or newcomer == ANEW):
            store(&g.newcomer, <int64_t>0)
            newcomer, answer = 0, MBROS_AGAIN
        if answer == MBROS_AGAIN or now >= g.again_ns:
            g.again_ns = now + <int64_t>1000000 * AGAIN_MS
    g.until_ns = min(g.again_ns, late_at(&g.patience))
    if newcomer:
        g.until_ns = min(g.until_ns, now + LOOK_NS)
    until[0] = g.until_ns
    return answer


cdef class Gate:
    """What the steps of a loop wait for: answers of consumers.

    consumers: rows (CommandInput, n, m, by_stamp, Output of the states that it answers or None). clock: the StampClock of the node's ports.
    timeout: s, 0: never.
    """
    cdef GateState state
    cdef mbros_memory memory
    cdef readonly list inputs
    cdef list questions

    def __cinit__(self, consumers, StampClock clock, double timeout=1.0, str policy="wait"):
        cdef GateState* g = &self.state
        cdef CommandInput one
        cdef Output question
        memset(g, 0, sizeof(GateState))
        self.inputs, self.questions = [], []
        g.stamps, g.count = &clock.state, <int>len(consumers)
        g.consumers = <Consumer*>calloc(g.count + 1, sizeof(Consumer))
        if g.consumers is NULL:
            raise MemoryError()
        for k, (port, n, m, by_stamp, out) in enumerate(consumers):
            one = port
            self.inputs.append(one)
            if out is not None:
                question = out
                self.questions.append(question)
                g.consumers[k].question = &question.state
            one.state.gated = True
            g.consumers[k].input, g.consumers[k].n, g.consumers[k].m, g.consumers[k].by_stamp = &one.state, n, m, by_stamp
        clock.keep_exact()
        self.set_patience(timeout, policy)
        g.port = mbros_gate(<void*>g, &_open_gate, &_give_bell)

    def set_patience(self, double timeout, str policy):
        """Time-out, s (0: never), and what happens then: "wait" on, "hold" what was commanded, "stop"."""
        set_patience(&self.state.patience, timeout, POLICIES.index(policy))

    def welcome(self, bint anew=False):
        """Somebody has come who may have to answer: the state that is waited for is published once more. anew: also for who counts and
        has never answered, though it may have heard it."""
        store(&self.state.newcomer, <int64_t>(ANEW if anew else 1))
        if self.state.bell != NULL:
            ring(self.state.bell)

    def start(self):
        """From now on messages ring the loop's bell. Raises DataPlaneError where this rcl cannot say that one has come."""
        cdef Consumer* c
        cdef int k
        for k in range(self.state.count):
            c = &self.state.consumers[k]
            if rcl.on_new_message is NULL or rcl.on_new_message(c.input.subscription, _new_message, &self.state) != RET_OK:
                rcl.reset_error()
                raise DataPlaneError("lockstep: this middleware does not say when a message has come; use rmw_fastrtps_cpp")

    def close(self):
        """Let go of the subscriptions, before they are closed. The loop must have been stopped."""
        cdef int k
        for k in range(self.state.count):
            if rcl.on_new_message is not NULL and self.state.consumers[k].input.subscription is not NULL:
                with nogil:
                    rcl.on_new_message(self.state.consumers[k].input.subscription, NULL, NULL)

    def __dealloc__(self):
        free(self.state.consumers)

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this gate."""
        return plug_of(self, &self.state.port, "mbros_core.gate", &self.memory)

    @property
    def events(self):
        """Time-outs so far."""
        return load(&self.state.events)

    def report(self):
        """(step, seconds waited) of the newest time-out, and for each consumer its answers, time-outs, messages out of turn, and whether
        it is being waited for or, under `hold`, was given up."""
        cdef Consumer* c
        cdef int k
        rows = []
        for k in range(self.state.count):
            c = &self.state.consumers[k]
            rows.append({"answers": load(&c.answers), "late": load(&c.late), "out_of_turn": load(&c.out_of_turn),
                         "missing": bool(c.missing or c.absent)})
        return load(&self.state.late_step), 1e-9 * load(&self.state.late_ns), rows


def drive_gate(capsule, x, uint64_t step=0, int64_t now_ns=0):
    """Ask a gate once about this snapshot, as the loop would: (answer, until). For tests."""
    cdef mbros_gate* port = <mbros_gate*>PyCapsule_GetPointer(capsule, b"mbros_core.gate")
    cdef mbros_snapshot s
    cdef int64_t until = 0
    cdef int answer
    memset(&s, 0, sizeof(s))
    values = np.ascontiguousarray(x, np.float64)
    s.step, s.size, s.x = step, <int>values.size, <const double*><uintptr_t>values.ctypes.data
    with nogil:
        answer = port.open(port.self, &s, now_ns, &until)
    return ("wait", "go", "halt", "again")[answer], until
