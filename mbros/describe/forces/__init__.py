"""Force elements as they are described. Those of a model, which answer in a state: mbros.model.forces.

    bushing, springs, body     the classes users write: LinearBushingRollPitchYaw(...), DoorHinge(...), BodyWrench(...)
    custom                     force elements of one's own: ForceElement (Python), CompiledForceElement (C, Cython)
    element                    what all of them share before a model is built
    groups                     their tunable numbers, from the engine's registry
    design, settling           a bushing's numbers from what is known about it

The equations are in mbros_core/forces, one file per kind. Every element gives all three: what it pushes with, the energy it
stores and the power it dissipates.
"""
