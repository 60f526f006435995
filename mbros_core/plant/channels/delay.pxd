"""Delay: constant or drawn for each message; in order or not; some messages twice.

A message of step k arrives in the first step at which `delay` has passed, k + ceil(d / dt). d = delay + jitter times a random number: uniform
within -1 .. 1 (distribution 0), normal, cut at 4 (1), or exponential of mean 1, cut at 16 (2); never negative. Messages keep their order by
waiting for those before them, or, with `reordering`, arrive as they come: then an old one may replace a newer one. With probability
`duplication` a message comes again, after another delay of its own; the copy keeps no order.

Its memory goes on with a row for each slot: arrival (0: empty), number, message.
"""
from libc.math cimport ceil, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from mbros_core.plant.channels.channel cimport WIDEST
from mbros_core.plant.stream cimport Stream, normal, uniform

cdef struct DelayNumbers:
    double delay                 # s
    double jitter                # s
    double distribution          # 0, 1 or 2
    double reordering            # 0 or 1
    double duplication           # probability
    double dt                    # s

cdef struct DelayMemory:         # then the slots
    double draws
    double messages              # so far
    double last                  # arrival of the message before


cdef inline double* slots_of(DelayMemory* mem) noexcept nogil:
    return <double*>(mem + 1)


cdef inline double steps_of_delay(const DelayNumbers* par, const Stream* s) noexcept nogil:
    cdef double d = par.delay, x
    if par.jitter > 0.0:
        if par.distribution == 0.0:
            x = 2.0 * uniform(s) - 1.0
        elif par.distribution == 1.0:
            x = normal(s)
            x = -4.0 if x < -4.0 else 4.0 if x > 4.0 else x
        else:
            x = -log(uniform(s))
            x = 16.0 if x > 16.0 else x
        d += par.jitter * x
    return ceil(d / par.dt - 1e-9) if d > 0.0 else 0.0


cdef inline int64_t order(const double* x) noexcept nogil:
    """A number that is not negative as a whole one, of the same order: to be chosen by without branches, which would be guessed wrong."""
    cdef int64_t k
    memcpy(&k, x, sizeof(double))
    return k


cdef inline int free_slot(const double* rows, int slots, int width, bint random) noexcept nogil:
    """The first one; -1 where there is none. Of a random delay without branches."""
    cdef int k, free = -1
    if not random:
        for k in range(slots):
            if rows[k * width] == 0.0:
                return k
        return -1
    for k in range(slots - 1, -1, -1):
        free = k if order(rows + k * width) == 0 else free
    return free


cdef inline void put(DelayMemory* mem, int slots, int n, double arrival, const double* x, bint random) noexcept nogil:
    """Into a free slot; where there is none the message is lost, which `room` of the registry rules out."""
    cdef double* row
    cdef int i, free = free_slot(slots_of(mem), slots, n + 2, random)
    if free < 0:
        return
    row = slots_of(mem) + free * (n + 2)
    row[0], row[1] = arrival, mem.messages
    mem.messages += 1.0
    for i in range(n):
        row[2 + i] = x[i]


cdef inline int64_t within_now(int64_t arrival, int64_t now) noexcept nogil:
    """All bits where a message has arrived, else none."""
    return -<int64_t>((arrival > 0) & (arrival <= now))


cdef inline int expected(double* row, int slots, int width, double tick) noexcept nogil:
    """The slot of the message that arrived last, of several in one step the newest; -1: none has. All that have arrived are free."""
    cdef double last = -1.0, number = -1.0
    cdef int k, chosen = -1
    for k in range(slots):
        if 0.0 < row[0] <= tick:
            if row[0] > last or (row[0] == last and row[1] > number):
                last, number, chosen = row[0], row[1], k
            row[0] = 0.0
        row += width
    return chosen


cdef inline int surprising(double* row, int slots, int width, double tick) noexcept nogil:
    """The same of a random delay. What arrived last has as a rule the largest number, too, and is found without a branch."""
    cdef int64_t at, its, there, now = order(&tick), last = 0, number = -1
    cdef int k, chosen = -1
    for k in range(slots):
        at, its = order(row + k * width), order(row + k * width + 1)
        there = within_now(at, now)
        at, its = at & there, its | ~there
        last = at if at > last else last
        number = its if its > number else number
    if number < 0:
        return -1
    for k in range(slots):
        there = within_now(order(row + k * width), now) & -<int64_t>(order(row + k * width + 1) == number)
        chosen = k if there else chosen
    if order(row + chosen * width) != last:
        return expected(row, slots, width, tick)
    for k in range(slots):
        at = order(row + k * width)
        at &= ~within_now(at, now)
        memcpy(row + k * width, &at, sizeof(double))
    return chosen


cdef inline bint send(DelayMemory* mem, int slots, int n, double arrival, double tick, const double* x, double* y,
                      bint random) noexcept nogil:
    """On its way; or, where it arrives in this step, into y: it is the newest of all that have arrived."""
    cdef int i
    if arrival > tick:
        put(mem, slots, n, arrival, x, random)
        return False
    mem.messages += 1.0
    for i in range(n):
        y[i] = x[i]
    return True


cdef inline bint delay_pass(const DelayNumbers* par, DelayMemory* mem, int slots, const Stream* s, double tick, int n, double* x,
                            bint fresh) noexcept nogil:
    cdef double y[WIDEST]
    cdef const double* row
    cdef double arrival
    cdef bint random = par.jitter > 0.0, come
    cdef int i
    # Those under way first: what comes now is not among them, as a rule, and the processor need not wait for its arrival.
    cdef int chosen = surprising(slots_of(mem), slots, n + 2, tick) if random else expected(slots_of(mem), slots, n + 2, tick)
    come = chosen >= 0
    if come:
        row = slots_of(mem) + chosen * (n + 2)
        for i in range(n):
            y[i] = row[2 + i]
    if fresh:
        arrival = tick + steps_of_delay(par, s)
        if par.reordering == 0.0 and arrival < mem.last:
            arrival = mem.last
        mem.last = arrival
        if send(mem, slots, n, arrival, tick, x, y, random):
            come = True
        if (par.duplication > 0.0 and uniform(s) < par.duplication
                and send(mem, slots, n, tick + steps_of_delay(par, s), tick, x, y, random)):
            come = True
    if come:
        for i in range(n):
            x[i] = y[i]
    return come
