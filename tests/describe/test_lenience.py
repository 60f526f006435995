"""What files of other simulators leave out, and what a user may ask to be taken as it is given."""
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from optional import needs

import mbros
from mbros.build.load import check

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def arm(parent="world", limit=LIMIT, links="", izz=1, kind="revolute"):
    """A link "a" on a joint that hangs on `parent`."""
    return f'''<robot name="r">{links}
<link name="a">{INERTIAL.format(izz=izz)}</link>
<joint name="j" type="{kind}"><parent link="{parent}"/><child link="a"/><axis xyz="0 1 0"/>{limit}</joint>
</robot>'''


def test_trial_D11_a_joint_may_hang_on_the_world_without_a_link_of_that_name():
    """As in the robots of Drake's own examples; it is the same robot as with <link name="world"/>."""
    model, written = mbros.load(arm()), mbros.load(arm(links='<link name="world"/>'))
    assert model.bodies.names == written.bodies.names == ("world", "a") and model.nv == written.nv == 1
    assert [joint.parent.name for joint in model.joints] == ["world"]
    state, tau = model.default_state(), np.array([1.0])
    assert model.forward_dynamics(state, tau) == written.forward_dynamics(written.default_state(), tau)
    assert [str(note) for note in model.description.notes if "world" in note.reason] == [
        "<text>:3: <parent>: there is no link 'world'; the world itself is taken."]


def test_trial_D11_two_joints_on_the_world():
    second = (f'<link name="b">{INERTIAL.format(izz=1)}</link>'
              '<joint name="k" type="continuous"><parent link="world"/><child link="b"/></joint>')
    model = mbros.load(arm(links=second))
    assert sorted(joint.name for joint in model.joints) == ["j", "k"] and {joint.parent.name for joint in model.joints} == {"world"}
    assert mbros.load(arm(links=second.replace('type="continuous"', 'type="floating"'))).nv == 7


def test_trial_D11_the_world_stays_one_tree_and_does_not_move():
    with pytest.raises(mbros.UrdfError, match="link 'world'.*floating base.*base='fixed'"):
        mbros.load(arm(), base="floating")
    with pytest.raises(mbros.UrdfError, match="2 root links: 'b' .line 1., 'world' .line 3."):
        mbros.load(arm(links='<link name="b"/>'))
    below = '<link name="b"/><joint name="k" type="fixed"><parent link="b"/><child link="world"/></joint>'
    with pytest.raises(mbros.UrdfError, match="there is no link 'world'"):
        mbros.load(arm(parent="a", links=below))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("limit, missing, lower, effort, velocity", [
    ("", "<limit>", -np.inf, np.inf, np.inf),
    ('<limit lower="-1" upper="1"/>', "effort", -1.0, np.inf, np.inf),
    ('<limit lower="-1" upper="1" effort="5"/>', "velocity", -1.0, 5.0, np.inf)])
def test_trial_D11_a_limit_that_is_missing_may_be_taken_as_none(kind, limit, missing, lower, effort, velocity):
    text = arm(limit=limit, kind=kind)
    with pytest.raises(mbros.UrdfError, match=f"{missing}.* is missing"):
        mbros.load(text)
    model = mbros.load(text, limits="as_given")
    joint = model.joint("j")
    assert (joint.limits.position.lower[0], joint.limits.effort.upper[0], joint.limits.velocity.upper[0]) == (lower, effort, velocity)
    warnings = [note for note in model.description.notes if note.severity == "warning"]
    assert warnings and all("limits='as_given'" in note.reason and note.line == 3 for note in warnings)


def test_trial_D11_what_is_written_wrongly_stays_an_error():
    for limit in ('<limit effort="-1" velocity="1"/>', '<limit lower="1" upper="-1"/>', '<limit effort="x" velocity="1"/>'):
        with pytest.raises(mbros.UrdfError):
            mbros.load(arm(limit=limit), limits="as_given")
    with pytest.raises(mbros.MbrosError, match="limits is 'lenient'; expected 'check' or 'as_given'"):
        mbros.load(arm(), limits="lenient")


def impossible():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.RevoluteJoint("j", b.world, b.add_body("plate", mass=1.0, inertia=(1.0, 1.0, 3.0))))
    return b


def test_trial_B10_what_the_message_suggests_can_be_done():
    b = impossible()
    with pytest.raises(mbros.ModelError, match=r"or build\(\) with inertia='as_given' to simulate it anyway"):
        b.build()
    model = b.build(inertia="as_given")
    assert model.body("plate").inertia[2, 2] == 3.0
    assert [note.severity for note in model.description.notes] == ["warning"]
    with pytest.raises(mbros.UrdfError, match="or load with inertia='as_given' to simulate it anyway"):
        mbros.load(arm(izz=3))
    again = mbros.ModelBuilder(mbros.load(arm(izz=3), inertia="as_given"))
    with pytest.raises(mbros.ModelError, match="as_given"):
        again.build()
    assert again.build(inertia="as_given").body("a").inertia[2, 2] == 3.0
    with pytest.raises(mbros.MbrosError, match="inertia is 'no'; expected 'check' or 'as_given'"):
        b.build(inertia="no")


def test_trial_B10_what_would_not_help_is_not_suggested():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.RevoluteJoint("j", b.world, b.add_body("plate", mass=-1.0, inertia=(1.0, 1.0, 1.0))))
    for inertia in ("check", "as_given"):
        with pytest.raises(mbros.ModelError) as caught:
            b.build(inertia=inertia)
        assert "as_given" not in str(caught.value)


def test_the_notes_of_check_and_load_are_the_same():
    text = arm(limit="")
    problems, notes = check(text, limits="as_given")
    assert not problems and list(map(str, notes)) == list(map(str, mbros.load(text, limits="as_given").description.notes))


@needs("pydrake", "its examples come with it")
@pytest.mark.parametrize("name, nv", [("pendulum/Pendulum.urdf", 1), ("acrobot/Acrobot.urdf", 2), ("quadrotor/office.urdf", 0)])
def test_trial_D11_robots_of_drakes_own_examples(name, nv):
    folder = Path(find_spec("pydrake").origin).parent / "share" / "drake" / "examples"
    model = mbros.load(folder / name)
    assert model.nv == nv and "world" in model.bodies
