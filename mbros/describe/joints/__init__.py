"""Joints: the kinds (from the engine's registry), what a user writes, what a model answers.

    kinds          which kinds there are
    mobility       the mathematics of one joint: X_FM, H, its bias, N, N+ (asked of the engine)
    gradients      exact derivatives of these
    law_gradients  ... of joints that users write
    described      a joint as it is described, before a model is built: everything can still be changed
    user           the classes people write: RevoluteJoint(...), PlanarJoint(...), ...
    element        a joint of a model: names, places in q and v, limits, parameters, state
    mobilizer      ... and its mobilizer interface
    getters        ... and the words of each kind: angle, translation, rotation, pose
    limits, distributions, sampling, matching, hpp    what their names say
"""
