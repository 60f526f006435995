"""A plant as devices see it, and devices as a plant sees them; inside.hpp documents every field."""

cdef extern from "plant/inside.hpp" nogil:
    ctypedef struct mbros_devices

    ctypedef struct mbros_inside:
        void* self
        int nb
        int nq
        int nv
        int contact_size
        double* time
        double* clock
        double* q
        double* v
        double* a_prev
        double* contact_memory
        double* rotor_inertia
        double* lock
        double* damping
        double* friction
        double* inertia
        double* effort
        double* effort_limit
        double* clamped
        const double* gravity
        const double* X_WB
        const double* V_WB
        const double* A_WB
        int (*advance)(void* self, const double* tau, double dt) noexcept nogil
        void (*mean_accelerations)(void* self, const double* q, const double* v, double dt, double* a) noexcept nogil
        void (*kinematics)(void* self, const double* a) noexcept nogil
        int (*carried)(void* self) noexcept nogil
        int (*wrenches)(void* self, const int* bodies) noexcept nogil
        const double* carried_F
        const double* carried_effort
        void (*stop)(void* self) noexcept nogil
        int ns
        int most_touches
        const int* shape_body
        const mbros_devices* const* devices

    ctypedef struct mbros_piece:
        const void* begin
        size_t bytes

    ctypedef struct mbros_devices:
        void* self
        int (*step)(void* self, const double* effort, double dt) noexcept nogil
        void (*reset)(void* self) noexcept nogil
        const mbros_piece* pieces
        int npieces
