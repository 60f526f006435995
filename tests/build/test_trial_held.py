"""A robot whose base cannot fall. trial-2, M9."""
import warnings

import pytest

import mbros
from mbros.build.load import check
from mbros.describe.urdf.packages import example_robot_data

LINK = "<link name='{}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
JOINT = "<joint name='j{0}' type='{1}'><parent link='{2}'/><child link='{0}'/></joint>"


def robot(*kinds, root="base", on="base"):
    return "<robot name='r'>" + LINK.format(root) + "".join(
        LINK.format(f"l{k}") + JOINT.format(f"l{k}", kind, on) for k, kind in enumerate(kinds)) + "</robot>"


def said(notes):
    return [note for note in notes if "held by the world" in note.reason]


@pytest.mark.parametrize(("text", "times"), [
    (robot("continuous", "continuous"), 1), (robot("fixed"), 1), (robot(), 1), (robot("continuous"), 0),
    (robot("continuous", "continuous", root="world", on="world"), 0)])
def test_trial_M9_a_base_that_cannot_fall_is_said_once(text, times):
    problems, notes = check(text)
    assert not problems and len(said(notes)) == times
    for note in said(notes):
        assert "--base floating" in note.remedy and "'base'" in note.element and note.severity == "note"
    if times:
        assert not any(said(check(text, base=base)[1]) for base in ("fixed", "floating", "planar"))


def test_trial_M9_a_ground_under_a_base_that_cannot_fall_is_a_warning():
    text = robot("continuous").replace("</inertial>", "</inertial><collision><geometry><sphere radius='1'/></geometry></collision>")
    with pytest.warns(mbros.MbrosWarning, match="held by the world") as caught:
        model = mbros.load(text, ground=True)
    assert len(caught) == 1 and [note.severity for note in said(model.description.notes)] == ["warning"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in (dict(base="fixed"), dict(base="floating")):
            assert not said(mbros.load(text, ground=True, **more).description.notes)
        for name in ("arm7", "quadruped"):                          # ours have their own way, which `mbros list` says
            assert not said(mbros.load(name, ground=True).description.notes)


@pytest.mark.skipif(not example_robot_data(), reason="example-robot-data is not installed")
@pytest.mark.parametrize(("name", "times"), [("solo12", 1), ("quadrotor_base", 1), ("tiago", 1), ("panda", 0), ("ur5", 0)])
def test_trial_M9_of_real_robots(name, times):
    assert len(said(mbros.load(name).description.notes)) == times


def test_trial_M9_check_says_it_once(capsys, tmp_path):
    from mbros.cli import main

    (tmp_path / "r.urdf").write_text(robot("continuous", "continuous").replace(
        "</inertial>", "</inertial><collision><geometry><sphere radius='1'/></geometry></collision>"))
    assert main(["check", str(tmp_path / "r.urdf"), "--ground"]) == 0
    assert "".join(capsys.readouterr()).count("held by the world") == 1


def test_trial_M9_a_long_weld_takes_no_long_time():
    names = ["base", *(f"l{k}" for k in range(4000))]
    joints = [JOINT.format(b, "fixed", a) for a, b in zip(names, names[1:])]
    assert len(said(check("<robot name='r'>" + "".join(map(LINK.format, names)) + "".join(joints[::-1]) + "</robot>")[1])) == 1
