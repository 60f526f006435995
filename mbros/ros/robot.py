"""A robot as the node needs it: the plant, and where everything that messages carry stands in it."""
from __future__ import annotations

import math
import os
import shlex
import warnings as warning_list
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mbros.model import parameters
from mbros.describe.members import OBJECT
from mbros.bench.disturbances import BODY, POINT
from mbros.model.joints.nearest import why_not_at
from mbros.names import printable
from mbros.spatial.vectors import Pose

from mbros.ros.wire.bench import NodeBench, bounds, make_bench, sensed, taken, turning
from .errors import ParameterError, RequestError
from mbros.ros.wire.messages import FOLLOWS, Base, RobotMap
from .parameters import Row, table_for
from mbros.ros.wire.parts import ROOT, Part, parts_of
from mbros.ros.wire.sensor_messages import sensor_frames

if TYPE_CHECKING:
    from mbros.ros.wire.device_parameters import DeviceParameters
    from mbros import Model
    from mbros.describe.robot import RobotDescription
    from mbros.model.body import Body
    from mbros.model.joints.joint import Joint
    from mbros.model.tables import CompiledJoint, CompiledRobot
    from mbros.ros.typing import Values
    from mbros.spatial.placement import Placement
    from mbros_core import Plant, State
    from mbros_core.plant._pushes import Pushes
    from mbros_core.typing import ArrayLike


@dataclass(eq=False)
class Robot:
    """A loaded robot, or the robots and objects of a scene. `own` are the joints with coordinates of their own (no welds, no followers), in
    joint order; `map` and what follows from it are of everything, `parts` of each robot."""

    model: Model
    plant: Plant
    map: RobotMap
    own: list[CompiledJoint]
    warnings: list[str]             # what was read otherwise than written, for the log
    remarks: list[str]              # what was not read; one line says it all
    pushes: Pushes                  # what acts on it from outside
    parts: list[Part]               # with topics of their own
    bench: NodeBench | None = None  # its devices; `plant` takes their commands then
    specialized: bool = False       # compiled to code of its own

    @property
    def is_scene(self) -> bool:
        return bool(self.model._description.members)

    @property
    def members(self) -> list[str] | None:
        """The robots and objects of a scene; None where it is none."""
        return [member.name for member in self.model._description.members] or None

    @property
    def watchdogs(self) -> np.ndarray | None:
        """Of several robots, which one each velocity is of, by its place in `parts`, -1: an object's, which nobody commands. None: one
        watchdog will do."""
        if len(self.parts) < 2:
            return None
        robots, of = [part.name for part in self.parts], np.full(self.model.nv, -1)
        for joint in self.model.joints:
            robot = joint.name.partition("/")[0]
            if robot in robots and joint.mimic is None:
                of[joint.v_slice] = robots.index(robot)
        return of

    @property
    def summary(self) -> str:
        """How many robots and objects there are."""
        n, m = len(self.parts), len(self.model._description.members) - len(self.parts)
        return f"{n} robot{'s' * (n != 1)}, {m} object{'s' * (m != 1)}"

    def part_with(self, name: str) -> Part | None:
        """The robot that an element or a device of this name is of; None where there are several, and it is of none."""
        return next((part for part in self.parts if not part.name or name.startswith(f"{part.name}/")), None)

    def rows(self) -> list[Row]:
        """The robot's own parameters: every number of mbros.model.parameters, where the joints start, and every number of its bench."""
        state, names = self.model.default_state(), self.model.parameter_names
        values = {name: self.model.parameter(state, name) for name in names}
        for j in self.own:
            start = state.q[j.q_start:j.q_start + j.nq]
            values[f"initial_positions.{j.name}"] = float(start[0]) if j.nq == 1 else start
        limits, units = {}, {}
        for name in names:
            if name.startswith(("force.", "constraint.")):
                least, units[name] = parameters.limits(self.model, name)
                limits[name] = (-math.inf if least is None else least, math.inf)
        return [*table_for(values, limits, units), *(self.numbers.rows() if self.bench is not None else ())]

    def tuned(self, values: Values, state: State | None = None) -> State:
        """A copy of `state`, by default of the model's, with those of the values that are parameters of the model: the cost is theirs."""
        state = self.model.default_state() if state is None else state.copy()
        parameters.put_all(self.model, state, {name: value for name, value in values.items() if parameters.is_one(name)})
        return state

    def loaded(self, state: State, payloads: dict[int, np.ndarray]) -> State:
        """A copy of `state` whose bodies carry these payloads, rows of mbros.bench.disturbances."""
        if not payloads:
            return state
        state = state.copy()
        for row in payloads.values():
            state.field("inertia")[int(row[BODY])] += row[POINT:]
        return state

    @property
    def numbers(self) -> DeviceParameters:
        """Parameters of its devices; it has a bench."""
        assert self.bench is not None
        return self.bench.parameters

    def device_values(self) -> Values:
        """Parameters of its devices, as they are in force or about to be; none without a bench."""
        return {} if self.bench is None else self.numbers.values()

    def initial_state(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) at the start and after a reset: the initial positions, at rest."""
        q = np.array(self.model._compiled.spec.q_default, float)
        for j in self.own:
            q[j.q_start:j.q_start + j.nq] = values[f"initial_positions.{j.name}"]
        return self._closed(q, values), np.zeros(len(self.model._compiled.spec.damping))

    def _closed(self, q: np.ndarray, values: Values) -> np.ndarray:
        """Of a robot with constraints, with its loops closed: joints that start elsewhere than by default stay where they were put."""
        if not len(self.model.constraints):
            return q
        state = self.tuned(values)
        put = [j.name for j in self.own if (state.q[j.q_start:j.q_start + j.nq] != q[j.q_start:j.q_start + j.nq]).any()]
        state.q[:] = q
        return np.array(self.model.assemble(state, keep=put).q)

    def own_joint(self, name: str) -> Joint:
        """The model's joint of that name, which must have coordinates of its own."""
        joint = self.model.joint(name)
        if joint.mimic is not None:
            raise RequestError(f"joint '{name}' follows '{joint.mimic[0]}', which is the one to be set")
        if joint.nv == 0:
            raise RequestError(f"joint '{name}' is fixed and has no coordinates")
        return joint

    def leads(self, name: str) -> str | None:
        """The joint that the joint of that name follows; None where it follows none, or there is none of that name."""
        joint = next((joint for joint in self.model.joints if joint.name == name), None)
        return joint.mimic[0] if joint is not None and joint.mimic is not None else None

    def limit_problem(self, name: str, value: ArrayLike, give: float = 0.0) -> str:
        """Why a joint's position, or `initial_positions.<joint>`, cannot be `value`, or "". give: so far beyond a limit is allowed."""
        return why_not_at(self.model.joint(name.removeprefix("initial_positions.")), value, name, give)


def load_robot(values: Values) -> Robot:
    """Load and compile the robot that the parameters name. Errors are the loader's own, made for users."""
    import mbros
    from mbros.build.load import notes_are_shown

    with notes_are_shown():             # in the log
        model = mbros.load(_source(values), base=None if values["base"] == "auto" else values["base"],
                           ground=values["ground_height"] if values["ground"] else None,
                           package_dirs=[folder for folder in values["package_dirs"].split(os.pathsep) if folder],
                           xacro_args=xacro_args(values["xacro_args"]))
    spoken: list[str] = []
    if values["specialize"]:
        model, spoken = _specialised(model, values["integrator"])
    return robot_of(model, values, spoken)


def _source(values: Values) -> str:
    """What the robot is read from: a name, a path, or a text."""
    return str(values["robot_description"] or values["scene"] or values["robot"])


def check_one_robot(given: Iterable[str], values: Values) -> None:
    """given: names of the parameters that were given. ParameterError where they say several times what is simulated."""
    said = [name for name in ("robot", "scene", "robot_description") if name in given and values[name]]
    if "robot_description" in said and len(said) > 1:
        raise ParameterError(f"parameters {' and '.join(said)}: each of them says what is simulated; give one of them")
    if values["robot_description"] and not values["robot_description"].lstrip().startswith("<"):
        raise ParameterError("parameter robot_description: expected URDF text, which begins with <, got "
                             f"'{printable(values['robot_description'], 60)}'; a name or a path is for the parameter robot")


def xacro_args(text: str) -> dict[str, str] | None:
    """{name: value} of the parameter; None where there are none."""
    found = {}
    try:
        for word in shlex.split(text):
            name, given, value = word.partition(":=")
            if not (name and given):
                raise ValueError
            found[name] = value
    except ValueError:
        raise ParameterError(f"parameter xacro_args: expected name:=value name:=value ..., got '{printable(text, 100)}'") from None
    return found or None


def robot_of(model: Model, values: Values, spoken: Iterable[str] = ()) -> Robot:
    """What the node simulates, of a model. spoken: what was said when it was made."""
    from mbros.simulate.simulator import make_plant
    from mbros_core.plant._pushes import Pushes

    description, compiled = model.description, model._compiled
    moving = [j for j in compiled.joints if j.kind != "weld"]
    welded = [j for j in compiled.joints if j.kind == "weld"]
    scene = make_plant(model, transform_pairs=_ends(model, welded))
    poses = _part(scene, scene.observe(), "transforms").reshape(-1, 7)      # welds stand still: seen once
    plant = make_plant(model, dt=1.0 / values["rate"], integrator=values["integrator"], transform_pairs=_ends(model, moving),
                       max_contact_iterations=values["max_contact_iterations"])
    where, bases = _map(description, compiled, plant, moving, list(zip(welded, poses.tolist())), values)
    bench = make_bench(values["bench"], model, plant, 1.0 / values["rate"])
    pushes = Pushes(plant)
    if bench is not None:
        plant = cast("Plant", bench.plant)          # what it does not have itself is the plant's
        where = _commanded(where, bench, model, values)
        where = replace(where, static=where.static + sensor_frames(bench, model, where, values["frame_prefix"]))
    warnings = [*spoken, *(str(note) for note in description.notes if note.severity != "note")]
    remarks = _in_one_line([str(note) for note in description.notes if note.severity == "note"], _source(values))
    parts = parts_of(description, where, bases)
    return Robot(model, plant, where, [j for j in moving if j.mimic is None], warnings, remarks, pushes, parts, bench,
                 values["specialize"])


def _specialised(model: Model, integrator: str) -> tuple[Model, list[str]]:
    """The same robot, compiled to code of its own; what was said of it where it could not be."""
    import mbros
    from mbros.build.specialize.robot import STANDARD

    with warning_list.catch_warnings(record=True) as caught:
        warning_list.simplefilter("always")
        model = mbros.specialize(model, dict.fromkeys((*STANDARD, integrator)))
    return model, [str(warning.message) for warning in caught]


def _commanded(where: RobotMap, bench: NodeBench, model: Model, values: Values) -> RobotMap:
    """The same robot with a bench: what its joints take, and the sensors that joint_states come from."""
    where = replace(where, command_size=4 * where.command_size, takes=taken(bench, model), bounds=bounds(model),
                    turns=turning(model))
    size = sum(n for _, n in bench.plant.layout.values())
    return replace(where, sensed=sensed(bench, model, where, size) if values["joint_states"] == "sensors" else None)


def _in_one_line(notes: list[str], robot: str) -> list[str]:
    """What the file has and nothing uses: worth a line, not one for each attribute."""
    if len(notes) < 2:
        return notes
    where = "" if "<" in robot else f" (all of them: mbros check {shlex.quote(robot)})"
    return [f"{len(notes)} notes on the robot's file{where}; the first: {notes[0]}"]


def _ends(model: Model, joints: list[CompiledJoint]) -> list[tuple[Body, Body]]:
    """The bodies that the joints connect, parent and child."""
    return [(model.bodies[j.parent_body], model.bodies[j.child_body]) for j in joints]


def _part(plant: Plant, x: np.ndarray, name: str) -> np.ndarray:
    start, size = plant.layout[name]
    return x[start:start + size]


def _map(description: RobotDescription, compiled: CompiledRobot, plant: Plant, moving: list[CompiledJoint],
         welded: list[tuple[CompiledJoint, list[float]]], values: Values) -> tuple[RobotMap, dict[str, Base]]:
    """Where everything stands, and the bases that can move, by the robot that they are of ("": the only one)."""
    scene = {member.name: member.kind for member in description.members}
    prefix, odom = values["frame_prefix"], ROOT if scene else values["odom_frame"]
    world_is_link = description.world.source.line is not None       # else the loader put the world there, no link of the URDF
    name = description.world.name

    root = next((j.child_body for j, _ in welded if j.parent_body == name), None)
    still = odom if scene or (root is None and not world_is_link) else prefix + (name if world_is_link else str(root))

    def link(body: str) -> str:
        return still if body == name else prefix + body

    transforms, objects, bases = [], [], {}
    for k, j in enumerate(moving):
        at, is_base = plant.layout["transforms"][0] + 7 * k, j.parent_body == name and j.kind in ("floating", "planar")
        if is_base and scene.get(j.robot) == OBJECT:
            objects.append((j.robot, at))
        elif is_base:
            bases[j.robot] = Base(j.kind, link(j.child_body), at, plant.layout["v"][0] + j.v_start,
                                  *(tuple(values[f"{word}_covariance_diagonal"]) for word in ("pose", "twist")))
        if values["publish_base_tf"] if is_base else values["publish_tf"]:
            transforms.append((link(j.parent_body), link(j.child_body), at))
    static = tuple((link(j.parent_body), link(j.child_body), tuple(pose)) for j, pose in welded
                   if (values["publish_base_tf"] if scene and j.parent_body == name else
                       values["publish_tf"] and (j.parent_body != name or world_is_link)))
    static += tuple((link(frame.body.name), prefix + frame.name, _seven(frame.X_BF)) for frame in description.frames)
    one = [j for j in compiled.joints if j.nv == 1]
    commandable = {j.name: FOLLOWS if j.mimic is not None else j.v_start if j in one else -1 for j in compiled.joints}
    for j in moving:                    # joints with several coordinates: one name for each, such as base.vx
        if j.nv > 1:
            commandable.update((plant.model.velocity_names[k], k) for k in range(j.v_start, j.v_start + j.nv))
    where = RobotMap(
        joints=tuple(j.name for j in one), position=plant.layout["joint_position"][0],
        velocity=plant.layout["joint_velocity"][0], effort=plant.layout["joint_effort"][0],
        command_size=plant.layout["effort"][1], commandable=commandable,
        transforms=tuple(transforms), static=static, base=None if scene else bases.get(""), objects=tuple(objects),
        odom_frame=still)
    return where, bases


def _seven(X: Placement) -> tuple[float, ...]:
    """x y z qx qy qz qw of a placement."""
    return *map(float, X.p), *map(float, Pose._made(X.R, X.p).quat_xyzw)
