"""A follower's own limits. trial-2, P6."""
import pytest

import mbros
from mbros.describe.urdf.packages import example_robot_data

LINK = "<link name='{}'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial></link>"
JOINT = ("<joint name='{0}' type='{5}'><parent link='base'/><child link='{0}_link'/><axis xyz='0 0 1'/>{4}"
         "<limit lower='{1}' upper='{2}' effort='50' velocity='{3}'/></joint>")


def robot(lead=(-1, 1, 9), follow=(-1, 1, 8), ratio=2, offset=0, kind="revolute"):
    mimic = f"<mimic joint='lead' multiplier='{ratio}' offset='{offset}'/>"
    return ("<robot name='r'><link name='base'/>" + LINK.format("lead_link") + LINK.format("follow_link")
            + JOINT.format("lead", *lead, "", kind) + JOINT.format("follow", *follow, mimic, "revolute") + "</robot>")


@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_trial_P6_a_follower_stays_within_its_limits(kind):
    model = mbros.load(robot(kind=kind))
    sim = mbros.Simulator(model, dt=1e-3)
    sim.run(3.0, effort=lambda time, state: [5.0])
    lead, follow = (float(model.joint(name).position(sim.state)[0]) for name in ("lead", "follow"))
    assert 0.5 < lead < 0.51 and follow == pytest.approx(2 * lead)
    said = [str(note) for note in model.description.notes if "limits of its own" in note.reason]
    assert len(said) == 1 and "'lead'" in said[0] and "0.5" in said[0] and "'follow'" in said[0]


@pytest.mark.parametrize(("lead", "follow", "ratio", "offset", "kept", "speed"), [
    ((-1, 1, 9), (-1, 1, 8), -2, 0, (-0.5, 0.5), 4), ((0, 1, 9), (0, 1, 90), 1, 0.25, (0, 0.75), 9),
    ((0, 1, 9), (-5, 5, 9), 1, 0, (0, 1), 9),
    ((0, 0.785, 9), (0, 0.7850001, 9), 1, 0, (0, 0.785), 9), ((-1, 1, 9), (-1, 1, 0), 0, 0.5, (-1, 1), 9)])
def test_trial_P6_limits_of_followers_are_the_leaders(lead, follow, ratio, offset, kept, speed):
    model = mbros.load(robot(lead, follow, ratio, offset))
    limits = model.joint("lead").limits
    assert limits.position[0] == pytest.approx(kept) and limits.velocity.upper[0] == speed
    apart = mbros.load(robot(lead, follow, ratio, offset), mimic=False)
    assert apart.joint("lead").limits.position[0] == lead[:2] and apart.joint("follow").limits.position[0] == follow[:2]


@pytest.mark.parametrize("follow", [(2, 3, 9), (0.5, 0.5, 9)])
def test_trial_P6_limits_that_leave_nothing_are_said_and_not_kept(follow):
    model = mbros.load(robot((0, 1, 9), follow, 1))
    assert model.joint("lead").limits.position[0] == (0, 1)
    warning, = (note for note in model.description.notes if "not kept" in note.reason)
    assert warning.severity == "warning" and "'follow'" in warning.element and "'lead'" in warning.reason


def test_trial_P6_chains_and_where_the_leader_starts():
    text = robot((0, 2, 9), (1, 3, 9), 1).replace("</robot>", LINK.format("last_link") + JOINT.format(
        "last", 1, 1.5, 9, "<mimic joint='follow' multiplier='0.5' offset='0.1'/>", "revolute") + "</robot>")
    model = mbros.load(text)
    assert model.joint("lead").limits.position[0] == pytest.approx((1.8, 2))
    assert float(model.default_state().q[0]) == pytest.approx(1.9)


@pytest.mark.skipif(not example_robot_data(), reason="example-robot-data is not installed")
def test_trial_P6_real_files_with_limits_that_cannot_be_kept():
    """The grippers of PR2: fingers open by 0 to 0.548, and one that follows with multiplier -1 has these limits too."""
    found = [note for note in mbros.load("pr2").description.notes if "not kept" in note.reason]
    assert [note.element for note in found] == [f"joint '{side}_gripper_r_parallel_root_joint', limit" for side in "rl"]
    assert all("-0.548 to 0" in note.reason for note in found)
