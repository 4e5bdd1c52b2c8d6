"""How the Compute Engine in memory answers a call: failures on order, and no request carried out twice."""

from collections.abc import Callable, Collection
from datetime import datetime

from spotwarden.model.instance import Operation
from spotwarden.ports import ConflictError, RejectedError
from tests.fakes.clock import VirtualClock
from tests.fakes.creating import Creating
from tests.fakes.trouble import Trouble
from tests.fakes.vms import Timings, Vm


class Answering(Creating):
    """Knows which requests it has carried out. Failures are ordered from `trouble`."""

    def __init__(self, clock: VirtualClock, timings: Timings, zones: Collection[str]) -> None:
        super().__init__(clock, timings, zones)
        self.trouble = Trouble()
        self._answers: dict[str, str] = {}
        self._forgotten: set[str] = set()
        self._forbidden = False

    def _there(self, zone: str, instance_id: str) -> Vm:
        found = self.find(zone, instance_id)
        if found is None:
            what = f"zones/{zone}/instances/{instance_id}"
            raise RejectedError("notFound", f"The resource '{what}' was not found")
        return found

    def _once(self, request_id: str, work: Callable[[], Operation]) -> Operation:
        """Do it, unless this very request was carried out before: then give its operation as it is now."""
        self.vms.catch_up()
        if request_id in self._answers:
            return self.vms.log[self._answers[request_id]]
        operation = work()
        self._answers[request_id] = operation.name
        return operation

    def forbid(self, *, forbidden: bool = True) -> bool:
        """Refuse creates and starts for want of a right, also repeated ones; gives how it was."""
        before, self._forbidden = self._forbidden, forbidden
        return before

    def _ask(self, request_id: str, work: Callable[[], Operation]) -> Operation:
        """Do it once, where it is allowed at all."""
        if self._forbidden:
            raise RejectedError("forbidden", "Required 'compute.instances.create' permission (403)")
        return self._once(request_id, work)

    def forget_operations(self, *, requests: bool = False) -> None:
        """Answer 404 about every operation so far; with `requests` forget the ids of what is done, too."""
        self.vms.catch_up()
        self._forgotten.update(self.vms.log)
        if requests:
            self._answers = {key: name for key, name in self._answers.items() if not self.vms.log[name].done}

    def _in_time(self, before: datetime | None) -> None:
        if before is not None and self.clock.now() >= before:
            raise ConflictError(f"not sent: the time for it was over at {before:%H:%M:%S}")
