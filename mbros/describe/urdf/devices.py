"""A bench in a URDF, as bench files and the Python classes have it (docs/bench.md); all of it stands in <robot>.

    <mbros:bench seed="7"/>
    <mbros:actuator joint="joint*" type="position_servo" kp="400" kd="20"/>
    <mbros:sensor name="wrist.imu" type="imu" frame="flange" rate="200" gyro_noise_density="1.7e-4"/>
    <mbros:channel name="bus" signal="joint*.command.*" delay="0.002" loss="0.01"/>
    <mbros:fault name="hangs" kind="frozen" signal="joint2.encoder.*" at="1.0" duration="0.5"/>
    <mbros:source joint="joint2" timeout="0.02" safe="hold"/>

Attributes are the arguments of the classes; without a name, the devices of an actuator and of a joint's sensor are called as those of a
bench file, joint2.servo, joint2.encoder, and a source as its joint.
"""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mbros.describe.urdf.numbers import parse_vector, shorten
from mbros.errors import MbrosError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbros.describe.devices.bench import Bench
    from mbros.describe.robot import RobotDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

BENCH = "mbros:bench"
FAMILIES = {f"mbros:{family}": family for family in ("actuator", "sensor", "channel", "fault", "source")}
TAGS = (BENCH, *FAMILIES)
READ: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {tag: ((), ()) for tag in TAGS}          # attributes: those of the classes


def read_devices(context: Context, root: XmlElement, description: RobotDescription) -> None:
    """The bench of <robot>, into the description."""
    found = [child for child in root.children if child.tag in TAGS]
    if not found:
        return
    from mbros.describe.devices import words      # start-up time: who does not use it does not pay
    from mbros.describe.devices.bench import Bench      # start-up time: who does not use it does not pay

    context.one(root, BENCH, "robot")
    bench = Bench()
    for element in found:
        for child in element.children:
            context.problem(child.line, f"<{element.tag}>", f"<{shorten(child.tag)[1:-1]}> is not allowed in it",
                            "Everything is an attribute here.")
        if element.tag == BENCH:
            _seed(context, element, bench)
        else:
            given = _words(context, element, words.NAMES)
            if given is not None:
                add(context, element, bench, partial(_part, words, FAMILIES[element.tag], given))
    description.bench = bench


def _part(words: Any, family: str, given: dict[str, Any]) -> Any:
    """Without a name, what stands on joints is called as in a bench file."""
    if family not in words.FAMILIES:
        return getattr(words, family)(given)
    name = given.pop("name", None)
    label = name or given.get("joint", "")
    cls = words.class_of(family, label, given.pop("type", None))
    return words.made(f"{family} {label!r}", cls, {"name": f"*.{cls.short}" if name is None and cls.short else name, **given})


def add(context: Context, element: XmlElement, bench: Bench, make: Callable[[], Any]) -> None:
    """Add what make() gives; what is refused becomes a problem of this line."""
    label = f"<{element.tag}>"
    try:
        part = make()
        part.source = context.source(element)
        bench._add_read(part, context.taken)
    except ModelError as error:
        for problem in error.problems:
            context.problem(element.line, f"{label}, {problem.element}", problem.reason, problem.remedy)
    except MbrosError as error:
        context.problem(element.line, label, str(error), "docs/bench.md has the numbers and the words.")


def _words(context: Context, element: XmlElement, names: tuple[str, ...]) -> dict[str, Any] | None:
    """The attributes as arguments; None when one is no number and does not begin as a word. names: those that are one name."""
    given: dict[str, Any] = {}
    for name, text in element.attributes.items():
        if name.startswith(("xmlns", "xml:")):
            continue
        try:
            given[name] = text if name in names else _value(text)
        except ValueError as error:
            context.problem(element.line, f"<{element.tag}>", f"{name}={error}", "Write finite decimal numbers, separated by blanks.")
            return None
    return given


def _value(text: str) -> Any:
    """A number, several, True or False, or a word."""
    if text in ("true", "false"):
        return text == "true"
    if text[:1].isalpha():
        return text
    values = parse_vector(text, max(len(text.split()), 1))
    return values[0] if len(values) == 1 else list(values)


def _seed(context: Context, element: XmlElement, bench: Bench) -> None:
    text = element.attributes.get("seed", "0")
    for name in element.attributes:
        if name != "seed" and not name.startswith(("xmlns", "xml:")):
            context.problem(element.line, f"<{BENCH}>", f"attribute {shorten(name)} is unknown", "It has seed.")
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        context.problem(element.line, f"<{BENCH}>", f"seed={shorten(text)} is no whole number", "Give a whole number, 0 or more.")
    else:
        bench.seed = int(text)
