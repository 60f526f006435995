"""The C side of Model and State."""
from mbros_core.scalar.real cimport real
from mbros_core.constraints.scene cimport Scene, Workspace
from mbros_core.forces.element cimport ForceElement
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport ABInertia, Force, Inertia, Motion, Pose, Vec3

cdef enum:
    STAGE_NONE = 0
    STAGE_POSITION = 1
    STAGE_VELOCITY = 2

cdef enum:                  # of a coordinate's motion, in s.lock: where it is not dynamic, its velocity is given
    DYNAMIC = 0
    LOCKED = 1
    PRESCRIBED = 2

cdef struct Stiff:          # what a midpoint step needs to know of a coordinate where its forces are stiff (algorithms/pivot.pxd)
    real C                  # (1 - 1/2) rotor + h C_sec + what is implicit in any case
    real K                  # h^2 K of springs
    real Kv                 # h K v

ctypedef void (*Applying)(const ModelC*, Work*) noexcept nogil
ctypedef void (*Touching)(const ModelC*, Work*, const real*, real*, real, real, double) noexcept nogil
ctypedef void (*Holding)(const ModelC*, Work*, real*, int, bint) noexcept nogil
ctypedef void (*Kernel)(const Work*, const real*, real*, double) noexcept nogil

cdef struct Piece:          # of a state's memory, in reals
    Py_ssize_t at
    Py_ssize_t n

cdef struct Kernels:        # code compiled for one robot (algorithms/kernels.pxd)
    Kernel[9] of            # rows of kernels.py; NULL where there is none
    int npieces
    Piece* pieces           # of a state that must be as in
    const real* constants   # a state of the robot that was compiled

cdef struct ModelC:
    int nb
    int nq
    int nv
    int nc
    int nf
    int ne
    int ns                  # collision shapes
    int nk                  # constraints
    int nsprings            # force elements between two bodies that may be stiff
    int ncoordinate         # force elements on a coordinate
    int nt                  # rows of the memory of contacts, constraints and these
    int shared              # 1: some joint follows another, so coordinates are shared and M is not a tree's
    Joint* joints           # (nb)
    int* q_of_v             # (nv) position coordinate of a velocity coordinate, -1 where there is no such pair
    int* frame_body         # (nf)
    Pose* X_BF              # (nf)
    ForceElement* elements  # (ne)
    Applying apply          # forces.apply.apply_elements: through a pointer, so that models without elements do not carry it
    Scene* scene            # of the shapes and constraints; NULL where there are none
    Touching touch          # forces.contact.add_contact: through a pointer, so that models without shapes do not carry it
    Holding hold            # forces.contact.with_constraints, likewise
    real* q_lower           # (nq)
    real* q_upper           # (nq)
    const Kernels* kernels  # NULL where none was compiled

cdef struct Work:           # one pointer per row of fields.FIELDS, in that order, then L: compared in agreement.pxi
    real* time
    real* clock
    real* q
    real* v
    real* a_prev
    real* contact_memory
    real* last_step
    real* effort
    real* q_before
    real* v_before
    real* a_before
    real* a_given
    real* motion_q
    real* motion
    Force* external_force
    Vec3* gravity
    Inertia* inertia
    real* damping
    real* friction
    real* rotor_inertia
    real* stop_stiffness
    real* stop_damping
    real* lock
    real* force_parameters
    real* contact_parameters
    real* constraint_parameters
    real* q_seen
    Pose* X_WB
    Vec3* p_PB_W
    Motion* S
    real* v_seen
    Motion* V_WB
    Motion* Ab_WB
    real* passive
    real* D0
    real* sticking
    Stiff* stiff
    Force* applied
    real* vdot
    real* tau
    Motion* A_WB
    Inertia* M_W
    Force* F
    ABInertia* P
    Force* U
    real* D_inverse
    real* u
    real* stage_q
    real* stage_v
    real* stage_qdot
    real* L                 # (nv, nv) mass matrix and its factor, where the dynamics go through it, else NULL: need_dense() of State
    Workspace* contacts     # where the model has shapes or constraints and the state is stepped, else NULL: see need_contacts() of State
