"""Force elements written by users: in Python, and compiled, also in the real-time loop."""
import pickle

import force_rigs as rigs
import numpy as np
import pytest
from example_modules import EXAMPLES, built, module_of
from tolerance import assert_close

import mbros
from mbros.simulate.simulator import make_plant

seed = pytest.mark.seed


@pytest.fixture(scope="module")
def python_example():
    return module_of(EXAMPLES / "force_in_python.py")


@pytest.fixture(scope="module")
def cython_example():
    """The module of examples/force_in_cython."""
    return built("force_in_cython", "hardening")


@pytest.fixture
def models(python_example, cython_example):
    """The same rig with the spring in Python and in Cython."""
    k, k3, c = 500.0, 2e4, 20.0
    return (python_example.rig(lambda A, C: python_example.HardeningSpring(A, C, k, k3, c, name="spring")),
            python_example.rig(lambda A, C: mbros.CompiledForceElement(A, C, cython_example.HardeningSpring(k, k3, c),
                                                                       name="spring")))


@seed("BU-26")
def test_python_example_runs(python_example, capsys):
    python_example.main()
    out = capsys.readouterr().out
    assert out.startswith("the plate hangs") and "carries 19.6" in out


@seed("BU-26")
def test_both_languages_do_the_same(models, rng):
    for _ in range(20):
        q, v, tau = rng.uniform(-0.2, 0.2, 3), rng.uniform(-1, 1, 3), rng.normal(size=3)
        results = []
        for model in models:
            state = model.default_state()
            state.q[:], state.v[:] = q, v
            f = model.force_elements["spring"]
            results.append(np.array([*model.forward_dynamics(state, tau), *f.wrench(state).values, f.potential_energy(state),
                                     f.conservative_power(state), f.nonconservative_power(state)]))
        assert_close(results[0], results[1], 1e-13)


@seed("BU-26")
def test_compiled_element_runs_in_the_real_time_loop_and_the_python_one_is_refused(models):
    from mbros_core.realtime import Loop

    in_python, compiled = models
    plant = make_plant(compiled, dt=1e-3)
    assert not plant.needs_gil
    with Loop(plant, clock="virtual", rt="off", paused=True) as loop:
        loop.step_once(200)
        x = loop.snapshot()[1]
    sim = mbros.Simulator(in_python, dt=1e-3)
    sim.advance_to(0.2)
    start, size = plant.layout["q"]
    assert abs(x[start + 1]) > 1e-3
    assert_close(x[start:start + size], sim.state.q, 1e-13)
    assert make_plant(in_python).needs_gil
    with pytest.raises(ValueError, match="written in Python, which cannot run in the real-time loop.*mbros.Simulator.*Cython or C"):
        Loop(make_plant(in_python))


@seed("BU-26")
def test_models_with_user_elements_are_pickled(models):
    for model in models:
        twin = pickle.loads(pickle.dumps(model))
        a, b = model.default_state(), twin.default_state()
        a.q[:] = b.q[:] = (0.1, 0.2, 0.3)
        assert (model.forward_dynamics(a, np.zeros(3)) == twin.forward_dynamics(b, np.zeros(3))).all()


class Pull(mbros.ForceElement):
    """-k p on the tip, and whatever energy it is told to have."""

    def __init__(self, frame_A, frame_C, k=10.0):
        super().__init__(frame_A, frame_C, name="pull")
        self.k = k

    def wrench(self, pose, velocity):
        return np.zeros(3), -self.k * pose.p


class WrongPull(Pull):
    """Forgot the half."""

    def energy(self, pose):
        return self.k * pose.p @ pose.p


@seed("BU-24", "BU-26")
def test_without_an_energy_nothing_is_conservative(python_example):
    """Potential 0 and conservative power 0 fit each other; the balance closes through what is not conservative."""
    model = python_example.rig(Pull)
    f, state = model.force_elements["pull"], model.default_state()
    state.q[:], state.v[:] = (0.1, 0.2, 0.0), (1.0, 2.0, 0.5)
    assert f.potential_energy(state) == f.conservative_power(state) == 0.0
    assert f.nonconservative_power(state) == pytest.approx(-10.0 * (0.1 + 0.4), rel=1e-13)
    assert f.check(state) == []
    state.v[:] = 0.5, -0.3, 2.0
    assert rigs.energy_balance(model, state, 1.0, 1e-3)[0] < 1e-9


@seed("BU-24", "BU-26")
def test_check_says_where_wrench_and_energy_do_not_fit(python_example):
    model = python_example.rig(WrongPull)
    f, state = model.force_elements["pull"], model.default_state()
    state.q[:], state.v[:] = (0.1, 0.0, 0.3), (2.0, 0.0, 0.0)
    before = state.q.copy(), state.v.copy()
    texts = f.check(state)
    assert [text.partition(": its")[0] for text in texts] == ["force element 'pull' (user), at the state's velocity",
                                                              "force element 'pull' (user), at unit velocity of 'slide.vx'"]
    assert "its conservative power is -2 W, but its energy changes by 4 W where 2 W was expected" in texts[0]
    assert all(np.array_equal(a, b) for a, b in zip(before, (state.q, state.v)))


@pytest.mark.parametrize("kind", [*rigs.POTENTIAL, "user"])
def test_check_finds_nothing_where_nothing_is_off(kind, rng):
    model = rigs.rig(kind, 3)
    assert model.force_elements["it"].check(rigs.away_from_lock(model, rng)) == []


def test_check_finds_that_the_seeds_bushing_has_no_potential(rng):
    model = rigs.rig("bushing", 3)
    assert any("its energy changes by" in text for text in model.force_elements["it"].check(rigs.away_from_lock(model, rng)))


class Broken(mbros.ForceElement):
    """Works until told not to."""

    def __init__(self, frame_A, frame_C):
        super().__init__(frame_A, frame_C, name="broken")
        self.result = np.zeros(3), np.zeros(3)

    def wrench(self, pose, velocity):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def broken_rig(python_example):
    elements = []

    def make(A, C):
        elements.append(Broken(A, C))
        return elements[0]
    return python_example.rig(make), elements[0]


def test_an_exception_inside_is_told_with_the_elements_name(python_example):
    model, element = broken_rig(python_example)
    state = model.default_state()
    assert np.isfinite(model.forward_dynamics(state, np.zeros(3))).all()
    for result, text in ((KeyError("nothing"), "KeyError: 'nothing'"), ((np.zeros(2), np.zeros(3)), "wrench\\(\\) gave 5 numbers"),
                         (None, "TypeError")):
        element.result = result
        for call in (lambda: model.forward_dynamics(state, np.zeros(3)), lambda: model.force_elements[0].wrench(state),
                     lambda: model.potential_energy(state)):
            with pytest.raises(mbros.NonFiniteError, match="force element 'broken' between frame A 'world' and frame C 'plate' raised .*"
                               + text):
                call()
    sim = mbros.Simulator(model)
    with pytest.raises(mbros.FaultError, match="Cause: force element 'broken'.* raised TypeError"):
        sim.step()
    element.result = np.zeros(3), np.zeros(3)
    sim.reset()
    sim.step()
    assert np.isfinite(sim.state.v).all()


class NotANumber(mbros.ForceElement):
    """Fails at a number of its own, chosen by name."""

    def __init__(self, frame_A, frame_C, which):
        super().__init__(frame_A, frame_C, name="odd")
        self.which = which

    def wrench(self, pose, velocity):
        return np.zeros(3), np.array([0.0, np.nan if self.which == "force" else 1.0, 0.0])

    def energy(self, pose):
        return np.nan if self.which == "energy" else 0.0


@pytest.mark.parametrize("which, said", [("energy", "energy nan"), ("force", "force\\[1\\] nan")])
def test_a_number_of_the_law_that_is_not_finite_is_told_with_element_and_law(python_example, which, said):
    model = python_example.rig(lambda A, C: NotANumber(A, C, which))
    state, f = model.default_state(), model.force_elements["odd"]
    said = f"'odd' between frame A 'world' and frame C 'plate': its law NotANumber gives {said}"
    calls = [lambda: f.potential_energy(state), lambda: f.wrench(state), lambda: f.check(state)]
    calls += [lambda: model.potential_energy(state)] if which == "energy" else [lambda: model.forward_dynamics(state, np.zeros(3))]
    for call in calls:
        with pytest.raises(mbros.NonFiniteError, match=said):
            call()
    if which == "force":
        with pytest.raises(mbros.FaultError, match="Cause: force element " + said):
            mbros.Simulator(model).step()


def test_what_is_not_a_capsule_is_refused(python_example):
    for law in (None, object(), "capsule", make_plant(mbros.load("pendulum")).capsule):
        with pytest.raises(mbros.ModelError, match="Give a PyCapsule named 'mbros_core.user_force'"):
            python_example.rig(lambda A, C, law=law: mbros.CompiledForceElement(A, C, law))


def test_a_class_without_a_wrench_says_so(python_example):
    model = python_example.rig(lambda A, C: mbros.ForceElement(A, C, name="empty"))
    with pytest.raises(mbros.NonFiniteError, match=r"'empty'.* raised NotImplementedError: ForceElement has no wrench\(pose, velocity\)"):
        model.forward_dynamics(model.default_state(), np.zeros(3))
