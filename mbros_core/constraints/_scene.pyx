# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""The shapes and constraints of a model and the workspace of a state, in memory of their own, as the engine uses them (docs/contact.md)."""
from itertools import chain, combinations, product

import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport INFINITY, NAN
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from mbros_core.engine.arrays cimport bytes_of, constants_of, ints_of
from mbros_core.constraints.constraint cimport Constraint
from mbros_core.constraints.columns cimport Axes
from mbros_core.constraints.contact cimport (CONTACT_COLUMNS, Law, RELAXATION_TIME, ROLLING_RADIUS, SLIDING, STANDING, STIFFNESS,
                                             TORSIONAL_RADIUS)
from mbros_core.constraints.contact_step cimport solve_touches
from mbros_core.constraints.dispatch cimport COUPLER, DISTANCE, NUMBER_OF_CONSTRAINT_KINDS
from mbros_core.constraints.displaced cimport robot_doubles, robot_over
from mbros_core.constraints.find cimport find_touches
from mbros_core.constraints.held_slopes cimport differentiate_held
from mbros_core.constraints.hold cimport hold_constraints
from mbros_core.constraints.problem cimport MOST_ROWS, Problem, lay_out, words_of
from mbros_core.constraints.robot cimport Tree
from mbros_core.constraints.scene cimport Ball, Rigid, Scene as SceneC, Slopes, Workspace as WorkspaceC
from mbros_core.constraints.springs cimport Spring
from mbros_core.constraints.slopes cimport differentiate_energy, differentiate_touches
from mbros_core.constraints.touch cimport TOUCH_COLUMNS, Touch
from mbros_core.geometry._geometry cimport Shape
from mbros_core.geometry.bounds cimport Bounds
from mbros_core.geometry.broad_phase cimport Pair
from mbros_core.geometry.shape cimport HEIGHT_FIELD, Shape as ShapeC
from mbros_core.geometry.tables cimport copy_tables, table_bytes
from mbros_core.geometry.vec cimport Frame, Vec, norm, place, vec

from mbros_core.constraints import kinds, registry, touches
from mbros_core.errors import NoMemoryError
from mbros_core.forces.registry import spring_numbers
from mbros_core.geometry import registry as kinds_of_shapes

cnp.import_array()

MOST_LISTED = 512               # pairs that are all looked at; with more, the broad phase chooses
TOLERANCE = 1e-10                # of the convex problem, against the momentum

cdef enum:
    MOST_LANES = 8

PLACES = dict(stiffness=STIFFNESS, relaxation_time=RELAXATION_TIME, friction=SLIDING, static_friction=STANDING,
              torsional_radius=TORSIONAL_RADIUS, rolling_radius=ROLLING_RADIUS)
if [row.name for row in registry.CONTACT_NUMBERS] != sorted(PLACES, key=PLACES.get) or len(PLACES) != CONTACT_COLUMNS:
    raise ImportError("mbros_core.constraints.registry and constraints/contact.pxd disagree: rebuild mbros_core")
if touches.COLUMNS != TOUCH_COLUMNS:
    raise ImportError("mbros_core.constraints.touches and constraints/touch.pxd disagree: rebuild mbros_core")

if len(kinds.ROWS) != NUMBER_OF_CONSTRAINT_KINDS or [row.number for row in kinds.ROWS] != list(range(len(kinds.ROWS))):
    raise ImportError("mbros_core.constraints.kinds and constraints/dispatch.pxd disagree: rebuild mbros_core")


cdef class Bytes:
    """Zeroed memory that is put into pieces of 64 bytes."""
    cdef object array
    cdef char* at

    def __cinit__(self, size_t size):
        try:
            self.array = np.zeros(size + 64, np.uint8)
        except MemoryError:
            raise NoMemoryError(f"no memory for {size} bytes of contacts") from None
        self.at = <char*>((<size_t>bytes_of(self.array) + 63) // 64 * 64)

    cdef void* piece(self, size_t bytes):
        cdef void* here = self.at
        self.at += padded(bytes)
        return here


cdef inline size_t padded(size_t bytes) noexcept nogil:
    return (bytes + 63) // 64 * 64


cdef int* whole_numbers(Bytes memory, object values) except NULL:
    x = np.array(values, dtype=np.intc).reshape(-1)
    cdef size_t n = len(x)
    cdef int* out = <int*>memory.piece((n + 1) * sizeof(int))
    memcpy(out, ints_of(x, 1), n * sizeof(int))
    return out


cdef uint64_t* bits_of(Bytes memory, pairs, int n) except NULL:
    """(n, words): of each shape the bits of its partners."""
    cdef Py_ssize_t words = words_of(n)
    cdef uint64_t* out = <uint64_t*>memory.piece((n * words + 1) * sizeof(uint64_t))
    cdef int a, b
    for a, b in pairs:
        out[a * words + b // 64] |= <uint64_t>1 << (b % 64)
    return out


def partners(spec):
    """Of every shape, the set of shapes of other bodies with a larger number that it may never touch, as the spec excludes them; those of
    its own body, which it never touches either, may be many, and are nowhere listed.

    Shapes without a surface of their own (half-space, height field) do not touch each other.
    """
    body, n = spec.shape_body.tolist(), len(spec.shape_names)
    out = [set() for _ in range(n)]
    open_ended = [k for k in range(n) if not kinds_of_shapes.BY_NAME[spec.shape_geometry[k].kind].solid]
    for a, b in chain(spec.shape_excluded.tolist(), combinations(open_ended, 2)):
        if body[a] != body[b]:
            out[min(a, b)].add(max(a, b))
    return out


def shapes_of_bodies(spec):
    """The numbers of the shapes of each body that has some."""
    together = {}
    for k, body in enumerate(spec.shape_body.tolist()):
        together.setdefault(body, []).append(k)
    return list(together.values())


def touching(spec, never):
    """How many pairs may touch."""
    n = len(spec.shape_names)
    own = sum(len(shapes) * (len(shapes) - 1) // 2 for shapes in shapes_of_bodies(spec))
    return n * (n - 1) // 2 - own - sum(len(others) for others in never)


def pairs_of(spec, never):
    """The pairs that may touch, (n, 2); None where there are more than MOST_LISTED."""
    if touching(spec, never) > MOST_LISTED:
        return None
    between = (sorted(pair) for one, other in combinations(shapes_of_bodies(spec), 2) for pair in product(one, other))
    return sorted((a, b) for a, b in between if b not in never[a])


def room_for(spec, never):
    """Most contact points of a step."""
    return min(4 * touching(spec, never), 16 * len(spec.shape_names) + 16)


cdef class Scene:
    """The shapes and constraints of a spec on the engine's tree. tree: (parent, iv, dofs, column) of the bodies, `before` of the
    coordinates, the number of positions, and whether joints share coordinates, as constraints/robot.pxd says."""

    def __cinit__(self, spec, tree, before, int nq, bint shared):
        cdef SceneC* c = &self.c
        cdef int n = len(spec.shape_names), nk = len(spec.constraint_names), k
        never = partners(spec)
        pairs = pairs_of(spec, never)
        starts = np.cumsum([0] + [len(others) for others in never])
        size = (padded(nk * sizeof(Constraint)) + n * (padded(sizeof(ShapeC)) + padded(sizeof(Frame)) + padded(sizeof(Ball)) + 8) + 64 * 10
                + 4 * (5 * len(tree[0]) + len(before) + 2 * len(spec.force_kind) + 2 * n + int(starts[n])) + 8 * n * words_of(n) + 4096)
        size += sum([padded(table_bytes(&(<Shape>shape).c)) for shape in spec.shape_geometry])
        memory = Bytes(size)
        memset(c, 0, sizeof(SceneC))
        c.memory, c.bytes = memory.at, size
        c.tree.nb, c.tree.nv, c.tree.shared = len(tree[0]), len(before), shared
        c.tree.nq = nq
        c.tree.parent, c.tree.iv, c.tree.dofs, c.tree.column = (whole_numbers(memory, tree[0]), whole_numbers(memory, tree[1]),
                                                                whole_numbers(memory, tree[2]), whole_numbers(memory, tree[3]))
        c.tree.before = whole_numbers(memory, before)
        springs = spec.force_body[spring_numbers(spec)]
        c.nsprings, c.spring_body = len(springs), whole_numbers(memory, springs)
        c.tree.branch = longest_branch([*spec.shape_body, *spec.constraint_body.ravel(), *springs.ravel()], tree)
        c.ns = n
        cdef ShapeC* shapes = <ShapeC*>memory.piece(n * sizeof(ShapeC))
        cdef Frame* frames = <Frame*>memory.piece(n * sizeof(Frame))
        for k in range(n):
            shapes[k] = (<Shape>spec.shape_geometry[k]).c
            copy_tables(&shapes[k], <char*>memory.piece(table_bytes(&shapes[k])))
            pose = np.array(spec.shape_X[k])
            frames[k] = frame_of(constants_of(pose, 1))
        c.shape, c.X_BS = shapes, frames
        cdef Ball* balls = <Ball*>memory.piece(n * sizeof(Ball))
        cdef double* arms = <double*>memory.piece(n * 8)
        for k in range(n):
            balls[k].centre = place(frames[k], shapes[k].centre)
            balls[k].radius = INFINITY if shapes[k].kind == HEIGHT_FIELD else shapes[k].reach
            arms[k] = norm(frames[k].p) + min(shapes[k].reach, 1e3)
        c.ball, c.arm = balls, arms
        c.body = whole_numbers(memory, spec.shape_body)
        c.words = 0 if pairs is None else max(1, <int>words_of(n))
        c.partners = bits_of(memory, pairs or [], n)
        c.excluded_start = whole_numbers(memory, starts)
        c.excluded = whole_numbers(memory, [b for others in never for b in sorted(others)])
        c.nk = nk
        cdef Constraint* constraints = <Constraint*>memory.piece(nk * sizeof(Constraint))
        for k in range(nk):
            fill_constraint(&constraints[k], spec, k)
        c.constraint = constraints
        c.most_pairs = 1 if pairs is not None else 64 * n
        c.most_touches = room_for(spec, never)
        c.tolerance = TOLERANCE
        c.find, c.solve, c.hold = find_touches, solve_touches, hold_constraints
        c.differentiate, c.energy_slope = differentiate_touches, differentiate_energy
        c.differentiate_held = differentiate_held
        self.held, self.shapes = memory, tuple(spec.shape_geometry)
        self.capsule = PyCapsule_New(<void*>c, "mbros_core.scene", NULL)

    @property
    def rows(self):
        """Rows of a state's memory of contacts: the head, one for each contact point, each constraint, and each force element that may be
        stiff."""
        return self.c.most_touches + 1 + self.c.nk + self.c.nsprings

    def workspace(self, lanes, slopes=False):
        """Memory for one state of so many lanes. slopes: for derivatives, too."""
        return Workspace(self, lanes, slopes)


cdef int fill_constraint(Constraint* c, spec, int k) except -1:
    cdef int side
    c.kind = kinds.BY_NAME[spec.constraint_kind[k]].number
    c.body_a, c.body_b = max(0, spec.constraint_body[k, 0]), max(0, spec.constraint_body[k, 1])
    pose_A, pose_B = np.ascontiguousarray(spec.constraint_X[k, 0]), np.ascontiguousarray(spec.constraint_X[k, 1])
    c.X_A, c.X_B = frame_of(constants_of(pose_A, 1)), frame_of(constants_of(pose_B, 1))
    for side in range(2):
        c.iq[side], c.iv[side] = spec.constraint_coordinate[k, side]
    c.index = k
    c.flag = int(spec.constraint_parameters[k, {DISTANCE: 1, COUPLER: 3}.get(c.kind, 3)])
    return 0


def longest_branch(body, tree):
    """Most coordinates that two of these bodies have together on their ways to the root; two at least, for a coupler."""
    parent, _, dofs, _ = tree
    depth = np.zeros(len(parent), int)
    for i in range(1, len(parent)):
        depth[i] = depth[parent[i]] + dofs[i]
    deepest = sum(sorted(depth[np.asarray(body, int)], reverse=True)[:2]) if len(body) else 0
    return max(2, int(deepest))


cdef Frame frame_of(const double* X):
    """Of R row-major, then p."""
    cdef Frame f
    f.R.x, f.R.y, f.R.z = vec(X[0], X[3], X[6]), vec(X[1], X[4], X[7]), vec(X[2], X[5], X[8])
    f.p = vec(X[9], X[10], X[11])
    return f


cdef class Workspace:
    """What a step with contacts works in: memory for one state of so many lanes, and no more."""

    def __cinit__(self, Scene scene not None, int lanes, bint slopes=False):
        cdef const SceneC* s = &scene.c
        cdef WorkspaceC* c = &self.c
        cdef Problem counted
        cdef int touches = s.most_touches, blocks = s.most_touches + s.nk + s.nsprings, branch = s.tree.branch, nv = s.tree.nv, k
        cdef int terms = 4 * (s.most_touches + s.nk) + MOST_ROWS * s.nsprings
        cdef size_t dense = 8 * (<size_t>nv * nv + MOST_ROWS * nv) if s.nsprings else 0
        cdef size_t problem = 8 * lay_out(&counted, NULL, nv, blocks, MOST_ROWS * blocks, terms, branch * blocks,
                                          MOST_ROWS * branch * blocks)
        cdef size_t before = 8 * TOUCH_COLUMNS * (blocks + 1) if lanes == 1 and not slopes else 0
        cdef size_t size = (padded(problem) + padded(s.ns * sizeof(Frame)) + padded(s.ns * sizeof(Ball)) + 2 * padded(s.ns * 4)
                            + padded(s.ns * sizeof(Bounds)) + 5 * padded(s.ns * 8) + padded(s.most_pairs * sizeof(Pair))
                            + padded(lanes * touches * sizeof(Touch)) + 2 * padded(lanes * 8) + padded(lanes * 4) + 3 * padded(branch * 4)
                            + padded(branch * MOST_ROWS * 8) + padded(branch * 8) + padded(<size_t>nv * nv * 8) + 5 * padded(nv * 8)
                            + padded(blocks * sizeof(Law)) + padded(blocks * sizeof(Axes)) + padded(s.nk * 4)
                            + padded(s.nk * sizeof(Axes)) + padded(s.nk * sizeof(Vec)) + padded(MOST_ROWS * blocks * 8)
                            + padded(s.nsprings * 8 * MOST_LANES) + padded(lanes * s.nsprings * sizeof(Spring)) + padded(s.nsprings * 4)
                            + padded(dense) + padded(before) + 4 * padded(touches * 8) + padded(touches * 4) + padded(max(branch, nv) * 8))
        memory = Bytes(size)
        memset(c, 0, sizeof(WorkspaceC))
        c.memory, c.bytes = memory.at, size
        c.most_iterations = registry.MOST_ITERATIONS
        lay_out(&c.problem, memory.piece(problem), nv, blocks, MOST_ROWS * blocks, terms, branch * blocks, MOST_ROWS * branch * blocks)
        c.X_WS = <Frame*>memory.piece(s.ns * sizeof(Frame))
        c.ball, c.placed = <Ball*>memory.piece(s.ns * sizeof(Ball)), <int*>memory.piece(s.ns * 4)
        c.bounds = <Bounds*>memory.piece(s.ns * sizeof(Bounds))
        c.balls = <double*>memory.piece(4 * padded(s.ns * 8))
        c.margin = <double*>memory.piece(s.ns * 8)
        c.order = <int*>memory.piece(s.ns * 4)
        for k in range(s.ns):
            c.order[k] = k
        c.pair = <Pair*>memory.piece(s.most_pairs * sizeof(Pair))
        c.touch = <Touch*>memory.piece(lanes * touches * sizeof(Touch))
        c.touches, c.lost = <int*>memory.piece(lanes * 8), <long long*>memory.piece(lanes * 8)
        c.counted = <int*>memory.piece(lanes * 4)
        c.columns.dof, c.columns.x = <int*>memory.piece(branch * 4), <double*>memory.piece(branch * MOST_ROWS * 8)
        c.columns.column, c.columns.body = <int*>memory.piece(branch * 4), <int*>memory.piece(branch * 4)
        c.columns.sign = <double*>memory.piece(branch * 8)
        c.M, c.v_star = <double*>memory.piece(<size_t>nv * nv * 8), <double*>memory.piece(nv * 8)
        c.unit, c.law = <double*>memory.piece(nv * 8), <Law*>memory.piece(blocks * sizeof(Law))
        c.axes, c.given = <Axes*>memory.piece(blocks * sizeof(Axes)), <double*>memory.piece(nv * 8)
        c.slower, c.sticking = <double*>memory.piece(nv * 8), <double*>memory.piece(nv * 8)
        c.held, c.held_axes = <int*>memory.piece(s.nk * 4), <Axes*>memory.piece(s.nk * sizeof(Axes))
        c.held_at, c.wanted = <Vec*>memory.piece(s.nk * sizeof(Vec)), <double*>memory.piece(MOST_ROWS * blocks * 8)
        c.share, c.spring = <double*>memory.piece(s.nsprings * 8 * MOST_LANES), <Spring*>memory.piece(lanes * s.nsprings * sizeof(Spring))
        c.spring_block, c.mass = <int*>memory.piece(s.nsprings * 4), <double*>memory.piece(dense)
        c.mu, c.bound = <double*>memory.piece(touches * 8), <double*>memory.piece(touches * 8)
        c.difference, c.pace = <double*>memory.piece(touches * 8), <double*>memory.piece(touches * 8)
        c.sliding, c.column = <int*>memory.piece(touches * 4), <double*>memory.piece(max(branch, nv) * 8)
        if before:
            c.before = <double*>memory.piece(before)
        self.held, self.scene = memory, scene
        if s.nk:
            self.add_rigid(terms)
        if slopes:
            self.add_slopes()
        self.capsule = PyCapsule_New(<void*>c, "mbros_core.contact_workspace", NULL)

    cdef int add_rigid(self, int terms) except -1:
        """Memory for constraints that are held without compliance. Blocks beside them may come to have all coordinates as columns."""
        cdef const SceneC* s = &self.scene.c
        cdef Rigid* x = &self.c.rigid
        cdef Problem counted
        cdef int nv = s.tree.nv, blocks = self.c.problem.most_blocks
        cdef size_t rows = MOST_ROWS * s.nk
        cdef size_t apart = 8 * lay_out(&counted, NULL, nv, blocks, MOST_ROWS * blocks, terms, nv * blocks, MOST_ROWS * nv * blocks)
        memory = Bytes(padded(<size_t>nv * nv * 8) + 2 * padded(rows * nv * 8) + padded(rows * rows * 8) + 5 * padded(rows * 8)
                       + 2 * padded(rows * 4) + padded(s.nk * 4) + 6 * padded(nv * 8) + padded(MOST_ROWS * blocks * rows * 8) + padded(terms * 8)
                       + padded(apart))
        x.factor = <double*>memory.piece(<size_t>nv * nv * 8)
        x.J, x.u = <double*>memory.piece(rows * nv * 8), <double*>memory.piece(rows * nv * 8)
        x.mix = <double*>memory.piece(rows * rows * 8)
        x.left, x.target = <double*>memory.piece(rows * 8), <double*>memory.piece(rows * 8)
        x.share, x.most = <double*>memory.piece(rows * 8), <double*>memory.piece(2 * nv * 8)
        x.size, x.force = <double*>memory.piece(rows * 8), <double*>memory.piece(rows * 8)
        x.row, x.constraint = <int*>memory.piece(rows * 4), <int*>memory.piece(rows * 4)
        x.acts = <int*>memory.piece(s.nk * 4)
        x.v, x.push, x.one = <double*>memory.piece(nv * 8), <double*>memory.piece(nv * 8), <double*>memory.piece(2 * nv * 8)
        x.mixes, x.scale = <double*>memory.piece(MOST_ROWS * blocks * rows * 8), <double*>memory.piece(terms * 8)
        lay_out(&x.apart, memory.piece(apart), nv, blocks, MOST_ROWS * blocks, terms, nv * blocks, MOST_ROWS * nv * blocks)
        self.held = self.held, memory
        return 0

    cdef int add_slopes(self) except -1:
        """Memory for derivatives."""
        cdef const SceneC* s = &self.scene.c
        cdef Slopes* x = &self.c.slopes
        cdef Problem counted
        cdef int branch = s.tree.branch, nv = s.tree.nv, blocks = self.c.problem.most_blocks
        cdef size_t robot = 8 * robot_doubles(s), one = 8 * lay_out(&counted, NULL, nv, 1, MOST_ROWS, 4, branch, MOST_ROWS * branch)
        memory = Bytes(3 * padded(robot) + padded(one) + 7 * padded(nv * 8) + padded(s.tree.nb * 4) + padded(branch * 8)
                       + 2 * padded((blocks + 1) * 4) + 2 * padded(MOST_ROWS * s.nk * 8))
        x.still, x.ahead, x.behind = (robot_over(s, <double*>memory.piece(robot)), robot_over(s, <double*>memory.piece(robot)),
                                      robot_over(s, <double*>memory.piece(robot)))
        x.numbers_ahead, x.numbers_behind = <double*>x.ahead.numbers, <double*>x.behind.numbers
        x.ahead.numbers, x.ahead.lock = x.still.numbers, x.still.lock
        x.behind.numbers, x.behind.lock = x.still.numbers, x.still.lock
        lay_out(&x.one, memory.piece(one), nv, 1, MOST_ROWS, 4, branch, MOST_ROWS * branch)
        x.unit_ahead, x.unit_behind = <double*>memory.piece(nv * 8), <double*>memory.piece(nv * 8)
        x.v_star_ahead, x.v_star_behind = <double*>memory.piece(nv * 8), <double*>memory.piece(nv * 8)
        x.dv, x.change = <double*>memory.piece(nv * 8), <double*>memory.piece(nv * 8)
        x.moved, x.push = <int*>memory.piece(s.tree.nb * 4), <double*>memory.piece(branch * 8)
        x.ask, x.force = <double*>memory.piece(MOST_ROWS * s.nk * 8), <double*>memory.piece(MOST_ROWS * s.nk * 8)
        x.shift = <double*>memory.piece(nv * 8)
        x.first_term = <int*>memory.piece((blocks + 1) * 4)
        x.switches = <int*>memory.piece((blocks + 1) * 4)
        self.held = self.held, memory
        return 0

    def poison(self):
        """NaN into every number that a step writes before it reads it, for tests."""
        cdef const SceneC* s = &self.scene.c
        cdef int nv = s.tree.nv
        cdef Py_ssize_t k
        for k in range(self.c.problem.ndoubles):
            self.c.problem.doubles[k] = NAN
        for k in range(MOST_ROWS * s.tree.branch):
            self.c.columns.x[k] = NAN
        for k in range(<Py_ssize_t>nv * nv):
            self.c.M[k] = NAN
        for k in range(nv):
            self.c.v_star[k] = self.c.unit[k] = self.c.problem.v[k] = self.c.given[k] = self.c.slower[k] = NAN
        for k in range(MOST_ROWS * s.nk):
            self.c.wanted[k] = NAN
        for k in range(<Py_ssize_t>nv * nv if s.nsprings else 0):
            self.c.mass[k] = NAN
        for k in range(s.most_touches):
            self.c.mu[k] = self.c.bound[k] = self.c.difference[k] = self.c.pace[k] = NAN
        for k in range(max(s.tree.branch, nv)):
            self.c.column[k] = NAN
        for k in range(MOST_ROWS * s.nk * nv):
            self.c.rigid.J[k] = self.c.rigid.u[k] = NAN
        for k in range(MOST_ROWS * s.nk):
            self.c.rigid.left[k] = self.c.rigid.share[k] = self.c.rigid.target[k] = self.c.rigid.size[k] = self.c.rigid.force[k] = NAN
        for k in range(<Py_ssize_t>nv * nv if s.nk else 0):
            self.c.rigid.factor[k] = NAN
        for k in range(nv if s.nk else 0):
            self.c.rigid.v[k] = self.c.rigid.push[k] = self.c.rigid.one[k] = self.c.rigid.one[nv + k] = NAN
            self.c.rigid.most[k] = self.c.rigid.most[nv + k] = NAN
        for k in range(self.c.rigid.apart.ndoubles if s.nk else 0):
            self.c.rigid.apart.doubles[k] = NAN
        self.c.problem.factored = 0
