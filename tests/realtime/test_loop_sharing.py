"""Plant and state belong to whoever works on them without the interpreter lock; plugs and capsules keep each other."""
import gc
import threading
import time

import numpy as np
import pytest
import rig as rigs

import mbros
from mbros.errors import BusyError, LoopError, MbrosError, WrongTypeError
from mbros.simulate.simulator import make_plant
from mbros_core import Plant
from mbros_core.realtime import Loop


@pytest.fixture
def model():
    return mbros.chain(3)


@pytest.fixture
def sim(model):
    return mbros.Simulator(model)


def touching(model, state):
    """Everything that would work on the state's memory, by name."""
    x, joint = np.zeros(3), model.joints[0]
    other = model.default_state()
    return {
        "forward_dynamics": lambda: model.forward_dynamics(state, x), "inverse_dynamics": lambda: model.inverse_dynamics(state, x),
        "mass_matrix": lambda: model.mass_matrix(state), "kinetic_energy": lambda: model.kinetic_energy(state),
        "frame_pose": lambda: model._frame_pose(state, 1), "set_q": lambda: state.set_q(x), "set_v": lambda: state.set_v(x),
        "assign": lambda: state.assign(other), "assign it": lambda: other.assign(state), "copy": state.copy,
        "time": lambda: setattr(state, "time", 1.0), "set_position": lambda: joint.set_position(state, 0.5),
        "position": lambda: joint.position(state), "set_parameter": lambda: model.set_parameter(state, "gravity", [0.0, 0.0, 0.0]),
        "linearize": lambda: model.linearize(state, x), "Plant": lambda: Plant(model, state),
        "Simulator": lambda: mbros.Simulator(model, state=state), "make_plant": lambda: make_plant(model, state)}


def test_trial_A10_while_a_loop_runs_its_state_is_refused_to_everybody_else(model, sim):
    before = sim.state.q.copy()
    for plug in (sim.plant, sim.plant.capsule):                 # with the capsule alone the loop knows as much
        loop = Loop(plug, 1e-3, rt="off")
        calls = {**touching(model, sim.state), "step": sim.plant.step, "steps": lambda: sim.plant.steps(np.zeros(3), 1),
                 "observe": sim.plant.observe, "reset": sim.plant.reset, "advance_to": lambda: sim.advance_to(1.0)}
        loop.start()
        loop.pause()
        for name, call in calls.items():
            with pytest.raises(BusyError, match="real-time loop"):
                call()
                pytest.fail(f"{name} was allowed")
        assert sim.state.is_held and loop.state == "paused"
        loop.stop()
        assert not sim.state.is_held
        for name, call in calls.items():
            call()
        sim.reset()
    assert np.array_equal(sim.state.q, before)


def test_trial_A10_two_plants_on_one_state_have_one_loop_at_a_time(model):
    state = model.default_state()
    one, other = Plant(model, state), Plant(model, state)
    first, second = Loop(one, rt="off"), Loop(other, rt="off")
    with first:
        for call in (second.start, lambda: second.set_watchdog(1.0), lambda: second.reset(np.ones(3), np.zeros(3)), second.pause,
                     lambda: Loop(other, rt="off"), lambda: Loop(other.capsule, rt="off")):
            with pytest.raises(BusyError, match="another loop; stop"):
                call()
    with second:
        assert not second.paused and second.snapshot()[1][0] == 0.0       # what was refused does not happen later


def answers(calls):
    """What each call raised, or None."""
    found = {}
    for name, call in calls.items():
        try:
            call()
            found[name] = None
        except Exception as error:
            found[name] = error
    return found


def test_trial_A10_while_a_call_steps_without_the_lock_the_state_is_its_own(model):
    plant = Plant(model)
    loop = Loop(plant, rt="off")
    calls = {**touching(model, plant.state), "step": plant.step, "steps": lambda: plant.steps(np.zeros(3), 1), "observe": plant.observe,
             "Loop": lambda: Loop(plant, rt="off"), "Loop.set_watchdog": lambda: loop.set_watchdog(1.0), "Loop.start": loop.start}
    begin = time.thread_time()
    plant.steps(np.zeros(3), 1000)
    long = round(1000 * 1.5 / (time.thread_time() - begin))         # 1.5 s of one processor, also under a sanitizer
    thread = threading.Thread(target=plant.steps, args=(np.zeros(3), long), daemon=True)
    thread.start()
    while not plant.state.is_held and thread.is_alive():
        pass
    found = answers(calls)
    assert thread.is_alive(), "the call was over too early for this test"
    thread.join()
    assert {name: str(error) for name, error in found.items()
            if type(error) is not BusyError or "a call in another thread" not in str(error)} == {}
    assert set(answers(calls).values()) == {None}
    loop.stop()


def test_trial_A10_the_state_is_free_however_the_loop_ends(model, sim):
    loop = Loop(sim.plant, rt="off")
    loop.start(slots=3)
    assert loop.wait(60.0)
    sim.step()
    loop.start()
    del loop
    gc.collect()
    sim.step()
    strict = Loop(sim.plant, rt="require", cpu=1023)
    with pytest.raises(MbrosError, match="processor 1023"):
        strict.start()
    sim.step()


def test_trial_A5_a_capsule_keeps_its_plant(model):
    """The plant is dropped, and its memory would be another's: the loop goes on as if nothing had happened."""
    expected = Loop(Plant(model), clock="virtual", rt="off", watchdog_timeout=None)
    loop = Loop(Plant(model).capsule, 1e-3, clock="virtual", rt="off", watchdog_timeout=None)
    gc.collect()
    junk = [Plant(model) for _ in range(50)]
    for k in (expected, loop):
        k.start(slots=500)
        assert k.wait(60.0)
    assert np.array_equal(loop.snapshot()[1], expected.snapshot()[1]) and loop.snapshot()[0].step == 499
    assert len(junk) == 50


def test_trial_A5_a_plug_may_change_its_capsule_afterwards(model):
    class Plug:
        capsule = Plant(model).capsule

    loop = Loop(Plug, 1e-3, clock="virtual", rt="off")
    Plug.capsule = None
    gc.collect()
    loop.start(slots=100)
    assert loop.wait(60.0) and loop.snapshot()[0].step == 99


def test_trial_A5_a_plant_and_its_capsules_are_collected(model):
    """A capsule keeps its plant, the plant no capsule, and a loop of a plant only the plant: nothing keeps itself."""
    import weakref

    class Watched(Plant):
        pass

    plant = Watched(model)
    plant.loop = Loop(plant, rt="off").start()
    gone, capsule = weakref.ref(plant), plant.capsule
    del plant
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("command", [np.zeros(1), np.zeros(4), np.zeros((1, 3)), [0.0, np.inf, 0.0], "fast", None, [1.0, [2.0]]])
def test_trial_A7_a_command_of_another_size_is_refused(model, command):
    loop = Loop(Plant(model), clock="virtual", rt="off")
    for give in (loop.post_command, loop.command):
        with pytest.raises(MbrosError, match=r"Loop: command(: expected|\[1\] is inf)"):
            give(command)
    assert loop.statistics().inputs[0].accepted == 0


@pytest.mark.parametrize("out", [np.empty(1), np.empty(1000), np.empty((2, 2)), np.empty(200, np.float32), [0.0], np.empty(400)[::2]])
def test_trial_A7_a_snapshot_goes_nowhere_but_into_an_array_of_its_size(model, out):
    loop = Loop(Plant(model), clock="virtual", rt="off")
    with pytest.raises(MbrosError, match="snapshot: out: expected a writable"):
        loop.snapshot(out)


def test_trial_A14_what_a_loop_refuses_is_of_the_family(rig, bench):
    loop, log = bench()
    for call in (lambda: loop.step_once(), lambda: loop.step_once(1.5), lambda: loop.set_state(q=[0.0]), lambda: loop.set_state(),
                 lambda: loop.set_parameters({"mass": 1.0}), lambda: loop.set_real_time_factor("fast"), lambda: loop.drain(),
                 lambda: loop.set_watchdog("soon"), lambda: loop.set_watchdog(1.0, "damp", "much"), lambda: loop.reset([1.0], "x"),
                 lambda: loop.wait(float("nan")), lambda: loop.stop(None), lambda: Loop(None), lambda: Loop(rig, dt="1 ms"),
                 lambda: Loop(rig, record=-1), lambda: Loop(rig, inputs=[3])):
        with pytest.raises(MbrosError):
            call()
    for kind, old in ((LoopError, RuntimeError), (BusyError, RuntimeError), (WrongTypeError, TypeError),
                      (mbros.errors.LoopTimeoutError, TimeoutError), (mbros.errors.PrivilegeError, PermissionError),
                      (mbros.errors.SystemRefusedError, OSError)):
        assert issubclass(kind, MbrosError) and issubclass(kind, old)


def test_a_plant_without_a_word_of_its_own_has_one_loop_at_a_time(c, library):
    rig = rigs.Rig(c, library=library)
    first, second = Loop(rig, rt="off"), Loop(rig.capsule, 1e-3, rt="off")
    with first, pytest.raises(BusyError, match="another loop"):
        second.start()
    del first
    with second:
        pass
