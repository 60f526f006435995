"""Operations at random on the engine and the Simulator (tests/fuzz/operations.py): a few thousand here, MBROS_OPERATIONS of them with
MBROS_SEED where more are wanted."""
import os

import numpy as np
import pytest

from fuzz import calls, operations, subjects

COUNT, SEED = int(os.environ.get("MBROS_OPERATIONS", "4000")), int(os.environ.get("MBROS_SEED", "7"))


@pytest.mark.timeout(900 + COUNT // 20)
@pytest.mark.filterwarnings("ignore")               # NumPy's, about numbers that are cut and arrays that are bent
def test_trial_A9_operations_at_random_are_done_or_refused_in_words():
    counts = operations.run(SEED, COUNT)
    assert sum(counts.values()) == COUNT and min(counts.values()) > 0


def test_every_public_method_has_a_row():
    """A method without right arguments would never be tried."""
    subject = subjects.Subject("rig", subjects.rig(), np.random.default_rng(1), True)
    names = set(calls.of(subject))
    for expected in ("Model.forward_dynamics", "mbros.Model.pose", "State.set_q", "Plant.step", "Batch.rollout", "lanes.Batch.rollout",
                     "Simulator.run", "Duals.sweep"):
        assert expected in names
    with pytest.raises(KeyError):
        calls.table(lambda s: s.state, ["a method that nobody has written down"], calls.STATE, "State")


@pytest.mark.parametrize("spoil, words", [
    (lambda s, *x: s.state.gravity.fill(0.125) or s.model.mass_matrix(3), "this has changed: states"),
    (lambda s, *x: 1 / 0, "raised ZeroDivisionError"), (lambda s, *x: (1.0, np.array([2.0, np.nan])), "returned"),
    (lambda s, *x: x[0].fill(3.0) or s.model.mass_matrix(None), "this has changed: argument 0"),
    (lambda s, *x: s.model.mass_matrix(None), "right arguments were refused")])
def test_what_must_hold_is_looked_at(spoil, words, monkeypatch):
    """The stress itself fails where a call changes something and is refused, raises what it may not, returns what is not finite."""
    broken = calls.Call(spoil, lambda s, rng: (np.zeros(3),), fixed=1, may_refuse="changed" in words)
    monkeypatch.setattr(calls, "of", lambda subject: {"broken": broken})
    with pytest.raises(AssertionError, match=rf"seed 1, operation 0: .*broken.*{words}"):
        operations.run(1, 1)
