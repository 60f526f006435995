"""Sample and hold: of what has come, the newest is passed on at a rate of its own, on the exact grid of sensor.pxd; again where nothing
new has come. mem: draws, whether anything has come, then the message."""


cdef inline bint hold_pass(double* mem, bint due, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        mem[1] = 1.0
        for i in range(n):
            mem[2 + i] = x[i]
    if not due or mem[1] == 0.0:
        return False
    for i in range(n):
        x[i] = mem[2 + i]
    return True
