"""Joints as they are described: the kinds (from the engine's registry), and what a user writes. Joints of a model: mbros.model.joints.

    kinds          which kinds there are
    kinematics     the mathematics of one joint: X_FM, H, its bias, N, N+ (asked of the engine)
    abilities      whether a kind has one axis, turns, moves along
    joint          a joint before a model is built: everything can still be changed
    classes        the classes users write: RevoluteJoint(...), PlanarJoint(...), ...
    custom         joints of one's own
    names, limits, defaults, distributions, random, matching    what their names say
"""
