# Random streams as Python sees them, for tests and documentation.

def philox_block(counter, key):
    """The four words that Philox4x32-10 makes of a counter (4 words) and a key (2 words)."""
    cdef uint32_t c[4]
    cdef uint32_t k[2]
    cdef uint32_t out[4]
    cdef int i
    for i in range(4):
        c[i] = <uint32_t>(<long long>counter[i])
    k[0], k[1] = <uint32_t>(<long long>key[0]), <uint32_t>(<long long>key[1])
    philox(c, k, out)
    return out[0], out[1], out[2], out[3]


def numbers(key, int n, bint gaussian=False):
    """The first n numbers of a stream: uniform within (0, 1), or normal."""
    cdef Stream s
    cdef double drawn = 0.0
    cdef int i
    s.key[0], s.key[1], s.drawn = <uint32_t>(<long long>key[0]), <uint32_t>(<long long>key[1]), &drawn
    s.ahead = NULL
    out = np.empty(max(n, 0))
    cdef double* x = doubles_of(out, 1)
    for i in range(n):
        x[i] = normal(&s) if gaussian else uniform(&s)
    return out
