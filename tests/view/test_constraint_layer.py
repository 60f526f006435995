"""The layer of constraints: a point and a line for each, green where it is closed."""
import numpy as np
from layers import check_hidden_and_shown, drawing

import mbros


def test_points_and_colours_follow_the_loop():
    model = mbros.load("four_bar")
    with drawing(model) as page:
        layer = page.constraints
        page.look()
        lines, points = layer._shown
        assert lines.points.shape == (len(model.constraints), 2, 3) and points.points.shape == (2 * len(model.constraints), 3)
        assert np.allclose(lines.points[:, 0], lines.points[:, 1], atol=1e-5)
        assert (points.colors[:, 1] > 150).all() and (points.colors[:, 0] < 60).all()             # green
        page.look()
        assert layer._shown[0] is lines                                 # nothing moved: nothing is sent
        page.motion.place(model.default_state().q + np.r_[0.1, np.zeros(model.nq - 1)])
        page.look()
        lines, points = layer._shown
        assert np.linalg.norm(lines.points[0, 1] - lines.points[0, 0]) > 1e-3
        assert points.colors[0, 0] > 150 and points.colors[0, 1] < 60                             # red
        check_hidden_and_shown(page, layer, 2)


def test_live_lengths_count():
    b = mbros.ModelBuilder("rod")
    body = b.add_body("body", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_constraint(mbros.DistanceConstraint("rod", b.world, body, length=1.0))
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, p=(0, 0, -1.0))
    with drawing(mbros.Simulator(model, state=state)) as page:
        page.look()
        assert page.constraints._shown[1].colors[0, 1] > 150
        page.motion.set_parameter("constraint.rod.length", 0.9)
        page.look()
        assert page.constraints._shown[1].colors[0, 0] > 150


def test_a_model_without_constraints_has_no_such_layer():
    with mbros.load("pendulum").show(port=0) as page:
        assert page.constraints is None
