# What the command topics of a node have in common, and the memory of trajectories.

cdef struct Board:              # what the inputs of a node share: who commands a coordinate, and where it is
    int nv
    int ids
    int* owner                  # (nv) id of the input whose message was the newest, 0: none
    double* q                   # (nv) of the newest snapshot
    double* v
    double* position            # (nv) the newest position command and its velocity; NaN: by velocity or effort, or not at all
    double* velocity
    int* place                  # (nv) where a coordinate's position stands in a snapshot, -1: nowhere
    int velocity_at             # where the velocities stand
    mbros_output port


cdef struct Track:
    int active
    int njoints
    int npoints                 # the first one is the command in force when the message came
    int reached                 # the segment that time is in
    int64_t received_ns         # system time
    int* joint                  # (njoints) names of the input
    double* time                # (npoints) simulated time, s
    uint8_t* has                # (npoints)
    double* x                   # (npoints, njoints, 3) position, velocity, acceleration


cdef struct Tracks:
    Track track[2]
    int current                 # the one that is followed; the other is for the next message
    void* memory
    size_t bytes


cdef Tracks* new_tracks(int njoints) noexcept:
    """Room for two trajectories of so many joints; NULL where there is none."""
    cdef Tracks* t = <Tracks*>calloc(1, sizeof(Tracks))
    cdef size_t each = 3 * (MOST_NUMBERS + njoints) + MOST_POINTS + 1 + (MOST_POINTS + 8) // 8 + njoints + 1
    cdef double* x
    cdef int k
    if t is NULL:
        return NULL
    t.bytes = 2 * each * sizeof(double)
    t.memory = calloc(t.bytes, 1)
    if t.memory is NULL:
        free(t)
        return NULL
    for k in range(2):
        x = <double*>t.memory + k * each
        t.track[k].x, t.track[k].time = x, x + 3 * (MOST_NUMBERS + njoints)
        t.track[k].has = <uint8_t*>(t.track[k].time + MOST_POINTS + 1)
        t.track[k].joint = <int*>(t.track[k].time + MOST_POINTS + 1 + (MOST_POINTS + 8) // 8)
    return t


cdef void free_tracks(Tracks* t) noexcept:
    if t is not NULL:
        free(t.memory)
    free(t)


cdef void _look(void* self, const mbros_snapshot* x) noexcept nogil:
    """Where the joints are, from every snapshot; a reset forgets what was commanded."""
    cdef Board* b = <Board*>self
    cdef int i
    for i in range(b.nv):
        b.v[i] = x.x[b.velocity_at + i]
        if b.place[i] >= 0:
            b.q[i] = x.x[b.place[i]]
        if x.flags & MBROS_RESET:
            store(&b.owner[i], <int>0)
            b.position[i], b.velocity[i] = NAN, 0.0


cdef void _tell_board(void* self, mbros_range say, void* to) noexcept nogil:
    cdef Board* b = <Board*>self
    say(to, b, sizeof(Board))
    say(to, b.owner, 2 * b.nv * sizeof(int))
    say(to, b.q, 4 * b.nv * sizeof(double))


cdef class CommandBoard:
    """What the command topics of one node know of each other. It is an output plug too, and looks at every snapshot.

    places: where each coordinate's position stands in a snapshot, (nv,), -1: nowhere; velocity: where the velocities begin.
    """
    cdef Board board
    cdef mbros_memory memory

    def __cinit__(self, places, int velocity):
        cdef Board* b = &self.board
        cdef int i, n = len(places)
        b.owner, b.q = <int*>calloc(2 * n + 1, sizeof(int)), <double*>calloc(4 * n + 1, sizeof(double))
        if not (b.owner and b.q):
            raise MemoryError()
        b.nv, b.velocity_at, b.place = n, velocity, b.owner + n
        b.v, b.position, b.velocity = b.q + n, b.q + 2 * n, b.q + 3 * n
        for i in range(n):
            b.place[i], b.position[i] = places[i], NAN
        b.port = mbros_output(<void*>b, &_look)
        self.memory.tell = _tell_board

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
                store(&self.board.owner[<int>k], <int>0)

    def close(self):
        """Nothing to let go of."""

    def __dealloc__(self):
        free(self.board.owner)
        free(self.board.q)
