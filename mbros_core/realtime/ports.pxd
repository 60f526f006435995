"""The plugs of the loop as Cython sees them; ports.hpp documents every field."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from "realtime/ports.hpp" nogil:
    ctypedef void (*mbros_range)(void* to, const void* begin, size_t bytes) noexcept nogil

    struct mbros_memory:
        void* owner
        int64_t* held
        void (*tell)(void* self, mbros_range range, void* to) noexcept nogil

    struct mbros_plant:
        void* self
        int command_size
        int snapshot_size
        int parameter_size
        int state_size
        int velocity_offset
        int (*step)(void* self, const double* command, double dt) noexcept nogil
        int (*observe)(void* self, double* snapshot) noexcept nogil
        void (*set_parameters)(void* self, const double* block) noexcept nogil
        void (*reset)(void* self, const double* state) noexcept nogil
        void (*set_state)(void* self, const double* state) noexcept nogil

    struct mbros_snapshot:
        uint64_t step
        double time
        int64_t wall_ns
        int64_t command_age_ns
        uint32_t flags
        int size
        const double* x

    enum:
        MBROS_PAUSED
        MBROS_FAULT
        MBROS_STEPPED
        MBROS_WATCHDOG
        MBROS_RESET
        MBROS_REPEATED

    struct mbros_input:
        void* self
        int (*take)(void* self, double* command, int64_t now_ns) noexcept nogil

    struct mbros_output:
        void* self
        void (*publish)(void* self, const mbros_snapshot* snapshot) noexcept nogil

    enum:
        MBROS_WAIT
        MBROS_GO
        MBROS_HALT
        MBROS_AGAIN

    struct mbros_gate:
        void* self
        int (*open)(void* self, const mbros_snapshot* shown, int64_t now_ns, int64_t* until_ns) noexcept nogil
        void (*give_bell)(void* self, uint32_t* bell) noexcept nogil
