"""A step that fails leaves nothing behind: neither of its contacts and constraints, nor of the laws that were made for it."""
from types import SimpleNamespace

import numpy as np
import pytest

import mbros
import mbros_core

KEPT = ("q", "v", "a_prev", "time", "clock", "lock", "contact_memory", "motion", "motion_q", "a_given")


def numbers(state):
    return {name: state.field(name).tobytes() for name in KEPT}


def fail(sim):
    """A step that must; what it has changed."""
    before = numbers(sim.state)
    with pytest.raises(mbros.FaultError):
        sim.step()
    after = numbers(sim.state)
    return [name for name in KEPT if before[name] != after[name]]


def balls():
    """Two on the ground and one that flies."""
    b = mbros.ModelBuilder("balls", ground=True)
    for k in range(3):
        body = b.add_body(f"b{k}", 1.0, (0, 0, 0), np.full(3, 0.01))
        b.add_joint(mbros.FloatingJoint(f"free{k}", b.world, body))
        b.add_collision(body, mbros.shapes.sphere(0.1))
    return b.build()


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_contacts_of_a_step_that_runs_away_at_its_end(integrator):
    model = balls()
    sim = mbros.Simulator(model, integrator=integrator)
    for k, height in enumerate((0.1, 0.1, 50.0)):
        free = model.joint(f"free{k}")
        sim.state.q[free.q_slice][:3] = 3.0 * k, 0.0, height
    sim.run(0.05)
    assert len(model.contacts(sim.state)) == 2
    free = model.joint("free2")
    sim.state.q[free.q_slice.start] = 9.999e9               # what is solved for stays below 1e10, and where it leads does not
    sim.state.v[free.v_slice] = 0.0, 0.0, 0.0, 8e9, 0.0, 0.0
    sim.state.v[model.joint("free0").v_slice] = 0.01
    assert fail(sim) == []


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_what_constraints_carry(integrator):
    sim = mbros.Simulator(mbros.load("four_bar"), integrator=integrator)
    sim.run(0.01)
    sim.state.external_force[-1] = 1e300
    assert fail(sim) == []


@pytest.mark.parametrize("integrator, ground", [("midpoint", False), ("midpoint", True), ("semi_implicit_euler", False),
                                                ("semi_implicit_euler", True), ("rk4", False), ("dormand_prince", False)])
def test_what_stiff_elements_carried(integrator, ground):
    b = mbros.ModelBuilder("mounted", ground=ground)
    held, flying = (b.add_body(name, 1.0, (0, 0, 0), np.full(3, 0.01)) for name in ("held", "flying"))
    b.add_joint(mbros.FloatingJoint("held", b.world, held))
    b.add_joint(mbros.FloatingJoint("flying", b.world, flying))
    if ground:
        b.add_collision(flying, mbros.shapes.sphere(0.1))
    b.add_force_element(mbros.Bushing(b.world, held, 1e4, 1e2, 1e8, 1e4))
    model = b.build()
    first = mbros.Simulator(model)
    first.state.q[model.joint("flying").q_slice][2] = 50.0
    first.run(0.005)
    carried = first.state.field("contact_memory")[-1, :7]
    assert carried[6] == 1.0 and carried[:6].any()          # implicit, under load
    first.state.q[model.joint("flying").q_slice.start] = 9.999e9
    first.state.v[model.joint("flying").v_slice] = 0.0, 0.0, 0.0, 8e9, 0.0, 0.0
    plant = mbros_core.Plant(model, first.state, dt=1.0 if integrator == "dormand_prince" else 1e-3, integrator=integrator)
    assert fail(SimpleNamespace(state=first.state, step=lambda: plant.step(np.zeros(model.nv)))) == []


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_the_law_of_a_joint_that_is_prescribed(integrator):
    sim = mbros.Simulator(mbros.load("arm7"), integrator=integrator)
    sim.prescribe("joint2", lambda t: ([0.3 * np.sin(t)], [0.3 * np.cos(t)], [-0.3 * np.sin(t)]))
    sim.run(0.01)
    sim.state.external_force[5] = 1e300
    assert fail(sim) == []
    assert fail(sim) == []                     # the fault is still there


def test_a_joint_that_its_brake_was_about_to_stop():
    bench = mbros.Bench()
    bench.add(mbros.Brake("brake", joint="joint1", holding_effort=500.0))
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    sim.state.v[0] = 1e-9
    sim.state.external_force[5] = 1e300
    assert fail(sim) == []


def test_nor_does_one_that_is_refused_on_the_way():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.prescribe("joint2", lambda t: ([0.0], [0.0], [0.0]))
    refused = []

    def progress(_):
        before = numbers(sim.state)
        with pytest.raises(mbros.MbrosError):
            sim.step()
        refused.append(numbers(sim.state) == before)

    sim.run(0.3, progress=progress)
    assert all(refused)
