"""Scenes: several robots and objects in one world, from a file and in Python."""
from pathlib import Path

import mbros
import numpy as np
import pytest

CELL = Path(__file__).parents[2] / "examples" / "scenes" / "cell.yaml"


def written(tmp_path, text):
    path = tmp_path / "scene.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path, text):
    with pytest.raises(mbros.ModelError) as caught:
        mbros.load(written(tmp_path, text))
    return caught.value.problems


def arms(count=2, **options):
    scene = mbros.Scene("arms", **options)
    for k in range(count):
        scene.add_robot("arm7", f"r{k}", p=(8.0 * k, 0.0, 0.0))
    return scene


# --- the file

def test_a_scene_file_is_taken_where_a_robot_is():
    model = mbros.load(str(CELL))
    views = model.tree.robots
    assert views.names == ("left", "right", "dog", "table", "parcel") and model.name == "cell"
    assert views["left"].names[1:3] == ("joint1", "joint2") and views["left"].joint("joint2") is model.joint("left/joint2")
    assert views["right"].body("flange").name == "right/flange" and (views["dog"].nq, views["dog"].nv) == (19, 18)
    state = model.default_state()
    assert views["left"].joint("joint2").position(state) == [0.3] and not model.joint("right/joint2").position(state)
    np.testing.assert_array_equal(state.q[views["parcel"].q_slice], [0.5, 0.0, 0.35, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(model.pose(state, "left/base_link").p, [0.0, 0.6, 0.0], atol=1e-15)


def test_what_is_given_no_height_stands_on_the_ground():
    model = mbros.load(CELL)
    state, alone = model.default_state(), mbros.load("quadruped", ground=True).default_state()
    base = state.q[model.tree.robots["dog"].q_slice]
    np.testing.assert_allclose(base[:3], [2.0, 0.0, alone.q[2]], atol=1e-9)


@pytest.mark.parametrize("text, line, said", [
    ("robts: {}\n", 1, "robts: a scene file has no such part; did you mean 'robots'?"),
    ("name: cell\n", 1, "it has neither robots nor objects"),
    ("ground: {heigt: 0}\nrobots: {a: {robot: arm7}}\n", 1, "ground: it has no 'heigt'; did you mean 'height'?"),
    ("gravity: [0, 1]\nrobots: {a: {robot: arm7}}\n", 1, "gravity has shape (2,), expected (3,)"),
    ("robots:\n  a: {robot: arm77}\n", 2, "robot 'a': no robot 'arm77', and no such file; did you mean 'arm7'?"),
    ("robots:\n  a b: {robot: arm7}\n", 2, "robot 'a b': its name is 'a b'"),
    ("robots:\n  a: {robot: arm7}\nobjects:\n  a: {shape: sphere, radius: 1, mass: 1}\n", 4, "object 'a': this name is already taken"),
    ("robots:\n  a: {robot: arm7, q: [0]}\n", 2, "robot 'a': it has no 'q'"),
    ("robots:\n  a: {p: [0, 0, 0]}\n", 2, "robot 'a': robot is None"),
    ("robots: {}\n", 1, "its robots and objects are empty"),
    ("robots:\n  a: {robot: ./other.yaml}\n", 2, "is a scene or bench file, and no robot"),
    ("robots:\n  a: {robot: '<robot name=\"r\"><link name=\"world\"/></robot>'}\n", 2, "robot 'a': it has no links beside the world"),
    ("robots:\n  a: {robot: arm7, p: [0, 0]}\n", 2, "leaves its height to the ground, and its base does not float"),
    ("robots:\n  a: {robot: mobile_arm, rpy: [0.1, 0, 0]}\n", 2, "its base is planar and its rotation is not about z alone"),
    ("robots:\n  a: {robot: arm7, initial_positions: {joint22: 1}}\n", 2, "no joint 'joint22' in robot 'a'; did you mean 'joint2'?"),
    ("robots:\n  a: {robot: arm7, bench: quadruped_servo}\n", 2, "there is no frame 'trunk'"),
    ("robots:\n  a: {robot: gone.urdf}\n", 2, "gone.urdf: file: it cannot be read"),
    ("objects:\n  a: {shape: bx}\n", 2, "object 'a': shape is 'bx'; did you mean 'box'?"),
    ("objects:\n  a: {shape: box, radius: 1, mass: 1}\n", 2, "a box has no radius"),
    ("objects:\n  a: {shape: sphere, mass: 1}\n", 2, "it has no radius"),
    ("objects:\n  a: {shape: sphere, radius: 1}\n", 2, "it has no mass. Give mass, kg, or fixed: true"),
    ("objects:\n  a: {shape: sphere, radius: 1, mass: -1}\n", 2, "mass is -1"),
    ("objects:\n  a: {shape: sphere, radius: 1, mass: 1, inertia: [1, 1, 9]}\n", 2, "triangle inequality"),
    ("objects:\n  a: {shape: mesh, mesh: a.stl, mass: 1}\n", 2, "its shape is a mesh and it has no inertia"),
    ("robots: {a: {robot: arm7}}\nexclusions:\n  - [a, b]\n", 3, "no robot, object, body or shape 'b'"),
    ("robots: {a: {robot: arm7}}\nexclusions:\n  - a\n", 3, "Write two names")])
def test_a_file_that_cannot_be_is_refused_with_its_line(tmp_path, text, line, said):
    problems = refused(tmp_path, text)
    assert [problem.line for problem in problems] == [line] and problems[0].file.endswith("scene.yaml")
    assert said in str(problems[0])


def test_every_problem_is_reported_at_once(tmp_path):
    text = "robots:\n  a: {robot: arm77}\n  b: {robot: arm7, q: 1}\nobjects:\n  c: {shape: bx}\n"
    assert [problem.line for problem in refused(tmp_path, text)] == [2, 3, 5]


def test_paths_are_those_from_the_files_folder_on(tmp_path):
    from mbros.build.robots import path
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "arm.urdf").write_bytes(path("arm7").read_bytes())
    model = mbros.load(written(tmp_path, "robots:\n  a: {robot: robots/arm.urdf}\n"))
    assert model.tree.robots["a"].nv == 7


def test_what_a_scene_says_itself_is_not_given_beside_it():
    for options in ({"base": "floating"}, {"srdf": "a.srdf"}, {"xacro_args": {"a": 1}}):
        with pytest.raises(mbros.MbrosError, match="says it of each robot: write it there"):
            mbros.load(CELL, **options)
    assert (mbros.load(CELL, gravity=(0, 0, -1.62)).default_state().gravity == [0, 0, -1.62]).all()


# --- bits

def moved(model, robots, steps=300):
    """The velocities of each robot after some steps, the same efforts on all."""
    sim, effort = mbros.Simulator(model), np.random.default_rng(1).normal(size=model.nv // len(robots))
    tau = np.zeros(model.nv)
    for at in robots:
        tau[at] = effort
    for _ in range(steps):
        sim.step(tau)
    return [sim.state.v[at].copy() for at in robots]


@pytest.mark.parametrize("robot, ground", [("arm7", False), ("mobile_arm", False), ("four_bar", False), ("quadruped", True)])
def test_a_robot_alone_in_a_scene_moves_to_the_bit_as_by_itself(robot, ground):
    alone = mbros.load(robot, ground=ground or None)
    scene = mbros.Scene("alone", ground=ground, collisions=ground)
    scene.add_robot(robot, "a", p=(0, 0) if ground else None)
    model = scene.build()
    np.testing.assert_array_equal(moved(alone, [slice(None)]), moved(model, [model.tree.robots["a"].v_slice]))


@pytest.mark.parametrize("robot", ["arm7", "mobile_arm"])
def test_robots_far_apart_move_to_the_bit_as_each_by_itself(robot):
    scene = mbros.Scene("apart")
    for k in range(3):
        scene.add_robot(robot, f"r{k}", p=(8.0 * k, 0.0, 0.0))
    model = scene.build()
    together = moved(model, [view.v_slice for view in model.tree.robots])
    alone = moved(mbros.load(robot, collisions=True), [slice(None)])[0]
    for v in together:
        np.testing.assert_array_equal(v, alone)


# --- contact, benches, and all that takes a model

def test_robots_and_objects_touch_and_exclusions_are_kept():
    def lowest(*pairs):
        scene = mbros.Scene("touch")
        scene.add_object("table", mbros.shapes.box((1, 1, 0.2)), fixed=True, p=(0, 0, 0.1))
        scene.add_robot("quadruped", "dog", p=(0, 0, 0.6))
        scene.add_object("ball", mbros.shapes.sphere(0.1), mass=1.0, p=(0, 0, 1.2), rgba=(1, 0, 0, 1))
        for pair in pairs:
            scene.exclude_contact(*pair)
        model = scene.build()
        sim = mbros.Simulator(model)
        sim.advance_to(0.45)
        names = {frozenset(name.split("/")[0] for name in (c.body_a, c.body_b)) for c in model.contacts(sim.state)}
        return model.pose(sim.state, "dog/trunk").p[2], names

    height, touching = lowest()
    assert height > 0.25 and {"dog", "table"} in touching
    assert lowest(("dog", "table"))[0] < 0.0


def test_each_robot_has_its_bench():
    scene = mbros.Scene("benches", collisions=False)
    for name in ("left", "right"):
        scene.add_robot("arm7", name, bench="arm7_servo")
    scene.add_robot("arm7", "free")
    model = scene.build()
    sim = mbros.Simulator(model)
    sim.command(position={"left/joint2": 0.4, "right/joint2": -0.4})
    sim.advance_to(1.0)
    left, right = (float(model.joint(f"{name}/joint2").position(sim.state)[0]) for name in ("left", "right"))
    assert abs(left - 0.4) < 0.05 and abs(right + 0.4) < 0.05
    assert sim.signals["left/joint2.encoder.position"].value != sim.signals["right/joint2.encoder.position"].value


def test_faults_and_sources_of_a_bench_come_along():
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="joint2", kp=400.0, kd=20.0))
    bench.add(mbros.Encoder("encoder", joint="joint2"))
    bench.add(mbros.Fault("hung", kind="frozen", signal="encoder.position", when="encoder.position > 0.1"))
    bench.add(mbros.JointSource("real", joint="joint3"))
    scene = arms(1, collisions=False)
    scene.add_robot("arm7", "b", bench=bench)
    sim = mbros.Simulator(scene.build())
    assert "b/hung" in [fault.name for fault in sim.model.description.bench.faults]
    assert sim.model.description.bench.sources[0].joint == "b/joint3"
    sim.command(position={"b/joint2": 0.5})
    sim.advance_to(1.0)
    assert 0.1 < float(sim.signals["b/encoder.position"].value) < 0.3 < float(sim.model.joint("b/joint2").position(sim.state)[0])


def test_saves_rollouts_and_recordings_of_a_scene(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    path = written(tmp_path, "ground: true\nrobots:\n  a: {robot: quadruped, p: [0, 0]}\n  b: {robot: arm7, p: [2, 0, 0]}\n")
    model = mbros.load(path)
    sim = mbros.Simulator(model)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.05)
        blob = sim.save()
        sim.advance_to(0.1)
    again = mbros.Simulator(mbros.load(path))
    again.restore(blob)
    again.advance_to(0.1)
    np.testing.assert_array_equal(again.state.q, sim.state.q)
    assert mbros.replay(tmp_path / "run.mcap").identical
    start = model.default_state()
    q, v = mbros.rollout(model, np.tile(start.q, (3, 1)), np.zeros((3, model.nv)), np.zeros((3, 100, model.nv)), dt=1e-3)
    np.testing.assert_allclose(q[:, -1], np.tile(sim.state.q, (3, 1)), atol=1e-10)      # lanes end their contact iterations together


def test_a_recording_begun_after_a_spawn_says_what_to_give(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    path = written(tmp_path, "robots:\n  a: {robot: pendulum, p: [0, 0, 0]}\n")
    scene = mbros.Scene.of(mbros.load(path))
    scene.add_robot("pendulum", "b", p=[2, 0, 0])
    model = scene.build()
    sim = mbros.Simulator(model)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.05)
    with pytest.raises(mbros.MbrosError, match="something was spawned or deleted before.*mbros replay --robot SCENE.*Scene.of"):
        mbros.replay(tmp_path / "run.mcap")
    assert mbros.replay(tmp_path / "run.mcap", model=model).identical


def test_lockstep_has_a_controller_for_each_robot():
    scene = mbros.Scene("two", collisions=False)
    for name in ("left", "right"):
        scene.add_robot("arm7", name, bench="arm7_servo")
    sim = mbros.Simulator(scene.build())
    calls = {"left": 0, "right": 0}

    def controller(name, where):
        def answer(signals):
            calls[name] += 1
            return {"position": {f"{name}/joint2": where}}
        return answer

    mbros.Lockstep(sim, {controller("left", 0.3): (1, 3), controller("right", -0.3): (1, 1)}).run(0.6)
    assert calls["right"] == 600 and calls["left"] == 200
    assert float(sim.model.joint("left/joint2").position(sim.state)[0]) > 0.2 > -0.2 > float(
        sim.model.joint("right/joint2").position(sim.state)[0])


# --- in Python

def test_a_robot_may_be_a_model_and_what_is_no_part_is_refused():
    scene = mbros.Scene("cell", ground=0.1)
    scene.add_robot(mbros.load("scara"), "a", p=(0, 0, 0.1))
    assert repr(scene) == "<Scene 'cell': 1 robot, 0 objects>" and [member.name for member in scene.members] == ["a"]
    with pytest.raises(mbros.ModelError, match="given with a robot that is described already"):
        scene.add_robot(mbros.load("scara"), "b", base="floating")
    with pytest.raises(mbros.ModelError, match="this name is already taken"):
        scene.add_object("floor", mbros.shapes.sphere(0.1), mass=1.0)
    with pytest.raises(mbros.ModelError, match="Give one of mbros.shapes with a surface all around"):
        scene.add_object("b", mbros.shapes.half_space(), fixed=True)
    with pytest.raises(mbros.ModelError, match="it is fixed and has a mass"):
        scene.add_object("b", mbros.shapes.sphere(0.1), mass=1.0, fixed=True)
    with pytest.raises(mbros.MbrosError, match="expected what mbros.load takes"):
        scene.add_robot(3, "b")
    with pytest.raises(mbros.ModelError, match="initial_positions is 3. Give {joint: position}"):
        scene.add_robot("arm7", "b", initial_positions=3)
    with pytest.raises(mbros.ModelError, match="friction is -1"):
        scene.add_object("b", mbros.shapes.sphere(0.1), mass=1.0, friction=-1.0)
    assert len(scene.members) == 1 and scene.build().tree.robots.names == ("a",)


def test_a_start_beyond_a_limit_is_said_by_name():
    scene = mbros.Scene("cell")
    with pytest.warns(mbros.PositionLimitWarning, match="robot 'a': initial_positions: joint 'joint2' starts at 9.5, beyond its"):
        scene.add_robot("arm7", "a", initial_positions={"joint2": 9.5})
    with pytest.warns(mbros.PositionLimitWarning, match="joint 'a/joint2'"):
        mbros.Simulator(scene.build()).step()


def test_a_model_that_is_no_scene_has_no_robots():
    assert len(mbros.load("arm7").tree.robots) == 0
    with pytest.raises(mbros.UnknownNameError):
        mbros.load("arm7").tree.robots["left"]


def test_robots_that_do_not_touch_are_not_coupled():
    """Not timed: no robot is coupled with another one in the mass matrix."""
    model = arms(4, ground=True).build()
    M = np.asarray(model.mass_matrix(model.default_state()))
    for view in model.tree.robots:
        outside = np.ones(model.nv, bool)
        outside[view.v_slice] = False
        assert not M[view.v_slice][:, outside].any() and M[view.v_slice, view.v_slice].any()


def test_a_ground_given_to_a_scene_that_has_one_is_refused_in_words(tmp_path):
    path = written(tmp_path, "ground: true\nobjects:\n  a: {shape: sphere, radius: 1, mass: 1, p: [0, 0]}\n")
    with pytest.raises(mbros.MbrosError, match="a ground was asked for, and 'scene' has one already"):
        mbros.load(path, ground=0.5)


@pytest.mark.parametrize("collisions", ["", "collisions: false\n"])
def test_a_height_left_to_a_ground_that_is_not_there_is_said(tmp_path, collisions):
    text = collisions + "objects:\n  a: {shape: sphere, radius: 1, mass: 1, p: [0, 0]}\n"
    model = mbros.load(written(tmp_path, text))
    said = [str(note) for note in model.description.notes if note.severity == "warning"]
    assert len(said) == 1 and "object 'a'" in said[0] and "there is none: it starts at z = 0" in said[0]
    if not collisions:                                      # one that load is given is one
        with_ground = mbros.load(written(tmp_path, text), ground=0.5)
        assert not [note for note in with_ground.description.notes if note.severity == "warning"]
        assert with_ground.default_state().q[2] == pytest.approx(1.5, abs=1e-9)


def test_a_path_is_not_the_robot_of_that_name(tmp_path, monkeypatch):
    """Also where the robot of that name was read before."""
    from mbros.build.robots import path

    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm7").write_text(path("pendulum").read_text(encoding="utf-8"), encoding="utf-8")
    scene = mbros.Scene("two")
    scene.add_robot("arm7", "a")
    scene.add_robot(Path("arm7"), "b", p=(8.0, 0.0, 0.0))
    names = [body.name for body in scene.describe().bodies]
    assert "a/link7" in names and "b/rod" in names and "b/link7" not in names
