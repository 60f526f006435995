"""Wherever a rotation is given, a quaternion says its order by its keyword; a bare one is refused with the same sentence."""
import numpy as np
import pytest
import seed_models
from tolerance import assert_close

import mbros

WXYZ = np.array([0.5, -0.1, 0.7, 0.5])
WXYZ = WXYZ / np.linalg.norm(WXYZ)
XYZW = np.roll(WXYZ, -1)
R = mbros.Pose.make(quat_wxyz=WXYZ).R


def in_state(kind, method):
    def make(**quat):
        b = mbros.ModelBuilder("rig")
        b.add_joint(kind("j", b.world, seed_models.box(b, "B")))
        model = b.build()
        state = model.default_state()
        getattr(model.joint("j"), method)(state, **quat)
        return model.pose(state, "j.M").R
    return make


def frame(**quat):
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.WeldJoint("j", b.world, seed_models.box(b, "B")))
    b.add_frame("f", b.body("B"), **quat)
    model = b.build()
    return model.pose(model.default_state(), "f").R


def joint(**quat):
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.RevoluteJoint("j", b.world, seed_models.box(b, "B"), **quat))
    model = b.build()
    return model.pose(model.default_state(), "B").R


def joint_in_the_world(**quat):
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.RevoluteJoint("j", b.world, seed_models.box(b, "B")), world_pose=mbros.Pose.make((1, 2, 3), **quat))
    model = b.build()
    return model.pose(model.default_state(), "B").R


def robot(**quat):
    b = mbros.ModelBuilder("rig")
    own = mbros.ModelBuilder("own")
    own.add_joint(mbros.RevoluteJoint("j", own.world, seed_models.box(own, "B")))
    b.add_robot(own.build(), "p", **quat)
    model = b.build()
    return model.pose(model.default_state(), "p/B").R


PLACES = {"set_pose": in_state(mbros.FloatingJoint, "set_pose"), "set_rotation": in_state(mbros.BallJoint, "set_rotation"),
          "set_pose of rpy": in_state(mbros.FloatingRpyJoint, "set_pose"), "add_frame": frame, "joint": joint,
          "world_pose": joint_in_the_world, "add_robot": robot, "Pose": lambda **quat: mbros.Pose.make(**quat).R}


@pytest.mark.parametrize("place", PLACES)
def test_both_orders_are_the_same_rotation_and_a_bare_one_is_refused(place):
    make = PLACES[place]
    assert_close(make(quat_wxyz=WXYZ), R, 1e-14)
    assert_close(make(quat_xyzw=XYZW), R, 1e-14)
    for bare in ("quat", "quaternion", "orientation"):
        with pytest.raises(mbros.MbrosError, match=f"a quaternion must say its order: got {bare}; write quat_wxyz="):
            make(**{bare: WXYZ})
    with pytest.raises(mbros.MbrosError, match=r"got both"):
        make(quat_wxyz=WXYZ, quat_xyzw=XYZW)
    with pytest.raises(mbros.MbrosError, match=r"quat_xyzw \[0.0, 0.0, 0.0, 2.0\] has length 2. Give a unit quaternion, w last"):
        make(quat_xyzw=(0, 0, 0, 2))
    for wrong in ((0, 0, 0, 0), (np.nan, 0, 0, 1), (1, 0, 0), "wxyz"):
        with pytest.raises(mbros.MbrosError, match="quat_xyzw: expected 4 finite numbers"):
            make(quat_xyzw=wrong)
    with pytest.raises(TypeError, match="unexpected"):
        make(rotacion=WXYZ)


def test_one_rotation_only():
    for make in (PLACES["set_rotation"], PLACES["add_frame"], PLACES["joint"], PLACES["Pose"], PLACES["set_pose"]):
        with pytest.raises(mbros.MbrosError, match="one of"):
            make(quat_wxyz=WXYZ, rpy=(0, 0, 1))
