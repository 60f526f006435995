"""What logs, snapshots and counters say of contact."""
import copy

import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError
from mbros.model.contacts import contact_part, contacts_in, counts_in
from mbros_core.realtime import Loop


@pytest.fixture(scope="module")
def dog():
    return mbros.load("quadruped", ground=True)


def pile(n):
    """n bricks side by side on a ground: four points each."""
    b = mbros.ModelBuilder("bricks")
    for k in range(n):
        brick = b.add_body(f"brick{k}", mass=1.0, inertia=np.diag([0.01, 0.01, 0.01]))
        b.add_collision(brick, mbros.shapes.box((0.2, 0.2, 0.1)))
        b.add_joint(mbros.FloatingJoint(f"base{k}", b.world, brick))
    b.add_ground()
    model = b.build()
    state = model.default_state()
    q = state.q.reshape(n, 7)
    q[:, 0], q[:, 2] = 0.5 * np.arange(n), 0.05
    state.q = q.ravel()
    return model, state


def test_the_forces_of_a_log_are_those_of_the_contacts(dog):
    sim = mbros.Simulator(dog)
    log = sim.run(0.2, every=7)
    contacts = dog.contacts(sim.state)
    assert log.contacts[-1] == len(contacts) > 0
    for body in ("world", "FL_calf", "trunk", "FL_hip"):
        expected = sum((c.force for c in contacts if c.body_b == body), np.zeros(3)) - sum(
            (c.force for c in contacts if c.body_a == body), np.zeros(3))
        assert np.allclose(log.contact_force(body)[-1], expected, rtol=0.0, atol=1e-12)
    total = sum(log.contact_force(body) for body in dog.bodies.names)
    assert np.allclose(total, 0.0, atol=1e-9)                       # action and reaction
    assert len(log.contacts) == len(log.time) and log.contacts[0] == 0
    assert log.energy[-1] == pytest.approx(dog.kinetic_energy(sim.state) + dog.potential_energy(sim.state), abs=1e-9)


def test_a_log_refuses_a_body_that_is_not_there(dog):
    with pytest.raises(MbrosError, match="no body 'FL_calv'.*did you mean"):
        mbros.Simulator(dog).run(0.01).contact_force("FL_calv")


def test_a_model_without_shapes_has_zeros_and_no_larger_snapshot():
    model = mbros.load("arm7")
    sim = mbros.Simulator(model)
    assert "contacts" not in sim.plant.layout and contact_part(sim.plant, sim.plant.observe()) is None
    log = sim.run(0.01)
    assert not log.contacts.any() and not log.contact_force("link3").any()


def test_a_snapshot_has_what_the_state_has(dog):
    sim = mbros.Simulator(dog)
    assert contacts_in(dog, contact_part(sim.plant, sim.plant.observe())) == []       # no step yet
    sim.advance_to(0.3)
    part = contact_part(sim.plant, sim.plant.observe())
    for seen, own in zip(contacts_in(dog, part), dog.contacts(sim.state), strict=True):
        assert seen.shape_b == own.shape_b and np.array_equal(seen.force, own.force) and seen.depth == own.depth
    counts = counts_in(part)
    assert counts.points == len(dog.contacts(sim.state)) and counts.iterations > 0 and counts.unsolved == counts.lost == 0


def test_a_snapshot_shows_32_points_and_counts_them_all():
    model, state = pile(9)
    sim = mbros.Simulator(model, state=state)
    log = sim.run(0.05)
    part = contact_part(sim.plant, sim.plant.observe())
    assert counts_in(part).points == 36 == log.contacts[-1]
    assert len(contacts_in(model, part)) == 32 and len(model.contacts(sim.state)) == 36
    assert np.isnan(log.contact_force("brick0")[-1]).all()
    few, state = pile(8)
    log = mbros.Simulator(few, state=state).run(0.5)
    assert log.contacts[-1] == 32 and log.contact_force("brick0")[-1, 2] == pytest.approx(9.81, rel=1e-3)


def test_steps_at_the_bound_on_iterations_are_counted_until_a_reset(dog):
    sim = mbros.Simulator(dog, max_contact_iterations=1)
    rng = np.random.default_rng(3)
    sim.state.v = rng.normal(size=dog.nv)
    for _ in range(300):
        sim.step(3.0 * rng.normal(size=dog.nv))

    def unsolved():
        return counts_in(contact_part(sim.plant, sim.plant.observe())).unsolved

    bound = unsolved()
    assert bound > 0
    other = copy.deepcopy(sim.plant)
    assert other.max_contact_iterations == 1
    loop = Loop(sim.plant, rt="off")
    loop.set_state(q=sim.state.q)                   # as the node does: what touched is forgotten, what was counted is not
    seen = contact_part(sim.plant, loop.snapshot()[1])
    assert counts_in(seen) == (0, 0, bound, 0)
    del loop
    sim.plant.max_contact_iterations = 50
    for _ in range(300):
        sim.step(3.0 * rng.normal(size=dog.nv))
    assert unsolved() == bound
    sim.reset()
    assert unsolved() == 0


@pytest.mark.parametrize("n", [0, 1001, 2.5, "many"])
def test_a_bound_that_cannot_be_is_refused(dog, n):
    with pytest.raises(MbrosError, match="max_contact_iterations: expected a whole number, 1 to 1000"):
        mbros.Simulator(dog, max_contact_iterations=n)
