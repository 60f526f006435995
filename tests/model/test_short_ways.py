"""What is called in loops takes a short way: the functions it goes through are counted, as times on shared machines say little."""
import gc
import sys

import pytest

import mbros


def calls_of(function):
    """The names of the functions, in Python and in C, that a call goes through."""
    names = []

    def note(frame, event, argument):
        if event in ("call", "c_call"):
            names.append(frame.f_code.co_name if event == "call" else argument.__name__)

    gc.disable()            # a collection in between would be counted
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return [name for name in names if name not in ("<lambda>", "setprofile")]


@pytest.mark.parametrize("call, most", [
    (lambda model, joint, state: joint.set_position(state, 0.1), 3),
    (lambda model, joint, state: joint.position(state), 5),
    (lambda model, joint, state: model.pose(state, "flange"), 6),
    (lambda model, joint, state: model._frame_pose(state, model._frame_index("flange")), 2),
], ids=["set_position", "position", "pose", "frame_pose by row"])
def test_trial_D8_positions_and_poses_take_a_short_way(call, most):
    model = mbros.load("arm7")
    joint, state = model.joint("joint2"), model.default_state()
    call(model, joint, state)                                    # what is made once is made
    made = calls_of(lambda: call(model, joint, state))
    assert len(made) <= most, made
