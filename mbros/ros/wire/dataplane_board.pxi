# What the command topics of a node have in common, and the memory of trajectories.

cdef enum:
    INTS = 8                    # of a board, for each coordinate
    DOUBLES = 8

cdef double LIMIT_GIVE = 1e-6   # rad, m and their rates: so far beyond a limit is on it
cdef double SPEED_GIVE = 1.001


cdef struct Board:              # what the inputs of a node share: who commands a coordinate, and where it is
    int nv
    int ids
    int* owner                  # (nv) id of the input whose message was the newest, 0: none, -id: to be held where it is (let_go)
    double* q                   # (nv) of the newest snapshot
    double* v
    double* position            # (nv) where a coordinate is commanded to be, and its velocity then; NaN: by velocity or effort, or nothing
    double* velocity
    int* place                  # (nv) where a coordinate's position stands in a snapshot, -1: nowhere
    int* hold                   # (nv) of what is let go of: what a command to hold it says, POSITION or POSITION + VELOCITY
    int* said                   # (nv, 3) where what was commanded in the newest step stands in `given`, -1: nowhere
    int* turns                  # (nv) a continuous joint: positions a turn apart are the same place
    int* waits                  # (nv) id of the input whose trajectory will take it at its stamp; 0: none, or another command came since
    double* bound               # (nv, 4) lowest and highest position, lowest and highest velocity
    const double* given         # the devices' memory, or NULL: only messages are known
    int velocity_at             # where the velocities stand
    mbros_output port


cdef enum:
    TRACKS = 3


cdef struct Track:
    int active
    int njoints
    int npoints                 # the first one is the command in force when it begins
    int reached                 # the segment that time is in
    int64_t received_ns         # system time
    int* joint                  # (njoints) names of the input
    double* time                # (npoints) simulated time, s
    uint8_t* has                # (npoints)
    double* x                   # (npoints, njoints, 3) position, velocity, acceleration


cdef struct Tracks:
    Track track[TRACKS]
    int current                 # the one that is followed
    int waiting                 # the one that begins later, at time[0]; the third is for the next message
    double looked               # simulated time when it was looked at
    int leaves                  # some joints of the one before are to be held where they are
    void* memory
    size_t bytes


cdef Tracks* new_tracks(int njoints) noexcept:
    """Room for the trajectories of so many joints; NULL where there is none."""
    cdef Tracks* t = <Tracks*>calloc(1, sizeof(Tracks))
    cdef size_t each = 3 * (MOST_NUMBERS + njoints) + MOST_POINTS + 1 + (MOST_POINTS + 8) // 8 + njoints + 1
    cdef double* x
    cdef int k
    if t is NULL:
        return NULL
    t.bytes = TRACKS * each * sizeof(double)
    t.waiting = 1
    t.memory = calloc(t.bytes, 1)
    if t.memory is NULL:
        free(t)
        return NULL
    for k in range(TRACKS):
        x = <double*>t.memory + k * each
        t.track[k].x, t.track[k].time = x, x + 3 * (MOST_NUMBERS + njoints)
        t.track[k].has = <uint8_t*>(t.track[k].time + MOST_POINTS + 1)
        t.track[k].joint = <int*>(t.track[k].time + MOST_POINTS + 1 + (MOST_POINTS + 8) // 8)
    return t


cdef void free_tracks(Tracks* t) noexcept:
    if t is not NULL:
        free(t.memory)
    free(t)


cdef void _see(Board* b) noexcept nogil:
    """What is in force, by whichever way it came: as the devices had it in the newest step. Where nothing is commanded any more, a servo
    holds the position that it had last."""
    cdef double q, v, tau
    cdef int i
    for i in range(b.nv if b.given is not NULL else 0):
        if b.said[3 * i] < 0:
            continue
        q, v, tau = b.given[b.said[3 * i]], b.given[b.said[3 * i + 1]], b.given[b.said[3 * i + 2]]
        if not isnan(q):
            b.position[i] = q
        elif not (isnan(v) and isnan(tau)):
            b.position[i] = NAN
        b.velocity[i] = 0.0 if isnan(q) or isnan(v) else v


cdef void _look(void* self, const mbros_snapshot* x) noexcept nogil:
    """Where the joints are, from every snapshot; a reset forgets what was commanded."""
    cdef Board* b = <Board*>self
    cdef int i
    _see(b)
    for i in range(b.nv):
        b.v[i] = x.x[b.velocity_at + i]
        if b.place[i] >= 0:
            b.q[i] = x.x[b.place[i]]
        if x.flags & MBROS_RESET:
            _own(b, i, 0)
            b.position[i], b.velocity[i] = NAN, 0.0


cdef inline void _own(Board* b, int i, int id) noexcept nogil:
    """A coordinate is commanded by the input of this id from now on, 0: by none; what waits for it does so no more."""
    store(&b.owner[i], id)
    store(&b.waits[i], <int>0)


cdef int _beyond(const Board* b, int i, double position, double velocity) noexcept nogil:
    """ACCEPTED, BEYOND_LIMITS or TOO_FAST: the rule of every command, trajectories included. A joint that stands beyond a limit may be
    commanded to where it is, and back. NaN: not commanded."""
    cdef const double* bound = b.bound + 4 * i
    cdef double low = bound[0], high = bound[1]
    if b.place[i] >= 0:
        low, high = min(low, b.q[i]), max(high, b.q[i])
    if position < low - LIMIT_GIVE or position > high + LIMIT_GIVE:
        return BEYOND_LIMITS
    if velocity < bound[2] * SPEED_GIVE - LIMIT_GIVE or velocity > bound[3] * SPEED_GIVE + LIMIT_GIVE:
        return TOO_FAST
    return ACCEPTED


cdef void _tell_board(void* self, mbros_range say, void* to) noexcept nogil:
    cdef Board* b = <Board*>self
    say(to, b, sizeof(Board))
    say(to, b.owner, INTS * b.nv * sizeof(int))
    say(to, b.q, DOUBLES * b.nv * sizeof(double))


cdef class CommandBoard:
    """What the command topics of one node know of each other. It is an output plug too, and looks at every snapshot.

    places: where each coordinate's position stands in a snapshot, (nv,), -1: nowhere; velocity: where the velocities begin.
    given, said: the devices' memory, and where what was commanded in the newest step stands in it (`CommandedPlant.said`).
    bounds: (nv, 4) lowest and highest position, lowest and highest velocity; turns: (nv,), of continuous joints.
    """
    cdef Board board
    cdef mbros_memory memory
    cdef const double[::1] given

    def __cinit__(self, places, int velocity, given=None, said=None, bounds=None, turns=None):
        cdef Board* b = &self.board
        cdef int i, n = len(places)
        b.owner, b.q = <int*>calloc(INTS * n + 1, sizeof(int)), <double*>calloc(DOUBLES * n + 1, sizeof(double))
        if not (b.owner and b.q):
            raise MemoryError()
        b.nv, b.velocity_at, b.place, b.hold, b.said = n, velocity, b.owner + n, b.owner + 2 * n, b.owner + 3 * n
        b.turns, b.waits = b.owner + 6 * n, b.owner + 7 * n
        b.v, b.position, b.velocity, b.bound = b.q + n, b.q + 2 * n, b.q + 3 * n, b.q + 4 * n
        limits = np.array([[-INFINITY, INFINITY] * 2] * n if bounds is None else bounds, np.float64)
        round_ones = np.zeros(n, bool) if turns is None else np.asarray(turns, bool)
        if limits.size != 4 * n or len(round_ones) != n:
            raise MbrosError(f"expected four bounds, and whether it turns on and on, of each of {n} coordinates")
        for i in range(n):
            b.place[i], b.position[i], b.turns[i] = places[i], NAN, round_ones[i]
        for i, number in enumerate(limits.ravel()):
            b.bound[i] = number
        b.port = mbros_output(<void*>b, &_look)
        if given is not None:
            self._connect(given, np.asarray(said, np.intc))
        self.memory.tell = _tell_board

    cdef _connect(self, given, said):
        cdef int i
        if said.shape != (self.board.nv, 3) or not (-1 <= said.min(initial=0) and said.max(initial=0) < len(given)):
            raise MbrosError(f"said: expected three places in a memory of {len(given)} numbers for each of {self.board.nv} coordinates")
        for i, place in enumerate(said.ravel()):
            self.board.said[i] = place
        self.given = given
        self.board.given = &self.given[0] if len(given) else NULL

    cdef int new_id(self):
        self.board.ids += 1
        return self.board.ids

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this board."""
        return plug_of(self, &self.board.port, "mbros_core.output", &self.memory)

    def release(self, coordinates):
        """These coordinates are commanded from elsewhere now: trajectories let go of them."""
        for k in coordinates:
            if 0 <= k < self.board.nv:
                _own(&self.board, k, 0)

    def close(self):
        """Nothing to let go of."""

    def __dealloc__(self):
        free(self.board.owner)
        free(self.board.q)


cdef struct Beside:             # an input of commands that is no topic
    mbros_input* inner
    mbros_memory* of_inner
    Board* board
    int64_t beyond              # commands left out, by a limit of a joint
    int joint                   # coordinate of the newest of them
    double value
    mbros_input port


cdef int _take_beside(void* self, double* command, int64_t now_ns) noexcept nogil:
    cdef Beside* x = <Beside*>self
    cdef int i, what, nv = x.board.nv, got = x.inner.take(x.inner.self, command, now_ns)
    cdef double position, velocity
    for i in range(nv if got else 0):
        if isnan(command[3 * nv + i]):
            continue
        what = <int>command[3 * nv + i]
        position = command[nv + i] if what & POSITION else NAN
        velocity = command[2 * nv + i] if what & VELOCITY else NAN
        if _beyond(x.board, i, position, velocity) != ACCEPTED:
            x.joint, x.value = i, velocity if _beyond(x.board, i, position, NAN) == ACCEPTED else position
            store(&x.beyond, x.beyond + 1)
            return 0
    for i in range(nv if got else 0):
        if not isnan(command[3 * nv + i]):
            _own(x.board, i, 0)
    return got


cdef void _tell_beside(void* self, mbros_range say, void* to) noexcept nogil:
    cdef Beside* x = <Beside*>self
    say(to, x, sizeof(Beside))
    if x.of_inner is not NULL and x.of_inner.tell is not NULL:
        x.of_inner.tell(x.inner.self, say, to)


cdef class InputBeside:
    """An input beside the topics, as that of shared memory, for a loop with a board: trajectories let go of what it commands, and what is
    beyond a joint's limits is left out, as on topics.

    plug: has a `.capsule` "mbros_core.input" of commands (4 nv,).
    """
    cdef Beside state
    cdef mbros_memory memory
    cdef object kept
    cdef readonly CommandBoard board

    def __cinit__(self, plug, CommandBoard board not None):
        capsule = getattr(plug, "capsule", plug)
        self.kept, self.board, self.state.board = (plug, capsule), board, &board.board
        self.state.inner = <mbros_input*>PyCapsule_GetPointer(capsule, "mbros_core.input")
        self.state.of_inner = <mbros_memory*>PyCapsule_GetContext(capsule)
        self.state.port = mbros_input(<void*>&self.state, &_take_beside)
        self.memory.tell = _tell_beside
        if self.state.of_inner is not NULL:
            self.memory.held = self.state.of_inner.held

    def beyond(self):
        """(count, coordinate, value): commands that were left out for a joint's limits, and what the newest of them was about."""
        return load(&self.state.beyond), self.state.joint, self.state.value

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this input and the one behind it."""
        return plug_of(self, &self.state.port, "mbros_core.input", &self.memory)
