"""What the tick knows of an actuator, and what every kind must be able to do.

An actuator acts on one velocity coordinate, several beside each other on the same one. To the step it is an effort and an inertia: what it
does over a step, the efforts it takes from the velocity at the end of the step included, is affine in the acceleration that comes out,

    effective = tau - G vdot,        G >= 0

and G joins the rotor inertia of the coordinate for this step (plant/tick.pxd). So every gain is stable, exactly what acted is known when
the step has been taken, and the engine knows nothing of it.

    KIND_effect(par, mem, g, out)                     tau and G, before the step, in the mode that is in mem; writes no memory. `stands`: the
                                                      coordinate does not move in this step, and tau is what that takes, found by the step
    KIND_judge(par, mem, g, e) -> bint                after it: whether the mode was wrong, of a limit that was exceeded for example, or that
                                                      is not asked for any more as others came to theirs (where g.releases); the mode is
                                                      then another, and the step is taken again
    KIND_commit(par, mem, g, e, signal)               the memory after the step, and the readings, as the registry row names them

A step is taken MOST_PASSES times at most; with torque-speed curves, whose cells are many modes, MOST_PASSES_ON_CURVES times; after TOGETHER of
them with one actuator changing at a time, the first that is wrong (Murty's rule, as linear complementarity problems are solved). par: the numbers that the row names, live. The modes, mem[0] and mem[1], are 0 before the first
pass of a step.
"""
from libc.math cimport isnan

cdef enum:
    MOST_PASSES = 12
    MOST_PASSES_ON_CURVES = 16
    TOGETHER = 6
    CLAMPING = 5            # the last passes, in which limits are come to and not left: what acts is within them
    COMMANDS = 7            # position, velocity, effort, stiffness, damping, brake, voltage: of Given and of mbros_core.plant.actuators.registry.COMMANDS

cdef extern from *:
    """
    static const double MBROS_ROUNDED = 1e-12;
    """
    const double ROUNDED "MBROS_ROUNDED"        # of a speed, an effort or a current: as good as equal, some thousand roundings

cdef struct Actuator:       # a row of the table: plant/tables.py
    int kind
    int iq                  # its coordinate
    int iv
    int par                 # where things stand in the block
    int mem
    int command[COMMANDS]   # among the values of the signals; -1: it has no such command
    int limiter             # the one whose commands, limited, it follows; -1: none
    int signal

cdef struct Given:
    double q                # at the start of the step
    double v
    double h
    double ahead            # s, how far ahead of q an implicit position force is taken (tick.pxd)
    double reach            # the step leads to q + h v + reach h^2 vdot
    double position         # commands; NaN: not commanded
    double velocity
    double effort
    double stiffness
    double damping
    double brake
    double voltage
    bint releases           # whether a mode at a limit may be left in this pass

cdef struct Effect:
    double tau
    double inertia
    bint stands

cdef struct End:
    double q                # at the end of the step
    double v
    double vdot             # (v+ - v) / h
    double effective        # effort on the coordinate over the step
    bint stood


cdef inline double or_else(double x, double other) noexcept nogil:
    return other if isnan(x) else x


cdef inline double within(double x, double least, double most) noexcept nogil:
    return least if x < least else most if x > most else x


cdef inline double over_step(const Given* g, const End* e) noexcept nogil:
    """Power that the joint received, mean over the step, W: exactly what the kinetic energy of an inertia gains by it."""
    return e.effective * 0.5 * (g.v + e.v)
