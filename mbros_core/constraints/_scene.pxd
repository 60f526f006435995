"""The shapes of a model, and the workspace of a state, for the engine's modules: through capsules."""
from mbros_core.constraints.scene cimport Scene as SceneC, Workspace as WorkspaceC

cdef class Scene:
    cdef SceneC c
    cdef object held             # what the pointers of c are into
    cdef readonly object shapes
    cdef readonly object capsule

cdef class Workspace:
    cdef WorkspaceC c
    cdef object held
    cdef readonly Scene scene
    cdef readonly object capsule
    cdef int add_rigid(self, int terms) except -1
    cdef int add_slopes(self) except -1
