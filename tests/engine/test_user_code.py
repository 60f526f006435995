"""Joints and force elements written in Python that raise while the engine calls them: told by name, and Ctrl-C stays Ctrl-C."""
import numpy as np
import pytest
import seed_models
from custom_laws import Slide

import mbros


class Troubled(Slide):
    """A slide whose pose raises what it is told to."""

    trouble = None

    def pose(self, q):
        if self.trouble is not None:
            raise self.trouble
        return super().pose(q)


class Spring(mbros.ForceElement):
    """100 N/m towards A."""

    trouble = None

    def wrench(self, pose, velocity):
        if self.trouble is not None:
            raise self.trouble
        return np.zeros(3), -100.0 * pose.p

    def energy(self, pose):
        return 50.0 * pose.p @ pose.p


def joint_model():
    b = mbros.ModelBuilder("rig")
    law = Troubled()
    b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), law))
    return b.build(), law


def element_model():
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "B")
    b.add_joint(mbros.PrismaticJoint("slide", b.world, body))
    b.add_force_element(Spring(b.world, body, name="mine"))
    model = b.build()
    return model, next(iter(model.spec.user_forces.values()))


CALLS = {"forward_dynamics": lambda m, s: m.forward_dynamics(s, [1.0]), "potential_energy": lambda m, s: m.potential_energy(s),
         "step": lambda m, s: mbros.Simulator(m, state=s).step([1.0]), "run": lambda m, s: mbros.Simulator(m, state=s).run(0.01),
         "pose": lambda m, s: m.pose(s, "B"), "mass_matrix": lambda m, s: m.mass_matrix(s)}


def cases():
    for make in (joint_model, element_model):
        for name in CALLS:
            if make is joint_model or name not in ("pose", "mass_matrix"):
                yield pytest.param(make, CALLS[name], id=f"{make.__name__.split('_')[0]} {name}")


@pytest.mark.seed("PJ-37", "BU-26")
@pytest.mark.parametrize("make, call", list(cases()))
def test_an_exception_is_told_with_the_elements_name_and_mended_code_works_at_the_same_place(make, call):
    model, plug = make()
    state = model.default_state()
    plug.trouble = KeyError("tyre")
    with pytest.raises((mbros.NonFiniteError, mbros.FaultError), match="'mine'.*KeyError: 'tyre'") as caught:
        call(model, state)
    assert isinstance(caught.value.__cause__, KeyError) or "potential" in str(caught.value)
    plug.trouble = None
    call(model, state)
    assert np.isfinite(state.q).all() and np.isfinite(model.forward_dynamics(state, [0.0])).all()


@pytest.mark.seed("PJ-37", "BU-26")
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("make, call", list(cases()))
def test_an_interrupt_goes_on_from_the_call(make, call, interrupt):
    model, plug = make()
    state = model.default_state()
    q = state.q.copy()
    plug.trouble = interrupt()
    with pytest.raises(interrupt):
        call(model, state)
    assert np.array_equal(state.q, q)
    plug.trouble = None
    call(model, state)


def test_a_simulation_goes_on_after_an_interrupt():
    model, plug = joint_model()
    sim = mbros.Simulator(model)
    sim.step([1.0])
    time, q = sim.time, sim.state.q.copy()
    plug.trouble = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sim.step([1.0])
    assert (sim.time, sim.state.q[0]) == (time, q[0])
    plug.trouble = None
    sim.step([1.0])
    assert sim.state.q[0] > q[0]
