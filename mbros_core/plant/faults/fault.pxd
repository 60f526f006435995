"""What the tick knows of a fault: when it acts (trigger.pxd), what it does to signals (on_signal.pxd) and to joints and bodies (on_joint.pxd).

One fault may do the same to several signals or joints: it has one trigger, and a row for each of them. All that it remembers is in the
block: what a step does with the parameters of the plant is undone at the end of the step.
"""
from mbros_core.plant.stream cimport Stream

cdef enum:
    # numbers of a trigger, in steps
    AT = 0                  # armed from this step on
    UNTIL                   # and before this one
    LASTING                 # steps from its beginning to its end; a huge number: as long as the trigger holds
    HELD                    # steps in a row in which the condition has to hold
    CONDITION               # 0: none, 1: <, 2: <=, 3: >, 4: >=; the same + 4 for the absolute value; 9: by hand alone
    THRESHOLD
    GIVEN_AT                # the times as they were given, s: what the first four are made of; no step looks at them
    GIVEN_UNTIL
    GIVEN_DURATION
    GIVEN_HELD
    TRIGGER_NUMBERS
    # its memory
    ACTIVE = 0
    SINCE                   # step in which it began last
    ENDED                   # first step after it
    BEGUN                   # how many times
    SPENT                   # 1: it was ended while its trigger held, which has to let go first
    STREAK                  # steps in a row in which the condition held
    BY_HAND                 # 1: it was started by hand
    ASKED                   # 1: start, -1: stop; answered in the next step
    TRIGGER_MEMORY

cdef struct Fault:
    int par
    int mem
    int place               # in the values of signals: what its condition looks at; -1: nothing

cdef struct SignalFault:
    int kind
    int fault
    int signal
    int par
    int mem                 # draws of its stream, then what begins anew with the fault
    int memory              # doubles of it
    int slots
    Stream stream

cdef struct JointFault:
    int kind
    int fault
    int iv                  # of a joint's; -1: none
    int body                # of a body's; -1: none
    int par
    double kept[10]         # what the plant had there before the step; of one step only
