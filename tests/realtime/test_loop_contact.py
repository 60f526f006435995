"""Contact in the real-time loop: no allocation, whatever touches, and its memory is told to the loop, which locks it."""
import numpy as np
import pytest
from test_loop_memory import need_locks

import mbros
from mbros_core import Plant
from mbros_core.realtime import Loop

HEIGHTS = 0.05 * np.random.default_rng(2).normal(size=(12, 12))


def tumbling(shapes=True):
    """Bodies of every kind that fall on a height field and on each other."""
    b = mbros.ModelBuilder("tumbling")
    kinds = [mbros.shapes.sphere(0.1), mbros.shapes.capsule(0.08, 0.2), mbros.shapes.box((0.2, 0.15, 0.1)), mbros.shapes.cylinder(0.1, 0.1),
             mbros.shapes.convex(0.1 * np.random.default_rng(3).normal(size=(20, 3)))]
    for k in range(30):
        body = b.add_body(f"body{k}", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
        b.add_joint(mbros.FloatingJoint(f"free{k}", b.world, body))
        if shapes:
            b.add_collision(body, kinds[k % 5])
    if shapes:
        b.add_ground(heights=HEIGHTS, size=(3.0, 3.0))
    model = b.build()
    state = model.default_state()
    for k in range(30):
        model.joint(f"free{k}").set_pose(state, p=(0.3 * (k % 3), 0.3 * (k // 3 % 3), 0.3 + 0.3 * (k // 9)), rpy=(k, 0.1 * k, 0))
    return model, state


def test_a_robot_on_the_ground_allocates_nothing(allocates_nothing):
    plant = Plant(mbros.load("quadruped", ground=True))
    allocates_nothing(plant)
    assert len(plant.model.contacts(plant.state)) >= 4


def test_shapes_of_every_kind_allocate_nothing(allocates_nothing):
    model, state = tumbling()
    plant = Plant(model, state)
    allocates_nothing(plant)
    assert len({c.shape_b for c in model.contacts(plant.state)}) > 5


def locked_bytes(model):
    loop = Loop(Plant(model), rt="auto", priority=1).start()
    try:
        need_locks(loop)
        return loop.privileges.locked_bytes
    finally:
        loop.stop()


def test_the_memory_of_contacts_is_locked():
    """Scene and workspace of a pile are megabytes: the problem's matrices alone are three of (nv, nv)."""
    (with_shapes, state), (without, _) = tumbling(), tumbling(shapes=False)
    more = locked_bytes(with_shapes) - locked_bytes(without)
    assert more > state.field("contact_memory").nbytes + 3 * 8 * with_shapes.nv**2
    assert more < 200e6


@pytest.mark.parametrize("shape", ["hull", "height field"])
def test_the_tables_of_shapes_are_locked(shape):
    """Those of hulls and height fields are as much a step's memory as the rest: one or two megabytes here, beside a few numbers.

    What else the process locks (stacks, the allocator's pages) differs by some 50 kB from one loop to the next."""
    def model(large):
        b = mbros.ModelBuilder("tables")
        body = b.add_body("ball", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
        b.add_joint(mbros.FloatingJoint("free", b.world, body))
        if shape == "hull":
            points = np.random.default_rng(4).normal(size=(8000 if large else 4, 3))
            b.add_collision(body, mbros.shapes.convex(0.1 * points / np.linalg.norm(points, axis=1)[:, None]))
            b.add_ground()
        else:
            b.add_collision(body, mbros.shapes.sphere(0.1))
            b.add_ground(heights=np.zeros((500, 500) if large else (2, 2)), size=(3.0, 3.0))
        return b.build()

    assert locked_bytes(model(True)) - locked_bytes(model(False)) > (0.9 * 8 * 500**2 if shape == "height field" else 1.1e6)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_the_loop_steps_contact_bit_for_bit(integrator):
    model = mbros.load("quadruped", ground=True)
    stepped, looped = (Plant(model, None, 1e-3, integrator) for _ in range(2))
    loop = Loop(looped, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0)
    with loop:
        loop.step_once(300)
        stepped.steps(np.zeros(model.nv), 300)
        assert np.array_equal(loop.snapshot()[1], stepped.observe())
