"""Random numbers by counting: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3").

The k-th draw of a stream is a function of its key and of k alone. A key is made from the name of a device and the seed (plant/keys.py),
and k is a number in the devices' memory: a stream goes on where a copy was taken, and knows nothing of others.
"""
from libc.math cimport cos, log, sqrt
from libc.stdint cimport uint32_t, uint64_t

cdef struct Stream:
    uint32_t key[2]
    double* drawn           # so many, a whole number
    const double* ahead     # a number and the two of its draw, found already (ahead.pxd); NULL: never


cdef inline void philox(const uint32_t* counter, const uint32_t* key, uint32_t* out) noexcept nogil:
    """Ten rounds; out (4,)."""
    cdef uint32_t k0 = key[0], k1 = key[1]
    cdef uint64_t a, b
    cdef uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3]
    cdef int i
    for i in range(10):
        a = <uint64_t>0xD2511F53 * x0
        b = <uint64_t>0xCD9E8D57 * x2
        x0, x1, x2, x3 = (<uint32_t>(b >> 32) ^ x1 ^ k0, <uint32_t>b, <uint32_t>(a >> 32) ^ x3 ^ k1, <uint32_t>a)
        k0 += <uint32_t>0x9E3779B9
        k1 += <uint32_t>0xBB67AE85
    out[0], out[1], out[2], out[3] = x0, x1, x2, x3


cdef inline double unit(uint64_t high, uint64_t low) noexcept nogil:
    """Two words as a number within (0, 1): the middles of 2^52 equal parts, so never 0 or 1."""
    return (<int>(high >> 6) * 67108864.0 + <int>(low >> 6) + 0.5) * (1.0 / 4503599627370496.0)


cdef inline void draw(const Stream* s, double* u) noexcept nogil:
    """The next two numbers, uniform within (0, 1)."""
    cdef uint64_t k
    cdef uint32_t counter[4]
    cdef uint32_t x[4]
    if s.ahead != NULL and s.ahead[0] == s.drawn[0]:
        s.drawn[0] += 1.0
        u[0], u[1] = s.ahead[1], s.ahead[2]
        return
    k = <uint64_t>s.drawn[0]
    counter[0], counter[1], counter[2], counter[3] = <uint32_t>k, <uint32_t>(k >> 32), 0, 0
    philox(counter, s.key, x)
    s.drawn[0] += 1.0
    u[0], u[1] = unit(x[0], x[1]), unit(x[2], x[3])


cdef inline double uniform(const Stream* s) noexcept nogil:
    cdef double u[2]
    draw(s, u)
    return u[0]


cdef inline double normal(const Stream* s) noexcept nogil:
    """Of mean 0 and standard deviation 1 (Box and Muller 1958; the second of their two numbers is left)."""
    cdef double u[2]
    draw(s, u)
    return sqrt(-2.0 * log(u[0])) * cos(6.283185307179586 * u[1])
