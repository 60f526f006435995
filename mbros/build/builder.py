"""ModelBuilder: describe a robot in Python.

    b = mbros.ModelBuilder("rig")
    plate = b.add_body("plate", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.1, 0.2]))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, plate, axis=(0, 1, 0), damping=0.1))
    model = b.build()

Wrong shapes and numbers are refused where they are given; everything that needs the whole robot is checked by
`build()`, which reports all it finds at once. A body that no joint carries is free: it gets a FloatingJoint of its name.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import LENIENCE, check_name, choice, flag, floats, numbers, refuse
from mbros.build.bench_of_builder import BenchOfBuilder
from mbros.build.edit import description_of, graft, is_robot, subtree_of
from mbros.describe.constraints.constraint import add as add_to_constraints
from mbros.describe.contacts import FLOOR, Ground, add_collision, add_ground, exclude, set_collisions
from mbros.describe.copies import copy_description
from mbros.describe.forces.element import add
from mbros.describe.joints.classes import (CLASSES, AnchorJoint, BallJoint, BallRpyJoint, BoundedRotation, ContinuousJoint,
                                           CylindricalJoint, FixedJoint, FloatingJoint, FloatingRpyJoint, PlanarJoint, PrismaticJoint,
                                           RevoluteJoint, ScrewJoint, TranslationJoint, UniversalJoint, WeldJoint, Place, attachment)
from mbros.describe.joints.kinds import UserKind
from mbros.describe.robot import GRAVITY, BodyDescription, Collision, FrameDescription, JointDescription, RobotDescription
from mbros.errors import unknown
from mbros.spatial.given import placement, unit_axis
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.contacts import GroundLike
    from mbros.describe.robot import Geometry
    from mbros.names import JointLike, PoseLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import ArrayLike


class ModelBuilder(BenchOfBuilder):
    """Collects bodies, joints and frames; `build()` checks them and gives the immutable model.

    name: of the new model; or a Model, ModelBuilder or RobotDescription, to begin with a copy of what that was made of.
    gravity: (3,) m/s^2 in world axes, (0, 0, -9.81) by default. `world` is the body that does not move.
    ground, collisions: as of mbros.load; add_ground() and add_collision() say the same later.
    """

    _instead = {name: f"b.description.{name} = ..., or ModelBuilder(name, gravity)" for name in ("name", "gravity")}

    def __init__(self, name: Any = "model", gravity: ArrayLike | None = None, *, ground: GroundLike = None,
                 collisions: bool | None = None) -> None:
        if is_robot(name):
            self._take(description_of(name), gravity)
        else:
            check_name("model", name)
            self._take(RobotDescription(name), gravity)
        set_collisions(self.description, f"model {self.description.name!r}", ground, collisions)

    def _take(self, description: RobotDescription, gravity: ArrayLike | None = None) -> None:
        """The description to work on; its joints are this builder's."""
        if gravity is not None:
            description.gravity = numbers(f"model {description.name!r}", "gravity", gravity, 3)
        self.description = description
        for joint in description.joints:
            joint.owner = self

    @classmethod
    def subtree(cls, joint: Any) -> "ModelBuilder":
        """A builder with a copy of a model's joint, everything below it, and nothing else; the joint stands on the world as it stood on
        its parent.

        Followers whose leader is not among them become independent, with the default positions they have; force elements that
        touch anything outside are left out. The notes of the builder's description name them.
        """
        builder = cls.__new__(cls)
        builder._take(subtree_of(joint))
        return builder

    @classmethod
    def reduced(cls, model: Model, locked: Iterable[JointLike], state: State | None = None) -> "ModelBuilder":
        """A builder with a copy of a model whose joints `locked` are welded where they stand in `state`, by default where they are by
        default, with what follows them, and whose numbers are the state's parameters; frames keep their names (Pinocchio's
        buildReducedModel). Force elements of locked coordinates and the bench are left out, as its notes say. MbrosError for a follower
        without its leader, and one of two coupled joints."""
        from mbros.build.reduced import reduced_description      # start-up time: who does not use it does not pay
        builder = cls.__new__(cls)
        builder._take(reduced_description(model, locked, state))
        return builder

    @property
    def world(self) -> BodyDescription:
        """The body that does not move, root of every tree."""
        return self.description.world

    def add_body(self, name: str, mass: float = 0.0, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None) -> BodyDescription:
        """A rigid body. mass in kg; com (3,) from the body origin, m; inertia (3, 3) about the com in body axes, kg m^2
        (a triple is taken as the diagonal). A body without mass is a frame that needs others around it."""
        check_name("body", name)
        element = f"body {name!r}"
        if inertia is None:
            inertia = np.zeros((3, 3))
        elif (diagonal := floats(inertia)) is not None and diagonal.shape == (3,):
            inertia = np.diag(numbers(element, "inertia", diagonal, 3))
        body = BodyDescription(name, float(numbers(element, "mass", mass, 1)[0]), numbers(element, "com", com, 3),
                    numbers(element, "inertia", inertia, (3, 3)))
        self.description.bodies.append(body)
        return body

    def add_frame(self, name: str, parent: Place, p: ArrayLike | None = None, rpy: ArrayLike | None = None, *,
                  R: ArrayLike | None = None, pose: PoseLike | None = None, tags: Mapping[str, Any] | None = None,
                  **quat: Any) -> FrameDescription:
        """A frame fixed on `parent` (a body or frame, or its name) at the given pose: p (3,), m, one of rpy, R, quat_wxyz, quat_xyzw.
        tags: a dict to find it by, such as {"gripper": True, "approach": (0, 0, 1)}; mbros keeps it and does not read it."""
        check_name("frame", name)
        element = f"frame {name!r}"
        if tags is not None and not isinstance(tags, Mapping):
            refuse(element, f"tags is {short(tags)}", "Give a dict, such as {'gripper': True}.")
        body, X_BP = attachment(element, "parent", parent, self.description)
        frame = FrameDescription(name, body, X_BP @ placement(element, p, rpy, R, pose, **quat), tags=dict(tags or {}))
        self.description.frames.append(frame)
        return frame

    def add_joint(self, joint: JointDescription, world_pose: PoseLike | None = None) -> JointDescription:
        """Adds a joint made by one of the joint classes of this module.

        world_pose: where its frame F stands in the world when every joint is at its neutral position, instead of where it
        stands on its parent (a (4, 4) matrix, or anything with .R and .p such as mbros.Pose.make(p, quat_xyzw=...)).
        """
        self._check_new(joint, "add_joint")
        if joint.parent is None:
            refuse(joint._label, "it has no parent", "Give it one, or attach it to another joint: other.add_child(joint).")
        if world_pose is not None:
            joint.X_PF = self.neutral_pose(joint.parent).inverse() @ placement(joint._label, pose=world_pose)
        joint.owner = self
        self.description.joints.append(joint)
        return joint

    def add_child(self, parent: JointDescription, joint: JointDescription, keep_placement: bool = False) -> JointDescription:
        """Attaches `joint` to the child body of the joint `parent`; see JointDescription.add_child."""
        for what, given in (("parent", parent), ("joint", joint)):
            if not isinstance(given, JointDescription):
                refuse("model " + repr(self.description.name), f"add_child() was given {short(given)} as its {what}",
                       "Give a joint such as mbros.RevoluteJoint(name, None, child, axis=...).")
        if parent.owner is not self:
            refuse(parent._label, "it belongs to another model", "Attach joints to joints of this builder.")
        self._check_new(joint, "add_child")
        if keep_placement:
            X_PF = parent.X_BM @ joint.X_PF
        else:
            X_WF = joint.X_PF if joint.parent is None else self.neutral_pose(joint.parent) @ joint.X_PF
            X_PF = self.neutral_pose(parent.child).inverse() @ X_WF
        joint.parent, joint.X_PF = parent.child, X_PF
        return self.add_joint(joint)

    def _check_new(self, joint: Any, caller: str) -> None:
        """Refuses what is no joint, and joints that are in a model already."""
        if not isinstance(joint, JointDescription):
            refuse("model " + repr(self.description.name), f"{caller}() was given {short(joint)}",
                   "Give a joint such as mbros.RevoluteJoint(name, parent, child, axis=...).")
        if joint.owner is not None:
            refuse(joint._label, f"it is in model {joint.owner.description.name!r} already", "Make another joint.")
        if isinstance(joint.parent, str):
            joint.parent, X = attachment(joint._label, "parent", joint.parent, self.description)
            joint.X_PF = X @ joint.X_PF
        if isinstance(joint.child, str):
            joint.child, joint.X_BM = attachment(joint._label, "child", joint.child, self.description)

    def neutral_pose(self, body: BodyDescription) -> Placement:
        """X_WB of a body with every joint at its neutral position; followers are where their leaders put them."""
        if not any(body is mine for mine in (self.world, *self.description.bodies)):
            refuse(f"body {body.name!r}" if isinstance(body, BodyDescription) else short(body), "it belongs to another model",
                   "Use the bodies of this builder.")
        carrier = {id(joint.child): joint for joint in self.description.joints}
        X, seen = Placement(), set()
        while id(body) in carrier and id(body) not in seen:
            seen.add(id(body))
            joint = carrier[id(body)]
            X, body = joint.X_PF @ self._neutral_motion(joint) @ joint.X_BM.inverse() @ X, joint.parent
        return X

    def _neutral_motion(self, joint: JointDescription) -> Placement:
        """X_FM at the joint's neutral position. Followers and users' joints need not be at X_FM = 1."""
        if joint.mimic is None and not isinstance(joint.kind, UserKind):
            return Placement()
        q, ratio, at, passed = joint._kinematics.neutral, 1.0, joint, []
        if joint.mimic is not None:
            q = np.zeros(1)                     # the root of a chain of followers is a joint with one axis, neutral at 0
        while at.mimic is not None:
            if at in passed:
                refuse(joint._label, "mimic joints follow each other in a circle", "One of them must be an ordinary joint.")
            passed.append(at)
            q, ratio, at = q + ratio * at.mimic.offset, ratio * at.mimic.ratio, self.joint(at.mimic.leader)
        return Placement(*joint._kinematics.pose(q))

    def add_robot(self, source: Any, name: str, parent: Place | None = None, p: ArrayLike | None = None,
                  rpy: ArrayLike | None = None, **quat: Any) -> dict[str, BodyDescription]:
        """Adds a whole robot (a Model, ModelBuilder or RobotDescription) under its own name: its elements become "<name>/<element>", their
        `robot` is `name`, and its world is fixed on `parent` (the world by default) at that pose (rpy, quat_wxyz or quat_xyzw).
        Returns {old name: body}."""
        return graft(self, source, name, parent, placement(f"robot {short(name)}", p, rpy, **quat))

    def add_force_element(self, element: Any) -> Any:
        """Adds a force element such as mbros.LinearBushingRollPitchYaw(frame_A, frame_C, ...). Returns it."""
        return add(self.description, element)

    def add_constraint(self, constraint: Any) -> Any:
        """Adds a constraint between bodies or joints, such as mbros.BallConstraint(name, frame_a, frame_b), which closes a loop of the
        tree. Returns it."""
        return add_to_constraints(self.description, constraint)

    # A shape's numbers: mbros_core.constraints.registry and docs/shapes.md; None: the default.

    def add_collision(self, body: Place, geometry: Geometry, X_BG: PoseLike | None = None, *,
                      name: str | None = None, friction: float | None = None, stiffness: float | None = None,
                      relaxation_time: float | None = None, static_friction: float | None = None, torsional_radius: float | None = None,
                      rolling_radius: float | None = None, group: str | None = None) -> Collision:
        """A collision shape (mbros.shapes) for a body, at X_BG in its axes: (3,) a position, (4, 4), or with R and p. The model then has
        the shapes of its <collision> elements too. group: shapes of one group do not touch each other. Returns the shape."""
        return add_collision(self.description, body, geometry, X_BG, name=name, friction=friction, stiffness=stiffness,
                             relaxation_time=relaxation_time, static_friction=static_friction, torsional_radius=torsional_radius,
                             rolling_radius=rolling_radius, group=group)

    def add_ground(self, height: float = 0.0, *, name: str = FLOOR, friction: float | None = None, stiffness: float | None = None,
                   relaxation_time: float | None = None, static_friction: float | None = None, torsional_radius: float | None = None,
                   rolling_radius: float | None = None, heights: ArrayLike | None = None, size: ArrayLike | None = None) -> Collision:
        """The ground, a shape of the world: solid below z = height; or below `heights` (nx, ny) on top of it, over a rectangle of `size`
        (2,) about the origin. Returns the shape."""
        return add_ground(self.description, Ground(height, friction, stiffness, relaxation_time, static_friction, torsional_radius,
                                                   rolling_radius, heights, size), name)

    def exclude_contact(self, a: BodyDescription | Collision | str, b: BodyDescription | Collision | str) -> None:
        """These two never touch: bodies, with all their shapes, or shapes; themselves, or their names."""
        exclude(self.description, a, b)

    def body(self, name: str) -> BodyDescription:
        """A body by name; UnknownNameError where there is none."""
        return self._named("body", name, [self.world, *self.description.bodies])

    def joint(self, name: str) -> JointDescription:
        """A joint by name; UnknownNameError where there is none."""
        return self._named("joint", name, self.description.joints)

    def frame(self, name: str) -> FrameDescription:
        """An added frame by name; UnknownNameError where there is none."""
        return self._named("frame", name, self.description.frames)

    def _named(self, kind: str, name: str, elements: Sequence[Any]) -> Any:
        for element in elements:
            if isinstance(name, str) and element.name == name:
                return element
        raise unknown(kind, name, f"model {self.description.name!r}", [e.name for e in elements])

    def describe(self, inertia: str = "check") -> RobotDescription:
        """The checked description, free bodies with their floating joints: a copy, so that the builder can go on being used."""
        from mbros.describe.check_robot import raise_errors      # start-up time: who does not use it does not pay
        mine = copy_description(self.description)
        carried = {id(joint.child) for joint in mine.joints}
        free = [JointDescription(body.name, "floating", mine.world, body) for body in mine.bodies if id(body) not in carried]
        whole = RobotDescription(mine.name, mine.bodies, mine.joints + free, mine.frames, mine.world, mine.gravity, mine.notes,
                                 package_dirs=mine.package_dirs, collisions=mine.collisions, exclusions=mine.exclusions,
                                 force_elements=mine.force_elements, constraints=mine.constraints, bench=mine.bench,
                                 members=mine.members, file=mine.file if mine.members else None, keyframes=mine.keyframes)
        raise_errors(whole, choice(f"model {mine.name!r}", "inertia", inertia, LENIENCE))
        return whole

    def build(self, merge_welds: bool = True, inertia: str = "check") -> Model:
        """Checks everything and compiles: `mbros.Model`. Raises ModelError with every problem found.

        merge_welds: False keeps welded bodies apart (slower, same motion). inertia: "check" refuses impossible inertias of moving
        parts, "as_given" simulates them; the model's description then notes them as warnings.
        """
        from mbros.build.compile.tree import compile_robot      # start-up time: who does not use it does not pay
        from mbros.model.model import Model      # start-up time: who does not use it does not pay

        flag(f"model {self.description.name!r}", "merge_welds", merge_welds)
        description = self.describe(inertia)
        return Model(description, compile_robot(description, merge_welds=merge_welds))

    def __copy__(self) -> ModelBuilder:
        return type(self)(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> ModelBuilder:
        """As copy.copy: two builders never share what they describe."""
        return self.__copy__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take(state["description"])                # joints are pickled without their builder

    def __repr__(self) -> str:
        return f"<ModelBuilder {self.description!r}>"


__all__ = ["ModelBuilder", *(cls.__name__ for cls in CLASSES), "FixedJoint", "AnchorJoint"]
