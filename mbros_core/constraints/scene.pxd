"""The shapes and constraints of a model as a step needs them, its workspace, and the functions by which the engine reaches both.

The engine imports none of the modules behind it: models without shapes and constraints do not load them. All memory is made beforehand
(_scene.pyx).
"""
from libc.stdint cimport uint64_t

from mbros_core.constraints.constraint cimport Constraint
from mbros_core.constraints.columns cimport Axes, Columns
from mbros_core.constraints.contact cimport Law
from mbros_core.constraints.problem cimport Problem
from mbros_core.constraints.robot cimport Robot, Tree
from mbros_core.constraints.springs cimport Spring
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry.bounds cimport Bounds
from mbros_core.geometry.broad_phase cimport Pair
from mbros_core.geometry.shape cimport Contact, Shape
from mbros_core.geometry.vec cimport Frame, Vec

cdef struct Ball:                # around a shape
    Vec centre
    double radius                # infinite for a half-space, and for a height field, which is solid far below

# What may touch in a step h, for the robot in a lane: how many points. And, where there are some, the acceleration with contact.
ctypedef int (*Finding)(const Scene*, Workspace*, const Robot*, int, double) noexcept nogil
ctypedef void (*Solving)(const Scene*, Workspace*, const Robot*, int, double) noexcept nogil
# An acceleration, position or velocity as constraints allow it: hold.pxd.
ctypedef void (*Holding)(const Scene*, Workspace*, const Robot*, int) noexcept nogil

# Along a direction in which everything changes, given as a Robot of derivatives (its M has the stride of all else) and dM (v* - v): of that
# acceleration, and of the energy stored in what was found, J.
ctypedef void (*Differentiating)(const Scene*, Workspace*, const Robot*, const double*, double) noexcept nogil
ctypedef double (*Sloping)(const Scene*, Workspace*, const Robot*) noexcept nogil
# The same of what constraints made of an acceleration, position or velocity.
ctypedef void (*DifferentiatingHeld)(const Scene*, Workspace*, const Robot*, const double*, int) noexcept nogil

cdef struct Scene:               # of a model
    Tree tree
    int ns
    const Shape* shape           # (ns)
    const int* body              # (ns) compiled body, 0: the world
    const Frame* X_BS            # (ns)
    const Ball* ball             # (ns) in the body's frame
    const double* arm            # (ns) from the body's origin to the shape's farthest point, m
    int words                    # of 64 bits for a bit of every shape; 0: too many pairs may touch to list them
    const uint64_t* partners     # (ns, words) of each shape those with larger numbers that it may touch
    const int* excluded_start    # (ns + 1) into excluded: larger partners of a shape that it never touches, ascending
    const int* excluded
    int nk                       # constraints
    const Constraint* constraint # (nk)
    int nsprings                 # force elements between two bodies that may be stiff
    const int* spring_body       # (nsprings, 2) of A and C
    int most_pairs               # room
    int most_touches
    double tolerance
    Finding find
    Solving solve
    Holding hold
    const void* memory           # of all tables here, and how many bytes
    size_t bytes
    Differentiating differentiate
    Sloping energy_slope
    DifferentiatingHeld differentiate_held

cdef struct Slopes:              # what derivatives work in (displaced.pxd, slopes.pxd)
    Robot still                  # the robot, and a little ahead and behind along a direction: numbers side by side
    Robot ahead
    Robot behind
    Contact found_ahead[4]       # of the pair that is looked at
    Contact found_behind[4]
    Contact later_ahead[4]       # the same at the end of the step
    Contact later_behind[4]
    int count_ahead
    int count_behind
    int count_later_ahead
    int count_later_behind
    double* numbers_ahead        # (ns, CONTACT_COLUMNS); those of the robots ahead and behind are still's
    double* numbers_behind
    double* unit_ahead           # (nv) 1 / M_ii
    double* unit_behind
    double* v_star_ahead         # (nv)
    double* v_star_behind
    double* dv                   # (nv) derivative of v_star
    double* change               # (nv) of v - v_star
    int* moved                   # (nb) whether a body, or one on its way to the root, moves in this direction
    double* push                 # (branch) of one touch
    double* ask                  # (rows) of constraints that are rigid: what J dx is to be; the change of their impulses; and dx
    double* force
    double* shift                # (nv)
    int* first_term              # (most_touches + nk + 1) of each block
    int* switches                # (most_touches + nk) what each block is about to do, bits of touch_slopes.pxd: gathered until somebody
                                 # clears them
    Problem one                  # of one touch

cdef struct Rigid:               # of constraints that are held without compliance (rigid.pxd)
    int on                       # whether the last solution was such a one
    int others                   # whether other blocks were solved for beside them, in `apart`
    int unresolved               # the constraint, counted from 1, that it did not keep; 0: none
    int rows                     # in use, of at most 6 nk
    double* factor               # (nv, nv) of M
    double* J                    # (rows, nv)
    double* u                    # (rows, nv) D^-1/2 L^-T J^T
    double* mix                  # (rows, rows)
    double* left                 # (rows) |u|^2, 0: the row follows from those before it
    double* share                # (rows) how much of the row is left where coordinates are compared with themselves
    double* most                 # (2, nv) the largest J of every coordinate, in rows of lengths and of angles
    double per_length            # of angles over lengths, of coordinates that are in rows of both
    double* target
    double* size                 # (rows) of what is subtracted in a row's miss
    double* force
    int* row                     # (rows) in the problem
    int* constraint              # (rows)
    int* acts                    # (nk) whether its rows are among them
    double* v                    # (nv)
    double* push                 # (nv)
    double* one                  # (2, nv) one more row and its u
    double* mixes                # (rows of all blocks, rows)
    double* scale                # (terms) of each weight, against what it would be without constraints
    Problem apart

cdef struct Workspace:           # of a state
    Frame* X_WS                  # (ns) of the shapes that are placed
    int* placed                  # (ns)
    Ball* ball                   # (ns) in W, with the margin
    double* balls                # (4, ns) the same: x, y, z and radius
    double* margin               # (ns) how far a shape may come in a step, m
    Bounds* bounds               # (ns)
    int* order                   # (ns)
    Pair* pair                   # (most_pairs)
    Touch* touch                 # (lanes, most_touches)
    int* touches                 # (lanes)
    long long* lost              # (lanes)
    Columns columns
    int* held                    # (nk) block of each constraint, -1: none
    Axes* held_axes              # (nk) the axes of its rows, in W
    Vec* held_at                 # (nk) Bo
    double* wanted               # (6 nk)
    double* share                # (nsprings, lanes) of each element that is implicit: reals of the engine
    Spring* spring               # (lanes, nsprings)
    int* spring_block            # (nsprings) -1: none
    double* mass                 # (nv, nv) factor of M, and (nv, 6) zeros, where there are springs
    double* M                    # (nv, nv), where the engine's is not one of doubles side by side
    double* v_star               # (nv)
    double* unit                 # (nv) 1 / M_ii
    Law* law                     # (most_touches) of every touch that has a block, and its axes
    Axes* axes
    Problem problem
    double* mu                   # (most_touches) of each touch in this step, and for the search of its bound (coulomb.pxd):
    int* sliding                 # the term of friction across the normal, -1: none
    double* bound
    double* difference           # mu times the normal impulse less the bound
    double* pace
    double* column               # (branch)
    double* slower               # (nv) the solution before what sticks was held (sticking.pxd)
    int bounds_given             # whether the solution is one whose bounds are not its own: the step was not solved
    int most_iterations          # of the step to come
    int some_given               # whether some coordinate is prescribed in it
    int again                    # whether the same step is solved again, with what was found and remembered the first time
    int* counted                 # (lanes) whether the last solution was counted as unsolved
    int some_stick               # whether friction of some joint holds it in the step, which adds so much to the diagonal of M:
    double* sticking             # (nv) all of friction over CREEP (integrators/joint_friction.pxd)
    double* given                # (nv) what prescribed coordinates get of what is solved for: constants of the problem
    const void* memory           # of everything here, and how many bytes
    size_t bytes
    Slopes slopes                # where derivatives are asked for, else without memory
    double* before               # of one robot, else NULL: rows of the state's memory before the step, where it has written others
    int overwritten              # rows of contacts there
    int springs_kept             # whether those of stiff force elements are there
    Rigid rigid                  # where there are constraints, else without memory
