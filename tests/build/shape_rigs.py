"""What the tests of collision shapes share."""
import numpy as np
from mbros_core.geometry import contacts

import mbros
from mbros import shapes

I = (0.1, 0.1, 0.1)


def arm(lengths=(0.4, 0.4, 0.4), **options):
    """Links in a row along x, each a box from joint to joint, turning about z."""
    b = mbros.ModelBuilder("arm", **options)
    at = b.world
    for k, length in enumerate(lengths):
        link = b.add_body(f"link{k}", 1.0, (0, 0, 0), I)
        b.add_joint(mbros.RevoluteJoint(f"j{k}", at, link, axis=(0, 0, 1), p=(0 if k == 0 else lengths[k - 1], 0, 1.0 * (k == 0))))
        b.add_collision(link, shapes.box((0.9 * length, 0.1, 0.1)), (0.5 * length, 0, 0))
        at = link
    return b


def excluded(model):
    """{(name, name): why}."""
    return {(a.name, b): why for a in model.shapes for b, why in a.excluded.items() if a.index < model.shapes[b].index}


def pose(model, state, shape):
    return model.pose(state, shape.body.name).matrix @ shape.X_BG.matrix


def lowest(model):
    """Depth of the deepest shape in each ground at the default state; minus the distance."""
    state, grounds = model.default_state(), [s for s in model.shapes if s.kind in ("half_space", "height_field")]
    return [max(contacts(g.geometry, pose(model, state, g), s.geometry, pose(model, state, s), 100.0).depths.max(initial=-np.inf)
                for s in model.shapes if s not in grounds) for g in grounds]
