"""The layer of contacts: where shapes touch, and with what force, as the newest sample says it."""
import time

import numpy as np
import pytest
from layers import check_hidden_and_shown, drawing
from patience import PATIENCE

import mbros
from mbros.model.contacts import contacts_in
from mbros.simulate.simulator import make_plant
from mbros.view.contact_layer import arrow_lines
from mbros.view.drive import Drive

WEIGHT = 2.0 * 9.81


@pytest.fixture(scope="module")
def model():
    b = mbros.ModelBuilder("brick")
    brick = b.add_body("brick", mass=2.0, inertia=np.diag([0.008, 0.028, 0.033]))
    b.add_collision(brick, mbros.shapes.box((0.4, 0.2, 0.1)))
    b.add_joint(mbros.FloatingJoint("base", b.world, brick))
    b.add_ground()
    return b.build()


def test_a_sample_carries_contacts_while_it_plays_and_while_it_is_paused(model):
    drive = Drive(make_plant(model))
    try:
        drive.hands.hold = False
        assert contacts_in(model, drive.sample().contacts) == []        # no step has been taken
        drive.play()
        end = time.monotonic() + PATIENCE
        while drive.sample().time < 0.3:
            assert time.monotonic() < end
            time.sleep(0.01)
        playing = contacts_in(model, drive.sample().contacts)
        drive.pause()
        paused = contacts_in(model, drive.sample().contacts)
    finally:
        drive.close()
    for found in (playing, paused):
        assert [c.body_b for c in found] == ["brick"] * 4
        assert sum(c.normal_force for c in found) == pytest.approx(WEIGHT, rel=1e-3)


def test_points_and_arrows_come_and_go_with_the_contact(model):
    sim = mbros.Simulator(model)
    with drawing(sim) as page:
        layer = page.contacts
        page.look()
        assert layer._shown == []
        sim.advance_to(0.3)
        page.look()
        points, forces = layer._shown
        contacts = model.contacts(sim.state)
        assert np.allclose(points.points, [c.point for c in contacts], atol=1e-6)
        assert forces.points.shape == (20, 2, 3)
        tips = forces.points[::5, 1] - forces.points[::5, 0]
        assert np.allclose(tips.sum(axis=0), [0.0, 0.0, 0.5], atol=1e-3)        # the weight: half a metre
        check_hidden_and_shown(page, layer, 2)
        sim.state.set_q([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        page.look()
        assert layer._shown == []


def test_a_model_without_shapes_has_no_such_layer():
    with mbros.load("pendulum").show(port=0) as page:
        assert page.contacts is None and page.motion.sample().contacts is None


def test_an_arrow_ends_where_the_force_does():
    lines = arrow_lines(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    assert lines[0].tolist() == [[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]]
    assert np.allclose(lines[1:, 1], [1.0, 2.0, 5.0]) and np.allclose(lines[1:, 0, 2], 4.7)
    assert np.isfinite(arrow_lines(np.zeros(3), np.zeros(3))).all()
