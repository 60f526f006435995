"""Force elements: what users add to a robot, what a model answers about them.

    bushing, springs, body     the classes people write: LinearBushingRollPitchYaw(...), DoorHinge(...), BodyWrench(...)
    user                       force elements of one's own: ForceElement (Python), CompiledForceElement (C, Cython)
    described                  what all of them share before a model is built
    parameters                 their tunable numbers, from the engine's registry
    compiling                  from descriptions to the engine's tables
    parts, classes             force elements of a model: wrenches, energy, powers, parameters in a state
    inspection                 a bushing looked into
    consistency                do an element's forces, powers and energy fit each other?
    diagnosis (mbros_core)     why a result is not finite
    documentation              docs/forces.md

The equations are in mbros_core/forces, one file per kind. Every element gives all three: what it pushes with, the energy it
stores and the power it dissipates.
"""
