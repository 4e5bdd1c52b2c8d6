"""The only place that changes the world. Every change goes into the audit, done or not."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden.layout import (
    AttemptRecord,
    AuditRecord,
    InstanceId,
    Layout,
    MarkerName,
    Quarantined,
    quarantine_key,
)
from spotwarden.model.action import (
    Change,
    ClearMarker,
    Done,
    DropObject,
    LaunchInstances,
    Look,
    Lost,
    Observed,
    Outcome,
    Quarantine,
    RegisterInstance,
    Rejected,
    StoreObject,
    Tell,
    Unanswered,
    WriteAttempt,
)
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, ConflictError, RejectedError, UnansweredError
from spotwarden.runner.log import Log, log

JSON = "application/json"


class Applier:
    """Carries out the actions of one sweep, one at a time, and writes down each of them."""

    def __init__(
        self, cloud: Cloud, layout: Layout, policy: Policy, tick: Tick, *, write_line: Log = log
    ) -> None:
        self._cloud = cloud
        self._layout = layout
        self._policy = policy
        self._tick = tick
        self._log = write_line
        self._count = 0

    def apply(self, action: Change | Look) -> Outcome:
        """Do it, or in observe mode only say so; what goes wrong in a known way is an outcome."""
        if isinstance(action, Look):
            return self._look(action)
        outcome = self._do(action)
        self._write_down(action, outcome)
        return outcome

    def _do(self, action: Change) -> Outcome:
        if self._policy.mode is Mode.OBSERVE and not isinstance(action, Tell):
            return Observed()
        try:
            return _DO[type(action)](self, action)
        except ConflictError as conflict:
            return Lost(detail=str(conflict))
        except RejectedError as rejected:
            return Rejected(code=rejected.code, message=rejected.message)
        except UnansweredError as unanswered:
            return Unanswered(detail=str(unanswered))

    def _look(self, look: Look) -> Outcome:
        try:
            return Done(operation=self._cloud.compute.operation(look.place, look.operation))
        except RejectedError as rejected:
            return Rejected(code=rejected.code, message=rejected.message)
        except UnansweredError as unanswered:
            return Unanswered(detail=str(unanswered))

    def _write_attempt(self, action: WriteAttempt) -> Done:
        name = self._layout.build(AttemptRecord(job=action.record.job, attempt=action.record.number))
        data = msgspec.json.format(msgspec.json.encode(action.record))
        generation = self._cloud.store.write(name, data, generation=action.generation, content_type=JSON)
        return Done(generation=generation)

    def _launch(self, action: LaunchInstances) -> Done:
        return Done(operation=self._cloud.compute.launch(action.request, action.request_id))

    def _register(self, action: RegisterInstance) -> Done:
        name = self._layout.build(InstanceId(job=action.job, node=action.node))
        data = action.instance_id.encode()
        return Done(
            generation=self._cloud.store.write(name, data, generation=None, content_type="text/plain")
        )

    def _clear(self, action: ClearMarker) -> Done:
        name = self._layout.build(MarkerName(node=action.node))
        self._cloud.store.delete(name, generation=action.generation)
        return Done()

    def _quarantine(self, action: Quarantine) -> Done:
        """The copy first, then the original: killed between the two, nothing is lost."""
        thing = Quarantined(key=quarantine_key(action.name), generation=action.generation)
        record = {
            "marker": action.name,
            "generation": action.generation,
            "reason": action.reason,
            "job": action.job,
            "at": self._tick.now,
            "content": action.data.decode(errors="backslashreplace"),
        }
        data = msgspec.json.format(msgspec.json.encode(record))
        self._cloud.store.write(self._layout.build(thing), data, generation=None, content_type=JSON)
        self._cloud.store.delete(self._layout.markers() + action.name, generation=action.generation)
        return Done()

    def _store(self, action: StoreObject) -> Done:
        generation = self._cloud.store.write(
            action.name,
            action.data,
            generation=0 if action.only_new else None,
            content_type=action.content_type,
        )
        return Done(generation=generation)

    def _drop(self, action: DropObject) -> Done:
        self._cloud.store.delete(action.name, generation=action.generation)
        return Done()

    def _tell(self, action: Tell) -> Done:
        notice = action.notice
        attributes = {"kind": notice.kind, "severity": notice.severity.value, "job": notice.job}
        self._cloud.notices.publish(msgspec.json.encode(notice), {**attributes, "id": notice.id})
        return Done()

    def _write_down(self, action: Change, outcome: Outcome) -> None:
        """Audit and log; the audit's names sort by time, then sweep, then order."""
        what, how = type(action).__name__, type(outcome).__name__
        record = {
            "at": self._tick.now,
            "function": self._tick.function,
            "sweep": self._tick.sweep,
            "policy": self._policy.version,
            "action": what,
            "why": action.reason,
            "detail": _detail(action),
            "outcome": outcome,
        }
        self._count += 1
        entry = f"{self._tick.now:%H%M%S}-{self._tick.function}-{self._tick.sweep}-{self._count:04}"
        name = self._layout.build(AuditRecord(day=self._tick.now.date(), entry=entry))
        data = msgspec.json.format(msgspec.json.encode(record))
        self._cloud.store.write(name, data, generation=None, content_type=JSON)
        severity = "INFO" if isinstance(outcome, Done) else "WARNING"
        self._log(
            self._tick, severity, f"{what}: {action.reason}", action=what, outcome=how, **_where(action)
        )


def _detail(action: Change) -> object:
    """The action as the audit keeps it; of what was stored only the size, for it is in the bucket itself."""
    if isinstance(action, StoreObject):
        return {"type": "StoreObject", "name": action.name, "bytes": len(action.data)}
    return action


def _where(action: Change) -> Mapping[str, str]:
    """The job and node of an action, as far as it has them."""
    source: object = action
    if isinstance(action, WriteAttempt):
        source = action.record
    if isinstance(action, Tell):
        source = action.notice
    return {key: getattr(source, key) for key in ("job", "node") if getattr(source, key, "")}


_DO: Mapping[type, Callable[[Applier, Any], Done]] = {
    WriteAttempt: Applier._write_attempt,  # noqa: SLF001 — the table of this very class
    LaunchInstances: Applier._launch,  # noqa: SLF001
    RegisterInstance: Applier._register,  # noqa: SLF001
    ClearMarker: Applier._clear,  # noqa: SLF001
    Quarantine: Applier._quarantine,  # noqa: SLF001
    StoreObject: Applier._store,  # noqa: SLF001
    DropObject: Applier._drop,  # noqa: SLF001
    Tell: Applier._tell,  # noqa: SLF001
}
