"""What of simulation_interfaces the node has: one row for each service and action. Features and documentation are made from it."""
from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One service or action. features: the names of SimulatorFeatures that are announced for it; without any it answers
    RESULT_FEATURE_UNSUPPORTED, unless it is `always` there. of_scenes: those that are announced beside where robots and objects come and go
    (spawning.py). doc: what it does, or why it does not."""

    name: str
    doc: str
    features: tuple[str, ...] = ()
    always: bool = False
    of_scenes: tuple[str, ...] = ()

    @property
    def served(self) -> bool:
        return bool(self.features or self.of_scenes) or self.always

    @property
    def topic(self) -> str:
        """The name of the service below the node's: GetEntities is get_entities."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.name).lower()


SCENE = "the world is the robot, or the scene file, that the node was started with"

ROWS = (
    Row("GetSimulatorFeatures", "what of this table is supported", always=True),
    Row("GetSimulationState", "stopped, playing, paused or quitting; in a fault paused, with the fault in the result",
        ("SIMULATION_STATE_GETTING",)),
    Row("SetSimulationState", "play, pause, stop (pause and reset) and quit (the node ends with code 0)",
        ("SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE")),
    Row("ResetSimulation", "SCOPE_STATE: what ~/reset does; SCOPE_SPAWNED: what was spawned goes; SCOPE_DEFAULT, SCOPE_ALL: both; "
        "SCOPE_TIME: no", ("SIMULATION_RESET", "SIMULATION_RESET_STATE"), of_scenes=("SIMULATION_RESET_SPAWNED",)),
    Row("StepSimulation", "while paused, so many steps, at most 100,000; answers after the last one",
        ("STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE")),
    Row("SimulateSteps", "action: the same for any number of steps, with feedback after each; it can be cancelled",
        ("STEP_SIMULATION_ACTION",)),
    Row("GetEntities", "names of robots, links and objects, by regular expression, category, tags, or what overlaps a sphere or a box",
        ("ENTITY_TAGS", "ENTITY_CATEGORIES", "ENTITY_BOUNDS_BOX")),
    Row("GetEntitiesStates", "the same with their states, all of one moment", ("ENTITY_STATE_GETTING",)),
    Row("GetEntityState", "pose and twist in the world; no acceleration", ("ENTITY_STATE_GETTING",)),
    Row("SetEntityState", "pose, twist or both of an object, or of a robot on a floating or planar base", ("ENTITY_STATE_SETTING",)),
    Row("GetEntityInfo", "robot, link or object: category, description, tags", ("ENTITY_INFO_GETTING",)),
    Row("SetEntityInfo", "what a link is does not change"),
    Row("GetEntityBounds", "a box around the collision shapes (where there are none, the visual ones), in the axes of the link",
        ("ENTITY_BOUNDS",)),
    Row("GetNamedPoses", "`start`, where the robot stands after a reset (of a scene `<robot>/start`), and the named frames of the model, "
        "where they are now",
        ("NAMED_POSES",)),
    Row("GetNamedPoseBounds", "named poses have no bounds"),
    Row("GetSpawnables", "of a scene: the robots of `mbros list`", of_scenes=("SPAWNABLES",)),
    Row("SpawnEntity", "into a scene: a robot or an object, by name, file or URDF text",
        of_scenes=("SPAWNING", "SPAWNING_RESOURCE_STRING")),
    Row("SpawnEntities", "the same for several, between the same two steps, or none of them", of_scenes=("SPAWNING_ENTITIES",)),
    Row("DeleteEntity", "from a scene: a robot or an object", of_scenes=("DELETING",)),
    Row("LoadWorld", SCENE),
    Row("UnloadWorld", SCENE),
    Row("GetCurrentWorld", SCENE),
    Row("GetAvailableWorlds", SCENE),
)


def features(of_scenes: bool = True) -> list[str]:
    """The names of all that are announced, each once. of_scenes: with those of scenes."""
    return list(dict.fromkeys(name for row in ROWS for name in (*row.features, *(row.of_scenes if of_scenes else ()))))
