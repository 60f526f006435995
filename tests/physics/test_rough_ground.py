"""Bodies on a height field: what lies still gains no energy, and what leaves over the border falls freely."""
import numpy as np
import pytest

import mbros

SHAPES = {"cylinder": mbros.shapes.cylinder(0.08, 0.2), "box": mbros.shapes.box((0.16, 0.16, 0.2))}
INERTIA = (0.004, 0.004, 0.003)         # of 1 kg, kg m^2


def on_field(heights, cell, shape, p, rpy=(0.0, 0.0, 0.0), **numbers):
    b = mbros.ModelBuilder("field")
    b.add_collision(b.world, mbros.shapes.height_field(heights, [(n - 1) * cell for n in np.shape(heights)]))
    body = b.add_body("body", 1.0, (0, 0, 0), INERTIA)
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, shape, **numbers)
    sim = mbros.Simulator(b.build(), 1e-3)
    sim.model.joint("free").set_pose(sim.state, p=p, rpy=rpy)
    return sim


def energy(sim):
    return sim.model.kinetic_energy(sim.state) + sim.model.potential_energy(sim.state)


@pytest.mark.parametrize("shape, seed, gain", [("cylinder", 0, 1e-3), ("cylinder", 7, 1e-3), ("cylinder", 14, 1e-3), ("cylinder", 9, 6e-3),
                                               ("box", 0, 1e-3), ("box", 2, 1e-3)])
def test_what_has_settled_on_rough_ground_gains_no_energy(shape, seed, gain):
    """Of 6 cm from peak to valley in cells of 5 cm. From 3 s on the sum of energies rises by no more than lifting the body by 0.1 mm takes,
    or by 0.6 mm where a cylinder's rim, a polygon there, comes over a ridge; and at 10 s the body lies still."""
    rng = np.random.default_rng(seed)
    heights = 0.03 * rng.uniform(-1, 1, (21, 21))
    sim = on_field(heights, 0.05, SHAPES[shape], (0, 0, 0.25), rng.uniform(-1, 1, 3))
    sim.advance_to(3.0)
    least, most = energy(sim), 0.0
    for k in range(70):
        sim.advance_to(3.0 + 0.1 * (k + 1))
        least = min(least, energy(sim))
        most = max(most, energy(sim) - least)
    assert most < gain and sim.model.kinetic_energy(sim.state) < 1e-4
    assert sim.state.q[2] > 0.0                                     # on the field, not below it


@pytest.mark.parametrize("shape", SHAPES)
def test_what_leaves_over_the_border_falls_freely(shape):
    """The border is a cliff without a wall: over the rectangle the field pushes, beside it nothing does."""
    sim = on_field(np.zeros((5, 5)), 0.2, SHAPES[shape], (0.2, 0.0, 0.1), friction=0.0)
    state = sim.state
    state.set_v([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    most = energy(sim) + 1e-3
    while state.q[0] < 0.6:                                         # 0.2 m beside the border: no part is over the field any more
        sim.step()
        assert sim.time < 1.0 and energy(sim) < most
    assert len(sim.model.contacts(state)) == 0 and state.q[2] < 0.1
    at_border = energy(sim)
    sim.advance_to(sim.time + 0.3)
    assert len(sim.model.contacts(state)) == 0 and energy(sim) == pytest.approx(at_border, rel=1e-6, abs=1e-6)
