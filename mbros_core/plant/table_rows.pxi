# The rows of tables, checked and copied into structs in memory that is kept. Included by _devices.pyx.

cdef class TableRows:
    """What devices are made of: arrays of whole numbers, each of which is checked before it is used as a place. Not for direct use."""
    cdef DevicesC c
    cdef readonly object plant
    cdef readonly object block          # (n,): all memory of the devices
    cdef object held                    # the arrays and pieces of memory that c points into

    cdef void* room(self, size_t bytes) except NULL:
        memory = np.zeros(bytes // 8 + 1)
        self.held.append(memory)
        return <void*>doubles_of(memory, 1)

    cdef int fill(self, char* rows, size_t size, object x) except -1:
        """The rows of a table, each at the head of a struct of that size."""
        cdef size_t i, n = len(x), width = x.shape[1] * sizeof(int)
        cdef const char* row = <const char*>cnp.PyArray_DATA(x)
        for i in range(n):
            memcpy(rows + i * size, row + i * width, width)
        return 0

    cdef object table(self, object tables, str name, tuple columns):
        x = np.ascontiguousarray(tables[name], dtype=np.intc).reshape(-1, len(columns))
        return x, dict(zip(columns, x.T))

    cdef int check(self, str what, object x, int least, int most) except -1:
        """Whole numbers of a table, all of them within least .. most - 1."""
        bad = np.flatnonzero(~((np.asarray(x) >= least) & (np.asarray(x) < most)))
        if bad.size:
            raise MbrosError(f"bench: table {what}: row {bad[0]} is {np.asarray(x)[bad[0]]}; expected {least} to {most - 1}")
        return 0

    cdef int check_piece(self, str what, object at, object size) except -1:
        """Pieces of the block."""
        self.check(what, at, BLOCK_HEAD, len(self.block) + 1)
        self.check(f"{what}, end", np.asarray(at) + np.asarray(size), BLOCK_HEAD, len(self.block) + 1)
        return 0

    cdef int check_joint(self, str what, object of, int least) except -1:
        self.check(f"{what}, iq", of["iq"], least, self.c.plant.nq)
        self.check(f"{what}, iv", of["iv"], least, self.c.plant.nv)
        return 0

    cdef int fill_stream(self, Stream* s, object keys, int i, int mem) except -1:
        s.key[0], s.key[1] = <uint32_t>(<long long>keys[i, 0]), <uint32_t>(<long long>keys[i, 1])
        s.drawn = self.c.block + mem
        return 0
