"""Live parameters: checked together, then put in force between two steps, or refused together with the reason."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mbros.model import parameters
from mbros.names import hint, printable

from .errors import sentence
from .parameters import Row, as_declared, check
from .robot import Robot
from .topics import every


class Live:
    """Values of every parameter, and what has to happen when one changes."""

    def __init__(self, rows: Iterable[Row], values: dict[str, Any], robot: Robot):
        self.rows = {row.name: row for row in rows}
        self.values, self.robot = dict(values), robot
        self.tuned: Any = None              # a state with these parameters, in which a change is made before it is put in force
        self.loop: Any = None
        self.plane: Any = None
        self.contacts: Any = None

    def start(self, loop: Any, plane: Any, contacts: Any) -> None:
        """From now on changes act on this loop, this data plane and these topics of contacts."""
        self.loop, self.plane, self.contacts = loop, plane, contacts
        self._tune(self.values)
        self._rates()
        self.contacts.set_rate(self.values["contacts_rate"])

    def serve(self, node: Any) -> None:
        """Answer rclpy when a parameter of the node is to be set."""
        from rcl_interfaces.msg import SetParametersResult
        from rclpy.exceptions import ParameterNotDeclaredException

        class Undeclared(ParameterNotDeclaredException):
            def __init__(self, text: str):
                Exception.__init__(self, text)

        def before(parameters: list[Any]) -> list[Any]:
            for p in parameters:
                if not node.has_parameter(p.name):
                    raise Undeclared(f"there is no parameter '{printable(p.name)}'{hint(p.name, node.list_parameters([], 0).names)}")
            return [as_declared(self.rows[p.name], p) if p.name in self.rows else p for p in parameters]

        def change(parameters: list[Any]) -> SetParametersResult:
            reason = self.change({p.name: p.value for p in parameters})
            return SetParametersResult(successful=not reason, reason=reason)

        node.add_pre_set_parameters_callback(before)
        node.add_on_set_parameters_callback(change)
        for service in node.services:
            if service.srv_name.rpartition("/")[2] in ("set_parameters", "set_parameters_atomically"):
                service.callback = always_answered(service.callback)

    # --- checks

    def checked(self, changes: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """(values as the node uses them, "") or ({}, reason); parameters that are not ours pass unseen."""
        good = {}
        for name, value in changes.items():
            if name not in self.rows:
                continue
            value, reason = check(self.rows[name], value)
            if not reason and name.startswith("initial_positions."):
                reason = self.robot.limit_problem(name, value)
            if reason:
                return {}, reason
            good[name] = value
        return good, ""

    def change(self, changes: dict[str, Any]) -> str:
        """Check all, then act on all. Returns the reason why nothing was changed, or ""; never raises.

        What fails half-way, for whatever reason, is put back: a parameter says what is in force.
        """
        before = self.values
        try:
            good, reason = self.checked(changes)
            if reason:
                return reason
            self.values = {**before, **good}
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
        if any(name.startswith("watchdog_") for name in names):
            self.loop.set_watchdog(*self.watchdog())
        if "real_time_factor" in names:
            self.loop.set_real_time_factor(self.values["real_time_factor"])
        if any(name == "real_time_factor" or name.endswith("_rate") for name in names):
            self._rates()
        if "contacts_rate" in names:
            self.contacts.set_rate(self.values["contacts_rate"])

    def _tune(self, values: dict[str, Any]) -> None:
        """Put parameters of the model in force between two steps; the cost is theirs."""
        tuned = self.robot.tuned(values, self.tuned)
        self.loop.set_parameters(self.robot.plant.parameter_block(tuned))
        self.tuned = tuned

    def watchdog(self) -> tuple[float | None, str, float]:
        """Arguments of Loop.set_watchdog."""
        v = self.values
        return v["watchdog_timeout"] or None, v["watchdog_action"], v["watchdog_damping"]

    def _rates(self) -> None:
        """Steps between publications. Rates count in simulated time, except that of /clock."""
        v = self.values
        factor = v["real_time_factor"]
        self.plane.stamps.set_scaled(factor != 1.0)
        for topic in ("joint_states", "tf", "odom"):
            self.plane.set_every(topic, every(v["rate"], v[f"{topic}_rate"]))
        self.plane.set_every("clock", every(v["rate"] * (factor or 1.0), v["clock_rate"]))


def always_answered(callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """One of rclpy's services that set parameters, with an answer for requests that rclpy itself raises on."""
    from rcl_interfaces.msg import SetParametersResult

    def serve(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except Exception as e:
            refused = SetParametersResult(successful=False, reason=sentence(e))
            if hasattr(response, "results"):            # one for each; those before the one that failed have theirs
                response.results = [*response.results, *[refused] * (len(request.parameters) - len(response.results))]
            else:
                response.result = refused
            return response

    return serve
