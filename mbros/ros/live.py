"""Live parameters: checked together, then put in force between two steps, or refused together with the reason."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from mbros.errors import MbrosError
from mbros.model import parameters
from mbros.names import hint, printable

from .errors import sentence
from mbros.ros.serve.parameter_services import serve_parameters
from .parameters import Row, as_declared, check, parameter
from .robot import Robot
from mbros.ros.process.strangers import clock_refused
from mbros.ros.wire.topics import share

if TYPE_CHECKING:
    from mbros.ros.serve.recording import Recording
    from mbros.ros.serve.turn import Turn
    from mbros.ros.typing import Node, Parameter, Values
    from mbros.ros.wire.native_plane import NativePlane
    from mbros.ros.wire.contacts import ContactTopics
    from mbros.simulate.shared import SharedMemory
    from mbros_core import State
    from mbros_core.realtime import Loop
    from mbros_core.typing import Array

RATES = ("joint_states_rate", "tf_rate", "odom_rate", "clock_rate")         # of what is published after steps
HINTS = 20          # of a request: what was probably meant by a name that nothing has


class Live:
    """Values of every parameter, and what has to happen when one changes."""

    loop: Loop                              # since start()
    plane: NativePlane
    contacts: ContactTopics
    door: SharedMemory | None

    def __init__(self, rows: Iterable[Row], values: Values, robot: Robot):
        self.rows = {row.name: row for row in rows}
        self.values, self.robot = dict(values), robot
        self.devices = robot.device_values()    # the numbers of devices that are in force
        self.tuned = robot.tuned({})        # a state with these parameters, in which a change is made before it is put in force
        self.payloads: dict[int, Array] = {}
        self._hints = HINTS
        self.recording: Recording | None = None
        self.take_time: Callable[[], None] = lambda: None      # before time becomes simulated; may refuse
        self.clock_withheld = False
        self.adopting = False               # values are taken that are in force already
        self.coming: set[str] = set()       # names of parameters of a robot that is not quite there, or not quite gone

    def start(self, loop: Loop, plane: NativePlane, contacts: ContactTopics, door: SharedMemory | None = None) -> None:
        """From now on changes act on this loop, this data plane, these topics of contacts, and this door of shared memory."""
        self.loop, self.plane, self.contacts, self.door = loop, plane, contacts, door
        self._tune(self.values)
        self._put(self.of_devices(self.values))
        self.set_rates(plane)
        self._patience()
        self.contacts.set_rate(self.values["contacts_rate"])

    def go_on(self, robot: Robot, rows: Iterable[Row], values: Values, tuned: State) -> None:
        """With another world, whose parameters are in force on its plant already."""
        self.robot, self.rows, self.values, self.tuned = robot, {row.name: row for row in rows}, values, tuned
        self.devices = robot.device_values()

    def follow_on(self, loop: Loop, plane: NativePlane, contacts: ContactTopics) -> None:
        """From now on changes act on this loop, this data plane, and these topics of contacts, which go on where others were."""
        self.contacts.set_rate(0.0)
        self.loop, self.plane, self.contacts = loop, plane, contacts
        self.contacts.set_rate(self.values["contacts_rate"])

    def serve(self, node: Node, turn: Turn, warn: Callable[[str], None]) -> None:
        """Answer rclpy when a parameter of the node is to be set. turn: see SimNode. warn: of its log."""
        from rcl_interfaces.msg import SetParametersResult
        from rclpy.exceptions import ParameterNotDeclaredException

        class Undeclared(ParameterNotDeclaredException):
            def __init__(self, text: str):
                Exception.__init__(self, text)

        def before(parameters: list[Parameter]) -> list[Parameter]:
            for p in parameters:
                if not node.has_parameter(p.name):
                    self._hints -= 1
                    near = hint(p.name, node.list_parameters([], 0).names) if self._hints >= 0 else ""
                    raise Undeclared(f"there is no parameter '{printable(p.name, 200)}'{near}")
            given = [as_declared(self.rows[p.name], p) if p.name in self.rows else p for p in parameters]
            return self.with_inertias(self.as_in_force(given))

        def change(parameters: list[Parameter]) -> SetParametersResult:
            given = {p.name: p.value for p in parameters}
            with turn:
                reason = clock_refused(given) or self.change(given)
            return SetParametersResult(successful=not reason, reason=reason)

        node.add_pre_set_parameters_callback(before)
        node.add_on_set_parameters_callback(change)
        serve_parameters(node, warn, self._begin_hints)

    def _begin_hints(self) -> None:
        """With another request: each name that is compared with those of all parameters costs milliseconds."""
        self._hints = HINTS

    def with_inertias(self, given: list[Parameter]) -> list[Parameter]:
        """With a mass its inertia, which follows in proportion, so that its parameter says what is in force."""
        names, model, more = {p.name for p in given}, self.robot.model, []
        for p in given:
            kind, _, of = p.name.partition(".")
            inertia = f"inertia.{of}"
            if kind == "mass" and inertia in self.rows and inertia not in names and not self.adopting:
                try:
                    more.append(parameter(inertia, [float(x) for x in model.parameter(self.robot.tuned({p.name: p.value}, self.tuned),
                                                                                           inertia)]))
                except MbrosError:
                    pass                # the mass is refused, in words, where it is set
        return [*given, *more]

    def as_in_force(self, given: list[Parameter]) -> list[Parameter]:
        """Numbers of devices as they will be in force, so that their parameters say so: no effort limit is the joint's own, and covariances
        follow the noise."""
        numbers = self.of_devices(self.checked({p.name: p.value for p in given if p.name in self.devices})[0])
        if not numbers:
            return given                    # or refused, in words, where it is set
        # twice: a limit too large for any is read as none, and none is the joint's own
        found = self.robot.numbers.tried(self.robot.numbers.tried(numbers))
        names = {p.name for p in given}
        return [*(p if found.get(p.name, numbers.get(p.name)) == numbers.get(p.name) else parameter(p.name, found[p.name])
                  for p in given), *(parameter(name, value) for name, value in found.items() if name not in names)]

    def following(self, node: Node, given: Iterable[str]) -> Values:
        """Before `serve`: the inertias that were not given at the start, of bodies whose mass was, and numbers of devices that are others
        in force than given, now set on the node too."""
        of_bodies = [name for name in given if name in self.rows and name.startswith(("mass.", "inertia."))]
        numbers = [parameter(name, self.values[name]) for name in of_bodies]
        more = self.with_inertias(numbers)[len(numbers):]
        devices = [parameter(name, value) for name, value in self.of_devices(self.values).items()]
        more += [p for p in self.as_in_force(devices) if not any(p is was for was in devices)]
        node.set_parameters(more)
        good, _ = self.checked({p.name: p.value for p in more})
        self.values.update(good)
        return good

    def adopt(self, node: Node, values: Values) -> list[str]:
        """Parameters that say what is in force already. Returns the names of those whose limits do not allow it."""
        changed = [parameter(name, list(value) if isinstance(value, tuple) else value)
                   for name, value in values.items() if value != self.values[name]]
        self.adopting, self.devices = True, self.robot.device_values()
        try:
            results = node.set_parameters(changed)
        finally:
            self.adopting = False
        return [p.name for p, result in zip(changed, results, strict=True) if not result.successful]

    # --- checks

    def checked(self, changes: Values) -> tuple[Values, str]:
        """(values as the node uses them, "") or ({}, reason); parameters that are not ours pass unseen."""
        good = {}
        for name, value in changes.items():
            if name in self.coming:
                return {}, f"{name} is of what comes or goes just now; ask again when that has its answer"
            if name not in self.rows:
                continue
            value, reason = check(self.rows[name], value)
            if not reason and name.startswith("initial_positions."):
                reason = self.robot.limit_problem(name, value)
            if reason:
                return {}, reason
            good[name] = value
        whole = {**self.values, **good}
        for name in good if "rate" not in good else RATES:
            if name in RATES and whole[name] > whole["rate"]:
                return {}, (f"{name} must be at most rate, {whole['rate']:g} Hz, got {whole[name]:g}: what is published is published after "
                            "a step")
        numbers = self.of_devices(good)
        try:
            if numbers:
                self.robot.numbers.tried(numbers)
        except MbrosError as e:
            return {}, f"{', '.join(numbers)}: {e}"
        return good, ""

    def change(self, changes: Values) -> str:
        """Check all, then act on all. Returns the reason why nothing was changed, or ""; never raises.

        What fails half-way, for whatever reason, is put back: a parameter says what is in force.
        """
        before = self.values
        try:
            good, reason = self.checked(changes)
            if reason:
                return reason
            self.values = {**before, **good}
            if not self.adopting:
                self._act(set(good))
        except Exception as e:
            self.values = before
            reason = sentence(e)
            said = "nothing was changed" in reason.lower()          # words of what refused
            return reason + ("" if said else "; nothing was changed") + self._put_back(set(changes))
        return ""

    def _put_back(self, names: set[str]) -> str:
        """The old values once more for everything that may have been acted on; "" or what is to be added to the reason."""
        try:
            self._act(names)
        except Exception as e:
            return f", as far as it could be put back ({sentence(e)})"
        return ""

    # --- actions

    def _act(self, names: set[str]) -> None:
        changed = {name: self.values[name] for name in names if parameters.is_one(name)}
        if changed:
            self._tune(changed)
        self._put(self.of_devices({name: self.values[name] for name in names}))
        if any(name.startswith("watchdog_") for name in names):
            self.loop.set_watchdog(*self.watchdog())
        if "real_time_factor" in names:
            if self.values["real_time_factor"] != 1.0:
                self.take_time()
            self.loop.set_real_time_factor(self.values["real_time_factor"])
        if any(name == "real_time_factor" or name.endswith("_rate") for name in names):
            self.set_rates(self.plane)
        if "lockstep_timeout" in names or "lockstep_policy" in names:
            self._patience()
        if "contacts_rate" in names:
            self.contacts.set_rate(self.values["contacts_rate"])

    def _tune(self, values: Values) -> None:
        """Put parameters of the model in force between two steps; the cost is theirs."""
        tuned = self.robot.tuned(values, self.tuned)
        block = self.robot.plant.parameter_block(self.robot.loaded(tuned, self.payloads))
        with self.recording.change("parameters", block=block) if self.recording is not None else nullcontext():
            self.loop.set_parameters(block)
        self.tuned = tuned

    def _put(self, numbers: Values) -> None:
        """Put numbers of devices in force between two steps."""
        if numbers:
            with self.recording.touched() if self.recording is not None else nullcontext():
                self.robot.numbers.put(numbers)
            self.devices = {**self.devices, **numbers}

    def of_devices(self, values: Values) -> Values:
        """Those of the values that are numbers of devices, and others than are in force."""
        return {name: value for name, value in values.items() if name in self.devices and value != self.devices[name]}

    def carry(self, payloads: dict[int, Array]) -> None:
        """Put these payloads in force between two steps, {number: row of mbros.bench.disturbances}, beside the parameters of masses."""
        before, self.payloads = self.payloads, payloads
        try:
            self._tune({})
        except BaseException:
            self.payloads = before
            raise

    def watchdog(self) -> tuple[float | None, str, float]:
        """Arguments of Loop.set_watchdog."""
        v = self.values
        return v["watchdog_timeout"] or None, v["watchdog_action"], v["watchdog_damping"]

    def _patience(self) -> None:
        """How long consumers in lockstep may take."""
        if self.plane.gate is not None:
            self.plane.gate.set_patience(self.values["lockstep_timeout"], self.values["lockstep_policy"])
        if self.door is not None:
            self.door.set_patience(self.values["lockstep_timeout"], self.values["lockstep_policy"])

    def set_rates(self, plane: NativePlane) -> None:
        """What a data plane publishes of the steps. Rates count in simulated time."""
        v = self.values
        plane.stamps.set_scaled(v["real_time_factor"] != 1.0)
        for name in RATES:
            plane.set_share(name.removesuffix("_rate"), share(v["rate"], v[name]))
        if self.clock_withheld:
            plane.set_share("clock", 0.0)

    def withhold_clock(self, yes: bool) -> None:
        """Publish no /clock, as long as another does."""
        self.clock_withheld = yes
        self.set_rates(self.plane)
