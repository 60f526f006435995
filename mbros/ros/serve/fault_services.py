"""Services for the faults of a node's bench: ~/fault starts and ends them by hand, ~/list_faults says how they are."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from mbros.names import plural
from mbros.ros.wire.chosen import chosen
from mbros.ros.errors import RequestError

if TYPE_CHECKING:
    from mbros.bench.faults import ActiveFault
    from mbros.ros.serve.typing import ListFaultsResponse, SetFaultRequest


class FaultServices:
    """faults: mbros.bench.faults.Faults of the plant that the loop runs. What is asked for is one number in the devices' memory, which
    the loop's thread sees in its next step. touched: around it, for a recording."""

    def __init__(self, faults: Mapping[str, ActiveFault], offer: Callable[..., object],
                 touched: Callable[[], AbstractContextManager[None]] = nullcontext):
        from mbros_msgs.srv import ListFaults, SetFault

        self.faults, self.touched = faults, touched
        offer(SetFault, "~/fault", self.set_fault)
        offer(ListFaults, "~/list_faults", self.list_faults, self.fill)

    def set_fault(self, request: SetFaultRequest) -> str:
        if not request.names:
            raise RequestError(f"fault: no name is given; expected some of {', '.join(self.faults) or 'none: the bench has no faults'}")
        names = chosen(request.names, self.faults, "fault", "this bench")
        with self.touched():
            for name in names:
                (self.faults[name].start if request.start else self.faults[name].stop)()
        return f"{'started' if request.start else 'ended'}: {', '.join(names)}"

    def list_faults(self, request: object) -> str:
        active = [name for name, fault in self.faults.items() if fault.active]
        return f"{plural(len(self.faults), 'fault')}, active: {', '.join(active) or 'none'}"

    def fill(self, response: ListFaultsResponse) -> None:
        faults = list(self.faults.values())
        response.names, response.kinds = list(self.faults), [fault.kind for fault in faults]
        response.active, response.counts = [fault.active for fault in faults], [fault.count for fault in faults]
        response.began, response.ended = [fault.began for fault in faults], [fault.ended for fault in faults]
