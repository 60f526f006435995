"""Joints and force elements written in Python that raise while the engine calls them: told by name, and Ctrl-C stays Ctrl-C."""
import numpy as np
import pytest
import seed_models
from custom_laws import Slide

import mbros
from mbros.errors import BusyError


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


class Asking(mbros.ForceElement):
    """100 N/m towards A; its code asks `question` first."""

    question = None

    def wrench(self, pose, velocity):
        if self.question is not None:
            self.question()
        return np.zeros(3), -100.0 * pose.p


class AskingSlide(Slide):
    question = None

    def pose(self, q):
        if self.question is not None:
            self.question()
        return super().pose(q)


def asking(what):
    """(simulator, the object whose code asks)."""
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "B")
    if what == "joint":
        plug = AskingSlide()
        b.add_joint(mbros.CustomJoint("mine", b.world, body, plug))
    else:
        b.add_joint(mbros.PrismaticJoint("slide", b.world, body))
        b.add_force_element(Asking(b.world, body, name="mine"))
    model = b.build()
    return mbros.Simulator(model), plug if what == "joint" else next(iter(model.spec.user_forces.values()))


AGAIN = {"forward_dynamics": lambda sim: sim.model.forward_dynamics(sim.state, [0.0]),
         "forward_dynamics elsewhere": lambda sim: sim.model.forward_dynamics(sim.model.default_state(), [0.0]),
         "step": lambda sim: sim.step(), "run": lambda sim: sim.run(0.01), "advance_to": lambda sim: sim.advance_to(0.01),
         "batch": lambda sim: sim.model.batch(np.zeros((3, 1))).forward_dynamics([0.0]),
         "rollout": lambda sim: mbros.rollout(sim.model, np.zeros((3, 1)), [0.0], np.zeros((3, 4, 1)), threads=2)}


@pytest.mark.parametrize("what", ["joint", "element"])
@pytest.mark.parametrize("call", AGAIN.values(), ids=AGAIN)
def test_code_that_comes_back_to_the_engine_which_calls_it_is_refused_in_a_sentence(what, call):
    sim, plug = asking(what)
    plug.question = lambda: call(sim)
    with pytest.raises(BusyError, match="asked again before it had answered: its own code|in the middle of a call") as caught:
        call(sim)
    assert len(str(caught.value)) < 220
    plug.question = None
    assert sim.plant.fault == (0, -1) and sim.time == 0.0
    call(sim)


@pytest.mark.parametrize("change", [lambda sim: sim.reset(), lambda sim: sim.step()])
@pytest.mark.parametrize("call", [lambda sim: sim.step(), lambda sim: sim.plant.step([1.0]), lambda sim: sim.plant.steps([1.0], 10)])
def test_a_law_does_not_move_the_simulation_that_asks_it(change, call):
    sim, plug = asking("element")
    plug.question = lambda: change(sim)
    with pytest.raises(BusyError, match="simulation of model 'rig' is in the middle of a call .* may look at it, and not step"):
        call(sim)
    plug.question = None
    assert sim.plant.fault == (0, -1)
    call(sim)


EVALUATIONS = {"forward_dynamics": lambda sim: sim.model.forward_dynamics(sim.state, [1.0]),
               "inverse_dynamics": lambda sim: sim.model.inverse_dynamics(sim.state, [1.0]),
               "potential_energy": lambda sim: sim.model.potential_energy(sim.state),
               "step": lambda sim: sim.step([1.0]), "steps": lambda sim: sim.plant.steps([1.0], 3),
               "observe": lambda sim: sim.plant.observe()}
USES = {"gravity_torques": lambda sim: sim.model.gravity_torques(sim.state), "mass_matrix": lambda sim: sim.model.mass_matrix(sim.state),
        "coriolis_torques": lambda sim: sim.model.coriolis_torques(sim.state), "pose": lambda sim: sim.model.pose(sim.state, "B"),
        "velocity": lambda sim: sim.model.velocity(sim.state, "B"), "observe": lambda sim: sim.plant.observe(),
        "set_q": lambda sim: sim.state.set_q([0.3]), "copy": lambda sim: sim.state.copy()}


@pytest.mark.parametrize("what", ["joint", "element"])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("call", EVALUATIONS.values(), ids=EVALUATIONS)
def test_a_law_does_not_use_the_state_that_it_is_asked_for(what, call, use):
    """It is in the middle of another computation, whose memory it shares."""
    sim, plug = asking(what)
    sim.state.set_v([0.5])
    call(sim)
    before = sim.state.q.tobytes(), sim.state.v.tobytes(), sim.time
    sim.state._poison()
    plug.question = lambda: use(sim)
    with pytest.raises(BusyError, match="state of model 'rig' is in the middle of a call, which has asked"):
        call(sim)
    assert (sim.state.q.tobytes(), sim.state.v.tobytes(), sim.time) == before and sim.plant.fault == (0, -1)
    plug.question = None
    call(sim)
    use(sim)


def test_a_law_may_use_another_state_and_read_numbers_of_its_own():
    """Of the same model: what depends on no law."""
    sim, plug = asking("element")
    other, seen = sim.state.copy(), []
    expected = sim.model.forward_dynamics(other, [1.0])
    plug.question = lambda: seen.append((sim.state.q[0], sim.model.gravity_torques(other)[0], sim.model.mass_matrix(other)[0, 0]))
    assert sim.model.forward_dynamics(sim.state, [1.0]) == expected != 0.0 and len(seen) >= 1


def test_a_state_whose_law_waits_below_another_law_is_refused_there():
    sim, plug = asking("element")
    inner, inner_plug = asking("element")
    plug.question = lambda: inner.model.forward_dynamics(inner.state, [0.0])
    inner_plug.question = lambda: sim.model.gravity_torques(sim.state)
    with pytest.raises(BusyError, match="in the middle of a call, which has asked"):
        sim.model.forward_dynamics(sim.state, [0.0])
    inner_plug.question = lambda: sim.model.gravity_torques(sim.model.default_state())
    sim.model.forward_dynamics(sim.state, [0.0])


def test_a_law_may_ask_another_model_and_threads_may_ask_it_side_by_side(rng):
    sim, plug = asking("element")
    other = mbros.load("arm6")
    plug.question = lambda: other.forward_dynamics(other.default_state(), np.zeros(6))
    q, v, tau = np.zeros((1200, 1)), np.zeros((1200, 1)), rng.normal(size=(1200, 1))
    alone = sim.model.batch(q, v, threads=1).forward_dynamics(tau)
    assert np.array_equal(sim.model.batch(q, v, threads=3).forward_dynamics(tau), alone)
