"""<default> classes: what elements have that say nothing else. A class has what the class around it has, and changes some of it.

Of numbers that may be left out at the end (friction, size, gear, ...) those given replace the first ones, as MuJoCo reads them. Actuators
of all tags share one default: what <position kp="9"/> says there a <general> takes, too; so what classes say of them is kept as the
elements that said it, in order.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.xml import XmlElement
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context

MAIN = "main"
MOST_CLASSES = 10_000
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
PARTIAL = ("size", "friction", "solref", "solimp", "solreflimit", "solimplimit", "gear", "stiffness", "damping", "springlength", "gainprm",
           "biasprm", "dynprm")
ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor", "pid",
             "orientation")

Attributes = dict[str, str]


class DefaultClass:
    """elements: attributes by tag. actuators: what was said of actuators, in order."""

    __slots__ = ("elements", "actuators")

    def __init__(self, above: DefaultClass | None = None) -> None:
        self.elements: dict[str, Attributes] = {} if above is None else dict(above.elements)
        self.actuators: tuple[XmlElement, ...] = () if above is None else above.actuators


class DefaultClasses:
    """The classes of a file, by name."""

    def __init__(self, context: Context, root: XmlElement) -> None:
        self.context = context
        self.classes = {MAIN: DefaultClass()}
        for section in root.all("default"):
            name = section.attributes.get("class", MAIN)
            if name != MAIN:
                context.problem(section.line, "<default>", f"the outermost one is of class {shorten(name)}", "Put it into a <default> of "
                                                                                                             "its own.")
            self._read(section, self.classes[MAIN])

    def _read(self, section: XmlElement, found: DefaultClass) -> None:
        for child in section.children:
            if child.tag in ACTUATORS:
                found.actuators += (child,)
            elif child.tag != "default":
                found.elements[child.tag] = merged(found.elements.get(child.tag, {}), child.attributes)
        for child in section.all("default"):
            name = child.attributes.get("class", "")
            if not name or name in self.classes:
                self.context.problem(child.line, "<default>", f"there is a class {shorten(name)} above" if name else "it has no class",
                                     'Write <default class="..."> with a name of its own.')
            elif len(self.classes) < MOST_CLASSES:
                self.classes[name] = DefaultClass(found)
                self._read(child, self.classes[name])
            else:
                self.context.notes.add("classes", child.line, "<default>", f"there are more than {MOST_CLASSES} classes", "warning")

    def of(self, element: XmlElement, childclass: str = MAIN, attribute: str = "class") -> DefaultClass:
        """The class of an element: its own, or the one that the bodies around it say."""
        name = element.attributes.get(attribute, childclass)
        if name not in self.classes:
            self.context.problem(element.line, f"<{element.tag}>", f"there is no default class {shorten(name)}{hint(name, self.classes)}",
                                 f'Add <default class="{name[:60]}">, or correct the name.')
            self.classes[name] = self.classes[MAIN]
        return self.classes[name]

    def filled(self, element: XmlElement, childclass: str = MAIN, tag: str | None = None) -> XmlElement:
        """The element with what its class says. tag: of the default, where that is another than the element's."""
        usual = self.of(element, childclass).elements.get(element.tag if tag is None else tag)
        if not usual:
            return element
        other = XmlElement(element.tag, merged(usual, element.attributes), element.line)
        other.children = element.children
        return other


def merged(usual: Attributes, own: Attributes) -> Attributes:
    """Attributes over those of a class."""
    found = {**usual, **own}
    if any(name in own for name in ORIENTATIONS):
        for name in ORIENTATIONS:
            if name not in own:
                found.pop(name, None)
    for name in PARTIAL:
        if name in own and name in usual:
            given, rest = own[name].split(), usual[name].split()
            if 0 < len(given) < len(rest):
                found[name] = " ".join([*given, *rest[len(given):]])
    return found
