"""Start mbros on ROS 2: `ros2 launch mbros sim.launch.py robot:=panda rate:=1000 rviz:=true`.

One robot, or several side by side: `namespace:=left,right robot:=panda,ur5` starts two, with frames left/... and
right/...; a single `robot` is used for all. Arguments that are left empty are left to `params_file` or the defaults.

Everything is looked at before anything is started. A simulator that does not start, or fails, ends the launch with an error.
"""
import os
import shutil
import sys
import tempfile

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "config", "mbros.rviz")

# name, default, meaning
ARGUMENTS = [
    ("robot", "", "built-in name, path of a URDF or xacro file (node's default: arm7); with several namespaces a comma between"),
    ("rate", "", "steps per simulated second, Hz (node's default: 1000)"),
    ("package_dirs", "", "folders in which packages are looked for first (package://, $(find ...)), with : between"),
    ("xacro_args", "", "values of xacro:arg of a xacro file, name:=value, with blanks between, all in quotes"),
    ("base", "", "how the root link stands in the world: auto, fixed, floating, planar"),
    ("scene", "", "path of a scene file, instead of a robot: several robots in one node, each with its topics in its namespace"),
    ("ground", "", "true: a ground at height 0 (parameter ground_height), on which a floating base starts"),
    ("specialize", "", "true: compile the robot's dynamics to code of its own first"),
    ("bench", "", "path or name of a bench; servo: a position servo in every joint; none (default: what the robot carries)"),
    ("namespace", "", "namespace of the node; several with commas start several robots"),
    ("frame_prefix", "", "prefix of every link name in TF; with several namespaces it is '<namespace>/'"),
    ("params_file", "", "YAML file of parameters (share/mbros/launch/config/mbros.yaml has them all)"),
    ("real_time_factor", "", "simulated seconds per second"),
    ("start_paused", "", "true: wait for ~/pause or ~/step"),
    ("publish_tf", "", "false: leave TF of the links to another node (node's default: true)"),
    ("robot_state_publisher", "false", "true: start robot_state_publisher, which then owns TF of the links"),
    ("rviz", "false", "true: start RViz"),
    ("rviz_config", CONFIG, "configuration of RViz, taken as it is; the one installed is given the robots, their topics and prefixes"),
    ("record", "", "name of a bag to record joint states, commands, TF, odometry and diagnostics into"),
    ("recording", "", "file of the node's own recording of every step, run.mcap, or folder; of several robots <namespace>_run.mcap"),
    ("log_level", "info", "log level of the node"),
]
DEFAULT_ROBOT = "arm7"
NUMBERS = ("rate", "real_time_factor")
SWITCHES = ("ground", "specialize", "start_paused", "publish_tf", "robot_state_publisher", "rviz")
CHOICES = {"base": ("auto", "fixed", "floating", "planar"), "log_level": ("debug", "info", "warn", "error", "fatal")}
TRUE = ("true", "1", "yes", "on")
FALSE = ("false", "0", "no", "off")
TOPICS = ("joint_states", "joint_commands", "effort_commands", "position_commands", "velocity_commands", "joint_trajectory", "odom",
          "robot_description")
EVERYWHERE = ("/tf", "/tf_static", "/clock", "/diagnostics")


def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument(name, default_value=default, description=text)
                              for name, default, text in ARGUMENTS] + [OpaqueFunction(function=start)])


def start(context):
    """Every process, from what the arguments say."""
    given = {name: LaunchConfiguration(name).perform(context).strip() for name, _, _ in ARGUMENTS}
    refuse_unknown(context.argv)
    values = {name: value_of(name, text) for name, text in given.items()}
    robots = robots_of(given)
    check_time(values, [namespace for namespace, _, _ in robots])
    check_files(values)
    check_packages(values)
    actions = [action for namespace, robot, prefix in robots for action in one_robot(values, namespace, robot, prefix)]
    if given["record"]:
        actions.append(record(given["record"], [namespace for namespace, _, _ in robots]))
    return actions


# --- what can be wrong with the arguments


def refuse_unknown(argv):
    """Arguments that this file does not have: launch takes any. Where another file includes this one they are that file's."""
    mine = os.path.realpath(__file__)
    own = any(os.path.realpath(word) == mine or (word == os.path.basename(mine) and before == "mbros")
              for before, word in zip(sys.argv, sys.argv[1:]))
    names = [name for name, _, _ in ARGUMENTS]
    for name in (word.partition(":=")[0] for word in argv if own and ":=" in word):
        if name not in names and not name.startswith("launch-prefix"):      # those are launch's own
            raise ValueError(f"there is no argument '{name}'; there are {', '.join(names)}")


def value_of(name, text):
    """What an argument says: True or False, a number, a text; None where it is empty."""
    if not text:
        return None
    if name in SWITCHES:
        if text.lower() not in TRUE + FALSE:
            raise ValueError(f"{name} must be true or false, got '{text}'")
        return text.lower() in TRUE
    if name in NUMBERS:
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{name} must be a number, got '{text}'") from None
    if name in CHOICES and text.lower() not in CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(CHOICES[name])}, got '{text}'")
    return text


def robots_of(given):
    """(namespace, robot, frame prefix) of each robot."""
    namespaces = [part.strip().strip("/") for part in given["namespace"].split(",")]
    robots = [part.strip() for part in given["robot"].split(",")] if len(namespaces) > 1 else [given["robot"]]
    if len(robots) not in (1, len(namespaces)):
        raise ValueError(f"{len(robots)} robots were given for {len(namespaces)} namespaces; give one for each, or one for all")
    doubled = next((space for space in namespaces if namespaces.count(space) > 1), None)
    if doubled is not None:
        raise ValueError(f"namespace '/{doubled}' is given twice: two robots cannot have the same topics")
    if given["scene"] and (given["robot"] or given["base"] or len(namespaces) > 1):
        raise ValueError("scene was given with a robot, a base or several namespaces; the scene file says all of these itself")
    if given["scene"] and given["robot_state_publisher"].lower() in TRUE:
        raise ValueError("robot_state_publisher is for one robot; the node publishes TF of a scene itself")
    if given["frame_prefix"] and len(namespaces) > 1:
        raise ValueError("frame_prefix is for one robot; with several namespaces the prefixes are '<namespace>/'")
    prefixes = [f"{space}/" if space else "" for space in namespaces] if len(namespaces) > 1 else [given["frame_prefix"]]
    return list(zip(namespaces, robots * len(namespaces) if len(robots) == 1 else robots, prefixes))


def check_time(values, namespaces):
    """One time on a graph: each node whose time is simulated publishes /clock."""
    if len(namespaces) < 2:
        return
    for name, simulated in (("real_time_factor", values["real_time_factor"] not in (None, 1.0)), ("start_paused", values["start_paused"])):
        if simulated:
            raise ValueError(f"{name} makes simulated time, and each of /{', /'.join(namespaces)} would publish a /clock of its own; give "
                             "a scene instead of namespaces, with all robots in one time (docs/scenes.md)")


def check_files(values):
    """Files that are named are there: ROS would go on without them."""
    needed = {"params_file": values["params_file"], "scene": values["scene"],
              "bench": values["bench"] if os.path.sep in (values["bench"] or "") else None,
              "rviz_config": values["rviz_config"] if values["rviz"] else None}
    for name, path in needed.items():
        if path and not os.path.isfile(path):
            raise ValueError(f"{name}: there is no file '{path}'")
    if values["robot_state_publisher"] and values["params_file"] and not values["robot"]:
        raise ValueError("robot_state_publisher needs the robot's URDF: give robot:=... beside params_file:=...")


def check_packages(values):
    """What is to be started beside the simulator is installed; launch would find out after it has started the simulator."""
    for name, package in (("robot_state_publisher", "robot_state_publisher"), ("rviz", "rviz2")):
        if values[name]:
            need(package, f"{name}:=true")
    if values["record"]:
        if shutil.which("ros2") is None:
            raise RuntimeError("record needs the command ros2, which is not on the PATH. Nothing was started")
        need("ros2bag", f"record:={values['record']}", "rosbag2")


def need(package, who, debian=None):
    """An error where the package is not installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        name = f"ros-{os.environ.get('ROS_DISTRO') or '<distro>'}-{(debian or package).replace('_', '-')}"
        raise RuntimeError(f"{who} needs the package {package}, which is not installed (Debian and Ubuntu: apt install {name}). "
                           "Nothing was started") from None


# --- processes


def one_robot(values, namespace, robot, prefix):
    """The simulator of one robot, and what was asked for beside it."""
    r_s_p = values["robot_state_publisher"]
    parameters = {name: value for name, value in (("robot", robot), ("frame_prefix", prefix)) if value}
    parameters.update((name, values[name]) for name in (*NUMBERS, "base", "scene", "ground", "specialize", "bench", "start_paused",
                                                        "publish_tf", "package_dirs", "xacro_args") if values[name] is not None)
    if values["recording"]:
        folder, name = os.path.split(values["recording"])
        parameters["record"] = os.path.join(folder, "_".join(filter(None, [namespace.replace("/", "_"), name])))
    if r_s_p:
        parameters["publish_tf"] = False
    model = load(values, robot) if r_s_p or values["rviz"] else None
    nodes = [Node(package="mbros", executable="sim_node", name="mbros", namespace=namespace, output="screen",
                  emulate_tty=True, parameters=[source for source in (values["params_file"], parameters) if source],
                  arguments=["--end-with", str(os.getpid())], on_exit=ended,
                  ros_arguments=["--log-level", values["log_level"] or "info"])]
    if r_s_p:
        nodes.append(Node(package="robot_state_publisher", executable="robot_state_publisher", namespace=namespace,
                          parameters=[{"robot_description": urdf(model), "frame_prefix": prefix}]))
    if values["rviz"]:
        frame = "world" if values["scene"] else fixed_frame(model, prefix)
        nodes.append(Node(package="rviz2", executable="rviz2", name="rviz", namespace=namespace,
                          arguments=["-d", rviz_config(values["rviz_config"], model, prefix), "-f", frame]))
    return nodes


def ended(event, context):
    """The launch ends with the simulator: with an error, and so with exit code 1, unless it was asked to."""
    if event.returncode:
        raise RuntimeError(f"the simulator ended with exit code {event.returncode}; what it said stands above")
    return [Shutdown(reason="the simulator has ended")]


def urdf(model):
    """The URDF text of a robot, as the node publishes it."""
    from mbros.ros.wire.published import published

    description = model.description
    return published(description.text, description.file, description.package_dirs)


def fixed_frame(model, prefix):
    """RViz's fixed frame: the root link of a robot on a fixed base, odom of one that moves."""
    from mbros.ros.wire.published import fixed_frame

    return fixed_frame(model, prefix)


def rviz_config(path, model, prefix):
    """A configuration of the user's as it is; ours with the robots, their topics and the prefixes of their frames."""
    from mbros.ros.wire.rviz import configured, robots_shown

    if path != CONFIG:
        return path
    with open(path, encoding="utf-8") as f:
        text = configured(f.read(), robots_shown(model, prefix))
    with tempfile.NamedTemporaryFile("w", prefix="mbros_", suffix=".rviz", delete=False, encoding="utf-8") as f:
        f.write(text)
    return f.name


def load(values, robot):
    """The robot, or the scene, as the node loads it."""
    import mbros
    from mbros.ros.robot import xacro_args

    base, folders = values["base"], (values["package_dirs"] or "").split(os.pathsep)
    return mbros.load(values["scene"] or robot or DEFAULT_ROBOT, base=base if base not in (None, "auto") else None,
                      package_dirs=[folder for folder in folders if folder], xacro_args=xacro_args(values["xacro_args"] or ""))


def record(name, namespaces):
    """ros2 bag with the topics of every robot."""
    topics = ["/".join(["", *filter(None, [space]), topic]) for space in namespaces for topic in TOPICS]
    return ExecuteProcess(cmd=["ros2", "bag", "record", "-o", name, *EVERYWHERE, *topics], output="screen")
