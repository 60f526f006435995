# What every module of the engine imports, whatever its `real` is.
cimport cython
import numpy as np
cimport numpy as cnp
from cpython.exc cimport PyErr_Clear, PyErr_ExceptionMatches
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.pythread cimport PyThread_get_thread_ident as this_thread
from cpython.ref cimport Py_DECREF, PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memmove, memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from mbros_core.support.held cimport by_a_call, by_a_loop, holder, is_held, let_go, seize, waits, work_on
from mbros_core.scalar.real cimport (LANES, OF_DUALS, all_finite, any as any_lane, copy as copy_reals, fabs as magnitude, less, nonzero,
                              real,
                              select, value)
from mbros_core.spatial cimport (Force, Mat3, Motion, Pose, Vec3, compose, compose_poses, cross, inverse_times, quaternion_of, rotate,
                                 shift_motion, unrotate, vec3, zero3)
from mbros_core.engine.state cimport Kernel, Kernels, ModelC, Piece, STAGE_NONE, STAGE_POSITION, STAGE_VELOCITY, Work
from mbros_core.joints.dispatch cimport joint_kinds, normalize, place_other
from mbros_core.joints.joint cimport Joint
from mbros_core.joints.user cimport mbros_user_joint
from mbros_core.forces.user cimport mbros_user_force
from mbros_core.groups.configuration cimport apart, bring_back, move, rates, unrates
# What is named in this file stays a function (setup.py): equations that stand in many places, and with which a call is not felt, ...
from mbros_core.groups.rpy cimport rotation_from_rpy, rpy_rates, rpy_spin, rpy_velocity
from mbros_core.groups.so3 cimport quaternion_exp, quaternion_log
from mbros_core.joints.planar cimport planar_arm
# ... and whole algorithms.
from mbros_core.algorithms.kinematics cimport accelerations, positions, velocities
from mbros_core.algorithms.inverse_dynamics cimport bias_torques, gravity_torques, inverse_dynamics
from mbros_core.algorithms.forward_dynamics cimport (forward_dynamics, given_acceleration, midpoint_forward_dynamics,
                                                     through_mass_matrix)
from mbros_core.algorithms.equation_of_motion cimport tau_for, vdot_under
from mbros_core.algorithms.element_derivatives cimport add_element_slopes
from mbros_core.algorithms.forward_dynamics_derivatives cimport forward_dynamics_derivatives
from mbros_core.algorithms.inverse_dynamics_derivatives cimport (columns_in_motion, forces_of_columns, inverse_dynamics_derivatives,
                                                                 pair_derivatives)
from mbros_core.algorithms.coriolis_matrix cimport coriolis_matrix
from mbros_core.algorithms.mass_matrix cimport factor, mass_matrix, solve_factored
from mbros_core.algorithms.jacobian cimport jacobian, unrotate_rows
from mbros_core.algorithms.momentum cimport (center_of_mass, center_of_mass_jacobian, centroidal_momentum, gravity_energy,
                                             kinetic_energy, total_mass)
from mbros_core.algorithms.second_derivatives cimport (bent, carried6, inertia6, moving6, nearer, put_entries, rate_times,
                                                       second_derivatives)
from mbros_core.constraints.scene cimport Scene as ContactScene, Workspace as ContactWorkspace
from mbros_core.constraints.dispatch cimport DISTANCE
from mbros_core.constraints.hold cimport AN_ACCELERATION
from mbros_core.constraints.touch cimport COUNT_OF_HEAD
from mbros_core.forces.contact cimport (contact_energy, energy_in_touch, with_constraints, with_constraints_and_slopes, with_contact,
                                        with_contact_and_slopes)
from mbros_core.forces.apply cimport apply_elements, elements_energy, evaluate
from mbros_core.forces.dispatch cimport force_kinds
from mbros_core.forces.element cimport ForceElement, ForceOut
from mbros_core.support.door cimport Door, PyErr_CheckSignals, approach, knock, let_in, load, store
from mbros_core.forces.passive cimport FRICTION_SPEED_PER_S, passive_slopes, passive_torques, stop_energy
from mbros_core.integrators.dormand_prince cimport DORMAND_PRINCE, cut, dormand_prince, first_to_end
from mbros_core.integrators.midpoint_derivatives cimport middle_slopes
from mbros_core.integrators.prescribed cimport follow
from mbros_core.integrators.steps cimport (MIDPOINT, RK4, SEMI_IMPLICIT_EULER, forget_contacts, forget_last_step, hold_locked, midpoint,
                                           prescribed_step, rk4, semi_implicit_euler, step)
from mbros_core.integrators.substep cimport rates_at, take

from mbros_core.support import given
from mbros_core.algorithms import registry as algorithms
from mbros_core.engine.checks import LARGEST as LARGEST_COORDINATE, check_parameters, check_spec, check_state, step_count
from mbros_core.constraints.opening import open_text, row_count, unresolved_text
from mbros_core.engine.copies import plant_of, state_of
from mbros_core.errors import (BusyError, CoordinateIndexError, FaultError, MbrosError, NoMemoryError, NonFiniteError, StateError,
                               UnknownNameError, WrongTypeError, explain_not_finite, inputs_of, state_error)
from mbros_core.integrators import registry as integrators
from mbros_core.engine.fields import FIELDS, sizes as field_sizes
from mbros_core.forces.registry import ROWS as FORCE_ROWS, row_of as force_row_of, spring_numbers
from mbros_core.joints.registry import ROWS, row_of
from mbros_core.support.numbers import counted, floats, is_whole, short
from mbros_core.support.shown import state_html, state_text
from mbros_core.engine.user_code import raised

cdef extern from "<cstdlib>" namespace "std" nogil:
    void* aligned_alloc(size_t, size_t)

cdef extern from "numpy/arrayobject.h":
    PyObject* empty_array "PyArray_EMPTY"(int dimensions, cnp.npy_intp* shape, int kind, int fortran)

cdef extern from *:
    """
    static_assert(sizeof(Py_ssize_t) == 8, "mbros needs a 64-bit machine");
    """

cnp.import_array()

cdef double LARGEST = LARGEST_COORDINATE
cdef double LONGEST_STEP = given.LONGEST_STEP

INTEGRATORS = {name: number for number, name in enumerate(integrators.NAMES)}

include "agreement.pxi"

agree("integrators/registry.py", list(integrators.NAMES), "the enum of steps.pxd",
      dict(midpoint=MIDPOINT, semi_implicit_euler=SEMI_IMPLICIT_EULER, rk4=RK4))
agree_on_kinds("joints", ROWS, joint_kinds())
agree_on_kinds("forces", FORCE_ROWS, force_kinds())
