"""The node's door for controllers on the same machine: parameter `shared_memory` (docs/shared_memory.md)."""
from __future__ import annotations

from typing import TYPE_CHECKING


from mbros.simulate.lockstep import MOST

from mbros.ros.wire import diagnostics
from mbros.ros.errors import ParameterError
from mbros.ros.wire.lockstep import ratio_in

if TYPE_CHECKING:
    from mbros.ros.typing import Values
    from mbros.simulate.shared import SharedMemory
    from mbros_core import Plant


def ratio_of(text: str) -> tuple[str, tuple[int, int] | None]:
    """(name, (n, m) or None) of "name" or "name n/m"; ("", None) for nothing. ParameterError with what was meant."""
    words = text.split()
    if not words:
        return "", None
    found = ratio_in(words[1]) if len(words) == 2 else None
    if len(words) > 2 or (len(words) == 2 and found is None):
        raise ParameterError(f"parameter shared_memory: '{text}'; expected a name, such as arm7, or a name and the steps in which its "
                             "controller's answer is waited for, such as \"arm7 1/4\"")
    if found is None:
        return words[0], None
    n, m = found
    if not 1 <= n <= m <= MOST:
        raise ParameterError(f"parameter shared_memory: '{text}' is answered in {n} of {m} steps; expected 1 <= n <= m <= {MOST}")
    return words[0], (n, m)


def shared_memory(values: Values, plant: Plant, dt: float) -> SharedMemory | None:
    """What the parameters say, opened; None where they name nothing."""
    name, lockstep = ratio_of(values["shared_memory"])
    if not name:
        return None
    if lockstep and values["lockstep"].strip():
        raise ParameterError("parameters lockstep and shared_memory: a step waits for consumers of topics or for one of shared memory; "
                             "leave one of the ratios out")
    from mbros.simulate.shared import SharedMemory      # start-up time: who names nothing does not pay

    return SharedMemory(name, plant, dt, lockstep=lockstep, timeout=values["lockstep_timeout"], policy=values["lockstep_policy"],
                        limit=values["max_command"])


def report(door: SharedMemory, beyond: tuple[int, str, float]) -> diagnostics.Report:
    """A status of /diagnostics. beyond: commands left out for a joint's limits: how many, and the newest one's joint and value."""
    counts, (left_out, joint, value) = door.counts(), beyond
    counts["taken"] -= left_out
    values = {name: str(count) for name, count in {**counts, "beyond limits": left_out}.items() if name != "late step"}
    if counts["late"]:
        return diagnostics.Report("shared memory", diagnostics.WARN, f"no answer to step {counts['late step']} in time, {counts['late']} "
                                  "time-outs so far", values)
    if left_out:
        return diagnostics.Report("shared memory", diagnostics.WARN, f"{left_out} commands left out, beyond the limits of a joint (newest: "
                                  f"joint '{joint}', value {value:g})", values)
    return diagnostics.Report("shared memory", diagnostics.OK, f"'{door.name}': {counts['taken']} commands taken", values)
