"""What is not finite stays inside, with its name told; what is too much for the machine is said before it is tried."""
import ctypes

import numpy as np
import pytest

import mbros
from mbros.simulate import log as logs


@pytest.fixture
def sim():
    return mbros.Simulator(mbros.load("arm7"))


WRITTEN = {"q": (0, r"q\[0\] \(joint 'joint1'\)"), "v": (3, r"v\[3\] \(joint 'joint4'\)"), "gravity": (2, r"gravity\[2\]"),
           "inertia": ((3, 0), r"inertia\[3, 0\] \(body 'link3'\)"), "time": (0, r"time\[0\]")}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("field", WRITTEN)
def test_trial_A8_what_is_not_finite_is_not_shown(sim, field, bad):
    place, named = WRITTEN[field]
    sim.state.field(field)[place] = bad
    before = sim.state._inputs.copy()
    out = np.full(sum(size for _, size in sim.plant.layout.values()), 7.0)
    for call in (sim.plant.observe, lambda: sim.plant.observe(out), lambda: sim.run(0)):
        with pytest.raises(mbros.NonFiniteError, match=f"observe of model 'arm7': {named} is {bad}; expected a finite number. Nothing"):
            call()
    assert (out == 7.0).all() and np.array_equal(sim.state._inputs, before, equal_nan=True)
    assert sim.plant.fault[0] == 0


def test_trial_A8_a_recorder_writes_no_row_of_it(sim, tmp_path):
    from mbros.record.recorder import Recorder

    with Recorder(tmp_path / "out.csv", sim.plant) as recorder:
        recorder.row()
        sim.state.v[1] = np.nan
        with pytest.raises(mbros.NonFiniteError, match="joint2"):
            recorder.row()
        assert recorder.rows == 1


class Plug(ctypes.Structure):
    """mbros_plant of realtime/ports.hpp, as far as observe."""

    _fields_ = [("self", ctypes.c_void_p), *((name, ctypes.c_int) for name in ("command", "snapshot", "parameters", "state", "velocity")),
                ("step", ctypes.c_void_p), ("observe", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)))]


@pytest.mark.parametrize("entry", ["q", "v"])
def test_trial_A8_the_plants_plug_writes_nothing_and_says_where(sim, entry):
    """What the real-time loop calls, without Python in between."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    plug = Plug.from_address(pointer(sim.plant.capsule, b"mbros_core.plant"))
    x = (ctypes.c_double * plug.snapshot)(*[7.0] * plug.snapshot)
    assert plug.observe(plug.self, x) == 0 and np.isfinite(x).all() and 7.0 not in list(x)
    x[:] = [7.0] * plug.snapshot
    sim.state.field(entry)[4] = np.nan
    assert plug.observe(plug.self, x) == sim.plant.layout[entry][0] + 4 + 1
    assert list(x) == [7.0] * plug.snapshot


def test_trial_A14_a_log_that_has_no_room_says_how_much_it_takes_and_what_to_do(sim):
    with pytest.raises(mbros.MbrosError, match=r"run: a log of 1e\+11 rows of 192 bytes takes 19.2 TB of memory, and .* are free. "
                       r"Log fewer steps \(every=(\d+)\)") as caught:
        sim.run(1e8)
    assert sim.time == 0.0
    every = int(str(caught.value).partition("every=")[2].partition(")")[0])
    room = logs.log_of("run", sim.model, 10**11, every)._rows
    assert room.nbytes < logs.memory_available()


def test_trial_A14_memory_that_the_system_refuses_is_the_same_sentence(sim, monkeypatch):
    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr(logs.np, "empty", refuse)
    with pytest.raises(mbros.MbrosError, match=r"a log of 12 rows of 192 bytes takes 2.3 kB of memory.*every=2\)"):
        sim.run(0.01)


def test_amounts_have_units_that_fit():
    assert [logs.amount(x) for x in (184, 2.5e6, 1.93e10, 1.84e13, 1e16)] == ["0.184 kB", "2.5 MB", "19.3 GB", "18.4 TB", "10 PB"]


def test_a_centre_of_mass_that_is_not_finite_is_refused():
    """The position is finite, and its moment is not."""
    b = mbros.ModelBuilder("far")
    body = b.add_body("body", 6.0, (0, 0, 0), (1.0, 1.0, 1.0))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, body))
    model = b.build()
    state = model.default_state()
    state.q[:] = 1e308
    assert np.isfinite(model.pose(state, "body").p).all()
    with pytest.raises(mbros.NonFiniteError, match="centre of mass"):
        model.com_of(state, "slide")
