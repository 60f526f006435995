"""One convex problem in velocities, in plain doubles:  v = argmin 1/2 (v - v*)^T M (v - v*) + sum of l(y),  y = J v - target.

l, of every term, is a potential of some rows of y (potentials.pxd) whose impulse is -dl/dy. Rows that share a list of coordinates are a
block. All arrays lie in one piece of the caller's memory (lay_out); nothing is allocated afterwards. Who fills a problem, each step:

    clear(p); p.M, p.tree, p.v_star, p.v[...] = ...
    b = add_block(p, rows, dofs)              then p.dof[block.first_dof ...], p.J[block.first_entry ...] and p.target[block.row ...]
    add_term(p, potential, row, rows, weight, bound)        terms in the order of their rows, each within the rows of one block

and then calls solve (newton.pxd). The pattern of the last problem is kept (pattern.pxd): the same coordinates cost nothing again.
"""
from libc.stdint cimport uint64_t

cdef enum:
    MOST_ROWS = 6             # of a block

cdef enum Potential:
    EQUALITY = 0              # l = 1/2 weight |y|^2
    ONE_SIDED = 1             # l = 1/2 weight min(y, 0)^2, one row
    FRICTION = 2              # l = 1/2 weight |y|^2 up to |y| = bound / weight, then bound (|y| - bound / (2 weight)): Huber's, 1 to 3 rows

cdef struct Term:
    int potential
    int row                   # its first row in y
    int rows
    double weight             # N s per m/s, or N m s per rad/s
    double bound              # of FRICTION: the largest impulse, N s or N m s

cdef struct Block:
    int row                   # first row
    int rows                  # 1 to MOST_ROWS
    int dofs                  # how many coordinates
    int first_dof             # where its list starts in dof, in descending order of coordinate numbers
    int first_entry           # where its J starts in J: (rows, dofs) row-major

cdef struct Run:              # start, start + 1, ..., stop - 1
    int start
    int stop

cdef struct Problem:
    int nv
    int nblocks               # in use
    int nrows
    int nterms
    int ndofs
    int nentries
    int most_blocks           # room
    int most_rows
    int most_terms
    int most_dofs
    int most_entries
    const double* M           # (nv, nv) row-major, symmetric; M[i][j] is zero unless j is i, an ancestor or a descendant of i
    const int* tree           # (nv) the coordinate before this one on the way to the root, -1 at a root; tree[i] < i
    const double* v_star      # (nv)
    const double* inverse     # (nv) 1 / M_ii; NULL: made here
    double* v                 # (nv) in: first guess; out: solution
    double change             # the square of the momentum beside which a residual is small; below 0: that of v*
    Block* block
    Term* term
    int* dof
    double* J
    double* target            # (nrows)
    double* y                 # (nrows) J v - target at the solution
    double* impulse           # (nrows) -dl/dy at the solution

    # The pattern. A coordinate's position is its place in the order of elimination, from the last position to the first.
    int known                 # whether the pattern is that of the next four
    int known_blocks
    int* known_tree           # (nv)
    int* known_dofs           # (nblocks)
    int* known_dof            # (ndofs)
    int natural               # whether positions are coordinates
    int coupled               # whether a block joins branches of the tree
    int* place                # (nv) coordinate -> position
    int* coordinate           # (nv) position -> coordinate
    int* tree_row             # (nv + 1) the runs of positions below k in row k of M, from high to low
    Run* tree_run
    int* fill_row             # (nv + 1) the same of H and its factor
    Run* fill_run
    int* tree_group           # the first positions of groups of rows, 3 or 1 each, ascending, nv behind the last: of 3 rows, each holds the
    int* fill_group           # one below it and what that one holds
    int tree_groups
    int fill_groups
    int* at                   # (ndofs) position of each column of a block, ascending
    int* column               # (ndofs) which of the block's columns it is
    int* block_row            # (nblocks + 1) the runs of columns whose positions follow each other
    Run* block_run
    uint64_t* bits            # (nv, words) sets of positions while the pattern is made
    int* scratch              # (6 nv)

    # Numbers of one solution, by positions.
    const double* A           # M
    const double* u_star      # v_star
    double* u                 # v
    double* room_A            # (nv, nv) where the order is not natural
    double* room_u            # (2 nv)
    double* K                 # J, (rows, dofs) of each block, columns ascending
    double* H                 # (nv, nv) M + J^T G J, then L, below the diagonal
    double* pivot             # (nv) 1 / D
    double* upper             # (nv, nv) above the diagonal, transposed, where the matrix is not symmetric (coupled_factor.pxd)
    double* mass              # (nv) M_ii
    const double* unit        # (nv) 1 / M_ii
    double* room_unit         # (nv) the same where nobody gave it, or the order is not natural
    double carried            # |M v*|^2 in the units of the residual
    double* momentum          # (nv) M (v - v*)
    double* gradient          # (nv) M (v - v*) - J^T impulse
    double* direction         # (nv)
    double* pull              # (nv) M direction
    double* rate              # (nrows) J direction
    double* doubles           # where the double workspace starts, and its size
    Py_ssize_t ndoubles
    int factored              # whether H holds the factor at the solution
    int coupled_bounds        # whether that is the one of coupled_factor.pxd


cdef inline Py_ssize_t words_of(int nv) noexcept nogil:
    return (nv + 63) // 64


cdef inline Py_ssize_t runs_of(int nv) noexcept nogil:
    """Most runs of all rows together: row k has at most (k + 1) / 2."""
    return <Py_ssize_t>nv * (nv + 2) // 4 + 1


cdef inline void* carve(char* memory, Py_ssize_t* used, Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    """The next `count` things of `size` bytes, at a multiple of 8 bytes; `used` grows by them. NULL in no memory."""
    cdef Py_ssize_t here = used[0]
    used[0] = here + (count * size + 7) // 8 * 8
    return NULL if memory == NULL else memory + here


cdef inline Py_ssize_t lay_out(Problem* p, void* memory, int nv, int most_blocks, int most_rows, int most_terms, int most_dofs,
                               int most_entries) noexcept nogil:
    """Put the arrays of p into `memory`, empty; returns how many doubles (8 bytes) they take. With memory NULL it only counts."""
    cdef char* m = <char*>memory
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t first
    cdef Py_ssize_t square = <Py_ssize_t>nv * nv
    p.nv = nv
    p.most_blocks, p.most_rows, p.most_terms, p.most_dofs, p.most_entries = most_blocks, most_rows, most_terms, most_dofs, most_entries
    p.v = <double*>carve(m, &used, nv, 8)
    p.J = <double*>carve(m, &used, most_entries, 8)
    p.target = <double*>carve(m, &used, most_rows, 8)
    p.y = <double*>carve(m, &used, most_rows, 8)
    p.impulse = <double*>carve(m, &used, most_rows, 8)
    first = used
    p.doubles = <double*>carve(m, &used, 0, 8)
    p.room_A = <double*>carve(m, &used, square, 8)
    p.room_u = <double*>carve(m, &used, 2 * nv, 8)
    p.K = <double*>carve(m, &used, most_entries, 8)
    p.H = <double*>carve(m, &used, square, 8)
    p.pivot = <double*>carve(m, &used, nv, 8)
    p.upper = <double*>carve(m, &used, square, 8)
    p.mass = <double*>carve(m, &used, nv, 8)
    p.room_unit = <double*>carve(m, &used, nv, 8)
    p.momentum = <double*>carve(m, &used, nv, 8)
    p.gradient = <double*>carve(m, &used, nv, 8)
    p.direction = <double*>carve(m, &used, nv, 8)
    p.pull = <double*>carve(m, &used, nv, 8)
    p.rate = <double*>carve(m, &used, most_rows, 8)
    p.ndoubles = (used - first) // 8
    p.bits = <uint64_t*>carve(m, &used, nv * words_of(nv), 8)
    p.block = <Block*>carve(m, &used, most_blocks, sizeof(Block))
    p.term = <Term*>carve(m, &used, most_terms, sizeof(Term))
    p.dof = <int*>carve(m, &used, most_dofs, sizeof(int))
    p.known_tree = <int*>carve(m, &used, nv, sizeof(int))
    p.known_dofs = <int*>carve(m, &used, most_blocks, sizeof(int))
    p.known_dof = <int*>carve(m, &used, most_dofs, sizeof(int))
    p.place = <int*>carve(m, &used, nv, sizeof(int))
    p.coordinate = <int*>carve(m, &used, nv, sizeof(int))
    p.tree_row = <int*>carve(m, &used, nv + 1, sizeof(int))
    p.tree_run = <Run*>carve(m, &used, runs_of(nv), sizeof(Run))
    p.fill_row = <int*>carve(m, &used, nv + 1, sizeof(int))
    p.fill_run = <Run*>carve(m, &used, runs_of(nv), sizeof(Run))
    p.tree_group = <int*>carve(m, &used, nv + 1, sizeof(int))
    p.fill_group = <int*>carve(m, &used, nv + 1, sizeof(int))
    p.at = <int*>carve(m, &used, most_dofs, sizeof(int))
    p.column = <int*>carve(m, &used, most_dofs, sizeof(int))
    p.block_row = <int*>carve(m, &used, most_blocks + 1, sizeof(int))
    p.block_run = <Run*>carve(m, &used, most_dofs, sizeof(Run))
    p.scratch = <int*>carve(m, &used, 6 * nv, sizeof(int))
    p.known = 0
    p.inverse = NULL
    p.change = -1.0
    clear(p)
    return used // 8


cdef inline Py_ssize_t problem_doubles(int nv, int most_blocks, int most_rows, int most_terms, int most_dofs,
                                       int most_entries) noexcept nogil:
    """How many doubles of memory a problem with this room takes."""
    cdef Problem p
    return lay_out(&p, NULL, nv, most_blocks, most_rows, most_terms, most_dofs, most_entries)


cdef inline void clear(Problem* p) noexcept nogil:
    """No blocks and no terms."""
    p.nblocks = p.nrows = p.nterms = p.ndofs = p.nentries = 0
    p.factored = p.coupled_bounds = 0


cdef inline int add_block(Problem* p, int rows, int dofs) noexcept nogil:
    """The number of a new block whose list, J and targets are to be filled in; -1, and nothing done, where the room is used up."""
    cdef Block* b
    if p.nblocks >= p.most_blocks or rows < 1 or rows > MOST_ROWS or p.nrows + rows > p.most_rows or dofs < 1 \
            or p.ndofs + dofs > p.most_dofs or p.nentries + rows * dofs > p.most_entries:
        return -1
    b = &p.block[p.nblocks]
    b.row, b.rows, b.dofs, b.first_dof, b.first_entry = p.nrows, rows, dofs, p.ndofs, p.nentries
    p.nrows += rows
    p.ndofs += dofs
    p.nentries += rows * dofs
    p.nblocks += 1
    return p.nblocks - 1


cdef inline int add_term(Problem* p, int potential, int row, int rows, double weight, double bound) noexcept nogil:
    """The number of a new term; -1, and nothing done, where the room is used up."""
    cdef Term* t
    if p.nterms >= p.most_terms or row < 0 or row + rows > p.nrows:
        return -1
    t = &p.term[p.nterms]
    t.potential, t.row, t.rows, t.weight, t.bound = potential, row, rows, weight, bound
    p.nterms += 1
    return p.nterms - 1
