"""Objects that are whole from their first moment, and views that belong to nobody else (trial A9)."""
import gc

import numpy as np
import pytest
import robots
import zoo

import mbros
import mbros_core
from mbros_core.errors import MbrosError


def modules():
    return mbros_core, mbros_core.lanes()


def test_trial_A9_nothing_is_made_of_nothing():
    """An object without memory cannot be had, whichever door is tried."""
    dual, lanes = mbros_core.dual(), mbros_core.lanes()
    for kind in (mbros_core.Model, mbros_core.State, mbros_core.Batch, mbros_core.Plant, mbros.Model, lanes.Model, lanes.State, lanes.Batch,
                 dual.Model, dual.State, dual.Duals):
        for arguments in ((), (None,), (3,), (object(), object())):
            with pytest.raises((MbrosError, TypeError)):
                kind.__new__(kind, *arguments)
            with pytest.raises((MbrosError, TypeError)):
                kind(*arguments)
        with pytest.raises((MbrosError, TypeError)):
            object.__new__(kind)


def test_trial_A9_what_is_made_is_made_once():
    """__init__ of what stands does nothing: the memory that states and views point into stays."""
    for module in modules():
        model = module.Model(zoo.spec("branched"))
        state, batch = model.default_state(), module.Batch(model)
        view, spec = state.q, model.spec
        for thing, arguments in ((model, (zoo.spec("pendulum"),)), (state, (module.Model(zoo.spec("pendulum")),)),
                                 (batch, (model, [1, 2, 3]))):
            for given in ((), arguments):
                try:
                    thing.__init__(*given)
                except (MbrosError, TypeError):
                    pass
        gc.collect()
        assert model.spec is spec and model.nq == 10 and state.model is model and batch.model is model
        view[...] = 0.25
        assert (state.q == 0.25).all() and model.default_state().q.shape == state.q.shape


def test_trial_A9_a_robot_is_made_once():
    model, other = mbros.load("arm7"), mbros.load("pendulum")
    with pytest.raises(mbros.FrozenModelError, match="model 'arm7' is built: what it was made of cannot change"):
        model.__init__(other._description, other._compiled)
    assert len(model.joints) == len(mbros.load("arm7").joints)


BENDS = {
    "shape": lambda view: setattr(view, "shape", (-1, 1)), "dtype": lambda view: setattr(view, "dtype", np.int8),
    "strides": lambda view: setattr(view, "strides", (0,) * view.ndim), "flags": lambda view: view.setflags(write=False),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("name", ["q", "v", "damping", "friction", "gravity", "rotor_inertia", "external_force", "_inputs"])
def test_trial_A9_a_view_that_is_bent_is_bent_for_one(name, bend):
    model = robots.model("floating_tree")
    state = model.default_state()
    state._inputs[:] = np.arange(state._inputs.size)
    before, held = getattr(state, name).copy(), getattr(state, name)
    BENDS[bend](getattr(state, name))
    for view in (getattr(state, name), held, state.field(name) if name != "_inputs" else held):
        assert view.dtype == float and view.flags.writeable and np.array_equal(view, before)
    assert model._frame_jacobian(state.copy(), 3).shape == (6, model.nv)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_trial_A9_a_bent_field_is_bent_for_one():
    state = robots.model("floating_tree").default_state()
    state.field("damping").dtype = np.int8
    assert state.field("damping").dtype == float
    state._poison()                                          # writes through every field
    assert np.isnan(state.field("X_WB")).all() and state.field("damping").shape == (18,)
    with pytest.raises(ValueError):
        state.q.resize(1000)


def test_views_outlive_their_state():
    view = robots.model("branched").default_state().q
    view[:] = 3.0
    kept = [robots.model("branched").default_state() for _ in range(100)]
    assert (view == 3.0).all() and not any(state.q.any() for state in kept)


def test_trial_A9_one_thread_at_a_time_in_a_batch():
    """The workspace of a batch is one: a second thread is refused while the first computes."""
    import threading

    model = robots.model("long_chain")
    batch, n = mbros_core.Batch(model), 30_000
    q, v, tau = np.zeros((n, model.nq)), np.zeros((n, model.nv)), np.zeros((n, model.nv))
    answers, refused = [], 0

    def long():
        while not answers:
            try:
                answers.append(batch.forward_dynamics(q, v, tau, np.empty_like(tau)))
            except mbros_core.errors.BusyError:
                pass                                        # the other thread was there first

    thread = threading.Thread(target=long)
    thread.start()
    while thread.is_alive():
        try:
            batch.forward_dynamics(q[:1], v[:1], tau[:1], np.empty((1, model.nv)))
        except mbros_core.errors.BusyError:
            refused += 1
    thread.join()
    assert answers == [-1] and refused
    assert batch.forward_dynamics(q[:1], v[:1], tau[:1], np.empty((1, model.nv))) == -1
