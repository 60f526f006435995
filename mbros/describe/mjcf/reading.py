"""What the parts of the MJCF reader share: the file, its settings and classes, and what was found so far, by name."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.forces.element import Taken
from mbros.describe.mjcf.defaults import DefaultClasses
from mbros.describe.mjcf.document import TEXT
from mbros.describe.mjcf.poses import about
from mbros.describe.mjcf.settings import read_settings
from mbros.describe.robot import BodyDescription, FrameDescription, JointDescription, RobotDescription
from mbros.describe.urdf.context import Context
from mbros.describe.urdf.numbers import shorten
from mbros.names import hint, no_name
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mbros.describe.mjcf.assets import MeshAsset
    from mbros.describe.robot import Collision
    from mbros.describe.urdf.xml import XmlElement
    from os import PathLike

MOST_LINKS, MOST_SHAPES = 1000, 4000
GEOMS = ("geom1", "geom2")


class MjcfReading:
    """A model that is being read. bodies, joints, sites, geoms, tendons: by the names of the file. X_WB: of bodies, by id, where the
    model stands at its reference positions. joints_of: of a body of the file, those that carry it. collisions: every shape that may touch
    something, with its body and its geom."""

    def __init__(self, root: XmlElement, context: Context, description: RobotDescription,
                 package_dirs: Sequence[str | PathLike[str]]) -> None:
        self.root, self.context, self.description, self.package_dirs = root, context, description, package_dirs
        self.settings = read_settings(context, root)
        self.defaults = DefaultClasses(context, root)
        self.file_or_none = None if context.file == TEXT else context.file
        self.meshes: dict[str, MeshAsset] = {}
        self.heights: dict[str, XmlElement] = {}
        self.colours: dict[str, tuple[float, ...]] = {}
        self.bodies: dict[str, BodyDescription] = {"world": description.world}
        self.joints: dict[str, JointDescription] = {}
        self.sites: dict[str, FrameDescription] = {}
        self.geoms: dict[str, Collision] = {}
        self.tendons: dict[str, Any] = {}
        self.X_WB: dict[int, Placement] = {id(description.world): Placement()}
        self.carrier: dict[int, JointDescription] = {}              # of a body of the file: the joint below it, a weld too
        self.joints_of: dict[int, list[JointDescription]] = {}
        self.order: list[JointDescription] = []                     # the joints of the file, which have coordinates
        self.springdampers: list[tuple[JointDescription, float, float]] = []
        self.inverse: tuple[np.ndarray, dict[int, int]] | None = None           # of mbros.describe.mjcf.reference
        self._rest: dict[int, Placement] = {}
        self.springref: dict[int, float] = {}                       # of hinges and slides, by id: where springs rest
        self.drives: dict[str, Any] = {}                            # actuators of the bench, by joint
        self.efforts: dict[str, bool] = {}                          # whether an effort is commanded beside what a servo follows
        self.gravcomp: list[tuple[BodyDescription, float, XmlElement]] = []
        self.collisions: list[tuple[BodyDescription, Collision, XmlElement]] = []
        self.names = {description.world.name}                       # of bodies and frames
        self.joint_names: set[str] = set()
        self.paired = {pair.attributes.get(end,
                                           "") for section in root.all("contact") for pair in section.all("pair") for end in GEOMS} - {""}
        self.taken = Taken(description)                             # names of force elements
        self.explicit = False                                       # the body that is read has an <inertial> that counts
        self.shapes = 0
        self._numbers: dict[str, int] = {}                          # of names that are made up: the next number

    def note(self, key: Any, element: XmlElement, label: str, reason: str, severity: str = "note") -> None:
        self.context.notes.add(key, element.line, label, reason, severity)

    def name(self, element: XmlElement, usual: str, taken: set[str], suffix: str = "") -> str:
        """The element's name, or one that is made up, of its own among `taken`."""
        given = element.attributes.get("name", "")
        name = given + suffix if given else usual
        wrong = no_name(name)
        if wrong is not None:
            self.context.problem(element.line, f"<{element.tag}>", *wrong)
            name = usual
        if name in taken:
            first, name = name, self.free(name, taken)
            if given:
                self.note(("renamed", element.tag), element, f"<{element.tag}>", f"it is called {name!r} here: {shorten(first)} is the "
                          "name of another body or frame")
        taken.add(name)
        return name

    def free(self, stem: str, taken: set[str]) -> str:
        """stem_2, stem_3, ...: the first that nothing has."""
        k = self._numbers.get(stem, 2)
        while f"{stem}_{k}" in taken:
            k += 1
        self._numbers[stem] = k + 1
        return f"{stem}_{k}"

    def named(self, element: XmlElement, attribute: str, what: str, known: dict[str, Any], label: str, required: bool = True) -> Any:
        """What an attribute names, or None with a problem; None without one where it is not given and not required."""
        name = element.attributes.get(attribute)
        if name is None:
            if required:
                self.context.problem(element.line, label, f"attribute {attribute!r} is missing", f"Give the name of a {what}.")
            return None
        if name not in known:
            self.no_such(element, label, f"{attribute}: there is no {what} {shorten(name)}", name, known)
            return None
        return known[name]

    def no_such(self, element: XmlElement, label: str, reason: str, name: str, known: Collection[str]) -> None:
        self.context.problem(element.line, label, f"{reason}{hint(name, known)}", "Add it, or correct the name.")

    def frame(self, name: str, body: BodyDescription, X: Placement, element: XmlElement) -> FrameDescription:
        """A frame that something brings along."""
        name = self.free(name, self.names) if name in self.names else name
        self.names.add(name)
        found = FrameDescription(name, body, X, self.context.source(element))
        self.description.frames.append(found)
        return found

    def where_springs_rest(self) -> dict[int, Placement]:
        """X_WB of all bodies, by id, with hinges and slides at their springref; free and ball joints where they are by default."""
        found = self._rest
        if found:
            return found
        found[id(self.description.world)] = Placement()
        for joint in self.description.joints:               # parents come first
            X = found[id(joint.parent)] @ joint.X_PF
            q = self.springref.get(id(joint), 0.0)
            if joint.kind == "prismatic":
                X = X @ Placement(None, q * np.asarray(joint.axis))
            elif joint.axis is not None:
                X = X @ Placement(about(joint.axis, q))
            elif joint.kind == "floating":
                X = X @ self.X_WB[id(joint.child)]
            found[id(joint.child)] = X @ joint.X_BM.inverse()
        return found
