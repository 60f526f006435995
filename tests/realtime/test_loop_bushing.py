"""Bushings in the real-time loop, under both laws: the simulator's numbers, nothing allocated, gimbal lock by name."""
import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop

laws = pytest.mark.parametrize("law", ["drake", "energy_consistent"])
seed = pytest.mark.seed


def mounted(law):
    """A floating base with an arm, its hand on a bushing of twelve unequal constants."""
    b = mbros.ModelBuilder("mounted")
    base, hand = (b.add_body(name, 2.0, (0.01, 0.02, -0.03), (0.02, 0.03, 0.04)) for name in ("base", "hand"))
    b.add_joint(mbros.FloatingJoint("free", b.world, base))
    b.add_joint(mbros.RevoluteJoint("elbow", base, hand, axis=(1, 0, 0), p=(0.1, 0, 0), damping=0.1))
    A = b.add_frame("A", b.world, (0.1, 0.2, 0.3), (0.1, -0.2, 0.3))
    b.add_force_element(mbros.Bushing(A, hand, (3, 4, 5), (0.1, 0.2, 0.3), (500, 600, 700), (0.5, 0.6, 0.7), law=law, name="mount"))
    return b.build()


@seed("BU-24")
@laws
def test_the_loop_gives_the_simulators_bits(law, rng):
    model = mounted(law)
    state = model.default_state()
    state.v[:] = rng.normal(size=model.nv)
    plant, sim = make_plant(model, dt=1e-3), mbros.Simulator(model, dt=1e-3, state=state.copy())
    loop = Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0)
    loop.reset(state.q, state.v)
    with loop:
        for _ in range(5):
            loop.step_once(100)
            for _ in range(100):
                sim.step()
            x = loop.snapshot()[1]
            for name, expected in (("q", sim.state.q), ("v", sim.state.v),
                                   ("energy", [model.kinetic_energy(sim.state), model.potential_energy(sim.state)])):
                at, n = plant.layout[name]
                assert np.array_equal(x[at:at + n], expected), name
    assert model.force_elements["mount"].potential_energy(sim.state) > 0.01


@laws
def test_nothing_is_allocated(law, allocates_nothing):
    allocates_nothing(make_plant(mounted(law), dt=1e-3))


@seed("BU-15")
@laws
@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_gimbal_lock_is_told_with_element_frames_and_degrees(law, damping):
    """A ball turns into the lock: with no constant but zeros only the energy is not finite, with damping the state itself."""
    b = mbros.ModelBuilder("turning", gravity=(0, 0, 0))
    ball = b.add_body("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.BallJoint("centre", b.world, ball))
    b.add_force_element(mbros.Bushing.ball(b.world, ball, 0.0, 0.0, free_damping=damping, law=law, name="mount"))
    model = b.build()
    loop = Loop(make_plant(model, dt=1e-3), clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0)
    loop.reset(model.default_state().q, [0.0, 1.0, 0.0])
    said = (r"step 15\d\d: .*Cause: force element 'mount' between frame A 'world' and frame C 'ball' is at gimbal lock: the pitch "
            r"of C in A "
            r"is 89\.5\d* degrees")
    with loop:
        with pytest.raises(RuntimeError, match=said):
            loop.step_once(3000)
        assert loop.state == "fault" and "raise torque_stiffness[1]" in loop.fault.text and np.isfinite(loop.snapshot()[1]).all()
        loop.reset()
        loop.step_once(3)
        assert loop.fault is None
