"""A model without force elements has no memory for them, and no algorithm gathers wrenches for it: those of the user are read where
they are. What is left, an integer test here and there, is measured by `python -m benchmarks.elements`."""
import numpy as np
import pytest
import zoo

import mbros
import mbros_core
from benchmarks import elements


def rig(elements):
    """Two bodies on slides and hinges, with or without a spring between them."""
    rng = np.random.default_rng(4)
    b = mbros.ModelBuilder("rig")
    bodies = [b.add_body(name, 1.0, rng.normal(0, 0.1, 3), np.diag([0.1, 0.2, 0.25])) for name in ("one", "two")]
    b.add_joint(mbros.PlanarJoint("slide", b.world, bodies[0]))
    b.add_joint(mbros.BallJoint("ball", *bodies, p=(0.3, 0, 0)))
    if elements:
        b.add_force_element(mbros.LinearSpringDamper(b.world.frame, bodies[1].frame, free_length=0.1, stiffness=3.0, damping=0.1))
    return b.build()


def gathered(model, calls):
    """The memory of gathered wrenches after these algorithms have run on a state full of NaN."""
    state = model.default_state()
    state._poison()
    state.external_force[1:] = 0.3
    calls(model, state)
    assert np.isfinite(state.q).all() and np.isfinite(state.v).all()
    return state.field("applied")


ALGORITHMS = {
    "midpoint": lambda m, s: mbros_core.Plant(m, s, dt=1e-3, integrator="midpoint").step(np.ones(m.nv)),
    "semi_implicit_euler": lambda m, s: mbros_core.Plant(m, s, dt=1e-3, integrator="semi_implicit_euler").step(np.ones(m.nv)),
    "rk4": lambda m, s: mbros_core.Plant(m, s, dt=1e-3, integrator="rk4").step(np.ones(m.nv)),
    "forward_dynamics": lambda m, s: m.forward_dynamics(s, np.ones(m.nv)),
    "inverse_dynamics": lambda m, s: m.inverse_dynamics(s, np.ones(m.nv))}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_wrench_is_gathered_where_there_is_no_element(algorithm):
    assert np.isfinite(gathered(rig(elements=True), ALGORITHMS[algorithm])).all()
    for model in (rig(elements=False), mbros.load("arm7"), mbros_core.Model(zoo.spec("mimic"))):
        assert np.isnan(gathered(model, ALGORITHMS[algorithm])).all()


def test_no_memory_for_parameters():
    assert rig(elements=False).default_state().field("force_parameters").size == 0
    assert rig(elements=True).default_state().field("force_parameters").size > 0


@pytest.mark.parametrize("what", elements.CUTS)
def test_the_calls_that_the_benchmark_cuts_out_are_those_in_the_sources(what):
    for name, guarded, calls, _ in elements.CUTS[what]:
        assert len(guarded.findall((elements.ROOT / name).read_text(encoding="utf-8"))) == calls, name
