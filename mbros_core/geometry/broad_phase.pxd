"""Which of many shapes can touch: boxes along the axes, sorted along one of them and swept (Baraff 1992, sort and sweep).

All memory is the caller's. The order of the last step is the start of the next one's sort, which then takes a few moves; where it takes many,
heapsort bounds them. The axis along which the boxes' middles vary most is swept. Pairs beyond the room for them are counted, not written.
"""
from mbros_core.geometry.bounds cimport Bounds, overlapping
from mbros_core.geometry.vec cimport axis

cdef struct Pair:
    int a                        # a < b
    int b


cdef inline bint before(const Bounds* box, int way, int a, int b) noexcept nogil:
    """The order of the sweep; equal boxes by number, so that it depends on nothing but the boxes."""
    cdef double x = axis(box[a].low, way)
    cdef double y = axis(box[b].low, way)
    return x < y or (x == y and a < b)

cdef inline void sift(const Bounds* box, int way, int* order, int top, int count) noexcept nogil:
    cdef int moving = order[top]
    cdef int child = 2 * top + 1
    while child < count:
        if child + 1 < count and before(box, way, order[child], order[child + 1]):
            child += 1
        if not before(box, way, moving, order[child]):
            break
        order[top] = order[child]
        top = child
        child = 2 * top + 1
    order[top] = moving

cdef inline void heapsort(const Bounds* box, int way, int* order, int count) noexcept nogil:
    cdef int i
    cdef int last
    for i in range(count // 2 - 1, -1, -1):
        sift(box, way, order, i, count)
    for i in range(count - 1, 0, -1):
        last = order[i]
        order[i] = order[0]
        order[0] = last
        sift(box, way, order, 0, i)

cdef inline void sort_along(const Bounds* box, int way, int* order, int count) noexcept nogil:
    """By insertion, for at most 8 moves a box."""
    cdef long long left = 8 * <long long>count
    cdef int moving
    cdef int i
    cdef int k
    for i in range(1, count):
        moving = order[i]
        k = i
        while k > 0 and before(box, way, moving, order[k - 1]):
            order[k] = order[k - 1]
            k -= 1
        order[k] = moving
        left -= i - k
        if left < 0:
            heapsort(box, way, order, count)
            return

cdef inline int widest_axis(const Bounds* box, int count) noexcept nogil:
    """The axis along which the middles of the finite boxes vary most."""
    cdef double sum_of[3]
    cdef double squares[3]
    cdef double x
    cdef double most = -1.0
    cdef int n[3]
    cdef int i
    cdef int k
    cdef int best = 0
    for k in range(3):
        sum_of[k], squares[k], n[k] = 0.0, 0.0, 0
        for i in range(count):
            x = 0.5 * axis(box[i].low, k) + 0.5 * axis(box[i].high, k)
            if -1e300 < x < 1e300:
                sum_of[k] += x
                squares[k] += x * x
                n[k] += 1
        if n[k] and squares[k] - sum_of[k] * sum_of[k] / n[k] > most:
            most = squares[k] - sum_of[k] * sum_of[k] / n[k]
            best = k
    return best

cdef inline int sweep(const Bounds* box, const int* group, int count, int* order, Pair* pairs, int most, long long* found) noexcept nogil:
    """Writes the pairs whose boxes overlap, at most `most`, and returns their number; found: how many there are.

    order: count numbers, a permutation of 0, 1, ... (that of the last step). Shapes of one group are no pair; NULL: each is its own.
    """
    cdef int way = widest_axis(box, count)
    cdef int written = 0
    cdef int i
    cdef int k
    cdef int a
    cdef int b
    cdef double high
    sort_along(box, way, order, count)
    found[0] = 0
    for i in range(count):
        a = order[i]
        high = axis(box[a].high, way)
        for k in range(i + 1, count):
            b = order[k]
            if axis(box[b].low, way) > high:
                break
            if not overlapping(&box[a], &box[b]) or (group != NULL and group[a] == group[b]):
                continue
            found[0] += 1
            if written < most:
                pairs[written].a, pairs[written].b = min(a, b), max(a, b)
                written += 1
    return written
