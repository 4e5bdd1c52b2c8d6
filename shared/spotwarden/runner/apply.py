"""The only place that changes the world. Every change goes into the audit, done or not."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import msgspec

from spotwarden.layout import (
    AttemptRecord,
    InstanceId,
    LaunchedRecord,
    Layout,
    MarkerName,
    OpenJob,
    Quarantined,
    quarantine_key,
)
from spotwarden.model.action import (
    Change,
    ClearMarker,
    DeleteInstance,
    DropObject,
    EndWatch,
    Fetch,
    KeepWatch,
    LaunchInstances,
    Look,
    Quarantine,
    Question,
    RecordLaunched,
    RegisterInstance,
    StartInstance,
    StoreObject,
    Survey,
    Tell,
    WriteAttempt,
)
from spotwarden.model.attempt import Attempt, State
from spotwarden.model.marker import Aside
from spotwarden.model.outcome import Done, Lost, Observed, Outcome, Rejected, Unanswered
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, ConflictError, RejectedError, UnansweredError
from spotwarden.runner.audit import Author, say, write_down
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
        self._counts = count(1)
        self.written: list[Attempt] = []

    def apply(self, action: Change | Question) -> Outcome:
        """Do it, or in observe mode only say so; what goes wrong in a known way is an outcome."""
        if isinstance(action, Question):
            return _outcome(lambda: _ASK[type(action)](self, action))
        outcome = self._do(action)
        write_down(self._cloud.store, self._layout, self._written_by(), action, outcome)
        say(self._log, self._tick, action, outcome)
        return outcome

    def _do(self, action: Change) -> Outcome:
        if self._policy.mode is Mode.OBSERVE and not _only_notes(action):
            return Observed()
        return _outcome(lambda: _DO[type(action)](self, action))

    def _written_by(self) -> Author:
        """Who writes the next audit record; a count's next is one step, so two threads never share one."""
        return Author(tick=self._tick, policy=self._policy.version, number=next(self._counts))

    def _look(self, look: Look) -> Done:
        return Done(operation=self._cloud.compute.operation(look.place, look.operation))

    def _survey(self, survey: Survey) -> Done:
        """Instances first: one that is gone by then has its insert in the newer log."""
        compute = self._cloud.compute
        instances = compute.instances(names=survey.names, job=survey.job)
        return Done(instances=instances, operations=compute.operations(survey.since))

    def _fetch(self, fetch: Fetch) -> Done:
        """The instance and its disks together: what it was made from stands on its disks."""
        compute = self._cloud.compute
        resource = compute.resource(fetch.zone, fetch.instance_id)
        if resource is None:
            return Done()
        sources = [disk["source"] for disk in resource.get("disks", ()) if "source" in disk]
        disks = {source: compute.disk(source) for source in sources}
        return Done(resource={"instance": resource, "disks": disks})

    def _write_attempt(self, action: WriteAttempt) -> Done:
        name = self._layout.build(AttemptRecord(job=action.record.job, attempt=action.record.number))
        data = msgspec.json.format(msgspec.json.encode(action.record))
        generation = self._cloud.store.write(name, data, generation=action.generation, content_type=JSON)
        self.written.append(action.record)
        return Done(generation=generation)

    def _launch(self, action: LaunchInstances) -> Done:
        return Done(
            operation=self._cloud.compute.launch(action.request, action.request_id, before=action.before)
        )

    def _start(self, action: StartInstance) -> Done:
        compute = self._cloud.compute
        started = compute.start(action.zone, action.instance_id, action.request_id, before=action.before)
        return Done(operation=started)

    def _delete(self, action: DeleteInstance) -> Done:
        compute = self._cloud.compute
        return Done(operation=compute.delete(action.zone, action.instance_id, action.request_id))

    def _keep_watch(self, action: KeepWatch) -> Done:
        name = self._layout.build(OpenJob(job=action.job))
        data = msgspec.json.encode(action.watch)
        return Done(
            generation=self._cloud.store.write(name, data, generation=action.generation, content_type=JSON)
        )

    def _end_watch(self, action: EndWatch) -> Done:
        self._cloud.store.delete(self._layout.build(OpenJob(job=action.job)), generation=action.generation)
        return Done()

    def _record_launched(self, action: RecordLaunched) -> Done:
        name = self._layout.build(LaunchedRecord(job=action.job, attempt=action.attempt))
        data = msgspec.json.format(msgspec.json.encode(action.ran))
        return Done(generation=self._cloud.store.write(name, data, generation=None, content_type=JSON))

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
        record = Aside(
            marker=action.name,
            generation=action.generation,
            reason=action.reason,
            job=action.job,
            at=self._tick.now,
            content=action.data.decode(errors="backslashreplace"),
        )
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


def _only_notes(action: Change) -> bool:
    """Whether it only tells somebody, or writes down for ourselves what we saw: observing does that too."""
    if isinstance(action, WriteAttempt):
        return action.record.seen and action.record.state is State.RUNNING
    return isinstance(action, Tell | KeepWatch | EndWatch | RecordLaunched)


def _outcome(do: Callable[[], Done]) -> Outcome:
    """What came of it; only what is no answer to anything rises."""
    try:
        return do()
    except ConflictError as conflict:
        return Lost(detail=str(conflict))
    except RejectedError as rejected:
        return Rejected(code=rejected.code, message=rejected.message)
    except UnansweredError as unanswered:
        return Unanswered(detail=str(unanswered))


_DO: Mapping[type, Callable[[Applier, Any], Done]] = {
    WriteAttempt: Applier._write_attempt,  # noqa: SLF001 — the table of this very class
    LaunchInstances: Applier._launch,  # noqa: SLF001
    StartInstance: Applier._start,  # noqa: SLF001
    DeleteInstance: Applier._delete,  # noqa: SLF001
    KeepWatch: Applier._keep_watch,  # noqa: SLF001
    EndWatch: Applier._end_watch,  # noqa: SLF001
    RecordLaunched: Applier._record_launched,  # noqa: SLF001
    RegisterInstance: Applier._register,  # noqa: SLF001
    ClearMarker: Applier._clear,  # noqa: SLF001
    Quarantine: Applier._quarantine,  # noqa: SLF001
    StoreObject: Applier._store,  # noqa: SLF001
    DropObject: Applier._drop,  # noqa: SLF001
    Tell: Applier._tell,  # noqa: SLF001
}
_ASK: Mapping[type, Callable[[Applier, Any], Done]] = {
    Look: Applier._look,  # noqa: SLF001
    Survey: Applier._survey,  # noqa: SLF001
    Fetch: Applier._fetch,  # noqa: SLF001
}
