"""Every parameter of the node, in one table: descriptors, checks, documentation and YAML are made from it.

Rows with `<joint>`, `<body>` or `<element>` stand for one parameter each. Those of the physics are mbros.model.parameters', under
the same names. Live parameters act within one step, all or nothing; the others are read once, when the node starts.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mbros_core import DEFAULT_INTEGRATOR, INTEGRATORS
from mbros_core.constraints.registry import MOST_CONTACT_NUMBER, MOST_ITERATIONS
from mbros_core.support.numbers import short

from mbros.model.parameters import KINDS

from .errors import ParameterError

if TYPE_CHECKING:
    from mbros.model.parameters import Kind
    from mbros.ros.typing import Node, Parameter, Value, Values
    from mbros_core.typing import Array

MOST_NUMBERS = 10_000       # of an array of any length
FREE = (-math.inf, math.inf)
# Hz; 0 is allowed beside them and means never. The lower one is no taste: the loop counts the steps between two publications in
# 32 bits, and 20,000 Hz times a real-time factor of 100 over it still fits.
PUBLICATION = (1e-3, 20000.0)
LARGEST = {"gravity": 1e3, "force": math.inf, "contact": MOST_CONTACT_NUMBER}      # of the physics' numbers; 1e9 for the others


@dataclass(frozen=True)
class Row:
    """One parameter. `choices` are the strings or `limits` the numbers it may have; `size` the length of an array."""

    name: str
    kind: str                           # "double", "integer", "bool", "string", "doubles"
    default: Value | None
    doc: str
    unit: str = ""
    limits: tuple[float, float] = FREE
    choices: tuple[str, ...] = ()
    size: int = 0                       # 0: any length
    printable: bool = False             # one line of printable text, as names are
    zero: bool = False                  # 0 is allowed too, below the limits; the text says what it means
    follows: str = ""                   # the parameter whose value this one has where none is given
    expected: str = ""                  # what it may be, in words, of what is refused by those whose number it is, and not here
    live: bool = False


def _physics(kind: Kind) -> Row:
    """The row of a kind of mbros.model.parameters; the robot has the values."""
    if kind.of == "lock":
        return Row(kind.pattern, "bool", None, kind.doc, live=True)
    largest = LARGEST.get(kind.name, 1e9)
    limits = (-largest if kind.least is None else kind.least, largest)
    return Row(kind.pattern, "doubles" if kind.of == "model" else "double", None, kind.doc, kind.unit, limits, live=True,
               size=3 if kind.of == "model" else 0)


OF_DEVICES = Row("device.<device>.<number>", "double", None, "a number of an actuator, sensor, channel or source of the bench "
                 "(docs/ros_bench.md)", "that of the number", live=True)
OF_FAULTS = Row("fault.<fault>.<number>", "double", None, "a number, time or threshold of a fault of the bench (docs/faults.md)",
                "that of the number", live=True)

TABLE = (
    Row("robot", "string", "arm7", "built-in name, path of a URDF, xacro or scene file, or URDF text"),
    Row("robot_description", "string", "", "URDF text, instead of a robot, as robot_state_publisher takes it"),
    Row("scene", "string", "", "path of a scene file, instead of a robot: several robots and objects in one world, each robot with its "
        "topics in a namespace of its own (docs/scenes.md); `robot` takes such a path too"),
    Row("package_dirs", "string", "", "folders in which packages are looked for first (package://, $(find ...)), with : between"),
    Row("xacro_args", "string", "", "values of xacro:arg of a xacro file, name:=value, with blanks between; quoted as in a shell "
        "where they have blanks themselves"),
    Row("base", "string", "auto", "how the root link stands in the world; auto: the robot's own way (fixed, for a file)",
        choices=("auto", "fixed", "floating", "planar")),
    Row("ground", "bool", False, "a ground, with the robot's collision shapes; a floating base starts on it"),
    Row("ground_height", "double", 0.0, "height of the ground", "m", (-1e6, 1e6)),
    Row("bench", "string", "", "what stands between commands and joints: path of a bench file (docs/bench.md), a name of `mbros list`, "
        "servo: a position servo in every joint, or none; empty: what the robot carries, else efforts act at once"),
    Row("joint_states", "string", "sensors", "where joint_states come from: encoders and torque sensors of the bench where a joint has "
        "them, or the truth", choices=("sensors", "truth")),
    Row("rate", "double", 1000.0, "steps of the simulation per simulated second", "Hz", (1.0, 20000.0)),
    Row("integrator", "string", DEFAULT_INTEGRATOR, "how a step is taken", choices=INTEGRATORS),
    Row("specialize", "bool", False, "compile the robot's dynamics to code of its own first (docs/specialize.md)"),
    Row("max_contact_iterations", "integer", MOST_ITERATIONS, "bound on the iterations of a step's contact problem, for a bound on its "
        "time; /diagnostics counts the steps that end there", "", (1, 1000)),
    Row("real_time_factor", "double", 1.0, "simulated seconds per second; other than 1 time is simulated (/clock); "
        "0: as fast as possible", "", (0.1, 100.0), zero=True, live=True),
    Row("simulated_time", "bool", False, "stamps count from one second on and /clock is published, from the start (also with start_paused, "
        "use_sim_time, lockstep, or a real_time_factor other than 1 at the start); else from the first pause or other factor on"),
    Row("start_paused", "bool", False, "wait for ~/pause (data: false) or ~/step before the first step"),
    Row("step_count", "integer", 1, "steps that one call of ~/step takes", "", (1, 100000), live=True),
    Row("joint_states_rate", "double", 1000.0, "publication rate of joint_states and of what actuators read; 0: never; at most `rate`, its "
        "default", "Hz", PUBLICATION, zero=True, follows="rate", live=True),
    Row("tf_rate", "double", 1000.0, "publication rate of /tf; 0: never; at most `rate`, its default", "Hz",
        PUBLICATION, zero=True, follows="rate", live=True),
    Row("odom_rate", "double", 1000.0, "publication rate of odom; 0: never; at most `rate`, its default", "Hz",
        PUBLICATION, zero=True, follows="rate", live=True),
    Row("clock_rate", "double", 1000.0, "publication rate of /clock while time is simulated, per simulated second as those above; every "
        "explicit step is published too; 0: never; at most `rate`, its default", "Hz", PUBLICATION, zero=True, follows="rate", live=True),
    Row("contacts_rate", "double", 30.0, "publication rate of ~/contacts and ~/contact_markers, of a robot with collision shapes, and of "
        "~/constraint_markers, of one with constraints, per second of wall time; 0: never", "Hz", (0.1, 1000.0), zero=True, live=True),
    Row("diagnostics_rate", "double", 1.0, "publication rate of /diagnostics, per second of wall time", "Hz", (0.1, 20.0)),
    Row("publish_tf", "bool", True, "publish /tf and /tf_static of every link; switch off where robot_state_publisher does"),
    Row("publish_base_tf", "bool", True, "publish odom_frame -> base on /tf for a moving base (robot_state_publisher never does)"),
    Row("frame_prefix", "string", "", "prefix of every link name in TF and odom, for example 'left/'", printable=True),
    Row("pose_covariance_diagonal", "doubles", (0.0,) * 6, "variances that odom says of its pose, of x, y, z and about x, y, z; the pose "
        "is true, whatever they are", "m^2, rad^2", (0.0, 1e300), size=6),
    Row("twist_covariance_diagonal", "doubles", (0.0,) * 6, "variances that odom says of its twist, of x, y, z and about x, y, z",
        "(m/s)^2, (rad/s)^2", (0.0, 1e300), size=6),
    Row("odom_frame", "string", "odom", "frame in which the pose of a moving base is published, and all that is given in the world; not "
        "prefixed. Of a fixed base it is the root link", printable=True),
    *map(_physics, KINDS),
    Row("initial_positions.<joint>", "double", None, "position at the start and after ~/reset; an array where a joint has several "
        "coordinates, such as [x, y, z, qw, qx, qy, qz]", "rad or m", (-1e6, 1e6), live=True),
    OF_DEVICES,
    OF_FAULTS,
    Row("watchdog_timeout", "double", 0.1, "without a new valid command for this long the watchdog acts; 0: never", "s",
        (0.002, 3600.0), zero=True, live=True),
    Row("watchdog_action", "string", "zero", "what it does: no effort, the last effort for good, or a braking effort",
        choices=("zero", "hold", "damp"), live=True),
    Row("watchdog_damping", "double", 1.0, "braking effort per velocity of the action `damp`", "N m s/rad or N s/m",
        (0.0, 1e9), live=True),
    Row("max_command", "double", 1e6, "a command larger than this is taken for a mistake and its message dropped "
        "(smaller efforts are clamped to the joint's own limit); so is a wrench or an effort of a disturbance", "SI", (0.0, 1e300)),
    Row("command_max_age", "double", 0.5, "a command whose stamp is older (or as far in the future) is dropped. That of a state "
        "is as old as simulated time says, or the wall clock, whichever is less; 0: stamps are not checked", "s", (0.0, 3600.0)),
    Row("lockstep", "string", "", "consumers whose answers a step waits for, `topic n/m`, such as \"joint_commands 1/3\": who commands on "
        "that topic answers in n of m steps (docs/lockstep.md); empty: nobody is waited for"),
    Row("lockstep_timeout", "double", 1.0, "without the answer of a consumer for so long the node says who is late, and does what "
        "lockstep_policy says; wall time; 0: never", "s", (0.001, 3600.0), zero=True, live=True),
    Row("lockstep_policy", "string", "wait", "what then: wait on, hold the command in force and go on, or stop (a pause)",
        choices=("wait", "hold", "stop"), live=True),
    Row("shared_memory", "string", "", "name under which controllers on this machine reach states and commands without middleware "
        "(docs/shared_memory.md); `name n/m`: a step waits for their answer in n of m steps; empty: nobody does"),
    Row("overrun_policy", "string", "skip", "after a late step: stay on the grid and leave slots out, stop with a fault, "
        "or let time stretch", choices=("skip", "stop", "stretch")),
    Row("folder", "string", "", "where ~/save_state, ~/restore_state and recordings have their files, and nowhere else; empty: the folder "
        "mbros in $ROS_HOME, or in ~/.ros"),
    Row("record", "string", "", "record every step from the start into this file, run.mcap, or folder; empty: nothing; ~/record starts and "
        "ends recordings at any time"),
    Row("record_buffer", "double", 2.0, "steps that wait for a slow disk, in seconds of simulated time; 0: no memory for them, and no "
        "recordings", "s", (0.1, 60.0), zero=True),
    Row("priority", "integer", 80, "priority of the loop (SCHED_FIFO, with the process locked in memory) where permitted; "
        "0: an ordinary thread", "", (0, 99)),
    Row("simulation_interfaces", "bool", True, "offer the services of the ROS standard simulation_interfaces, where its messages are "
        "there (docs/simulation_interfaces.md)"),
    Row("count_allocations", "bool", False, "count the loop's allocations of memory in /diagnostics, by hardware breakpoints: to look for "
        "what makes steps late, not for a node that a machine depends on"),
    Row("cpu", "integer", -1, "processor the loop is pinned to; -1: any", "", (-1, 1023)),
)

_ROS_TYPE = {"double": "PARAMETER_DOUBLE", "integer": "PARAMETER_INTEGER", "bool": "PARAMETER_BOOL",
             "string": "PARAMETER_STRING", "doubles": "PARAMETER_DOUBLE_ARRAY"}
_TYPES = {"double": (int, float), "integer": (int,), "bool": (bool,), "string": (str,)}


def table_for(defaults: Mapping[str, float | Array], limits: Mapping[str, tuple[float, float]] = {},
              units: Mapping[str, str] = {}) -> list[Row]:
    """The rows that need a robot. `defaults` gives its own values by name; `limits` and `units` those of single names.

    An array as value makes an array parameter of that size.
    """
    patterns = {row.name.partition(".")[0]: row for row in TABLE if row.default is None}
    rows = []
    for name, given in defaults.items():
        row = patterns[name.partition(".")[0]]
        row = replace(row, name=name, limits=limits.get(name, row.limits), unit=units.get(name, row.unit))
        if isinstance(given, bool):
            value: Value = given
        elif isinstance(given, (int, float)):
            value = float(given)
        else:
            value = tuple(float(x) for x in given)
            row = replace(row, kind="doubles", size=len(value))
        rows.append(replace(row, default=value))
    return rows


def check(row: Row, value: Any) -> tuple[Any, str]:
    """(value as the node uses it, "") or (None, reason). Whole numbers will do where a double is meant."""
    if row.kind == "doubles":
        return _check_array(row, value)
    right = isinstance(value, _TYPES[row.kind]) and (row.kind == "bool" or not isinstance(value, bool))
    if not right:
        return None, f"{row.name} must be {_A[row.kind]}, got {_shown(value)}"
    value = float(value) if row.kind == "double" else value
    if row.kind in ("double", "integer") and not row.expected:
        allowed = row.limits[0] <= value <= row.limits[1] or (row.zero and value == 0)
        if not math.isfinite(value) or not allowed:
            return None, f"{row.name} must be {_range(row)}, got {value:g}"
    if row.choices and value not in row.choices:
        return None, f"{row.name} must be one of {', '.join(row.choices)}, got {_shown(value)}"
    if row.printable and not str(value).isprintable():
        return None, f"{row.name} must be one line of printable text, got {_shown(value)}"
    return value, ""


def _shown(value: object) -> str:
    """For a refusal, in one short line."""
    size = len(value) if isinstance(value, Sized) else 0
    return short(value) if size <= 1000 else f"{'a text' if isinstance(value, str) else 'an array'} of {size}"


def _check_array(row: Row, value: Any) -> tuple[tuple[float, ...] | None, str]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        return None, f"{row.name} must be an array of numbers, got {_shown(value)}"
    if row.size and len(value) != row.size:
        return None, f"{row.name} must have {row.size} numbers, got {len(value)}"
    if len(value) > MOST_NUMBERS:
        return None, f"{row.name} has {len(value)} numbers; expected at most {MOST_NUMBERS}"
    values = []
    for k, x in enumerate(value):
        x, reason = check(replace(row, name=f"{row.name}[{k}]", kind="double"), x)
        if reason:
            return None, reason
        values.append(x)
    return tuple(values), ""


_A = {"double": "a number", "integer": "a whole number", "bool": "true or false", "string": "a text"}


def _range(row: Row) -> str:
    """The limits of a number, as a text: '0 ... 10 s'."""
    if row.limits == FREE:
        return "a finite number"
    span = f"{row.limits[0]:g} or more" if row.limits[1] == math.inf else f"{row.limits[0]:g} ... {row.limits[1]:g}"
    return ("0 or " if row.zero else "") + span + (f" {row.unit}" if row.unit else "")


# --- ROS


def descriptor(row: Row) -> object:
    """rcl_interfaces/ParameterDescriptor of a row."""
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, ParameterType

    d = ParameterDescriptor(name=row.name, read_only=not row.live, description=describe(row))
    d.type = getattr(ParameterType, _ROS_TYPE[row.kind])
    if row.choices or row.expected:
        d.additional_constraints = row.expected or "one of: " + ", ".join(row.choices)
    if row.kind in ("double", "doubles", "bool"):
        d.dynamic_typing = True             # 1000 will do for 1000.0; `check` looks at the rest, in plain words
    if row.kind == "double" and row.limits != FREE:
        low = 0.0 if row.zero else row.limits[0]
        d.floating_point_range = [FloatingPointRange(from_value=low, to_value=row.limits[1], step=0.0)]
    if row.kind == "integer" and row.limits != FREE:
        d.integer_range = [IntegerRange(from_value=int(row.limits[0]), to_value=int(row.limits[1]), step=1)]
    return d


def describe(row: Row) -> str:
    return row.doc + (f" [{row.unit}]" if row.unit else "")


def declare(node: Node, rows: Iterable[Row]) -> Values:
    """Declare rows on an rclpy node; returns checked values by name. ParameterError for a start value that cannot be."""
    values: Values = {}
    overrides, declared = getattr(node, "_parameter_overrides", {}), []
    for row in rows:
        # what was given is looked at here and not by rclpy, so that it is `check` that refuses, in plain words
        given = overrides[row.name].value if row.name in overrides else values.get(row.follows, row.default)
        value, reason = check(row, given)
        if reason:
            raise ParameterError(f"parameter {reason}")
        declared.append((row.name, list(value) if isinstance(value, tuple) else value, descriptor(row)))
        values[row.name] = value
    node.declare_parameters("", declared, ignore_override=True)
    return values


def parameter(name: str, value: Any) -> Parameter:
    """For rclpy."""
    from rclpy.parameter import Parameter as Made

    return Made(name, value=value)


def as_declared(row: Row, parameter: Parameter) -> Parameter:
    """The parameter with whole numbers as doubles where the row has doubles: `ros2 param set ... 1` makes no integer of it."""
    from rclpy.parameter import Parameter

    value = parameter.value
    if row.kind == "double" and type(value) is int:
        return Parameter(parameter.name, Parameter.Type.DOUBLE, float(value))
    if row.kind == "doubles" and parameter.type_ == Parameter.Type.INTEGER_ARRAY:
        return Parameter(parameter.name, Parameter.Type.DOUBLE_ARRAY, [float(x) for x in value])
    return parameter


# --- documentation


def markdown() -> str:
    """The table for the docs."""
    lines = ["| parameter | default | unit | range | live | meaning |", "|---|---|---|---|---|---|"]
    for row in TABLE:
        span = ", ".join(row.choices) or ("" if row.limits == FREE else _range(replace(row, unit="")))
        default = "the robot's own" if row.default is None else f"`{row.follows}`" if row.follows else f"`{_yaml_value(row.default)}`"
        cells = (f"`{row.name}`", default, row.unit, span, "yes" if row.live else "", row.doc)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def yaml() -> str:
    """A parameter file with every default, commented; what the robot itself says is shown as an example."""
    lines = ["# Every parameter of the mbros node with its default. Pass with: ros2 launch mbros sim.launch.py params_file:=<this>",
             "/**:", "  ros__parameters:"]
    for row in TABLE:
        lines.append(f"    # {describe(row)}" + (f"; one of: {', '.join(row.choices)}" if row.choices else "")
                     + (" (live)" if row.live else ""))
        if row.default is not None:
            lines.append(f"    {'# ' if row.follows else ''}{row.name}: {_yaml_value(row.default)}")
        else:
            lines.append(f"    # {row.name}: { {'doubles': '[0.0, 0.0, -9.81]', 'bool': 'false'}.get(row.kind, '0.0')}")
    return "\n".join(lines) + "\n"


def _yaml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(str, value)) + "]"
    return f"{value:.1f}" if isinstance(value, float) and value == int(value) and abs(value) < 1e16 else repr(value)
