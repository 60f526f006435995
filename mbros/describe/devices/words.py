"""Parts of a bench from words: what bench files and URDF have in common. Every kind is found by its class's `type`."""
from __future__ import annotations

from typing import Any

from mbros.arguments import refuse
from mbros.describe.devices.actuators import ACTUATOR_CLASSES
from mbros.describe.devices.channel import Channel
from mbros.describe.devices.device import Device
from mbros.describe.devices.fault import Fault
from mbros.describe.devices.sensors import SENSOR_CLASSES
from mbros.describe.devices.source import JointSource
from mbros.names import hint

FAMILIES: dict[str, dict[str, Any]] = {"actuator": {cls.type: cls for cls in ACTUATOR_CLASSES},
                                       "sensor": {cls.type: cls for cls in SENSOR_CLASSES}}
NAMES = ("name", "type", "kind", "signal", "when", *Device.places)       # arguments that are one name, whatever is in it


def class_of(family: str, of: str, word: Any) -> Any:
    """The class of a type. of: the entry's name, for messages."""
    classes = FAMILIES[family]
    if not isinstance(word, str) or word not in classes:
        refuse(f"{family} {of!r}", "it has no type" if word is None else f"there is no {family} {word!r}{hint(word, classes)}",
               f"Types: {', '.join(classes)}.")
    return classes[word]


def device(family: str, of: str, words: dict[str, Any]) -> Any:
    """The actuator or sensor of an entry `of: {type: ..., ...}`. Of an actuator and of a joint's sensor without `joint`, `of` is the joint,
    or a pattern of joints."""
    words = dict(words)
    cls = class_of(family, of, words.pop("type", None))
    name = of
    if cls.short and "joint" not in words:
        words["joint"], name = of, f"*.{cls.short}"
    return made(f"{family} {of!r}", cls, {"name": name, **words})


def made(label: str, cls: Any, words: dict[str, Any]) -> Any:
    """cls(**words); what has to be given and is not is refused as other mistakes are."""
    try:
        return cls(**words)
    except TypeError as error:          # in the words of Python
        refuse(label, str(error).partition("__init__() ")[2] or str(error), "Give it; docs/bench.md has the numbers.")


def channel(words: dict[str, Any]) -> Channel:
    """The channel of an entry."""
    return made(f"channel {words.get('name', words.get('signal', ''))!r}", Channel, words)


def fault(words: dict[str, Any]) -> Fault:
    """The fault of an entry."""
    return made(f"fault {words.get('name', '')!r}", Fault, words)


def source(words: dict[str, Any]) -> JointSource:
    """The source of an entry; without a name it is called as its joint."""
    return made(f"source {words.get('joint', '')!r}", JointSource, {"name": words.get("joint", ""), **words})
