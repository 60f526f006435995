"""A robot of a scene, with the names of its own: of joint "left/joint2" of the model, robots["left"] says "joint2"."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mbros.errors import MbrosError, unknown
from mbros.names import plural

if TYPE_CHECKING:
    from mbros import Body, Frame, Joint, Model

T = TypeVar("T")


class RobotView:
    """What of a model is one robot's, or one object's: the parts whose `robot` is its name, in the model's order. It holds no numbers of
    its own: state.q[robot.q_slice] are its positions, (robot.nq,), and change with the state."""

    def __init__(self, model: Model, name: str) -> None:
        self.model, self.name = model, name
        self.joints = tuple(joint for joint in model.joints if joint.robot == name)
        self.bodies = tuple(body for body in model.bodies if body.robot == name)

    @property
    def q_slice(self) -> slice:
        """Of its positions in q (nq,). MbrosError where other joints stand between them: of a robot that carries another one."""
        return self._run("q_slice", "position")

    @property
    def v_slice(self) -> slice:
        """Of its velocities in v (nv,); errors as of q_slice."""
        return self._run("v_slice", "velocity")

    @property
    def nq(self) -> int:
        """Number of its positions."""
        return sum(joint.nq for joint in self._owners())

    @property
    def nv(self) -> int:
        """Number of its velocities."""
        return sum(joint.nv for joint in self._owners())

    @property
    def names(self) -> tuple[str, ...]:
        """Of its joints, as the robot itself has them."""
        return tuple(self.own_name(joint.name) for joint in self.joints)

    def joint(self, name: str) -> Joint:
        """Its joint of that name; UnknownNameError says which was meant."""
        return self._part("joint", self.joints, name)

    def body(self, name: str) -> Body:
        """Its body of that name."""
        return self._part("body", self.bodies, name)

    def frame(self, name: str) -> Frame:
        """Its frame of that name: a body's, or one that was added."""
        return self._part("frame", [frame for frame in self.model.frames if frame.robot == self.name], name)

    def own_name(self, name: str) -> str:
        """The name of a part of the model, without the robot's in front."""
        return name.removeprefix(f"{self.name}/")

    def _owners(self) -> list[Joint]:
        return [joint for joint in self.joints if joint.nv and not joint.follows]

    def _run(self, of: str, what: str) -> slice:
        at = [getattr(joint, of) for joint in self._owners()]
        if any(before.stop != after.start for before, after in zip(at, at[1:])):
            raise MbrosError(f"robot {self.name!r}: its {what} coordinates are no run, as it carries another robot; take those of its "
                             "joints")
        return slice(at[0].start, at[-1].stop) if at else slice(0, 0)

    def _part(self, kind: str, parts: Sequence[T], name: Any) -> T:
        known = {self.own_name(part.name): part for part in parts}      # type: ignore[attr-defined]    # each has a name
        if name not in known:
            raise unknown(kind, name, f"robot {self.name!r} of model {self.model.name!r}", known)
        return known[name]

    def __repr__(self) -> str:
        return f"<robot {self.name!r} of {self.model.name!r}: {plural(len(self.joints), 'joint')}, nq {self.nq}, nv {self.nv}>"


def robot_views(model: Model) -> list[RobotView]:
    """Of every robot and object of a model, in the order of its bodies."""
    return [RobotView(model, name) for name in dict.fromkeys(body.robot for body in model.bodies if body.robot)]
