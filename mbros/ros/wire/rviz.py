"""RViz's configuration for what is simulated: a RobotModel for every robot, with its topic and the prefix of its frames."""
from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from mbros.describe.members import ROBOT

if TYPE_CHECKING:
    from mbros import Model
    from mbros.ros.typing import Yaml

MODEL = "rviz_default_plugins/RobotModel"


def robots_shown(model: Model, prefix: str = "") -> list[tuple[str, str, str]]:
    """(name, topic of the description, prefix of the frames) of a robot, or of every robot of a scene; the topics are relative to the
    node's namespace."""
    members = model.description.members
    if not members:
        return [(model.name, "robot_description", prefix)]
    return [(member.name, f"{member.name}/robot_description", f"{prefix}{member.name}/") for member in members
            if member.kind == ROBOT and member.text is not None]


def configured(text: str, robots: list[tuple[str, str, str]]) -> str:
    """A configuration (YAML) whose first RobotModel stands for each of the robots. ValueError where RViz cannot show one: it puts a /
    between prefix and link."""
    import yaml  # type: ignore[import-untyped]

    for _, _, prefix in robots:
        if prefix and not prefix.endswith("/"):
            raise ValueError(f"frame_prefix '{prefix}' with rviz:=true: RViz puts a / between prefix and link, and would look for frames "
                             f"that nobody publishes; give '{prefix.rstrip('_')}/'")
    content = yaml.safe_load(text)
    displays = content["Visualization Manager"]["Displays"]
    at = next(k for k, display in enumerate(displays) if display["Class"] == MODEL)
    displays[at:at + 1] = [_shown(displays[at], name, topic, prefix) for name, topic, prefix in robots]
    return str(yaml.safe_dump(content, sort_keys=False))


def _shown(template: dict[str, Yaml], name: str, topic: str, prefix: str) -> dict[str, Yaml]:
    display = copy.deepcopy(template)
    display["Name"], display["TF Prefix"] = f"Robot {name}", prefix.removesuffix("/")
    display["Description Topic"]["Value"] = topic
    return display
