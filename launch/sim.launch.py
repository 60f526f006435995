"""Start mbros on ROS 2: `ros2 launch mbros sim.launch.py robot:=panda rate:=1000 rviz:=true`.

One robot, or several side by side: `namespace:=left,right robot:=panda,ur5` starts two, with frames left/... and
right/...; a single `robot` is used for all. Arguments that are left empty are left to `params_file` or the defaults.
"""
import os

from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

HERE = os.path.dirname(os.path.abspath(__file__))

# name, default, meaning
ARGUMENTS = [
    ("robot", "", "built-in name, path of a URDF or xacro file (node's default: arm7); with several namespaces a comma between"),
    ("rate", "", "steps per simulated second, Hz (node's default: 1000)"),
    ("base", "", "how the root link stands in the world: auto, fixed, floating, planar"),
    ("namespace", "", "namespace of the node; several with commas start several robots"),
    ("frame_prefix", "", "put before every link name in TF; with several namespaces the default is '<namespace>/'"),
    ("params_file", "", "YAML file of parameters (share/mbros/launch/config/mbros.yaml has them all)"),
    ("real_time_factor", "", "simulated seconds per second"),
    ("start_paused", "", "true: wait for ~/pause or ~/step"),
    ("publish_tf", "", "false: leave TF of the links to somebody else (node's default: true)"),
    ("robot_state_publisher", "false", "true: start robot_state_publisher, which then owns TF of the links"),
    ("rviz", "false", "true: start RViz"),
    ("rviz_config", os.path.join(HERE, "config", "mbros.rviz"), "configuration of RViz"),
    ("record", "", "name of a bag to record joint states, commands, TF, odometry and diagnostics into"),
    ("log_level", "info", "log level of the node"),
]
DEFAULT_ROBOT = "arm7"
NUMBERS = ("rate", "real_time_factor")
TRUE = ("true", "1", "yes", "on")
TOPICS = ("joint_states", "joint_commands", "effort_commands", "odom", "robot_description")


def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument(name, default_value=default, description=text)
                              for name, default, text in ARGUMENTS] + [OpaqueFunction(function=start)])


def start(context):
    """Every process, from what the arguments say."""
    given = {name: LaunchConfiguration(name).perform(context).strip() for name, _, _ in ARGUMENTS}
    namespaces = [part.strip() for part in given["namespace"].split(",")]
    robots = [part.strip() for part in given["robot"].split(",")] if len(namespaces) > 1 else [given["robot"]]
    if len(robots) not in (1, len(namespaces)):
        raise ValueError(f"{len(robots)} robots were given for {len(namespaces)} namespaces; give one for each, or one for all")
    robots = robots * len(namespaces) if len(robots) == 1 else robots
    actions = []
    for namespace, robot in zip(namespaces, robots):
        prefix = given["frame_prefix"] or (namespace.strip("/") + "/" if len(namespaces) > 1 else "")
        actions += one_robot(given, namespace, robot, prefix)
    if given["record"]:
        actions.append(record(given["record"], namespaces))
    return actions


def one_robot(given, namespace, robot, prefix):
    """The simulator of one robot, and what was asked for beside it."""
    r_s_p = given["robot_state_publisher"].lower() in TRUE
    if r_s_p and given["params_file"] and not robot:
        raise ValueError("robot_state_publisher needs the robot's URDF: give robot:=... beside params_file:=...")
    parameters = {name: value for name, value in (("robot", robot), ("frame_prefix", prefix)) if value}
    if r_s_p or given["publish_tf"]:
        parameters["publish_tf"] = given["publish_tf"].lower() in TRUE and not r_s_p
    parameters.update((name, float(given[name])) for name in NUMBERS if given[name])
    if given["base"]:
        parameters["base"] = given["base"]
    if given["start_paused"]:
        parameters["start_paused"] = given["start_paused"].lower() in TRUE
    sources = [source for source in (given["params_file"], parameters) if source]
    nodes = [Node(package="mbros", executable="sim_node", name="mbros", namespace=namespace, output="screen",
                  emulate_tty=True, parameters=sources, on_exit=Shutdown(reason="the simulator has ended"),
                  ros_arguments=["--log-level", given["log_level"]])]
    if r_s_p:
        nodes.append(Node(package="robot_state_publisher", executable="robot_state_publisher", namespace=namespace,
                          parameters=[{"robot_description": urdf(robot, given["base"]), "frame_prefix": prefix}]))
    if given["rviz"].lower() in TRUE:
        nodes.append(Node(package="rviz2", executable="rviz2", name="rviz", namespace=namespace,
                          arguments=["-d", given["rviz_config"]]))
    return nodes


def urdf(robot, base):
    """The URDF text of a robot, as mbros itself reads it."""
    import mbros

    return mbros.load(robot or DEFAULT_ROBOT, base=base if base not in ("", "auto") else None).description.text


def record(name, namespaces):
    """ros2 bag with the topics of every robot."""
    topics = ["/tf", "/tf_static", "/clock", "/diagnostics"]
    topics += ["/".join(["", *filter(None, [space.strip("/")]), topic]) for space in namespaces for topic in TOPICS]
    return ExecuteProcess(cmd=["ros2", "bag", "record", "-o", name, *topics], output="screen")
