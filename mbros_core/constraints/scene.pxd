"""The shapes of a model as a step needs them, its workspace, and the functions by which the engine reaches both.

The engine imports none of the modules behind it: models without shapes do not load them. All memory is made beforehand (_scene.pyx).
"""
from mbros_core.constraints.contact cimport Axes, Columns, Law
from mbros_core.constraints.problem cimport Problem
from mbros_core.constraints.robot cimport Robot, Tree
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry.bounds cimport Bounds
from mbros_core.geometry.broad_phase cimport Pair
from mbros_core.geometry.shape cimport Shape
from mbros_core.geometry.vec cimport Frame, Vec

cdef struct Ball:                # around a shape
    Vec centre
    double radius                # infinite for a half-space

# What may touch in a step h, for the robot in a lane: how many points. And, where there are some, the acceleration with contact.
ctypedef int (*Finding)(const Scene*, Workspace*, const Robot*, int, double) noexcept nogil
ctypedef void (*Solving)(const Scene*, Workspace*, const Robot*, int, double) noexcept nogil

cdef struct Scene:               # of a model
    Tree tree
    int ns
    const Shape* shape           # (ns)
    const int* body              # (ns) compiled body, 0: the world
    const Frame* X_BS            # (ns)
    const Ball* ball             # (ns) in the body's frame
    const double* arm            # (ns) from the body's origin to the shape's farthest point, m
    int npairs                   # pairs that may touch; -1: too many to list
    const Pair* pair
    const int* excluded_start    # (ns + 1) into excluded: larger partners of a shape that it never touches, ascending
    const int* excluded
    int most_pairs               # room
    int most_touches
    double tolerance
    int most_iterations
    Finding find
    Solving solve
    const void* memory           # of all tables here, and how many bytes
    size_t bytes

cdef struct Workspace:           # of a state
    Frame* X_WS                  # (ns) of the shapes that are placed
    int* placed                  # (ns)
    Ball* ball                   # (ns) in W, with the margin
    double* margin               # (ns) how far a shape may come in a step, m
    Bounds* bounds               # (ns)
    int* order                   # (ns)
    Pair* pair                   # (most_pairs)
    Touch* touch                 # (lanes, most_touches)
    int* touches                 # (lanes)
    long long* lost              # (lanes)
    Columns columns
    double* M                    # (nv, nv), where the engine's is not one of doubles side by side
    double* v_star               # (nv)
    double* unit                 # (nv) 1 / M_ii
    Law* law                     # (most_touches) of every touch that has a block, and its axes
    Axes* axes
    Problem problem
    const void* memory           # of everything here, and how many bytes
    size_t bytes
