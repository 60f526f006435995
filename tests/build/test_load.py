"""mbros.load: names, paths and texts. (The Model that comes of it is tested with the engine.)"""
import numpy as np
import pytest

from mbros.build import one_robot as loading
from mbros.build.load import find, known_robots, load_description
from mbros.build.robots import BUILT_IN, path
from mbros.describe.urdf.packages import example_robot_data
from mbros.errors import MbrosError, UnknownNameError, UrdfError

needs_examples = pytest.mark.skipif(not example_robot_data(), reason="example-robot-data is not installed")


def test_own_robots_are_small_and_offline():
    files = {name: path(name).read_text() for name in BUILT_IN}
    assert sum(map(len, files.values())) < 100_000
    for text in files.values():
        assert "mesh" not in text and "package://" not in text and "file://" not in text


SIZES = {"pendulum": (1, 1), "double_pendulum": (2, 2), "cartpole": (2, 2), "scara": (4, 4), "arm6": (6, 6), "arm7": (7, 7),
         "quadruped": (19, 18), "humanoid": (38, 37), "diff_drive": (9, 8), "mobile_arm": (9, 9),
         "four_bar": (3, 3), "gripper": (6, 6)}


@pytest.mark.parametrize("name", BUILT_IN)
def test_own_robots(name):
    """No problem, no note, believable masses, limits everywhere but on free hinges."""
    from mbros.build.compile.tree import compile_robot

    description = load_description(name)
    assert description.name == name and description.notes == []
    compiled = compile_robot(description)
    assert (len(compiled.spec.q_default), len(compiled.spec.damping)) == SIZES[name]
    assert compiled.joints[0].kind == {"fixed": "weld"}.get(BUILT_IN[name].base, BUILT_IN[name].base)
    for joint in compiled.joints:
        if joint.kind in ("revolute", "prismatic"):
            assert np.isfinite([joint.lower[0], joint.upper[0], joint.effort[0], joint.velocity[0]]).all()
            assert joint.effort[0] > 0 and joint.velocity[0] > 0
            assert joint.lower[0] < joint.upper[0]
    for body in description.bodies:
        assert body.mass == 0 or 0.04 < body.mass < 70
        # densities of the shapes shown: foam to steel
        volume = sum({"box": lambda g: np.prod(g.size), "cylinder": lambda g: np.pi * g.radius**2 * g.length,
                      "sphere": lambda g: 4 / 3 * np.pi * g.radius**3}[v.geometry.kind](v.geometry) for v in body.visuals)
        assert body.mass == 0 or 100 < body.mass / volume < 9000, (body.name, body.mass / volume)


def test_own_robots_have_the_inertia_of_their_shapes():
    """A body of one shape has that shape's inertia to the printed digits."""
    from mbros.spatial.inertia import rotate, solid_box, solid_cylinder, solid_sphere

    count = 0
    for name in BUILT_IN:
        for body in load_description(name).bodies:
            if len(body.visuals) == 1:
                shape = body.visuals[0]
                g = shape.geometry
                tensor = {"box": lambda: solid_box(body.mass, g.size), "cylinder": lambda: solid_cylinder(body.mass, g.radius, g.length),
                          "sphere": lambda: solid_sphere(body.mass, g.radius)}[g.kind]()
                assert np.allclose(body.com, shape.X_BG.p, atol=1e-6)
                assert np.allclose(body.inertia, rotate(tensor, shape.X_BG.R), rtol=2e-5, atol=1e-5 * tensor.max())
                count += 1
    assert count > 40


def test_arm7_and_arm6_can_hold_themselves():
    """Effort limits exceed the gravity torque of the arm stretched out level, joint by joint (a bound by moments)."""
    for name in ("arm6", "arm7"):
        description = load_description(name)
        order = description.joints[1:]
        X = {description.joints[0].child.name: np.zeros(3)}
        for joint in order:
            X[joint.child.name] = X[joint.parent.name] + joint.X_PF.p
        for joint in order:
            if joint.nv:
                # everything further out, at its full distance from the joint
                worst = sum(9.81 * j.child.mass * (np.linalg.norm(X[j.child.name] - X[joint.child.name]) + np.linalg.norm(j.child.com))
                            for j in order[order.index(joint):])
                assert worst < 0.7 * joint.effort[0], (name, joint.name, worst)


def test_arm7_joint_names():
    assert [j.name for j in load_description("arm7").joints if j.nv] == [f"joint{k}" for k in range(1, 8)]


def test_base_of_its_own_or_as_asked():
    assert load_description("quadruped").joints[0].kind == "floating"
    assert load_description("quadruped", base="fixed").joints[0].kind == "weld"
    assert load_description(path("quadruped")).joints[0].kind == "weld"        # a path is just a file
    assert load_description("mobile_arm").joints[0].kind == "planar"


def test_gravity():
    assert load_description("pendulum", gravity=(1, 2, 3)).gravity.tolist() == [1, 2, 3]
    with pytest.raises(MbrosError, match="gravity"):
        load_description("pendulum", gravity=(0, 0, np.nan))


@pytest.mark.parametrize("source", [path("arm6"), str(path("arm6")), path("arm6").read_text()])
def test_sources(source):
    assert load_description(source).name == "arm6"


def test_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.urdf").write_text(path("arm6").read_text())
    (tmp_path / "noext").write_text(path("arm6").read_text())
    assert load_description("mine.urdf").name == load_description("noext").name == "arm6"
    (tmp_path / "arm7").write_text("not a robot")
    assert load_description("arm7").name == "arm7"           # a file of the same name hides no robot


@pytest.mark.parametrize("source, words", [
    ("pendulun", "no robot 'pendulun', and no such file; did you mean 'pendulum'?"),
    ("Arm7", "did you mean 'arm7'?"),
    ("zzzzzz", "known are pendulum, double_pendulum"),
    ("x\x00y", "is not a robot"),
    ("y" * 5000, "is not a robot"),
    ("example-robot-data/nothing_like_it", "no robot 'nothing_like_it'"),
])
def test_unknown_names(source, words):
    with pytest.raises(UnknownNameError) as caught:
        find(source)
    assert words in str(caught.value) and len(str(caught.value)) < 400
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, KeyError)


@pytest.mark.parametrize("source", [None, 3, "", "  ", b"<robot/>"])
def test_what_is_no_source_at_all(source):
    with pytest.raises(MbrosError, match="Give a name, a path, or URDF text"):
        find(source)


def test_missing_files():
    with pytest.raises(UrdfError, match="nowhere.urdf: file: it cannot be read: no such file"):
        load_description("nowhere.urdf")
    with pytest.raises(UrdfError, match="cannot be read"):
        load_description("some/folder/robot")


def test_names_of_the_example_package_without_it(monkeypatch):
    monkeypatch.setattr(loading, "_examples", dict)
    with pytest.raises(UnknownNameError, match=r"'panda' comes with the package example-robot-data.*pip install 'mbros\[robots\]'"):
        find("panda")
    assert known_robots() == list(BUILT_IN)
    with pytest.raises(UnknownNameError, match=r"More robots come with: pip install 'mbros\[robots\]'"):
        find("no_such_robot")


@needs_examples
@pytest.mark.parametrize("name, file", [("panda", "panda.urdf"), ("ur5", "ur5_robot.urdf"), ("ur5_limited", "ur5_joint_limited_robot.urdf"),
                                        ("solo12", "solo12.urdf"), ("talos", "talos_reduced.urdf"), ("talos_full", "talos_full_v2.urdf"),
                                        ("anymal", "anymal.urdf"), ("anymal_c", "anymal.urdf"), ("tiago", "tiago.urdf"),
                                        ("hyq", "hyq_no_sensors.urdf"),
                                        ("example-robot-data/quadruped", "quadruped.urdf"), ("romeo_small", "romeo_small.urdf")])
def test_names_of_the_example_package(name, file):
    found, base = find(name)
    assert found.name == file and base is None and found.is_file()


@needs_examples
def test_every_known_name_is_found():
    names = known_robots()
    assert len(names) == len(set(names)) > 70
    for name in names:
        assert find(name)[0].is_file()
    assert find("anymal")[0] != find("anymal_c")[0]
    assert find("quadruped")[0] == path("quadruped")                     # ours comes first
    with pytest.raises(UnknownNameError, match="did you mean 'panda'"):
        find("pandas")


def test_chain_of_no_joints():
    from mbros.build.robots.chain import chain_builder

    for n in (0, -1, 2.5, True, "3"):
        with pytest.raises(MbrosError, match="expected the number of joints, a whole number, 1 or more"):
            chain_builder(n)


@pytest.mark.parametrize("ugly", [False, True])
def test_chains(ugly):
    from mbros.build.compile.tree import compile_robot
    from mbros.build.robots.chain import chain_builder

    compiled = compile_robot(chain_builder(7, ugly).describe())
    assert [j.name for j in compiled.joints] == [f"joint{k}" for k in range(1, 8)]
    again = compile_robot(chain_builder(7, ugly).describe())
    assert (compiled.spec.X_PF == again.spec.X_PF).all() and (compiled.spec.inertia == again.spec.inertia).all()
