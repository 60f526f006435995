"""Where H = M + J^T G J and its factor are not zero, and in which order coordinates are eliminated.

M is zero but for pairs on one path to a root (Featherstone 2008, section 6.5), and so is H where each block's coordinates lie on one
path: the natural order, leaves first, makes no fill. Blocks that join branches extend the tree to the elimination tree of H: what row k
holds below k goes to the parent of k in it, the largest of them (Liu 1990). Where they join trees of a forest, the trees are eliminated
in order of minimum degree (Tinney and Walker 1967, scheme 2), each in its natural order.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy, memset

from mbros_core.constraints.problem cimport Block, Problem, Run, words_of

cdef extern from *:
    """
    static inline int mbros_high_bit(uint64_t x) { return 63 - __builtin_clzll(x); }
    static inline int mbros_low_bit(uint64_t x) { return __builtin_ctzll(x); }
    """
    int high_bit "mbros_high_bit"(uint64_t x) nogil         # of x that is not zero
    int low_bit "mbros_low_bit"(uint64_t x) nogil


cdef inline int is_known(const Problem* p) noexcept nogil:
    """Whether the pattern that is there is that of these blocks."""
    cdef int b
    if not p.known or p.known_blocks != p.nblocks or memcmp(p.known_tree, p.tree, p.nv * sizeof(int)):
        return 0
    for b in range(p.nblocks):
        if p.known_dofs[b] != p.block[b].dofs:
            return 0
    return memcmp(p.known_dof, p.dof, p.ndofs * sizeof(int)) == 0


cdef inline void make_pattern(Problem* p) noexcept nogil:
    """Everything that follows from the tree and the blocks' lists."""
    cdef int b
    order(p)
    rows_of_tree(p)
    columns_of_blocks(p)
    if p.coupled:
        rows_of_factor(p)
    p.known = 1
    p.known_blocks = p.nblocks
    memcpy(p.known_tree, p.tree, p.nv * sizeof(int))
    memcpy(p.known_dof, p.dof, p.ndofs * sizeof(int))
    for b in range(p.nblocks):
        p.known_dofs[b] = p.block[b].dofs


# ---------------------------------------------------------------------------------------------------------------- order

cdef inline int on_one_path(const Problem* p, const Block* b) noexcept nogil:
    """Whether the coordinates of a block lie on one path to a root."""
    cdef const int* dof = p.dof + b.first_dof
    cdef int c
    cdef int i
    for c in range(b.dofs - 1):
        i = p.tree[dof[c]]
        while i > dof[c + 1]:
            i = p.tree[i]
        if i != dof[c + 1]:
            return 0
    return 1


cdef inline void order(Problem* p) noexcept nogil:
    """place and coordinate; natural unless blocks join trees."""
    cdef int* component = p.scratch
    cdef int trees = 0
    cdef int i
    cdef int b
    p.coupled = 0
    for b in range(p.nblocks):
        if not on_one_path(p, &p.block[b]):
            p.coupled = 1
    for i in range(p.nv):
        p.place[i] = i
        if p.tree[i] < 0:
            component[i] = trees
            trees += 1
        else:
            component[i] = component[p.tree[i]]
    if p.coupled and trees > 1:
        order_trees(p, trees)
    p.natural = 1
    for i in range(p.nv):
        p.coordinate[p.place[i]] = i
        if p.place[i] != i:
            p.natural = 0


cdef inline void join_trees(const Problem* p, const int* component, int trees, int* found) noexcept nogil:
    """bits: which trees share a block."""
    cdef Py_ssize_t words = words_of(trees)
    cdef uint64_t* row
    cdef int b
    cdef int c
    cdef int k
    cdef int n
    memset(p.bits, 0, trees * words * sizeof(uint64_t))
    for b in range(p.nblocks):
        n = 0
        for c in range(p.block[b].dofs):
            k = component[p.dof[p.block[b].first_dof + c]]
            if n == 0 or found[n - 1] != k:
                found[n] = k
                n += 1
        for c in range(n if n > 1 else 0):
            row = p.bits + found[c] * words
            for k in range(n):
                row[found[k] >> 6] |= <uint64_t>1 << (found[k] & 63)


cdef inline int degree_of(const uint64_t* row, Py_ssize_t words, const int* size, int itself) noexcept nogil:
    """How many coordinates the neighbours of a tree have."""
    cdef uint64_t left
    cdef Py_ssize_t w
    cdef int d = 0
    cdef int k
    for w in range(words):
        left = row[w]
        while left:
            k = <int>(64 * w) + low_bit(left)
            left &= left - 1
            if k != itself:
                d += size[k]
    return d


cdef inline void order_trees(Problem* p, int trees) noexcept nogil:
    """place: the tree with the fewest neighbours is eliminated next, which makes these each other's neighbours; of equal ones the last."""
    cdef int* component = p.scratch
    cdef int* size = p.scratch + p.nv
    cdef int* degree = p.scratch + 2 * p.nv       # -1: eliminated
    cdef int* start = p.scratch + 3 * p.nv
    cdef Py_ssize_t words = words_of(trees)
    cdef uint64_t* row
    cdef Py_ssize_t w
    cdef int top = p.nv
    cdef int best
    cdef int step
    cdef int k
    join_trees(p, component, trees, p.scratch + 4 * p.nv)
    memset(size, 0, trees * sizeof(int))
    for k in range(p.nv):
        size[component[k]] += 1
    for k in range(trees):
        degree[k] = degree_of(p.bits + k * words, words, size, k)
    for step in range(trees):
        best = -1
        for k in range(trees):
            if degree[k] >= 0 and (best < 0 or degree[k] <= degree[best]):
                best = k
        top -= size[best]
        start[best] = top
        degree[best] = -1
        row = p.bits + best * words
        row[best >> 6] &= ~(<uint64_t>1 << (best & 63))
        for k in range(trees):
            if row[k >> 6] >> (k & 63) & 1:
                for w in range(words):
                    p.bits[k * words + w] |= row[w]
                p.bits[k * words + (best >> 6)] &= ~(<uint64_t>1 << (best & 63))
                degree[k] = degree_of(p.bits + k * words, words, size, k)
    for k in range(p.nv):
        p.place[k] = start[component[k]]
        start[component[k]] += 1


# ----------------------------------------------------------------------------------------------------------------- rows

cdef inline void rows_of_tree(Problem* p) noexcept nogil:
    """tree_run: the ancestors of each coordinate, whose positions descend as they do."""
    cdef int n = 0
    cdef int k
    cdef int i
    cdef int at
    for k in range(p.nv):
        p.tree_row[k] = n
        i = p.tree[p.coordinate[k]]
        while i >= 0:
            at = p.place[i]
            if n > p.tree_row[k] and p.tree_run[n - 1].start == at + 1:
                p.tree_run[n - 1].start = at
            else:
                p.tree_run[n].start, p.tree_run[n].stop = at, at + 1
                n += 1
            i = p.tree[i]
    p.tree_row[p.nv] = n
    p.tree_groups = groups_of(p.nv, p.tree_row, p.tree_run, p.scratch, p.tree_group)


cdef inline int groups_of(int nv, const int* first, const Run* run, int* count, int* group) noexcept nogil:
    """The groups of three rows that hold the same, found from the last row on; returns how many."""
    cdef int groups = 0
    cdef int k
    cdef int n
    for k in range(nv):
        count[k] = 0
        for n in range(first[k], first[k + 1]):
            count[k] += run[n].stop - run[n].start
    k = nv
    while k > 0:
        n = k - 1
        if n > 1 and count[n] == count[n - 1] + 1 and count[n] == count[n - 2] + 2 \
                and run[first[n]].stop == n and run[first[n - 1]].stop == n - 1:
            k -= 3
        else:
            k -= 1
        group[groups] = k
        groups += 1
    for k in range(groups // 2):
        group[k], group[groups - 1 - k] = group[groups - 1 - k], group[k]
    group[groups] = nv
    return groups


cdef inline void columns_of_blocks(Problem* p) noexcept nogil:
    """at, column: each block's columns sorted by position; block_run: which of them follow each other."""
    cdef int n = 0
    cdef int b
    cdef int c
    cdef int k
    cdef int here
    cdef int* at
    cdef int* column
    for b in range(p.nblocks):
        at = p.at + p.block[b].first_dof
        column = p.column + p.block[b].first_dof
        for c in range(p.block[b].dofs):
            here = p.place[p.dof[p.block[b].first_dof + p.block[b].dofs - 1 - c]]
            k = c
            while k > 0 and at[k - 1] > here:
                at[k], column[k] = at[k - 1], column[k - 1]
                k -= 1
            at[k], column[k] = here, p.block[b].dofs - 1 - c
        p.block_row[b] = n
        for c in range(p.block[b].dofs):
            if c > 0 and at[c] == at[c - 1] + 1:
                p.block_run[n - 1].stop = c + 1
            else:
                p.block_run[n].start, p.block_run[n].stop = c, c + 1
                n += 1
    p.block_row[p.nblocks] = n


cdef inline int runs_of_bits(const uint64_t* bits, int below, Run* run) noexcept nogil:
    """The runs of a set of positions below `below`, from high to low; returns how many."""
    cdef int n = 0
    cdef int k
    cdef Py_ssize_t w
    cdef uint64_t left
    for w in range(words_of(below) - 1, -1, -1):
        left = bits[w]
        while left:
            k = <int>(64 * w) + high_bit(left)
            left ^= <uint64_t>1 << (k & 63)
            if n and run[n - 1].start == k + 1:
                run[n - 1].start = k
            else:
                run[n].start, run[n].stop = k, k + 1
                n += 1
    return n


cdef inline void rows_of_factor(Problem* p) noexcept nogil:
    """fill_run: row k holds its ancestors, what blocks with k as their highest position join to it, and the rows whose parent is k."""
    cdef Py_ssize_t words = words_of(p.nv)
    cdef Block* b
    cdef uint64_t* row
    cdef uint64_t* parent
    cdef Py_ssize_t w
    cdef int c
    cdef int k
    cdef int n
    memset(p.bits, 0, p.nv * words * sizeof(uint64_t))
    for k in range(p.nv):
        row = p.bits + k * words
        for n in range(p.tree_row[k], p.tree_row[k + 1]):
            for c in range(p.tree_run[n].start, p.tree_run[n].stop):
                row[c >> 6] |= <uint64_t>1 << (c & 63)
    for n in range(p.nblocks):
        b = &p.block[n]
        row = p.bits + p.at[b.first_dof + b.dofs - 1] * words
        for c in range(b.dofs - 1):
            k = p.at[b.first_dof + c]
            row[k >> 6] |= <uint64_t>1 << (k & 63)
    for k in range(p.nv - 1, 0, -1):
        row = p.bits + k * words
        w = words - 1
        while w >= 0 and row[w] == 0:
            w -= 1
        if w >= 0:
            c = <int>(64 * w) + high_bit(row[w])
            parent = p.bits + c * words
            for w in range(w + 1):
                parent[w] |= row[w]
            parent[c >> 6] &= ~(<uint64_t>1 << (c & 63))
    n = 0
    for k in range(p.nv):
        p.fill_row[k] = n
        n += runs_of_bits(p.bits + k * words, k, p.fill_run + n)
    p.fill_row[p.nv] = n
    p.fill_groups = groups_of(p.nv, p.fill_row, p.fill_run, p.scratch, p.fill_group)
