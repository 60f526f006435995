"""The node goes on with another world: robots and objects more or less, and all that stays where it is, to the bit.

The new model is built and its plant, plugs and loop are made while the old loop runs and other requests are served; then that one ends
after a whole step, the state is carried over by names, and the new one goes on: the same step, the same time, the same topics.
"""
from __future__ import annotations

import gc
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.bench.carried import carry, carry_devices, carry_plant, places

from mbros.ros.wire.contacts import ContactTopics
from mbros.ros.errors import RequestError, why_still
from mbros.ros.wire.kept_topics import forget
from mbros.ros.parameters import TABLE, declare
from mbros.ros.robot import Robot, robot_of
from mbros.ros.serve.turn import Line, T, begun, next_round

if TYPE_CHECKING:
    from mbros import Model
    from mbros.bench.carried import Places
    from mbros.ros.node import SimNode
    from mbros.ros.parameters import Row
    from mbros.ros.typing import Values
    from mbros.ros.wire.native_plane import NativePlane
    from mbros_core import State
    from mbros_core.realtime import Loop

AT_ONCE = 50            # parameters that come or go, then others have their turn
PATIENCE = 1.0          # s, of a node that ends, with what a thread is at
VELOCITIES = 2          # row of a command of a bench


def why_never(sim: SimNode) -> str:
    """Why the world of a SimNode stays as it is for as long as the node runs, or ""."""
    if not sim.robot.is_scene:
        return "the world is the robot that the node was started with; start it with a scene file (docs/scenes.md)"
    if sim.consumers or sim.door is not None:
        return "who is waited for in lockstep, and who shares memory, was declared at the start for the robots of then"
    if sim.robot.specialized:
        return "the scene was compiled to code of its own at the start (specialize)"
    return sim.fixed


def why_not_now(sim: SimNode) -> str:
    """Why it has to stay as it is just now, or ""."""
    if why_still(sim.loop):
        return f"{why_still(sim.loop)}; reset first"
    if sim.services.steps.taking:
        return "steps are being taken; ask again when they have their answer"
    if sim.recording.tape is not None:
        return "a recording is under way, which is of one world; end it first (~/record with record: false)"
    pushing = sim.services.disturbances
    with sim.loop.aside():
        pushes = bool(sim.live.payloads) or (pushing is not None and pushing.in_force() is not None)
    if pushes:
        return "disturbances or payloads are in force; end them first (~/clear_disturbances, ~/drop_payload)"
    return ""


class Changes:
    """Of the world of a SimNode: one after the other, and the executor serves others while the new one is made.

        async with sim.changes:             # waits until it is its turn
            model = await sim.changes.beside(make)
            await sim.changes.go_on_with(model)

    What takes its time is done by threads, which touch nothing that others do, and the rest a few milliseconds at a time.
    """

    MOST = 8            # that wait

    def __init__(self, sim: SimNode):
        self.sim = sim
        self._line = Line(lambda: sim.node, self.MOST, "changes of the world", lambda: bool(sim.ending))
        self._going_on: Coroutine[None, None, None] | None = None
        self._beside: Future[Any] | None = None          # what a thread does for it

    async def __aenter__(self) -> None:
        await self._line.__aenter__()

    async def __aexit__(self, *what: object) -> None:
        await self._line.__aexit__(*what)

    async def beside(self, work: Callable[[], T]) -> T:
        """What work() returns or raises, from a thread of its own. Nobody waits for it in a node that ends."""
        executor = self.sim.node.executor
        if executor is None:                    # nobody serves others
            return work()
        self._beside = found = begun(work, "mbros-beside", executor.wake)
        while not found.done() and not self.sim.ending:
            await next_round(executor, False)
        if self.sim.ending:
            raise RequestError("the node is ending")
        return found.result()

    async def others(self) -> None:
        """Others have their turn."""
        if self.sim.node.executor is not None:
            await next_round(self.sim.node.executor, True)
            if self.sim.ending:
                raise RequestError("the node is ending")

    async def go_on_with(self, model: Model) -> None:
        """As go_on_with() below, with this model. RequestError where the world has to stay as it is meanwhile."""
        self._going_on = _go_on(self.sim, model, self, lambda: why_not_now(self.sim))
        try:
            await self._going_on
        finally:
            self._going_on = None

    def close(self) -> None:
        """Before the node is destroyed: what was made of a new world goes."""
        if self._going_on is not None:
            if self._beside is not None:
                wait([self._beside], PATIENCE)
            self._going_on.close()


def go_on_with(sim: SimNode, model: Model) -> None:
    """Let a SimNode go on with this model in place of its scene's, at once; nothing is changed where it raises."""
    with suppress(StopIteration):
        _go_on(sim, model, AtOnce(), lambda: "").send(None)


class AtOnce:
    """Stands for Changes where nobody has a turn meanwhile."""

    async def beside(self, work: Callable[[], T]) -> T:
        return work()

    async def others(self) -> None:
        pass


async def _go_on(sim: SimNode, model: Model, turns: Changes | AtOnce, why_not: Callable[[], str]) -> None:
    """turns: who does what takes its time, and lets others have theirs. why_not: why it cannot be, at last, or ""."""
    values, declared = dict(sim.live.values), list[str]()
    planes: list[NativePlane] = []
    robot = await turns.beside(lambda: robot_of(model, values))
    rows = await turns.beside(robot.rows)
    fresh = [row for row in rows if row.name not in sim.live.rows]
    sim.topics.again()
    try:
        for k in range(0, len(fresh), AT_ONCE):
            some = fresh[k:k + AT_ONCE]
            declared += [row.name for row in some]
            values.update(declare(sim.node, some))
            sim.live.coming.update(row.name for row in some)
            await turns.others()
        if robot.bench is not None:
            robot.bench.parameters.put({row.name: values[row.name] for row in fresh})
        paused = bool(sim.loop.paused)
        await turns.beside(lambda: planes.append(sim._data_plane(robot, values, sim.plane.stamps)))
        plane = planes[0]
        loop = await turns.beside(lambda: sim._make_loop(robot, plane, values, paused))
        tuned = await turns.beside(lambda: robot.tuned({row.name: values[row.name] for row in fresh}))
        where = await turns.beside(lambda: places(sim.robot.model, model))
        with sim.turn:
            if reason := why_not():
                raise RequestError(reason)
            if loop.paused != sim.loop.paused:
                (loop.resume if loop.paused else loop.pause)()
            if {name: values[name] for name in sim.live.values} != sim.live.values:
                values.update(sim.live.values)                  # set meanwhile
                loop.set_watchdog(*sim.live.watchdog())
                loop.set_real_time_factor(values["real_time_factor"])
            if sim.clock.publisher is not None:                     # taken meanwhile
                plane.serve_clock(sim.clock.publisher)
            sim.live.set_rates(plane)
            carry(sim.live.tuned, tuned, where)
            _swap(sim, robot, plane, loop, tuned, values, where)
            gone = _follow(sim, rows, fresh, values, tuned)
    except BaseException:
        for plane in planes:
            plane.close()
        sim.topics.undo()
        _take_back(sim, declared)
        raise
    finally:
        sim.live.coming.clear()
    sim.live.coming.update(gone)
    try:
        for k in range(0, len(gone), AT_ONCE):
            _take_back(sim, gone[k:k + AT_ONCE])
            await turns.others()
    finally:
        sim.live.coming.clear()
    gc.collect()                        # the old world is some ten megabytes, in circles


def _follow(sim: SimNode, rows: list[Row], fresh: list[Row], values: Values, tuned: State) -> list[str]:
    """All else is of the new world too. Returns the parameters that are no more."""
    gone = set(sim.live.rows) - {row.name for row in (*TABLE, *rows)}
    sim.live.go_on(sim.robot, [*(row for name, row in sim.live.rows.items() if name not in gone), *fresh],
                   {name: value for name, value in values.items() if name not in gone}, tuned)
    sim.live.adopt(sim.node, sim.robot.device_values())
    sim.latch()
    sim.live.follow_on(sim.loop, sim.plane, ContactTopics(sim, sim.live.contacts.arrows))
    sim.topics.settle()
    sim.begin_diagnostics()
    for follow in sim.of_worlds:
        follow()
    return sorted(gone)


def _swap(sim: SimNode, robot: Robot, plane: NativePlane, loop: Loop, tuned: State, values: Values, where: dict[str, Places]) -> None:
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
            bench.devices._take_over(carry_devices(was.layout, was.memory, bench.layout, bench.memory, where["nv"]))
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


def _held(sim: SimNode, mine: list[float], robot: Robot, fresh: list[float], where: Places) -> list[float]:
    """The command in force: of a bench four numbers a coordinate, efforts first (mbros_core/plant/_commanded.pyx). Where a trajectory is
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


def _take_back(sim: SimNode, names: list[str]) -> None:
    """Parameters that are no more."""
    for name in names:
        if sim.node.has_parameter(name):
            forget(sim.node, name)
