"""Whatever mbros refuses is an MbrosError, and the built-in error too where that was always its class."""
import ast
from pathlib import Path

import numpy as np
import pytest

import mbros
from mbros.describe.joints.limits import Limits

ROOT = Path(mbros.__file__).parent
BUILTIN = {"ValueError", "TypeError", "KeyError", "IndexError", "LookupError", "AttributeError", "RuntimeError", "ArithmeticError",
           "OverflowError", "ZeroDivisionError", "OSError", "Exception"}
NOT_OF_USERS = {                # who else gets the error
    "__init__.py": "modules answer with AttributeError",
    "model/joints/joint.py": "hasattr() asks for an attribute: Python wants AttributeError",
    "model/joints/defaults.py": "the same",
    "describe/forces/custom.py": "caught where it is raised, and given as the cause of a NonFiniteError",
    "record/recorded.py": "recording_file.py, which says the file as well",
    "record/engines.py": "saved.py, which says of what",
    "study/sweep/checkpoint.py": "its reader, which computes what a damaged part held again",
}


def raised_in(path):
    """(line, name) of every `raise Name(...)` and `raise Name`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            name = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(name, ast.Name):
                yield node.lineno, name.id


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_trial_A14_no_module_raises_what_is_outside_the_family(path):
    if path.relative_to(ROOT).parts[0] == "ros" or path.relative_to(ROOT).as_posix() in NOT_OF_USERS:
        return
    assert [(line, name) for line, name in raised_in(path) if name in BUILTIN] == []


ARM = mbros.load("arm7")
STATE = ARM.default_state()
SPACE = ARM.space()
POSE = ARM.pose(STATE, "flange")


def builder():
    b = mbros.ModelBuilder("rig")
    return b, b.add_body("plate", mass=1.0, inertia=(1, 1, 1))


MISTAKES = {        # what a user wrote: (the call, the built-in class it is too, words of the message)
    "option of a joint": (lambda: mbros.RevoluteJoint("j", builder()[0].world, builder()[1], dampng=1.0), TypeError,
                          ["RevoluteJoint()", "'dampng'", "did you mean 'damping'?"]),
    "keyword of a rotation": (lambda: mbros.Pose.make(turn=3), TypeError, ["Pose", "'turn'", "quat_wxyz="]),
    "joint by place": (lambda: ARM.joints[99], IndexError, ["model 'arm7'", "no joint 99", "there are 9"]),
    "joint by half": (lambda: ARM.joints[1.5], IndexError, ["no joint 1.5"]),
    "limit by place": (lambda: ARM.joint(1).limits.position[3], IndexError, ["no component 3", "there are 1"]),
    "limits by name": (lambda: Limits(np.zeros(2), np.ones(2))["x"], IndexError, ["'x'", "there are 2"]),
    "number in a file": (lambda: mbros.describe.urdf.parse_finite_float("1,5"), ValueError, ["comma"]),
    "a model by its class": (lambda: mbros.Model("arm7", None), ValueError, ["'arm7'", "mbros.load"]),
    "a body by its class": (lambda: mbros.Body(ARM, "hand"), ValueError, ["Body", "ModelBuilder"]),
    "a joint by its class": (lambda: mbros.Joint(ARM, "hand"), ValueError, ["Joint", "ModelBuilder"]),
    "a frame by its class": (lambda: mbros.Frame(ARM, "hand"), ValueError, ["Frame", "ModelBuilder"]),
    "a row of a pose": (lambda: mbros.Pose.from_row([1, 2, 3]), ValueError, ["row", "(12,)", "(3,)"]),
    "points of a pose": (lambda: POSE @ "x", ValueError, ["points of 3 numbers", "'x'"]),
    "two numbers of a point": (lambda: POSE @ [1.0, 2.0], ValueError, ["points of 3 numbers", "(2,)"]),
    "a joint of the tree": (lambda: ARM.tree.parent("jonit4"), KeyError, ["did you mean 'joint4'?"]),
    "a joint of another model": (lambda: ARM.tree.level(mbros.load("arm6").joint(1)), ValueError, ["model 'arm7'", "name of a joint"]),
    "how many samples": (lambda: ARM.random_configuration(0, 10**30), ValueError, ["size", "whole number"]),
    "a dimension": (lambda: mbros.spaces.Rn(1e3), ValueError, ["R^n", "whole number"]),
    "a family in an array": (lambda: mbros.spaces.SO3(np.zeros(3)), ValueError, ["increments", "no family"]),
    "a family of a product": (lambda: mbros.spaces.Product(increments={}), ValueError, ["increments", "no family"]),
    "bounds of a chart": (lambda: mbros.spaces.SE3RollPitchYaw(lower=(1, 2, 3)), ValueError, ["lower", "6 of them"]),
    "no space": (lambda: mbros.spaces.Element(3, [1.0]), ValueError, ["expected a mbros.spaces.Space", "3"]),
    "no joint": (lambda: mbros.spaces.joint_space("joint1"), ValueError, ["joint_space", "'joint1'"]),
    "no model": (lambda: mbros.spaces.model_space("arm7"), ValueError, ["model_space", "'arm7'"]),
    "what is measured": (lambda: mbros.bushing_design.dominant_pole_error(2.0, of=np.zeros(2)), ValueError, ["of: expected"]),
    "length of a chain": (lambda: mbros.chain(10**400), ValueError, ["chain", "number of joints"]),
    "no flag": (lambda: mbros.load("arm7", mimic="yes"), ValueError, ["mimic is 'yes'", "True or False"]),
    "folders": (lambda: mbros.load("arm7", package_dirs=5), ValueError, ["package_dirs", "list of folders", "5"]),
    "vertices": (lambda: mbros.shapes.convex(np.array(None)), ValueError, ["vertices"]),
    "a huge number to draw": (lambda: mbros.PlanarJoint("j", builder()[0].world, builder()[1]).defaults.set_random(x=10**400),
                              ValueError, ["finite number"]),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_trial_A14_mistakes_are_refused_in_the_family(what):
    call, builtin, words = MISTAKES[what]
    with pytest.raises(mbros.MbrosError) as caught:
        call()
    assert isinstance(caught.value, builtin) and isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 600


def test_one_folder_is_a_list_of_folders(tmp_path):
    assert mbros.load("arm7", package_dirs=str(tmp_path)).description.package_dirs == (str(tmp_path),)
    assert mbros.load("arm7", package_dirs=[tmp_path]).description.package_dirs == (tmp_path,)


def test_lists_of_parts_are_still_sequences():
    assert list(ARM.joints) == [ARM.joints[k] for k in range(len(ARM.joints))] and ARM.joints[-1] is list(ARM.joints)[-1]
    assert ARM.joints[1:3] == tuple(ARM.joints)[1:3] and list(reversed(ARM.joints))[0] is ARM.joints[-1]
    assert [joint.name for joint in ARM.tree.subtree("joint6")] == [joint.name for joint in ARM.joint("joint6").topology.subtree()]


def results():
    run = mbros.rollout(ARM, ARM.neutral_configuration(), np.zeros(7), np.zeros((2, 3, 7)), outputs=["flange.pose", "energy"])
    return {"run": run, "poses": ARM.batch(run.q[0]).pose("flange"), "poses of a run": run["flange.pose"],
            "derivatives": mbros.diff.forward_dynamics(ARM, STATE, np.zeros(7)), "log": mbros.Simulator(ARM).run(0.002)}


@pytest.mark.parametrize("what, key, words", [
    *(("run", key, r"in this rollout; there are 0 \(q\), 1 \(v\), 'flange.pose', 'energy'$") for key in (2, -3, None, 1.5, (0, 1), [0])),
    ("run", "enrgy", "no output 'enrgy' in this rollout; did you mean 'energy'"),
    *(("poses", key, r"no pose .* in <Poses of 'flange' in 'world': .*>; there are 3, counted from 0$")
      for key in (3, -4, "x", 1.5, (0, 1), (0, slice(2)), (..., 3), 2**70)),
    *(("poses of a run", key, "there are 2 x 3, counted from 0") for key in (2, (0, 3), (5, 0), (0, 1, 2), "x")),
    *(("derivatives", key, "no variable .* in these derivatives; there are 'q', 'v', 'tau'") for key in (0, "x", [0], None)),
    *(("log", key, "no joint .* in the log of model 'arm7'") for key in (0, "x", [0], None))])
def test_results_say_what_they_have_by_which_key(what, key, words):
    with pytest.raises(mbros.MbrosError, match=words) as caught:
        results()[what][key]
    assert isinstance(caught.value, (IndexError, KeyError))


def test_results_are_gone_through_as_ever():
    of = results()
    run, poses = of["run"], of["poses"]
    q, v = run
    assert q is run[0] is run[-2] and v is run[1] and len(run) == 2 and [x.shape for x in run[:1]] == [(2, 3, 7)]
    assert len(list(poses)) == len(list(reversed(poses))) == 3 and np.array_equal(next(reversed(poses)).p, poses.p[-1])
    assert [X.p.tolist() for X in poses] == poses.p.tolist() and len(poses[:2]) == len(poses[[0, 2]]) == 2
    assert [len(row) for row in of["poses of a run"]] == [3, 3] and of["poses of a run"][1, 2].p.shape == (3,)
    assert np.array_equal(poses[..., 1].p, poses.p[1]) and of["poses of a run"][..., 1].R.shape == (2, 3, 3)

    class Old:
        """Goes through by index until an IndexError, as Python does where there is no __iter__."""

        def __getitem__(self, k):
            return poses[k]

    assert len(list(Old())) == 3
