"""The node goes on with another world: robots and objects more or less, and all that stays where it is, to the bit.

The new model is built and its plant, plugs and loop are made while the old loop runs; then that one ends after a whole step, the state is
carried over by names, and the new one goes on: the same step, the same time, the same topics.
"""
from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any

import numpy as np

from mbros.simulate.carried import carry, carry_devices, carry_plant, places

from .contacts import ContactTopics
from .errors import RequestError, why_still
from .kept_topics import forget
from .parameters import declare
from .robot import Robot, robot_of
from .turn import begun


LOOK = 0.02             # s
VELOCITIES = 2          # row of a command of a bench


def why_never(sim: Any) -> str:
    """Why the world of a SimNode stays as it is for as long as the node runs, or ""."""
    if not sim.robot.is_scene:
        return "the world is the robot that the node was started with; start it with a scene file (docs/scenes.md)"
    if sim.consumers or sim.door is not None:
        return "who is waited for in lockstep, and who shares memory, was declared at the start for the robots of then"
    if sim.plane.kind != "native":
        return "it needs the native data plane"
    if sim.robot.specialized:
        return "the scene was compiled to code of its own at the start (specialize)"
    return sim.fixed


def why_not_now(sim: Any) -> str:
    """Why it has to stay as it is just now, or ""."""
    if why_still(sim.loop):
        return f"{why_still(sim.loop)}; reset first"
    if sim.recording.tape is not None:
        return "a recording is under way, which is of one world; end it first (~/record with record: false)"
    pushing = sim.services.disturbances
    with sim.loop.aside():
        pushes = bool(sim.live.payloads) or (pushing is not None and pushing.in_force() is not None)
    if pushes:
        return "disturbances or payloads are in force; end them first (~/clear_disturbances, ~/drop_payload)"
    return ""


def made_beside(sim: Any, make: Callable[[], Any]) -> Any:
    """What make() returns or raises, from a thread of its own: large robots take seconds to compile, and a node that is to end does not
    wait for them. make: touches nothing of the node."""
    found = begun(make, "mbros-compiling")
    while not wait([found], LOOK).done:
        if sim.ending:
            raise RequestError("the node is ending")
    return found.result()


def go_on_with(sim: Any, model: Any) -> None:
    """Let a SimNode go on with this model in place of its scene's; nothing is changed where it raises. Called with `sim.turn` held."""
    values = dict(sim.live.values)
    robot = robot_of(model, values)
    old, rows = sim.robot, robot.rows()
    fresh = [row for row in rows if row.name not in sim.live.rows]
    plane = None
    sim.topics.again()
    try:
        values.update(declare(sim.node, fresh))
        if robot.bench is not None:
            robot.bench.parameters.put({row.name: values[row.name] for row in fresh})
        plane = sim._data_plane(robot, values, sim.plane.stamps)
        paused = bool(sim.loop.paused)
        loop = sim._make_loop(robot, plane, values, paused)
        sim.live.set_rates(plane)
        tuned = robot.tuned({row.name: values[row.name] for row in fresh})
        where = places(old.model, model)
        carry(sim.live.tuned, tuned, where)
        _swap(sim, robot, plane, loop, tuned, values, where)
    except BaseException:
        if plane is not None:
            plane.close()
        sim.topics.undo()
        _take_back(sim, [row.name for row in fresh])
        raise
    gone = {row.name for row in old.rows()} - {row.name for row in rows}
    sim.live.go_on(robot, [*(row for name, row in sim.live.rows.items() if name not in gone), *fresh],
                   {name: value for name, value in values.items() if name not in gone}, tuned)
    _take_back(sim, sorted(gone))
    sim.live.adopt(sim.node, robot.device_values())
    sim.latch()
    sim.live.follow_on(loop, plane, ContactTopics(sim, sim.live.contacts.arrows))
    sim.topics.settle()
    sim.begin_diagnostics()
    for follow in sim.of_worlds:
        follow()
    gc.collect()                        # the old world is some ten megabytes, in circles


def _swap(sim: Any, robot: Robot, plane: Any, loop: Any, tuned: Any, values: dict[str, Any], where: Any) -> None:
    """From the old loop to the new one, between two steps."""
    before, plant = sim.loop, robot.plant
    if sim.ending or why_still(before):                 # since, while the new one was made
        raise RequestError("the node is ending" if sim.ending else f"{why_still(before)}; reset first")
    before.stop()
    try:
        if before.fault is not None:
            raise RequestError(f"{before.fault.text}; reset first")
        in_force = before.commands_in_force()
        held = _held(sim, in_force["held"], robot, loop.commands_in_force()["held"], where["nv"])
        state = plant.state
        state._inputs[...] = tuned._inputs
        state.q[:], state.v[:] = robot.initial_state(values)
        carry_plant(sim.robot.plant, plant, where)
        if robot.bench is not None and sim.robot.bench is not None:
            was, bench = sim.robot.bench, robot.bench
            was.devices._settle()
            bench.devices._take_over(carry_devices(was.layout, was.memory, bench.layout, bench.memory))
        with loop.aside():
            loop.recall(**{**in_force, "held": held, **_watched(sim.robot, robot, in_force)})
        loop.start()
    except BaseException:
        if not sim.ending:
            before.start()
        raise
    sim.plane.close()
    sim.robot, sim.plane, sim.loop = robot, plane, loop
    plane.start(loop)


def _held(sim: Any, mine: list[float], robot: Robot, fresh: list[float], where: Any) -> list[float]:
    """The command in force: of a bench four numbers a coordinate, efforts first (mbros_core/devices/_commanded.pyx). Where a trajectory is
    under way it ends: its position is held, at rest."""
    nv, (a, b) = sim.robot.map.nv, where
    held = np.array(fresh).reshape(-1, max(robot.map.nv, 1))
    given = np.array(mine).reshape(-1, max(nv, 1))
    for plug in sim.plane.inputs:
        followed = plug.follow()
        if followed is not None:
            given[VELOCITIES, ~np.isnan(followed[:nv])] = 0.0
    rows = min(len(held), len(given))
    held[:rows, b] = given[:rows, a]
    return [float(x) for x in held.ravel()]


def _watched(old: Robot, new: Robot, in_force: dict[str, Any]) -> dict[str, Any]:
    """What each robot's watchdog has heard, for the robots that are there now: a new one nothing yet."""
    words = ("commanded", "tripped", "age_steps", "age_ns")
    newest = [in_force[word] for word in words]
    heard = dict(zip((part.name for part in old.parts), in_force["watched"] or [newest] * len(old.parts)))
    rows = [heard.get(part.name, [False, False, 0, 0]) for part in new.parts]
    of_all = dict(zip(words, rows[0])) if len(rows) == 1 else {}           # one watchdog, which hears one robot again
    watchdogs = new.watchdogs                                               # robots without coordinates, as the last ones, have none
    return {**of_all, "watched": [] if watchdogs is None else rows[:watchdogs.max(initial=-1) + 1]}


def _take_back(sim: Any, names: list[str]) -> None:
    """Parameters that are no more."""
    for name in names:
        if sim.node.has_parameter(name):
            forget(sim.node, name)
