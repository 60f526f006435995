# cython: language_level=3
"""Reading CDR (XCDR1, little endian), the wire format of ROS 2, from memory that nobody has checked yet.

Every read is bounded: past the end, or with a count that cannot be true, `ok` goes down and stays down and the reads
give zero. Nothing is copied and nothing is allocated; strings and arrays come back as pointers into the message. Bytes behind the
last field are not looked at: ROS's own serialiser leaves some there.
"""
from libc.stdint cimport uint8_t, uint32_t, int32_t
from libc.string cimport memcpy


cdef struct Reader:
    const uint8_t* data     # first byte after the 4 bytes of encapsulation; alignment counts from here
    size_t size             # bytes in data
    size_t at               # next byte to read
    bint ok


cdef struct Text:
    const char* data
    uint32_t size           # without the closing zero


cdef struct Doubles:
    const uint8_t* data     # not aligned in memory: read with `double_at`
    uint32_t size


cdef inline Reader open_cdr(const uint8_t* message, size_t size) noexcept nogil:
    """A reader on a whole message; not ok when it is not plain little-endian CDR."""
    cdef Reader r
    r.data = message + 4
    r.size = size - 4 if size >= 4 else 0
    r.at = 0
    r.ok = size >= 4 and message[0] == 0 and message[1] == 1
    return r


cdef inline const uint8_t* take_bytes(Reader* r, size_t count, size_t alignment) noexcept nogil:
    """`count` bytes at the next multiple of `alignment` (a power of two); NULL when they are not all there."""
    cdef size_t start = (r.at + alignment - 1) & ~(alignment - 1)
    if not r.ok or start > r.size or count > r.size - start:
        r.ok = False
        return NULL
    r.at = start + count
    return r.data + start


cdef inline uint32_t read_u32(Reader* r) noexcept nogil:
    cdef uint32_t x = 0
    cdef const uint8_t* p = take_bytes(r, 4, 4)
    if p is not NULL:
        memcpy(&x, p, 4)
    return x


cdef inline int32_t read_i32(Reader* r) noexcept nogil:
    return <int32_t>read_u32(r)


cdef inline Text read_text(Reader* r) noexcept nogil:
    """A string: a length that counts the closing zero, then the bytes. Length 0 is read as the empty string."""
    cdef Text t
    cdef uint32_t count = read_u32(r)
    cdef const uint8_t* p = take_bytes(r, count, 1)
    t.data = <const char*>p
    t.size = 0
    if p is not NULL and count > 0:
        t.size = count - 1
        if p[count - 1] != 0:
            r.ok = False
    return t


cdef inline uint32_t read_count(Reader* r, size_t smallest) noexcept nogil:
    """The length of a sequence whose elements take at least `smallest` bytes each."""
    cdef uint32_t count = read_u32(r)
    if count > (r.size - r.at) / smallest:
        r.ok = False
        return 0
    return count


cdef inline Doubles read_doubles(Reader* r) noexcept nogil:
    """A sequence of float64. An empty one has no padding behind its length."""
    cdef Doubles d
    d.size = read_count(r, 8)
    d.data = NULL
    if d.size > 0:
        d.data = take_bytes(r, <size_t>8 * d.size, 8)
        if d.data is NULL:
            d.size = 0
    return d


cdef inline double double_at(const Doubles* d, size_t k) noexcept nogil:
    cdef double x
    memcpy(&x, d.data + 8 * k, 8)
    return x
