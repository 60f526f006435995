"""The robots of a scene have watchdogs of their own: one whose controller is silent stops, the others run on."""
import mbros
import numpy as np
import pytest
from python_plane import in_use
from test_ros_scenes import World

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
SCENE = """
robots:
  left: {robot: arm7, p: [0, 0.5, 0], BENCH}
  right: {robot: arm7, p: [0, -0.5, 0]}
objects:
  parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [3, 0, 9]}
"""


@pytest.fixture(params=["native", "python", "native, with a bench"])
def world(request, executor, tmp_path):
    (tmp_path / "two.yaml").write_text(SCENE.replace(", BENCH", ", bench: arm7_servo" if "bench" in request.param else ""))
    world = World(tmp_path / "two.yaml", executor, plane=request.param.partition(",")[0])
    yield world
    world.close()


def commands(world):
    """act(robots...): publish an effort for each, and take a few steps."""
    from sensor_msgs.msg import JointState

    publishers = {robot: world.client.create_publisher(JointState, f"/{robot}/joint_commands", 1) for robot in ("left", "right")}

    def act(*robots):
        for robot in robots:
            publishers[robot].publish(JointState(name=["joint7"], effort=[0.1]))
        world.steps(5)

    return act


def held(world, robot):
    with world.sim.loop.aside():
        return world.sim.loop.commands_in_force()["held"][world.sim.robot.map.commandable[f"{robot}/joint7"]]


def test_a_robot_whose_controller_is_silent_stops_and_the_others_run_on(world):
    act, loop = commands(world), world.sim.loop
    world.until(lambda: held(world, "left") == held(world, "right") == 0.1, lambda: act("left", "right"))
    world.until(lambda: loop.silent == (True, False), lambda: act("right"))
    assert held(world, "left") == 0.0 and held(world, "right") == 0.1
    seen = world.sim._look()
    assert seen.silent == ("left",)
    from mbros.ros.wire import diagnostics
    report = diagnostics.reports(seen, seen, 1000.0, [])[1]
    assert report.level == diagnostics.WARN and report.values["watchdog acts on"] == "left" and report.values["watchdog"] == "active"
    assert report.message == "no valid command for left: the watchdog has taken over there"
    world.until(lambda: loop.silent == (False, False) and held(world, "left") == 0.1, lambda: act("left", "right"))
    world.until(lambda: loop.silent == (True, True), act)


def test_a_robot_that_was_never_commanded_is_left_alone_by_the_action_damp(world):
    from rclpy.parameter import Parameter

    act, given = commands(world), {"watchdog_action": "damp", "watchdog_damping": 50.0}
    assert world.sim.node.set_parameters_atomically([Parameter(name, value=value) for name, value in given.items()]).successful
    world.until(lambda: held(world, "right") == 0.1, lambda: act("right"))
    world.until(lambda: world.sim.loop.silent == (False, True), act)
    at, nv = world.sim.robot.plant.layout["effort"]
    effort = world.sim.loop.snapshot()[1][at:at + nv]
    names = [joint.v_slice for joint in world.sim.robot.model.joints if joint.name.startswith("right/")]
    braked = np.concatenate([effort[one] for one in names])
    rest = np.delete(effort, np.concatenate([np.arange(one.start, one.stop) for one in names]))
    assert braked.any() and not rest.any()


def test_what_each_has_heard_is_saved_and_carried_to_another_world(world):
    act, sim = commands(world), world.sim
    world.until(lambda: held(world, "left") == held(world, "right") == 0.1, lambda: act("left", "right"))
    world.until(lambda: sim.loop.silent == (True, False), lambda: act("right"))
    with sim.loop.aside():
        blob = sim.saves.blob()
    from std_srvs.srv import Trigger
    assert sim.services.reset(Trigger.Request()) and sim.loop.silent == (False, False)
    assert sim.saves.put_back(blob).startswith("restored") and sim.loop.silent == (True, False)
    from mbros.ros.serve.another_world import go_on_with
    scene = mbros.Scene.of(sim.robot.model)
    scene.add_robot("pendulum", "third", p=(0, 3, 0))
    with sim.turn, in_use(world.plane):
        go_on_with(sim, scene.build())
    world.steps(1)
    assert sim.loop.silent == (True, False, False)
    scene = mbros.Scene.of(sim.robot.model)
    scene.remove("left")
    scene.remove("third")
    with sim.turn, in_use(world.plane):
        go_on_with(sim, scene.build())
    world.steps(1)
    assert sim.loop.silent == ()
    with sim.loop.aside():
        said = sim.loop.commands_in_force()
    assert said["commanded"] and not said["tripped"]
    world.until(lambda: sim.loop.snapshot()[0].flags & 8, act)


def test_robots_that_have_nothing_to_command_have_no_watchdog(executor, tmp_path):
    """A stand, behind robots that have some: the world goes on with others, and back."""
    from mbros.ros.serve.another_world import go_on_with

    (tmp_path / "stand.urdf").write_text("<robot name='stand'><link name='plate'/></robot>")
    (tmp_path / "one.yaml").write_text("robots:\n  left: {robot: arm7}\n  stand: {robot: stand.urdf, p: [0, 3, 0]}\n")
    world = World(tmp_path / "one.yaml", executor)
    try:
        sim = world.sim
        assert [part.name for part in sim.robot.parts] == ["left", "stand"] and len(sim.loop.silent) == 1
        for change, silent in ((lambda scene: scene.add_object("ball", mbros.shapes.sphere(0.1), mass=1.0, p=(4, 4, 9)), 1),
                               (lambda scene: scene.remove("left"), 0)):
            scene = mbros.Scene.of(sim.robot.model)
            change(scene)
            with sim.turn:
                go_on_with(sim, scene.build())
            world.steps(1)
            assert sim.loop.silent == (False,) * silent
    finally:
        world.close()
