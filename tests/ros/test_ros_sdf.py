"""A node of an SDF world: nested models, devices of plug-ins and sensors, an object, a ground."""
import time

import pytest
from ros_client import PATIENCE, own_clock
from sdf_texts import GROUND, collision, joint, link, model, sdf, world

import mbros

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

ABOUT_Y = "<axis><xyz>0 1 0</xyz></axis>"
IMU = "<sensor name='imu' type='imu'><update_rate>100</update_rate></sensor>"
HEAD = model("<pose>0 0 0.3 0 0 0</pose>", link("eye", IMU), name="head")
CART = model(link("body"), link("l"), link("r"), joint("left", "body", "l", inside=ABOUT_Y), joint("right", "body", "r", inside=ABOUT_Y),
             HEAD, joint("nod", "body", "head::eye", inside=ABOUT_Y), joint("hold", "world", "body", "fixed", ""),
             "<plugin filename='x' name='gz::sim::systems::DiffDrive'><left_joint>left</left_joint><right_joint>right</right_joint>"
             "<wheel_separation>0.4</wheel_separation><wheel_radius>0.1</wheel_radius></plugin>", name="my cart")
BOX = model("<pose>2 0 0.5 0 0 0</pose>", link("link", collision()), name="box")


def test_a_world_of_sdf_runs_on_topics(executor, tmp_path):
    import rclpy
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    from sensor_msgs.msg import Imu, JointState

    file = tmp_path / "hall.world"
    file.write_text(sdf(world(GROUND, CART, BOX)))
    sim = SimNode([Parameter("scene", value=str(file)), Parameter("start_paused", value=True)], cli_args=own_clock())
    client, heard = rclpy.create_node("sdf_client"), {}
    for topic, kind in (("/my_cart/joint_states", JointState), ("/my_cart/head/imu", Imu)):
        client.create_subscription(kind, topic, lambda message, topic=topic: heard.setdefault(topic, message), 10)
    executor.add_node(client)
    executor.add_node(sim.node)
    try:
        sim.start()
        end = time.monotonic() + PATIENCE
        while len(heard) < 2:
            assert time.monotonic() < end, (heard, client.get_topic_names_and_types())
            sim.loop.step_once(20)
            executor.spin_once(timeout_sec=0.02)
        assert list(heard["/my_cart/joint_states"].name) == ["left", "right", "nod"]
        assert sim.robot.members == ["my_cart", "box"] and isinstance(sim.robot.model, mbros.Model)
    finally:
        sim.end()
        executor.remove_node(client)
        executor.remove_node(sim.node)
        sim.close()
        client.destroy_node()
