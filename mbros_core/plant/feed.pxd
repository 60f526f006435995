"""Where samples of hardware go; feed.hpp documents it."""

cdef extern from "plant/feed.hpp" nogil:
    ctypedef struct mbros_feed:
        void* self
        void (*feed)(void* self, int k, double age, double position, double velocity, double effort) noexcept nogil
        int sources
